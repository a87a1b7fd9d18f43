"""Conversations deleted wholly: because somebody asked for it, or because nobody used them as long as they are kept.

    swept: not used for so long ─> woken ─> claimed, nothing arrived, no turn runs, no reminder to come ─> deleted
                                                   │ else: used now, found again when that is so long ago

A turn that waits for somebody's word all that time is none that runs: it goes with the rest.

The wake is one like any other, so a turn that runs has the conversation, and a message that arrives is answered first.
"""

import logging
import uuid
from collections.abc import Callable

from msgspec.structs import replace

from bot.budget import chat_of
from bot.keeping import unused_before
from bot.messages import Head, Profile
from bot.nested import names_in
from bot.ports import Blobs, Clock, Store
from bot.produced import Produced
from bot.profiles import change, chat_key
from bot.reminding import Reminders, is_waiting

log = logging.getLogger(__name__)


class Forgetting:
    """``keep`` is for how many seconds an unused conversation is kept, 0 for ever; ``lease_end`` until when, in Unix
    milliseconds, a lease taken now lasts."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        reminders: Reminders,
        produced: Produced,
        clock: Clock,
        *,
        keep: int,
        lease_end: Callable[[], int],
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._reminders = reminders
        self._produced = produced
        self._clock = clock
        self._keep = keep
        self._lease_end = lease_end

    async def delete(self, head: Head) -> None:
        """The conversation, a turn that says so with it, and what it was before its group moved. Whoever calls holds
        it. May be cut anywhere and done again; raises Retry then."""
        await self._reminders.cancel_all(head.conversation)
        if (before := head.settings.moved_from) and (old := await self._claim(before)):
            await self._delete(old)
        await self._delete(head)

    async def retire(self, head: Head) -> bool:
        """Delete a conversation that was claimed, in which nobody works and nothing arrived; False where it is kept."""
        if not self._keep or not 0 < head.used < unused_before(self._clock.now(), self._keep):
            return False
        if await self._store.inbox(head.conversation):
            return False
        if any(map(is_waiting, await self._store.reminders(head.conversation))):
            return False
        log.info("conversation=<%s>, used=<%d> | nobody uses it any more: deleted", head.conversation, head.used)
        if head.conversation == chat_of(head.conversation):
            await self._forget_chat(head.conversation)
        await self.delete(head)
        return True

    async def _forget_chat(self, chat: str) -> None:
        """What is remembered of a group; who may talk there is the owner's word and stays."""

        def role_alone(known: Profile) -> Profile:
            return replace(known, facts=(), rules=None)

        await change(self._store, chat_key(chat), role_alone)

    async def _delete(self, head: Head) -> None:
        """What subagents did is named in the record, so it goes before it."""
        record = await self._store.record(head.conversation, 1)
        await self._produced.forget(each.entry for each in record)
        for name in names_in(head.conversation, record):
            if nested := await self._claim(name):
                await self._store.forget(nested)
        await self._blobs.forget(head.conversation)
        await self._store.forget(head)

    async def _claim(self, conversation: str) -> Head | None:
        return await self._store.claim(conversation, uuid.uuid4().hex, self._lease_end())
