"""From nothing to a first answer, as a person goes: ``kabar setup`` at a terminal, ``kabar doctor``, ``kabar run``."""

import json
import re
import time
from pathlib import Path
from typing import Any

from msgspec import Struct

from simulator import slack, telegram
from tests.cli.process import WAIT, kabar
from tests.cli.setup.stage import ANN, KEY, Stage, before_anything
from tests.cli.typist import Typist


class Told(Struct, frozen=True):
    """``questions`` were answered by typing, ``actions`` in a chat. ``seconds`` have nobody's thinking and typing in
    them. ``checks`` are the doctor's. ``screen`` is all that setup showed."""

    questions: int
    actions: int
    seconds: dict[str, float]
    checks: list[dict[str, Any]]
    answer: str
    screen: str


async def first_answer(folder: Path) -> Told:
    """With Telegram and Slack and Claude. Raises AssertionError where something else comes than a person expects."""
    began = time.perf_counter()
    async with before_anything(folder) as stage:
        async with stage.process() as person:
            await set_up(person, stage)
        is_set_up = time.perf_counter()
        async with kabar(folder, "doctor", "--json", settings=stage.settings) as doctor:
            await doctor.ends()
            checks = json.loads(doctor.output)["checks"]
        is_examined = time.perf_counter()
        async with kabar(folder, "run", settings=stage.settings):
            await stage.sends(ANN, "hello")
            answer = await stage.simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "Hello.", WAIT)
        ended = time.perf_counter()
    seconds = {"setup": is_set_up - began, "doctor": is_examined - is_set_up, "first_answer": ended - is_examined}
    return Told(person.answers, 1, seconds, checks, answer.text, person.output)


def transcript(screen: str) -> str:
    """What setup showed, as docs/setup.md has it: with another code, and the long link cut."""
    found = re.search(r"\?start=(\w+)", screen)
    assert found is not None
    shown = re.sub(r"(manifest_json=)\S+", r"\1…", screen.replace(found[1], "k7m2qx9wf4hd"))
    return "\n".join(line.rstrip() for line in shown.strip().splitlines())


async def set_up(person: Typist, stage: Stage) -> None:
    """Nothing is answered wrongly, and Ann becomes the owner."""
    await person.answers_to("Number", "3")
    await person.answers_to("Telegram token", telegram.TOKEN)
    await person.answers_to("Slack bot token", slack.BOT_TOKEN)
    await person.answers_to("Slack app-level token", slack.APP_TOKEN)
    await person.answers_to("Anthropic key", KEY)
    code = (await person.sees(r"\?start=(\w+)"))[1]
    await stage.sends(ANN, f"/start {code}")
    await person.sees("All is set")
    assert await person.ends() == 0, person.output
