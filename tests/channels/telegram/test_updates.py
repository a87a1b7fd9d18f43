"""Every kind of update, read by us and by python-telegram-bot: where both speak of a thing, they say the same."""

from collections.abc import Sequence

import pytest
import telegram

from bot.channels.telegram.parse import parse, tap_reply, typing_reply
from bot.messages import Inbound, Json
from tests.channels.telegram.updates import CASES, ME, Case

FILE_KINDS = ("document", "voice", "audio", "video", "video_note", "animation", "sticker")


def named(cases: Sequence[Case]) -> list[object]:
    return [pytest.param(case, id=case.name) for case in cases]


@pytest.mark.parametrize("case", named(CASES))
def test_an_update_is_what_it_is_to_us(case: Case) -> None:
    assert parse(case.update, ME) == case.inbound


def test_there_are_many_kinds_and_no_two_have_one_name() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", named(CASES))
def test_the_sdk_reads_the_same_out_of_it(case: Case) -> None:
    update = telegram.Update.de_json(case.update, None)
    inbound = case.inbound
    if inbound is None or inbound.kind in ("stop", "moved"):
        return
    if inbound.kind in ("left", "joined"):
        assert update.my_chat_member is not None
        assert inbound.place.chat == str(update.my_chat_member.chat.id)
        return
    if inbound.kind == "tap":
        assert update.callback_query is not None and update.callback_query.message is not None
        assert (inbound.data, inbound.native_id) == (
            update.callback_query.data,
            str(update.callback_query.message.message_id),
        )
        return
    message = update.effective_message
    assert message is not None and message.from_user is not None
    assert inbound.native_id == str(message.message_id)
    assert inbound.place.chat == str(message.chat.id)
    assert inbound.place.thread in ("", str(message.message_thread_id))
    assert inbound.sender.id == f"telegram:{message.from_user.id}"
    assert inbound.sent_at == int((message.edit_date or message.date).timestamp())
    if "rich_message" in message.api_kwargs:
        return  # the SDK does not know them yet
    assert files_of(message) == [(file.kind, file.id) for file in inbound.attachments if file.id]
    if message.reply_to_message and inbound.quote:
        quoted = [(file.kind, file.id) for file in inbound.quote.attachments if file.id]
        assert files_of(message.reply_to_message) == quoted
    assert said(message) == plain(inbound)


def files_of(message: telegram.Message) -> list[tuple[str, str]]:
    found = [("photo", message.photo[-1].file_id)] if message.photo else []
    for kind in FILE_KINDS:
        file = getattr(message, kind)
        if file and not (kind == "document" and message.animation):
            found.append((kind, file.file_id))
    return found


def said(message: telegram.Message) -> str:
    """The text as it is to be read, by the SDK's idea of what each entity lies over."""
    text = message.text or message.caption or ""
    for entity, covered in {**message.parse_entities(), **message.parse_caption_entities()}.items():
        match entity.type:
            case "mention" | "text_mention":
                shown = ""
            case "text_link":
                shown = f"{covered} ({entity.url})"
            case "code":
                shown = f"`{covered}`"
            case "bot_command":
                shown = covered.lower().partition("@")[0]
            case _:
                shown = covered
        text = text.replace(covered, shown, 1)
    return " ".join(text.split())


def plain(inbound: Inbound) -> str:
    """What was written, of whoever it is."""
    forwarded = inbound.quote is not None and not inbound.words and not inbound.quote.text.startswith("[")
    words = inbound.quote.text if inbound.quote and forwarded else inbound.words
    return " ".join(words.split())


@pytest.mark.parametrize("case", named([case for case in CASES if case.inbound and case.inbound.kind == "message"]))
def test_the_sign_of_life_is_a_call_the_sdk_would_make(case: Case) -> None:
    assert case.inbound is not None
    call = typing_reply(case.inbound)
    assert (call["method"], call["action"], str(call["chat_id"])) == (
        "sendChatAction",
        "typing",
        case.inbound.place.chat,
    )
    assert str(call.get("message_thread_id", "")) == case.inbound.place.thread


def test_every_tap_is_acknowledged_whether_it_concerns_us_or_not() -> None:
    taps: list[Json] = [case.update for case in CASES if "callback_query" in case.update]
    assert [tap_reply(tap)["callback_query_id"] for tap in taps] == ["q1"] * 3
