"""Files, albums, limits and drafts in the local Telegram: through the page's door, and through python-telegram-bot."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import telegram
from telegram.error import BadRequest, InvalidToken, NetworkError
from telegram.request import HTTPXRequest

from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.pictures import picture_size
from simulator.telegram import ANN_CHAT, BUDI_CHAT, FORUM, GROUP, TOKEN
from simulator.telegram_limits import DOWNLOAD_LIMIT, LINK_LIFETIME, PHOTO_LIMIT, UPLOAD_LIMIT, Flood
from tests.clock import FakeClock
from tests.simulator.test_telegram import PIXEL

JSON = dict[str, Any]
HERE = {"platform": "telegram", "chat": ANN_CHAT, "user": "ann"}


class Stage:
    """A page on one side, the SDK on the other."""

    def __init__(self, simulator: Simulator, clock: FakeClock, page: aiohttp.ClientSession, bot: telegram.Bot) -> None:
        self.simulator = simulator
        self.telegram = simulator.telegram
        self.clock = clock
        self.page = page
        self.bot = bot

    async def upload(self, data: bytes, name: str, media_type: str = "", status: int = 200) -> JSON:
        params = {"name": name, "media_type": media_type}
        headers = {"Content-Type": "application/octet-stream"}
        async with self.page.post("/sim/files", params=params, data=data, headers=headers) as response:
            assert response.status == status
            answer: JSON = await response.json()
            return answer

    async def post(self, path: str, body: JSON, status: int = 200) -> JSON:
        async with self.page.post(path, json=body) as response:
            assert response.status == status
            answer: JSON = await response.json()
            return answer

    async def updates(self) -> list[telegram.Message]:
        """What the bot heard, read by the SDK."""
        messages = [update.message for update in await self.bot.get_updates()]
        return [message for message in messages if message]


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    clock = FakeClock()
    simulator = Simulator(pace=QUICK, now=clock.now)
    async with serve(simulator) as url:
        base = telegram_base_url(url)
        bot = telegram.Bot(TOKEN, f"{base}/bot", f"{base}/file/bot", request=HTTPXRequest(read_timeout=5))
        timeout = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(url, timeout=timeout) as page, bot:
            yield Stage(simulator, clock, page, bot)


# People.


async def test_a_person_sends_an_album_with_words_from_the_page(stage: Stage) -> None:
    files = [await stage.upload(PIXEL, f"{n}.png", "image/png") for n in range(2)]
    said = await stage.post("/sim/say", {**HERE, "text": "look", "files": [{"id": file["id"]} for file in files]})

    first, second = await stage.updates()
    assert (first.caption, second.caption) == ("look", None)
    assert first.media_group_id == second.media_group_id == said["album"]
    assert first.photo[-1].width == 1
    assert said["files"] == [
        {
            "name": "0.png",
            "media_type": "image/png",
            "size": len(PIXEL),
            "url": said["files"][0]["url"],
            "kind": "photo",
        }
    ]
    async with stage.page.get(said["files"][0]["url"]) as response:
        assert await response.read() == PIXEL
        assert (response.content_type, response.headers["Content-Security-Policy"]) == ("image/png", "sandbox")


async def test_what_does_not_fit_together_goes_as_several_albums(stage: Stage) -> None:
    photo, text = await stage.upload(PIXEL, "a.png"), await stage.upload(b"eggs", "a.txt", "text/plain")
    ids = [{"id": photo["id"]}] * 11 + [{"id": text["id"]}] * 2 + [{"id": photo["id"], "kind": "document"}]
    await stage.post("/sim/say", {**HERE, "files": ids})

    heard = await stage.updates()
    groups = [message.media_group_id for message in heard]
    assert [groups.count(group) for group in dict.fromkeys(groups)] == [10, 1, 3]
    assert groups[10] is None


@pytest.mark.parametrize("kind", ["voice", "audio", "video", "video_note", "animation", "document", "sticker"])
async def test_a_person_sends_a_file_of_each_kind(stage: Stage, kind: str) -> None:
    file = await stage.upload(PIXEL, "a.bin", "audio/ogg")
    await stage.post("/sim/say", {**HERE, "files": [{"id": file["id"], "kind": kind}], "seconds": 8})

    (heard,) = await stage.updates()
    sent = getattr(heard, kind)
    assert sent.file_size == len(PIXEL)
    if kind == "voice":
        assert sent.to_dict()["duration"] == 8
    assert bytes(await (await sent.get_file()).download_as_bytearray()) == PIXEL


@pytest.mark.parametrize(
    ("share", "field", "text"),
    [
        ({"sticker": "🎉"}, "sticker", "🎉"),
        ({"location": {"latitude": -7.94, "longitude": 112.95}}, "location", "📍 -7.94, 112.95"),
        (
            {"venue": {"location": {"latitude": 1, "longitude": 2}, "title": "Bromo", "address": "Java"}},
            "venue",
            "📍 Bromo, Java",
        ),
        ({"contact": {"phone_number": "+62811", "first_name": "Bo"}}, "contact", "👤 Bo, +62811"),
    ],
)
async def test_a_person_shares_what_is_neither_text_nor_file(stage: Stage, share: JSON, field: str, text: str) -> None:
    said = await stage.post("/sim/say", {**HERE, "share": share})

    assert said["text"] == text
    (heard,) = await stage.updates()
    assert getattr(heard, field)


async def test_a_person_replies_with_a_picked_part(stage: Stage) -> None:
    first = await stage.post("/sim/say", {**HERE, "text": "Bonjour tout le monde"})
    await stage.post("/sim/say", {**HERE, "text": "?", "reply_to": first["id"], "quote": "Bonjour"})

    *_, heard = await stage.updates()
    assert heard.quote is not None and heard.quote.text == "Bonjour"


@pytest.mark.parametrize(
    "body",
    [
        {"files": [{"id": "none"}]},
        {"share": {}},
        {"share": {"sticker": "🎉", "location": {"latitude": 1, "longitude": 2}}},
    ],
)
async def test_what_can_not_be_sent_is_said_in_one_sentence(stage: Stage, body: JSON) -> None:
    assert (await stage.post("/sim/say", {**HERE, **body}, status=400))["error"]


async def test_a_text_is_no_photo_and_nothing_is_a_hologram(stage: Stage) -> None:
    file = await stage.upload(b"eggs", "a.txt", "text/plain")
    for kind in ("photo", "hologram"):
        await stage.post("/sim/say", {**HERE, "files": [{"id": file["id"], "kind": kind}]}, status=400)


async def test_only_bytes_with_a_name_are_kept_so_that_no_other_site_can_leave_any(stage: Stage) -> None:
    await stage.upload(b"", "a.txt", status=400)
    await stage.upload(b"x", "", status=400)
    form = aiohttp.FormData({"name": "a.txt"})
    async with stage.page.post("/sim/files", params={"name": "a.txt"}, data=form) as response:
        assert response.status == 400
    async with stage.page.get("/sim/files/none") as response:
        assert response.status == 404


# What the bot may send.


async def test_each_kind_of_file_of_the_bot_is_shown_and_nothing_in_the_answer_is_unknown_to_the_sdk(
    stage: Stage,
) -> None:
    bot = stage.bot
    sent = [
        await bot.send_photo(ANN_CHAT, PIXEL, filename="a.png", disable_notification=True),
        await bot.send_document(ANN_CHAT, b"eggs", filename="a.txt"),
        await bot.send_video(ANN_CHAT, b"moving", filename="a.mp4"),
        await bot.send_audio(ANN_CHAT, b"sound", filename="a.mp3"),
        await bot.send_voice(ANN_CHAT, b"sound", filename="a.ogg"),
        *await bot.send_media_group(ANN_CHAT, [telegram.InputMediaDocument(b"x", filename=f"{n}") for n in range(2)]),
        await bot.send_message(ANN_CHAT, "hi", reply_parameters=telegram.ReplyParameters(1)),
    ]
    shown = stage.telegram.messages(ANN_CHAT)
    assert [file.kind for message in shown for file in message.files] == [
        "photo",
        "document",
        "video",
        "audio",
        "voice",
        "document",
        "document",
    ]
    assert [message.silent for message in shown] == [True] + [False] * 7
    assert shown[5].album == shown[6].album != ""
    edited = await bot.edit_message_text("ho", ANN_CHAT, sent[-1].message_id)
    for message in [*sent, edited]:
        assert unknown_fields(message) == []


def unknown_fields(thing: object) -> list[str]:
    """What an answer holds that the SDK has no place for."""
    if isinstance(thing, tuple | list):
        return [name for item in thing for name in unknown_fields(item)]
    if not isinstance(thing, telegram.TelegramObject):
        return []
    inner = [getattr(thing, name) for name in type(thing).__slots__ if not name.startswith("_")]
    return [*thing.api_kwargs, *(name for value in inner for name in unknown_fields(value))]


def media(kind: str, data: bytes = PIXEL) -> Any:
    """One of an album; a file name keeps the SDK from guessing."""
    made = {
        "photo": telegram.InputMediaPhoto,
        "document": telegram.InputMediaDocument,
        "video": telegram.InputMediaVideo,
        "audio": telegram.InputMediaAudio,
    }
    return made[kind](data, filename="a")


@pytest.mark.parametrize(
    ("kinds", "refusal"),
    [
        (["photo", "document"], "document can't be mixed with other media types"),
        (["audio", "video"], "audio can't be mixed with other media types"),
        (["photo"] * 11, "too many messages to send as an album"),
    ],
)
async def test_an_album_that_telegram_does_not_send_is_refused_whole(
    stage: Stage, kinds: list[str], refusal: str
) -> None:
    with pytest.raises(BadRequest, match=f"(?i){refusal}"):
        await stage.bot.send_media_group(ANN_CHAT, [media(kind) for kind in kinds])
    assert stage.telegram.messages(ANN_CHAT) == []


async def test_photos_and_videos_stand_in_one_album_and_one_alone_in_none(stage: Stage) -> None:
    await stage.bot.send_media_group(ANN_CHAT, [media("photo"), media("video")])
    (alone,) = await stage.bot.send_media_group(ANN_CHAT, [media("photo")])
    assert alone.media_group_id is None
    assert len({message.album for message in stage.telegram.messages(ANN_CHAT)[:2]}) == 1


def png(width: int, height: int) -> bytes:
    return PIXEL[:16] + width.to_bytes(4, "big") + height.to_bytes(4, "big") + PIXEL[24:]


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (b"no picture", "IMAGE_PROCESS_FAILED"),
        (png(9_000, 1_001), "PHOTO_INVALID_DIMENSIONS"),
        (png(21, 1), "PHOTO_INVALID_DIMENSIONS"),
        (PIXEL + bytes(PHOTO_LIMIT), "is too big for a photo; the maximum size is 10485760 bytes"),
        (b"", "file must be non-empty"),
    ],
)
async def test_a_picture_that_telegram_can_not_show_is_refused(stage: Stage, data: bytes, refusal: str) -> None:
    with pytest.raises(BadRequest, match=f"(?i){refusal}"):
        await stage.bot.send_photo(ANN_CHAT, data)


async def test_the_bad_picture_of_an_album_is_named(stage: Stage) -> None:
    with pytest.raises(BadRequest, match=r'(?i)failed to send message #2 with the error message "PHOTO_INVALID'):
        await stage.bot.send_media_group(ANN_CHAT, [media("photo"), media("photo", png(21, 1))])


async def test_more_than_fifty_megabytes_do_not_get_in(stage: Stage) -> None:
    with pytest.raises(NetworkError, match="Request Entity Too Large"):
        await stage.bot.send_document(ANN_CHAT, bytes(UPLOAD_LIMIT + 1))


async def test_more_than_twenty_megabytes_do_not_get_out(stage: Stage) -> None:
    sent = await stage.bot.send_document(ANN_CHAT, bytes(DOWNLOAD_LIMIT + 1))
    assert sent.document is not None
    with pytest.raises(BadRequest, match=r"(?i)file is too big"):
        await stage.bot.get_file(sent.document.file_id)


async def test_a_link_to_a_file_ends_and_can_be_had_again(stage: Stage) -> None:
    sent = await stage.bot.send_document(ANN_CHAT, b"eggs")
    assert sent.document is not None
    handle = await stage.bot.get_file(sent.document.file_id)
    stage.clock.advance(LINK_LIFETIME)
    with pytest.raises(InvalidToken):
        await handle.download_as_bytearray()
    again = await stage.bot.get_file(sent.document.file_id)
    assert bytes(await again.download_as_bytearray()) == b"eggs"


@pytest.mark.parametrize("data", ["", "x" * 65, "ж" * 33])
async def test_a_button_without_or_with_too_much_data_is_refused(stage: Stage, data: str) -> None:
    call = {
        "chat_id": ANN_CHAT,
        "text": "?",
        "reply_markup": {"inline_keyboard": [[{"text": "Go", "callback_data": data}]]},
    }
    async with stage.page.post(f"/telegram/bot{TOKEN}/sendMessage", json=call) as response:
        assert await response.json() == {
            "ok": False,
            "error_code": 400,
            "description": "Bad Request: BUTTON_DATA_INVALID",
        }


# How often.


class Tries:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    async def wait(self, chat: str, method: str = "sendMessage", **more: Any) -> int:
        """The seconds one call was told to wait; 0 where it was done."""
        call = {"chat_id": chat, "text": f"{self.stage.clock.now()}", **more}
        path = f"/telegram/bot{TOKEN}/{method}"
        async with self.stage.page.post(path, json=call) as response:
            answer = await response.json()
        if response.status == 429:
            wait: int = answer["parameters"]["retry_after"]
            assert answer["description"] == f"Too Many Requests: retry after {wait}"
            return wait
        assert answer["ok"], answer
        return 0


async def test_a_chat_takes_a_burst_and_then_one_message_a_second(stage: Stage) -> None:
    stage.telegram.limit(Flood(burst=3))
    tries = Tries(stage)

    assert [await tries.wait(ANN_CHAT) for _ in range(4)] == [0, 0, 0, 1]
    assert await tries.wait(BUDI_CHAT) == 0
    stage.clock.advance(1)
    assert [await tries.wait(ANN_CHAT) for _ in range(2)] == [0, 1]


async def test_a_group_takes_twenty_messages_and_edits_a_minute(stage: Stage) -> None:
    stage.telegram.limit(Flood())
    tries = Tries(stage)
    sent = await stage.bot.send_message(GROUP, "hi")

    assert [await tries.wait(GROUP) for _ in range(18)] == [0] * 18
    assert await tries.wait(GROUP, "editMessageText", message_id=sent.message_id) == 0
    assert await tries.wait(GROUP, "editMessageText", message_id=sent.message_id) == 60
    assert await tries.wait(GROUP, "sendChatAction", action="typing") == 0
    assert await tries.wait(FORUM) == 0
    stage.clock.advance(59)
    assert await tries.wait(GROUP) == 1
    stage.clock.advance(1)
    assert await tries.wait(GROUP) == 0


async def test_without_a_limit_nobody_is_told_to_wait(stage: Stage) -> None:
    tries = Tries(stage)
    assert [await tries.wait(GROUP) for _ in range(30)] == [0] * 30


# Drafts and menus.


async def draft(stage: Stage, text: str, **more: Any) -> None:
    await stage.bot.send_message_draft(int(ANN_CHAT), 7, text, api_kwargs=more)


async def test_a_draft_grows_in_place_and_can_be_stopped_where_the_bot_says_so(stage: Stage) -> None:
    await draft(stage, "Hel")
    await stage.post("/sim/stop", HERE, status=400)
    await draft(stage, "Hello", can_stop=True)
    (shown,) = stage.telegram.messages(ANN_CHAT)
    assert (shown.draft, shown.text) == (True, "Hello")

    await stage.post("/sim/stop", HERE)
    assert stage.telegram.messages(ANN_CHAT) == []
    (update,) = await stage.bot.get_updates()
    assert update.api_kwargs["stopped_message_generation"]["draft_id"] == 7
    await stage.post("/sim/stop", HERE, status=400)


async def test_a_group_has_no_drafts(stage: Stage) -> None:
    with pytest.raises(BadRequest, match=r"(?i)textdraft_peer_invalid"):
        await stage.bot.send_message_draft(int(GROUP), 7, "Hel")


async def test_each_language_has_its_own_menu_and_the_page_shows_everybodys(stage: Stage) -> None:
    await stage.bot.set_my_commands([("new", "Start afresh")])
    await stage.bot.set_my_commands([("new", "Mulai lagi")], language_code="id")

    assert [command.description for command in await stage.bot.get_my_commands(language_code="id")] == ["Mulai lagi"]
    assert await stage.bot.get_my_commands(language_code="fr") == ()
    async with stage.page.get("/sim/state") as response:
        assert (await response.json())["commands"] == [{"command": "new", "description": "Start afresh"}]


async def test_a_reset_forgets_the_files_of_people_and_bot(stage: Stage) -> None:
    file = await stage.upload(PIXEL, "a.png")
    await stage.post("/sim/reset", {})
    async with stage.page.get(f"/sim/files/{file['id']}") as response:
        assert response.status == 404


# Pictures.


@pytest.mark.parametrize(
    ("form", "bytes_after"),
    [
        (b"VP8 ", bytes(6) + (5).to_bytes(2, "little") + (4).to_bytes(2, "little")),
        (b"VP8L", b"\x2f" + (4 | 3 << 14).to_bytes(4, "little") + bytes(5)),
        (b"VP8X", bytes(4) + (4).to_bytes(3, "little") + (3).to_bytes(3, "little")),
    ],
)
def test_the_size_of_a_webp_is_read_from_each_of_its_forms(form: bytes, bytes_after: bytes) -> None:
    assert picture_size(b"RIFF\0\0\0\0WEBP" + form + bytes(4) + bytes_after) == (5, 4)
