"""From the record to what the Messages API accepts. Pure functions; the record itself is never rewritten.

Two steps: the record told as a conversation (here), and that conversation made into one that keeps to every rule of the
API, whatever crashes, stops, edits, other models and older versions left behind (``repair``).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from bot.blocks import MARK, THINKING, text, uploads
from bot.media import reference, stored
from bot.messages import Answered, Asked, Attachment, Ended, Entry, Inbound, Json, Quote, Returned, Summary
from bot.notes import noted
from bot.repair import repaired
from bot.web.sources import spoken

HIDDEN = ("refused", "told", "undone")
"""Ends of turns that the model is never shown."""
PDF = "application/pdf"
MOST_PAGES = 20
LARGEST_DOCUMENT = 4 * 1024 * 1024
"""Pages, and bytes, of a document that is shown itself; of a longer one the model reads the text, bit by bit."""
LAST_SECOND = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())
"""Of the times that can be told as a date."""


def build_messages(entries: Sequence[Entry], current: str) -> list[Json]:
    """The ``messages`` of a request: the newest summary, then every turn that is shown; never empty.

    A thinking block is signed over all that came before it, so it is kept only where nothing before it was left out:
    in the turn ``current``, and there since the newest summary.
    """
    return repaired([message for _, message in told(entries, current)])


def told(entries: Sequence[Entry], current: str) -> Iterator[tuple[int, Json]]:
    """One message for each step of the record that is shown, as it was stored, with the index of its entry.

    The newest summary comes first. Huge results and pictures before it are notes: what is shown in full changes only
    with it.
    """
    hidden = hidden_turns(entries)
    folded = max((at for at, entry in enumerate(entries) if isinstance(entry, Summary)), default=-1)
    if folded >= 0:
        yield from ((folded, message) for message in _summary(entries[folded]))
    for at, entry in enumerate(entries):
        match entry:
            case Summary():
                continue
            case _ if entry.turn in hidden:
                continue
            case Asked(said=said, memory=memory, rules=rules):
                yield at, _user([text(rules), text(memory), *say(said, shown=at > folded)])
            case Answered(reply=reply):
                whole = entry.turn == current and at > folded
                yield at, _assistant(reply.content if whole else _unthought(reply.content))
            case Returned(results=results, said=said, note=note):
                shown = results if at > folded else [noted(result, entry.turn) for result in results]
                # Only in its own turn is a file put into the container; later its id may have expired.
                sent = uploads(results) if entry.turn == current and at > folded else []
                yield at, _user([*shown, *sent, *say(said, shown=at > folded), text(note)])
            case Ended():
                yield at, _assistant([text(_ending(entry))])


def last_told(entries: Sequence[Entry], what: Callable[[Asked], str]) -> str:
    """What the model sees of this, told with a question since the newest summary; "" where it sees nothing of it."""
    hidden, shown = hidden_turns(entries), ""
    for entry in entries:
        if isinstance(entry, Summary):
            shown = ""
        elif isinstance(entry, Asked) and what(entry) and entry.turn not in hidden:
            shown = what(entry)
    return shown


def hidden_turns(entries: Iterable[Entry]) -> set[str]:
    """Turns that the model is not shown."""
    return {entry.turn for entry in entries if isinstance(entry, Ended) and entry.why in HIDDEN}


def _summary(entry: Entry) -> Iterator[Json]:
    """The provider's own block is sent back as it came, and nothing beside it."""
    if isinstance(entry, Summary) and entry.block is not None:
        yield _assistant([entry.block])
    elif isinstance(entry, Summary) and entry.text.strip():
        yield _user([text(f"<summary>\n{_unmarked(entry.text)}\n</summary>")])


def _user(blocks: list[Json]) -> Json:
    return {"role": "user", "content": blocks}


def _assistant(blocks: list[Json]) -> Json:
    return {"role": "assistant", "content": blocks}


def _unthought(content: Iterable[Json]) -> list[Json]:
    return [block for block in content if block.get("type") not in THINKING]


def say(said: Iterable[Inbound], *, shown: bool = True) -> list[Json]:
    """What people said as blocks: ours says who, when and where, theirs what; the same bytes every time.

    ``shown``: with the pictures and documents themselves, not only a line for each.
    """
    return [block for inbound in said for block in _said(inbound, shown=shown)]


@lru_cache(1024)  # a turn tells its conversation several times: to the model, and to measure it
def _said(inbound: Inbound, *, shown: bool) -> tuple[Json, ...]:
    heard, files = _heard(inbound), map(_attached, inbound.attachments)
    words = filter(None, (*heard, _quoted(inbound), *files, _unmarked(inbound.words)))
    media = map(_medium, inbound.all_attachments if shown else ())
    return (
        text(_context(inbound)),
        text("\n\n".join(words) or "(an empty message)"),
        *(block for block in media if block),
    )


def _medium(attachment: Attachment) -> Json | None:
    """What the model can look at itself: a picture, or a document of few pages."""
    if not attachment.blob:
        return None
    if attachment.width:
        return {"type": "image", "source": stored(attachment.blob, attachment)}
    if attachment.media_type == PDF and 0 < attachment.pages <= MOST_PAGES and attachment.size <= LARGEST_DOCUMENT:
        return {"type": "document", "source": stored(attachment.blob, attachment)}
    return None


def _heard(inbound: Inbound) -> Iterator[str]:
    """What others had said there before: theirs, not addressed to us."""
    if inbound.heard:
        lines = (f"{_author(quote)}: {_unmarked(quote.text.strip())}" for quote in inbound.heard)
        yield "<thread>\n" + "\n".join(lines) + "\n</thread>"


def _context(inbound: Inbound) -> str:
    where = f"{inbound.place.platform}, {'group' if inbound.place.group else 'private'}"
    who = _plain(inbound.sender.name) or inbound.sender.id
    said = f"{_moment(inbound.sent_at)}. From {who} ({where}).{_SAID_OTHERWISE.get(inbound.kind, '')}"
    return f"<context>{said}</context>"


def _moment(seconds: int) -> str:
    moment = datetime.fromtimestamp(min(max(seconds, 0), LAST_SECOND), UTC)
    return moment.strftime("%A %Y-%m-%d %H:%M UTC")


_SAID_OTHERWISE: dict[str, str] = {
    "edit": " They edited a message above; now it reads:",
    "due": " A reminder they had set came due, and was told to them:",
}
"""By the kind of what was not just written."""


def _quoted(inbound: Inbound) -> str:
    if inbound.quote is None:
        return ""
    quoted = (_unmarked(inbound.quote.text.strip()), *map(_attached, inbound.quote.attachments))
    return "\n".join((f'<quote from="{_author(inbound.quote)}">', *filter(None, quoted), "</quote>"))


def _author(quote: Quote) -> str:
    return "your own message" if quote.ours else (_plain(quote.author) or "somebody")


def _attached(attachment: Attachment) -> str:
    """A line about a file, and the beginning of what stands or is said in it."""
    name = f' file="{reference(attachment.blob)}"' if attachment.blob else ""
    details = [_plain(attachment.name), attachment.media_type, _unmarked(attachment.description)]
    details += [f"{attachment.pages} pages" if attachment.pages else "", _unmarked(attachment.problem)]
    lines = [", ".join(filter(None, details)), *_beginning(attachment)]
    inside = "\n".join(lines)
    return f'<attachment kind="{attachment.kind}"{name}>{inside}</attachment>'


def _beginning(attachment: Attachment) -> Iterator[str]:
    if attachment.excerpt and not _medium(attachment):
        yield _unmarked(attachment.excerpt)
        if attachment.chars > len(attachment.excerpt):
            yield f'[{attachment.chars} characters in all. To read on: reopen "{reference(attachment.blob)}".]'


def _unmarked(words: str) -> str:
    """Somebody's words, in which none of our marks can be opened or closed: they would speak as us, or as another."""
    return MARK.sub(r"&lt;\1", words)


def _plain(name: str) -> str:
    """A display name as one short line that can not close our marks."""
    return " ".join(name.replace("<", "").replace(">", "").replace('"', "").split())[:64]


def _ending(ended: Ended) -> str:
    if ended.why == "reminded":
        return ended.shown
    if ended.why == "stopped":
        return f"{ended.shown.strip()}\n\n(Stopped here by the person.)".strip()
    return "(No answer was given: a technical fault.)"


def tool_calls(answered: Answered) -> list[Json]:
    return [block for block in answered.reply.content if block.get("type") == "tool_use"]


DELEGATE = "delegate"
"""The tool that gives a task to a subagent."""


def label(call: Json) -> str:
    """What a call is shown as (``texts.doing``): its tool's name and, where it asks somebody, a colon and who."""
    name = str(call["name"])
    return f"{name}:{_plain(str(call['input'].get('agent') or '…'))}" if name == DELEGATE else name


_OURS = re.compile(
    r"<context>[A-Z][a-z]+ \d{4}-\d\d-\d\d \d\d:\d\d UTC\. From [^<>\n]*(?:</context>\s*|(?:<[/a-z]*)?\Z)"
    r"|<memory>(?:\n\d+\. [^\n]*)+(?:\n</memory>\s*|\n?(?:<[/a-z]*)?\Z)"
)
"""What we wrote around people's words, exactly as we write it: code and pages may have elements of these names."""


def reply_text(answered: Answered) -> str:
    """What a person reads of one reply."""
    return without_ours(spoken(answered.reply.content))


def without_ours(words: str) -> str:
    """A model's words without what it repeats of ours, half written as well."""
    return _OURS.sub("", words)
