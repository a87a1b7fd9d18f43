"""The offline demo model: a small honest script that shows what the bot can do without any account.

It reads the conversation in the request and nothing else, so a trimmed or restarted chat shows in what it still knows.
English and Indonesian, by the words of the newest message.
"""

import re
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from simulator.model_demo_texts import ENGLISH, INDONESIAN, INDONESIAN_WORDS, Texts
from simulator.model_demo_tools import called
from simulator.model_reply import Answer
from simulator.model_rules import Json, blocks
from simulator.pictures import picture_size

SLOWLY = 12
"""How many times longer a slow answer takes per word."""
METADATA = ("<context>", "<memory>", "<rules>", "<summary>")
"""How a text block begins that the bot, not a person, put into a user message."""
ATTACHED = re.compile(
    r'<attachment\b kind="(?P<kind>\w*)"[^>]*>(?P<about>[^\n<]*)\n?(?P<text>.*?)</attachment>', re.DOTALL
)
NO_FILES = {"sticker", "location", "venue", "contact", "poll", "dice"}
OTHERS = re.compile(r"<(quote|thread)\b[^>]*>.*?</\1>", re.DOTALL)
"""What others said, or was said before, that comes along with a person's words."""
EXCERPT = 120
"""Characters of a file that are told again."""
RESULT_LINES = 16
REFUSED = "Not run: the person"
"""How a result begins of a call that somebody did not allow."""

OPERATOR = r"(?:\*\*|[-+*/^×÷]|x(?=[\s\d(]))"
NUMBER = r"\d+(?:\.\d+)?"
SUM = re.compile(rf"(?<![\w.])[-(\s]*{NUMBER}[)\s]*(?:{OPERATOR}[-(\s]*{NUMBER}[)\s]*)+(?![\w.]*\d)")
SHARE = re.compile(rf"({NUMBER})\s*(?:%|percent|persen)\s*(?:of|dari)\s*({NUMBER})", re.IGNORECASE)
NO_SUM = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|\+\d[\d-]{7,}|https?://\S+"
)  # dates, phones, links
SIGNS = {"^": "**", "×": "*", "x": "*", "÷": "/"}

TIME = re.compile(
    r"what(?:'s| is)? (?:the )?(?:time|date|day)|time is it|jam berapa|pukul berapa|hari apa|tanggal berapa",
    re.IGNORECASE,
)
AGAIN = re.compile(r"\b(?:look|see|show)\b.*\bagain\b|\blihat\b.*\blagi\b", re.IGNORECASE)
REFERENCE = re.compile(r"\bfile:\w+")
LONG = re.compile(r"\b(long|panjang)\b", re.IGNORECASE)
SLOW = re.compile(r"\b(slow|slowly|pelan|lambat)\b", re.IGNORECASE)
SUMMARY = re.compile(r"\b(summar\w+|ringkas\w*|rangkum\w*)\b", re.IGNORECASE)
TOLD = re.compile(
    r"\bmy (?P<thing>[a-z][\w ]{0,30}?) is (?P<fact>[^.!?,\n]{1,80})"
    r"|\b(?P<hal>(?!ingatkan)[a-z]\w*(?: \w+)?) (?:saya|aku) (?:adalah |ialah |itu )?"
    r"(?P<isi>(?!apa|siapa|berapa)[^.!?,\n]{1,80})",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"\b(?:what|who)(?:'s| is| was) my (?P<thing>[a-z][\w ]{0,30})"
    r"|\b(?:apa|siapa|berapa) (?P<hal>[a-z]\w*(?: \w+)?) (?:saya|aku)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class DemoBrain:
    """``word_delay``: seconds before each word."""

    word_delay: float = 0.03

    def __call__(self, request: Json) -> Answer:
        messages = request["messages"]
        newest = _words(messages[-1]) or _last_words(messages)
        texts = _texts(newest)
        results = _results(messages, texts)
        if results and not _was_added(messages[-1]):
            return self._say(request, [*results, *_followed(messages, texts)])
        if calls := _calls(newest, request):
            told: list[Json] = [{"type": "text", "text": "\n\n".join(results)}] if results else []
            return Answer([*told, *calls], "tool_use", pace=self.word_delay)
        if SLOW.search(newest):
            return self._say(request, [texts.slow], slowly=SLOWLY)
        return self._say(request, [*results, _answer(newest, request, texts)])

    def _say(self, request: Json, parts: list[str], slowly: int = 1) -> Answer:
        texts = _texts(_last_words(request["messages"]))
        opening = [] if _spoke(request["messages"]) else [texts.opening]
        return Answer([{"type": "text", "text": "\n\n".join(opening + parts)}], pace=self.word_delay * slowly)


# What it reads


def _words(message: Json) -> str:
    """What a person says in a user message, without the files and the words of others that come along."""
    spoken = [OTHERS.sub("", ATTACHED.sub("", text)).strip() for text in _spoken(message)]
    return "\n".join(filter(None, spoken))


def _spoken(message: Json) -> list[str]:
    return [text for text in _text_blocks(message["content"]) if not text.lstrip().startswith(METADATA)]


def _was_added(message: Json) -> bool:
    """Whether a person said something while tools ran."""
    return any(text.lstrip().startswith("<context>") for text in _text_blocks(message["content"]))


def _text_blocks(content: str | list[Json]) -> list[str]:
    return [block["text"] for block in blocks(content) if block["type"] == "text"]


def _all_words(messages: list[Json]) -> list[str]:
    return [words for message in messages if message["role"] == "user" and (words := _words(message))]


def _last_words(messages: list[Json]) -> str:
    return (_all_words(messages) or [""])[-1]


def _texts(words: str) -> Texts:
    return INDONESIAN if INDONESIAN_WORDS.search(words) else ENGLISH


def _spoke(messages: list[Json]) -> bool:
    """Whether the model has said anything in words before."""
    return any(_text_blocks(message["content"]) for message in messages if message["role"] == "assistant")


def _results(messages: list[Json], texts: Texts) -> list[str]:
    """A sentence for each tool that has just run."""
    results = [block for block in blocks(messages[-1]["content"]) if block["type"] == "tool_result"]
    asked = {block.get("id"): block for block in blocks(messages[-2]["content"])} if results else {}
    return [_result(asked[block["tool_use_id"]], block, texts) for block in results]


def _result(call: Json, result: Json, texts: Texts) -> str:
    value = "\n".join(_text_blocks(result.get("content") or []))
    if value.startswith(REFUSED):
        return texts.denied
    if result.get("is_error"):
        return texts.failed.format(value=value)
    if call["name"] == "current_time":
        return texts.time.format(value=value)
    if call["name"] == "calculator":
        return texts.result.format(sum=" ".join(map(str, call["input"].values())), value=value)
    return texts.tool.format(name=call["name"], value=_quoted(value))


def _followed(messages: list[Json], texts: Texts) -> list[str]:
    """What a script can do of the skill that it has just read: the one it knows sums up."""
    read = any(block.get("name") == "skill" for block in blocks(messages[-2]["content"]))
    return ["\n".join([texts.summary, *(f"- {said}" for said in _all_words(messages)[:-1])])] if read else []


def _quoted(value: str) -> str:
    """A tool's words as a quote, the beginning of them."""
    lines = value.strip().splitlines() or ["-"]
    more = ["…"] if len(lines) > RESULT_LINES else []
    return "\n".join(f"> {line[:200]}" for line in (*lines[:RESULT_LINES], *more))


# What it does


def _calls(words: str, request: Json) -> list[Json]:
    """The tool calls a message asks for, of tools that are offered."""
    offered = {tool["name"]: tool.get("input_schema", {}) for tool in request.get("tools") or []}
    if (request.get("tool_choice") or {}).get("type") == "none":
        return []
    if trick := called(words, offered):
        return [_call(*trick)]
    calls = []
    if "calculator" in offered:
        name = _first_text_property(offered["calculator"])
        calls = [_call("calculator", {name: expression}) for expression in expressions(words)]
    if "current_time" in offered and TIME.search(words):
        name = _first_text_property(offered["current_time"])
        zone = "Asia/Jakarta" if _texts(words) is INDONESIAN else "UTC"
        calls.append(_call("current_time", {name: zone} if name else {}))
    if "reopen" in offered and AGAIN.search(words) and (seen := _references(request["messages"])):
        calls.append(_call("reopen", {"reference": seen[-1]}))
    return calls


def _call(name: str, arguments: Json) -> Json:
    return {"type": "tool_use", "name": name, "input": arguments}


def _first_text_property(schema: Json) -> str:
    properties: dict[str, Any] = schema.get("properties", {})
    return next((name for name, property in properties.items() if property.get("type") == "string"), "")


def expressions(words: str) -> list[str]:
    """The sums in a text, written the way Python does: "15% dari 200" is "15 / 100 * 200", "2^10" is "2**10"."""
    words = _plain_numbers(NO_SUM.sub(" ", words))
    shares = [f"{share} / 100 * {whole}" for share, whole in SHARE.findall(words)]
    sums = [_python(found.group()) for found in SUM.finditer(SHARE.sub(" ", words))]
    return shares + [expression for expression in sums if expression.count("(") == expression.count(")")]


def _plain_numbers(words: str) -> str:
    """1,000.5 as English writes it, or 1.000,5 as Indonesian does, is 1000.5."""
    group = r"\." if _texts(words) is INDONESIAN else ","
    words = re.sub(rf"(?<=\d){group}(?=\d{{3}}(?!\d))", "", words)
    return re.sub(r"(?<=\d),(?=\d)", ".", words)


def _python(found: str) -> str:
    return re.sub(r"[\^×x÷]", lambda sign: SIGNS[sign.group()], found).strip()


def _answer(words: str, request: Json, texts: Texts) -> str:
    messages = request["messages"]
    if SUMMARY.search(words):
        return "\n".join([texts.summary, *(f"- {said}" for said in _all_words(messages[:-1]))])
    if asked := ASKED.search(words):
        thing = _named(asked)
        fact = _facts(messages).get(thing, "")
        return (texts.known if fact else texts.unknown).format(thing=thing, fact=fact)
    if LONG.search(words):
        return texts.long
    if expressions(words):
        return texts.no_calculator
    if TIME.search(words):
        return texts.no_clock
    if told := TOLD.search(words):
        return texts.noted.format(thing=_named(told), fact=_fact(told))
    return "\n\n".join(_received(messages[-1], texts)) or texts.help


def _references(messages: list[Json]) -> list[str]:
    """The files that the bot named to us, as it names them, oldest first."""
    told = (text for message in messages if message["role"] == "user" for text in _told(message))
    return [found for text in told for found in REFERENCE.findall(text)]


def _told(message: Json) -> list[str]:
    """What stands in a user message: words, and what tools returned."""
    results = (block.get("content") or [] for block in blocks(message["content"]) if block["type"] == "tool_result")
    return [*_text_blocks(message["content"]), *(text for result in results for text in _text_blocks(result))]


def _facts(messages: list[Json]) -> dict[str, str]:
    """What people said of themselves; the last word counts."""
    return {_named(told): _fact(told) for words in _all_words(messages) for told in TOLD.finditer(words)}


def _named(found: re.Match[str]) -> str:
    return (found["thing"] or found["hal"]).strip().lower()


def _fact(found: re.Match[str]) -> str:
    return (found["fact"] or found["isi"]).strip()


def _received(message: Json, texts: Texts) -> list[str]:
    """A sentence for each kind of file somebody sent: what the model sees itself, then what it is told of."""
    pictures = [_picture(block) for block in blocks(message["content"]) if block["type"] == "image"]
    if len(pictures) == 1:
        return [texts.picture.format(size=pictures[0])]
    if pictures:
        return [texts.pictures.format(count=len(pictures), sizes=", ".join(pictures))]
    return [_file(found, texts) for text in _spoken(message) for found in ATTACHED.finditer(OTHERS.sub("", text))]


def _picture(block: Json) -> str:
    source = block["source"]
    size = picture_size(b64decode(source["data"])) if source.get("type") == "base64" else None
    return f"{size[0]} x {size[1]}" if size else str(source.get("media_type", "?"))


def _file(found: re.Match[str], texts: Texts) -> str:
    excerpt = " ".join(found["text"].split())
    about = found["about"].strip()
    if found["kind"] in NO_FILES:
        return texts.thing.format(about=about.removeprefix("image/webp, "))
    return texts.read.format(about=about, excerpt=excerpt[:EXCERPT]) if excerpt else texts.file.format(about=about)
