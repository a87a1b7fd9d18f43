"""A model that does what it is told, word by word, and says whom it has answered.

A message reads "m7 book look": its id, then what to do for it. The model works through the words of all messages it was
newly asked, and ends with "Re: m7" and the ids of the others. It keeps no state of a conversation: like a real one it
knows only its request, so a history built wrongly shows as a wrong answer.
"""

import itertools
import json
import re
from collections import Counter

from bot.adapters.anthropic_model import request
from bot.errors import ModelRefusedRequest, ModelUnavailable, PromptTooLong
from bot.messages import Json, Reply
from bot.ports import Clock, OnText, Prompt
from simulator.model_rules import faults

STEPS = ("look", "book", "both", "pause", "overlong", "send")
"""One model call each: a read; a write; three parallel calls; a pause of the provider's; a call cut at the length
limit; tasks for two subagents at once."""

TASKS = ("look book", "look look")
"""What the two are to do, in words of the same kind."""

ENDINGS = ("refuse", "cut", "fault", "busy", "away", "full")
"""``refuse`` and ``cut`` are stop reasons of the answer. ``fault``: the request is refused, every time. ``busy``: the
first two calls fail; ``away``: the first one does, for longer than anybody waits. ``full``: once, the prompt is too
long."""

PAUSING = "One moment."
PIECE = 0.5
"""Seconds between two pieces of a reply."""


class Brain:
    """The Model port. ``faults`` names what the Messages API would have refused; ``calls`` counts the requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ids = itertools.count(1)
        self._failed: Counter[str] = Counter()
        self.faults: list[str] = []
        self.calls = 0

    async def reply(self, prompt: Prompt, on_text: OnText) -> Reply:
        self.calls += 1
        wire = json.loads(json.dumps(request(prompt, "claude-sonnet-5-5")))
        self.faults += faults(wire)
        turn = Turn(wire["messages"])
        self._fail_as_told(turn)
        if prompt.allow_tools and turn.steps_left:
            return await self._step(turn.steps_left[0], turn, on_text)
        if "refuse" in turn.words:
            return Reply([], "refusal")
        text = " ".join(["Re:", *turn.ids])
        await self._speak(text, on_text)
        return Reply([*turn.found, _text(text)], "max_tokens" if "cut" in turn.words else "end_turn")

    def _fail_as_told(self, turn: "Turn") -> None:
        for id, word in turn.told:
            times = self._failed[f"{id} {word}"]
            self._failed[f"{id} {word}"] += 1
            match word:
                case "fault":
                    raise ModelRefusedRequest("as told")
                case "busy" if times < 2:
                    raise ModelUnavailable("as told")
                case "away" if times < 1:
                    raise ModelUnavailable("as told", retry_after=600)
                case "full" if times < 1:
                    raise PromptTooLong("as told")

    async def _step(self, word: str, turn: "Turn", on_text: OnText) -> Reply:
        thought = {"type": "thinking", "thinking": f"I {word}.", "signature": "signed"}
        await self._speak(PAUSING, on_text)
        said = [*turn.found, thought, _text(PAUSING)]
        if word == "pause":
            id = f"srvtoolu_{next(self._ids)}"
            search = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}}
            return Reply([*said, search], "pause_turn")
        if word == "send":
            return Reply([*said, *(self._task(f"{turn.ids[0]} {task}") for task in TASKS)], "tool_use")
        tools = {"look": ["look"], "book": ["book"], "both": ["book", "look", "book"], "overlong": ["book"]}[word]
        calls = [self._call(tool) for tool in tools]
        return Reply([*said, *calls], "max_tokens" if word == "overlong" else "tool_use")

    def _call(self, tool: str) -> Json:
        """Its argument is its own id, so that whoever counts what was done counts calls."""
        id = f"toolu_{next(self._ids)}"
        return {"type": "tool_use", "id": id, "name": tool, "input": {"what": id}}

    def _task(self, task: str) -> Json:
        id = f"toolu_{next(self._ids)}"
        return {"type": "tool_use", "id": id, "name": "delegate", "input": {"agent": "scout", "task": task}}

    async def _speak(self, text: str, on_text: OnText) -> None:
        for word in text.split(" "):
            await self._clock.sleep(PIECE)
            on_text(f"{word} ")


class Turn:
    """What a request asks for: the messages since the last answer, and how far their words have been worked through.

    ``told`` are pairs of a message's id and one of its words; ``found`` is what a reply after a pause begins with: the
    result of the provider's own tool.
    """

    def __init__(self, messages: list[Json]) -> None:
        newest = messages[_after_last_answer(messages) :]
        said = [_words(block["text"]) for message in newest for block in message["content"] if block["type"] == "text"]
        heard = [(id, words) for id, *words in filter(None, said)]
        self.ids = list(dict.fromkeys(id for id, _ in heard))
        self.told = [(id, word) for id, words in heard for word in words]
        self.words = [word for _, word in self.told]
        end = messages[-1]["content"][-1]
        paused = end["type"] == "server_tool_use"
        self.found = [{"type": "web_search_tool_result", "tool_use_id": end["id"], "content": []}] if paused else []
        self._kinds = [[block["type"] for block in message["content"]] for message in newest]

    @property
    def steps_left(self) -> list[str]:
        done = sum(("tool_use" in kinds) + kinds.count("server_tool_use") for kinds in self._kinds)
        return [word for word in self.words if word in STEPS][done:]


def _after_last_answer(messages: list[Json]) -> int:
    """The last message is never an answer: it is the person's, or it ends in a pause. Neither is one that only paused,
    whose open call was left out since the person added something."""
    for index in range(len(messages) - 2, -1, -1):
        content = messages[index]["content"]
        calls = any(block["type"] == "tool_use" for block in content)
        answers = any(block["type"] == "text" and block["text"].strip() != PAUSING for block in content)
        if messages[index]["role"] == "assistant" and answers and not calls:
            return index + 1
    return 0


def _words(text: str) -> list[str]:
    """A message of the test's as its id and its words; [] for any other text."""
    return text.split() if re.fullmatch(r"m\d+( \w+)*", text) else []


def ids_in(text: str) -> list[str]:
    """Whom an answer names."""
    return re.findall(r"\bm\d+\b", text)


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
