"""Files that come with messages, from the chat to the model and back."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.attachments import EXCERPT
from bot.errors import FileRefused, SendLater, SendUncertain
from bot.messages import Asked, Attachment, Inbound, Json, Place, Quote
from simulator.model_reply import Step
from simulator.script import call, reply, text
from tests.bots import bot_on, results, words
from tests.pictures import PNG, picture
from tests.recorder import RecordingChannel
from tests.say import inbound


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


def sent(name: str, number: int = 1, said: str = "look", kind: str = "document") -> Inbound:
    return inbound(said, number, attachments=(Attachment(kind, f"id of {name}", name),))


def images(request: Json) -> list[Json]:
    return [block for message in request["messages"] for block in message["content"] if block["type"] == "image"]


async def test_a_picture_is_seen_by_the_model_and_kept_as_a_key_in_the_record(path: Path) -> None:
    async with bot_on(path, text("Teal.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png", kind="photo"))
        await bot.wakes()
        [image] = images(bot.model.requests[0])
        assert image["source"]["type"] == "base64" and image["source"]["media_type"] == "image/png"
        asked = (await bot.entries())[0]
        assert isinstance(asked, Asked)
        [kept] = asked.said[0].attachments
        assert (kept.width, kept.height) == (40, 30) and kept.blob
        assert len(str(asked)) < 2_000


async def test_the_type_is_told_by_the_bytes_and_not_by_the_name(path: Path) -> None:
    async with bot_on(path, text("A picture.")) as bot:
        bot.channel.files = {"id of notes.txt": picture(kind="JPEG")}
        await bot.hears(sent("notes.txt"))
        await bot.wakes()
        assert images(bot.model.requests[0])[0]["source"]["media_type"] == "image/jpeg"


async def test_a_long_text_is_shown_by_its_beginning_and_read_on_by_its_reference(path: Path) -> None:
    long = "\n".join(f"line {number}" for number in range(5_000))

    def reopens(request: Json) -> Step:
        reference = words(request)[1].partition('file="')[2].partition('"')[0]
        return reply(call("reopen", {"reference": reference, "page": 2}))

    async with bot_on(path, reopens, text("Done.")) as bot:
        bot.channel.files = {"id of log.txt": long.encode()}
        await bot.hears(sent("log.txt"))
        await bot.wakes()
        shown = words(bot.model.requests[0])[1]
        assert long[:EXCERPT] in shown and f"[{len(long)} characters in all." in shown and len(shown) < EXCERPT + 500
        [result] = results(bot.model.requests[1])
        assert result["content"].startswith("(Page 2 of ")


async def test_what_could_not_be_had_is_told_to_the_model_and_the_words_are_answered(path: Path) -> None:
    async with bot_on(path, text("It is too large, and yes.")) as bot:
        bot.channel.faults["fetch"] = [FileRefused("The file is larger than the 20 MB that Telegram hands to bots.")]
        await bot.hears(sent("film.mp4", said="is it good?"))
        await bot.wakes()
        assert "larger than the 20 MB" in words(bot.model.requests[0])[1]
        assert bot.channel.shown == ["It is too large, and yes."]


async def test_a_fetch_that_fails_for_a_moment_is_tried_again(path: Path) -> None:
    async with bot_on(path, text("Teal.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        bot.channel.faults["fetch"] = [SendLater("not reached", 1), SendUncertain("cut")]
        await bot.hears(sent("a.png"))
        await bot.wakes()
        assert len(images(bot.model.requests[0])) == 1


async def test_the_picture_that_somebody_replies_to_is_seen(path: Path) -> None:
    quote = Quote("", "Budi", attachments=(Attachment("photo", "id of a.png"),))
    async with bot_on(path, text("Teal.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(replace(inbound("which colour?"), quote=quote))
        await bot.wakes()
        assert len(images(bot.model.requests[0])) == 1
        assert '<quote from="Budi">' in words(bot.model.requests[0])[1]


async def test_the_next_turn_sends_the_same_picture_again_byte_for_byte(path: Path) -> None:
    async with bot_on(path, text("Teal."), text("Still teal.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png"))
        await bot.wakes()
        await bot.hears(inbound("sure?", 2))
        await bot.wakes()
        first, second = bot.model.requests
        assert images(first) == images(second)
        assert [method for method, _ in bot.channel.calls].count("fetch") == 1


async def test_a_picture_that_is_only_a_note_is_seen_again_by_its_reference(path: Path) -> None:
    def reopens(request: Json) -> Step:
        said = next(line for line in words(request) if 'file="file:' in line)
        return reply(call("reopen", {"reference": said.partition('file="')[2].partition('"')[0]}))

    async with bot_on(path, text("Teal."), reopens, text("Still teal.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png"))
        await bot.wakes()
        await bot.hears(inbound("look again", 2))
        await bot.wakes()
        [result] = results(bot.model.requests[2])
        assert [part["type"] for part in result["content"]] == ["text", "image"]
        assert result["content"][1]["source"]["type"] == "base64"


async def test_a_picture_that_is_kept_no_longer_is_a_note_and_the_chat_goes_on(path: Path) -> None:
    async with bot_on(path, text("Teal."), text("I can not see it any more.")) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png"))
        await bot.wakes()
        for kept in (path.parent / "files").rglob("*"):
            if kept.is_file():
                kept.unlink()
        await bot.hears(inbound("sure?", 2))
        await bot.wakes()
        assert images(bot.model.requests[1]) == []
        assert "no longer kept" in str(bot.model.requests[1])


async def test_while_files_are_fetched_and_read_the_person_sees_that_somebody_is_at_it(path: Path) -> None:
    class Slow(RecordingChannel):
        async def fetch(self, place: Place, attachment: Attachment) -> bytes:
            await self.until(lambda channel: ("typing", "") in channel.calls)
            return await super().fetch(place, attachment)

    async with bot_on(path, text("Teal."), channel=Slow()) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png"))
        await bot.wakes()
        assert bot.channel.shown == ["Teal."]


async def test_a_stop_that_comes_while_files_are_read_is_heard_before_the_model_is_asked(path: Path) -> None:
    class Stopped(RecordingChannel):
        async def fetch(self, place: Place, attachment: Attachment) -> bytes:
            await bot.hears(inbound("", 2, command="stop"))
            return await super().fetch(place, attachment)

    async with bot_on(path, channel=Stopped()) as bot:
        bot.channel.files = {"id of a.png": PNG}
        await bot.hears(sent("a.png"))
        await bot.wakes()
        assert bot.channel.shown == ["(Stopped.)"]
