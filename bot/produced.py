"""Files that code run by the provider leaves there: fetched once, kept as files of the chat, sent with the answer.

    Answered (ids in its results) ──> Fetched (ids, files) ──> delivery

What is not fetched yet is read off the record, so whoever goes on after a crash fetches the rest. The model is not
told: it named these files itself.
"""

import logging
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot import media
from bot.blocks import outputs, uploads
from bot.deadline import Deadline, Later
from bot.errors import FileRefused, ModelUnavailable
from bot.files import Files, safe_name
from bot.journal import Journal
from bot.messages import Answered, Entry, Fetched, File, Returned
from bot.ports import ProviderFile, ProviderFiles

log = logging.getLogger(__name__)

MOST = 20
"""Files of one turn: the newest. More is no answer to anybody."""
LARGEST = 20 * 1024 * 1024
"""Bytes of one."""
TRIES, PAUSE = 4, 5.0
"""How often, and after how many seconds, an invocation begins again for files whose provider does not answer."""
UNNAMED = "?"


class Produced:
    """``remote`` is None where the provider runs no code: then there is nothing to fetch."""

    def __init__(self, remote: ProviderFiles | None = None) -> None:
        self._remote = remote

    async def fetch(self, journal: Journal, deadline: Deadline) -> None:
        """Fetch what this turn's code made and is not here yet. Raises Later and OutOfTime, with nothing lost."""
        new = unfetched(journal.all_own())
        if self._remote is None or not new:
            return
        # Each invocation counts as a failure until something is stored.
        lasting = (FileRefused,) if journal.turn.failures < TRIES else (FileRefused, ModelUnavailable)
        try:
            async with deadline.enforced():
                fetched = await _fetched(self._remote, new, journal, lasting)
        except ModelUnavailable as error:
            raise Later(PAUSE) from error
        await journal.append(fetched)

    async def forget(self, entries: Iterable[Entry]) -> None:
        """Have the provider delete the files of a conversation that is forgotten. Best effort: a provider that does not
        answer must not keep anybody from being forgotten here."""
        if self._remote is None:
            return
        ids = _all_ids(entries)
        for number, id in enumerate(ids):
            try:
                await self._remote.delete(id)
            except FileRefused as why:
                log.warning("file=<%s> | stays at the provider: %s", id, why)
            except ModelUnavailable as error:
                log.warning("files=<%d> | stay at the provider: %s", len(ids) - number, error)
                return


NOTHING_PRODUCED = Produced()


def unfetched(entries: Sequence[Entry]) -> list[str]:
    """The provider's ids of what a turn's code made and nobody settled yet, in order."""
    settled = {id for entry in entries if isinstance(entry, Fetched) for id in entry.ids}
    made = (id for entry in entries if isinstance(entry, Answered) for id in outputs(entry.reply.content))
    return [id for id in dict.fromkeys(made) if id not in settled]


def _all_ids(entries: Iterable[Entry]) -> list[str]:
    ids: list[str] = []
    for entry in entries:
        match entry:
            case Answered(reply=reply):
                ids += outputs(reply.content)
            case Returned(results=results):
                ids += [block["file_id"] for block in uploads(results)]
    return list(dict.fromkeys(ids))


async def _fetched(
    remote: ProviderFiles, ids: Sequence[str], journal: Journal, lasting: tuple[type[Exception], ...]
) -> Fetched:
    """``lasting``: the errors for which a file is given up."""
    found: dict[str, tuple[str, ProviderFile]] = {}
    files: list[File] = []
    lost: list[str] = []
    for id in ids:
        try:
            about = await remote.about(id)
        except lasting as why:
            log.warning("file=<%s> | not found: %s", id, why)
            lost.append(UNNAMED)
            continue
        name = safe_name(about.name)
        found.pop(name, None)  # written again: the newest counts, and stands last
        found[name] = (id, about)
    names = list(found)
    for name in names[-MOST:]:
        id, about = found[name]
        try:
            files.append(await _kept(remote, id, about, journal.files))
        except lasting as why:
            log.warning("file=<%s> | not fetched: %s", id, why)
            lost.append(name)
    return Fetched(journal.turn.id, tuple(ids), tuple(files), tuple(dict.fromkeys([*lost, *names[:-MOST]])))


async def _kept(remote: ProviderFiles, id: str, about: ProviderFile, files: Files) -> File:
    if about.size > LARGEST:
        raise FileRefused(f"It is larger than {LARGEST // 1024**2} MB.")
    data = await remote.download(id)
    kind, (width, height) = media.facts(data)
    file = await files.keep(about.name, data, kind or about.media_type)
    is_shown = 0 < max(width, height) <= media.LONGEST_SIDE_OF_MANY and len(data) <= media.LARGEST * 3 // 4
    return replace(file, width=width, height=height) if is_shown else file
