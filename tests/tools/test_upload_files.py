"""Files of the chat on their way to the provider's container, as a model asks for it."""

from pathlib import Path

import pytest

from bot.messages import Attachment, Json
from simulator.script import call, reply, text
from tests.bots import Bot, bot_on, results
from tests.say import inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


async def result_of(bot: Bot) -> Json:
    """Of the first call of the script, in a chat with two files."""
    bot.channel.files |= {"F1": b"one", "F2": b"two"}
    files = (Attachment("document", "F1", "a.txt"), Attachment("document", "F2", "b.txt"))
    await bot.hears(inbound("look", attachments=files))
    await bot.wakes()
    (result,) = results(bot.model.requests[1])
    return result


def asked_for(*names: str) -> list[Json]:
    return [call("upload_files", {"names": list(names)}), text("Done.")]


async def test_the_files_named_are_put_in_each_once_and_no_others(path: Path) -> None:
    async with bot_on(path, *asked_for("b.txt", "b.txt"), code=True) as bot:
        assert (await result_of(bot))["content"] == [text("In the container now: b.txt.")]
        assert [kept.data for kept in bot.model.workspace.files.values()] == [b"two"]


async def test_an_unknown_name_is_answered_with_those_there_are(path: Path) -> None:
    async with bot_on(path, *asked_for("c.txt"), code=True) as bot:
        result = await result_of(bot)
        assert result["is_error"]
        assert "There is no file 'c.txt' in this chat. There are: a.txt, b.txt." in result["content"]


@pytest.mark.parametrize("names", [(), ("a.txt",) * 21])
async def test_none_at_all_and_too_many_are_refused(path: Path, names: tuple[str, ...]) -> None:
    async with bot_on(path, *asked_for(*names), code=True) as bot:
        assert "at most 20" in (await result_of(bot))["content"]
        assert bot.model.workspace.files == {}


async def test_a_provider_that_does_not_answer_is_told_and_the_turn_goes_on(path: Path) -> None:
    async with bot_on(path, *asked_for("a.txt"), code=True) as bot:
        bot.model.workspace.is_down = True
        result = await result_of(bot)
        assert result["is_error"]
        assert "at the moment" in result["content"]
        assert bot.channel.shown[-1] == "Done."


async def test_beside_another_call_the_file_still_goes_in(path: Path) -> None:
    both = reply(call("upload_files", {"names": ["a.txt"]}), call("calculator", {"expression": "1+1"}))
    async with bot_on(path, both, text("Done."), code=True) as bot:
        bot.channel.files["F1"] = b"one"
        await bot.hears(inbound("look", attachments=(Attachment("document", "F1", "a.txt"),)))
        await bot.wakes()
        kinds = [block["type"] for block in bot.model.requests[1]["messages"][-1]["content"]]
        assert kinds == ["tool_result", "tool_result", "container_upload"]
