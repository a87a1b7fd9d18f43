"""Slack's way out, and its way in for files: the Web API through slack_sdk.

A message that grows is one of Slack's own streams where it can be: in a thread. Whatever a stream can not show, and
where it ended before us (after five minutes, by the person's Stop, with the process that began it), the same message is
edited instead. Source: docs.slack.dev/reference/methods; slack_sdk 3.48.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.channels.fields import object_at, text_at
from bot.channels.slack.blocks import content
from bot.channels.slack.calls import Connection, Tokens, called
from bot.channels.slack.files import fetched, shared
from bot.channels.slack.home import Welcome, prompts, view
from bot.channels.slack.people import People, named, user_of
from bot.channels.slack.posts import Posts
from bot.channels.slack.render import render
from bot.errors import ChatClosed, SendError, SendRefused
from bot.messages import Attachment, Button, File, Json, Person, Place, Quote
from bot.ports import Manner, Pace, Rendered, Upload

MOST_FILES = 10
"""In one message, as in Slack's own apps."""
STREAMLESS = 600.0
"""Seconds for which a workspace that refused a stream is not asked for another one."""

logger = logging.getLogger(__name__)

Greeting = Callable[[str], Welcome]
"""What to greet with, by language."""


class SlackChannel:
    """The port ``Channel`` over one connection pool, which is made inside the loop that uses it first.

    Without a ``greeting`` the bot's page stays empty. ``now`` gives Unix seconds.
    """

    stop_button = False  # Slack has its own, beside a session at work
    shows_tasks = True
    feedback = True
    typing_interval = 60.0
    pace = Pace(interval=1.3, burst=4)  # chat.update: about 50 a minute, chat.postMessage: one a second in a channel
    group_pace = pace

    def __init__(
        self,
        tokens: Tokens,
        base_url: str,
        *,
        greeting: Greeting | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._connection = Connection(tokens, base_url)
        self._people = People(self._connection, now)
        self._posts = Posts(self._connection, now)
        self._greeting = greeting
        self._now = now
        self._streamless: dict[str, float] = {}
        """Until when no stream is tried, by workspace."""

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return render(markdown, growing=growing)

    def drafts(self, place: Place) -> bool:
        return False

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        """Slack has none: what grows is a message."""

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        return [tuple(files[start : start + MOST_FILES]) for start in range(0, len(files), MOST_FILES)]

    async def introduce(self, place: Place, person: Person) -> Person:
        return await self._people.introduce(place, person)

    async def administers(self, place: Place, person: Person) -> bool:
        return await self._people.administers(place, person)

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        return await self._people.earlier(place, before)

    async def named(self, place: Place, words: str) -> str:
        return await self._people.named(place, words)

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        return await fetched(self._connection, place, attachment)

    async def typing(self, place: Place, active: bool = True) -> None:
        """Slack shows the sign in threads only, and ends it by itself after two minutes or when a message arrives.

        An agent's session has a Stop button beside it; an app that is not declared an agent has the older sign.
        """
        if not place.thread:
            return
        where: Json = {"channel_id": place.chat, "thread_ts": place.thread}
        try:
            client = await self._connection.client(place.team)
            try:
                await called(client.agents_sessions_setStatus(**where, status="processing" if active else "active"))
            except SendRefused:
                await called(client.assistant_threads_setStatus(**where, status="is thinking…" if active else ""))
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | typing was not shown", place.conversation, error)

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        """Slack has nothing for ``reply_to``, an answer belongs to a thread, and nothing for ``silent``."""
        self._people.saw(place, manner.to)
        part = self._naming(place, part)
        if not manner.growing:
            part = replace(part, tasks=())
        if manner.quiet:
            return await self._whisper(place, part, manner)
        if manner.growing and place.thread and self._now() >= self._streamless.get(place.team, 0):
            return await self._stream(place, part, manner)
        return await self._posts.post(place, part, manner.mark)

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        """They carry no mark: Slack makes the message itself. For one person's eyes they go into direct messages."""
        where = await self._direct(place, manner.to) if manner.quiet and place.group else place
        return await shared(self._connection, where, files)

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        if message_id:  # an ephemeral message has none, and stays as it is
            await self._posts.show(place, message_id, self._naming(place, part), growing=growing)

    async def delete(self, place: Place, message_id: str) -> None:
        if message_id:
            await self._posts.delete(place, message_id)

    async def find(self, place: Place, mark: str) -> str | None:
        """Looks through the thread, or in a direct message without threads through the newest messages."""
        return await self._posts.find(place, mark, self._people.our_bot)

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        """The home tab with the settings of the direct message, and what to begin with in the messages tab, where a
        thread is one of an assistant of old."""
        if self._greeting is None:
            return
        if not person.language:
            person = await self.introduce(place, person)
        welcome = self._greeting(person.language)
        try:
            client = await self._connection.client(place.team)
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | not greeted", place.conversation, error)
            return
        page = view(welcome, place.chat, choices, person.language)
        await self._tried(place, client.views_publish(user_id=user_of(person), view=page))
        if welcome.prompts:
            suggestion = client.assistant_threads_setSuggestedPrompts(
                channel_id=place.chat,
                thread_ts=place.thread or None,
                title=welcome.suggestions or None,
                prompts=prompts(welcome),
            )
            await self._tried(place, suggestion)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    def _naming(self, place: Place, part: Rendered) -> Rendered:
        return replace(part, text=named(part.text, self._people.seen(place)))

    async def _stream(self, place: Place, part: Rendered, manner: Manner) -> str:
        """As a stream, or where Slack refuses one, as a message that will be edited."""
        try:
            team = await self._people.team_of(place, manner.to) if place.group else ""
            return await self._posts.start(place, part, manner.mark, manner.to, team)
        except SendRefused as error:
            logger.info("conversation=<%s> error=<%s> | no stream here", place.conversation, error)
        message_id = await self._posts.post(place, part, manner.mark)
        self._streamless[place.team] = self._now() + STREAMLESS
        return message_id

    async def _whisper(self, place: Place, part: Rendered, manner: Manner) -> str:
        """For one person's eyes: an ephemeral message where others are, and where that can not be, a direct one. What
        nobody can be told is logged."""
        try:
            if not place.group:
                return await self._posts.post(place, part, manner.mark)
            thread = place.thread or None
            client = await self._connection.client(place.team)
            ephemeral = client.chat_postEphemeral(
                channel=place.chat, user=user_of(manner.to), thread_ts=thread, **content(part)
            )
            await called(ephemeral)
        except (SendRefused, ChatClosed) as refusal:
            try:
                await self._posts.post(await self._direct(place, manner.to), part, manner.mark)
            except (SendRefused, ChatClosed) as error:
                told = (place.conversation, refusal, error)
                logger.warning("conversation=<%s> error=<%s>, <%s> | nobody was told", *told)
        return ""

    async def _direct(self, place: Place, person: Person) -> Place:
        """Where we talk with this person alone."""
        client = await self._connection.client(place.team)
        answer = await called(client.conversations_open(users=user_of(person)))
        return replace(place, chat=text_at(object_at(answer, "channel"), "id"), thread="", group=False)

    async def _tried(self, place: Place, call: Awaitable[AsyncSlackResponse]) -> None:
        try:
            await called(call)
        except SendError as error:
            logger.info("conversation=<%s> error=<%s> | not greeted whole", place.conversation, error)
