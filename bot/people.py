"""Who says something: names, languages and time zones where a message does not tell them, and what they may do."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from bot.access import Access
from bot.messages import ChatSettings, Inbound, Person, Place, Profile, Quote
from bot.ports import Channel, Clock, Store
from bot.profiles import Profiles, change, chat_key

STALE = 24 * 3600
"""Seconds after which the platform is asked again."""


class People:
    def __init__(self, store: Store, channels: Mapping[str, Channel], access: Access, clock: Clock) -> None:
        self._store = store
        self._channels = channels
        self._access = access
        self._clock = clock

    async def known(
        self, said: Sequence[Inbound], settings: ChatSettings, profiles: Profiles | None = None
    ) -> tuple[Inbound, ...]:
        """The same messages, of one chat, with their senders as far as they are known. One read for all of them, and
        one for each who has several accounts; what was read is in ``profiles`` then."""
        profiles = profiles or Profiles(self._store)
        senders = {inbound.sender.id: inbound for inbound in said}
        await profiles.of(*senders, *(chat_key(inbound.conversation) for inbound in said))
        people = {person: await self._person(inbound, settings, profiles) for person, inbound in senders.items()}
        return tuple(replace(inbound, sender=people[inbound.sender.id]) for inbound in said)

    async def heard_before(self, first: Inbound) -> tuple[Quote, ...]:
        """What others had said in this thread before somebody turned to the bot."""
        channel = self._channels.get(first.place.platform)
        return await channel.earlier(first.place, first.native_id) if channel else ()

    async def named(self, said: Sequence[Inbound]) -> tuple[Inbound, ...]:
        """The same messages with whom they name called by name. Doing it again changes nothing."""
        return tuple([await self._named(each) for each in said])

    async def _named(self, inbound: Inbound) -> Inbound:
        channel, quote = self._channels.get(inbound.place.platform), inbound.quote
        if channel is None:
            return inbound
        text = await channel.named(inbound.place, inbound.text)
        if quote is not None:
            quote = replace(quote, text=await channel.named(inbound.place, quote.text))
        return replace(inbound, text=text, quote=quote)

    async def _person(self, inbound: Inbound, settings: ChatSettings, profiles: Profiles) -> Person:
        person = inbound.sender
        profile, chat = await profiles.of(person.id, chat_key(inbound.conversation))
        if not (person.name and person.language) and self._clock.now() - profile.seen > STALE:
            profile = await self._introduced(inbound.place, person, profile)
        if _is_private(inbound.place) and profile.place != inbound.place:
            profile = await change(self._store, person.id, lambda known: _met(known, inbound))
        shared = (await profiles.of(profile.account))[0] if profile.account else profile
        return replace(
            person,
            name=person.name or profile.name,
            language=settings.language or person.language or profile.language or shared.language,
            zone=shared.zone or profile.zone,
            role=self._access.role(person, profile.role, chat.role if inbound.place.group else ""),
            account=profile.account,
        )

    async def administers(self, asked: Inbound) -> bool:
        """Whether who asks may decide for everybody here: the owner, or a member whom the platform calls an admin of
        the group. A guest may not: a group's members would do with their rights what the guest wrote."""
        place, channel = asked.place, self._channels.get(asked.place.platform)
        if asked.sender.role != "member" or not place.group or channel is None:
            return asked.sender.role == "owner"
        return await channel.administers(place, asked.sender)

    async def _introduced(self, place: Place, person: Person, profile: Profile) -> Profile:
        """What is known after asking the platform. Where somebody else writes it down meanwhile, theirs stands."""
        channel = self._channels.get(place.platform)
        if channel is None:
            return profile
        told = await channel.introduce(place, person)
        now = replace(
            profile,
            name=told.name or profile.name,
            language=profile.language or told.language,
            zone=profile.zone or told.zone,
            seen=int(self._clock.now()),
        )
        await self._store.keep_profile(person.id, now)
        return await self._store.profile(person.id)


def _met(profile: Profile, inbound: Inbound) -> Profile:
    """What a private message tells, for when we write to them of our own accord."""
    sender = inbound.sender
    name, language = sender.name or profile.name, sender.language or profile.language
    return replace(profile, place=inbound.place, name=name, language=language)


def _is_private(place: Place) -> bool:
    return not place.group and not place.thread
