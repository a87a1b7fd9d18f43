"""Which of Telegram's updates concern the bot, and what is made of them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.access import NEVER
from bot.channels.telegram.parse import KINDS, Me, in_topic, parse, tap_reply, typing_reply
from bot.messages import Attachment, Inbound, Json, Person, Place, Quote
from tests.channels.odd_json import JSON, mutated, storable

ME = Me(777001, "MyBot")
ANN = {"id": 42, "is_bot": False, "first_name": "Ann", "last_name": "Lee", "language_code": "id"}
PRIVATE = {"id": 42, "type": "private", "first_name": "Ann"}
GROUP = {"id": -1002345678901, "type": "supergroup", "title": "Trip"}
FORUM = {"id": -100200, "type": "supergroup", "title": "Work", "is_forum": True}
OURS = {"message_id": 5, "date": 90, "chat": GROUP, "from": {"id": ME.id, "is_bot": True, "first_name": "Kabar"}}


def message(text: str = "hi", chat: Json = PRIVATE, **more: Any) -> Json:
    return {"update_id": 1, "message": {"message_id": 10, "date": 100, "from": ANN, "chat": chat, "text": text, **more}}


def mention(offset: int, length: int) -> Json:
    return {"type": "mention", "offset": offset, "length": length}


def parsed(update: Json) -> Inbound:
    inbound = parse(update, ME)
    assert inbound is not None
    return inbound


def test_a_private_message_is_for_us() -> None:
    assert parse(message("hello"), ME) == Inbound(
        place=Place("telegram:42", "42"),
        id="m10",
        order="0000000000000010",
        sender=Person("telegram:42", "Ann Lee", "id"),
        sent_at=100,
        text="hello",
        native_id="10",
    )


def test_a_person_needs_neither_last_name_nor_user_name() -> None:
    update = message("hi", **{"from": {"id": 7_000_000_001, "first_name": "Bo"}})
    assert parsed(update).sender == Person("telegram:7000000001", "Bo")


def test_large_negative_chat_ids_stay_exact() -> None:
    assert parsed(message("@mybot hi", GROUP, entities=[mention(0, 6)])).place == Place(
        "telegram:-1002345678901", "-1002345678901", group=True, title="Trip"
    )


# Groups: only what is said to us.


def test_a_mention_behind_an_emoji_is_heard_and_cut_out() -> None:
    assert parsed(message("😀 @mybot hi", GROUP, entities=[mention(3, 6)])).text == "😀 hi"


def test_a_mention_at_the_end_and_inside_is_cut_out_with_one_space() -> None:
    assert parsed(message("hi @MyBot", GROUP, entities=[mention(3, 6)])).text == "hi"
    assert parsed(message("a @MyBot, b", GROUP, entities=[mention(2, 6)])).text == "a , b"


def test_a_mention_alone_is_still_a_message() -> None:
    assert parsed(message("@mybot", GROUP, entities=[mention(0, 6)])).text == "@mybot"


@pytest.mark.parametrize(
    "entity", [mention(0, 100), mention(-3, 4), mention(9, 9), {"type": "mention"}, {"offset": "x"}]
)
def test_an_entity_outside_the_text_is_no_mention(entity: Json) -> None:
    assert parse(message("hi", GROUP, entities=[entity]), ME) is None


def test_a_mention_of_us_without_a_user_name_is_heard() -> None:
    entity = {"type": "text_mention", "offset": 0, "length": 5, "user": {"id": ME.id, "is_bot": True}}
    assert parsed(message("Kabar hi", GROUP, entities=[entity])).text == "hi"


def test_a_caption_can_name_us() -> None:
    update = message(
        "", GROUP, caption="@mybot what is this?", caption_entities=[mention(0, 6)], photo=[{"file_id": "p"}]
    )
    assert parsed(update).text == "what is this?"


@pytest.mark.parametrize("text", ["lunch?", "mail me at a@mybot", "@otherbot hi"])
def test_a_groups_own_talk_is_not_for_us(text: str) -> None:
    at = text.find("@")
    entities = [mention(0, len("@otherbot"))] if at == 0 else []
    assert parse(message(text, GROUP, entities=entities), ME) is None


def test_a_reply_to_our_message_is_for_us() -> None:
    inbound = parsed(message("and you?", GROUP, reply_to_message={**OURS, "text": "I am fine"}))
    assert inbound.quote == Quote("I am fine", "Kabar", ours=True)


def test_a_reply_to_somebody_else_is_not_for_us() -> None:
    assert parse(message("and you?", GROUP, reply_to_message={**OURS, "from": ANN}), ME) is None


def test_the_first_message_of_a_topic_we_opened_is_not_a_reply_to_us() -> None:
    opened = {**OURS, "forum_topic_created": {"name": "Ideas"}}
    update = message("hm", FORUM, message_thread_id=5, is_topic_message=True, reply_to_message=opened)
    assert parse(update, ME) is None


def test_without_our_user_name_groups_still_reach_us_by_reply_and_by_bare_command() -> None:
    nameless = Me(ME.id)
    assert parse(message("@mybot hi", GROUP, entities=[mention(0, 6)]), nameless) is None
    assert parse(message("/new@MyBot", GROUP), nameless) is None
    assert parse(message("/new", GROUP), nameless) is not None
    assert parse(message("hi", GROUP, reply_to_message=OURS), nameless) is not None


# Commands.


@pytest.mark.parametrize(
    ("text", "command", "rest"),
    [
        ("/new", "new", ""),
        ("/New@mybot", "new", ""),
        ("/RESET@MyBot  now\nplease", "reset", "now\nplease"),
        ("/remind 5 min", "remind", "5 min"),
    ],
)
def test_a_command_is_heard_in_any_case_with_and_without_our_name(text: str, command: str, rest: str) -> None:
    for chat in (PRIVATE, GROUP):
        inbound = parsed(message(text, chat))
        assert (inbound.command, inbound.text) == (command, rest)


def test_a_command_for_another_bot_is_ignored() -> None:
    assert parse(message("/reset@otherbot", GROUP), ME) is None


def test_a_command_for_another_bot_that_also_names_us_is_text() -> None:
    inbound = parsed(message("/reset@otherbot @mybot", GROUP, entities=[mention(16, 6)]))
    assert (inbound.command, inbound.text) == ("", "/reset@otherbot")


def test_a_command_behind_our_name_is_a_command() -> None:
    inbound = parsed(message("@mybot /new", GROUP, entities=[mention(0, 6)]))
    assert (inbound.command, inbound.text) == ("new", "")


@pytest.mark.parametrize("text", ["/usr/bin is full", "see /new", "/"])
def test_a_slash_in_a_text_is_no_command(text: str) -> None:
    inbound = parsed(message(text))
    assert (inbound.command, inbound.text) == ("", text)


def test_a_forwarded_command_is_only_a_quotation() -> None:
    inbound = parsed(message("/new", forward_origin={"type": "user", "sender_user": {"id": 9, "first_name": "Bo"}}))
    assert (inbound.command, inbound.text, inbound.quote) == ("", "", Quote("/new", "Bo"))


# Who is not answered.


@pytest.mark.parametrize(
    "sender",
    [
        {"id": 5, "is_bot": True, "first_name": "Other"},
        {"id": 136817688, "is_bot": True, "username": "Channel_Bot"},
        {"id": 777000, "is_bot": False, "first_name": "Telegram"},
        {},
    ],
)
def test_bots_and_accounts_that_stand_for_many_people_are_not_answered(sender: Json) -> None:
    update = message("ok!", GROUP, reply_to_message=OURS, sender_chat=GROUP, **{"from": sender})
    assert parse(update, ME) is None


ANONYMOUS = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}


def test_an_anonymous_admin_is_heard_where_they_turn_to_us_and_nobody_else_in_that_name() -> None:
    heard = {"from": ANONYMOUS, "sender_chat": GROUP, "reply_to_message": OURS}
    assert parsed(message("hi", GROUP, **heard)).sender.id in NEVER
    assert parse(message("lunch?", GROUP, **{**heard, "reply_to_message": None}), ME) is None
    assert parse(message("hi", GROUP, **{**heard, "sender_chat": {**GROUP, "id": -9}}), ME) is None
    assert parse(message("hi", GROUP, **{**heard, "sender_chat": None}), ME) is None
    assert parse(message("hi", **heard), ME) is None


@pytest.mark.parametrize(
    "update",
    [
        {"update_id": 3, "my_chat_member": {"chat": {"id": 1}, "from": {"id": 2}}},
        {"update_id": 4, "channel_post": {"chat": {"id": -1009}, "text": "hi"}},
        {
            "update_id": 5,
            "message": {"message_id": 1, "chat": {"id": -1009, "type": "channel"}, "from": ANN, "text": "x"},
        },
        {"update_id": 6, "message_reaction": {"chat": PRIVATE}},
        {"update_id": 7, "poll_answer": {"user": ANN}},
        {"update_id": 8, "callback_query": {"id": "q", "from": ANN, "data": "x", "inline_message_id": "i"}},
        {"update_id": 9, "edited_message": {"message_id": 10, "text": "fixed typo", "chat": {"id": 1}}},
        {"update_id": 10, "message": {"message_id": 2, "chat": GROUP, "from": ANN, "new_chat_members": [ANN]}},
        {"update_id": 11},
        {},
    ],
)
def test_other_kinds_of_update_are_none_of_our_business(update: Json) -> None:
    assert parse(update, ME) is None


# Topics.


def test_a_topic_is_a_conversation_of_its_own_and_answers_go_there() -> None:
    update = message("/ask hi", FORUM, message_thread_id=55, is_topic_message=True)
    assert parsed(update).place == Place("telegram:-100200:55", "-100200", "55", group=True, title="Work")


@pytest.mark.parametrize("fields", [{}, {"message_thread_id": 1}, {"message_thread_id": 1, "is_topic_message": True}])
def test_the_general_topic_is_the_chat_itself(fields: Json) -> None:
    place = parsed(message("@mybot hi", FORUM, entities=[mention(0, 6)], **fields)).place
    assert (place.conversation, place.thread) == ("telegram:-100200", "")


def test_a_chain_of_replies_outside_a_forum_is_no_topic() -> None:
    place = parsed(message("/ask", GROUP, message_thread_id=9)).place
    assert (place.conversation, place.thread) == ("telegram:-1002345678901", "")


def test_a_topic_in_a_private_chat_is_a_conversation_of_its_own() -> None:
    place = parsed(message(message_thread_id=7, is_topic_message=True)).place
    assert (place.conversation, place.thread) == ("telegram:42:7", "7")


# What is quoted.


def test_the_picked_part_of_a_quoted_message_wins_over_the_whole() -> None:
    original = {"message_id": 3, "from": {"id": 9, "first_name": "Ann"}, "text": "Bonjour tout le monde"}
    update = message(
        "@mybot translate", GROUP, entities=[mention(0, 6)], reply_to_message=original, quote={"text": "Bonjour"}
    )

    inbound = parsed(update)
    assert inbound.text == "translate"
    assert inbound.quote == Quote("Bonjour", "Ann")


def test_a_quoted_picture_comes_along() -> None:
    original = {"message_id": 3, "from": ANN, "photo": [{"file_id": "p"}]}
    inbound = parsed(message("what is it?", reply_to_message=original))
    photo = Attachment("photo", "p", media_type="image/jpeg")
    assert (inbound.quote, inbound.attachments) == (Quote("", "Ann Lee", attachments=(photo,)), ())


def test_a_quotation_from_another_chat_keeps_its_author() -> None:
    elsewhere = {"origin": {"type": "channel", "chat": {"id": -5, "title": "News"}}, "message_id": 8}
    assert parsed(message("true?", external_reply=elsewhere, quote={"text": "It rains"})).quote == Quote(
        "It rains", "News"
    )


def test_where_the_links_of_quoted_and_of_forwarded_words_lead_can_be_read() -> None:
    link = {"type": "text_link", "offset": 7, "length": 4, "url": "https://e.example/"}
    said: Json = {"text": "@MyBot here", "entities": [mention(0, 6), link]}
    replied = {**said, "message_id": 3, "from": {"id": 9, "first_name": "Bo"}}
    forwarded: Json = {**said, "forward_origin": {"type": "hidden_user", "sender_user_name": "Bo"}}
    for update in (message("and?", reply_to_message=replied), message(**forwarded)):
        assert parsed(update).quote == Quote("@MyBot here (https://e.example/)", "Bo")


def test_a_very_long_quotation_is_shortened() -> None:
    quote = parsed(message("?", reply_to_message={**OURS, "text": "x" * 9_000})).quote
    assert quote is not None and quote.text == "x" * 4_000 + "…"


@pytest.mark.parametrize(
    ("origin", "author"),
    [
        ({"type": "user", "sender_user": {"id": 9, "first_name": "Bo"}}, "Bo"),
        ({"type": "hidden_user", "sender_user_name": "Somebody"}, "Somebody"),
        ({"type": "chat", "sender_chat": {"id": -5, "title": "Team"}}, "Team"),
        ({"type": "channel", "chat": {"id": -5, "title": "News"}}, "News"),
    ],
)
def test_a_forwarded_message_is_a_quotation_of_its_author(origin: Json, author: str) -> None:
    assert parsed(message("do it now", forward_origin=origin)).quote == Quote("do it now", author)


def test_a_message_forwarded_into_a_group_is_not_said_to_us() -> None:
    assert parse(message("@mybot hi", GROUP, entities=[mention(0, 6)], forward_origin={"type": "user"}), ME) is None


# What is attached, and what only entities show.


def test_the_largest_size_of_a_photo_is_taken() -> None:
    sizes = [
        {"file_id": "s", "width": 90, "height": 60, "file_size": 900},
        {"file_id": "l", "width": 1280, "height": 853, "file_size": 90_000},
        {"file_id": "m", "width": 320, "height": 213, "file_size": 9_000},
    ]
    inbound = parsed(message("", photo=sizes, caption="look", media_group_id="g1"))
    assert inbound.attachments == (Attachment("photo", "l", media_type="image/jpeg", size=90_000),)
    assert (inbound.text, inbound.album) == ("look", "g1")


@pytest.mark.parametrize(
    ("fields", "attachment"),
    [
        (
            {"document": {"file_id": "d", "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 5}},
            Attachment("document", "d", "a.pdf", "application/pdf", 5),
        ),
        (
            {"voice": {"file_id": "v", "mime_type": "audio/ogg", "duration": 8}},
            Attachment("voice", "v", media_type="audio/ogg", description="8 s"),
        ),
        (
            {"sticker": {"file_id": "s", "emoji": "🎉"}},
            Attachment("sticker", "s", media_type="image/webp", description="🎉"),
        ),
        ({"animation": {"file_id": "a"}, "document": {"file_id": "a"}}, Attachment("animation", "a")),
        (
            {"location": {"latitude": -7.9425, "longitude": 112.953}},
            Attachment("location", description="-7.942500, 112.953000"),
        ),
        (
            {"venue": {"title": "Bromo", "address": "Java", "location": {"latitude": 1, "longitude": 2}}},
            Attachment("venue", description="Bromo, Java, 1.000000, 2.000000"),
        ),
        ({"contact": {"first_name": "Bo", "phone_number": "+62"}}, Attachment("contact", description="Bo, +62")),
        (
            {"poll": {"question": "Tea?", "options": [{"text": "yes"}, {"text": "no"}]}},
            Attachment("poll", description="Tea?: yes / no"),
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, Attachment("dice", description="🎲 4")),
    ],
)
def test_a_message_without_text_says_what_it_holds(fields: Json, attachment: Attachment) -> None:
    assert parsed(message("", **fields)).attachments == (attachment,)


def test_the_model_can_read_where_links_lead_and_what_is_code() -> None:
    entities = [
        {"type": "text_link", "offset": 3, "length": 4, "url": "https://e.example/"},
        {"type": "code", "offset": 12, "length": 3},
        {"type": "pre", "offset": 16, "length": 5, "language": "py"},
        {"type": "bold", "offset": 0, "length": 2},
    ]
    inbound = parsed(message("😀 here and a=1 b = 2", entities=entities))
    assert inbound.text == "😀 here (https://e.example/) and `a=1` ```py\nb = 2\n```"


def test_of_two_entities_over_the_same_words_the_inner_is_written_out() -> None:
    link = {"type": "text_link", "offset": 2, "length": 2, "url": "https://e.example/"}
    inbound = parsed(message("abcd ef", entities=[{"type": "code", "offset": 0, "length": 4}, link]))
    assert inbound.text == "abcd (https://e.example/) ef"


# Edits, taps, and what happens to the chat.


def test_an_edit_has_its_own_id_and_sorts_right_after_what_it_edits() -> None:
    original, later = parsed(message("helo")), parsed(message("next", message_id=11))
    update = message("hello", edit_date=170)
    edit = parsed({"update_id": 2, "edited_message": update["message"]})

    assert (edit.kind, edit.id, edit.native_id, edit.text, edit.sent_at) == ("edit", "e10.170", "10", "hello", 170)
    assert sorted([later.key, edit.key, original.key]) == [original.key, edit.key, later.key]


def test_messages_sort_as_text_in_the_order_they_were_sent() -> None:
    keys = [parsed(message(message_id=number)).key for number in (9, 10, 99, 100, 2_147_483_647)]
    assert keys == sorted(keys)


def test_a_live_location_on_the_move_is_not_an_edit_to_answer() -> None:
    moved = message("", edit_date=170, location={"latitude": 1.5, "longitude": 2.5})
    assert parse({"update_id": 2, "edited_message": moved["message"]}, ME) is None


def tap(**more: Any) -> Json:
    button = {
        "message_id": 30,
        "date": 120,
        "chat": FORUM,
        "from": OURS["from"],
        "message_thread_id": 55,
        "is_topic_message": True,
    }
    return {"update_id": 1, "callback_query": {"id": "q1", "from": ANN, "message": button, "data": "ok:7f", **more}}


def test_a_tap_carries_the_buttons_token_and_stays_in_its_topic() -> None:
    inbound = parsed(tap())
    assert (inbound.kind, inbound.data, inbound.native_id) == ("tap", "ok:7f", "30")
    assert inbound.place == Place("telegram:-100200:55", "-100200", "55", group=True, title="Work")


def test_a_tap_under_a_message_of_days_ago_stays_in_its_topic_too() -> None:
    old = {"message_id": 30, "chat": FORUM, "date": 0}
    inbound = parsed(tap(message=old, data=in_topic("ok:7f", "55")))
    assert (inbound.data, inbound.place, inbound.key) == ("ok:7f", parsed(tap()).place, parsed(tap()).key)
    assert parsed(tap(data=in_topic("ok:7f", "55"))) == parsed(tap())
    long = "set:model:" + "m" * 54
    assert (in_topic(long, "55"), in_topic(long, "")) == (long, long)


def test_a_tap_sent_again_with_new_ids_is_the_same_tap() -> None:
    assert parsed(tap(id="q2")).key == parsed(tap()).key


def test_two_people_tapping_one_button_are_two_taps() -> None:
    assert parsed(tap(**{"from": {**ANN, "id": 43}})).key != parsed(tap()).key


def test_a_tap_without_a_person_is_ignored() -> None:
    assert parse(tap(**{"from": {}}), ME) is None


def member(before: str, after: str) -> Json:
    change = {"chat": PRIVATE, "from": ANN, "date": 140}
    return {"my_chat_member": {**change, "old_chat_member": {"status": before}, "new_chat_member": {"status": after}}}


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [("member", "kicked", "left"), ("kicked", "member", "joined"), ("left", "administrator", "joined")],
)
def test_being_blocked_and_let_back_in_is_noticed(before: str, after: str, kind: str) -> None:
    inbound = parsed(member(before, after))
    assert (inbound.kind, inbound.conversation, inbound.id) == (kind, "telegram:42", f"{kind}.140")


def test_becoming_an_administrator_changes_nothing() -> None:
    assert parse(member("member", "administrator"), ME) is None


def test_both_messages_about_a_group_that_moved_are_the_same_thing() -> None:
    old_side = {
        "message_id": 7,
        "date": 150,
        "chat": {"id": -451, "type": "group"},
        "from": ANN,
        "migrate_to_chat_id": -1002001,
    }
    new_side = {
        "message_id": 1,
        "date": 150,
        "chat": {"id": -1002001, "type": "supergroup"},
        "migrate_from_chat_id": -451,
    }

    told_by_old, told_by_new = parsed({"message": old_side}), parsed({"message": new_side})
    assert (told_by_old.kind, told_by_old.conversation, told_by_old.data) == ("moved", "telegram:-451", "-1002001")
    assert (told_by_new.conversation, told_by_new.key, told_by_new.data) == (
        "telegram:-451",
        told_by_old.key,
        "-1002001",
    )


# The webhook's reply body.


def test_the_sign_of_life_goes_to_the_messages_own_topic() -> None:
    inbound = parsed(message("/ask", FORUM, message_thread_id=55, is_topic_message=True))
    assert typing_reply(inbound) == {
        "method": "sendChatAction",
        "chat_id": -100200,
        "action": "typing",
        "message_thread_id": 55,
    }
    assert "message_thread_id" not in typing_reply(parsed(message()))


def test_a_tap_is_acknowledged_in_the_reply_body() -> None:
    assert tap_reply(tap()) == {"method": "answerCallbackQuery", "callback_query_id": "q1"}


# Outside data.

REAL = [
    message(
        "😀 @mybot hi", GROUP, entities=[mention(3, 6), {"type": "code", "offset": 0, "length": 2}], quote={"text": "q"}
    ),
    message("/x@MyBot y", FORUM, message_thread_id=5, is_topic_message=True, reply_to_message={**OURS, "text": "t"}),
    message(
        "",
        photo=[{"file_id": "p", "width": 1, "height": 1}],
        caption="c",
        forward_origin={"type": "user", "sender_user": ANN},
    ),
    message("", venue={"location": {"latitude": 1, "longitude": 2}}, poll={"options": [{"text": "a"}]}, contact=ANN),
    message(
        "",
        GROUP,
        rich_message={"blocks": [{"type": "paragraph", "text": [{"type": "mention", "text": "@MyBot"}, " hi"]}]},
        reply_to_message={**OURS, "document": {"file_id": "d"}},
    ),
    {"stopped_message_generation": {"chat": PRIVATE, "message_thread_id": 7, "draft_id": 8}},
    {"edited_message": message("x", edit_date=3)["message"]},
    tap(),
    member("member", "kicked"),
    {"message": {"message_id": 7, "chat": {"id": -451}, "migrate_to_chat_id": -1002001}},
]


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(KINDS), JSON))
def test_any_json_object_is_understood_or_ignored(update: Json) -> None:
    assert storable(parse(update, ME))


@settings(deadline=None)
@given(mutated(REAL))
def test_an_odd_update_is_understood_or_ignored_and_can_be_stored(update: Json) -> None:
    assert storable(parse(update, ME))


def test_half_a_surrogate_pair_in_a_text_can_be_stored() -> None:
    update = json.loads(json.dumps(message("cut \ud83d", **{"from": {**ANN, "first_name": "\udc00"}})))
    assert storable(parse(update, ME)) and parsed(update).text == "cut \ufffd"
