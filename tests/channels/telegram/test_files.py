"""Files in both directions: the channel on the real SDK over HTTP against the local Telegram."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from bot.channels.telegram.parse import Me, parse
from bot.channels.telegram.send import TelegramChannel, telegram_bot
from bot.errors import FileRefused, SendLater, SendRefused, SendUncertain
from bot.messages import Attachment, File, Person, Place
from bot.ports import Manner, Upload
from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.telegram import ANN_CHAT, FORUM, TOKEN, USERNAME
from simulator.world import Fault
from simulator.world import File as Sent
from tests.channels.canned import unreachable

ANN = Person("telegram:1001", "Ann")
CHAT = Place("telegram:1001", ANN_CHAT)
IDEAS = Place(f"telegram:{FORUM}:2", FORUM, "2", group=True)
MANNER = Manner(ANN, "t1.f0")
ME = Me(int(TOKEN.partition(":")[0]), USERNAME)


def png(width: int = 4, height: int = 3, size: int = 0) -> bytes:
    """The beginning of a picture, which is all that anybody here looks at."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return head.ljust(size, b"\0")


def picture(name: str = "a.png", data: bytes = b"", caption: str = "") -> Upload:
    return Upload(name, "image/png", data or png(), caption)


def text(name: str = "a.txt", caption: str = "") -> Upload:
    return Upload(name, "text/plain", b"words", caption)


CLIP = Upload("a.mp4", "video/mp4", b"moving")


class Stage:
    def __init__(self, simulator: Simulator, channel: TelegramChannel) -> None:
        self.telegram = simulator.telegram
        self.world = simulator.world
        self.channel = channel

    def calls(self) -> list[str]:
        return [call.method for call in self.world.calls]

    async def sent(self, *files: Upload, place: Place = CHAT, manner: Manner = MANNER) -> list[dict[str, Any]]:
        """The messages as Telegram keeps them; the id that was returned is the first one's."""
        first = await self.channel.send_files(place, files, manner)
        natives = [native for (chat, _), native in self.telegram.natives.items() if chat == place.chat]
        assert first == str(natives[-len(files)]["message_id"])
        return natives[-len(files) :]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url:
        channel = TelegramChannel(telegram_bot(TOKEN, telegram_base_url(url)))
        yield Stage(simulator, channel)
        await channel.close()


def kinds(natives: Sequence[dict[str, Any]]) -> list[str]:
    return [kind for native in natives for kind in ("photo", "video", "document") if kind in native]


# What goes together.


def files(*kinds: tuple[str, int]) -> list[File]:
    return [File(f"k/{n}", f"{n}", media_type, size) for n, (media_type, size) in enumerate(kinds)]


def sizes_of(batches: Sequence[Sequence[File]]) -> list[int]:
    return [len(batch) for batch in batches]


@pytest.mark.parametrize(
    ("media_types", "sizes"),
    [
        ([], []),
        (["image/png"], [1]),
        (["image/png", "video/mp4", "image/jpeg"], [3]),
        (["image/png"] * 21, [10, 10, 1]),
        (["text/csv", "application/pdf"], [2]),
        (["image/png", "text/csv", "image/png", "image/png"], [1, 1, 2]),
        (["image/gif", "image/svg+xml", "audio/mpeg"], [3]),
    ],
)
def test_pictures_and_videos_go_in_albums_and_other_files_in_their_own(
    media_types: list[str], sizes: list[int]
) -> None:
    given = files(*((media_type, 1_000) for media_type in media_types))
    batches = TelegramChannel.batches(_nowhere(), given)

    assert sizes_of(batches) == sizes
    assert [file for batch in batches for file in batch] == given


def test_a_picture_too_large_to_be_shown_goes_with_the_files() -> None:
    given = files(("image/png", 1_000), ("image/png", 11 * 1024 * 1024), ("text/csv", 10))
    assert sizes_of(TelegramChannel.batches(_nowhere(), given)) == [1, 2]


def test_files_that_are_large_together_go_in_several_requests() -> None:
    given = files(*[("application/pdf", 20 * 1024 * 1024)] * 3)
    assert sizes_of(TelegramChannel.batches(_nowhere(), given)) == [2, 1]


def _nowhere() -> TelegramChannel:
    return TelegramChannel(telegram_bot(TOKEN, unreachable()))


# Sending.


@pytest.mark.parametrize(
    ("upload", "kind"), [(picture(), "photo"), (CLIP, "video"), (text(), "document"), (picture("b.gif"), "photo")]
)
async def test_a_file_alone_is_shown_as_what_it_is(stage: Stage, upload: Upload, kind: str) -> None:
    (native,) = await stage.sent(upload)

    assert kinds([native]) == [kind]
    (shown,) = stage.telegram.messages(ANN_CHAT)
    assert [(file.name, file.size, file.kind) for file in shown.files] == [(upload.name, len(upload.data), kind)]


async def test_pictures_and_videos_are_one_album_with_the_words_under_the_first(stage: Stage) -> None:
    natives = await stage.sent(picture("a.png", caption="Here"), CLIP, picture("c.png", caption="and there"))

    assert kinds(natives) == ["photo", "video", "photo"]
    assert [native.get("caption") for native in natives] == ["Here\nand there", None, None]
    assert len({native["media_group_id"] for native in natives}) == 1
    assert stage.calls() == ["sendMediaGroup"]


async def test_documents_are_one_album_and_stay_what_they_are(stage: Stage) -> None:
    natives = await stage.sent(text("a.txt", "Both"), Upload("b.gif", "image/gif", b"GIF89a\1\0\1\0"))

    assert kinds(natives) == ["document", "document"]
    assert natives[0]["caption"] == "Both"


async def test_files_go_to_their_topic_silently_as_a_reply(stage: Stage) -> None:
    said = await stage.telegram.say(FORUM, "ann", "/plot", thread="2")
    manner = Manner(ANN, "t1.f0", reply_to=said.id, silent=True)

    for batch in ([picture()], [text()], [picture(), picture("b.png")]):
        for native in await stage.sent(*batch, place=IDEAS, manner=manner):
            assert (native["message_thread_id"], native["reply_to_message"]["message_id"]) == (2, int(said.id))
    assert [message.silent for message in stage.telegram.messages(FORUM, "2")] == [False, True, True, True, True]


@pytest.mark.parametrize("sides", [(9_000, 2_000), (10, 300)])
async def test_a_picture_with_sides_telegram_does_not_show_arrives_as_a_file(
    stage: Stage, sides: tuple[int, int]
) -> None:
    assert kinds(await stage.sent(picture(data=png(*sides), caption="The plot"))) == ["document"]
    assert kinds(await stage.sent(picture(), picture("b.png", png(*sides)))) == ["document", "document"]
    assert [message.text for message in stage.telegram.messages(ANN_CHAT)] == ["The plot", "", ""]


async def test_something_that_only_claims_to_be_a_picture_arrives_as_a_file(stage: Stage) -> None:
    assert kinds(await stage.sent(picture(data=b"no picture"))) == ["document"]


async def test_a_picture_of_many_bytes_arrives_as_a_file_without_a_detour(stage: Stage) -> None:
    assert kinds(await stage.sent(picture(data=png(size=11 * 1024 * 1024)))) == ["document"]
    assert stage.calls() == ["sendDocument"]


async def test_a_file_that_telegram_does_not_take_is_refused(stage: Stage) -> None:
    with pytest.raises(SendRefused):
        await stage.channel.send_files(CHAT, [Upload("a.bin", "application/zip", bytes(50 * 1024 * 1024 + 1))], MANNER)


@pytest.mark.parametrize("letter", ["x", "😀"])
async def test_a_caption_is_cut_to_what_telegram_takes(stage: Stage, letter: str) -> None:
    (native,) = await stage.sent(text(caption=letter * 2_000))

    assert 1_022 <= len(native["caption"].encode("utf-16-le")) // 2 <= 1_024
    assert native["caption"].endswith(f"{letter}…")


async def test_flood_control_and_a_cut_connection_are_told_apart(stage: Stage) -> None:
    stage.world.add_fault(Fault("telegram", "sendDocument", "error", status=429, retry_after=7))
    stage.world.add_fault(Fault("telegram", "sendDocument", "cut"))

    with pytest.raises(SendLater) as later:
        await stage.channel.send_files(CHAT, [text()], MANNER)
    with pytest.raises(SendUncertain):
        await stage.channel.send_files(CHAT, [text()], MANNER)
    assert later.value.retry_after == 7


async def test_an_album_of_which_one_file_came_too_soon_is_sent_later_and_not_lost(stage: Stage) -> None:
    words = 'failed to send message #2 with the error message "Too Many Requests: retry after 8"'
    stage.world.add_fault(Fault("telegram", "sendMediaGroup", "error", status=400, error=f"Bad Request: {words}"))

    with pytest.raises(SendLater) as later:
        await stage.channel.send_files(CHAT, [text(), text()], MANNER)
    assert later.value.retry_after == 8


# Fetching.


async def arrived(stage: Stage) -> Attachment:
    """The newest update's attachment, as the bot reads it."""
    *_, update = stage.telegram.webhook.pending.values()
    inbound = parse(update.body, ME)
    assert inbound is not None
    (attachment,) = inbound.attachments
    return attachment


@pytest.mark.parametrize("kind", ["photo", "document", "voice", "audio", "video", "video_note", "sticker"])
async def test_what_a_person_sends_can_be_fetched(stage: Stage, kind: str) -> None:
    file = Sent("ünïcode name.png", "image/png", png())
    await stage.telegram.say(ANN_CHAT, "ann", file=file, kind=kind)

    attachment = await arrived(stage)
    assert (attachment.kind, attachment.size) == (kind, len(file.data))
    assert await stage.channel.fetch(CHAT, attachment) == file.data


async def test_a_file_above_the_limit_is_refused_by_its_size_without_a_call(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", file=Sent("a.zip", "application/zip", bytes(20 * 1024 * 1024 + 1)))

    with pytest.raises(FileRefused, match="20 MB"):
        await stage.channel.fetch(CHAT, await arrived(stage))
    assert stage.calls() == []


async def test_a_file_above_the_limit_is_refused_where_its_size_was_not_told(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", file=Sent("a.zip", "application/zip", bytes(20 * 1024 * 1024 + 1)))

    with pytest.raises(FileRefused, match="20 MB"):
        await stage.channel.fetch(CHAT, Attachment("document", (await arrived(stage)).id))


async def test_a_file_that_is_gone_and_one_that_never_was_are_refused(stage: Stage) -> None:
    for attachment in (Attachment("document", "FILEgone"), Attachment("location", description="1, 2")):
        with pytest.raises(FileRefused):
            await stage.channel.fetch(CHAT, attachment)


async def test_a_file_that_may_come_at_another_try_is_not_refused(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", file=Sent("a.txt", "text/plain", b"eggs"))
    attachment = await arrived(stage)
    stage.world.add_fault(Fault("telegram", "getFile", "error", status=429, retry_after=3))
    stage.world.add_fault(Fault("telegram", "getFile", "error", status=502))

    with pytest.raises(SendLater):
        await stage.channel.fetch(CHAT, attachment)
    with pytest.raises(SendUncertain):
        await stage.channel.fetch(CHAT, attachment)
    assert await stage.channel.fetch(CHAT, attachment) == b"eggs"
    with pytest.raises(SendLater):
        await _nowhere().fetch(CHAT, attachment)
