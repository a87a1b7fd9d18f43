"""Who is who in Slack, and what they said before: asked for as needed, remembered for some minutes.

Source: docs.slack.dev/reference/methods/users.info, docs.slack.dev/reference/methods/conversations.replies.
"""

import asyncio
import logging
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bot.channels.fields import object_at, objects_at, text_at
from bot.channels.slack.calls import Connection, called, paged
from bot.channels.slack.parse import WRITTEN, author_of, readable
from bot.errors import SendError
from bot.messages import Json, Person, Place, Quote

KEPT = 300.0
"""Seconds for which what was told of a person holds."""
MOST_KEPT = 1_000
MOST_EARLIER, MOST_CHARACTERS = 30, 8_000
MOST_ASKED = 10
"""People whose names one look into a thread asks for."""
PATIENCE = 5.0
"""Seconds for a look into a thread: an answer waits for it."""

_USER = re.compile(r"(?<![\w@])@([UW][A-Z0-9]{2,})\b(?! \()")
"""Somebody of whom Slack tells the id alone, as ``parse`` writes it."""
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)

K = TypeVar("K")
V = TypeVar("V")

logger = logging.getLogger(__name__)


class _Known(Struct, frozen=True):
    """Somebody as Slack knows them, and the workspace that they belong to."""

    person: Person
    team: str


class People:
    """``now`` gives Unix seconds."""

    def __init__(self, connection: Connection, now: Callable[[], float]) -> None:
        self._connection = connection
        self._now = now
        self._known: OrderedDict[str, tuple[float, _Known]] = OrderedDict()
        self._seen: OrderedDict[str, dict[str, str]] = OrderedDict()
        """Of each conversation, whom and by which name."""
        self._our_bots: dict[str, str] = {}
        """By workspace."""

    async def introduce(self, place: Place, person: Person) -> Person:
        """The person as Slack knows them; as they were where it does not tell."""
        known = await self._introduced(place, person)
        self.saw(place, known)
        return known

    async def _introduced(self, place: Place, person: Person) -> Person:
        try:
            told = (await self._asked(place, person)).person
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | nobody was introduced", place.conversation, error)
            return person
        return replace(
            person,
            name=told.name or person.name,
            language=told.language or person.language,
            zone=told.zone or person.zone,
        )

    async def team_of(self, place: Place, person: Person) -> str:
        """The workspace that somebody belongs to; an app of a whole organisation is told of that only. Raises
        SendErrors."""
        return (await self._asked(place, person)).team if _is_organisation(place.team) else place.team

    async def _asked(self, place: Place, person: Person) -> _Known:
        """Raises SendErrors."""
        known = self._known.get(person.id)
        if known is None or known[0] < self._now():
            client = await self._connection.client(place.team)
            answer = await called(client.users_info(user=user_of(person), include_locale=True))
            user = object_at(answer, "user")
            known = (self._now() + KEPT, _Known(_person(person.id, user), text_at(user, "team_id")))
            keep_newest(self._known, person.id, known)
        return known[1]

    async def administers(self, place: Place, person: Person) -> bool:
        """A channel has no admins that a bot is told of: admins and owners of the workspace are, or where the app is
        installed for a whole organisation, those of that."""
        try:
            client = await self._connection.client(place.team)
            answer = await called(client.users_info(user=user_of(person)))
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | nobody says who is an admin", place.conversation, error)
            return False
        user, team = object_at(answer, "user"), "team_id"
        if _is_organisation(place.team):
            user, team = object_at(user, "enterprise_user"), "enterprise_id"
        # Somebody of another workspace, in a shared channel, may be an admin there.
        ours = text_at(user, team) == place.team
        return ours and any(user.get(right) is True for right in ("is_admin", "is_owner"))

    async def named(self, place: Place, words: str) -> str:
        """``@U1`` as ``@Ann (U1)``. To be named is not to be there: the answer calls nobody for it."""
        users = list(dict.fromkeys(_USER.findall(words)))[:MOST_ASKED]
        people = await asyncio.gather(
            *(self._introduced(place, Person(f"slack:{place.team}:{user}")) for user in users)
        )
        names = {user: person.name for user, person in zip(users, people, strict=True) if person.name}
        return _USER.sub(lambda user: f"@{names[user[1]]} ({user[1]})" if user[1] in names else user[0], words)

    def saw(self, place: Place, *people: Person) -> None:
        """Who was seen in a conversation may be named there."""
        seen = self._seen.get(place.conversation, {})
        names = {user_of(person): person.name or seen.get(user_of(person), "") for person in people}
        keep_newest(self._seen, place.conversation, seen | names)

    def seen(self, place: Place) -> Mapping[str, str]:
        """The names of those who were, by their ids; "" of one who is not known by name."""
        return self._seen.get(place.conversation, {})

    async def our_bot(self, team: str) -> str:
        """The bot's own id on messages in a workspace; raises SendErrors."""
        if team not in self._our_bots:
            client = await self._connection.client(team)
            self._our_bots[team] = text_at(await called(client.auth_test()), "bot_id")
        return self._our_bots[team]

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        """What a thread holds before one of its messages: its beginning and its newest, bounded."""
        if not place.thread:
            return ()
        try:
            async with asyncio.timeout(PATIENCE):
                client = await self._connection.client(place.team)
                ask = partial(client.conversations_replies, channel=place.chat, ts=place.thread, latest=before)
                said = [each async for each in paged(ask) if _is_said(each) and text_at(each, "ts") < before]
                ours = await self.our_bot(place.team)
                return await self._told(place, _bounded(said), ours)
        except (SendError, TimeoutError) as error:
            logger.info("conversation=<%s> error=<%s> | the thread was not read", place.conversation, error)
            return ()

    async def _told(self, place: Place, messages: list[Json], ours: str) -> tuple[Quote, ...]:
        users = dict.fromkeys(text_at(message, "user") for message in messages if not message.get("bot_id"))
        there = [Person(f"slack:{place.team}:{user}") for user in users]
        self.saw(place, *there)
        people = await asyncio.gather(*(self.introduce(place, person) for person in there[:MOST_ASKED]))
        names = {user_of(person): f"{person.name} ({user_of(person)})" for person in people if person.name}
        return tuple(_quote(message, names, ours) for message in messages)


def user_of(person: Person) -> str:
    """Slack's own id of somebody."""
    return person.id.rpartition(":")[2]


def _is_organisation(team: str) -> bool:
    return team.startswith("E")


def _person(person: str, user: Json) -> Person:
    profile = object_at(user, "profile")
    names = (
        text_at(holder, name)
        for holder, name in (
            (profile, "display_name"),
            (profile, "real_name"),
            (user, "real_name"),
            (user, "name"),
        )
    )
    return Person(person, next(filter(None, names), ""), text_at(user, "locale"), text_at(user, "tz"))


def _is_said(message: Json) -> bool:
    """Whether it is somebody's words: no announcement, and with something in it."""
    written = bool(message.get("bot_id")) or text_at(message, "subtype") in WRITTEN
    return written and bool(_words(message))


def _words(message: Json) -> str:
    files = [text_at(file, "name") or text_at(file, "title") for file in objects_at(message, "files")]
    text = readable(text_at(message, "text"), "")
    return "\n".join([*([text] if text else []), *(f"[file: {name}]" for name in files if name)])


def _quote(message: Json, names: dict[str, str], ours: str) -> Quote:
    author = author_of(message)
    if bot := text_at(message, "bot_id"):
        return Quote(_words(message), "" if bot == ours else f"{author} (a bot)", ours=bot == ours)
    return Quote(_words(message), names.get(author, author))


def _bounded(messages: list[Json]) -> list[Json]:
    """The first and the newest messages that are within the limits, the last one cut where it alone is above them."""
    if not messages:
        return []
    root, *rest = messages
    room = MOST_CHARACTERS - len(_words(root))
    kept: list[Json] = []
    for message in reversed(rest[-(MOST_EARLIER - 1) :]):
        room -= len(_words(message))
        if room < 0:
            break
        kept.append(message)
    if len(_words(root)) > MOST_CHARACTERS:
        root = {**root, "text": text_at(root, "text")[:MOST_CHARACTERS], "files": []}
    return [root, *reversed(kept)]


def keep_newest(values: OrderedDict[K, V], key: K, value: V) -> None:
    """What is remembered in a process that may live long: a bounded number of things."""
    values[key] = value
    values.move_to_end(key)
    if len(values) > MOST_KEPT:
        values.popitem(last=False)


def named(text: str, seen: Mapping[str, str]) -> str:
    """Markdown as it is rendered, in which only these people are called: by their ids, or as ``@Ann`` where one of them
    alone has that name. Any other name stays the characters it is."""
    for user in seen:
        if f"@{user}" in text:
            text = text.replace(f"&lt;@{user}&gt;", f"<@{user}>")
    names = Counter(name.casefold() for name in seen.values() if name)
    users = {name.casefold(): user for user, name in seen.items() if names[name.casefold()] == 1}
    if not users or "@" not in text:
        return text
    either = "|".join(map(re.escape, sorted(users, key=len, reverse=True)))
    call = re.compile(rf"(?<![\w@/<;[])@({either})(?: \(([UW][A-Z0-9]+)\))?(?![\w@])", re.IGNORECASE)
    pieces = _CODE.split(text)
    pieces[::2] = [call.sub(lambda name: _called(name, users), piece) for piece in pieces[::2]]
    return "".join(pieces)


def _called(name: re.Match[str], users: Mapping[str, str]) -> str:
    user = users.get(name[1].casefold())
    return f"<@{user}>" if user and name[2] in (None, user) else name[0]
