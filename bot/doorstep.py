"""Strangers at the door: told once that the bot is private, shown to the owner, let in with a tap. And two accounts of
one person made one.
"""

import secrets

from msgspec.structs import replace

from bot.access import NEVER, Access
from bot.budget import day_of
from bot.commands import slash
from bot.intake import accept
from bot.messages import Button, Inbound, Person, Place, Profile
from bot.ports import Clock, Store, Wake
from bot.profiles import change, chat_key
from bot.texts import say

CODE_LASTS = 600
"""Seconds in which a code must be used."""
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE = 8


class Doorstep:
    def __init__(self, store: Store, wake: Wake, access: Access, clock: Clock) -> None:
        self._store = store
        self._wake = wake
        self._access = access
        self._clock = clock

    # Letting in

    async def turn_away(self, stranger: Inbound) -> str | None:
        """What a stranger is told; None where they were told today already, or an anonymous admin in that group. The
        owner hears of each of them once a day, but of nobody who only spoke in a group."""
        today = day_of(self._clock.now())
        anonymous = stranger.sender.id in NEVER
        who = f"{stranger.conversation} {stranger.sender.id}" if anonymous else stranger.sender.id
        profile = await self._store.profile(who)
        told = f"{today} {stranger.conversation} {stranger.id}"
        if profile.denied.partition(" ")[0] == today and profile.denied != told:
            return None
        # Which message was answered is kept too: where we are cut before the answer is stored, it is answered again.
        await change(self._store, who, lambda known: replace(known, denied=told))
        language, asked = stranger.sender.language, False
        if anonymous:
            return say("anonymous", language)
        if not stranger.place.group and profile.role != "banned":
            asked = await self._tell_owner(stranger.sender, today)
        return say("denied_asked" if asked else "denied", language, person=stranger.sender.id)

    async def _tell_owner(self, stranger: Person, today: str) -> bool:
        place = await self._place_of(self._access.owner_id)
        if place is not None:
            await self._tell(place, Person(self._access.owner_id), "knock", stranger.id, f"{stranger.id}.{today}")
        return place is not None

    async def _place_of(self, person: str) -> Place | None:
        """Somebody's private chat with the bot; None where it is not known, as they never wrote."""
        if not person:
            return None
        known = (await self._store.profile(person)).place
        platform, _, number = person.partition(":")
        return known or (Place(person, number) if platform == "telegram" else None)

    async def _tell(self, place: Place, person: Person, text: str, about: str, name: str) -> None:
        """Have something of ours said in another conversation, once for each ``name``."""
        now = int(self._clock.now())
        note = Inbound(place, f"{text}.{name}", f"{now:016d}", person, now, "note", text, data=about)
        await accept(note, self._store, self._wake, self._clock)

    async def knock(self, note: Inbound) -> tuple[str, tuple[Button, ...]]:
        """What the owner reads of a stranger, and can do about them."""
        language, stranger = note.sender.language, note.data
        profile = await self._store.profile(stranger)
        text = say("knock", language, who=profile.name or stranger, person=stranger)
        return text, self._choices(stranger, language)

    async def installed(self, note: Inbound) -> None:
        """The owner hears that the app was added to a workspace, and by whom: that lets nobody in."""
        place = await self._place_of(self._access.owner_id)
        if place is not None:
            owner = Person(self._access.owner_id)
            await self._tell(place, owner, "added", f"{note.sender.id} {note.data}", note.id)

    async def added(self, note: Inbound) -> tuple[str, tuple[Button, ...]]:
        """What the owner reads of it, and can do about whoever did it."""
        person, _, workspace = note.data.partition(" ")
        profile = await self._store.profile(person)
        text = say("added", note.sender.language, workspace=workspace, who=profile.name or person, person=person)
        if self._access.role(Person(person), profile.role):
            return text, ()
        return text, self._choices(person, note.sender.language)

    def _choices(self, stranger: str, language: str) -> tuple[Button, ...]:
        return (
            Button(say("let_member", language), f"let:member:{stranger}"),
            Button(say("let_guest", language), f"let:guest:{stranger}"),
            Button(say("let_never", language), f"let:banned:{stranger}", row=1),
        )

    async def let(self, tap: Inbound, about: str) -> str | None:
        """What the owner's tap did; None where it is not the owner's, or not a tap of these."""
        role, _, person = about.partition(":")
        if tap.sender.role != "owner" or not person:
            return None
        return await self.appoint(person, role, tap.sender.language)

    async def appoint(self, person: str, role: str, language: str) -> str | None:
        """Give somebody a role, "" to take it back; who is let in hears of it in their own chat."""
        if role not in ("", "member", "guest", "banned"):
            return None
        profile = await change(self._store, person, lambda known: replace(known, role=role))
        if role in ("member", "guest") and (place := await self._place_of(person)):
            told = Person(person, profile.name, profile.language)
            await self._tell(place, told, "let_in", role, f"{role}.{int(self._clock.now())}")
        return say(f"role_now_{role or 'none'}", language, person=profile.name or person)

    async def open_to_chat(self, asked: Inbound, opened: bool) -> str:
        """Make everybody in this group a guest, or nobody any more: the owner's word."""
        language = asked.sender.language
        if asked.sender.role != "owner":
            return say("owner_only", language)
        if not asked.place.group:
            return say("groups_only", language)
        role = "guest" if opened else ""
        await change(self._store, chat_key(asked.conversation), lambda known: replace(known, role=role))
        return say("chat_open" if opened else "chat_closed", language, slash=slash(asked.place))

    # One person, two accounts

    async def link(self, asked: Inbound) -> str:
        """Without a code one is given, with one the two accounts are one from now on."""
        language, person = asked.sender.language, asked.sender
        if asked.place.group:
            return say("private_only", language)
        given = asked.text.strip().upper()
        if given:
            return await self._linked(asked, given)
        code = "".join(secrets.choice(ALPHABET) for _ in range(CODE))
        until = int(self._clock.now()) + CODE_LASTS
        await change(self._store, f"code:{code}", lambda known: replace(known, account=person.payer, seen=until))
        return say("link_code", language, code=code, minutes=str(CODE_LASTS // 60))

    async def _linked(self, asked: Inbound, code: str) -> str:
        """A code is good once: who takes it empties it in the same write."""
        language, person, before = asked.sender.language, asked.sender, slash(asked.place)
        known = await self._store.profile(f"code:{code}")
        if not known.account or known.seen < self._clock.now() or known.account == person.id:
            return say("link_wrong", language, slash=before)
        if not await self._store.keep_profile(f"code:{code}", Profile(version=known.version)):
            return say("link_wrong", language, slash=before)
        await change(self._store, person.id, lambda own: replace(own, account=known.account))
        return say("linked", language, slash=before)

    async def forget(self, asked: Inbound) -> str:
        """All that is known of who asks, under both ids where two are one person; but not what the owner made of them:
        nobody gets in or back in by being forgotten."""
        for id in dict.fromkeys((asked.sender.id, asked.sender.payer)):
            await change(self._store, id, lambda known: Profile(version=known.version, role=known.role))
        return say("forgotten_me", asked.sender.language)

    async def unlink(self, asked: Inbound) -> str:
        await change(self._store, asked.sender.id, lambda own: replace(own, account=""))
        return say("unlinked", asked.sender.language)
