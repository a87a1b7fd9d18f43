"""What people thought of real answers as drafts of tasks: the conversation up to the answer, without anybody's ids.

The words are those that people wrote. What names them is taken out as far as a program can tell, and no further: a
draft is to be read, and made up anew, before anybody else sees it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.evals.tasks import DRAFTS
from bot.cli.evals.transcript import shown_in
from bot.clock import SystemClock
from bot.errors import ConfigError
from bot.history import HIDDEN
from bot.messages import Asked, Ended, Entry, Inbound, Voted
from handlers.settings import Settings

WARNING = (
    "THIS DRAFT HOLDS WORDS THAT REAL PEOPLE WROTE. Names, numbers and addresses may still be in it. "
    "Do not commit it or pass it on before you have made up other words that show the same."
)
MOST_BEFORE = 20
"""Turns told before the one that was voted on."""
IDS = re.compile(
    r"<@[UW]\w+(?:\|[^>]*)?>|<#C\w+(?:\|[^>]*)?>|(?<!\w)@\w{3,}|\b[\w.+-]+@[\w-]+\.[\w.]+|\+?\d[\d\s-]{8,}\d"
)
"""Mentions, mail addresses, and numbers long enough for a telephone or a card."""
REMOVED = "(removed)"


class Ballot(Struct, frozen=True):
    """A turn that was voted on, with the record around it."""

    turn: str
    good: bool
    entries: tuple[Entry, ...]


async def write_drafts(settings: Settings, folder: Path, kinds: Sequence[bool]) -> list[Path]:
    """New drafts in ``folder/drafts``, which only we may read; ``kinds``: of good answers, of bad ones. Raises
    ConfigError where there is no local store."""
    store = _store(settings)
    try:
        records = [[each.entry for each in await store.record(key, 1)] for key in sorted(await store.conversations())]
    finally:
        store.close()
    wanted = (ballot for ballot in ballots(records) if ballot.good in kinds)
    return [file for ballot in wanted if (file := _written(folder / DRAFTS, ballot))]


def _store(settings: Settings) -> SQLiteStore:
    """The local one. It is not made where there is none."""
    if settings.kabar_table:
        raise ConfigError("Votes are read from the local store (KABAR_DATA), and KABAR_TABLE names one on AWS.")
    if not Path(settings.kabar_data).is_file():
        raise ConfigError(f"There is no store at {settings.kabar_data}: nobody has voted here.")
    return SQLiteStore(settings.kabar_data, SystemClock())


def ballots(records: Sequence[Sequence[Entry]]) -> Iterator[Ballot]:
    """Every turn that was voted on and is still whole; of one person's votes the newest counts, and of several people's
    a bad one: that is where there is something to learn."""
    for entries in records:
        votes = {(each.turn, each.person): each.good for each in entries if isinstance(each, Voted)}
        for turn in dict.fromkeys(turn for turn, _ in votes):
            if any(isinstance(each, Asked) and each.turn == turn for each in entries):
                good = all(vote for (voted, _), vote in votes.items() if voted == turn)
                yield Ballot(turn, good, tuple(entries))


def _written(folder: Path, ballot: Ballot) -> Path | None:
    """None where it is there: somebody may have worked on it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / f"vote-{sha256(ballot.turn.encode()).hexdigest()[:8]}-{'good' if ballot.good else 'bad'}.yaml"
    if file.exists():
        return None
    file.touch(mode=0o600)
    file.write_text(draft(ballot), encoding="utf-8")
    return file


def draft(ballot: Ballot) -> str:
    """The task as YAML, below a warning. It is valid, and its rubric is to be made precise."""
    hidden = {each.turn for each in ballot.entries if isinstance(each, Ended) and each.why in HIDDEN}
    turns = list(
        dict.fromkeys(each.turn for each in ballot.entries if isinstance(each, Asked) and each.turn not in hidden)
    )
    before = turns[: turns.index(ballot.turn)][-MOST_BEFORE:] if ballot.turn in turns else []
    people = _people(ballot.entries)
    voted = _of(ballot.turn, ballot.entries)
    answer = _plain(shown_in(voted))
    verdict = "good" if ballot.good else "bad"
    task: dict[str, Any] = {
        "why": f"A person voted the answer {verdict}.",
        "tags": ["vote", verdict],
        "people": {key: {"name": key.capitalize(), "language": language or "en"} for key, language in people.values()},
        "earlier": [told for turn in before for told in _earlier(_of(turn, ballot.entries), people)],
        "steps": [_step(each, people) for each in _said(voted)],
        "rubric": f"The answer below was voted {verdict}. Say here what makes a good one:\n{answer}",
    }
    written = yaml.safe_dump(
        {name: value for name, value in task.items() if value}, sort_keys=False, allow_unicode=True, width=110
    )
    return f"# {WARNING}\n{written}"


def _people(entries: Sequence[Entry]) -> Mapping[str, tuple[str, str]]:
    """For each speaker's id the name they have in the draft, and their language."""
    people: dict[str, tuple[str, str]] = {}
    for entry in entries:
        for inbound in _said([entry]):
            people.setdefault(inbound.sender.id, (f"person{len(people) + 1}", inbound.sender.language))
    return people


def _of(turn: str, entries: Sequence[Entry]) -> list[Entry]:
    return [each for each in entries if getattr(each, "turn", "") == turn]


def _said(entries: Sequence[Entry]) -> list[Inbound]:
    return [inbound for entry in entries for inbound in getattr(entry, "said", ())]


def _earlier(turn: Sequence[Entry], people: Mapping[str, tuple[str, str]]) -> Iterator[dict[str, str]]:
    said = _said(turn)
    words = "\n".join(filter(None, map(_words, said)))
    if words and (answer := _plain(shown_in(turn))):
        yield {"by": people[said[0].sender.id][0], **_where(said[0]), "say": words, "answer": answer}


def _step(inbound: Inbound, people: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    quote = {"quote": {"text": _plain(inbound.quote.text)}} if inbound.quote else {}
    return {"by": people[inbound.sender.id][0], **_where(inbound), "say": _words(inbound) or "(nothing)", **quote}


def _where(inbound: Inbound) -> dict[str, str]:
    return {"group": "chat"} if inbound.place.group else {}


def _words(inbound: Inbound) -> str:
    files = "".join(f"(a file was here: {each.media_type or each.kind})\n" for each in inbound.attachments)
    return f"{files}{_plain(inbound.words)}".strip()


def _plain(text: str) -> str:
    return IDS.sub(REMOVED, text).strip()
