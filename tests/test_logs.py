"""What is logged holds no secret, whoever logs it."""

import io
import logging
from collections.abc import Iterator

import httpx
import pytest

from bot import logs

TELEGRAM = "123456789:AAE" + "x" * 32
SLACK = "-".join(["xoxb", "1234567890", "abcdefABCDEF"])
SLACK_APP = "-".join(["xapp", "1", "A0123", "abcdef"])
SEARCH = "-".join(["tvly", "dev", "abcdefgh"])
MODEL = "-".join(["sk", "ant", "api03", "abcdefgh"])


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the root logger writes, set up as the bot does it; as before afterwards."""
    root, stream = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    root.handlers[:] = [logging.StreamHandler(stream)]
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


@pytest.mark.parametrize(
    "secret", [TELEGRAM, SLACK, SLACK_APP, MODEL, SEARCH, f"Bearer {MODEL}", TELEGRAM.replace(":", "%3A")]
)
def test_a_secret_is_cut_out_of_any_line(written: io.StringIO, secret: str) -> None:
    logs.set_up("INFO", content=True)
    logging.getLogger("some.library").info("POST https://api.example/bot%s/getMe", secret)
    assert secret not in written.getvalue()
    assert "[secret]" in written.getvalue()


def test_a_secret_is_cut_out_of_a_traceback(written: io.StringIO) -> None:
    logs.set_up("INFO")
    try:
        raise httpx.ConnectError(f"no route to https://api.example/bot{TELEGRAM}/getMe")
    except httpx.ConnectError:
        logging.getLogger("bot.anything").exception("failed")
    assert TELEGRAM not in written.getvalue()
    assert "ConnectError" in written.getvalue()


def test_libraries_write_no_addresses_whatever_the_level(written: io.StringIO) -> None:
    logs.set_up("debug")
    for name in logs.QUIET:
        logging.getLogger(name).info("HTTP Request: POST https://api.example")
    assert written.getvalue() == ""


def test_ids_and_clock_times_are_left_alone() -> None:
    line = "conversation=<telegram:-1001234567890>, id=<m12>, at=<12:30:45>, turn=<0123456789ab>"
    assert logs.redact(line) == line


def test_setting_up_twice_redacts_once(written: io.StringIO) -> None:
    logs.set_up("INFO")
    logs.set_up("INFO")
    logging.getLogger("bot").info("token %s", MODEL)
    assert written.getvalue().count("[secret]") == 1
