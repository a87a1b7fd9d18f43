"""Whatever the model sends a tool and whatever the tool does, one result block comes back."""

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from bot.toolkit import Tool, Toolbox, ToolContext, ToolFault, shorten, tool
from tests.say import ANN, HERE, call

CONTEXT = ToolContext(HERE, ANN, 1_764_500_000)


@tool(seconds=0.2, result_chars=100)
async def echo(text: Annotated[str, "What to say"], times: int = 1) -> Any:
    """Say it again."""
    if text == "secret":
        raise RuntimeError("token=123")
    if text == "teach":
        raise ToolFault("Say something else.")
    if text == "sleep":
        await asyncio.Event().wait()
    return {"list": [1, 2]} if text == "dict" else text * times


@tool(writes=True, seconds=0.1)
async def odd(how: str) -> Any:
    """Do what well-kept tools do not."""
    match how:
        case "gives up":  # as a library's own cancel scope that leaks
            raise asyncio.CancelledError
        case "tuple key":
            return {(1, 2): 3}
        case "circle":
            circle: list[Any] = []
            circle.append(circle)
            return circle
        case "long fault":
            raise ToolFault("x" * 1_000_000)
        case "broken fault":
            raise ToolFault("\ud83d")
        case _:
            return await asyncio.Event().wait()


@tool()
async def place(ctx: ToolContext) -> str:
    """Tell where we are."""
    return ctx.place.chat


@tool(writes=True)
async def whoami(context: ToolContext) -> str:
    """Tell who asks."""
    return context.asker.name


BOX = Toolbox([whoami, echo])
ODD = Toolbox([odd, place])


async def run(name: str = "echo", **arguments: Any) -> tuple[str, bool]:
    result = (await BOX.call(call(name, **arguments), CONTEXT, 5)).result
    assert result["tool_use_id"] == "A"
    return result["content"], result.get("is_error", False)


async def test_a_good_call_gives_its_result() -> None:
    assert await run(text="ab", times=2) == ("abab", False)


async def test_an_unknown_tool_is_named_with_the_ones_there_are() -> None:
    assert await run("no_such_tool") == ("There is no tool 'no_such_tool'. There are: echo, whoami.", True)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"text": 1, "times": "x"}, {"arguments": '{"text": "a"}'}, {"text": "a", "more": 1}],
)
async def test_wrong_arguments_are_named_and_the_tool_is_not_run(arguments: dict[str, Any]) -> None:
    text, is_error = await run(**arguments)
    assert is_error
    assert text.startswith("Not run: the arguments do not fit.")
    assert "Arguments of echo: text, times." in text


async def test_arguments_that_are_no_object_are_refused() -> None:
    result = (await BOX.call({**call("echo"), "input": '{"text": "a"}'}, CONTEXT, 5)).result
    assert result["is_error"]


async def test_a_crash_tells_the_model_its_kind_and_nothing_inside_it() -> None:
    text, is_error = await run(text="secret")
    assert is_error
    assert "RuntimeError" in text
    assert "123" not in text


async def test_a_fault_raised_on_purpose_is_passed_on_as_it_is() -> None:
    assert await run(text="teach") == ("Say something else.", True)


async def test_a_tool_that_hangs_is_stopped() -> None:
    text, is_error = await run(text="sleep")
    assert is_error
    assert "was stopped" in text


async def run_oddly(how: str) -> tuple[str, bool]:
    result = (await ODD.call(call("odd", how=how), CONTEXT, 5)).result
    return result["content"], result.get("is_error", False)


@pytest.mark.parametrize("how", ["gives up", "tuple key", "circle", "long fault", "broken fault", "sleep"])
async def test_whatever_a_tool_does_a_result_comes_back_that_can_be_stored(how: str) -> None:
    text, is_error = await run_oddly(how)
    assert is_error
    assert len(text.encode()) < 5_000


@pytest.mark.parametrize("how", ["gives up", "sleep"])
async def test_a_write_without_a_result_may_have_had_its_effect_and_the_model_is_told(how: str) -> None:
    assert "may have had its effect" in (await run_oddly(how))[0]


async def test_a_cancelled_turn_cancels_its_tool() -> None:
    running = asyncio.create_task(Toolbox([echo]).call(call("echo", text="sleep"), CONTEXT, 5))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_context_may_have_any_name() -> None:
    result = (await ODD.call(call("place"), CONTEXT, 5)).result
    assert result["content"] == HERE.chat


async def test_any_value_becomes_text() -> None:
    assert await run(text="dict") == ('{"list": [1, 2]}', False)
    assert await run(text="") == ("(nothing)", False)
    assert (await run(text="\ud83d"))[0] == "?"


async def test_a_long_result_keeps_its_head_and_tail() -> None:
    text, _ = await run(text="x", times=1000)
    assert "900 characters left out" in text
    assert len(text) < 200


async def test_the_context_is_ours_and_not_the_models() -> None:
    assert await run("whoami") == ("Ann", False)
    assert (await run("whoami", context="Eve"))[1]


def test_definitions_are_the_same_bytes_in_any_order_of_tools() -> None:
    assert Toolbox([echo, whoami]).definitions() == BOX.definitions()
    first = BOX.definitions()[0]
    assert first["name"] == "echo"
    assert first["input_schema"] == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What to say"},
            "times": {"type": "integer", "default": 1},
        },
        "required": ["text"],
        "additionalProperties": False,
    }


@tool(writes=True)
async def order(
    what: Annotated[Literal["tea", "coffee"], "What"],
    notes: Annotated[list[Annotated[str, Field(max_length=9)]], Field(max_length=3), "Wishes"],
    cups: Annotated[int, Field(ge=1, le=4), "How many"] = 1,
) -> str:
    """Order something to drink."""
    return f"{cups} {what} {notes}"


def test_a_tool_that_writes_is_strict_and_says_its_limits_in_words() -> None:
    [definition] = Toolbox([order]).definitions()
    assert definition["strict"] is True
    assert definition["input_schema"]["properties"] == {
        "what": {"type": "string", "enum": ["tea", "coffee"], "description": "What"},
        "notes": {
            "type": "array",
            "items": {"type": "string", "description": "(maxLength: 9)"},
            "description": "Wishes (maxItems: 3)",
        },
        "cups": {"type": "integer", "default": 1, "description": "How many (maximum: 4, minimum: 1)"},
    }


@tool(writes=True)
async def pass_on(arguments: dict[str, Any]) -> str:
    """Pass on whatever it is."""
    return str(arguments)


def test_a_tool_that_takes_any_fields_is_not_strict() -> None:
    [definition] = Toolbox([pass_on]).definitions()
    assert "strict" not in definition


async def test_what_a_strict_schema_can_not_say_is_checked_all_the_same() -> None:
    block = {"id": "a", "name": "order", "input": {"what": "tea", "notes": ["without sugar"], "cups": 9}}
    outcome = await Toolbox([order]).call(block, CONTEXT, 5)
    assert "cups: Input should be less than or equal to 4" in outcome.result["content"]


def test_at_most_twenty_tools_are_strict() -> None:
    definitions = Toolbox([replace(order, name=f"order_{n:02}") for n in range(25)]).definitions()
    assert ["strict" in each for each in definitions] == [True] * 20 + [False] * 5


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(TypeError):
        Toolbox([echo, echo])


def test_a_tool_without_description_is_refused() -> None:
    async def silent() -> None: ...

    with pytest.raises(TypeError):
        tool()(silent)


def test_reads_may_run_again_and_writes_may_not_unless_it_is_said() -> None:
    def kinds(each: Tool) -> tuple[bool, bool]:
        return each.writes, each.repeatable

    assert kinds(echo) == (False, True)
    assert kinds(whoami) == (True, False)


def test_shorten_leaves_short_texts_alone() -> None:
    assert shorten("abc", 3) == "abc"
