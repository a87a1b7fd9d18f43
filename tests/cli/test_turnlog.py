"""``kabar logs``: whoever has the reference that a person was shown finds what that turn did."""

import asyncio
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from bot import logs
from bot.adapters.anthropic_model import AnthropicModel, client
from bot.adapters.dynamodb_store import DynamoDBStore
from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.main import main
from bot.cli.turnlog.command import Wanted, show
from bot.clock import SystemClock
from bot.deadline import Deadline
from bot.errors import ConfigError
from bot.intake import accept
from bot.messages import Turn
from bot.ports import Change
from handlers.settings import read_settings
from simulator.model_reply import Refusal
from simulator.script import call, reply, scripted, text
from tests.bots import MODEL, Deeds, NoWake, bot_on, turns_of
from tests.cli.doctor.test_stack import physical
from tests.emulator import Account
from tests.packages.stack import create_stack
from tests.packages.template import read_template
from tests.recorder import WAIT, RecordingChannel
from tests.say import ANN, HERE, answered, asked, inbound

SAID = "a private question"
REFUSED = Refusal(400, "invalid_request_error", "no such thing")


async def page(wanted: Wanted, capsys: pytest.CaptureFixture[str], **settings: str) -> str:
    capsys.readouterr()
    await show(read_settings(settings), wanted, SystemClock())
    return capsys.readouterr().out


async def test_a_failed_turn_is_found_by_what_the_person_was_shown_and_nobodys_words_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "kabar.sqlite3"
    async with bot_on(data, call("calculator", {"expression": "6*7"}), REFUSED) as bot:
        await bot.hears(inbound(SAID))
        await bot.wakes()
        (shown,) = bot.channel.shown
    reference = re.search(r"Reference (\w{12})", shown) or re.search(r"\b([0-9a-f]{12})\b", shown)
    assert reference is not None

    told = await page(Wanted(f"(Reference {reference[1].upper()})"), capsys, KABAR_DATA=str(data))
    assert told.startswith(f"Turn {reference[1]} in telegram:1: failed\n")
    assert "1 model call in " in told
    assert "tool  calculator → done (" in told
    assert not {SAID, "6*7", "42"} & set(re.split(r"[^\w*]+", told)) and SAID not in told

    with_words = await page(Wanted(reference[1], content=True), capsys, KABAR_DATA=str(data))
    assert f"Ann: {SAID}" in with_words
    assert "6*7" in with_words

    read: dict[str, Any] = json.loads(await page(Wanted(reference[1], json=True), capsys, KABAR_DATA=str(data)))
    assert (read["id"], read["conversation"], read["turn"]["state"]) == (reference[1], "telegram:1", "failed")
    assert read["turn"]["steps"][0]["calls"][0]["arguments"] == ""


async def test_a_message_that_joined_another_ones_turn_leads_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, first, second = tmp_path / "kabar.sqlite3", inbound("price?", 1), inbound("in euros please", 2)
    async with bot_on(data, call("look", {"at": "long"}), text("In euros: 5.")) as bot:
        await bot.hears(first)
        running = asyncio.create_task(bot.wakes())
        await asyncio.wait_for(bot.deeds.reached.wait(), WAIT)
        await bot.hears(second)
        await bot.looks_twice()
        bot.deeds.gate.set()
        await running

    told = await page(Wanted(second.reference), capsys, KABAR_DATA=str(data))
    assert told.startswith(f"Turn {first.reference} in telegram:1: answered\n")
    assert f"The message {second.reference} was answered in it." in told
    assert "a person added to it" in told


async def test_a_turn_of_an_older_version_is_found_and_so_are_its_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, log, old = tmp_path / "kabar.sqlite3", tmp_path / "kabar.log", "3f09c1d27a4b"
    store = SQLiteStore(data, SystemClock())
    head = await store.claim(HERE.conversation, "me", 3_000_000_000_000)
    assert head is not None
    entries = (asked(SAID, turn=old), answered("Fine.", turn=old, took_ms=1_200))
    await store.commit(head, Change(entries=entries, turn=Turn(old, HERE, ANN, 1, 1), release=True))
    store.close()
    log.write_text(
        "INFO 2026-11-30 10:02:03,456 bot.beginning turn=<3f09c1d27a4b>, conversation=<telegram:1>, n=<1> | begins\n"
        "INFO 2026-11-30 10:02:04,000 bot.beginning turn=<aaaaaaaaaaaa>, conversation=<telegram:2> | begins\n"
        "[ERROR]\t2026-11-30T10:02:05.000Z\t1-2\tturn=<3f09c1d27a4b> | failed: no\nTraceback (most recent):\n"
    )

    told = await page(Wanted(old, files=(log,)), capsys, KABAR_DATA=str(data))
    assert "model   → end_turn (1.2 s" in told
    assert "  10:02:03.456  kabar.log   begins            n=1\n" in told
    assert "! 10:02:05.000  kabar.log   failed: no\n      Traceback" in told
    assert "aaaaaaaaaaaa" not in told


@pytest.mark.parametrize(
    ("reference", "said"), [("3f09c1d27a4b", "No turn in .* has the reference"), ("3f09", "copy it whole")]
)
async def test_what_is_not_known_is_said_with_what_to_do(tmp_path: Path, reference: str, said: str) -> None:
    settings = read_settings({"KABAR_DATA": str(tmp_path / "none.sqlite3")})
    with pytest.raises(ConfigError, match=said):
        await show(settings, Wanted(reference), SystemClock())


async def test_on_aws_the_log_of_each_function_and_the_record_are_told_as_one(
    aws: Account, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], written: io.StringIO
) -> None:
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
    table = _deploy_part(aws)
    clock, wake, channel = SystemClock(), NoWake(), RecordingChannel()
    store = DynamoDBStore(aws.client("dynamodb"), table, clock)
    logs.set_up("INFO", as_json=True, stack="kabar")
    script = reply(text(SAID), call("book", {"what": "nothing left"})), REFUSED
    async with scripted(*script) as model, client("key", model.url) as anthropic:
        claude, channels = AnthropicModel(anthropic, MODEL), {"telegram": channel}
        turns, _ = turns_of(store, channels, claude, Deeds().tools(), clock, wake)
        await accept(inbound(SAID), store, wake, clock)
        await accept(inbound("and another", 2), store, wake, clock)
        await turns.handle(HERE.conversation, Deadline(60))
    _put_into_the_log(aws, written)

    reference, other = dict.fromkeys(json.loads(line)["turn"] for line in written.getvalue().splitlines())
    told = await page(Wanted(reference, stack="kabar"), capsys, AWS_ENDPOINT_URL=aws.endpoint)
    assert told.startswith(f"Turn {reference} in telegram:1: failed\n")
    assert "tool  book → failed (" in told
    lines = [line[16:].split() for line in told.partition("Lines of the log, in UTC\n")[2].splitlines()]
    assert [line[:2] for line in lines if line[1] in ("stored", "begins", "tool", "failed:", "ended")] == [
        ["webhook", "stored"],
        ["webhook", "stored"],
        ["worker", "begins"],
        ["worker", "tool"],
        ["worker", "failed:"],
        ["worker", "ended"],
    ]
    assert SAID not in told
    assert "Waited" not in told

    told = await page(Wanted(other, stack="kabar"), capsys, AWS_ENDPOINT_URL=aws.endpoint)
    assert told.startswith(f"Turn {reference} in telegram:1: failed\nThe message {other} was answered in it.\n")

    settings = read_settings({"AWS_ENDPOINT_URL": aws.endpoint})
    with pytest.raises(ConfigError, match="No line of kabar's log in the last 3 days names 3f09c1d27a4b"):
        await show(settings, Wanted("3f09c1d27a4b", stack="kabar", days=3), clock)
    with pytest.raises(ConfigError, match="The log of the stack nowhere can not be read"):
        await show(settings, Wanted("3f09c1d27a4b", stack="nowhere"), clock)


def _deploy_part(aws: Account) -> str:
    """What is looked into, of infra/template.yaml; returns the table's name."""
    whole = read_template()["Resources"]
    resources = {name: whole[name] for name in ("Table", "WebhookLog", "WorkerLog")}
    worker = {
        "Code": {"ZipFile": "def handler(event, context): pass"},
        "Handler": "index.handler",
        "Runtime": "python3.13",
    }
    worker |= {
        "Role": "arn:aws:iam::000000000000:role/any",
        "Environment": {"Variables": {"KABAR_TABLE": {"Ref": "Table"}}},
    }
    resources["WorkerFunction"] = {"Type": "AWS::Lambda::Function", "Properties": worker}
    create_stack(aws, {"Parameters": {"LogDays": {"Type": "Number", "Default": 30}}, "Resources": resources}, {})
    return physical(aws, "Table")


def _put_into_the_log(aws: Account, written: io.StringIO) -> None:
    """Each line where its function would have written it."""
    client = aws.client("logs")
    groups = {name: physical(aws, name) for name in ("WebhookLog", "WorkerLog")}
    for group in groups.values():
        client.create_log_stream(logGroupName=group, logStreamName="one")
    now, lines = int(SystemClock().now() * 1000), written.getvalue().splitlines()
    for name, group in groups.items():
        own = (line for line in lines if (json.loads(line)["message"] in ("stored", "woken")) == (name == "WebhookLog"))
        events = [{"timestamp": now, "message": line} for line in own]
        client.put_log_events(logGroupName=group, logStreamName="one", logEvents=events)


def test_the_command_says_what_it_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["logs", "the one with the cat"]) == 1
    assert "kabar: A reference is twelve characters" in capsys.readouterr().err
