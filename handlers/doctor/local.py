"""This machine: versions, clock, what is kept here, who may talk to the bot and for how much."""

import asyncio
import os
import re
import shutil
import sqlite3
import stat
import sys
from collections.abc import Sequence
from contextlib import closing
from email.utils import parsedate_to_datetime
from importlib import metadata
from pathlib import Path

import aiohttp

from bot.examining import Check, green, red, yellow
from bot.version import VERSION
from handlers.doctor.situation import Situation
from handlers.settings import Settings, names

OLDEST = (3, 11)
SDKS = ("anthropic", "python-telegram-bot", "slack-sdk", "boto3")
AHEAD, TOO_FAR = 30.0, 240.0
"""Seconds a clock may be off: Slack and AWS take signatures that are at most 300 old."""
LEAST = 200 * 1024 * 1024
"""Bytes that should be free."""
OTHERS = stat.S_IRGRP | stat.S_IROTH
PERSON = re.compile(r"(telegram|slack|a2a|terminal):\S+|\d+")  # a number alone is Telegram's
TIMEOUT = aiohttp.ClientTimeout(total=8, connect=3)


async def examine_machine(settings: Settings, situation: Situation) -> Sequence[Check]:
    kept = [] if settings.kabar_table else [await asyncio.to_thread(_data, Path(settings.kabar_data))]
    return [_versions(), *kept, *_file(Path(".env"))]


def _versions() -> Check:
    python = ".".join(map(str, sys.version_info[:3]))
    sdks = [f"{name} {metadata.version(name)}" for name in SDKS]
    if sys.version_info < OLDEST:
        return red("versions", f"Python is {python}.", "Install Python 3.11 or newer and run make again.")
    return green("versions", f"Kabar {VERSION}, Python {python}, {', '.join(sdks)}.")


def _data(file: Path) -> Check:
    """The SQLite file; one that is not there yet is made by the bot."""
    folder = next(each for each in file.absolute().parents if each.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        says = f"{folder} is no folder that can be written, so nothing can be kept."
        return red("data", says, "Set KABAR_DATA to a file in a folder that can be written.")
    if shutil.disk_usage(folder).free < LEAST:
        return red("data", f"The disk under {folder} is almost full.", "Make room, or set KABAR_DATA to another disk.")
    if not file.exists():
        return green("data", f"{file} will be made.")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5)) as database:
            (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        verdict = str(error)
    if verdict != "ok":
        says = f"{file} can not be read ({verdict})."
        return red(
            "data", says, f"Move {file} away and bring back a copy; without one the bot begins with an empty file."
        )
    if os.name == "posix" and file.stat().st_mode & OTHERS:
        says = f"Others on this machine can read {file}, with all that people wrote."
        return yellow("data", says, f"Run: chmod 600 {file}")
    return green("data", f"{file} is whole.")


def _file(env: Path) -> list[Check]:
    if not env.exists():
        return []
    if env.stat().st_mode & OTHERS:
        return [yellow("secrets file", "Others on this machine can read the secrets in .env.", "Run: chmod 600 .env")]
    return [green("secrets file", "Only you can read .env.")]


async def examine_people(settings: Settings) -> Sequence[Check]:
    return [_people(settings), _money(settings)]


def _people(settings: Settings) -> Check:
    owner, others = settings.kabar_owner, names(settings.kabar_allowed_users)
    if not owner and not others:
        do = "Run kabar setup, which finds out who you are. By hand: set KABAR_OWNER to your id, such as telegram:42."
        return red("people", "Nobody may talk to this bot.", do)
    odd = [each for each in (owner, *sorted(others)) if each not in ("", "*", "nobody") and not PERSON.fullmatch(each)]
    if odd:
        says = f"{odd[0]} is nobody's id, so it lets nobody in."
        return red("people", says, "Write ids in KABAR_OWNER and KABAR_ALLOWED_USERS as telegram:42 or slack:T1:U1.")
    if owner in ("", "nobody"):
        says = "The bot has no owner: nobody is asked about strangers."
        return yellow("people", says, "Set KABAR_OWNER to your id, such as telegram:42.")
    if "*" in others:
        return yellow("people", "Everybody may talk to the bot.", "Name them in KABAR_ALLOWED_USERS, or watch /usage.")
    return green("people", f"The owner is {owner}; {len(others)} others are let in by KABAR_ALLOWED_USERS.")


def _money(settings: Settings) -> Check:
    if not settings.kabar_budget_day and not settings.kabar_budget_month:
        says = "Nothing limits what everybody together may spend."
        return yellow("money", says, "Set KABAR_BUDGET_DAY or KABAR_BUDGET_MONTH.")
    day, month = settings.kabar_budget_day, settings.kabar_budget_month
    return green("money", f"At most {day:g} dollars a day and {month:g} a month, where 0 is no limit.")


async def examine_clock(settings: Settings, situation: Situation) -> Sequence[Check]:
    """Against the first server of ours that says what time it is there."""
    servers = (situation.url, settings.telegram_api_base_url, settings.slack_api_base_url)
    async with aiohttp.ClientSession(timeout=TIMEOUT) as http:
        for server in filter(None, servers):
            if (there := await _time_at(http, server)) is not None:
                return [_compared(situation.now - there)]
    return [yellow("clock", "No server told the time to compare with.", "Look at the network.")]


async def _time_at(http: aiohttp.ClientSession, server: str) -> float | None:
    """In Unix seconds."""
    try:
        async with http.head(server, allow_redirects=False) as response:
            return parsedate_to_datetime(response.headers["Date"]).timestamp()
    except (aiohttp.ClientError, TimeoutError, OSError, KeyError, ValueError):
        return None


def _compared(off: float) -> Check:
    way = "seconds fast" if off > 0 else "seconds slow"
    do = "Set this machine's clock by a time server (NTP)."
    if abs(off) > TOO_FAR:
        return red("clock", f"It is {abs(off):.0f} {way}: signatures are refused.", do)
    if abs(off) > AHEAD:
        return yellow("clock", f"It is {abs(off):.0f} {way}.", do)
    return green("clock", "It is right.")
