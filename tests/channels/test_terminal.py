"""The terminal: what grows is printed once, what changes goes on in a new line."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.channels.terminal import TerminalChannel, typed
from bot.errors import FileRefused
from bot.messages import Button, Person, Place
from bot.ports import Manner, Rendered, Upload

HERE = Place(conversation="terminal:main", chat="main")
ANN = Person("terminal:ann", "ann")


class Screen:
    def __init__(self) -> None:
        self.printed = ""
        self.channel = TerminalChannel(self._write)

    def _write(self, text: str) -> None:
        self.printed += text

    async def shows(self, *texts: str) -> str:
        """The same message, growing or changing; what is printed in the end."""
        message = await self.channel.send(HERE, Rendered(texts[0]), Manner(ANN, "t.0"))
        for text in texts[1:]:
            await self.channel.edit(HERE, message, Rendered(text))
        await self.channel.typing(HERE, active=False)
        return self.printed


async def test_a_growing_answer_is_printed_once() -> None:
    assert await Screen().shows("one", "one two", "one two", "one two three") == "one two three\n"


async def test_an_answer_that_begins_anew_goes_on_in_a_new_line() -> None:
    assert await Screen().shows("one two", "one", "one more") == "one two\n more\n"


async def test_a_message_after_another_begins_a_line_and_so_does_what_a_decided_question_adds() -> None:
    screen = Screen()
    question = await screen.channel.send(HERE, Rendered("May I?"), Manner(ANN, "t.q0"))
    await screen.channel.typing(HERE, active=False)
    await screen.channel.edit(HERE, question, Rendered("May I?\n\n✓ Approved by ann."))
    await screen.channel.send(HERE, Rendered("Done."), Manner(ANN, "t.0"))
    assert screen.printed == "May I?\n✓ Approved by ann.\nDone."


async def test_an_edit_of_an_earlier_process_s_message_is_printed_whole() -> None:
    screen = Screen()
    await screen.channel.edit(HERE, "t.0", Rendered("all of it"))
    assert screen.printed == "all of it"


async def test_nothing_of_an_earlier_process_is_found() -> None:
    assert await Screen().channel.find(HERE, "t.0") is None


@pytest.mark.parametrize(
    ("line", "command", "text"),
    [
        ("hello", "", "hello"),
        ("/NEW", "new", ""),
        ("/meanwhile  queue ", "meanwhile", "queue"),
        ("5 / 3", "", "5 / 3"),
    ],
)
def test_a_typed_line_is_a_message_or_a_command(line: str, command: str, text: str) -> None:
    inbound = typed("main", ANN, line, 1_764_500_000.5)
    assert (inbound.command, inbound.text, inbound.sent_at) == (command, text, 1_764_500_000)
    assert inbound.conversation == "terminal:main"


def test_the_same_line_twice_is_two_messages_in_order() -> None:
    first, second = typed("main", ANN, "yes", 1.0), typed("main", ANN, "yes", 1.0)
    assert first.key < second.key


async def test_a_file_of_the_bots_is_written_under_a_name_that_is_free(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("mine")
    printed: list[str] = []
    channel = TerminalChannel(printed.append, tmp_path)
    await channel.send_files(HERE, [Upload("plan.txt", "text/plain", b"yours")], Manner(ANN, "t.f0"))
    assert (tmp_path / "plan.txt").read_text() == "mine"
    assert (tmp_path / "plan (2).txt").read_text() == "yours"
    assert "plan (2).txt" in "".join(printed)


async def test_buttons_have_numbers_that_can_be_typed() -> None:
    channel = TerminalChannel(lambda text: None)
    buttons = (Button("Approve once", "ok:t.0"), Button("Deny", "no:t.0"))
    await channel.send(HERE, Rendered("May I?", buttons=buttons), Manner(ANN, "t.q0"))
    tapped = typed("me", ANN, "2", 0.0, channel.buttons)
    assert (tapped.kind, tapped.data) == ("tap", "no:t.0")
    assert typed("me", ANN, "3", 0.0, channel.buttons).text == "3"


async def test_a_file_is_shown_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"words")
    said = typed("me", ANN, f"/file {tmp_path / 'a.txt'} what is it?", 0.0)
    assert (said.text, said.command) == ("what is it?", "")
    channel = TerminalChannel(lambda text: None)
    assert await channel.fetch(HERE, said.attachments[0]) == b"words"
    with pytest.raises(FileRefused, match="No such file"):
        await channel.fetch(HERE, replace(said.attachments[0], id=str(tmp_path / "b.txt")))
