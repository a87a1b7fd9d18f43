"""What examinations find: checks, each with what is so and what to do next."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

SECONDS = 20.0
"""For one examination, all of its questions included."""

State = Literal["green", "yellow", "red"]

log = logging.getLogger(__name__)


class Check(Struct, frozen=True):
    """``says`` is what is so, ``next`` what to do about it, one sentence each; no secret stands in either. Red: people
    get no answer, or somebody gets in who should not. Yellow: something is lost or may go wrong."""

    name: str
    state: State
    says: str
    next: str = ""


def green(name: str, says: str) -> Check:
    return Check(name, "green", says)


def yellow(name: str, says: str, next: str) -> Check:
    return Check(name, "yellow", says, next)


def red(name: str, says: str, next: str) -> Check:
    return Check(name, "red", says, next)


Examine = Callable[[str], AsyncGenerator[Sequence[Check], None]]
"""Examines the bot that runs here, for an owner who reads this language (an IETF tag): what each subject found, as it
is found, within half a minute. Changes nothing and never fails; may be closed at any time."""


async def nothing_examined(language: str) -> AsyncGenerator[Sequence[Check], None]:
    nothing: tuple[Sequence[Check], ...] = ()
    for each in nothing:
        yield each


async def examined(subjects: Mapping[str, Awaitable[Sequence[Check]]], seconds: float = SECONDS) -> list[Check]:
    """All of them side by side, each bounded; what they found in their order. One that takes too long, or fails in a
    way nobody thought of, is a red check under the subject's name, and hides none of the others."""
    found = await asyncio.gather(*(_bounded(name, exam, seconds) for name, exam in subjects.items()))
    return [check for checks in found for check in checks]


async def found(
    subjects: Mapping[str, Awaitable[Sequence[Check]]], seconds: float = SECONDS
) -> AsyncGenerator[Sequence[Check], None]:
    """The same, each subject as soon as it is done."""
    tasks = [asyncio.ensure_future(_bounded(name, exam, seconds)) for name, exam in subjects.items()]
    try:
        for each in asyncio.as_completed(tasks):
            yield await each
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _bounded(subject: str, exam: Awaitable[Sequence[Check]], seconds: float) -> Sequence[Check]:
    try:
        async with asyncio.timeout(seconds):
            return await exam
    except TimeoutError:
        says = f"There was no answer within {seconds:.0f} seconds."
        return [red(subject, says, "Look at this machine's network and proxy.")]
    except Exception as error:  # where an examination begins: it must hide none of the others
        log.error("subject=<%s> | an examination failed", subject, exc_info=True)
        says = f"The examination itself failed ({type(error).__name__})."
        return [red(subject, says, "Give the lines that were logged to whoever looks after Kabar.")]
