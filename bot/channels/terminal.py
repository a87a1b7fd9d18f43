"""The terminal as a channel: what grows is printed as it grows."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from os.path import commonprefix
from pathlib import Path

from msgspec.structs import replace

from bot.channels.plain import PlainChannel
from bot.errors import FileRefused
from bot.files import free_name
from bot.messages import Attachment, Button, Inbound, Person, Place
from bot.ports import Manner, Pace, Rendered, Upload


class TerminalChannel(PlainChannel):
    """``folder`` is where files go that the bot made."""

    typing_interval = 60.0
    pace = Pace(interval=0.05, burst=3)
    group_pace = pace

    def __init__(self, write: Callable[[str], object] = sys.stdout.write, folder: Path = Path()) -> None:
        self._write = write
        self._folder = folder
        self.buttons: tuple[Button, ...] = ()
        """Of the message shown last: their numbers can be typed."""
        self._printed: dict[str, str] = {}
        self._in_line = False
        """Whether a message was printed that no line end of ours has followed."""

    def render(self, markdown: str, *, growing: bool = False) -> list[Rendered]:
        return [Rendered(markdown)]

    async def typing(self, place: Place, active: bool = True) -> None:
        if not active:
            self._end_line()

    async def send(self, place: Place, part: Rendered, manner: Manner) -> str:
        if self._in_line:
            self._end_line()
        self._printed[manner.mark] = ""
        self._grow(manner.mark, part.text)
        self._offer(part.buttons)
        return manner.mark

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        """Whoever sits at the terminal may show the bot any file they can read."""
        try:
            return await asyncio.to_thread(_read, attachment.id)
        except OSError as error:
            raise FileRefused(f"{attachment.id} can not be read: {error.strerror}.") from error

    async def send_files(self, place: Place, files: Sequence[Upload], manner: Manner) -> str:
        """Written into the folder, each under a name that is free there."""
        for file in files:
            self._write(f"\n[{await asyncio.to_thread(_written, self._folder, file)}] {file.caption}".rstrip(" "))
        sys.stdout.flush()
        return manner.mark

    async def edit(self, place: Place, message_id: str, part: Rendered, *, growing: bool = False) -> None:
        self._grow(message_id, part.text)
        self._offer(part.buttons)

    async def delete(self, place: Place, message_id: str) -> None:
        self._printed.pop(message_id, None)

    async def close(self) -> None:
        pass

    def _offer(self, buttons: tuple[Button, ...]) -> None:
        if buttons and buttons != self.buttons:
            self._write("\n" + "  ".join(f"[{number}] {button.label}" for number, button in enumerate(buttons, 1)))
            sys.stdout.flush()
        self.buttons = buttons

    def _grow(self, message_id: str, text: str) -> None:
        """Print what is new. What was printed stays: from the first difference on, it goes on in a new line."""
        before = self._printed.get(message_id, "")
        common = len(commonprefix([before, text]))  # noqa: RUF071 - texts, not paths
        more = text[common:]
        if common < len(before):
            more = f"\n{more.lstrip()}"
        elif not self._in_line:
            more = more.lstrip("\n")
        self._write(more)
        sys.stdout.flush()
        self._printed[message_id] = text
        self._in_line = True

    def _end_line(self) -> None:
        self._write("\n")
        sys.stdout.flush()
        self._in_line = False


def _read(path: str) -> bytes:
    return Path(path).expanduser().read_bytes()


def _written(folder: Path, file: Upload) -> Path:
    path = folder / free_name(file.name, {each.name for each in folder.iterdir()})
    path.write_bytes(file.data)
    return path


def typed(name: str, person: Person, text: str, now: float, buttons: Sequence[Button] = ()) -> Inbound:
    """A typed line as an Inbound; each line is a message of its own. The number of one of ``buttons`` is a tap on it,
    ``/file <path> words`` a message with a file."""
    command, _, rest = text[1:].partition(" ") if text.startswith("/") else ("", "", text)
    stamp = f"{time.time_ns():020d}"
    line = Inbound(
        place=Place(conversation=f"terminal:{name}", chat=name),
        id=stamp,
        order=stamp,
        sender=person,
        sent_at=int(now),
        text=rest.strip(),
        command=command.lower(),
        native_id=stamp,
    )
    if text.isdecimal() and 0 < int(text) <= len(buttons):
        return replace(line, kind="tap", text="", data=buttons[int(text) - 1].data)
    if command == "file" and rest.strip():
        path, _, words = rest.strip().partition(" ")
        file = Attachment("document", path, Path(path).name)
        return replace(line, command="", text=words.strip(), attachments=(file,))
    return line
