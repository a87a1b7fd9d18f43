"""``kabar export`` and ``kabar import``: what is kept as one file, from SQLite or DynamoDB to either."""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.sqlite_store import SQLiteStore
from bot.archive import Damage, damages, decode_line, header_of
from bot.clock import SystemClock
from bot.errors import ConfigError, Retry
from bot.exporting import Export, Exported
from bot.importing import Import, Imported
from bot.ports import Archive, Blobs, Clock, Scheduler
from handlers.settings import Settings

LONGEST_LINE = 256 * 1024 * 1024
"""Bytes. The longest is a file's, a third longer than it, and no platform hands out one of a hundred megabytes."""

MOST_DAMAGES = 20
"""Printed; whoever sees so many needs another copy of the file."""


class Kept(Struct, frozen=True):
    """Where everything is kept. ``scheduler``: None where nothing need be told of a reminder, or nothing can be."""

    store: Archive
    blobs: Blobs
    scheduler: Scheduler | None
    clock: Clock


async def export(settings: Settings, chat: str, out: Path | None) -> None:
    """Write all, or one chat, to this file or to the standard output; what it holds is said on standard error.

    A file is there only once it is whole, for nobody but its owner. Raises ConfigError.
    """
    there_is_something(settings, "export")
    async with kept_by(settings) as kept:
        export = Export(kept.store, kept.blobs, int(kept.clock.now()))
        with outages_named("Nothing was changed: export again."), _written(out) as file:
            async for line in export.lines(chat):
                file.write(line)
            if not export.done.lines:
                raise ConfigError(f"No conversation is called {chat}, or begins with it.")
    print("\n".join(_exported(export.done)), file=sys.stderr)


async def bring_in(settings: Settings, path: Path, *, replaces: bool) -> int:
    """Import this file, but only where nothing in it is damaged; returns the exit code, 1 where something of it was not
    imported. Raises ConfigError."""
    if found := _damages(path):
        print("\n".join(f"{path}:{each}" for each in found), file=sys.stderr)
        print(f"kabar: Nothing of {path} was imported.", file=sys.stderr)
        return 1
    async with kept_by(settings) as kept:
        work = Import(kept.store, kept.blobs, kept.scheduler, kept.clock, replaces=replaces)
        with outages_named("Import the file again: it goes on where it ended."):
            lines = _lines(path)
            schema = header_of(next(lines)).schema
            await work.run(decode_line(line, schema) for line in lines)
    print("\n".join(_imported(work.done)))
    if work.done.reminders and settings.kabar_table and not kept.scheduler:
        print(
            "Reminders come some minutes late: set KABAR_SCHEDULE_GROUP, _ROLE and _TARGET, and import with --replace."
        )
    return 1 if work.done.differ or work.done.busy else 0


def there_is_something(settings: Settings, to: str) -> None:
    """Raises ConfigError where nothing was ever kept, and there is nothing ``to`` do."""
    if not settings.kabar_table and not Path(settings.kabar_data).exists():
        raise ConfigError(f"Nothing to {to}: there is no file {settings.kabar_data}, and KABAR_TABLE is not set.")


@asynccontextmanager
async def kept_by(settings: Settings) -> AsyncIterator[Kept]:
    """Opens what these settings name."""
    clock = SystemClock()
    if settings.kabar_table:
        async with _on_aws(settings, clock) as kept:
            yield kept
        return
    store = SQLiteStore(settings.kabar_data, clock)
    try:
        yield Kept(store, FileBlobs(settings.kabar_files), None, clock)
    finally:
        store.close()


@asynccontextmanager
async def _on_aws(settings: Settings, clock: Clock) -> AsyncIterator[Kept]:
    from bot.adapters.dynamodb_store import DynamoDBStore
    from bot.adapters.eventbridge_scheduler import EventBridgeScheduler
    from handlers.aws import Aws
    from handlers.worker import kept_blobs

    aws = Aws(settings.aws_endpoint_url)
    names = (settings.kabar_schedule_group, settings.kabar_schedule_role, settings.kabar_schedule_target)
    scheduler = (
        EventBridgeScheduler(lambda: aws.client("scheduler"), *names, clock, settings.kabar_bot) if all(names) else None
    )
    store = DynamoDBStore(aws.client("dynamodb"), settings.kabar_table, clock, settings.kabar_bot)
    try:
        yield Kept(store, kept_blobs(settings, aws), scheduler, clock)
    finally:
        aws.close()


@contextmanager
def outages_named(what_to_do: str) -> Iterator[None]:
    """An outage as ConfigError, which ends the command in one sentence."""
    try:
        yield
    except Retry as error:
        raise ConfigError(f"{error} {what_to_do}") from error


@contextmanager
def _written(path: Path | None) -> Iterator[IO[bytes]]:
    try:
        if path is None:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            try:
                yield file.file
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink()
                raise
        Path(file.name).replace(path)
    except OSError as error:
        raise ConfigError(f"{path or 'The standard output'} can not be written: {error}") from error


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from iter(lambda: file.readline(LONGEST_LINE), b"")
    except OSError as error:
        raise ConfigError(f"{path} can not be read: {error.strerror or error}") from error


def _damages(path: Path) -> list[Damage]:
    return [damage for damage, _ in zip(damages(_lines(path)), range(MOST_DAMAGES), strict=False)]


def _exported(done: Exported) -> Iterator[str]:
    yield f"Exported {_counts(done, done.conversations)}."
    if done.running:
        yield f"Under way, or waiting for a person's word, and stopped there in the export: {', '.join(done.running)}"
    if done.waiting:
        yield f"Messages that wait for an answer are not in the export: {', '.join(done.waiting)}. Run the bot first."
    if done.missing:
        yield f"Named in a conversation and kept no more: {_counted(len(done.missing), 'file')}."


def _imported(done: Imported) -> Iterator[str]:
    yield f"Imported {_counts(done, done.new)}."
    if done.unchanged:
        yield f"There already: {_counted(done.unchanged, 'conversation')}."
    if done.known:
        yield f"Known already and kept as they are, people and chats: {done.known:,} (--replace changes them)."
    if done.differ:
        yield f"Kept as they are, with another record: {', '.join(done.differ)} (--replace deletes it first)."
    if done.busy:
        yield f"Kept as they are, being answered just now: {', '.join(done.busy)}. Import again in a minute."


def _counts(done: Exported | Imported, conversations: int) -> str:
    entries, files = _counted(done.entries, "entry", "entries"), _counted(done.files, "file")
    reminders, profiles = _counted(done.reminders, "reminder"), _counted(done.profiles, "profile")
    return f"{_counted(conversations, 'conversation')} with {entries} and {files}, {reminders}, {profiles}"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
