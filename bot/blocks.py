"""One content block as the Messages API takes it back, or what may stand in its place. Pure.

A block that is fine comes back as the very same object. That is a promise: a model signs its thinking over the blocks
before it, so whoever finds another object in the place of what was received knows that the signature is spoiled.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from bot.media import usable
from bot.messages import Json, encode, whole

THINKING = ("thinking", "redacted_thinking")
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
CODE = ("code_execution", "bash_code_execution", "text_editor_code_execution")
"""What the provider's tool for code is called in the blocks of a reply; its results are ``<name>_tool_result``."""
FIELDS = {
    "text": {"type", "text", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "caller", "toolset_name"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "toolset_name"},
    "image": {"type", "source", "transformations"},
    "document": {"type", "source", "citations", "context", "title"},
}
"""What the API takes in each block. A cache mark is set on the way out and never belongs to what is stored."""
CITATIONS = (
    "char_location",
    "page_location",
    "content_block_location",
    "search_result_location",
    "web_search_result_location",
)
MARK = re.compile(r"<(/?(?:context|quote|attachment|summary|thread|memory|rules)\b)", re.IGNORECASE)
"""What opens or closes a mark of ours in the prompt."""
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
NOTHING = "(nothing)"

T = TypeVar("T")


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def clean(value: T) -> T:
    """The same JSON value without lone surrogates, which no UTF-8 can carry."""
    try:
        encode(value)
    except UnicodeEncodeError:
        cleaned: T = _clean(value)
        return cleaned
    return value


def _clean(value: Any) -> Any:
    match value:
        case str():
            return whole(value)
        case dict():
            return {whole(name): _clean(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_clean(inner) for inner in value]
    return value


def is_server_result(block: Json) -> bool:
    """Whether it is what a tool run by the provider returned: ``web_search_tool_result`` and its like."""
    kind = str(block.get("type"))
    return kind != "tool_result" and kind.endswith("_tool_result")


TOLD = ("stdout", "stderr", "content", "error_code", "error_message")
"""What is in words in a result of such code."""


def is_of_code(block: Json) -> bool:
    """Whether it is a call or a result of code that the provider runs."""
    if block.get("type") in SERVER_CALLS:
        return block.get("name") in CODE
    return is_server_result(block) and str(block["type"]).removesuffix("_tool_result") in CODE


def code_in_words(block: Json) -> str:
    """What such a call or result says, for a reader that takes no such blocks."""
    if block["type"] in SERVER_CALLS:
        match block.get("input"):
            case {"command": str(command), **others} if not others:
                return f"(Ran: {command})"
            case given:
                return f"(Ran: {json.dumps(given, ensure_ascii=False)})"
    content = block.get("content")
    told = content if isinstance(content, dict) else {}
    shown = [str(told[name]).strip() for name in TOLD if _is_words(told.get(name))]
    words = "\n".join(shown) or NOTHING
    return f"(It returned: {words})"


def outputs(content: Iterable[Json]) -> list[str]:
    """The provider's ids of the files that its code left in a reply, in order."""
    results = (block.get("content") for block in content if is_server_result(block) and is_of_code(block))
    lists = (result.get("content") for result in results if isinstance(result, dict))
    parts = (part for each in lists if isinstance(each, list) for part in each if isinstance(part, dict))
    return [part["file_id"] for part in parts if isinstance(part.get("file_id"), str)]


def uploads(results: Iterable[Json]) -> list[Json]:
    """What tools put into the provider's container, as the blocks that do it. They came inside results, where the API
    takes none of them, and stand behind."""
    lists = (result.get("content") for result in results)
    parts = (part for each in lists if isinstance(each, list) for part in each if isinstance(part, dict))
    return [part for part in parts if part.get("type") == "container_upload" and isinstance(part.get("file_id"), str)]


def is_compaction(block: Json) -> bool:
    """Whether it is a summary made and signed by the provider: sent back, it stands first."""
    return block.get("type") == "compaction"


# What a model said


def said_by_model(block: Json) -> Json | None:
    """A block of a reply, to be sent back; None for what has nothing to say or what the API takes from nobody."""
    if is_server_result(block):
        return _server_result(block)
    return _REPLY.get(str(block.get("type")), _unknown)(block)


def _spoken(block: Json) -> Json | None:
    if not _is_words(block.get("text")):
        return None
    known = _known(block)
    return clean(without(known, "citations") if _foreign(known.get("citations")) else known)


def _foreign(citations: Any) -> bool:
    """Whether these are citations of another provider's shape."""
    if not citations:
        return False
    return not isinstance(citations, list) or any(
        not isinstance(each, dict) or each.get("type") not in CITATIONS for each in citations
    )


def _thought(block: Json) -> Json | None:
    """Only whole and as it was signed: nothing in it may change."""
    said, proof = block.get("thinking", ""), block.get("signature" if block["type"] == "thinking" else "data")
    told = isinstance(said, str) and ("thinking" in block or block["type"] != "thinking")
    signed = isinstance(proof, str) and bool(proof) and FIELDS[block["type"]] >= block.keys()
    return block if told and signed and clean(block) is block else None


def _call(block: Json) -> Json:
    """A tool call. Its id is unique only among others, so ``repair`` sees to it."""
    name, given = str(block.get("name") or ""), block.get("input")
    known = _known(block)
    if block.get("name") != name or not NAME.fullmatch(name):
        known = {**known, "name": re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or "unnamed"}
    if not isinstance(given, dict):
        known = {**known, "input": {} if given is None else {"input": given}}
    return clean(known)


def _server_call(block: Json) -> Json | None:
    fine = isinstance(block.get("input"), dict) and isinstance(block.get("name"), str) and _has_id(block, "id")
    return clean(without(block, "cache_control")) if fine else None


def _server_result(block: Json) -> Json | None:
    fine = "content" in block and _has_id(block, "tool_use_id")
    return clean(without(block, "cache_control")) if fine else None


def _compaction(block: Json) -> Json | None:
    """A summary the provider made and signed, so never changed. Without content it says that none could be made."""
    plain = without(block, "cache_control")
    fine = (plain.get("content") is None or _is_words(plain["content"])) and clean(plain) is plain
    return plain if fine else None


def _upload(block: Json) -> Json | None:
    return clean(without(block, "cache_control")) if isinstance(block.get("file_id"), str) else None


def _unknown(block: Json) -> Json | None:
    """What another provider or another time said: its words, if they were meant for the reader."""
    kind = str(block.get("type"))
    words = _document_words(block.get("source")) if kind == "document" else block.get("text")
    hidden = "reason" in kind or "think" in kind
    return clean(text(words)) if isinstance(words, str) and words.strip() and not hidden else None


def _document_words(source: Any) -> Any:
    return source.get("data") if isinstance(source, dict) and source.get("type") == "text" else None


_REPLY: dict[str, Callable[[Json], Json | None]] = {
    "text": _spoken,
    "thinking": _thought,
    "redacted_thinking": _thought,
    "tool_use": _call,
    "server_tool_use": _server_call,
    "mcp_tool_use": _server_call,
    "compaction": _compaction,
    "container_upload": _upload,
}


# What the user's side says


def said_by_user(block: Json) -> Json | None:
    """A block of a user message other than a tool's result."""
    match block:
        case {"type": "text", "text": words}:
            return clean(without(_known(block), "citations")) if _is_words(words) else None
        case {"type": "image"}:
            return _picture(block)
        case {"type": "document", "source": dict()}:
            return clean(_known(block))
        case {"type": "search_result", "source": str(), "title": str(), "content": list()}:
            return clean(without(block, "cache_control"))
        case {"type": "container_upload"}:
            return _upload(block)
    return _unknown(block)


def _picture(block: Json) -> Json:
    given = block.get("source")
    source = usable(given if isinstance(given, dict) else {})
    if isinstance(source, str):
        return text(source)
    return _known(block) if source is given else {**_known(block), "source": source}


def returned(block: Json, call: str) -> Json:
    """A tool's result as the answer to the call with this id; it always says something."""
    result = {**_known(block), "tool_use_id": call, "content": _result_content(block)}
    if not isinstance(block.get("is_error", False), bool):
        result["is_error"] = bool(block["is_error"])
    return clean(result)


def _result_content(block: Json) -> str | list[Json]:
    content = block.get("content")
    if isinstance(content, str):
        return content if _is_words(content) else NOTHING
    if not isinstance(content, list):
        return NOTHING if content is None else json.dumps(content, ensure_ascii=False)
    return [inner for inner in map(_result_part, content) if inner and _may_return(inner, block)] or NOTHING


def _result_part(inner: Any) -> Json | None:
    if not isinstance(inner, dict):
        return text(inner) if _is_words(inner) else None
    return clean(inner) if inner.get("type") == "tool_reference" else said_by_user(inner)


def _may_return(inner: Json, result: Json) -> bool:
    """A failure is told in words alone; a file for the provider's container is not a result."""
    return inner["type"] == "text" or not (result.get("is_error") or inner["type"] == "container_upload")


# Words


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _has_id(block: Json, field: str) -> bool:
    return isinstance(block.get(field), str) and bool(ID.fullmatch(block[field]))


def _known(block: Json) -> Json:
    """Without the fields that the API does not take in a block of this type."""
    fields = FIELDS[block["type"]]
    return block if block.keys() <= fields else without(block, *(block.keys() - fields))


def without(block: Json, *names: str) -> Json:
    """The block without these fields; the very same one where it has none of them."""
    if block.keys().isdisjoint(names):
        return block
    return {name: value for name, value in block.items() if name not in names}


def only(blocks: Iterable[Json | None]) -> list[Json]:
    return [block for block in blocks if block is not None]
