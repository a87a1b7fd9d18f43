"""``kabar export`` and ``kabar import``: processes on real files, and on a local AWS."""

import shutil
import sqlite3
import uuid
from pathlib import Path

import pytest

from bot.adapters.dynamodb_store import create_table
from bot.adapters.sqlite_store import SQLiteStore
from bot.clock import SystemClock
from bot.messages import Attachment, Reminder
from bot.schema import SCHEMA
from simulator.script import text
from tests.bots import bot_on
from tests.cli.process import kabar
from tests.emulator import Account
from tests.pictures import picture
from tests.say import ANN, HERE, NOW, inbound
from tests.test_archive import FIRST, next_request

PILL = Reminder("pppppppp", HERE, ANN, "Take the pill.", NOW + 90_000)
SECRETS = {
    "TELEGRAM_BOT_TOKEN": "42:telegram-secret",
    "SLACK_BOT_TOKEN": "xoxb-slack-secret",
    "ANTHROPIC_API_KEY": "sk-ant-secret",
}


@pytest.fixture
async def lived(tmp_path: Path) -> Path:
    folder = tmp_path / "lived"
    folder.mkdir()
    async with bot_on(folder / "kabar.sqlite3", text("Hello Ann.")) as bot:
        bot.channel.files["a"] = picture()
        await bot.hears(inbound("I am Ann", 1, attachments=(Attachment("photo", "a", "a.png"),)))
        await bot.wakes()
        await bot.store.put_reminder(PILL)
    return folder


def kept_in(folder: Path) -> dict[str, str]:
    return {"KABAR_DATA": str(folder / "kabar.sqlite3"), "KABAR_FILES": str(folder / "files")}


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def run(folder: Path, *arguments: str, settings: dict[str, str]) -> tuple[int, str]:
    async with kabar(folder, *arguments, settings=settings) as process:
        return await process.ends(), process.output


async def test_what_was_wiped_is_there_again_and_the_model_is_sent_the_same_bytes(tmp_path: Path, lived: Path) -> None:
    code, said = await run(tmp_path, "export", "--out", "all.jsonl", settings={**kept_in(lived), **SECRETS})
    assert code == 0
    assert "Exported 1 conversation with 2 entries and 1 file, 1 reminder, " in said
    file = tmp_path / "all.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    assert not any(secret in file.read_text() for secret in SECRETS.values())
    shutil.copytree(lived, tmp_path / "control")
    shutil.rmtree(lived)
    code, said = await run(tmp_path, "import", "all.jsonl", settings=kept_in(lived))
    assert (code, said.startswith("Imported 1 conversation with 2 entries and 1 file, ")) == (0, True)
    assert await next_request(lived) == await next_request(tmp_path / "control")


async def test_from_sqlite_to_dynamodb_and_back_gives_equal_files(tmp_path: Path, lived: Path, aws: Account) -> None:
    create_table(aws.client("dynamodb"), "kabar")
    aws.client("scheduler").create_schedule_group(Name="reminders")
    cloud = {
        **aws.environment,
        "KABAR_TABLE": "kabar",
        "KABAR_BUCKET": aws.bucket(),
        "KABAR_SCHEDULE_GROUP": "reminders",
        "KABAR_SCHEDULE_ROLE": "arn:aws:iam::000000000000:role/scheduler",
        "KABAR_SCHEDULE_TARGET": "arn:aws:lambda:eu-central-1:000000000000:function:kabar",
    }
    back = kept_in(tmp_path / "back")
    for arguments, settings in (
        (("export", "--out", "1.jsonl"), kept_in(lived)),
        (("import", "1.jsonl"), cloud),
        (("export", "--out", "2.jsonl"), cloud),
        (("import", "2.jsonl"), back),
        (("export", "--out", "3.jsonl", "--chat", HERE.conversation), back),
    ):
        code, said = await run(tmp_path, *arguments, settings=settings)
        assert code == 0, said
    first, second, third = ((tmp_path / f"{name}.jsonl").read_bytes().splitlines()[1:] for name in (1, 2, 3))
    assert first == second == third
    schedules = aws.client("scheduler").list_schedules(GroupName="reminders")["Schedules"]
    assert len(schedules) == 1
    assert not (tmp_path / ".data").exists()


async def test_of_a_damaged_file_nothing_is_imported_and_each_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"".join(FIRST).replace(b'"said"', b"said").replace(b"aGVsbG8K", b"aGVsbG9K"))
    code, said = await run(tmp_path, "import", "bad.jsonl", settings=kept_in(tmp_path))
    assert code == 1
    assert "bad.jsonl:4: This file is not the one" in said
    assert "bad.jsonl:5: This line is damaged" in said
    assert not (tmp_path / "kabar.sqlite3").exists()


async def test_what_is_there_already_is_kept_and_named_and_replaced_only_when_asked(
    tmp_path: Path, lived: Path
) -> None:
    (tmp_path / "first.jsonl").write_bytes(b"".join(FIRST))
    code, said = await run(tmp_path, "import", "first.jsonl", settings=kept_in(lived))
    assert (code, "Kept as they are, with another record: telegram:1" in said) == (1, True)
    code, said = await run(tmp_path, "import", "first.jsonl", "--replace", settings=kept_in(lived))
    assert code == 0, said
    store = SQLiteStore(lived / "kabar.sqlite3", SystemClock())
    assert len(await store.record("telegram:1", 1)) == 2
    assert [each.id for each in await store.reminders("telegram:1")] == ["aaaaaaaa"]
    store.close()


async def test_without_a_file_named_it_is_written_where_it_can_be_piped(tmp_path: Path, lived: Path) -> None:
    code, said = await run(tmp_path, "export", settings=kept_in(lived))
    assert (code, said.startswith('{"kabar":')) == (0, True)
    code, said = await run(tmp_path, "export", "--chat", "telegram:77", "--out", "x", settings=kept_in(lived))
    assert (code, "No conversation is called telegram:77" in said) == (1, True)
    assert names_in(tmp_path) == ["lived"]
    code, said = await run(tmp_path, "export", "--chat", "telegram:77", settings=kept_in(lived))
    assert (code, said) == (1, "kabar: No conversation is called telegram:77, or begins with it.\n")


async def test_what_can_not_be_read_or_written_is_said_in_one_sentence(tmp_path: Path, lived: Path) -> None:
    nowhere = str(tmp_path / uuid.uuid4().hex / "all.jsonl")
    for arguments, settings, words in (
        (("import", nowhere), kept_in(lived), "can not be read"),
        (("export", "--out", nowhere), kept_in(lived), "can not be written"),
        (("export",), {}, "Nothing to export: there is no file .data/kabar.sqlite3"),
    ):
        code, said = await run(tmp_path, *arguments, settings=settings)
        assert (code, words in said, "Traceback" in said) == (1, True, False), said


async def test_what_an_earlier_version_kept_is_rewritten_once_and_answered_from_as_before(
    tmp_path: Path, lived: Path
) -> None:
    database = sqlite3.connect(lived / "kabar.sqlite3")
    mark = f',"v":{SCHEMA}}}'
    database.execute("UPDATE record SET entry = CAST(replace(entry, ?, '}') AS BLOB)", (mark,))
    database.commit()
    database.close()

    assert await run(tmp_path, "migrate", "--check", settings=kept_in(lived)) == (
        1,
        f"5 values; 2 of an earlier schema are to be rewritten as schema {SCHEMA}.\n",
    )
    assert (await run(tmp_path, "migrate", settings=kept_in(lived)))[0] == 0
    assert await run(tmp_path, "migrate", "--check", settings=kept_in(lived)) == (
        0,
        f"5 values; 0 of an earlier schema are to be rewritten as schema {SCHEMA}.\n",
    )


async def test_there_is_nothing_to_migrate_where_nothing_was_kept(tmp_path: Path) -> None:
    code, said = await run(tmp_path, "migrate", settings=kept_in(tmp_path))
    assert (code, "Nothing to migrate" in said, names_in(tmp_path)) == (1, True, [])
