"""The local Telegram, seen through python-telegram-bot over HTTP and by a bot that gets its updates."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
import telegram
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter, TimedOut
from telegram.request import HTTPXRequest

from simulator.app import Simulator, serve, telegram_base_url
from simulator.deliver import QUICK
from simulator.pictures import picture_size
from simulator.telegram import ANN_CHAT, BUDI_CHAT, FORUM, GROUP, SECRET, TOKEN, USERNAME
from simulator.telegram_text import BadRequest as Refusal
from simulator.telegram_text import formatted
from simulator.world import Fault, File, Mistake
from tests.clock import FakeClock
from tests.simulator.recorder import Recorder

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000000200"
    "01e221bc330000000049454e44ae426082"
)
IDEAS = "2"
READ_TIMEOUT = 0.3


class Stage:
    """A simulator on the air, and the SDK's way in."""

    def __init__(self, simulator: Simulator, url: str, bot: telegram.Bot) -> None:
        self.simulator = simulator
        self.telegram = simulator.telegram
        self.world = simulator.world
        self.url = url
        self.bot = bot

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [call.params for call in self.world.calls if call.method == method]


def sdk(url: str, token: str = TOKEN) -> telegram.Bot:
    base = telegram_base_url(url)
    request = HTTPXRequest(read_timeout=READ_TIMEOUT)
    return telegram.Bot(token, base_url=f"{base}/bot", base_file_url=f"{base}/file/bot", request=request)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    simulator = Simulator(pace=QUICK)
    async with serve(simulator) as url, sdk(url) as bot:
        simulator.world.calls.clear()
        yield Stage(simulator, url, bot)


# From a person to the bot.


async def test_what_a_person_types_arrives_as_an_update_with_the_secret(stage: Stage, listener: Recorder) -> None:
    said = await stage.telegram.say(ANN_CHAT, "ann", "/start now")
    (received,) = await listener.wait_for(1)
    assert received.headers["x-telegram-bot-api-secret-token"] == SECRET
    update = telegram.Update.de_json(received.json, stage.bot)
    assert update.message is not None and update.effective_user is not None
    assert (update.message.text, update.effective_user.id, update.message.chat.type) == ("/start now", 1001, "private")
    assert [(entity.type, entity.offset, entity.length) for entity in update.message.entities] == [
        ("bot_command", 0, 6)
    ]
    delivery = await stage.world.wait_until(lambda: said.delivery if said.delivery and said.delivery.attempts else None)
    assert delivery is not None
    assert (delivery.state, delivery.status) == ("accepted", 200)


async def test_an_update_is_repeated_until_it_is_accepted_and_holds_back_its_chat_only(
    stage: Stage, listener: Recorder
) -> None:
    listener.statuses = [500, 503]
    await stage.telegram.say(ANN_CHAT, "ann", "one")
    await stage.telegram.say(ANN_CHAT, "ann", "two")
    received = await listener.wait_for(4)
    assert [update.json["message"]["text"] for update in received] == ["one", "one", "one", "two"]
    assert len({update.json["update_id"] for update in received}) == 2


async def test_a_bot_that_does_not_answer_in_time_gets_the_update_again(listener: Recorder, stage: Stage) -> None:
    stage.simulator.webhook.pace = QUICK.__class__(telegram_timeout=0.1, telegram_delays=(0.01,))
    listener.statuses = [0]
    said = await stage.telegram.say(ANN_CHAT, "ann", "slow")
    await listener.wait_for(2)
    await stage.world.wait_until(lambda: said.delivery is not None and said.delivery.state == "accepted")
    assert said.delivery is not None and said.delivery.attempts == 2


async def test_another_chat_does_not_wait_for_a_chat_that_is_held_up(stage: Stage, listener: Recorder) -> None:
    listener.statuses = [0]
    await stage.telegram.say(ANN_CHAT, "ann", "held up")
    await listener.wait_for(1)
    await stage.telegram.say(BUDI_CHAT, "budi", "at once")
    received = await listener.wait_for(2)
    assert received[1].json["message"]["text"] == "at once"


async def test_an_update_no_bot_ever_accepts_is_given_up(stage: Stage, listener: Recorder) -> None:
    stage.simulator.webhook.pace = QUICK.__class__(telegram_delays=(0.01,), telegram_patience=0.05)
    listener.statuses = [401] * 100
    said = await stage.telegram.say(ANN_CHAT, "ann", "hi")
    await stage.world.wait_until(lambda: said.delivery is not None and said.delivery.state == "refused")
    assert said.delivery is not None and said.delivery.status == 401
    assert stage.simulator.webhook.pending == {}


async def test_messages_sent_while_no_bot_is_there_arrive_when_one_comes(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", "early")
    recorder = Recorder()
    async with recorder.served() as url:
        stage.simulator.connect(url)
        (received,) = await recorder.wait_for(1)
    assert received.json["message"]["text"] == "early"


async def test_a_method_call_in_the_answer_to_an_update_is_carried_out(stage: Stage, listener: Recorder) -> None:
    listener.reply = {"method": "sendChatAction", "chat_id": 1001, "action": "typing"}
    await stage.telegram.say(ANN_CHAT, "ann", "hi")
    await stage.world.wait_until(lambda: ("telegram", ANN_CHAT, "") in stage.world.signs)
    assert stage.world.signs[("telegram", ANN_CHAT, "")].text == "typing…"


@pytest.mark.parametrize(
    ("text", "arrives"),
    [
        ("lunch?", False),
        (f"@{USERNAME} lunch?", True),
        ("/lunch", True),
        (f"/lunch@{USERNAME.upper()}", True),
        ("/lunch@other_bot", False),
    ],
)
async def test_privacy_mode_keeps_unaddressed_group_messages_from_the_bot(
    stage: Stage, listener: Recorder, text: str, arrives: bool
) -> None:
    said = await stage.telegram.say(GROUP, "ann", text)
    assert (said.delivery is not None and said.delivery.state != "kept") == arrives
    await stage.telegram.say(ANN_CHAT, "ann", "fence")
    received = await listener.wait_for(1 + arrives)
    assert sorted(update.json["message"]["text"] for update in received) == sorted(["fence", *[text] * arrives])


async def test_a_reply_to_the_bot_and_everything_without_privacy_mode_is_delivered(
    stage: Stage, listener: Recorder
) -> None:
    sent = await stage.bot.send_message(GROUP, "Who is in?")
    await stage.telegram.say(GROUP, "budi", "me", reply_to=sent.message_id)
    (reply,) = await listener.wait_for(1)
    assert reply.json["message"]["reply_to_message"]["text"] == "Who is in?"
    stage.telegram.privacy = False
    await stage.telegram.say(GROUP, "budi", "lunch?")
    assert len(await listener.wait_for(2)) == 2


async def test_a_message_in_a_topic_carries_it_and_looks_like_a_reply_to_its_root(
    stage: Stage, listener: Recorder
) -> None:
    said = await stage.telegram.say(FORUM, "ann", f"@{USERNAME} hi", thread=IDEAS)
    (received,) = await listener.wait_for(1)
    message = received.json["message"]
    assert (message["message_thread_id"], message["is_topic_message"]) == (2, True)
    assert message["reply_to_message"]["forum_topic_created"]["name"] == "Ideas"
    assert (said.thread, said.quote) == (IDEAS, None)


async def test_an_edit_and_a_tap_arrive_as_updates_of_their_own_kind(stage: Stage, listener: Recorder) -> None:
    said = await stage.telegram.say(ANN_CHAT, "ann", "helo")
    await stage.telegram.edit(ANN_CHAT, "ann", said.id, "hello")
    keyboard = telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("Go on", callback_data="go:1")]])
    sent = await stage.bot.send_message(ANN_CHAT, "Shall I?", reply_markup=keyboard)
    await stage.telegram.tap(ANN_CHAT, "ann", sent.message_id)
    received = await listener.wait_for(3)
    first, edit, tap = (telegram.Update.de_json(update.json, stage.bot) for update in received)
    assert first.message is not None and first.message.text == "helo"
    assert edit.edited_message is not None and edit.edited_message.text == "hello"
    assert tap.callback_query is not None and tap.callback_query.data == "go:1"
    assert await tap.callback_query.answer("Done")


async def test_a_long_paste_comes_in_pieces_within_the_limit(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", "😀" * 3000)
    assert [len(message.text) for message in stage.telegram.messages(ANN_CHAT)] == [2048, 952]


async def test_a_file_with_a_caption_reaches_the_bot_and_can_be_fetched(stage: Stage) -> None:
    await stage.telegram.say(ANN_CHAT, "ann", "look", file=File("dot.png", "image/png", PIXEL), album="a")
    await stage.telegram.say(ANN_CHAT, "ann", file=File("list.txt", "text/plain", b"eggs"), album="a")
    photo, document = await stage.bot.get_updates()
    assert photo.message is not None and document.message is not None and document.message.document is not None
    assert (photo.message.caption, photo.message.media_group_id, photo.message.photo[-1].width) == ("look", "a", 1)
    handle = await stage.bot.get_file(document.message.document.file_id)
    assert bytes(await handle.download_as_bytearray()) == b"eggs"


async def test_a_person_can_not_do_what_telegram_would_not_let_them(stage: Stage) -> None:
    for attempt in (
        stage.telegram.say(ANN_CHAT, "ann", "  "),
        stage.telegram.say(ANN_CHAT, "budi", "hi"),
        stage.telegram.say("77", "ann", "hi"),
        stage.telegram.say(FORUM, "ann", "hi", thread="9"),
        stage.telegram.edit(ANN_CHAT, "ann", "x", "hi"),
        stage.telegram.tap(ANN_CHAT, "ann", "1"),
    ):
        with pytest.raises(Mistake):
            await attempt


async def test_blocking_the_bot_is_told_and_closes_the_chat(stage: Stage) -> None:
    await stage.telegram.block("ann")
    (update,) = await stage.bot.get_updates()
    assert update.my_chat_member is not None and update.my_chat_member.new_chat_member.status == "kicked"
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await stage.bot.send_message(ANN_CHAT, "hi")


# Long polling.


async def test_a_group_has_the_admin_that_made_it_and_a_private_chat_none(stage: Stage) -> None:
    (creator,) = await stage.bot.get_chat_administrators(GROUP)
    assert (creator.status, str(creator.user.id)) == ("creator", ANN_CHAT)
    with pytest.raises(BadRequest, match="private chat"):
        await stage.bot.get_chat_administrators(ANN_CHAT)


async def test_a_long_poll_ends_with_the_next_update_and_the_offset_confirms_it(stage: Stage) -> None:
    waiting = asyncio.create_task(stage.bot.get_updates(timeout=5))
    await stage.world.wait_until(lambda: stage.calls("getUpdates"))
    said = await stage.telegram.say(ANN_CHAT, "ann", "hi")
    (update,) = await waiting
    assert await stage.bot.get_updates(offset=update.update_id + 1) == ()
    assert said.delivery is not None and said.delivery.state == "accepted"


async def test_a_webhook_and_a_long_poll_exclude_each_other(stage: Stage, listener: Recorder) -> None:
    with pytest.raises(Conflict, match="while webhook is active"):
        await stage.bot.get_updates()
    assert (await stage.bot.get_webhook_info()).url.endswith("/telegram")
    await stage.bot.delete_webhook()
    assert await stage.bot.get_updates() == ()


async def test_a_second_long_poll_ends_the_first(stage: Stage) -> None:
    first = asyncio.create_task(stage.bot.get_updates(timeout=5))
    await stage.world.wait_until(lambda: stage.calls("getUpdates"))
    async with sdk(stage.url) as second:
        assert await second.get_updates() == ()
    with pytest.raises(Conflict, match="only one bot instance"):
        await first


async def test_only_the_wanted_kinds_of_update_come(stage: Stage) -> None:
    await stage.bot.set_webhook("", allowed_updates=["message"])
    said = await stage.telegram.say(ANN_CHAT, "ann", "one")
    await stage.telegram.edit(ANN_CHAT, "ann", said.id, "two")
    assert [update.effective_message is not None for update in await stage.bot.get_updates()] == [True]


async def test_setting_a_webhook_over_the_api_brings_updates_there(stage: Stage) -> None:
    recorder = Recorder()
    async with recorder.served() as url:
        await stage.bot.set_webhook(f"{url}/telegram", secret_token="s-1")
        await stage.telegram.say(ANN_CHAT, "ann", "hi")
        (received,) = await recorder.wait_for(1)
    assert received.headers["x-telegram-bot-api-secret-token"] == "s-1"


# From the bot to people.


async def test_a_sent_message_is_shown_with_its_entities_quote_and_buttons(stage: Stage) -> None:
    said = await stage.telegram.say(ANN_CHAT, "ann", "hi")
    sent = await stage.bot.send_message(
        ANN_CHAT,
        "😀 bold",
        entities=[telegram.MessageEntity("bold", 3, 4)],
        reply_parameters=telegram.ReplyParameters(int(said.id)),
        reply_markup=telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("Go", callback_data="x" * 64)]]),
    )
    shown = stage.telegram.messages(ANN_CHAT)[-1]
    assert (shown.id, shown.text, shown.is_bot) == (str(sent.message_id), "😀 bold", True)
    assert shown.entities == [{"type": "bold", "offset": 3, "length": 4}]
    assert shown.quote is not None and (shown.quote.id, shown.quote.text) == (said.id, "hi")
    assert [[button.text for button in row] for row in shown.buttons] == [["Go"]]


async def test_a_streamed_answer_is_one_message_that_was_edited(stage: Stage) -> None:
    sent = await stage.bot.send_message(ANN_CHAT, "Hel")
    await stage.bot.edit_message_text("Hello", ANN_CHAT, sent.message_id)
    (shown,) = stage.telegram.messages(ANN_CHAT)
    assert (shown.text, shown.edits) == ("Hello", 1)
    await stage.bot.edit_message_reply_markup(
        ANN_CHAT,
        sent.message_id,
        reply_markup=telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("Go", callback_data="g")]]),
    )
    assert (shown.edits, len(shown.buttons)) == (1, 1)
    await stage.bot.delete_message(ANN_CHAT, sent.message_id)
    assert stage.telegram.messages(ANN_CHAT) == []


async def test_an_answer_ends_the_typing_sign_and_the_draft_of_its_chat(stage: Stage) -> None:
    await stage.bot.send_chat_action(ANN_CHAT, "typing")
    await stage.bot.send_message_draft(int(ANN_CHAT), 7, "Hel")
    assert [message.draft for message in stage.telegram.messages(ANN_CHAT)] == [True]
    await stage.bot.send_message(ANN_CHAT, "Hello")
    assert [message.draft for message in stage.telegram.messages(ANN_CHAT)] == [False]
    assert stage.world.signs == {}


async def test_files_of_the_bot_are_kept_whole(stage: Stage) -> None:
    data = bytes(range(256)) + b"\r\n--\r\n"
    sent = await stage.bot.send_document(
        ANN_CHAT, data, caption="<b>all</b> bytes", parse_mode="HTML", filename="b.bin"
    )
    assert sent.document is not None and sent.caption == "all bytes"
    assert bytes(await (await stage.bot.get_file(sent.document.file_id)).download_as_bytearray()) == data
    album = await stage.bot.send_media_group(
        ANN_CHAT, [telegram.InputMediaPhoto(PIXEL, caption="first"), telegram.InputMediaPhoto(PIXEL)]
    )
    assert [message.caption for message in album] == ["first", None]
    assert len({message.media_group_id for message in album}) == 1
    with pytest.raises(BadRequest, match=r"(?i)image_process_failed"):
        await stage.bot.send_photo(ANN_CHAT, b"no picture")


async def test_commands_and_reactions_are_shown(stage: Stage) -> None:
    said = await stage.telegram.say(ANN_CHAT, "ann", "hi")
    await stage.bot.set_my_commands([telegram.BotCommand("new", "Start afresh")])
    await stage.bot.set_message_reaction(ANN_CHAT, int(said.id), "👍")
    assert said.reactions == ["👍"]
    assert stage.world.commands == [{"command": "new", "description": "Start afresh"}]


async def test_an_answer_to_a_message_in_a_topic_stays_in_the_topic(stage: Stage) -> None:
    said = await stage.telegram.say(FORUM, "ann", "hi", thread=IDEAS)
    await stage.bot.send_message(FORUM, "here", message_thread_id=int(IDEAS))
    await stage.bot.send_message(FORUM, "here too", reply_parameters=telegram.ReplyParameters(int(said.id)))
    assert [message.text for message in stage.telegram.messages(FORUM, IDEAS)] == ["hi", "here", "here too"]


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "nobody there": ({"chat_id": 5}, "chat not found"),
    "only spaces": ({"text": " \n "}, "message text is empty"),
    "above 4096 units": ({"text": "😀" * 2049}, "message is too long"),
    "an entity past the end": ({"entities": [telegram.MessageEntity("bold", 0, 9)]}, "ends after the end of the text"),
    "half a character": (
        {"text": "😀", "entities": [telegram.MessageEntity("bold", 0, 1)]},
        "ends in a middle of a UTF-16 symbol at UTF-16 offset 1",
    ),
    "an open tag": ({"text": "<b>x", "parse_mode": "HTML"}, "can't parse entities"),
    "an unescaped point": ({"text": "x.", "parse_mode": "MarkdownV2"}, "character '.' is reserved"),
    "no such topic": ({"chat_id": FORUM, "message_thread_id": 9}, "message thread not found"),
    "the General topic by number": ({"chat_id": FORUM, "message_thread_id": 1}, "message thread not found"),
    "a reply to nothing": ({"reply_parameters": telegram.ReplyParameters(99)}, "message to be replied not found"),
    "65 bytes of callback data": (
        {"reply_markup": telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("b", callback_data="é" * 33)]])},
        "button_data_invalid",
    ),
    "a button that does nothing": (
        {"reply_markup": {"inline_keyboard": [[{"text": "b"}]]}},
        "text buttons are unallowed in the inline keyboard",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_message_telegram_would_refuse_is_refused_in_its_words(stage: Stage, name: str) -> None:
    changes, words = REFUSALS[name]
    with pytest.raises(BadRequest, match=f"(?i){words}"):
        await stage.bot.send_message(**{"chat_id": ANN_CHAT, "text": "hi", **changes})
    assert stage.world.messages == {}


async def test_edits_that_telegram_would_refuse_are_refused(stage: Stage) -> None:
    said = await stage.telegram.say(ANN_CHAT, "ann", "mine")
    sent = await stage.bot.send_message(ANN_CHAT, "yours")
    with pytest.raises(BadRequest, match=r"(?i)message is not modified"):
        await stage.bot.edit_message_text("yours  \n", ANN_CHAT, sent.message_id)
    with pytest.raises(BadRequest, match=r"(?i)message to edit not found"):
        await stage.bot.edit_message_text("x", ANN_CHAT, 999)
    with pytest.raises(BadRequest, match=r"(?i)message can't be edited"):
        await stage.bot.edit_message_text("x", ANN_CHAT, int(said.id))


async def test_a_reply_to_a_deleted_message_goes_without_it_where_that_is_allowed(stage: Stage) -> None:
    reply = telegram.ReplyParameters(99, allow_sending_without_reply=True)
    assert (await stage.bot.send_message(ANN_CHAT, "hi", reply_parameters=reply)).reply_to_message is None


async def test_a_tap_can_not_be_answered_late() -> None:
    clock = FakeClock()
    simulator = Simulator(pace=QUICK, now=clock.now)
    async with serve(simulator) as url, sdk(url) as bot:
        keyboard = telegram.InlineKeyboardMarkup([[telegram.InlineKeyboardButton("Go", callback_data="go")]])
        sent = await bot.send_message(ANN_CHAT, "?", reply_markup=keyboard)
        query = await simulator.telegram.tap(ANN_CHAT, "ann", sent.message_id)
        clock.advance(simulator.telegram.query_lifetime + 1)
        with pytest.raises(BadRequest, match=r"(?i)query is too old"):
            await bot.answer_callback_query(query)


async def test_a_wrong_token_is_unauthorized_and_an_unknown_method_not_found(stage: Stage) -> None:
    stranger = sdk(stage.url, "1000002:other")
    with pytest.raises(InvalidToken):
        await stranger.initialize()
    await stranger.shutdown()
    unknown = f"{telegram_base_url(stage.url)}/bot{TOKEN}/sendNothing"
    async with aiohttp.ClientSession() as session, session.post(unknown) as response:
        assert await response.json() == {"ok": False, "error_code": 404, "description": "Not Found: method not found"}


async def test_parameters_are_read_from_json_bodies_and_queries_too(stage: Stage) -> None:
    base = f"{telegram_base_url(stage.url)}/bot{TOKEN}"
    as_json = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{base}/sendmessage", json={"chat_id": 1001, "text": "json", "entities": []}) as sent:
            assert sent.status == 200
        async with session.get(f"{base}/sendMessage", params={"chat_id": "1001", "text": "query"}) as sent:
            assert sent.status == 200
        async with session.post(f"{base}/sendMessage", data=b"{", headers=as_json) as refused:
            assert refused.status == 400
    assert [message.text for message in stage.telegram.messages(ANN_CHAT)] == ["json", "query"]


# Things that go wrong.


async def test_flood_control_tells_how_long_to_wait_and_does_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTB_TIMEDELTA", "1")
    stage.world.add_fault(Fault("telegram", "sendMessage", "error", skip=1, status=429, retry_after=33))
    await stage.bot.send_message(ANN_CHAT, "one")
    with pytest.raises(RetryAfter, match="33"):
        await stage.bot.send_message(ANN_CHAT, "two")
    await stage.bot.send_message(ANN_CHAT, "three")
    assert [message.text for message in stage.telegram.messages(ANN_CHAT)] == ["one", "three"]
    assert [call.ok for call in stage.world.calls] == [True, False, True]


@pytest.mark.parametrize(
    ("kind", "error", "arrived"), [("hang", TimedOut, []), ("mute", TimedOut, ["hi"]), ("cut", NetworkError, ["hi"])]
)
async def test_a_call_without_an_answer_may_or_may_not_have_arrived(
    stage: Stage, kind: Any, error: type[Exception], arrived: list[str]
) -> None:
    stage.world.add_fault(Fault("telegram", "sendMessage", kind))
    with pytest.raises(error):
        await stage.bot.send_message(ANN_CHAT, "hi")
    assert [message.text for message in stage.telegram.messages(ANN_CHAT)] == arrived
    assert stage.world.faults == []


async def test_a_simulator_that_ends_does_not_wait_for_an_open_long_poll() -> None:
    simulator = Simulator(pace=QUICK)
    async with AsyncExitStack() as stack, asyncio.timeout(1.5):
        bot = await stack.enter_async_context(sdk(await stack.enter_async_context(serve(simulator))))
        waiting = asyncio.create_task(bot.get_updates(timeout=50, read_timeout=50))
        await simulator.world.wait_until(lambda: any(call.method == "getUpdates" for call in simulator.world.calls))
        await simulator.close()
        assert await waiting == ()


# Text.


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("<b>a <i>é</i></b> &lt;&nbsp;", "a é <&nbsp;", [("bold", 0, 3), ("italic", 2, 1)]),
        ('<a href="http://x.y/?a=1&amp;b=2">l</a>', "l", [("text_link", 0, 1)]),
        ('<pre><code class="language-py">x</code></pre>', "x", [("pre", 0, 1)]),
        ("<blockquote expandable>q</blockquote>", "q", [("expandable_blockquote", 0, 1)]),
        ("  <u>😀 </u> ", "😀", [("underline", 0, 2)]),
    ],
)
def test_html_becomes_text_and_entities(source: str, text: str, entities: list[tuple[str, int, int]]) -> None:
    got, found = formatted(source, None, "HTML")
    assert (got, [(entity["type"], entity["offset"], entity["length"]) for entity in found]) == (text, entities)


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("a < b", "Unclosed start tag at byte offset 2"),
        ("é<x>y</x>", 'Unsupported start tag "x" at byte offset 2'),
        ("<b>a</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("</b>", "Unexpected end tag at byte offset 0"),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
    ],
)
def test_broken_html_is_refused_with_its_place(source: str, refusal: str) -> None:
    with pytest.raises(Refusal) as caught:
        formatted(source, None, "HTML")
    assert str(caught.value) == f"can't parse entities: {refusal}"


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        ("*a _b_*\\.", "a b.", [("bold", 0, 3), ("italic", 2, 1)]),
        ("[l](http://a.b/c_d) `a\\``", "l a`", [("text_link", 0, 1), ("code", 2, 2)]),
        ("```py\nx=1\n```", "x=1", [("pre", 0, 3)]),
        (">q\n>r\nx", "q\nr\nx", [("blockquote", 0, 3)]),
        ("||s|| ~t~ __u__", "s t u", [("spoiler", 0, 1), ("strikethrough", 2, 1), ("underline", 4, 1)]),
    ],
)
def test_markdown_v2_becomes_text_and_entities(source: str, text: str, entities: list[tuple[str, int, int]]) -> None:
    got, found = formatted(source, None, "MarkdownV2")
    assert (got, [(entity["type"], entity["offset"], entity["length"]) for entity in found]) == (text, entities)


@pytest.mark.parametrize(
    ("source", "refusal"),
    [
        ("é _x", "Can't find end of Italic entity at byte offset 3"),
        ("`x", "Can't find end of Code entity at byte offset 0"),
        ("[x](y", "Can't find end of a URL at byte offset 3"),
        ("1+1", "Character '+' is reserved and must be escaped with the preceding '\\'"),
    ],
)
def test_broken_markdown_v2_is_refused_with_its_place(source: str, refusal: str) -> None:
    with pytest.raises(Refusal) as caught:
        formatted(source, None, "MarkdownV2")
    assert str(caught.value) == f"can't parse entities: {refusal}"


def test_the_size_of_a_picture_is_read_from_its_bytes() -> None:
    jpeg = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffc0000b08000200030101110000")
    assert picture_size(PIXEL) == (1, 1)
    assert picture_size(jpeg) == (3, 2)
    assert picture_size(b"GIF89a\x05\x00\x04\x00") == (5, 4)
    assert picture_size(b"%PDF-1.7") is None
