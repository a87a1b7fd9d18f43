"""A Telegram group became a supergroup: its conversation goes on under the new chat's id.

Entries are copied in order, so a copy that was cut goes on where it ends; the old conversation stays as it was.
"""

import logging

from msgspec.structs import replace

from bot.budget import chat_of, days_of_month
from bot.errors import Retry
from bot.messages import Counter, Head, Place, Profile, Spend
from bot.ports import Change, Store, Wake
from bot.profiles import change, chat_key

log = logging.getLogger(__name__)

AT_ONCE = 20  # entries in one write; a transaction holds 100 items and 4 MB, and an entry may be several items


async def move(
    store: Store, wake: Wake, old: Head, chat: str, owner: str, until_ms: int, now: float
) -> tuple[str, ...]:
    """Copy what the model may see, the settings, what is known of the chat, what it has spent and what waits; all of it
    once, also when told twice or cut.

    Returns the inbox keys of what is answered in the new conversation from now on: the old one is done with them.
    Raises Retry where the new conversation is being worked on: then later.
    """
    target = f"telegram:{chat}"
    head = await store.claim(target, owner, until_ms)
    if head is None:
        raise Retry(f"{target} is being worked on.")
    if head.last and head.settings.moved_from != old.conversation:
        log.warning("conversation=<%s>, old=<%s> | has a record of its own already", target, old.conversation)
    else:
        if head.settings.moved_from != old.conversation:
            settings = replace(old.settings, moved_from=old.conversation)
            await _known(store, old.conversation, target)
            spend = await _carried(store, old.conversation, target, now)
            head = await store.commit(head, Change(turn=head.turn, settings=settings, spend=spend))
        entries = [each.entry for each in await store.record(old.conversation, old.since)][head.last :]
        for start in range(0, len(entries), AT_ONCE):
            step = Change(entries=tuple(entries[start : start + AT_ONCE]), turn=head.turn)
            head = await store.commit(head, step)
    waiting = [inbound for inbound in await store.inbox(old.conversation) if inbound.kind != "moved"]
    for inbound in waiting:
        await store.receive(replace(inbound, place=moved_place(inbound.place, chat)))
    await store.commit(head, Change(turn=head.turn, release=True))
    for inbound in waiting:
        await wake.wake(target, inbound.id)
    return tuple(inbound.key for inbound in waiting)


async def _known(store: Store, old: str, new: str) -> None:
    """What is remembered of the chat, its instructions and its people's role, unless something is known already."""
    before = await store.profile(chat_key(old))

    def with_known(profile: Profile) -> Profile:
        return profile if profile.version else replace(before, version=0)

    await change(store, chat_key(new), with_known)


async def _carried(store: Store, old: str, new: str, now: float) -> tuple[Spend, ...]:
    """What the chat has spent on each day of this month, to be counted under its new name."""
    spent = await store.spent(days_of_month(f"chat:{chat_of(old)}", now))
    scope = f"chat:{chat_of(new)}"
    return tuple(Spend(Counter(scope, each.period), sum_.amount, bill=sum_.bill) for each, sum_ in spent.items())


def moved_place(place: Place, chat: str) -> Place:
    conversation = f"telegram:{chat}:{place.thread}" if place.thread else f"telegram:{chat}"
    return replace(place, conversation=conversation, chat=chat)
