"""Votes in chats become drafts of tasks that name nobody."""

import asyncio
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.evals.tasks import read_tasks
from bot.cli.evals.votes import WARNING
from bot.cli.main import main
from bot.clock import SystemClock
from bot.messages import (
    Answered,
    Asked,
    Attachment,
    Ended,
    Entry,
    Inbound,
    Person,
    Place,
    Quote,
    Reply,
    Returned,
    Voted,
)
from bot.ports import Change

PLACE = Place("slack:T1:C9:170.1", "C9", "170.1", "T1", group=True)
RINA = Person("slack:T1:U77", "Rina Wijaya", "id")
TOM = Person("slack:T1:U88", "Tom", "en")


def said(number: int, text: str, by: Person = RINA) -> Inbound:
    return Inbound(
        PLACE, f"m{number}", f"{number:04}", by, 1_900_000_000 + number, text=text, native_id=f"170.{number}"
    )


def turn(name: str, question: Inbound, answer: str) -> tuple[Entry, ...]:
    return Asked(name, (question,)), Answered(name, Reply([{"type": "text", "text": answer}], "end_turn"))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a store, where no setting says anything else."""
    monkeypatch.chdir(tmp_path)
    for name in ("KABAR_DATA", "KABAR_TABLE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def record(folder: Path, *entries: Entry, conversation: str = PLACE.conversation) -> None:
    asyncio.run(_record(folder, entries, conversation))


async def _record(folder: Path, entries: tuple[Entry, ...], conversation: str) -> None:
    store = SQLiteStore(folder / ".data/kabar.sqlite3", SystemClock())
    head = await store.claim(conversation, "test", 2**42)
    assert head is not None
    await store.commit(head, Change(entries, release=True))
    store.close()


def drafts(folder: Path, *options: str) -> list[Path]:
    assert main(["eval", "from-votes", "--folder", str(folder / "evals"), *options]) == 0
    return sorted((folder / "evals/drafts").glob("*.yaml"))


def kinds(files: Sequence[Path]) -> list[str]:
    return sorted(file.stem.rpartition("-")[2] for file in files)


def conversation() -> Sequence[Entry]:
    return (
        *turn("t1", said(1, "Hi <@U0BOT>, I am Rina, write to rina@example.com"), "Hello!"),
        *turn("t2", replace(said(2, "My number is +62 812 3456 7890", TOM), quote=Quote("ask <@U77>")), "Noted."),
        Voted("t2", RINA.id, good=False),
        *turn("t3", said(3, "Later words"), "Later answer"),
    )


def test_a_bad_answer_becomes_a_task_with_the_conversation_up_to_it(kept: Path) -> None:
    record(kept, *conversation())
    [draft] = drafts(kept)
    [task] = read_tasks(kept / "evals", chosen="drafts")

    assert draft.name.endswith("-bad.yaml")
    assert [(each.by, each.answer) for each in task.script.earlier] == [("person1", "Hello!")]
    assert [(step.by, step.quote and step.quote.text) for step in task.script.steps] == [("person2", "ask (removed)")]
    assert {step.group for step in task.script.steps} == {each.group for each in task.script.earlier} == {"chat"}
    assert "Noted." in task.script.rubric
    assert "Later" not in draft.read_text()
    assert [(key, each.language) for key, each in task.script.people.items()] == [("person1", "id"), ("person2", "en")]


def test_votes_are_taken_by_kind(kept: Path) -> None:
    record(kept, *turn("a", said(1, "one"), "1"), Voted("a", RINA.id, good=True))
    record(kept, *turn("b", said(1, "two"), "2"), Voted("b", RINA.id, good=False), conversation="telegram:5")

    assert kinds(drafts(kept, "--bad")) == ["bad"]
    assert kinds(drafts(kept, "--good")) == ["bad", "good"]


def test_the_newest_of_somebody_s_votes_counts_and_one_bad_vote_makes_it_bad(kept: Path) -> None:
    record(
        kept,
        *turn("a", said(1, "one"), "1"),
        *(Voted("a", RINA.id, good=False), Voted("a", RINA.id, good=True)),
        *turn("b", said(2, "two"), "2"),
        *(Voted("b", RINA.id, good=True), Voted("b", TOM.id, good=False)),
    )

    found = {yaml.safe_load(each.read_text())["steps"][0]["say"]: kinds([each]) for each in drafts(kept)}
    assert found == {"one": ["good"], "two": ["bad"]}


def test_a_draft_that_somebody_works_on_is_left_as_it_is(kept: Path) -> None:
    record(kept, *turn("a", said(1, "one"), "1"), Voted("a", RINA.id, good=True))
    [draft] = drafts(kept)
    draft.write_text("mine")

    assert [each.read_text() for each in drafts(kept)] == ["mine"]


def test_what_was_taken_back_is_not_told_and_files_are_named_by_their_kind_only(kept: Path) -> None:
    file = Attachment("document", "F123", "salary of Tom.pdf", "application/pdf", blob="slack/abc")
    record(
        kept,
        *turn("a", said(1, "forget this"), "never"),
        Ended("a", "undone"),
        Asked("b", (replace(said(2, "read it"), attachments=(file,)),)),
        Answered("b", Reply([{"type": "tool_use", "id": "x", "name": "calculator", "input": {}}], "tool_use")),
        Returned("b", ({"type": "tool_result", "tool_use_id": "x", "content": "secret result"},)),
        Answered("b", Reply([{"type": "text", "text": "It is long."}], "end_turn")),
        Voted("b", RINA.id, good=True),
    )
    [draft] = drafts(kept)
    task = yaml.safe_load(draft.read_text())

    assert "earlier" not in task
    assert task["steps"] == [{"by": "person1", "group": "chat", "say": "(a file was here: application/pdf)\nread it"}]
    for word in ("salary", "secret result", "F123", "abc"):
        assert word not in draft.read_text()


def test_nothing_is_written_where_nobody_voted(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(kept, *turn("a", said(1, "one"), "1"))

    assert drafts(kept) == []
    assert "There is no vote" in capsys.readouterr().err
    assert not (kept / "evals").exists()


def test_without_a_local_store_none_is_made(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "from-votes"]) == 1
    assert "nobody has voted here" in capsys.readouterr().err
    assert not (kept / ".data").exists()


def test_a_store_on_aws_is_not_read(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KABAR_TABLE", "kabar")

    assert main(["eval", "from-votes"]) == 1
    assert "KABAR_TABLE" in capsys.readouterr().err


def test_a_draft_warns_and_names_no_ids_mentions_addresses_or_numbers(kept: Path) -> None:
    record(kept, *conversation())
    [draft] = drafts(kept)
    text = draft.read_text()

    assert text.startswith(f"# {WARNING}\n")
    for word in ("U77", "U88", "T1", "C9", "170.", "U0BOT", "rina@", "3456", "Wijaya"):
        assert word not in text.removeprefix(f"# {WARNING}\n"), word
    assert "I am Rina" in text  # the words themselves are real: that is what the warning is for
    assert stat.S_IMODE(draft.stat().st_mode) == 0o600
