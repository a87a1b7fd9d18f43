"""In: a proven, parsed message becomes durable, then its chat is woken. The platform hears 200 only after both."""

import logging
from collections.abc import Callable

from msgspec.structs import replace

from bot.keeping import unused_before
from bot.logs import about, words
from bot.messages import Arrival, Inbound
from bot.metrics import tell
from bot.ports import Clock, Receipt, Store, Wake
from bot.tracing import span

log = logging.getLogger(__name__)

UNUSED_AT_ONCE = 100
"""So that nobody who waits for an answer waits behind them."""


async def accept(inbound: Inbound, store: Store, wake: Wake, clock: Clock) -> Receipt:
    """Store an inbound once and see to it that a worker looks at it. Raises StoreUnavailable where either failed:
    answer 5xx then, the platform's repeat finds the stored message WAITING and wakes again.

    What is not to the bot by itself is stored only where it may count: a piece of an album waits for the one that is,
    and wakes nobody; other talk must be in a conversation that the bot is in.
    """
    if not inbound.addressed and not inbound.album and not await store.knows(inbound.conversation):
        return Receipt.IGNORED
    arrival = inbound.arrival or Arrival(round(clock.now() * 1000))
    inbound = replace(inbound, arrival=arrival)
    named = {"kabar.turn": inbound.reference, "gen_ai.conversation.id": inbound.conversation}
    with (
        about(turn=inbound.reference, conversation=inbound.conversation),
        span(f"receive {inbound.place.platform}", named, kind="producer") as receiving,
    ):
        inbound = replace(inbound, arrival=replace(arrival, trace=receiving.traceparent))
        receipt = await store.receive(inbound)
        _tell(inbound, receipt)
        if not inbound.addressed and inbound.album:
            return receipt
        if receipt is Receipt.NEW:
            await wake.wake(inbound.conversation, inbound.id)
        elif receipt is Receipt.WAITING:
            # The first wake may be lost; a name of its own keeps the queue from merging this one with it.
            await wake.wake(inbound.conversation, f"{inbound.id} again at {clock.now()}")
        else:
            return receipt
        log.info("id=<%s> | woken", inbound.id)
    return receipt


def _tell(inbound: Inbound, receipt: Receipt) -> None:
    measured = {"Accepted": 1} if receipt is Receipt.NEW else {"Doubles": 1}
    tell(measured, "kind=<%s>, id=<%s>, receipt=<%s> | stored", inbound.kind, inbound.id, receipt.value)
    if receipt is Receipt.NEW:
        words.info("text=<%s> | a person wrote", inbound.words)


async def sweep(older_than: float, store: Store, wake: Wake, clock: Clock) -> int:
    """Wake each conversation with a message that has waited so many seconds: its wake may be lost. Returns how many."""
    now = clock.now()
    conversations = await store.overdue(int(now - older_than))
    for conversation in conversations:
        await wake.wake(conversation, f"overdue at {int(now)}")
    return len(conversations)


def everyone_s(conversation: str) -> bool:
    return True


async def sweep_unused(
    keep: int, store: Store, wake: Wake, clock: Clock, ours: Callable[[str], bool] = everyone_s
) -> int:
    """Wake some conversations of ``ours`` that nobody used for ``keep`` seconds: who works on one sees that for itself,
    and deletes it. Returns how many."""
    now = clock.now()
    unused = await store.unused(unused_before(now, keep))
    conversations = [each for each in unused if ours(each)][:UNUSED_AT_ONCE]
    for conversation in conversations:
        await wake.wake(conversation, f"unused at {int(now)}")
    return len(conversations)
