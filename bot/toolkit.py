"""What a tool is: a typed async function that the model may call.

    @tool(seconds=5)
    async def current_time(zone: Annotated[str, "IANA name such as Asia/Jakarta"] = "UTC") -> str:
        '''Tell the date and time now. Use it whenever an answer depends on today's date.'''

The docstring is the description the model reads, ``Annotated`` texts describe the parameters, pydantic makes the JSON
Schema and checks every call. A parameter of type ``ToolContext`` is filled in by us and never shown to the model.
"""

import asyncio
import inspect
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, get_args, get_origin, get_type_hints

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from bot.deadline import Deadline, Pause
from bot.errors import Retry
from bot.files import NO_FILES, Files, Kept
from bot.journal import Journal
from bot.media import reference, stored
from bot.memory import Memory
from bot.messages import Entry, File, Json, Person, Place

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FAULT_CHARS = 2_000
UNKNOWN = "There is no tool"
UNFIT = "Not run: the arguments"
"""How the results of calls begin that can not be made."""
NOT_STRICT = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"}
    | {"minItems", "maxItems", "uniqueItems"}
)
"""Words of JSON Schema that a strict tool's may not hold (platform.claude.com, "JSON Schema limitations")."""
MOST_STRICT = 20
"""Tools of one request (platform.claude.com, "Strict tool use")."""


async def _nothing(turn: str, call: str) -> None:
    """Outside of a conversation nothing was returned before."""


@dataclass(frozen=True)
class Caller:
    """The turn that makes a call, for a tool that has a turn of its own inside it (bot/nested.py). ``call`` is the
    call's name there; ``tainted``: what it asks for may come from words that others wrote."""

    journal: Journal
    call: str
    deadline: Deadline
    tainted: bool


@dataclass(frozen=True)
class ToolContext:
    """For whom and where a tool runs, and what o'clock it is there (Unix seconds). ``result_of`` gives what a call of
    this conversation returned, by its turn and its id, however long ago; None where there is none. ``files`` are those
    of this conversation, ``memory`` what is remembered of its people; ``caller`` is None outside of a turn."""

    place: Place
    asker: Person
    now: float
    result_of: Callable[[str, str], Awaitable[Json | None]] = _nothing
    files: Files = NO_FILES
    memory: Memory = field(default_factory=Memory)
    caller: Caller | None = None


@dataclass(frozen=True)
class Output:
    """What a tool may return beside plain values: ``value`` is told to the model, with ``pictures`` that it sees;
    ``files`` are sent to the person; ``uploads`` are the provider's ids of files that its container gets. ``failed``:
    the model is told that it is an error."""

    value: Any
    pictures: tuple[Kept, ...] = ()
    files: tuple[File, ...] = ()
    failed: bool = False
    uploads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of one call: its tool_result block, and what is to be sent to the person."""

    result: Json
    files: tuple[File, ...] = ()


class ToolFault(Exception):
    """What a tool raises on purpose: one sentence for the model that says what to do differently."""


class Misfit(Exception):
    """Not an error: a call's arguments do not fit. ``faults`` say how, one each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(*faults)
        self.faults = faults


class Arguments(Protocol):
    """What a tool is called with: how the model is told, and how each call is checked."""

    names: Sequence[str]

    def schema(self) -> Json:
        """As JSON Schema; the same bytes every time."""

    def checked(self, given: Any) -> Mapping[str, Any]:
        """A call's arguments as keywords for the tool's function. Raises Misfit."""


class Typed:
    """The parameters of a function, by pydantic."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self.names: Sequence[str] = list(model.model_fields)

    def schema(self) -> Json:
        schema = self._model.model_json_schema()
        schema.pop("title", None)
        for each in schema.get("properties", {}).values():
            each.pop("title", None)
        return schema

    def checked(self, given: Any) -> Mapping[str, Any]:
        try:
            arguments = self._model.model_validate(given)
        except ValidationError as error:  # without pydantic's links
            raise Misfit(
                [f"{'.'.join(map(str, each['loc'])) or 'input'}: {each['msg']}" for each in error.errors()]
            ) from error
        return {name: getattr(arguments, name) for name in self.names}


class Described:
    """Arguments that somebody else described by a JSON Schema, and checks: here only that none is missing. The function
    gets all of them as its parameter ``arguments``."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self.names: Sequence[str] = list(schema.get("properties") or {})

    def schema(self) -> Json:
        return self._schema

    def checked(self, given: Any) -> Mapping[str, Any]:
        if not isinstance(given, dict):
            raise Misfit(["input: Input should be an object"])
        if missing := [name for name in self._schema.get("required") or () if name not in given]:
            raise Misfit([f"{name}: Field required" for name in missing])
        return {"arguments": given}


@dataclass(frozen=True)
class Tool:
    """``writes``: changes something outside, so it runs alone and in order. ``repeatable``: running it twice does no
    harm, so a call cut by a crash may run again. ``asks``: somebody must allow each call, or each whose arguments it is
    true of. ``outward``: it reaches beyond the conversation, so it asks once words of others were read; ``untrusted``:
    what it returns are such words. ``is_known`` tells whether a call of an outward tool reaches only what the
    conversation named; it then need not ask. ``anywhere``: it reaches whatever address a call names, so words that were
    read in earlier turns count too. ``seconds`` and ``result_chars`` are its limits. ``context`` is the name
    of the parameter that takes a ToolContext, "" where there is none. ``resumes``: it stores its own steps and goes on
    from there when it is called again, so what ends an invocation ends it too and is no failure of it; ``seconds`` is
    then what it needs to begin.

    Where a wrong argument would cost more than another try, because it writes or somebody is asked, the tool is strict:
    the provider lets the model write nothing that the schema does not allow."""

    name: str
    description: str
    arguments: Arguments
    run: Callable[..., Awaitable[Any]]
    context: str
    writes: bool
    repeatable: bool
    seconds: float
    result_chars: int
    asks: bool | Callable[[Json], bool] = False
    outward: bool = False
    untrusted: bool = False
    is_known: Callable[[Json, Sequence[Entry]], bool] | None = None
    anywhere: bool = False
    resumes: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is a function here, not what some server offers."""
        return isinstance(self.arguments, Typed)

    def definition(self) -> Json:
        """The tool as the Messages API wants it; the same bytes every time."""
        schema = self.arguments.schema()
        plain = {"name": self.name, "description": self.description, "input_schema": schema}
        is_strict = self.is_ours and (self.writes or bool(self.asks)) and not _is_open(schema)
        return {**plain, "input_schema": _as_strict(schema), "strict": True} if is_strict else plain


def tool(
    *,
    writes: bool = False,
    repeatable: bool | None = None,
    seconds: float = 20,
    result_chars: int = 20_000,
    asks: bool | Callable[[Json], bool] = False,
    outward: bool = False,
    untrusted: bool = False,
    is_known: Callable[[Json, Sequence[Entry]], bool] | None = None,
    anywhere: bool = False,
    resumes: bool = False,
) -> Callable[[Callable[..., Awaitable[Any]]], Tool]:
    """Make a Tool of an async function. Reads are repeatable, writes are not, unless it is said."""

    def decorate(function: Callable[..., Awaitable[Any]]) -> Tool:
        hints = get_type_hints(function, include_extras=True)
        fields: dict[str, Any] = {}
        context = ""
        for name, parameter in inspect.signature(function).parameters.items():
            if hints[name] is ToolContext:
                context = name
                continue
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints[name], Field(default, description=_description(hints[name])))
        name = getattr(function, "__name__", "")
        if not NAME.fullmatch(name) or not function.__doc__:
            raise TypeError(f"A tool needs a plain name and a docstring for the model to read: {name!r}.")
        arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
        return Tool(
            name=name,
            description=inspect.cleandoc(function.__doc__),
            arguments=Typed(arguments),
            run=function,
            context=context,
            writes=writes,
            repeatable=not writes if repeatable is None else repeatable,
            seconds=seconds,
            result_chars=result_chars,
            asks=asks,
            outward=outward,
            untrusted=untrusted,
            is_known=is_known,
            anywhere=anywhere,
            resumes=resumes,
        )

    return decorate


def _is_open(schema: Json) -> bool:
    """Whether it has an object that may hold any fields, which no grammar can say."""
    inside = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    inside += [schema["items"]] if "items" in schema else []
    is_free = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    return is_free or any(map(_is_open, inside))


def _as_strict(schema: Json) -> Json:
    """The schema with what a strict one may not hold said in its descriptions; pydantic checks it all the same."""
    kept: Json = {}
    for word, value in schema.items():
        match word:
            case "properties" | "$defs":
                kept[word] = {name: _as_strict(each) for name, each in value.items()}
            case "anyOf" | "allOf":
                kept[word] = [_as_strict(each) for each in value]
            case "items":
                kept[word] = _as_strict(value)
            case _ if word not in NOT_STRICT:
                kept[word] = value
    if limits := ", ".join(f"{word}: {schema[word]}" for word in schema if word in NOT_STRICT):
        kept["description"] = f"{kept.get('description', '')} ({limits})".strip()
    return kept


def _description(hint: Any) -> str | None:
    if get_origin(hint) is Annotated:
        return next((extra for extra in get_args(hint)[1:] if isinstance(extra, str)), None)
    return None


class Toolbox:
    """The tools of one deployment, by name, in one order for ever: their definitions begin the cached prompt."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        if len(self._tools) != len(tools):
            raise TypeError("Two tools have the same name.")

    def definitions(self) -> list[Json]:
        definitions = [tool.definition() for tool in self._tools.values()]
        for one_too_many in [each for each in definitions if "strict" in each][MOST_STRICT:]:
            del one_too_many["strict"]
        return definitions

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def can_run(self, block: Json) -> bool:
        """Whether there is such a tool, and the arguments fit."""
        return not isinstance(self._checked(block), str)

    def _checked(self, block: Json) -> tuple[Tool, Mapping[str, Any]] | str:
        """A call's tool and what its function is given; or why it can not be made."""
        tool = self.find(str(block.get("name")))
        if tool is None:
            return f"{UNKNOWN} {block.get('name')!r}. There are: {', '.join(self._tools)}."
        try:
            return tool, tool.arguments.checked(block.get("input"))
        except Misfit as misfit:
            return _lesson(tool, misfit)

    async def call(self, block: Json, context: ToolContext, seconds: float) -> Outcome:
        """Run one tool_use block; whatever happens, its tool_result block comes back.

        ``seconds`` is what the turn has left for it. Cancelling cancels the tool. Of a tool that resumes, Pause and
        Retry pass through.
        """
        checked = self._checked(block)
        if isinstance(checked, str):
            return failed(block, checked)
        tool, arguments = checked
        given = {**arguments, tool.context: context} if tool.context else arguments
        limit = min(tool.seconds, seconds)
        doubt = "" if tool.repeatable else " It may have had its effect: check before you do it again."
        try:
            async with asyncio.timeout(None if tool.resumes else limit):
                value = await tool.run(**given)
                return await _outcome(block, value, tool, context.files)
        except ToolFault as fault:
            return failed(block, shorten(readable(str(fault)), FAULT_CHARS))
        except TimeoutError:
            return failed(block, f"{tool.name} was stopped after {limit:.0f} seconds without a result.{doubt}")
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            return failed(block, f"{tool.name} gave up by itself.{doubt}")
        except Exception as error:  # a tool call begins here: whatever it does, the turn goes on
            if tool.resumes and isinstance(error, Pause | Retry):
                raise
            log.warning("tool=<%s>, error=<%s> | failed", tool.name, type(error).__name__)  # its text may hold words
            return failed(
                block, f"{tool.name} failed: {type(error).__name__}. Try another way, or say it failed.{doubt}"
            )


async def _outcome(block: Json, value: Any, tool: Tool, files: Files) -> Outcome:
    """What is too long to be told is shortened, and kept as a file that can be read page by page."""
    output = value if isinstance(value, Output) else Output(value)
    text, made = readable(output.value), output.files
    shown = shorten(text, tool.result_chars)
    if len(text) > tool.result_chars and files.has_room:
        whole = structs.replace(await files.keep(f"{tool.name}.txt", text.encode(), "text/plain"), kept=True)
        shown, made = f'{shown}\n[To read all of it: reopen "{reference(whole.blob)}".]', (*made, whole)
    told = result(block, shown) | ({"is_error": True} if output.failed else {})
    if output.pictures or output.uploads:
        pictures = [{"type": "image", "source": stored(kept.key, kept)} for kept in output.pictures]
        uploads = [{"type": "container_upload", "file_id": id} for id in output.uploads]
        told = {**told, "content": [{"type": "text", "text": shown or "(nothing)"}, *pictures, *uploads]}
    return Outcome(told, made)


def _is_cancelled() -> bool:
    """Whether a cancellation is meant for us; a library's own may leak out of a tool."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def result(block: Json, text: str) -> Json:
    return {"type": "tool_result", "tool_use_id": block["id"], "content": text or "(nothing)"}


def failed(block: Json, text: str) -> Outcome:
    return Outcome({**result(block, text), "is_error": True})


def readable(value: Any) -> str:
    """Any Python value as text that JSON and the Messages API take: no lone surrogates, nothing unserialisable."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()


def shorten(text: str, limit: int) -> str:
    """The head and tail of a text too long, with a mark that says how much is missing between them."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    return f"{text[:head]}\n[... {len(text) - limit} characters left out ...]\n{text[len(text) - tail :]}"


def is_wrong(outcome: Json) -> bool:
    """Whether this tool_result says that a call could not be made: no such tool, or arguments that do not fit."""
    return bool(outcome.get("is_error")) and str(outcome.get("content")).startswith((UNKNOWN, UNFIT))


def _lesson(tool: Tool, misfit: Misfit) -> str:
    """Which argument is wrong and how, in one line."""
    wanted = ", ".join(tool.arguments.names) or "none"
    return f"{UNFIT} do not fit. {'; '.join(misfit.faults)}. Arguments of {tool.name}: {wanted}."
