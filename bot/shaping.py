"""A prompt made into one that a model takes: what it lacks is replaced or left out, never sent and refused. Pure.

The record and the history built from it know nothing of this: the same conversation can go on with another model, and
with the first one again, at any time.
"""

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from bot.blocks import SERVER_CALLS, THINKING, code_in_words, is_of_code, is_server_result, text, without
from bot.media import MEDIA, in_place_of
from bot.messages import Json
from bot.models import ModelFacts
from bot.ports import Prompt
from bot.provided import CODE, TWINS, WITH

NOT_SHOWN = {
    "image": "(A picture. This model can not see pictures.)",
    "document": "(A document. This model can not open documents.)",
}
NOTHING_LEFT = "(Nothing of this can be shown to this model.)"
GO_ON = "(Go on.)"
OF_SERVER_TOOLS = ("citations", "caller", "toolset_name")
"""Fields of other blocks that come with tools the provider runs."""


def shaped(prompt: Prompt, facts: ModelFacts) -> Prompt:
    """The same prompt for a model with these facts. What is shaped the same way each time stays cached."""
    tools = _tools(prompt, facts)
    runs_code = any(tool["name"] == CODE for tool in tools if not _is_ours(tool))
    facts = replace(facts, code_execution=runs_code)  # what belongs to code goes with the tool for it
    return replace(
        prompt,
        system=[_marked(block, facts) for block in prompt.system],
        tools=tools,
        messages=_with_the_user_at_both_ends([_message(message, facts) for message in prompt.messages], facts),
        max_tokens=min(prompt.max_tokens, facts.output),
        container=prompt.container if runs_code else "",
    )


def _tools(prompt: Prompt, facts: ModelFacts) -> list[Json]:
    """None where none may be called and that can not be said in any other way. Of two that do the same, ours and the
    provider's, the model gets the one that runs there, and with it what goes only with it."""
    if not facts.tools or not (prompt.allow_tools or facts.tool_choice):
        return []
    theirs = [tool for tool in prompt.tools if not _is_ours(tool) and _is_run(tool, facts)]
    names = {tool["name"] for tool in theirs}
    twins = {TWINS.get(name, name) for name in names}
    without_use = names | twins | {ours for ours, name in WITH.items() if name not in names}
    ours = (tool for tool in prompt.tools if _is_ours(tool) and tool["name"] not in without_use)
    return [*(_tool(tool, facts) for tool in ours), *theirs]


def _is_run(tool: Json, facts: ModelFacts) -> bool:
    """Whether the provider runs it for such a model."""
    return facts.runs_code if tool["name"] == CODE else facts.server_tools


def _is_ours(tool: Json) -> bool:
    return tool.get("type") in (None, "custom")


def _tool(tool: Json, facts: ModelFacts) -> Json:
    return _marked(tool if facts.strict else without(tool, "strict"), facts)


def _message(message: Json, facts: ModelFacts) -> Json:
    """A message never goes: where nothing of it is left it says so, and roles still take turns."""
    return {**message, "content": _content(message["content"], facts) or [text(NOTHING_LEFT)]}


def _content(content: str | list[Json], facts: ModelFacts) -> str | list[Json]:
    if isinstance(content, str):
        return content
    return [_marked(shown, facts) for block in content if (shown := _block(block, facts)) is not None]


def _block(block: Json, facts: ModelFacts) -> Json | None:
    """The block, what stands for it, or None where nothing does."""
    kind = str(block["type"])
    if kind in THINKING:
        return block if facts.thinking else None
    if kind == "container_upload":
        return block if facts.runs_code else None
    if is_of_code(block):
        return block if facts.runs_code else in_place_of(block, code_in_words(block))
    if kind in SERVER_CALLS or is_server_result(block):
        return block if facts.server_tools else None
    if kind == "compaction":
        return block if facts.compaction else _summary(block)
    if kind in MEDIA:
        return block if facts.images else in_place_of(block, NOT_SHOWN[kind])
    if kind == "tool_use" and not facts.tools:
        return in_place_of(block, f"(Called the tool {block['name']}: {_as_text(block['input'])})")
    if kind == "tool_result":
        return _result(block, facts)
    return block if facts.server_tools else without(block, *OF_SERVER_TOOLS)


def _result(block: Json, facts: ModelFacts) -> Json:
    content = _content(block.get("content", ""), facts)
    if not facts.tools:
        return in_place_of(block, f"(The tool returned: {_as_text(content)})")
    return {**(block if facts.server_tools else without(block, *OF_SERVER_TOOLS)), "content": content}


def _summary(block: Json) -> Json | None:
    """What another provider folded away, in words."""
    words = block.get("content")
    return in_place_of(block, f"<summary>\n{words}\n</summary>") if isinstance(words, str) and words.strip() else None


def _as_text(value: Any) -> str:
    if isinstance(value, list) and all(block.get("type") == "text" for block in value):
        return "\n".join(block["text"] for block in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _with_the_user_at_both_ends(messages: Sequence[Json], facts: ModelFacts) -> list[Json]:
    """Only a provider's own summary may come before the user, and a reply that paused in a tool of its provider's can
    only be gone on with there."""
    first, *rest = messages
    if first["role"] == "assistant" and not facts.compaction:
        follows = rest.pop(0)["content"] if rest and rest[0]["role"] == "user" else []
        first = {"role": "user", "content": [*first["content"], *follows]}
    last = [first, *rest][-1]
    paused = last["role"] == "assistant" and not any(each["type"] in SERVER_CALLS for each in last["content"])
    return [first, *rest, *([{"role": "user", "content": [text(GO_ON)]}] if paused else [])]


def _marked(block: Json, facts: ModelFacts) -> Json:
    return block if facts.caching else without(block, "cache_control")
