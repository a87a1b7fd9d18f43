"""Which tool calls wait for a person's word, what they are asked, and what their answer means. Pure.

What was shown is what runs: the call stands in the record, and a decision names it by its turn and its number. Each is
decided once, by the one who asked or by an approver the owner named; a message of theirs instead of a tap is a no.
"""

import json
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bot.commands import APPROVALS, allowed
from bot.messages import (
    Answered,
    Approval,
    Asked,
    Button,
    ChatSettings,
    Entry,
    Inbound,
    Json,
    Numbered,
    Person,
    Returned,
    Summary,
    Turn,
)
from bot.notes import words_of
from bot.provided import TWINS
from bot.texts import may, say
from bot.toolkit import UNKNOWN, Tool, Toolbox, shorten
from bot.web.words import unhidden

DAY = 24 * 3600
HOUR = 3600
LONGEST = 3_000
"""Characters of all arguments that are shown at most, so that a question is one message. Of a longer one its beginning
and end are, with how much is between them, and all of it in a file."""
ABOUT = {"run_python": "code", "remind": "text", "remember": "fact", "web_fetch": "url"}
"""The argument that a question in our own words asks about: it needs no name above it."""
FORBIDDEN = "the person who asked is a guest here, and may not use this tool."
UNATTENDED = (
    "a person must allow this first, and you can not ask one. Say in your answer what is to be done and with which "
    "arguments; whoever gave you the task can do it."
)
BEGINNING = ("do", "set", "let", "more", "again")
"""Words of buttons that begin a turn of their own."""
DENIED = "Not run: {why}"
EXPIRED = "nobody allowed it in time."
WENT_ON = "somebody else went on with the conversation before it was allowed."
OVERTAKEN = "something else had to be done in this chat before it was allowed. Offer to ask again."
SAID_NO = "the person said no."
ANSWERED = "the person answered with a message instead, which follows."


class Gate(Struct, frozen=True):
    """``asks`` and ``never`` are tools whose own wish does not count: the owner's does. ``approvers`` may decide beside
    whoever asked; a decision can be made for ``seconds``. ``guests``: the tools that run for a guest, None for all.
    ``unattended``: nobody can be asked, so what needs a word is not made."""

    asks: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    approvers: frozenset[str] = frozenset()
    guests: frozenset[str] | None = None
    seconds: int = 7 * DAY
    unattended: bool = False

    def is_closed(
        self, tool: Tool, arguments: Json, person: Person, settings: ChatSettings, now: float, *, tainted: bool
    ) -> bool:
        """Whether a call of this tool needs a person's word. ``tainted``: words of others were read in this turn, and
        it may have come from them where it reaches."""
        if tool.name in allowed(person, settings, now):
            return False
        if tool.name in self.asks:
            return True
        asks = tool.asks(arguments) if callable(tool.asks) else tool.asks
        return tool.name not in self.never and (asks or (tool.outward and tainted))

    def forbids(self, tool: str, person: Person) -> bool:
        """Whether a tool does not run for them at all."""
        return person.role not in ("owner", "member") and self.guests is not None and tool not in self.guests

    def offers(self, tool: str, person: Person) -> bool:
        """Whether a tool that the provider runs is offered for them: it runs without a word from us, so nobody can be
        asked, nor its call be refused."""
        return not (self.forbids(tool, person) or self.asks & {tool, TWINS.get(tool, tool)})

    def may_decide(self, person: str, turn: Turn) -> bool:
        return person == turn.asker.id or person in self.approvers


def allowance(turn: Turn, tool: str) -> str:
    """The key in ``ChatSettings.allowed``: in a group one person's word is not another's."""
    return f"{turn.asker.id} {tool}"


def waited_for(turn: Turn) -> list[Approval]:
    return [approval for approval in turn.approvals if not approval.decision]


def is_tainted(own: Sequence[Entry], toolbox: Toolbox) -> bool:
    """Whether in these entries, a turn's or all that is shown, was read what somebody other than the asker wrote: a
    quote, a file, a page, a server's prompt, or a summary of what may have been that. Calls of the last reply have
    returned nothing yet, so they were made before."""
    returned = {each["tool_use_id"]: each for entry in own if isinstance(entry, Returned) for each in entry.results}
    for entry in own:
        if isinstance(entry, Summary):
            return True
        said = entry.said if isinstance(entry, Asked | Returned) else ()
        if any(map(_holds_others_words, said)):
            return True
        if isinstance(entry, Answered):
            if any(map(_is_found, entry.reply.content)):
                return True
            calls = (block for block in entry.reply.content if "name" in block)
            if entry is not own[-1] and any(_reads(call, toolbox, returned.get(call.get("id"))) for call in calls):
                return True
    return False


def _holds_others_words(said: Inbound) -> bool:
    return bool(said.quote or said.heard or said.prompted or any(file.blob for file in said.attachments))


def _reads(call: Json, toolbox: Toolbox, result: Json | None) -> bool:
    """Whether a call brought words of others. A tool that is gone by now, as its server is, may have."""
    tool = toolbox.find(str(call["name"]))
    if tool is None:
        return result is not None and not words_of(result).startswith(UNKNOWN)
    return tool.untrusted


def comes_tainted(turn: Turn, own: Sequence[Entry], toolbox: Toolbox) -> bool:
    """Whether what the newest reply calls for may come from such words: it was written before its own results came."""
    newest = own[-1]
    found = isinstance(newest, Answered) and any(map(_is_found, newest.reply.content))
    return turn.tainted or found or is_tainted(own[:-1], toolbox)


def _is_found(block: Json) -> bool:
    """Whether it is what the provider's own tool found somewhere."""
    return str(block.get("type")).endswith("_tool_result")


def token(turn: Turn, number: int) -> str:
    return f"{turn.id}.{number}"


# The answer


def decided(
    turn: Turn, arrived: Sequence[Inbound], gate: Gate, now: float
) -> tuple[tuple[Approval, ...], list[Inbound], list[str]]:
    """The turn's approvals after what arrived, what of that is used up, and the tools allowed for an hour."""
    approvals, used, hour = list(turn.approvals), [], []
    for inbound in arrived:
        if inbound.kind == "tap" and (found := _meant(inbound.data, turn)) is not None:
            word, number = found
            used.append(inbound)
            approval = approvals[number]
            if approval.decision or not gate.may_decide(inbound.sender.id, turn) or approval.until <= now:
                continue
            who = turn.asker if inbound.sender.id == turn.asker.id else inbound.sender  # a tap may carry a handle only
            approvals[number] = _decision(approval, word, who.name or who.id)
            hour += [approval.tool] if word == "hour" else []
        elif inbound.kind == "message" and inbound.command in APPROVALS:
            used.append(inbound)
            approvals = [each if each.decision else _asked_again(each) for each in approvals]
        elif why := _overtaking(inbound, turn):
            said = why == ANSWERED
            approvals = [
                each if each.decision else replace(each, decision="no", why=why, said=said) for each in approvals
            ]
    return tuple(_expired(each, now) for each in approvals), used, hour


def _asked_again(approval: Approval) -> Approval:
    """Its question is yet to be sent; the one there is goes then."""
    return replace(approval, part=approval.part and replace(approval.part, state="sending"))


def _overtaking(inbound: Inbound, turn: Turn) -> str:
    """Why nothing is waited for any more, told to the model; "" where waiting goes on. What is to be said or done here
    in its own time, such as a reminder, does not wait for days."""
    is_asker = inbound.sender.id == turn.asker.id
    word = inbound.data.partition(":")[0]
    match inbound.kind:
        case "message" | "stop":
            return ANSWERED if is_asker else WENT_ON
        case "edit" if is_asker:
            return ANSWERED
        case "tap" if word in BEGINNING or (is_asker and inbound.data == f"stop:{turn.id}"):
            return OVERTAKEN
        case "due" | "note" | "moved" | "left":
            return OVERTAKEN
    return ""


def _expired(approval: Approval, now: float) -> Approval:
    is_late = not approval.decision and approval.until <= now
    return replace(approval, decision="no", why=EXPIRED) if is_late else approval


def _meant(data: str, turn: Turn) -> tuple[str, int] | None:
    """The word and the number of the approval that a button stands for; None for other buttons."""
    word, _, rest = data.partition(":")
    turn_id, _, number = rest.partition(".")
    known = word in ("ok", "hour", "no") and turn_id == turn.id
    return next(((word, n) for n in range(len(turn.approvals)) if known and number == str(n)), None)


def _decision(approval: Approval, word: str, name: str) -> Approval:
    if word == "no":
        return replace(approval, decision="no", by=name, why=SAID_NO)
    return replace(approval, decision="yes", by=name)


# The question


def call_of(approval: Approval, entries: Sequence[Numbered]) -> Json | None:
    """The call as it stands in the record."""
    for each in entries:
        if each.seq == approval.entry and isinstance(each.entry, Answered):
            blocks = (block for block in each.entry.reply.content if block.get("id") == approval.call)
            return next(blocks, None)
    return None


def question(call: Json, language: str, longest: int = LONGEST, verdict: str = "") -> str:
    """What a person is asked, with the exact arguments, as Markdown: up to so many characters of all of them. What they
    would not see is written out. It stays, with the verdict under it: so one can read later what was allowed."""
    each, tool = _each(call, longest), str(call["name"])
    named = (("" if name == ABOUT.get(tool) else f"{name}:\n", value) for name, value in _arguments(call))
    shown = (f"{title}{_fenced(shorten(unhidden(value), each))}" for title, value in named)
    return "\n\n".join(filter(None, (f"**{may(tool, language)}**", *shown, verdict)))


def in_full(call: Json, longest: int = LONGEST) -> str:
    """All arguments as plain text where such a question shows only parts of them; "" where it shows them whole."""
    arguments = [*_arguments(call)]
    if all(len(unhidden(value)) <= _each(call, longest) for _, value in arguments):
        return ""
    return "\n\n".join(f"{name}:\n{value}" for name, value in arguments)


def _arguments(call: Json) -> Iterator[tuple[str, str]]:
    for name, value in call["input"].items():
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _each(call: Json, longest: int) -> int:
    return longest // max(len(call["input"]), 1)


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def buttons(turn: Turn, number: int) -> tuple[Button, ...]:
    language, name = turn.asker.language, token(turn, number)
    return (
        Button(say("approve", language), f"ok:{name}"),
        Button(say("deny", language), f"no:{name}"),
        Button(say("approve_hour", language), f"hour:{name}", row=1),
    )


def verdict(approval: Approval, language: str) -> str:
    """What stands under the question once it is decided; "" until then."""
    if not approval.decision:
        return ""
    return say("was_approved" if approval.decision == "yes" else "was_denied", language, person=approval.by)
