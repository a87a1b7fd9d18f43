"""Who has nothing but tokens has a bot that answers after five questions and one tap."""

import stat
from pathlib import Path

from tests.cli.setup.first_answer import first_answer, transcript
from tests.cli.setup.stage import ROOT, SECRETS

GUIDE = ROOT / "docs/setup.md"


async def test_five_questions_and_a_tap_lead_to_a_green_list_and_an_answer(tmp_path: Path) -> None:
    told = await first_answer(tmp_path)

    assert (told.questions, told.actions, told.answer) == (5, 1, "Hello.")
    assert [check for check in told.checks if check["state"] != "green"] == []
    assert [secret for secret in SECRETS if secret in told.screen] == []
    assert transcript(told.screen) in GUIDE.read_text()
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
