"""``kabar chat``: through a pipe, interrupted, and again."""

import signal
from pathlib import Path

from simulator.script import call, scripted, text
from tests.cli.process import kabar

LEFT = 130  # the exit code of what Ctrl-C ended


def model_at(url: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": url}


async def test_piped_lines_are_answered_one_after_another_and_the_end_of_input_leaves(tmp_path: Path) -> None:
    async with scripted(text("Hello Ann."), call("calculator", {"expression": "6*7"}), text("It is 42.")) as model:
        async with kabar(tmp_path, "chat", settings=model_at(model.url)) as chat:
            await chat.hears(b"hi", b"", b"what is 6*7?", end=True)
            assert await chat.ends() == 0
        assert chat.output.index("Hello Ann.") < chat.output.index("It is 42.")
        assert "Traceback" not in chat.output


async def test_a_conversation_goes_on_in_the_next_process(tmp_path: Path) -> None:
    async with scripted(text("Noted."), text("Ann.")) as model:
        for line in (b"my name is Ann", b"what is my name?"):
            async with kabar(tmp_path, "chat", settings=model_at(model.url)) as chat:
                await chat.hears(line, b"/quit")
                assert await chat.ends() == 0
        assert "my name is Ann" in str(model.requests[1]["messages"])


async def test_a_line_that_is_no_text_is_still_a_line(tmp_path: Path) -> None:
    async with scripted(text("Pardon?")) as model:
        async with kabar(tmp_path, "chat", settings=model_at(model.url)) as chat:
            await chat.hears(b"\xff\xfe", end=True)
            assert await chat.ends() == 0
        assert "Pardon?" in chat.output


async def test_without_a_key_the_demo_model_answers_and_says_so(tmp_path: Path) -> None:
    async with kabar(tmp_path, "chat") as chat:
        await chat.hears(b"/help", end=True)
        assert await chat.ends() == 0
    assert "the demo model answers" in chat.output
    assert "/new" in chat.output


async def test_ctrl_c_leaves_at_once_while_a_line_is_waited_for(tmp_path: Path) -> None:
    async with scripted(text("Hello.")) as model, kabar(tmp_path, "chat", settings=model_at(model.url)) as chat:
        await chat.hears(b"hi")
        await chat.says("Hello.")
        chat.signal(signal.SIGINT)
        assert await chat.ends() == LEFT
        assert "Traceback" not in chat.output
        assert "Fatal" not in chat.output


async def test_a_server_and_a_model_can_be_named_where_it_is_started(tmp_path: Path) -> None:
    async with scripted(text("Hello.")) as model:
        named = ("--base-url", model.url, "--model", "my-own-model")
        async with kabar(tmp_path, "chat", *named) as chat:
            await chat.hears(b"hi", end=True)
            assert await chat.ends() == 0
        assert "Hello." in chat.output
        assert [request["model"] for request in model.requests] == ["my-own-model"]
