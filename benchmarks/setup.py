"""From an empty folder to the first answer, with both platforms: what it asks of a person, and how long the machine
takes. Telegram, Slack and the model are played here by their real APIs; nobody's thinking and typing is in the seconds.
"""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from tests.cli.setup.first_answer import first_answer


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(first_answer(Path(folder)))
    states = [check["state"] for check in told.checks]
    return {
        "questions": told.questions,
        "actions_in_a_chat": told.actions,
        "seconds": {name: round(seconds, 2) for name, seconds in told.seconds.items()},
        "doctor": {state: states.count(state) for state in ("green", "yellow", "red")},
        "answered": bool(told.answer),
    }
