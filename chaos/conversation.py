"""One person's conversation with the bot, and all that is seen of it from outside: what it shows, stores and does."""

import asyncio
import base64
import json
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from bot.messages import Answered, Turn
from bot.schema import ENTRY, TURN
from chaos.scripts import Script, errand_in, errand_of
from simulator.app import Simulator
from simulator.model_reply import Step
from simulator.slack import TEAM
from simulator.world import Chat, Message, Person, Platform


class Verdict(Struct, frozen=True):
    """What one conversation came to. ``unavoidable`` counts those of ``doubled`` that nobody could have known of.

    ``repeated``: tools with effects that ran again, and model calls that were paid again although their whole reply
    was stored. ``unsendable``: requests that the model refused, or would refuse of what is stored. ``hasty``: calls to
    a chat that had been told to wait. ``spared``: what was to go wrong never did. ``recovery_s``: from the last thing
    that went wrong to the complete answer.
    """

    name: str
    finished: bool
    lost: int
    doubled: int
    unavoidable: int
    repeated: int
    unsendable: int
    hasty: int
    spared: bool
    recovery_s: float
    remarks: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        faults = self.lost + self.doubled - self.unavoidable + self.repeated + self.unsendable + self.hasty
        return self.finished and not faults


class Conversation:
    """``name`` says what goes wrong in it. ``rules`` is free for the plan that makes it go wrong."""

    def __init__(self, number: int, platform: Platform, name: str, script: Script, rules: Any = None) -> None:
        self.number = number
        self.platform = platform
        self.name = name
        self.script = script
        self.rules = rules
        self.key = ""
        """The bot's own name for it, known once something was said."""
        self.calls: Counter[str] = Counter()
        """What its workers asked for so far, by label."""
        self.first_over = asyncio.Event()
        """Its first invocation has ended, well or not."""
        self.settled = asyncio.Event()
        self.said_all = False
        self.invocations = 0
        self.troubled_at: float | None = None
        self.complete_at: float | None = None
        self.remarks: list[str] = []
        self.hasty = 0
        self._wait_until = 0.0
        self._kills = 0
        self._cut_sends = 0
        self._rivals = 0
        self._refused = 0
        self._paid_again = 0
        self._effects: Counter[str] = Counter()
        self._stored_replies: Counter[str] = Counter()
        """By errand, "" for the turn's own."""
        self._stored_ids: set[str] = set()
        self._simulator: Simulator  # set when it joins

    # What happens in it

    def join(self, simulator: Simulator) -> None:
        """Its person and its chat begin to exist."""
        self._simulator = simulator
        person = Person(f"person{self.number}", f"Person {self.number}", 5_000 + self.number, f"U{self.number}", "en")
        simulator.world.people += (person,)
        title, people = f"chat {self.number}", (person.id,)
        if self.platform == "telegram":
            simulator.world.chats.append(Chat("telegram", self.chat, "private", title, people))
        else:
            simulator.slack.open(Chat("slack", self.chat, "channel", title, people))

    @property
    def chat(self) -> str:
        return str(5_000 + self.number) if self.platform == "telegram" else f"C{self.number}"

    async def say(self) -> None:
        """Everything the person has to say, one after the other."""
        thread = ""
        for pause, words in self.script.questions:
            await asyncio.sleep(pause)
            thread = await self._say(f"case-{self.number} {words}", thread)
        self.said_all = True

    async def _say(self, text: str, thread: str) -> str:
        person = f"person{self.number}"
        if self.platform == "telegram":
            await self._simulator.telegram.say(self.chat, person, text)
            self.key = f"telegram:{self.chat}"
            return ""
        message = await self._simulator.slack.say(self.chat, person, f"@Kabar {text}", thread or None)
        self.key = f"slack:{TEAM}:{self.chat}:{thread or message.id}"
        return thread or message.id

    def answer(self, request: dict[str, Any]) -> Step:
        """The model's reply to a request of this conversation."""
        step = sum(message["role"] == "assistant" for message in request["messages"])
        if self.script.steps and step < self._stored_replies[errand_of(request)]:
            self._paid_again += 1
            self.remarks.append(f"the model was asked for reply {step + 1} again")
        return self.script.reply(step, request)

    # What is seen of it

    def note(self, service: str, name: str, body: bytes, status: int, answer: bytes) -> None:
        """One request of its worker was done."""
        if service == "model" and status == 400:
            self._refused += 1
            self.remarks.append(f"refused: {answer.decode(errors='replace')[:200]}")
        elif service == "tools":
            self._effects[name] += 1
        elif service == "dynamodb" and status == 200:
            self._note_write(json.loads(body))
        elif service == self.platform and self.complete_at is None and self._is_complete():
            self.complete_at = time.monotonic()

    def note_kill(self) -> None:
        self._kills += 1
        self.note_trouble()

    def note_trouble(self) -> None:
        self.troubled_at = time.monotonic()

    def note_cut_send(self) -> None:
        """A message was posted, and the bot was left without the answer."""
        self._cut_sends += 1
        self.note_trouble()

    def note_rival(self) -> None:
        """A second worker may take the turn away from one that is just posting a message."""
        self._rivals += 1

    def must_wait(self, seconds: float) -> None:
        """The platform wants no call to this chat for so long."""
        self._wait_until = time.monotonic() + seconds
        self.note_trouble()

    def note_call_to_the_chat(self, name: str) -> None:
        if time.monotonic() < self._wait_until:
            self.hasty += 1
            self.remarks.append(f"{name} {self._wait_until - time.monotonic():.1f} s too early")

    def _note_write(self, request: dict[str, Any]) -> None:
        """Keep what a write to the table leaves behind: replies of the model, and ids of messages that are known."""
        for write in request.get("TransactItems", [{"Update": request}]):
            item = write.get("Put", {}).get("Item", {})
            if item.get("sk", {}).get("S", "").startswith("H#") and "#" not in item["sk"]["S"][2:]:
                entry = ENTRY.read(zlib.decompress(_bytes(item["zipped"])))
                self._stored_replies[errand_in(item["pk"]["S"])] += isinstance(entry, Answered)
            turn = write.get("Update", {}).get("ExpressionAttributeValues", {}).get(":turn")
            if turn is not None:
                self._note_turn(TURN.read(_bytes(turn)))

    def _note_turn(self, turn: Turn) -> None:
        self._stored_ids |= {part.id for part in turn.parts if part.state == "sent"}

    # What it came to

    def shown(self) -> list[Message]:
        """The bot's messages, oldest first."""
        return [each for each in self._simulator.world.messages_of(self.platform, self.chat) if each.is_bot]

    def verdict(self, unsendable: Sequence[str]) -> Verdict:
        """``unsendable``: what the model would refuse of the request that its record makes."""
        shown = self.shown()
        missing = self.script.missing(_words(shown))
        spare = [] if missing else self.script.spare(_words(shown))  # what still grows also says what it is working at
        doubled = self._spare_messages(shown) if spare else 0
        unavoidable = min(doubled, self._unknowable(shown))
        repeated = self._paid_again + sum(times - 1 for name, times in self._effects.items() if name == "book")
        recovery = (self.complete_at or 0) - self.troubled_at if self.troubled_at and self.complete_at else 0
        remarks = [*self.remarks, *unsendable]
        if missing:
            remarks.append(f"not shown: {_named(missing)}")
        if doubled:
            remarks.append(f"shown too often: {_named(spare)}")
        if self.troubled_at is None:
            remarks.append("nothing went wrong")
        return Verdict(
            name=self.name,
            finished=not missing and self.settled.is_set(),
            lost=int(bool(missing)),
            doubled=doubled,
            unavoidable=unavoidable,
            repeated=repeated,
            unsendable=self._refused + len(unsendable),
            hasty=self.hasty,
            spared=self.troubled_at is None,
            recovery_s=round(max(recovery, 0), 1),
            remarks=tuple(remarks),
        )

    def _is_complete(self) -> bool:
        return not self.script.missing(_words(self.shown()))

    def _spare_messages(self, shown: Sequence[Message]) -> int:
        """Messages without which everything would still be there; at least one, where any word is too many."""
        left = list(shown)
        for message in shown:
            rest = [each for each in left if each is not message]
            if not self.script.missing(_words(rest)):
                left = rest
        return max(len(shown) - len(left), 1)

    def _unknowable(self, shown: Sequence[Message]) -> int:
        """Messages whose id never reached the store, at most one for each time that a send may have been cut.

        Telegram has no key that makes a send idempotent, and no way to look for a message. Slack has.
        """
        if self.platform != "telegram":
            return 0
        unknown = sum(message.id not in self._stored_ids for message in shown)
        return min(unknown, self._kills + self._cut_sends + self._rivals)


def _words(shown: Sequence[Message]) -> list[str]:
    return [word for message in shown for word in (message.markdown_text or message.text).split()]


def _named(words: Sequence[str]) -> str:
    """A few of these words, without what only makes them long."""
    return ", ".join(word.rstrip("x") for word in words[:3])


def _bytes(value: dict[str, str]) -> bytes:
    """A binary attribute as it is on the wire."""
    return base64.b64decode(value["B"])
