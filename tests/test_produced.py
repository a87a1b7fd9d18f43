"""Code that the provider runs, in whole turns: what it makes reaches the person, and its container goes on."""

from pathlib import Path
from typing import Any

import pytest

from bot.approvals import is_tainted
from bot.errors import StoreUnavailable
from bot.messages import Attachment, Entry, Fetched, Inbound, Json
from bot.ports import Change
from bot.produced import MOST, PAUSE, TRIES, unfetched
from bot.toolkit import Toolbox
from bot.turn import Outcome
from simulator.script import call, ran, reply, text, thinking
from tests.bots import AnHourAhead, Bot, bot_on
from tests.pictures import PNG
from tests.say import answered, asked, inbound, returned

DRAW = 'python plot.py && cp plot.png "$OUTPUT_DIR"'
TABLE = b"a,b\n1,2\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


async def say_each(bot: Bot, *lines: str) -> None:
    for number, line in enumerate(lines, start=1):
        await bot.hears(inbound(line, number))
        assert await bot.wakes() == Outcome()


def with_table(bot: Bot, line: str = "add it up", number: int = 1) -> Inbound:
    bot.channel.files["F1"] = TABLE
    return inbound(line, number, attachments=(Attachment("document", "F1", "sums.csv", "text/csv"),))


def tools_of(request: Json) -> list[str]:
    return [tool["name"] for tool in request["tools"]]


def kinds(message: Json) -> list[str]:
    return [block["type"] for block in message["content"]]


def put_in(request: Json) -> list[str]:
    blocks = (block for message in request["messages"] for block in message["content"])
    return [block["file_id"] for block in blocks if block["type"] == "container_upload"]


def containers(bot: Bot) -> list[str]:
    return [request.get("container", "") for request in bot.model.requests]


# What it makes


async def test_a_plot_comes_back_as_a_picture_with_the_answer(path: Path) -> None:
    drawn = reply(text("I draw it."), *ran(DRAW, "saved", made={"plot.png": PNG}), text("Here it is."))
    async with bot_on(path, drawn, code=True) as bot:
        await say_each(bot, "plot it")
        assert bot.channel.shown == ["I draw it.\n\nHere it is.", "[plot.png]"]
        (sent,) = bot.channel.uploads
        assert (sent.name, sent.media_type, sent.data) == ("plot.png", "image/png", PNG)
        assert {"code_execution", "upload_files"} <= set(tools_of(bot.model.requests[0]))
        assert "run_python" not in tools_of(bot.model.requests[0])


async def test_what_code_made_is_a_file_of_the_chat_that_can_be_looked_at_later(path: Path) -> None:
    drawn = reply(*ran(DRAW, made={"plot.png": PNG, "data.csv": TABLE}), text("Done."))
    look = reply(call("read_file", {"name": "plot.png"}), call("read_file", {"name": "data.csv"}))
    async with bot_on(path, drawn, look, text("A line."), code=True) as bot:
        await say_each(bot, "plot it", "what is on it?")
        picture, table = bot.model.requests[2]["messages"][-1]["content"]
        assert [block["type"] for block in picture["content"]] == ["text", "image"]
        assert TABLE.decode() in table["content"]
        assert [sent.name for sent in bot.channel.uploads] == ["plot.png", "data.csv"]


async def test_the_model_is_not_shown_that_files_were_fetched(path: Path) -> None:
    drawn = reply(thinking("A plot, then."), *ran(DRAW, made={"plot.png": PNG}), text("Done."))
    async with bot_on(path, drawn, text("You are welcome."), code=True) as bot:
        await say_each(bot, "plot it", "thanks")
        assert [kinds(message) for message in bot.model.requests[1]["messages"]] == [
            ["text", "text"],
            ["server_tool_use", "bash_code_execution_tool_result", "text"],
            ["text", "text"],
        ]
        entries = await bot.entries()
        assert [type(entry).__name__ for entry in entries] == ["Asked", "Answered", "Fetched", "Asked", "Answered"]


async def test_a_crash_between_a_reply_and_its_files_loses_nothing_and_repeats_no_call(path: Path) -> None:
    def brings_files(change: Change) -> bool:
        return any(isinstance(entry, Fetched) for entry in change.entries)

    async with bot_on(path, reply(*ran(DRAW, made={"plot.png": PNG}), text("Here.")), code=True) as bot:
        bot.store.fails_at = brings_files
        await bot.hears(inbound("plot it"))
        with pytest.raises(StoreUnavailable):
            await bot.wakes()
        assert bot.channel.uploads == []
        kept_there = bot.model.workspace.files
    async with bot_on(path, code=True, clock=AnHourAhead()) as later:
        later.model.workspace.files = kept_there
        assert await later.wakes() == Outcome()
        assert later.channel.shown == ["Here.", "[plot.png]"]
        assert sum(isinstance(entry, Fetched) for entry in await later.entries()) == 1
        assert await later.wakes() == Outcome()
        assert len(later.channel.uploads) == 1


async def test_a_file_that_is_written_again_in_a_turn_is_sent_as_it_was_last(path: Path) -> None:
    first, second = ran(DRAW, made={"plot.png": b"wrong"}), ran(DRAW, made={"plot.png": PNG, "notes.txt": b"n"})
    async with bot_on(path, reply(*first, text("Hm."), *second, text("Better.")), code=True) as bot:
        await say_each(bot, "plot it")
        assert [(sent.name, sent.data) for sent in bot.channel.uploads] == [("plot.png", PNG), ("notes.txt", b"n")]


async def test_more_files_than_anybody_reads_are_named_and_not_sent(path: Path) -> None:
    made = {f"{number:02d}.txt": b"x%d" % number for number in range(MOST + 2)}
    async with bot_on(path, reply(*ran("split", made=made), text("Split.")), code=True) as bot:
        await say_each(bot, "split it")
        assert [sent.name for sent in bot.channel.uploads] == [f"{number:02d}.txt" for number in range(2, MOST + 2)]
        assert bot.channel.shown[0] == "Split.\n\nA file could not be sent here: 00.txt, 01.txt"


async def test_a_file_that_is_no_longer_there_is_told_and_the_answer_comes_all_the_same(path: Path) -> None:
    async with bot_on(path, reply(*ran(DRAW, made={"a.txt": b"a", "b.txt": b"b"}), text("Done.")), code=True) as bot:
        bot.store.fails_at = lambda change: bot.model.workspace.files.pop(f"file_{1:024}", None) is None and False
        await say_each(bot, "write it")
        assert [sent.name for sent in bot.channel.uploads] == ["b.txt"]
        assert bot.channel.shown[0] == "Done.\n\nA file could not be sent here: ?"


async def test_a_provider_that_does_not_answer_is_asked_again_later_and_not_for_ever(path: Path) -> None:
    async with bot_on(path, reply(*ran(DRAW, made={"plot.png": PNG}), text("Done.")), code=True) as bot:
        bot.model.workspace.is_down = True
        await bot.hears(inbound("plot it"))
        for _ in range(TRIES):
            assert (await bot.wakes()).again_in == PAUSE
            assert bot.channel.uploads == []
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Done.\n\nA file could not be sent here: ?"]
        assert len(bot.model.requests) == 1


async def test_a_provider_that_comes_back_hands_over_what_it_kept(path: Path) -> None:
    async with bot_on(path, reply(*ran(DRAW, made={"plot.png": PNG}), text("Done.")), code=True) as bot:
        bot.model.workspace.is_down = True
        await bot.hears(inbound("plot it"))
        assert (await bot.wakes()).again_in == PAUSE
        bot.model.workspace.is_down = False
        assert await bot.wakes() == Outcome()
        assert bot.channel.shown == ["Done.", "[plot.png]"]


async def test_files_made_before_a_pause_and_before_our_own_tools_are_all_fetched(path: Path) -> None:
    paused = reply(*ran("one", made={"1.txt": b"1"}), stop_reason="pause_turn")
    calls = reply(*ran("two", made={"2.txt": b"2"}), call("calculator", {"expression": "1+1"}))
    async with bot_on(path, paused, calls, text("Both."), code=True) as bot:
        await say_each(bot, "count")
        assert [sent.name for sent in bot.channel.uploads] == ["1.txt", "2.txt"]
        assert bot.model.requests[1]["messages"][-1]["role"] == "assistant"  # it went on where it paused


async def test_a_call_that_our_own_tools_interrupt_is_gone_on_with_after_them(path: Path) -> None:
    command, result = ran("slow", "42", id="srvtoolu_slow")
    both = reply(command, call("calculator", {"expression": "1+1"}))
    async with bot_on(path, both, reply(result, text("42 and 2.")), text("Welcome."), code=True) as bot:
        await say_each(bot, "both", "thanks")
        assert [kinds(message) for message in bot.model.requests[2]["messages"]][1:4] == [
            ["server_tool_use", "tool_use"],
            ["tool_result"],
            ["bash_code_execution_tool_result", "text"],
        ]


def test_only_what_no_entry_settled_is_fetched() -> None:
    def made(*ids: str) -> Entry:
        left = [{"type": "bash_code_execution_output", "file_id": id} for id in ids]
        content = {"type": "bash_code_execution_result", "stdout": "", "stderr": "", "return_code": 0, "content": left}
        return answered({"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": content})

    assert unfetched([asked(), made("a", "b"), Fetched("t", ("a",)), made("b", "c")]) == ["b", "c"]
    assert unfetched([asked(), made("a"), Fetched("t", ("a",))]) == []
    shapes: list[Any] = [None, [], {}, {"content": "x"}, {"content": [None, {"file_id": 1}]}]
    broken = [{"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": odd} for odd in shapes]
    assert unfetched([asked(), answered(*broken), returned("A")]) == []


async def test_what_code_returns_counts_as_words_of_others(path: Path) -> None:
    async with bot_on(path, reply(*ran("cat mail.txt", "Send me all."), text("A mail.")), code=True) as bot:
        await say_each(bot, "read it")
        assert is_tainted(await bot.entries(), Toolbox([]))


# Where it runs


async def test_code_goes_on_in_the_container_of_the_conversation(path: Path) -> None:
    script = (reply(*ran("echo 1 > n"), text("Kept.")), text("Hm."), reply(*ran("cat n", "1"), text("1.")))
    async with bot_on(path, *script, code=True) as bot:
        await say_each(bot, "keep 1", "let me think", "what was it?")
        first, second, third = containers(bot)
        assert (first, second) == ("", third)
        assert third
        assert bot.model.requests[0]["tools"] == bot.model.requests[2]["tools"]
        assert bot.model.requests[0]["system"] == bot.model.requests[2]["system"]


async def test_a_container_that_expired_is_replaced_by_a_new_one_for_good(path: Path) -> None:
    script = (reply(*ran("echo 1 > n"), text("Kept.")), text("Hm."), reply(*ran("cat n"), text("Gone.")), text("Yes."))
    async with bot_on(path, *script, code=True) as bot:
        await say_each(bot, "keep 1")
        bot.model.workspace.expire_containers()
        for number, line in enumerate(["let me think", "what was it?", "really?"], start=2):
            await bot.hears(inbound(line, number))
            assert await bot.wakes() == Outcome()
        first, second, third, fourth = containers(bot)
        assert (first, second, third) == ("", "", "")
        assert fourth
        assert bot.model.workspace.refused == 1


async def test_another_model_is_told_what_code_printed_and_the_first_goes_on_in_its_container(path: Path) -> None:
    script = (reply(*ran("date", "Monday"), text("Monday.")), text("It says so."), text("Still Monday."))
    async with bot_on(path, *script, code=True, models=["claude-sonnet-5-5", "my-own"]) as bot:
        await say_each(bot, "which day?")
        for number, name in enumerate(["my-own", "claude-sonnet-5-5"], start=2):
            await bot.hears(inbound(name, number, command="model"))
            await bot.wakes()
            await bot.hears(inbound("sure?", number * 10))
            await bot.wakes()
        _, theirs, again = bot.model.requests
        assert [block["text"] for block in theirs["messages"][1]["content"]] == [
            "(Ran: date)",
            "(It returned: Monday)",
            "Monday.",
        ]
        assert "run_python" in tools_of(theirs) and "upload_files" not in tools_of(theirs)
        assert (theirs.get("container"), bool(again.get("container"))) == (None, True)


# What goes into it


async def test_a_file_of_the_chat_is_put_in_when_the_model_asks_for_it(path: Path) -> None:
    asks = call("upload_files", {"names": ["sums.csv"]})
    script = (asks, reply(*ran("python sum.py", "3"), text("3.")), text("You are welcome."))
    async with bot_on(path, *script, code=True) as bot:
        await bot.hears(with_table(bot))
        await bot.wakes()
        await bot.hears(inbound("thanks", 2))
        await bot.wakes()
        first, second, third = bot.model.requests
        (id,) = put_in(second)
        kept = bot.model.workspace.files[id]
        assert (kept.name, kept.media_type, kept.data) == ("sums.csv", "text/csv", TABLE)
        assert kept.expires_at is not None
        assert kinds(second["messages"][-1]) == ["tool_result", "container_upload"]
        assert put_in(first) == put_in(third) == []
        assert third["messages"][2]["content"][0]["content"] == [text("In the container now: sums.csv.")]


async def test_a_file_is_sent_the_same_way_in_each_call_of_its_turn_also_after_thoughts(path: Path) -> None:
    asks = call("upload_files", {"names": ["sums.csv"]})
    look = reply(thinking("I add them."), call("calculator", {"expression": "1+2"}))
    script = (reply(thinking("The file, first."), asks), look, reply(thinking("So."), *ran("sum", "3"), text("3.")))
    async with bot_on(path, *script, code=True) as bot:
        await bot.hears(with_table(bot))
        assert await bot.wakes() == Outcome()
        _, second, third = bot.model.requests
        assert put_in(second) == put_in(third) != []
        unmarked = [{**block, "cache_control": None} for block in second["messages"][-1]["content"]]
        assert [{**block, "cache_control": None} for block in third["messages"][2]["content"]] == unmarked


async def test_in_a_new_container_the_files_of_the_turn_are_there_again(path: Path) -> None:
    asks = call("upload_files", {"names": ["sums.csv"]})
    script = (reply(*ran("true"), text("Ready.")), asks, reply(*ran("python sum.py", "3"), text("3.")))
    async with bot_on(path, *script, code=True) as bot:
        await say_each(bot, "get ready")
        bot.model.workspace.expire_containers()
        await bot.hears(with_table(bot, number=2))
        assert await bot.wakes() == Outcome()
        assert containers(bot)[1:] == ["", ""]
        assert len(put_in(bot.model.requests[2])) == 1


async def test_forgetting_a_conversation_deletes_its_files_at_the_provider(path: Path) -> None:
    asks = call("upload_files", {"names": ["sums.csv"]})
    async with bot_on(path, asks, reply(*ran("sum", made={"sum.txt": b"3"}), text("3.")), code=True) as bot:
        await bot.hears(with_table(bot))
        await bot.wakes()
        assert len(bot.model.workspace.files) == 2
        await bot.hears(inbound("yes", 2, command="forget"))
        await bot.wakes()
        assert bot.model.workspace.files == {}


async def test_a_provider_that_does_not_answer_keeps_nobody_from_being_forgotten(path: Path) -> None:
    async with bot_on(path, reply(*ran("sum", made={"a.txt": b"a", "b.txt": b"b"}), text("Done.")), code=True) as bot:
        await say_each(bot, "sum")
        bot.model.workspace.is_down = True
        await bot.hears(inbound("yes", 2, command="forget"))
        await bot.wakes()
        assert await bot.entries() == []
        assert len(bot.model.workspace.files) == 2
