"""Any Markdown, and what must hold for its messages: tests try hundreds, ``benchmarks/rendering.py`` thousands."""

from collections.abc import Iterator
from random import Random

from bot.channels import splitting
from bot.channels.characters import is_blank, units
from bot.channels.markdown import flatten
from bot.channels.slack import render as slack
from bot.channels.telegram import render as telegram
from bot.messages import Json, whole
from simulator.slack_limits import Refused, check_markdown
from simulator.telegram_text import BadRequest, formatted
from tests.channels.visible import squeezed

WORDS = [
    *["word", "and", "more,", "**bold**", "_it_", "~~no~~", "`code`", "__init__", "snake_case", "a*b", "漢字", "שלום"],
    *["[link](https://example.org/a_b?c=1&d=2)", "![alt](https://example.org/i.png)", "<https://example.org>", "عربي"],
    *[
        "😀",
        "👩\u200d👩\u200d👧",
        "🇮🇩🇯🇵",
        "é",
        "e\u0301",
        "\u200b",
        "\ud83d",
        "\x00",
        "\t",
        "<b>x</b>",
        "&amp;",
        "<!here>",
    ],
    *["**half", "`tick", "[text](http", "\\*", "**", "*", "_", "`", "~~", "[", "](", ")", "|", "---", "<@U1>"],
]
BLOCKS = [
    *["\n", "\n\n", "\n\n\n", "  \n", "\r\n", "<br>", "\n- ", "\n  - ", "\n      - ", "\n1. ", "\n7) ", "\n- [ ] "],
    *["\n> ", "\n> > ", "\n# ", "\n### ", "\n\n---\n\n", "\n    ", "\n\t", "<!-- c -->", "\n| a | b |\n|---|--:|\n| "],
    *["\n| ", " | ", "\n\n| x |\n|---|\n| y |\n\n", "\n```py\n", "\n```\n", "\n~~~~\n", "\n   ```\n", "\n> ```\n"],
    "\n1. ```\n   ",
]


def markdown(random: Random, longest: int = 50) -> str:
    """Words and beginnings of blocks in any order, always the same for the same state of ``random``."""
    pieces = []
    for _ in range(random.randint(0, longest)):
        piece = random.choice(BLOCKS) if random.random() < 0.25 else f"{random.choice(WORDS)} "
        pieces.append(piece * random.choice((*[1] * 20, 2, 30)))
    return "".join(pieces)


def faults(source: str, random: Random) -> Iterator[str]:
    """What is wrong with the messages for this Markdown, whole, cut small and while it grows."""
    yield from _telegram_faults(source)
    yield from _split_faults(source, random.randint(2, 200), random.randint(4, 20))
    yield from _slack_faults(source, random.randint(300, 2_000))
    yield from _growing_faults(source, random.randint(0, len(source)))


def looks(text: str, entities: list[Json]) -> list[set[tuple[str, str]]]:
    """The styles of each UTF-16 unit that is no white space."""
    kept: list[set[tuple[str, str]]] = [set() for _ in range(units(text))]
    for entity in entities:
        for at in range(entity["offset"], entity["offset"] + entity["length"]):
            kept[at].add((entity["type"], str(entity.get("url", entity.get("language", "")))))
    letters = [char for char in text for _ in range(units(char))]
    return [styles for char, styles in zip(letters, kept, strict=True) if not char.isspace()]


def telegram_refusal(text: str, entities: list[Json]) -> str:
    """What Telegram refuses or changes of a message, "" where it takes it as it is."""
    try:
        kept, kept_entities = formatted(text, entities, "")
    except BadRequest as error:
        return str(error)
    if not kept:
        return "message text is empty"
    return "" if looks(kept, kept_entities) == looks(_as_kept(text), entities) else "it looks otherwise"


def slack_refusal(text: str) -> str:
    try:
        check_markdown(text)
    except Refused as error:
        return f"{error} {error.details}"
    return "" if text.strip() else "no_text"


def _as_kept(text: str) -> str:
    return "".join(" " if char < " " else char for char in text)


def _telegram_faults(source: str) -> Iterator[str]:
    parts = telegram.render(source)
    for part in parts:
        if fault := _broken(part.text) or telegram_refusal(part.text, list(part.markup)):
            yield f"telegram: {fault}"
    if squeezed("".join(part.text for part in parts)) != squeezed(flatten(source).text):
        yield "telegram: text lost"


def _split_faults(source: str, limit: int, most_spans: int) -> Iterator[str]:
    flat = flatten(source)
    parts = splitting.split(flat, limit, most_spans, units)
    if any(units(part.text) > limit or len(part.spans) > most_spans or is_blank(part.text) for part in parts):
        yield f"split at {limit}, {most_spans}: a part is too long or blank"
    if squeezed("".join(part.text for part in parts)) != squeezed(flat.text):
        yield f"split at {limit}, {most_spans}: text lost"


def _slack_faults(source: str, limit: int) -> Iterator[str]:
    for part in slack.render(source):
        if fault := _broken(part.text) or slack_refusal(part.text):
            yield f"slack: {fault}"
    parts = slack.split(slack.without_calls(whole(source)), limit)
    if any(is_blank(part) or units(part) > limit + 1_000 for part in parts):
        yield f"slack at {limit}: a part is too long or blank"
    kept = iter("".join(parts))
    lost = [char for char in slack.without_calls(whole(source)) if char.isalnum() and char not in kept]
    if lost:
        yield f"slack at {limit}: text lost, {''.join(lost[:20])!r}"


def _growing_faults(source: str, at: int) -> Iterator[str]:
    for render, refusal in ((telegram.render, telegram_refusal), (slack.render, lambda text, _: slack_refusal(text))):
        parts = render(source[:at], growing=True)
        for part in parts:
            if fault := _broken(part.text) or refusal(part.text, list(part.markup)):
                yield f"growing at {at}: {fault}"
        settled = render(source[:at])[:-2]
        if render(source)[: len(settled)] != settled:
            yield f"growing at {at}: a settled part changed"


def _broken(text: str) -> str:
    return "half a surrogate pair" if any("\ud800" <= char <= "\udfff" for char in text) else ""
