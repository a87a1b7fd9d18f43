"""What reaches Telegram, and what is made of its answers: the real SDK over HTTP."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.responses import Response

from bot.channels.telegram.send import TelegramChannel, set_menu, telegram_bot
from bot.errors import (
    ChatClosed,
    ChatMoved,
    MessageGone,
    SendError,
    SendLater,
    SendRefused,
    SendUncertain,
    TokenGone,
)
from bot.messages import Attachment, Button, Json, Person, Place
from bot.ports import Channel, Manner, Rendered
from tests.channels.canned import Canned, canned_platform, cutting_platform, unreachable

TOKEN = "777001:" + "A" * 35
CHAT = Place("telegram:42", "42")
TOPIC = Place("telegram:-100200:55", "-100200", "55", group=True)
ANN = Person("telegram:42", "Ann", "id")
MANNER = Manner(ANN, "t1.0")
HELLO = Rendered("hello", ({"type": "bold", "offset": 0, "length": 5},))
SENT: Json = {
    "ok": True,
    "result": {"message_id": 77, "date": 1, "chat": {"id": 42, "type": "private"}, "text": "hello"},
}


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[TelegramChannel]:
    channel = TelegramChannel(telegram_bot(TOKEN, url))
    try:
        yield channel
    finally:
        await channel.close()


@pytest.fixture
async def telegram() -> AsyncIterator[Canned]:
    async with canned_platform(SENT) as canned:
        yield canned


@pytest.fixture
async def channel(telegram: Canned) -> AsyncIterator[TelegramChannel]:
    async with connected(telegram.url) as channel:
        yield channel


def refusal(description: str, code: int = 400, **parameters: int) -> Json:
    return {"ok": False, "error_code": code, "description": description, "parameters": parameters}


async def test_it_is_a_channel(channel: TelegramChannel) -> None:
    port: Channel = channel
    assert port.render("**hello**") == [HELLO]


async def test_a_message_goes_to_its_topic_as_a_reply_with_entities_and_without_preview(
    telegram: Canned, channel: TelegramChannel
) -> None:
    assert await channel.send(TOPIC, HELLO, Manner(ANN, "t1.0", reply_to="10")) == "77"

    (call,) = telegram.calls
    assert call.method == "sendMessage"
    assert call.fields == {
        "chat_id": -100200,
        "message_thread_id": 55,
        "text": "hello",
        "entities": [{"type": "bold", "offset": 0, "length": 5}],
        "link_preview_options": {"is_disabled": True},
        "reply_parameters": {"message_id": 10, "allow_sending_without_reply": True},
    }


async def test_a_message_outside_topics_names_no_thread(telegram: Canned, channel: TelegramChannel) -> None:
    await channel.send(CHAT, HELLO, MANNER)

    assert not {"message_thread_id", "reply_parameters", "parse_mode"} & telegram.calls[0].fields.keys()


async def test_a_silent_message_is_sent_without_a_sound(telegram: Canned, channel: TelegramChannel) -> None:
    await channel.send(CHAT, HELLO, Manner(ANN, "t1.0", silent=True))
    await channel.send(CHAT, HELLO, MANNER)

    assert [call.fields.get("disable_notification") for call in telegram.calls] == [True, None]


async def test_buttons_stand_in_their_rows(telegram: Canned, channel: TelegramChannel) -> None:
    buttons = (Button("No", "no:1", 1), Button("Yes", "yes:1"), Button("Later", "later:1", 1))
    await channel.send(CHAT, Rendered("?", buttons=buttons), MANNER)
    await channel.edit(CHAT, "77", Rendered("?", buttons=buttons[1:2]))
    await channel.edit(CHAT, "77", Rendered("?"))

    sent, edited, bare = (call.fields.get("reply_markup") for call in telegram.calls)
    assert sent == {
        "inline_keyboard": [
            [{"text": "Yes", "callback_data": "yes:1"}],
            [{"text": "No", "callback_data": "no:1"}, {"text": "Later", "callback_data": "later:1"}],
        ]
    }
    assert edited == {"inline_keyboard": [[{"text": "Yes", "callback_data": "yes:1"}]]}
    assert bare is None


async def test_a_button_in_a_topic_names_it(telegram: Canned, channel: TelegramChannel) -> None:
    await channel.send(TOPIC, Rendered("?", buttons=(Button("Yes", "yes:1"),)), MANNER)
    await channel.edit(TOPIC, "77", Rendered("?", buttons=(Button("Yes", "yes:1"),)))

    assert [call.fields["reply_markup"]["inline_keyboard"] for call in telegram.calls] == [
        [[{"text": "Yes", "callback_data": "yes:1|55"}]]
    ] * 2


async def test_a_growing_edit_is_an_edit(telegram: Canned, channel: TelegramChannel) -> None:
    await channel.edit(CHAT, "77", HELLO, growing=True)

    assert [call.method for call in telegram.calls] == ["editMessageText"]


async def test_what_telegram_does_not_tell_is_not_asked_for(telegram: Canned, channel: TelegramChannel) -> None:
    assert await channel.introduce(CHAT, ANN) == ANN
    assert await channel.earlier(TOPIC, "77") == ()
    await channel.greet(CHAT, ANN)
    assert telegram.calls == []


async def test_admins_of_a_group_are_whom_telegram_names(telegram: Canned, channel: TelegramChannel) -> None:
    ann = {"id": 1, "is_bot": False, "first_name": "Ann"}
    creator = {"status": "creator", "user": ann, "is_anonymous": False}
    for _ in range(2):
        telegram.say("getChatAdministrators", {"ok": True, "result": [creator]})
    telegram.say("getChatAdministrators", refusal("Bad Request: chat not found"), 400)

    assert await channel.administers(TOPIC, Person("telegram:1"))
    assert not await channel.administers(TOPIC, Person("telegram:11"))
    assert not await channel.administers(TOPIC, Person("telegram:1"))
    assert [call.fields for call in telegram.calls] == [{"chat_id": -100200}] * 3


async def test_the_menu_is_set_in_each_language(telegram: Canned) -> None:
    telegram.usually = {"ok": True, "result": True}
    menus = {"": [("new", "Start afresh")], "id": [("new", "Mulai lagi")]}
    bot = telegram_bot(TOKEN, telegram.url)
    await set_menu(bot, menus)
    telegram.say("setMyCommands", refusal("Bad Request: BOT_COMMAND_INVALID"), 400)
    with pytest.raises(SendRefused):
        await set_menu(bot, {"": [("New!", "x")]})
    await TelegramChannel(bot).close()

    assert [(call.method, call.fields) for call in telegram.calls[:2]] == [
        ("setMyCommands", {"commands": [{"command": "new", "description": "Start afresh"}]}),
        ("setMyCommands", {"commands": [{"command": "new", "description": "Mulai lagi"}], "language_code": "id"}),
    ]


async def test_an_edit_replaces_text_and_entities_without_preview(telegram: Canned, channel: TelegramChannel) -> None:
    await channel.edit(TOPIC, "77", HELLO)

    (call,) = telegram.calls
    assert call.method == "editMessageText"
    assert call.fields == {
        "chat_id": -100200,
        "message_id": 77,
        "text": "hello",
        "entities": [{"type": "bold", "offset": 0, "length": 5}],
        "link_preview_options": {"is_disabled": True},
    }


async def test_an_edit_that_changes_nothing_counts_as_done(telegram: Canned, channel: TelegramChannel) -> None:
    telegram.say("editMessageText", refusal("Bad Request: message is not modified: specified new message..."), 400)

    await channel.edit(CHAT, "77", HELLO)


async def test_the_sign_of_life_is_shown_in_the_topic_and_raises_nothing_but_flood_control(
    telegram: Canned, channel: TelegramChannel
) -> None:
    telegram.say("sendChatAction", {"ok": True, "result": True})
    telegram.say("sendChatAction", refusal("Forbidden: bot was blocked by the user", 403), 403)
    telegram.say("sendChatAction", refusal("Too Many Requests: retry after 3", 429, retry_after=3), 429)

    await channel.typing(TOPIC)
    await channel.typing(TOPIC)
    with pytest.raises(SendLater):
        await channel.typing(TOPIC)
    await channel.typing(TOPIC, active=False)

    assert [call.method for call in telegram.calls] == ["sendChatAction"] * 3
    assert telegram.calls[0].fields == {"chat_id": -100200, "message_thread_id": 55, "action": "typing"}


async def test_flood_control_says_how_long_to_wait(telegram: Canned, channel: TelegramChannel) -> None:
    for method in ("sendMessage", "editMessageText"):
        telegram.say(method, refusal("Too Many Requests: retry after 33", 429, retry_after=33), 429)

    with pytest.raises(SendLater) as sending:
        await channel.send(CHAT, HELLO, MANNER)
    with pytest.raises(SendLater) as editing:
        await channel.edit(CHAT, "77", HELLO)

    assert (sending.value.retry_after, editing.value.retry_after) == (33, 33)


async def test_flood_control_without_a_number_waits_a_little(telegram: Canned, channel: TelegramChannel) -> None:
    telegram.say_raw("sendMessage", Response("slow down", 429))

    with pytest.raises(SendLater) as raised:
        await channel.send(CHAT, HELLO, MANNER)

    assert raised.value.retry_after > 0


@pytest.mark.parametrize(
    ("status", "description", "error"),
    [
        (400, "Bad Request: can't parse entities: Can't find end of the entity", SendRefused),
        (400, "Bad Request: message is too long", SendRefused),
        (400, "Bad Request: message text is empty", SendRefused),
        (400, "Bad Request: message to edit not found", MessageGone),
        (400, "Bad Request: message can't be edited", MessageGone),
        (400, "Bad Request: chat not found", ChatClosed),
        (400, "Bad Request: not enough rights to send text messages to the chat", ChatClosed),
        (400, "Bad Request: message thread not found", ChatClosed),
        (400, "Bad Request: TOPIC_CLOSED", ChatClosed),
        (403, "Forbidden: bot was blocked by the user", ChatClosed),
        (403, "Forbidden: bot was kicked from the supergroup chat", ChatClosed),
        (403, "Forbidden: user is deactivated", ChatClosed),
        (401, "Unauthorized", TokenGone),
        (413, "Request Entity Too Large", SendRefused),
        (500, "Internal Server Error", SendUncertain),
        (502, "Bad Gateway", SendUncertain),
    ],
)
async def test_each_refusal_says_what_to_do_about_it(
    telegram: Canned, channel: TelegramChannel, status: int, description: str, error: type[SendError]
) -> None:
    for method in ("sendMessage", "editMessageText"):
        telegram.say(method, refusal(description, status), status)

    with pytest.raises(SendError) as sending:
        await channel.send(CHAT, HELLO, MANNER)
    with pytest.raises(SendError) as editing:
        await channel.edit(CHAT, "77", HELLO)

    assert (type(sending.value), type(editing.value)) == (error, error)


async def test_a_group_that_moved_names_its_new_id(telegram: Canned, channel: TelegramChannel) -> None:
    moved = refusal("Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=-1002001)
    telegram.say("sendMessage", moved, 400)

    with pytest.raises(ChatMoved) as raised:
        await channel.send(Place("telegram:-451", "-451", group=True), HELLO, MANNER)

    assert raised.value.chat == "-1002001"


@pytest.mark.parametrize("status", [200, 400, 403, 404, 503])
async def test_an_answer_that_is_not_telegrams_leaves_it_uncertain(
    telegram: Canned, channel: TelegramChannel, status: int
) -> None:
    telegram.say_raw("sendMessage", Response("<html>busy</html>", status))

    with pytest.raises(SendUncertain):
        await channel.send(CHAT, HELLO, MANNER)


async def test_a_connection_cut_after_the_request_leaves_it_uncertain_and_is_not_repeated() -> None:
    async with cutting_platform() as (url, received), connected(url) as channel:
        with pytest.raises(SendUncertain):
            await channel.send(CHAT, HELLO, MANNER)

    assert len(received) == 1


async def test_a_telegram_that_was_never_reached_is_tried_later() -> None:
    async with connected(unreachable()) as channel:
        with pytest.raises(SendLater) as raised:
            await channel.send(CHAT, HELLO, MANNER)

    assert raised.value.retry_after > 0


async def test_taking_a_message_back_twice_is_taking_it_back(telegram: Canned, channel: TelegramChannel) -> None:
    telegram.say("deleteMessage", {"ok": True, "result": True})
    telegram.say("deleteMessage", refusal("Bad Request: message to delete not found"), 400)

    await channel.delete(CHAT, "77")
    await channel.delete(CHAT, "77")

    assert [call.fields for call in telegram.calls] == [{"chat_id": 42, "message_id": 77}] * 2


async def test_a_message_too_old_to_take_back_is_gone_for_us(telegram: Canned, channel: TelegramChannel) -> None:
    telegram.say("deleteMessage", refusal("Bad Request: message can't be deleted for everyone"), 400)

    with pytest.raises(MessageGone):
        await channel.delete(CHAT, "77")


async def test_telegram_can_not_be_asked_for_a_mark(telegram: Canned, channel: TelegramChannel) -> None:
    assert await channel.find(CHAT, "t1.0") is None
    assert telegram.calls == []


async def test_the_token_is_in_no_log_line_even_where_everything_is_logged(
    telegram: Canned, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    telegram.say("editMessageText", refusal("Bad Request: chat not found"), 400)
    async with connected(telegram.url) as channel, connected(unreachable()) as lost:
        await channel.send(CHAT, HELLO, MANNER)
        with pytest.raises(ChatClosed):
            await channel.edit(CHAT, "77", HELLO)
        telegram.say("getFile", {"ok": True, "result": {"file_id": "f", "file_unique_id": "u", "file_path": "a/b.txt"}})
        telegram.say_raw("b.txt", Response("gone", 404))
        try:
            await channel.fetch(CHAT, Attachment("document", "f"))
        except SendUncertain:
            logging.getLogger(__name__).exception("not fetched")
        await lost.typing(CHAT)

    assert caplog.records
    assert TOKEN not in caplog.text
