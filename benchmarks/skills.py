"""What skills cost: characters of every prompt for their list, and seconds of a start for reading them.

``usual`` have descriptions of 300 characters, ``longest`` of as many as the format allows; ``most`` is the bound of
every list. ``shown`` is how much is left of a description. A skill's text is 5,000 characters with links and code.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from bot.agentdir.skills import LONGEST_DESCRIPTION, MOST, read_skills
from bot.context import UNMEASURED
from bot.messages import encode
from bot.tools.skill import LISTED, listed, skill_tool

COUNTS = (1, 10, 50, MOST)
USUAL = 300
BODY = "Read [the form](form.md), then `count` what is in it.\n\n```\n@not.md\n```\n\n" * 70


def measure() -> dict[str, Any]:
    kinds = {"usual": USUAL, "longest": LONGEST_DESCRIPTION}
    return {"most": LISTED, **{kind: _by_count(length) for kind, length in kinds.items()}}


def _by_count(length: int) -> dict[str, Any]:
    return {str(count): _figures(count, length) for count in COUNTS}


def _figures(count: int, length: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            _write(Path(folder, f"skills/skill-number-{number:02}"), length)
        began = time.perf_counter()
        skills, faults = read_skills(Path(folder))
        seconds = time.perf_counter() - began
    tool, again = (encode(skill_tool(skills).definition()) for _ in range(2))
    list_ = listed(skills)
    shortest = min(len(line.partition(": ")[2]) for line in list_.splitlines())
    return {
        "skills": len(skills),
        "faults": len(faults),
        "list_characters": len(list_),
        "shown": shortest,
        "definition_bytes": len(tool),
        "definition_tokens_at_most": round(len(tool) / UNMEASURED),
        "same_bytes_each_time": tool == again,
        "read_seconds": round(seconds, 3),
    }


def _write(folder: Path, length: int) -> None:
    folder.mkdir(parents=True)
    words = "Does something for somebody, and is used when they ask for it. " * 20
    description = words[:length].strip().ljust(length, "x")
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {description}\n---\n{BODY}")
    (folder / "form.md").write_text("A form.")
