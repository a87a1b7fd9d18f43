"""What is logged holds no secret, whoever logs it."""

import io
import json
import logging
import re
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from bot import logs
from bot.errors import StoreUnavailable
from bot.logs import about
from bot.metrics import METRICS, tell
from scripts.imports import ROOT

TELEGRAM = "123456789:AAE" + "x" * 32
SLACK = "-".join(["xoxb", "1234567890", "abcdefABCDEF"])
SLACK_APP = "-".join(["xapp", "1", "A0123", "abcdef"])
SEARCH = "-".join(["tvly", "dev", "abcdefgh"])
MODEL = "-".join(["sk", "ant", "api03", "abcdefgh"])


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


log = logging.getLogger("bot.anything")


def objects(written: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_on_aws_a_line_is_one_object_with_its_keys_as_members(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    with about(turn="0123456789ab", conversation="telegram:42"):
        log.warning("tool=<%s>, ms=<%d>, wait=<%.1f> | called, to the %s", "calculator", 12, 0.5, "end")

    (line,) = objects(written)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "WARNING",
        "logger": "bot.anything",
        "message": "called, to the end",
        "turn": "0123456789ab",
        "conversation": "telegram:42",
        "tool": "calculator",
        "ms": 12,
        "wait": 0.5,
    }


def test_on_a_laptop_the_same_line_is_one_for_people(written: io.StringIO) -> None:
    logs.set_up("INFO")
    with about(turn="0123456789ab"):
        log.info("tool=<%s>, ms=<%d> | called", "calculator", 12)

    assert written.getvalue().endswith(" bot.anything turn=<0123456789ab>, tool=<calculator>, ms=<12> | called\n")


def test_what_lines_are_about_ends_with_its_block_and_can_be_taken_back(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    with about(turn="a", conversation="c"):
        with about(turn="b"):
            log.info("inside")
        with about(turn=""):
            log.info("taken back")
        log.info("after")
    log.info("outside")

    named = [(line["message"], line.get("turn"), line.get("conversation")) for line in objects(written)]
    assert named == [("inside", "b", "c"), ("taken back", None, "c"), ("after", "a", "c"), ("outside", None, None)]


def test_no_value_is_taken_for_a_key(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    log.info("id=<%s>, error=<%s> | kept", "x>, turn=<forged> | y", 'a "quote"\nand a line')

    (line,) = objects(written)
    assert (line["id"], line["error"]) == ("x>, turn=<forged> | y", 'a "quote"\nand a line')
    assert (line["message"], "turn" in line) == ("kept", False)


def test_a_line_that_measures_is_in_the_embedded_metric_format(written: io.StringIO) -> None:
    logs.set_up("ERROR", as_json=True, stack="prod", all_metrics=True)  # metrics come at every level
    tell({"ToolErrors": 1, "Cost": 0.25}, "tool=<%s> | called", "made up", by="none")

    (line,) = objects(written)
    assert line.pop("time")
    assert isinstance(line["_aws"].pop("Timestamp"), int)
    cost, errors = {"Name": "Cost", "Unit": "None"}, {"Name": "ToolErrors", "Unit": "Count"}
    assert line == {
        "level": "INFO",
        "logger": "bot.metrics",
        "message": "called",
        "tool": "made up",
        "Stack": "prod",
        "Tool": "none",
        "ToolErrors": 1,
        "Cost": 0.25,
        "_aws": {
            "CloudWatchMetrics": [
                {"Namespace": "Kabar", "Dimensions": [["Stack"]], "Metrics": [errors, cost]},
                {"Namespace": "Kabar", "Dimensions": [["Stack", "Tool"]], "Metrics": [errors]},
            ]
        },
    }


def test_unless_all_is_to_be_counted_only_what_is_free_is_and_the_rest_stands_in_the_line(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True, stack="prod")
    tell({"ToolErrors": 1, "Cost": 0.25}, "called", by="calculator")
    tell({"Refused": 1}, "refused", by="401")
    tell({"ModelRetries": 1}, "again")

    called, turned_away, again = objects(written)
    cost, status = {"Name": "Cost", "Unit": "None"}, {"Name": "Refused", "Unit": "Count"}
    assert called["_aws"]["CloudWatchMetrics"] == [{"Namespace": "Kabar", "Dimensions": [["Stack"]], "Metrics": [cost]}]
    assert turned_away["_aws"]["CloudWatchMetrics"] == [
        {"Namespace": "Kabar", "Dimensions": [["Stack", "Status"]], "Metrics": [status]}
    ]
    assert (called["Tool"], called["ToolErrors"]) == ("calculator", 1)
    assert (again["ModelRetries"], again.get("_aws")) == (1, None)


def test_without_a_deployment_nothing_is_measured(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    tell({"Refused": 1}, "status=<%d> | refused", 401, by="401")

    (line,) = objects(written)
    assert (line["status"], set(line) & {"_aws", *METRICS}) == (401, set())


def test_a_library_says_what_happened_but_not_about_whom(written: io.StringIO) -> None:
    logs.set_up("INFO")
    library = logging.getLogger("some.library")
    library.warning("retry %d of %s\nbody: secret plan", 3, "my secret plan")
    library.warning("%(who)s came %(times)d times", {"who": "Ann", "times": 2})
    library.warning("%d came", "Ann")

    told = [line.partition("some.library ")[2] for line in written.getvalue().splitlines()]
    assert told == ["retry 3 of …", "… came 2 times", "%d came"]


def test_a_traceback_says_where_it_happened_and_quotes_nobody(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": "not dynamodb:PutItem"}}, "PutItem")
    try:
        try:
            int("my secret plan")
        except ValueError as error:
            raise ExceptionGroup("my secret plan", [KeyError("my secret plan"), denied]) from error
    except ExceptionGroup:
        log.exception("conversation=<%s> | failed", "telegram:1")
    try:
        raise StoreUnavailable("the table is not there")
    except StoreUnavailable:
        log.exception("conversation=<%s> | failed", "telegram:1")

    group, ours = (line["trace"] for line in objects(written))
    shown = "\n".join(line for line in group.splitlines() if not line.startswith("    "))  # but for our own source
    assert "my secret plan" not in shown
    assert "ValueError\nwhich led to:\n" in shown
    assert "KeyError\n" in shown
    assert "not dynamodb:PutItem" in shown
    assert "test_logs.py" in shown
    assert ours.endswith("StoreUnavailable: the table is not there")


def test_words_are_written_only_where_an_owner_wished_it_and_then_the_log_says_so(written: io.StringIO) -> None:
    logs.set_up("INFO")
    logs.words.info("text=<%s> | a person wrote", "my secret plan")
    assert written.getvalue() == ""

    logs.set_up("INFO", content=True)
    logs.words.info("text=<%s> | a person wrote", f"my secret plan and {MODEL}")
    assert "WARNING" in written.getvalue().splitlines()[0]
    assert "text=<my secret plan and [secret]>" in written.getvalue()


def test_no_line_of_ours_has_a_key_that_every_line_has() -> None:
    taken = {"time", "level", "logger", "message", "request", "trace", "turn", "subagent", "Stack", *METRICS}
    sources = [file for top in ("bot", "handlers") for file in (ROOT / top).rglob("*.py")]
    heads = [re.findall(r'"([^"]*=<[^"]*) \| ', file.read_text()) for file in sources]
    keys = {key for found in heads for head in found for key, _ in logs.KEYED.findall(head)}

    assert len(keys) > 40
    assert keys & taken == set()


def test_who_tells_of_an_exception_tells_what_it_was_about(written: io.StringIO) -> None:
    logs.set_up("INFO", as_json=True)
    for _ in range(2):
        try:
            with about(conversation="telegram:1", turn=""), about(turn="0123456789ab"):
                raise StoreUnavailable("overloaded")
        except StoreUnavailable as error:
            log.warning("error=<%s> | again in a moment", error)
            log.exception("tries=<%d> | failed", 1)
    log.warning("error=<%s> | of another time", "overloaded")

    told = [(line.get("turn"), line.get("conversation")) for line in objects(written)]
    assert told == [("0123456789ab", "telegram:1")] * 4 + [(None, None)]


def test_a_value_never_looks_like_a_line_of_its_own(written: io.StringIO) -> None:
    logs.set_up("INFO")
    log.info("error=<%s> | kept", "one\nERROR 2026-11-30 bot.turn turn=<forged> | failed")

    assert len(written.getvalue().splitlines()) == 1
