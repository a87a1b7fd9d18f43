"""Updates in the shapes Telegram sends them in, every required field there, and what each is to us."""

from typing import Any

from msgspec import Struct

from bot.channels.telegram.parse import Me
from bot.messages import Attachment, Inbound, Json, Person, Place, Quote

ME = Me(777001, "MyBot")
BOT: Json = {"id": ME.id, "is_bot": True, "first_name": "Kabar", "username": "MyBot"}
ANN: Json = {
    "id": 42,
    "is_bot": False,
    "first_name": "Ann",
    "last_name": "Lee",
    "username": "ann",
    "language_code": "id",
}
BO: Json = {"id": 9, "is_bot": False, "first_name": "Bo"}
CHANNEL: Json = {"id": -1009, "type": "channel", "title": "News", "username": "news"}
PRIVATE: Json = {"id": 42, "type": "private", "first_name": "Ann", "last_name": "Lee", "username": "ann"}
GROUP: Json = {"id": -1002345678901, "type": "supergroup", "title": "Trip"}
BASIC: Json = {"id": -451, "type": "group", "title": "Old trip", "all_members_are_administrators": True}
FORUM: Json = {"id": -100200, "type": "supergroup", "title": "Work", "is_forum": True}

SENDER = Person("telegram:42", "Ann Lee", "id")
HOME = Place("telegram:42", "42")
TRIP = Place("telegram:-1002345678901", "-1002345678901", group=True, title="Trip")
WORK = Place("telegram:-100200", "-100200", group=True, title="Work")
SUPPORT = Place("telegram:-100200:55", "-100200", "55", group=True, title="Work")


class Case(Struct, frozen=True):
    """``inbound`` is None where the update is none of our business."""

    name: str
    update: Json
    inbound: Inbound | None


def native(chat: Json = PRIVATE, sender: Json = ANN, number: int = 10, **content: Any) -> Json:
    return {"message_id": number, "from": sender, "chat": chat, "date": 1_764_500_000, **content}


def update(kind: str, body: Json) -> Json:
    return {"update_id": 700_000_001, kind: body}


def written(**fields: Any) -> Inbound:
    """What is made of ``native``; ``fields`` are what differs."""
    usual: Json = {"place": HOME, "id": "m10", "order": "0000000000000010", "sender": SENDER, "sent_at": 1_764_500_000}
    return Inbound(**{**usual, "native_id": "10", **fields})


def message(name: str, expected: Inbound | None, **content: Any) -> Case:
    return Case(name, update("message", native(**content)), expected)


def mention(offset: int = 0, length: int = 6) -> Json:
    return {"type": "mention", "offset": offset, "length": length}


def command(length: int) -> Json:
    return {"type": "bot_command", "offset": 0, "length": length}


def photo(name: str = "p") -> list[Json]:
    return [
        {"file_id": f"{name}-s", "file_unique_id": f"u{name}s", "width": 90, "height": 60, "file_size": 900},
        {"file_id": f"{name}-l", "file_unique_id": f"u{name}l", "width": 1280, "height": 853, "file_size": 90_000},
    ]


def photo_read(name: str = "p") -> Attachment:
    return Attachment("photo", f"{name}-l", media_type="image/jpeg", size=90_000)


def file(name: str, **more: Any) -> Json:
    return {"file_id": name, "file_unique_id": f"u{name}", "file_size": 5_000, **more}


def topic(number: int = 55) -> Json:
    """The service message that opened a topic."""
    opened = {"name": "Support", "icon_color": 7322096}
    return native(FORUM, BO, number, message_thread_id=number, is_topic_message=True, forum_topic_created=opened)


OURS = native(number=5, sender=BOT, text="I am fine")
QUOTED_OURS = Quote("I am fine", "Kabar", ours=True)

TEXTS = [
    message("a text", written(text="hello"), text="hello"),
    message("/start", written(command="start"), text="/start", entities=[command(6)]),
    message(
        "/start from a link with a payload",
        written(command="start", text="invite-7f"),
        text="/start invite-7f",
        entities=[command(6)],
    ),
    message(
        "a text with a link, code and a style",
        written(text="😀 here (https://e.example/) and `a=1` now"),
        text="😀 here and a=1 now",
        entities=[
            {"type": "text_link", "offset": 3, "length": 4, "url": "https://e.example/"},
            {"type": "code", "offset": 12, "length": 3},
            {"type": "bold", "offset": 16, "length": 3},
        ],
    ),
    message(
        "a text through another bot",
        written(text="9:41 in Malang"),
        text="9:41 in Malang",
        via_bot={**BO, "is_bot": True},
    ),
    message(
        "a rich message",
        written(text="# Plan\nask Bo (https://e.example/)\n• [x] tent\n```py\na=1\n```", attachments=(photo_read(),)),
        rich_message={
            "blocks": [
                {"type": "heading", "size": 1, "text": "Plan"},
                {"type": "paragraph", "text": ["ask ", {"type": "url", "text": "Bo", "url": "https://e.example/"}]},
                {
                    "type": "list",
                    "items": [
                        {
                            "label": "•",
                            "has_checkbox": True,
                            "is_checked": True,
                            "blocks": [{"type": "paragraph", "text": {"type": "bold", "text": "tent"}}],
                        }
                    ],
                },
                {"type": "pre", "text": "a=1", "language": "py"},
                {"type": "photo", "photo": photo()},
            ]
        },
    ),
]

QUOTATIONS = [
    message("a reply to us", written(text="and you?", quote=QUOTED_OURS), text="and you?", reply_to_message=OURS),
    message(
        "a reply to a picked part",
        written(text="translate", quote=Quote("Bonjour", "Bo")),
        text="translate",
        reply_to_message=native(sender=BO, number=3, text="Bonjour tout le monde"),
        quote={"text": "Bonjour", "position": 0, "is_manual": True},
    ),
    message(
        "a question about somebody else's picture",
        written(text="what is it?", quote=Quote("", "Bo", attachments=(photo_read("q"),))),
        text="what is it?",
        reply_to_message=native(sender=BO, number=3, photo=photo("q")),
    ),
    message(
        "a reply to a place",
        written(
            text="how far?",
            quote=Quote("", "Bo", attachments=(Attachment("location", description="-7.942500, 112.953000"),)),
        ),
        text="how far?",
        reply_to_message=native(sender=BO, number=3, location={"latitude": -7.9425, "longitude": 112.953}),
    ),
    message(
        "a reply to a message in another chat",
        written(
            text="true?",
            quote=Quote(
                "It rains", "News", attachments=(Attachment("document", "d", "a.pdf", "application/pdf", 5_000),)
            ),
        ),
        text="true?",
        external_reply={
            "origin": {"type": "channel", "chat": CHANNEL, "message_id": 8, "date": 90},
            "chat": CHANNEL,
            "message_id": 8,
            "document": file("d", file_name="a.pdf", mime_type="application/pdf"),
        },
        quote={"text": "It rains", "position": 4},
    ),
    message("a reply to a story", written(text="nice"), text="nice", reply_to_story={"chat": CHANNEL, "id": 3}),
    message(
        "somebody's forwarded words",
        written(quote=Quote("do it now", "Bo")),
        text="do it now",
        forward_origin={"type": "user", "date": 90, "sender_user": BO},
    ),
    message(
        "forwarded words of somebody hidden",
        written(quote=Quote("do it now", "Somebody")),
        text="do it now",
        forward_origin={"type": "hidden_user", "date": 90, "sender_user_name": "Somebody"},
    ),
    message(
        "forwarded words of a group",
        written(quote=Quote("do it now", "Trip")),
        text="do it now",
        forward_origin={"type": "chat", "date": 90, "sender_chat": GROUP},
    ),
    message(
        "a channel's forwarded post",
        written(quote=Quote("Rain", "News"), attachments=(photo_read(),)),
        photo=photo(),
        caption="Rain",
        forward_origin={"type": "channel", "date": 90, "chat": CHANNEL, "message_id": 8},
    ),
]

FILES = [
    message("a photo", written(attachments=(photo_read(),)), photo=photo()),
    message(
        "a photo of an album",
        written(text="before", attachments=(photo_read(),), album="g1"),
        photo=photo(),
        caption="before",
        media_group_id="g1",
    ),
    message(
        "a document",
        written(text="read it", attachments=(Attachment("document", "d", "a.pdf", "application/pdf", 5_000),)),
        document=file("d", file_name="a.pdf", mime_type="application/pdf"),
        caption="read it",
    ),
    message(
        "a voice message",
        written(attachments=(Attachment("voice", "v", "", "audio/ogg", 5_000, "8 s"),)),
        voice=file("v", duration=8, mime_type="audio/ogg"),
    ),
    message(
        "music",
        written(attachments=(Attachment("audio", "a", "a.mp3", "audio/mpeg", 5_000, "Gesang, Bengawan Solo, 180 s"),)),
        audio=file(
            "a", duration=180, performer="Gesang", title="Bengawan Solo", file_name="a.mp3", mime_type="audio/mpeg"
        ),
    ),
    message(
        "a video",
        written(text="look", attachments=(Attachment("video", "v", "v.mp4", "video/mp4", 5_000, "12 s"),)),
        video=file("v", duration=12, width=640, height=360, file_name="v.mp4", mime_type="video/mp4"),
        caption="look",
    ),
    message(
        "a video message",
        written(attachments=(Attachment("video_note", "n", "", "video/mp4", 5_000, "4 s"),)),
        video_note=file("n", length=240, duration=4),
    ),
    message(
        "an animation, told twice",
        written(attachments=(Attachment("animation", "g", "g.mp4", "video/mp4", 5_000, "2 s"),)),
        animation=file("g", duration=2, width=90, height=90, file_name="g.mp4", mime_type="video/mp4"),
        document=file("g", file_name="g.mp4", mime_type="video/mp4"),
    ),
    message(
        "a sticker",
        written(attachments=(Attachment("sticker", "s", "", "image/webp", 5_000, "🎉"),)),
        sticker=file("s", type="regular", width=512, height=512, is_animated=False, is_video=False, emoji="🎉"),
    ),
    message(
        "a sticker that moves",
        written(attachments=(Attachment("sticker", "s", "", "video/webm", 5_000),)),
        sticker=file("s", type="regular", width=512, height=512, is_animated=False, is_video=True),
    ),
]

TOLD = [
    message(
        "a place",
        written(attachments=(Attachment("location", description="-7.942500, 112.953000"),)),
        location={"latitude": -7.9425, "longitude": 112.953},
    ),
    message(
        "a place on the move",
        written(attachments=(Attachment("location", description="1.000000, 2.000000"),)),
        location={"latitude": 1, "longitude": 2, "live_period": 900, "heading": 90},
    ),
    message(
        "a place with a name, told twice",
        written(attachments=(Attachment("venue", description="Bromo, Java, 1.000000, 2.000000"),)),
        venue={"location": {"latitude": 1, "longitude": 2}, "title": "Bromo", "address": "Java"},
        location={"latitude": 1, "longitude": 2},
    ),
    message(
        "a contact",
        written(attachments=(Attachment("contact", description="Bo Tan, +62811"),)),
        contact={"phone_number": "+62811", "first_name": "Bo", "last_name": "Tan", "user_id": 9},
    ),
    message(
        "a poll",
        written(attachments=(Attachment("poll", description="Tea?: yes / no"),)),
        poll={
            "id": "1",
            "question": "Tea?",
            "options": [{"text": text, "voter_count": 0, "persistent_id": text} for text in ("yes", "no")],
            "total_voter_count": 0,
            "is_closed": False,
            "is_anonymous": True,
            "type": "regular",
            "allows_multiple_answers": False,
            "allows_revoting": True,
            "members_only": False,
        },
    ),
    message(
        "a checklist",
        written(attachments=(Attachment("checklist", description="Trip: tent / map"),)),
        checklist={"title": "Trip", "tasks": [{"id": 1, "text": "tent"}, {"id": 2, "text": "map"}]},
    ),
    message("a die", written(attachments=(Attachment("dice", description="🎲 4"),)), dice={"emoji": "🎲", "value": 4}),
    message(
        "a game",
        written(attachments=(Attachment("game", description="Chess: A duel"),)),
        game={"title": "Chess", "description": "A duel", "photo": photo()},
    ),
    message(
        "a forwarded story",
        written(attachments=(Attachment("story", description="of News, not shown to bots"),)),
        story={"chat": CHANNEL, "id": 3},
    ),
    message(
        "paid media",
        written(attachments=(Attachment("paid media", description="5 stars, not shown to bots"),)),
        paid_media={"star_count": 5, "paid_media": [{"type": "preview", "width": 9, "height": 9, "duration": 1}]},
    ),
]

GROUPS = [
    message(
        "a group's message that names us behind an emoji",
        written(place=TRIP, text="😀 hi"),
        chat=GROUP,
        text="😀 @mybot hi",
        entities=[mention(3)],
    ),
    message(
        "a group's message that names us by account",
        written(place=TRIP, text="hi"),
        chat=GROUP,
        text="Kabar hi",
        entities=[{"type": "text_mention", "offset": 0, "length": 5, "user": BOT}],
    ),
    message(
        "a group's rich message that names us",
        written(place=TRIP, text="what now?"),
        chat=GROUP,
        rich_message={
            "blocks": [
                {
                    "type": "paragraph",
                    "text": [{"type": "mention", "text": "@MyBot", "username": "MyBot"}, " what now?"],
                }
            ]
        },
    ),
    message(
        "a group's command with our name",
        written(place=TRIP, command="new", text="please"),
        chat=GROUP,
        text="/New@MYBOT please",
        entities=[command(10)],
    ),
    message("another bot's command", None, chat=GROUP, text="/new@other", entities=[command(10)]),
    message("a group's own talk", None, chat=GROUP, text="lunch?"),
    message(
        "a group's reply to us",
        written(place=TRIP, text="and you?", quote=QUOTED_OURS),
        chat=GROUP,
        text="and you?",
        reply_to_message={**OURS, "chat": GROUP},
    ),
    message(
        "a piece of an album that does not name us",
        written(place=TRIP, attachments=(photo_read(),), album="g1", addressed=False),
        chat=GROUP,
        photo=photo(),
        media_group_id="g1",
    ),
    message(
        "the piece of an album that names us",
        written(place=TRIP, text="compare", attachments=(photo_read(),), album="g1"),
        chat=GROUP,
        photo=photo(),
        caption="@MyBot compare",
        caption_entities=[mention()],
        media_group_id="g1",
    ),
    message("a group's photo alone", None, chat=GROUP, photo=photo()),
    message(
        "an anonymous admin",
        written(place=TRIP, sender=Person("telegram:1087968824", "Group"), text="hi"),
        chat=GROUP,
        sender={"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"},
        sender_chat=GROUP,
        text="@mybot hi",
        entities=[mention()],
    ),
    message(
        "somebody who speaks as a channel",
        None,
        chat=GROUP,
        sender={"id": 136817688, "is_bot": True, "first_name": "Channel", "username": "Channel_Bot"},
        sender_chat=CHANNEL,
        text="/new",
        entities=[command(4)],
    ),
    message(
        "a post of the linked channel",
        None,
        chat=GROUP,
        sender={"id": 777000, "is_bot": False, "first_name": "Telegram"},
        sender_chat=CHANNEL,
        is_automatic_forward=True,
        forward_origin={"type": "channel", "date": 90, "chat": CHANNEL, "message_id": 8},
        text="@mybot hi",
        entities=[mention()],
    ),
    message(
        "another bot",
        None,
        chat=GROUP,
        sender={**BO, "is_bot": True},
        text="ok!",
        reply_to_message={**OURS, "chat": GROUP},
    ),
    message(
        "words forwarded into a group",
        None,
        chat=GROUP,
        text="@mybot hi",
        entities=[mention()],
        forward_origin={"type": "user", "date": 90, "sender_user": BO},
    ),
]

TOPICS = [
    message(
        "a message in a topic",
        written(place=SUPPORT, command="ask", text="hi"),
        chat=FORUM,
        text="/ask hi",
        entities=[command(4)],
        message_thread_id=55,
        is_topic_message=True,
        reply_to_message=topic(),
    ),
    message(
        "a message in the general topic",
        written(place=WORK, text="hi"),
        chat=FORUM,
        text="@mybot hi",
        entities=[mention()],
    ),
    message(
        "a chain of replies that is no topic",
        written(place=TRIP, text="and you?", quote=QUOTED_OURS),
        chat=GROUP,
        text="and you?",
        message_thread_id=5,
        reply_to_message={**OURS, "chat": GROUP},
    ),
    message(
        "a message in a private chat's topic",
        written(place=Place("telegram:42:7", "42", "7"), text="hi"),
        text="hi",
        message_thread_id=7,
        is_topic_message=True,
    ),
]

SERVICE = [
    message("a new member", None, chat=GROUP, new_chat_members=[BO]),
    message("a pinned message", None, chat=GROUP, pinned_message={**OURS, "chat": GROUP}),
    message("a new title", None, chat=GROUP, new_chat_title="Trip 2"),
    Case("a new topic", update("message", topic()), None),
    message("a right to write", None, write_access_allowed={"from_request": True}),
    message(
        "a group that became a supergroup, told by the old one",
        Inbound(
            Place("telegram:-451", "-451", group=True),
            "moved.-1002001",
            "0" * 16,
            SENDER,
            1_764_500_000,
            "moved",
            data="-1002001",
        ),
        chat=BASIC,
        migrate_to_chat_id=-1002001,
    ),
    message(
        "a group that became a supergroup, told by the new one",
        Inbound(
            Place("telegram:-451", "-451", group=True),
            "moved.-1002001",
            "0" * 16,
            SENDER,
            1_764_500_000,
            "moved",
            data="-1002001",
        ),
        chat={"id": -1002001, "type": "supergroup", "title": "Old trip"},
        migrate_from_chat_id=-451,
    ),
]

EDITS = [
    Case(
        "an edit",
        update("edited_message", native(text="hello", edit_date=1_764_500_070)),
        written(
            id="e10.1764500070", order="0000000000000010.1764500070", sent_at=1_764_500_070, kind="edit", text="hello"
        ),
    ),
    Case(
        "an edit that names us",
        update("edited_message", native(GROUP, text="@mybot hi", entities=[mention()], edit_date=1_764_500_070)),
        written(
            place=TRIP,
            id="e10.1764500070",
            order="0000000000000010.1764500070",
            sent_at=1_764_500_070,
            kind="edit",
            text="hi",
        ),
    ),
    Case(
        "an edit of an album's piece that does not name us",
        update(
            "edited_message", native(GROUP, photo=photo(), caption="x", media_group_id="g1", edit_date=1_764_500_070)
        ),
        None,
    ),
    Case(
        "a step of a place on the move",
        update(
            "edited_message",
            native(location={"latitude": 1, "longitude": 2, "live_period": 900}, edit_date=1_764_500_070),
        ),
        None,
    ),
]


def tap(**more: Any) -> Json:
    return update("callback_query", {"id": "q1", "from": ANN, "chat_instance": "c", "data": "ok:7f", **more})


def tapped(**fields: Any) -> Inbound:
    usual: Json = {"id": "c30.42.ok:7f", "order": "0000000000000030", "native_id": "30", "kind": "tap", "data": "ok:7f"}
    return written(**{**usual, **fields})


BUTTON = native(FORUM, BOT, 30, text="Shall I?", message_thread_id=55, is_topic_message=True)

TAPS = [
    Case("a tap", tap(message=BUTTON), tapped(place=SUPPORT)),
    Case(
        "a tap under a message that is too old to be told",
        tap(message={"message_id": 30, "chat": PRIVATE, "date": 0}),
        tapped(sent_at=0),
    ),
    Case("a tap under an inline message", tap(inline_message_id="i1"), None),
]


def membership(before: str, after: str, chat: Json = PRIVATE, **member: Any) -> Json:
    until = {"until_date": 0}
    change = {"chat": chat, "from": ANN, "date": 1_764_500_000}
    members = [{"user": BOT, "status": status, **(until if status == "kicked" else {})} for status in (before, after)]
    return update(
        "my_chat_member", {**change, "old_chat_member": members[0], "new_chat_member": {**members[1], **member}}
    )


RIGHTS = dict.fromkeys(
    (
        "can_send_messages",
        "can_send_audios",
        "can_send_documents",
        "can_send_photos",
        "can_send_videos",
        "can_send_video_notes",
        "can_send_voice_notes",
        "can_send_polls",
        "can_send_other_messages",
        "can_add_web_page_previews",
        "can_change_info",
        "can_invite_users",
        "can_pin_messages",
        "can_manage_topics",
        "can_edit_tag",
        "can_react_to_messages",
    ),
    False,
)


def news(kind: str, place: Place) -> Inbound:
    return written(place=place, id=f"{kind}.1764500000", order="0" * 16, native_id="", kind=kind)


MEMBERSHIPS = [
    Case("being blocked", membership("member", "kicked"), news("left", HOME)),
    Case("being let in again", membership("kicked", "member"), news("joined", HOME)),
    Case("being added to a group", membership("left", "member", GROUP), news("joined", TRIP)),
    Case("being thrown out of a group", membership("member", "kicked", GROUP), news("left", TRIP)),
    Case(
        "being restricted and still there",
        membership("member", "restricted", GROUP, is_member=True, until_date=0, **RIGHTS),
        None,
    ),
    Case(
        "being restricted and gone",
        membership("member", "restricted", GROUP, is_member=False, until_date=0, **RIGHTS),
        news("left", TRIP),
    ),
]

OTHERS = [
    Case("a channel's post", update("channel_post", {**native(CHANNEL, text="hi"), "sender_chat": CHANNEL}), None),
    Case("a message to a business", update("business_message", native(text="hi", business_connection_id="b")), None),
    Case("a message to a guest", update("guest_message", native(GROUP, text="hi")), None),
    Case(
        "a reaction",
        update(
            "message_reaction",
            {
                "chat": PRIVATE,
                "message_id": 10,
                "user": ANN,
                "date": 1_764_500_000,
                "old_reaction": [],
                "new_reaction": [{"type": "emoji", "emoji": "👍"}],
            },
        ),
        None,
    ),
    Case(
        "a vote",
        update("poll_answer", {"poll_id": "1", "user": ANN, "option_ids": [0], "option_persistent_ids": ["a"]}),
        None,
    ),
    Case("an inline query", update("inline_query", {"id": "i", "from": ANN, "query": "x", "offset": ""}), None),
    Case(
        "a wish to join",
        update("chat_join_request", {"chat": GROUP, "from": ANN, "user_chat_id": 42, "date": 1_764_500_000}),
        None,
    ),
    Case(
        "Stop beside a growing draft",
        update("stopped_message_generation", {"chat": PRIVATE, "draft_id": 7}),
        Inbound(HOME, "s7", "0" * 16, Person("telegram:42", "Ann Lee"), 0, "stop"),
    ),
    Case(
        "Stop beside a growing draft in a topic",
        update("stopped_message_generation", {"chat": PRIVATE, "message_thread_id": 7, "draft_id": 8}),
        Inbound(Place("telegram:42:7", "42", "7"), "s8", "0" * 16, Person("telegram:42", "Ann Lee"), 0, "stop"),
    ),
    Case("an update of a kind that nobody knows", update("brand_new", {"chat": PRIVATE}), None),
]

CASES = [
    *TEXTS,
    *QUOTATIONS,
    *FILES,
    *TOLD,
    *GROUPS,
    *TOPICS,
    *SERVICE,
    *EDITS,
    *TAPS,
    *MEMBERSHIPS,
    *OTHERS,
]
