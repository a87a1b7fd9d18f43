"""In: a proven, parsed message becomes durable, then its chat is woken. The platform hears 200 only after both."""

from bot.messages import Inbound
from bot.ports import Clock, Receipt, Store, Wake


async def accept(inbound: Inbound, store: Store, wake: Wake, clock: Clock) -> Receipt:
    """Store an inbound once and see to it that a worker looks at it. Raises StoreUnavailable where either failed:
    answer 5xx then, the platform's repeat finds the stored message WAITING and wakes again."""
    receipt = await store.receive(inbound)
    if receipt is Receipt.NEW:
        await wake.wake(inbound.conversation, inbound.id)
    elif receipt is Receipt.WAITING:
        # The first wake may be lost; a name of its own keeps the queue from merging this one with it.
        await wake.wake(inbound.conversation, f"{inbound.id} again at {clock.now()}")
    return receipt
