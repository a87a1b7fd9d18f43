"""What people ask and what the model answers, with every word of an answer told apart from every other."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from simulator.model_reply import Refusal, Step
from simulator.script import call, reply, text

LENGTH = {"telegram": 10_000, "slack": 26_000}
"""Characters that are three messages on each platform."""
WORD = {"telegram": 90, "slack": 230}
"""Characters of a word: few and long ones cost little time to stream."""
PARAGRAPH = 10  # words

Reply = Callable[[int, dict[str, Any]], Step]


class Script(Protocol):
    """``questions``: what the person says, each after so many seconds. ``steps``: replies of the one turn, 0 where it
    is not known how many turns there will be."""

    questions: Sequence[tuple[float, str]]
    steps: int

    def reply(self, step: int, request: dict[str, Any]) -> Step:
        """The model's reply number ``step``, counted from 0."""

    def missing(self, words: Sequence[str]) -> list[str]:
        """What of the answer is not there, or not in order."""

    def spare(self, words: Sequence[str]) -> list[str]:
        """What is there too often, or should not be there."""


class LongTurn:
    """Two model calls with three tools between them, one of which may run once only, and an answer of three messages.

    ``break_first`` makes the first try of each model call go wrong: it is given the step and the good reply.
    """

    questions: Sequence[tuple[float, str]] = ((0.0, "book it, please"),)
    steps = 2

    def __init__(
        self, platform: str, *, pace: float = 0.02, trouble: Callable[[int, Step], Step] | None = None
    ) -> None:
        self._opening = "opening-words I-will-look-and-book"
        size, length = WORD[platform], LENGTH[platform]
        words = [f"word-{number:04}-".ljust(size, "x") for number in range(length // size)]
        paragraphs = [" ".join(words[start : start + PARAGRAPH]) for start in range(0, len(words), PARAGRAPH)]
        self._answer = "\n\n".join(paragraphs)
        self._pace = pace
        self._trouble = trouble
        self._tried: Counter[int] = Counter()

    def reply(self, step: int, request: dict[str, Any]) -> Step:
        if step >= self.steps:
            return Refusal(500, message=f"nothing is left to say after {self.steps} replies")
        good = self._replies()[step]
        self._tried[step] += 1
        return self._trouble(self._tried[step], good) if self._trouble else good

    def _replies(self) -> Sequence[Step]:
        calls = (call("look", {"at": "the house"}), call("weigh", {"what": "it"}), call("book", {"what": "a room"}))
        return (
            reply(text(self._opening), *calls, pace=self._pace * 2),
            reply(text(self._answer), pace=self._pace),
        )

    def missing(self, words: Sequence[str]) -> list[str]:
        left = iter(words)
        return [word for word in self._expected() if not any(word == each for each in left)]

    def spare(self, words: Sequence[str]) -> list[str]:
        return list((Counter(words) - Counter(self._expected())).elements())

    def _expected(self) -> list[str]:
        return f"{self._opening} {self._answer}".split()


CASE = re.compile(r"case-\d+")
"""How a question names its conversation, so that the model knows whose request it reads."""
ERRAND = re.compile(r"errand-\d+")


def errand_of(request: dict[str, Any]) -> str:
    """Which errand a subagent asks the model for, "" where it is the bot itself."""
    return errand_in(str(request["messages"][0]["content"]))


def errand_in(words: str) -> str:
    found = ERRAND.search(words)
    return found.group() if found else ""


class Errands(LongTurn):
    """The same with two subagents side by side in place of the tools; one of them uses the one that may run once only.
    None of their words are for the person."""

    def reply(self, step: int, request: dict[str, Any]) -> Step:
        if errand := errand_of(request):
            return self._run(errand)[step]
        return self._sent(request) if step == 0 else super().reply(step, request)

    def _sent(self, request: dict[str, Any]) -> Step:
        """A task names the conversation, as the question does."""
        (case, *_) = CASE.findall(str(request["messages"]))
        tasks = {f"errand-{number}": f"{case} errand-{number}" for number in (1, 2)}
        calls = (call("delegate", {"agent": "scout", "task": task}, id=id) for id, task in tasks.items())
        return reply(text(self._opening), *calls, pace=self._pace * 2)

    def _run(self, errand: str) -> Sequence[Step]:
        looks = (call("look", {"at": "the house"}), call("weigh", {"what": "it"}))
        books = (call("book", {"what": "a room"}),)
        calls = looks if errand == "errand-1" else books
        return reply(text("errand-begins"), *calls, pace=self._pace), reply(text("errand-ends"), pace=self._pace)


ASKED = re.compile(r"question-\d+")


class Chatter:
    """Several questions in a hurry, each to be answered once, in however many turns. The model needs no tools."""

    steps = 0

    def __init__(self, pauses: Sequence[float] = (0.0, 0.2, 1.0)) -> None:
        self.questions: Sequence[tuple[float, str]] = [
            (pause, f"question-{number}") for number, pause in enumerate(pauses, 1)
        ]

    def reply(self, step: int, request: dict[str, Any]) -> Step:
        asked, answered = _said(request, "user"), _said(request, "assistant")
        new = [question for question in dict.fromkeys(asked) if question not in answered]
        return reply(text(" ".join(new) or "nothing-new"), pace=0.5)

    def missing(self, words: Sequence[str]) -> list[str]:
        return [question for _, question in self.questions if question not in words]

    def spare(self, words: Sequence[str]) -> list[str]:
        return list((Counter(words) - Counter(question for _, question in self.questions)).elements())


def _said(request: dict[str, Any], role: str) -> list[str]:
    blocks = [block for message in request["messages"] if message["role"] == role for block in message["content"]]
    return [word for block in blocks for word in ASKED.findall(block.get("text", ""))]
