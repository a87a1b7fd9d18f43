"""Every way in which the doctor's tests make a set-up wrong, and what the doctor says of it: the check, its colour,
what is so and what to do next. ``named`` is how many it names with the right next step, of ``wrong`` in all.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pytest import MonkeyPatch

from bot.examining import Check
from tests.cli.doctor import test_misconfigured as local
from tests.cli.doctor import test_stack as deployed
from tests.cli.doctor.stage import polling, webhooks
from tests.emulator import running_emulator

Case = local.Case | deployed.Case


def measure() -> dict[str, Any]:
    found = asyncio.run(_found())
    colours = Counter(each["state"] for each in found)
    return {"wrong": len(found), "named": sum(each["named"] for each in found), "colours": colours, "each": found}


async def _found() -> list[dict[str, Any]]:
    return [_told(case, check) for each in (_here(), _on_aws()) async for case, check in each]


async def _here() -> AsyncIterator[tuple[Case, Check]]:
    for case in (*local.ANYWHERE, *local.POLLING, *local.WEBHOOKS):
        way = webhooks if case in local.WEBHOOKS else polling
        with tempfile.TemporaryDirectory() as folder, MonkeyPatch.context() as patch:
            patch.chdir(folder)
            async with way(Path(folder)) as stage:
                case.do(stage)
                yield case, await stage.check(case.check)


async def _on_aws() -> AsyncIterator[tuple[Case, Check]]:
    with running_emulator() as emulator:
        for cases in deployed.ROUNDS:
            with emulator.account() as account, MonkeyPatch.context() as patch:
                for name, value in account.environment.items():
                    patch.setenv(name, value)
                stack = deployed.Broken(account)
                for case in cases:
                    case.do(stack)
                checks = await stack.checks()
                for case in cases:
                    yield case, checks[case.check]


def _told(case: Case, check: Check) -> dict[str, Any]:
    named = check.state == case.state and case.next in check.next
    said = {"check": check.name, "state": check.state, "says": check.says, "next": check.next}
    return {"wrong": case.id, **said, "named": named}
