"""``kabar doctor``: one list of green, yellow and red, with the next thing to do for each."""

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import msgspec
from botocore.exceptions import BotoCoreError

from bot.cli.doctor import address, aws, folder
from bot.cli.doctor.indonesian import INDONESIAN, STATES
from bot.cli.doctor.stack import read_stack
from bot.errors import ConfigError, StoreUnavailable
from bot.examining import Check, State, examined, red
from bot.ports import Clock
from handlers.aws import Aws
from handlers.bots import bot_settings, current_settings
from handlers.doctor import local, model, slack, telegram
from handlers.doctor.situation import situation
from handlers.door import aws_secrets
from handlers.settings import Settings

COLOURS: dict[State, str] = {"green": "32", "yellow": "33", "red": "31"}


class Wanted(msgspec.Struct, frozen=True):
    """``url`` is the public address and ``stack`` a stack on AWS, each "" where none is named. ``language`` is "en" or
    "id"; what programs read (``json``) is English in any."""

    url: str = ""
    stack: str = ""
    json: bool = False
    language: str = "en"


async def doctor(settings: Settings, wanted: Wanted, values: Mapping[str, str], clock: Clock) -> int:
    """Print the list; returns the exit code, 1 for any red. ``values`` are the environment's. Raises ConfigError where
    the stack can not be read."""
    checks = await diagnosed(settings, wanted, values, clock)
    if wanted.json:
        print(msgspec.json.encode({"checks": checks}).decode())
    else:
        print("\n".join(told(checks, wanted.language, colours=sys.stdout.isatty())))
    return 1 if any(check.state == "red" for check in checks) else 0


async def diagnosed(settings: Settings, wanted: Wanted, values: Mapping[str, str], clock: Clock) -> list[Check]:
    url = wanted.url
    if wanted.stack:
        settings, found = await asyncio.to_thread(_deployed, wanted.stack, settings)
        url = url or found
    settings, unread = await _with_secrets(settings)
    here = situation(settings, url, deployed=bool(wanted.stack), now=clock.now())
    subjects = {
        "machine": local.examine_machine(settings, here),
        "clock": local.examine_clock(settings, here),
        "people": local.examine_people(settings),
        "agent folder": folder.examine(Path(settings.kabar_agent_dir), values),
        "model": model.examine(settings),
        "telegram": telegram.examine(settings, here),
        "slack": slack.examine(settings, here, values.get("SLACK_CONFIG_TOKEN", "")),
        "address": address.examine(settings, here),
        "aws": aws.examine(settings, here),
    }
    return [*unread, *_no_platform(settings), *await examined(subjects)]


def told(checks: list[Check], language: str, *, colours: bool) -> list[str]:
    """A line for each check, one more for what to do, and how many of each there are."""
    states: Mapping[State, str] = {state: state for state in COLOURS}
    if language == "id":
        checks, states = [INDONESIAN.check(check) for check in checks], STATES
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        state = f"{states[check.state]:6}"
        shown = f"\033[{COLOURS[check.state]}m{state}\033[0m" if colours else state
        lines.append(f"{shown}  {check.name:{width}}  {check.says}")
        if check.next:
            lines.append(f"{'':6}  {'':{width}}  → {check.next}")
    counts = Counter(check.state for check in checks)
    return [*lines, "", ", ".join(f"{counts[state]} {states[state]}" for state in COLOURS)]


def _deployed(stack: str, settings: Settings) -> tuple[Settings, str]:
    """The settings of a stack's worker, asked for where these say AWS is."""
    environment, url = read_stack(settings.aws_endpoint_url, stack)
    return bot_settings({**environment, "AWS_ENDPOINT_URL": settings.aws_endpoint_url}, settings.kabar_bot), url


async def _with_secrets(settings: Settings) -> tuple[Settings, list[Check]]:
    """With those that lie in SSM, where a path to them is set."""
    if not settings.kabar_secrets_path:
        return settings, []
    try:
        with closing(Aws(settings.aws_endpoint_url)) as client:
            return current_settings(settings, await aws_secrets(settings, client).read()), []
    except (ConfigError, StoreUnavailable, BotoCoreError) as error:
        why = f"{str(error).rstrip('.')}."
        do = "Sign in to AWS as somebody who may ssm:GetParametersByPath and kms:Decrypt there."
        return settings, [red("secrets", f"{why} What lies there is not tried.", do)]


def _no_platform(settings: Settings) -> list[Check]:
    slack = (settings.slack_bot_token, settings.slack_client_id, settings.slack_app_token)
    if settings.telegram_bot_token or settings.slack_signing_secret or any(slack):
        return []
    do = "Run kabar setup. By hand: set TELEGRAM_BOT_TOKEN (from @BotFather), or SLACK_BOT_TOKEN and what goes with it."
    return [red("platforms", "Neither Telegram nor Slack is set up.", do)]
