"""What other servers that speak the Messages API refuse: one check for each thing a model may lack. Pure.

Real ones refuse some of these and ignore others; a stand-in that refuses them all shows what is sent.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any

from simulator.model_rules import SERVER_CALLS, THINKING, Json, all_blocks, is_of_code

FILES = frozenset({"image", "document"})


def lacking(request: Json, lacks: Collection[str]) -> Iterator[str]:
    """A fault for each thing in the request, in good form, that such a model lacks. ``lacks`` are names in CHECKS."""
    return (f"{name}: not supported by this model" for name in lacks if CHECKS[name](request))


def _kinds(request: Json) -> set[str]:
    return {block["type"] for block in all_blocks(request)}


def _has_key(value: Any, key: str) -> bool:
    match value:
        case dict():
            return key in value or any(_has_key(inner, key) for inner in value.values())
        case list():
            return any(_has_key(inner, key) for inner in value)
    return False


def _has_tools(request: Json) -> bool:
    return "tools" in request or bool(_kinds(request) & {"tool_use", "tool_result"})


def _has_server_tools(request: Json) -> bool:
    typed = any(tool.get("type", "custom") != "custom" for tool in request.get("tools", []))
    left = {kind for kind in _kinds(request) if kind.endswith("_tool_result")} | (_kinds(request) & SERVER_CALLS)
    return typed or bool(left) or any(_has_key(block, "citations") for block in all_blocks(request))


def _runs_code(request: Json) -> bool:
    typed = any(str(tool.get("type")).startswith("code_execution_") for tool in request.get("tools", []))
    left = any(is_of_code(block) or block["type"] == "container_upload" for block in all_blocks(request))
    return typed or left or "container" in request


CHECKS: dict[str, Callable[[Json], bool]] = {
    "tools": _has_tools,
    "tool_choice": lambda request: "tool_choice" in request,
    "caching": lambda request: _has_key(request, "cache_control"),
    "strict": lambda request: any("strict" in tool for tool in request.get("tools", [])),
    "thinking": lambda request: "thinking" in request or bool(_kinds(request) & THINKING),
    "images": lambda request: bool(_kinds(request) & FILES),
    "server_tools": _has_server_tools,
    "code_execution": _runs_code,
    "compaction": lambda request: "compaction" in request or "compaction" in _kinds(request),
    "diagnostics": lambda request: "diagnostics" in request,
}
