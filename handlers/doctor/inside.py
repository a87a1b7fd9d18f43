"""``/doctor``: the examinations that make sense from inside the bot that runs, for its owner's chat."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from bot.examining import Check, Examine, found
from bot.ports import Clock
from bot.texts import is_indonesian
from handlers.doctor import cloud, local, model, slack, telegram
from handlers.doctor.indonesian import INDONESIAN
from handlers.doctor.situation import situation
from handlers.settings import Settings

SECONDS = 15.0
"""For each examination; they run side by side, and the conversation waits for the slowest."""


def examination(settings: Settings, clock: Clock) -> Examine:
    """``settings`` are the running bot's, with its secrets."""

    async def examine(language: str) -> AsyncGenerator[Sequence[Check], None]:
        here = situation(settings, "", deployed=bool(settings.kabar_secrets_path), now=clock.now())
        subjects = {
            "people": local.examine_people(settings),
            "machine": local.examine_machine(settings, here),
            "clock": local.examine_clock(settings, here),
            "telegram": telegram.examine(settings, here),
            "slack": slack.examine(settings, here),
            "model": model.examine(settings),
            "aws": cloud.examine(settings, here),
        }
        async with aclosing(found(subjects, SECONDS)) as done:
            async for checks in done:
                yield [_told(check, language) for check in checks]

    return examine


def _told(check: Check, language: str) -> Check:
    if is_indonesian(language):
        told = INDONESIAN.check(check)
        return replace(told, next=told.next.replace("jalankan kabar doctor lagi", "kirim /doctor lagi"))
    return replace(check, next=check.next.replace("Run kabar doctor again", "Send /doctor again"))
