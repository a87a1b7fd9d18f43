"""What a channel answers that can do no more than show text: the others say what they can beyond that."""

from collections.abc import Sequence

from bot.errors import FileRefused
from bot.messages import Attachment, Button, File, Person, Place, Quote
from bot.ports import Rendered


class PlainChannel:
    stop_button = False
    shows_tasks = False
    feedback = False

    def drafts(self, place: Place) -> bool:
        return False

    async def draft(self, place: Place, part: Rendered, mark: str) -> None:
        pass

    def batches(self, files: Sequence[File]) -> list[tuple[File, ...]]:
        return [(file,) for file in files]

    async def introduce(self, place: Place, person: Person) -> Person:
        return person

    async def administers(self, place: Place, person: Person) -> bool:
        return False

    async def earlier(self, place: Place, before: str) -> tuple[Quote, ...]:
        return ()

    async def named(self, place: Place, words: str) -> str:
        return words

    async def fetch(self, place: Place, attachment: Attachment) -> bytes:
        raise FileRefused("Files can not be received here.")

    async def find(self, place: Place, mark: str) -> str | None:
        return None

    async def greet(self, place: Place, person: Person, choices: Sequence[Button] = ()) -> None:
        pass
