"""What exists in the simulator, on both platforms: people, chats, messages, and what the bot did.

The platforms (``telegram``, ``slack``) change it, the page and the tests watch it. Everything here happens in one event
loop; a change is seen by every watcher before the next await.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

T = TypeVar("T")
Json = dict[str, Any]
Platform = Literal["telegram", "slack"]


class Mistake(ValueError):
    """A person's action that can not be done: an unknown chat, an empty text. Its text is one plain sentence."""


class Person(Struct, frozen=True):
    id: str
    name: str
    telegram_id: int
    slack_id: str
    language: str
    zone: str = "Asia/Jakarta"


class Topic(Struct, frozen=True):
    """A forum's topic; ``id`` "" is General."""

    id: str
    name: str


class Chat(Struct, frozen=True):
    """``id`` is the platform's own, as text. ``people`` are ids of persons."""

    platform: Platform
    id: str
    kind: Literal["private", "group", "forum", "channel"]
    title: str
    people: tuple[str, ...]
    topics: tuple[Topic, ...] = ()


class File(Struct, frozen=True):
    name: str
    media_type: str
    data: bytes


class FileInfo(Struct, frozen=True):
    """A file as the page shows it. ``size`` is in bytes. ``kind`` is Telegram's way to show it (photo, voice, ...)."""

    name: str
    media_type: str
    size: int
    url: str
    kind: str = ""


class Quote(Struct, frozen=True):
    id: str
    author: str
    text: str


class Button(Struct, frozen=True):
    """``id`` is "<row>.<column>", both from 0."""

    id: str
    text: str
    style: str = ""
    url: str = ""


class Task(Struct, frozen=True):
    """A step that a Slack stream shows above its text. ``status``: pending, in_progress, complete or error."""

    id: str
    title: str
    status: str
    details: str = ""
    output: str = ""


class Delivery(Struct):
    """How far a person's message came on its way to the bot. ``status`` is the bot's HTTP status, 0 for no answer."""

    state: Literal["pending", "accepted", "repeating", "refused", "kept"] = "pending"
    status: int = 0
    attempts: int = 0
    detail: str = ""


class Message(Struct, kw_only=True):
    """One message as people see it. README.md explains each field; ``id`` and ``thread`` are the platform's own."""

    platform: Platform
    chat: str
    id: str
    at: float
    author: str
    author_id: str
    is_bot: bool
    thread: str = ""
    text: str = ""
    entities: list[Json] = field(default_factory=list)
    markdown_text: str = ""
    blocks: list[Json] = field(default_factory=list)
    quote: Quote | None = None
    edits: int = 0
    draft: bool = False
    streaming: bool = False
    plan: str = ""
    tasks: list[Task] = field(default_factory=list)
    only_for: str = ""
    silent: bool = False
    album: str = ""
    buttons: list[list[Button]] = field(default_factory=list)
    files: list[FileInfo] = field(default_factory=list)
    reactions: list[str] = field(default_factory=list)
    delivery: Delivery | None = None

    @property
    def key(self) -> tuple[Platform, str, str]:
        return (self.platform, self.chat, self.id)


class Sign(Struct, frozen=True):
    """A sign of life, such as "typing…". It ends by itself at ``until`` (Unix seconds).

    ``stop``: it has a Stop button, and stays when the bot writes.
    """

    platform: Platform
    chat: str
    thread: str
    text: str
    until: float
    stop: bool = False


class Fault(Struct):
    """What is to go wrong with the bot's next calls of ``method`` ("*": of any).

    The first ``skip`` calls pass, the next ``times`` fail. ``error``: answer with ``status``, the platform's ``error``
    text and ``retry_after`` seconds, and do nothing. ``hang``: never do it, never answer. ``cut``: do it, then cut the
    connection. ``mute``: do it, never answer.
    """

    platform: Platform
    method: str
    kind: Literal["error", "hang", "cut", "mute"]
    times: int = 1
    skip: int = 0
    status: int = 500
    error: str = ""
    retry_after: int = 0


class Call(Struct):
    """One API call of the bot. ``params`` never hold the token. ``ok`` is None while it runs, and where it hangs."""

    at: float
    platform: Platform
    method: str
    params: Json
    ok: bool | None = None
    error: str = ""
    result: Any = None


class BotState(Struct):
    url: str = ""
    status: Literal["waiting", "connected", "down", "restarting"] = "waiting"
    detail: str = ""


class ModelState(Struct):
    """Which model answers, as far as the simulator knows."""

    demo: bool = False
    name: str = ""


class Event(Struct, frozen=True):
    version: int
    type: str
    data: Any


PEOPLE = (
    Person("ann", "Ann", 1001, "U0ANN", "en"),
    Person("budi", "Budi", 1002, "U0BUDI", "id"),
    Person("sari", "Sari", 1003, "U0SARI", "id"),
)
"""``python -m simulator`` lets its bot talk to the first two; Sari is a stranger to it."""
LANGUAGES = ("en", "id")
_QUEUE_LIMIT = 10_000
"""Events a watcher may be behind. A page that is further behind is told to fetch the state again."""


class World:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.people: tuple[Person, ...] = PEOPLE
        self.chats: list[Chat] = []
        self.messages: dict[tuple[Platform, str, str], Message] = {}
        self._messages_by_chat: defaultdict[tuple[Platform, str], dict[str, Message]] = defaultdict(dict)
        self.files: dict[str, File] = {}
        """Of both platforms, by id; see ``simulator.files``."""
        self.signs: dict[tuple[Platform, str, str], Sign] = {}
        self.faults: list[Fault] = []
        self.calls: list[Call] = []
        self.homes: dict[str, Json] = {}
        self.prompts: dict[str, Json] = {}
        """What Slack suggests to write, by chat."""
        self.commands: list[Json] = []
        self.bot = BotState()
        self.model = ModelState()
        self.version = 0
        self.closed = False
        self.url = ""
        """Where the simulator is served: http://host:port."""
        self._watchers: set[asyncio.Queue[Event | None]] = set()
        self._changed = asyncio.Event()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    # Looking things up.

    def person(self, key: str | int) -> Person:
        """By id, name or either platform's user id. Raises Mistake."""
        key = str(key)
        for person in self.people:
            if key in (person.id, person.name, str(person.telegram_id), person.slack_id):
                return person
        raise Mistake(f"There is nobody called {key!r}.")

    def chat(self, platform: Platform, chat_id: str | int) -> Chat:
        """Raises Mistake."""
        for chat in self.chats:
            if chat.platform == platform and chat.id == str(chat_id):
                return chat
        raise Mistake(f"There is no {platform} chat {chat_id!r}.")

    def member(self, chat: Chat, key: str | int) -> Person:
        """A person who may write in the chat. Raises Mistake."""
        person = self.person(key)
        if person.id not in chat.people:
            raise Mistake(f"{person.name} is not in {chat.title!r}.")
        return person

    def shown_people(self) -> list[Json]:
        """Everybody, as the page shows them."""
        return [
            {"id": person.id, "name": person.name, "slack_id": person.slack_id, "language": person.language}
            for person in self.people
        ]

    def messages_of(self, platform: Platform, chat_id: str | int) -> list[Message]:
        """In the order sent."""
        return [*self._messages_by_chat.get((platform, str(chat_id)), {}).values()]

    # Changing things.

    def speak(self, key: str | int, language: str) -> None:
        """A person chooses the language of their apps, which both platforms tell the bot. Raises Mistake."""
        if language not in LANGUAGES:
            raise Mistake(f"Nobody here speaks {language!r}.")
        chosen = self.person(key)
        self.people = tuple(
            msgspec.structs.replace(person, language=language) if person is chosen else person for person in self.people
        )
        self.emit("people", self.shown_people())

    def show(self, message: Message) -> Message:
        """Put a message where people see it. Returns the one object that lives on through all its changes."""
        shown = self.messages.setdefault(message.key, message)
        self._messages_by_chat[message.platform, message.chat][message.id] = shown
        for name in message.__struct_fields__:
            setattr(shown, name, getattr(message, name))
        self.emit("message", shown)
        return shown

    def remove(self, message: Message) -> None:
        if self.messages.pop(message.key, None):
            del self._messages_by_chat[message.platform, message.chat][message.id]
            self.emit("gone", {"platform": message.platform, "chat": message.chat, "id": message.id})

    def sign(
        self, platform: Platform, chat: str, thread: str, text: str, seconds: float, *, stop: bool = False
    ) -> None:
        """Show a sign of life for some seconds; an empty text ends it."""
        key = (platform, chat, thread)
        sign = Sign(platform, chat, thread, text, self.now() + seconds, stop)
        if text:
            self.signs[key] = sign
        elif self.signs.pop(key, None) is None:
            return
        self.emit("sign", sign)

    def deliver(self, message: Message, delivery: Delivery) -> None:
        """Remember how far a message came. One that was removed meanwhile stays away."""
        message.delivery = delivery
        if message.key in self.messages:
            self.emit("message", message)

    def set_bot(self, status: Literal["waiting", "connected", "down", "restarting"], detail: str = "") -> None:
        if (status, detail) != (self.bot.status, self.bot.detail):
            self.bot.status, self.bot.detail = status, detail
            self.emit("bot", self.bot)

    def set_model(self, *, demo: bool, name: str) -> None:
        self.model = ModelState(demo=demo, name=name)
        self.emit("model", self.model)

    def notice(self, text: str, *, level: Literal["info", "error"] = "info", alert: bool = False) -> None:
        self.emit("notice", {"level": level, "text": text, "alert": alert})

    def add_fault(self, fault: Fault) -> None:
        self.faults.append(fault)
        self.emit("faults", self.faults)

    def clear_faults(self) -> None:
        self.faults.clear()
        self.emit("faults", self.faults)

    def take_fault(self, platform: Platform, method: str) -> Fault | None:
        """The fault that hits this call, if any, counted down."""
        for fault in self.faults:
            if fault.platform != platform or fault.method not in (method, "*"):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times < 1:
                self.faults.remove(fault)
            self.emit("faults", self.faults)
            return fault
        return None

    @contextmanager
    def logged(self, platform: Platform, method: str, params: Json) -> Iterator[Call]:
        """Keep one call of the bot in ``calls``: from its arrival on, with its end once the caller filled it in."""
        call = Call(self.now(), platform, method, params)
        self.calls.append(call)
        yield call
        fields = {"at": call.at, "platform": platform, "method": method, "ok": call.ok, "error": call.error}
        self.emit("call", fields)

    def reset(self) -> None:
        """Every message, sign, fault and call is gone; people, chats and the bot stay."""
        everything = (self.messages, self._messages_by_chat, self.files, self.signs, self.faults, self.calls)
        for kept in (*everything, self.homes, self.prompts):
            kept.clear()
        self.emit("reset", {})

    # Watching.

    def emit(self, type: str, data: Any) -> None:
        """Tell every watcher. ``data`` is copied: later changes do not reach into an event."""
        self.version += 1
        event = Event(self.version, type, msgspec.to_builtins(data))
        for queue in self._watchers:
            if queue.full():
                _empty(queue)
                queue.put_nowait(Event(self.version, "reset", {}))
            else:
                queue.put_nowait(event)
        self.wake()

    def wake(self) -> None:
        """Have everyone in ``wait_until`` look again."""
        self._changed.set()
        self._changed = asyncio.Event()

    def later(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        """Do something after some seconds. The same name again puts it off."""
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, do)

    def close(self) -> None:
        """End every watcher and long poll; the server is about to go."""
        self.closed = True
        for timer in self._timers.values():
            timer.cancel()
        for queue in self._watchers:
            _empty(queue)
            queue.put_nowait(None)
        self.wake()

    async def watch(self) -> AsyncIterator[Event]:
        """Every event from now on. The first is "hello", so that nothing falls between it and a fetched state."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue(_QUEUE_LIMIT)
        self._watchers.add(queue)
        try:
            yield Event(self.version, "hello", {"version": self.version})
            while not self.closed and (event := await queue.get()):
                yield event
        finally:
            self._watchers.discard(queue)

    async def wait_until(self, look: Callable[[], T], timeout: float | None = 5) -> T:
        """The first true value of ``look``, asked again after every change. Raises TimeoutError after some seconds."""
        async with asyncio.timeout(timeout):
            while not (value := look()):
                await self._changed.wait()
        return value

    async def wait_for(self, platform: Platform, fits: Callable[[Message], bool], timeout: float = 5) -> Message:
        """The first message on the platform that fits, now or later. TimeoutError says what was there instead."""

        def first() -> Message | None:
            return next((m for m in self.messages.values() if m.platform == platform and fits(m)), None)

        try:
            found = await self.wait_until(first, timeout)
        except TimeoutError:
            seen = [f"{m.author} in {m.chat}: {m.text or m.markdown_text}" for m in self.messages.values()]
            raise TimeoutError(f"no such message within {timeout} s, only {seen[-5:]}") from None
        assert found is not None
        return found

    def state(self) -> Json:
        """Everything the page shows, in the shape README.md gives."""
        now = self.now()
        state: Json = msgspec.to_builtins(
            {
                "version": self.version,
                "model": self.model,
                "bot": self.bot,
                "people": self.shown_people(),
                "chats": self.chats,
                "commands": self.commands,
                "messages": list(self.messages.values()),
                "signs": [sign for sign in self.signs.values() if sign.until > now],
                "faults": self.faults,
                "homes": self.homes,
                "prompts": self.prompts,
            }
        )
        return state


def _empty(queue: asyncio.Queue[Event | None]) -> None:
    while not queue.empty():
        queue.get_nowait()
