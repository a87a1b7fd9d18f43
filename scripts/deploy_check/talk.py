"""People talk with the deployed bot, on both platforms: the demo model answers, and remembers what it was asked."""

from collections.abc import Awaitable
from typing import Any

from bot.texts import may, say
from scripts.deploy_check.report import Report
from simulator.app import Simulator
from simulator.model_demo import DemoBrain
from simulator.model_reply import Answer
from simulator.world import File, Message

WAIT = 90.0
"""Seconds for an answer: a function that starts for it on a busy machine takes some of them."""
REMINDER_WAIT = 150.0
CHAT, DIRECT = "1001", "D0ANN"
"""Ann's private chats with the bot."""
NOTES = File("notes.txt", "text/plain", b"The boiler room key hangs behind the blue door.\n")
FIRST = "my lucky fruit is durian"


class Recorded:
    """A brain that answers as the demo model does, and keeps every request."""

    def __init__(self) -> None:
        self._brain = DemoBrain(word_delay=0.0)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: dict[str, Any]) -> Answer:
        self.requests.append(request)
        return self._brain(request)


class Talk:
    def __init__(self, simulator: Simulator, brain: Recorded, report: Report) -> None:
        self._simulator = simulator
        self._brain = brain
        self._report = report

    async def begin(self) -> None:
        """A reminder first: it comes while the rest is said."""
        await self._tries("Telegram: a reminder is set", self._says("remind me in 1 minute to stretch", "Set."))
        await self._tries("Telegram: a question is answered", self._says(FIRST, "durian"))
        await self._tries("Slack: a question is answered", self._in_slack("what is 12*7+3?", "= **87**"))
        await self._tries("Telegram: a file is kept in S3 and read again", self._file())
        await self._tries("Telegram: a file that the bot wrote arrives", self._written())
        await self._tries("Telegram: a tool waits for leave, then runs in the sandbox", self._leave())
        await self._tries("Slack: a tool waits for leave, then runs in the sandbox", self._leave_in_slack())

    async def remind(self) -> None:
        await self._tries("Telegram: the reminder comes when it is due", self._reminded())

    async def go_on(self, model: str) -> None:
        """After an update that changed the model's name."""
        before = len(self._brain.requests)
        await self._tries(
            "update: the bot still knows what was said before", self._says("what is my lucky fruit?", "durian")
        )
        asked = self._brain.requests[before:]
        self._report.same("update: the changed parameter is in force", {each["model"] for each in asked}, {model})
        self._report.add(
            "update: the model is told the earlier turn",
            any(FIRST in str(each["messages"][:-1]) for each in asked),
            asked,
        )
        await self._tries("update: Slack is answered too", self._in_slack("what is 6*7?", "= **42**"))

    # What is said

    async def _says(self, words: str, answer: str, *, file: File | None = None) -> Message:
        said = await self._simulator.telegram.say(CHAT, "ann", words, file=file)
        return await self._simulator.telegram.wait_for(
            lambda seen: seen.is_bot and seen.chat == CHAT and int(seen.id) > int(said.id) and answer in seen.text, WAIT
        )

    async def _in_slack(self, words: str, answer: str) -> Message:
        said = await self._simulator.slack.say(DIRECT, "ann", words)
        return await self._simulator.slack.wait_for(
            lambda seen: seen.is_bot and seen.id > said.id and answer in _shown(seen), WAIT
        )

    async def _file(self) -> None:
        await self._says("here are my notes", "notes.txt", file=NOTES)
        await self._says("read notes.txt", "behind the blue door")

    async def _written(self) -> None:
        said = await self._simulator.telegram.say(CHAT, "ann", "make a file")
        await self._simulator.telegram.wait_for(
            lambda seen: seen.is_bot and int(seen.id) > int(said.id) and _has(seen, "packing.csv"), WAIT
        )

    async def _leave(self) -> None:
        asked = await self._says("draw a chart", may("run_python", "en"))
        await self._simulator.telegram.tap(CHAT, "ann", asked.id, _button(asked, say("approve", "en")))
        await self._simulator.telegram.wait_for(lambda seen: seen.is_bot and _has(seen, "costs.png"), WAIT)

    async def _leave_in_slack(self) -> None:
        asked = await self._in_slack("draw a chart", may("run_python", "en"))
        await self._simulator.slack.tap(DIRECT, "ann", asked.id, _button(asked, say("approve", "en")))
        await self._simulator.slack.wait_for(lambda seen: seen.is_bot and _has(seen, "costs.png"), WAIT)

    async def _reminded(self) -> None:
        await self._simulator.telegram.wait_for(
            lambda seen: seen.is_bot and "stretch" in seen.text and "Set." not in seen.text, REMINDER_WAIT
        )

    async def _tries(self, check: str, doing: Awaitable[object]) -> None:
        try:
            await doing
            self._report.add(check, True)
        except Exception as error:  # each is told, whatever became of the ones before
            self._report.add(check, False, f"{type(error).__name__}: {error}; seen: {self._newest()}")

    def _newest(self) -> list[str]:
        telegram, slack = self._simulator.telegram.messages(CHAT), self._simulator.slack.messages(DIRECT)
        return [_shown(message)[:200] for message in (*telegram[-3:], *slack[-3:])]


def _shown(message: Message) -> str:
    return message.markdown_text or message.text


def _has(message: Message, name: str) -> bool:
    return any(file.name == name for file in message.files)


def _button(message: Message, label: str) -> str:
    return next(button.id for row in message.buttons for button in row if label in button.text)
