"""The terminal as a channel: what grows is printed as it grows."""

import sys
import time
from collections.abc import Callable
from os.path import commonprefix

from bot.messages import Inbound, Person, Place
from bot.ports import Rendered


class TerminalChannel:
    stop_button = False
    typing_interval = 60.0
    edit_interval = 0.05
    group_edit_interval = 0.05

    def __init__(self, write: Callable[[str], object] = sys.stdout.write) -> None:
        self._write = write
        self._printed: dict[str, str] = {}

    def render(self, markdown: str) -> list[Rendered]:
        return [Rendered(markdown)]

    async def typing(self, place: Place, active: bool = True) -> None:
        if not active:
            self._write("\n")
            sys.stdout.flush()

    async def send(self, place: Place, part: Rendered, *, reply_to: str, mark: str) -> str:
        self._printed[mark] = ""
        self._grow(mark, part.text)
        return mark

    async def edit(self, place: Place, message_id: str, part: Rendered) -> None:
        self._grow(message_id, part.text)

    async def delete(self, place: Place, message_id: str) -> None:
        self._printed.pop(message_id, None)

    async def find(self, place: Place, mark: str) -> str | None:
        """After a restart nothing of an earlier process is on this screen."""
        return None

    async def close(self) -> None:
        pass

    def _grow(self, message_id: str, text: str) -> None:
        """Print what is new. What was printed stays: from the first difference on, it goes on in a new line."""
        before = self._printed.get(message_id, "")
        common = len(commonprefix([before, text]))  # noqa: RUF071 - texts, not paths
        self._write(text[common:] if common == len(before) else f"\n{text[common:].lstrip()}")
        sys.stdout.flush()
        self._printed[message_id] = text


def typed(name: str, person: Person, text: str, now: float) -> Inbound:
    """A typed line as an Inbound; each line is a message of its own."""
    command, _, rest = text[1:].partition(" ") if text.startswith("/") else ("", "", text)
    stamp = f"{time.time_ns():020d}"
    return Inbound(
        place=Place(conversation=f"terminal:{name}", chat=name),
        id=stamp,
        order=stamp,
        sender=person,
        sent_at=int(now),
        text=rest.strip(),
        command=command.lower(),
        native_id=stamp,
    )
