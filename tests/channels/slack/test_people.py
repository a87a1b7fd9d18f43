"""Who is who, what was said before, what only one person sees, and how somebody is greeted."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from bot.channels.slack.calls import OneToken
from bot.channels.slack.parse import parse
from bot.channels.slack.people import MOST_CHARACTERS, MOST_EARLIER
from bot.channels.slack.send import SlackChannel
from bot.messages import Button, Person, Quote
from bot.ports import Rendered
from simulator.slack import ANN_DM, GENERAL, SCOPES, TEAM, Post
from simulator.world import File
from tests.channels.canned import unreachable
from tests.channels.slack.stage import ANN, DIRECT, Stage, manner, staged, welcome

BUDI = Person(f"slack:{TEAM}:U0BUDI", "budi")
NOTICE = Rendered("This bot is private.")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with staged() as stage:
        yield stage


# Introductions.


async def test_a_person_has_the_name_language_and_zone_that_slack_knows(stage: Stage) -> None:
    assert await stage.channel().introduce(DIRECT, BUDI) == Person(BUDI.id, "Budi", "id", "Asia/Jakarta")


async def test_a_person_is_asked_for_once_in_a_few_minutes(stage: Stage) -> None:
    channel = stage.channel()
    for _ in range(3):
        await channel.introduce(DIRECT, BUDI)
    stage.clock.advance(301)
    await channel.introduce(DIRECT, BUDI)

    assert stage.calls() == ["users.info", "users.info"]


async def test_who_can_not_be_looked_up_stays_as_they_were(stage: Stage) -> None:
    nobody = Person(f"slack:{TEAM}:U9", "somebody", "fr")
    assert await stage.channel().introduce(DIRECT, nobody) == nobody
    stage.slack.scopes = SCOPES - {"users:read"}
    assert await stage.channel().introduce(DIRECT, BUDI) == BUDI
    lost = SlackChannel(OneToken("xoxb-1"), f"{unreachable()}/")
    assert await lost.introduce(DIRECT, BUDI) == BUDI
    await lost.close()


async def test_admins_and_owners_of_the_workspace_decide_for_its_channels(stage: Stage) -> None:
    place, ann = await stage.thread(), Person(f"slack:{TEAM}:U0ANN")
    assert await stage.channel().administers(place, ann)
    assert not await stage.channel().administers(place, BUDI)


async def test_an_admin_of_another_workspace_decides_nothing_here(stage: Stage) -> None:
    place = replace(await stage.thread(), team="T0OTHER")
    assert not await stage.channel().administers(place, Person("slack:T0OTHER:U0ANN"))


async def test_where_slack_does_not_tell_nobody_is_an_admin(stage: Stage) -> None:
    place, ann = await stage.thread(), Person(f"slack:{TEAM}:U0ANN")
    stage.slack.scopes = SCOPES - {"users:read"}
    assert not await stage.channel().administers(place, ann)


async def test_whom_a_message_names_by_id_is_told_by_name(stage: Stage) -> None:
    channel = stage.channel()
    told = await channel.named(DIRECT, "ask @U0BUDI and @U0NOBODY, not @ann (U0ANN) or a@U0BUDI")
    assert told == "ask @Budi (U0BUDI) and @U0NOBODY, not @ann (U0ANN) or a@U0BUDI"
    assert await channel.named(DIRECT, told) == told
    await channel.send(DIRECT, channel.render("Dear <@U0ANN>, not <@U0BUDI>")[0], manner())
    assert stage.ours(ANN_DM)[-1].markdown_text == "Dear <@U0ANN>, not &lt;@U0BUDI&gt;"
    stage.slack.scopes = SCOPES - {"users:read"}
    assert await stage.channel().named(DIRECT, "@U0BUDI") == "@U0BUDI"


async def test_who_was_seen_there_is_called_by_a_name_that_nobody_shares(
    stage: Stage,
) -> None:
    channel, place = stage.channel(), await stage.thread()
    ann = replace(manner(), to=Person(f"slack:{TEAM}:U0ANN", "Ann"))
    (part,) = channel.render("@Ann, @ann (U0ANN), @Annie, a@Ann.example, `@Ann`, @Ann (U9), @Budi")
    await channel.send(place, part, ann)
    assert stage.ours()[-1].markdown_text == ("<@U0ANN>, <@U0ANN>, @Annie, a@Ann.example, `@Ann`, @Ann (U9), @Budi")
    await channel.introduce(place, BUDI)
    await channel.introduce(place, Person(f"slack:{TEAM}:U0NOBODY", "Ann"))
    await channel.send(place, channel.render("@Ann and @Budi")[0], ann)
    assert stage.ours()[-1].markdown_text == "@Ann and <@U0BUDI>"


# What was said before.


async def test_what_a_thread_holds_before_a_message_is_told_with_names(stage: Stage) -> None:
    place = await stage.thread(text="who has the key?")
    await stage.slack.say(GENERAL, "budi", "not me, ask <@U0ANN>", place.thread)
    await stage.slack.say(GENERAL, "ann", "look", place.thread, file=File("map.png", "image/png", b"x"))
    await stage.channel().send(place, Rendered("It is **here**."), manner())
    other = {**stage.slack.bot_fields(), "bot_id": "B9", "bot_profile": {"name": "Jira"}, "text": "done"}
    stage.slack.publish(GENERAL, Post(other), place.thread)
    asked = await stage.slack.say(GENERAL, "budi", "@Kabar well?", place.thread)
    await stage.slack.say(GENERAL, "budi", "later", place.thread)

    assert await stage.channel().earlier(place, asked.id) == (
        Quote("who has the key?", "Ann (U0ANN)"),
        Quote("not me, ask @U0ANN", "Budi (U0BUDI)"),
        Quote("look\n[file: map.png]", "Ann (U0ANN)"),
        Quote("It is **here**.", ours=True),
        Quote("done", "Jira (a bot)"),
    )


async def test_of_a_long_thread_its_beginning_and_its_newest_are_told(stage: Stage) -> None:
    place = await stage.thread(text="root")
    for number in range(240):
        await stage.slack.say(GENERAL, "budi", f"message {number}", place.thread)
    told = await stage.channel().earlier(place, "9999999999.000000")

    assert [quote.text for quote in told] == ["root", *(f"message {number}" for number in range(211, 240))]
    assert len(told) == MOST_EARLIER


async def test_what_is_told_has_a_length_that_a_prompt_can_bear(stage: Stage) -> None:
    place = await stage.thread(text="x" * 10_000)
    for number in range(9):
        await stage.slack.say(GENERAL, "budi", f"{number}" * 3_000, place.thread)
    (root,) = await stage.channel().earlier(place, "9999999999.000000")
    assert len(root.text) == MOST_CHARACTERS

    place = await stage.thread(text="short")
    for number in range(9):
        await stage.slack.say(GENERAL, "budi", f"{number}" * 3_000, place.thread)
    told = await stage.channel().earlier(place, "9999999999.000000")
    assert [quote.text[0] for quote in told] == ["s", "7", "8"]


async def test_where_slack_does_not_tell_nothing_was_said(stage: Stage) -> None:
    place = await stage.thread()
    stage.slack.scopes = SCOPES - {"channels:history"}
    channel = stage.channel()
    assert await channel.earlier(place, "9999999999.000000") == ()
    assert await channel.earlier(DIRECT, "9999999999.000000") == ()
    stage.slack.scopes = SCOPES - {"users:read"}
    assert await channel.earlier(place, "9999999999.000000") == (Quote("question", "U0ANN"),)


# For one person's eyes.


async def test_in_a_channel_only_the_asker_sees_a_quiet_answer_and_can_tap_in_it(stage: Stage) -> None:
    place = await stage.thread()
    part = Rendered("Only you.", buttons=(Button("Yes", "approve:1"),))
    channel = stage.channel()
    assert await channel.send(place, part, manner(quiet=True)) == ""

    (shown,) = stage.ours()
    assert (shown.only_for, shown.markdown_text, shown.thread) == ("ann", "Only you.", place.thread)
    await channel.edit(place, "", Rendered("Changed."))
    await channel.delete(place, "")
    assert stage.ours() == [shown]


async def test_a_quiet_answer_never_grows(stage: Stage) -> None:
    await stage.channel().send(await stage.thread(), NOTICE, manner(growing=True, quiet=True))
    assert stage.calls() == ["chat.postEphemeral"]


async def test_in_a_direct_message_a_quiet_answer_is_an_ordinary_one(stage: Stage) -> None:
    message_id = await stage.channel().send(DIRECT, NOTICE, manner(quiet=True))
    assert [(message.id, message.only_for) for message in stage.ours(ANN_DM)] == [(message_id, "")]


@pytest.mark.parametrize("error", ["user_not_in_channel", "channel_not_found", "not_in_channel", "is_archived"])
async def test_a_notice_that_can_not_be_shown_there_comes_as_a_direct_message(stage: Stage, error: str) -> None:
    stage.fault("chat.postEphemeral", error)
    assert await stage.channel().send(await stage.thread(), NOTICE, manner(quiet=True)) == ""
    assert [message.markdown_text for message in stage.ours(ANN_DM)] == [NOTICE.text]


async def test_a_slash_command_between_two_other_people_is_answered_in_private(stage: Stage) -> None:
    theirs = DIRECT.__class__(f"slack:{TEAM}:D0THEIRS", "D0THEIRS", team=TEAM)
    assert await stage.channel().send(theirs, NOTICE, manner(quiet=True)) == ""
    assert [message.markdown_text for message in stage.ours(ANN_DM)] == [NOTICE.text]


async def test_a_notice_that_can_not_be_given_at_all_raises_nothing(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.fault("chat.postEphemeral", "user_not_in_channel")
    stage.fault("conversations.open", "missing_scope")
    assert await stage.channel().send(await stage.thread(), NOTICE, manner(quiet=True)) == ""
    assert "nobody was told" in caplog.text and "private" not in caplog.text


# Greetings.


async def test_who_opens_the_bots_page_reads_what_it_is_there_for_and_how_to_begin(stage: Stage) -> None:
    await stage.channel().greet(DIRECT, Person(ANN.id, language="id"))

    blocks: list[dict[str, Any]] = stage.simulator.world.homes["U0ANN"]["blocks"]
    assert [block["type"] for block in blocks] == ["header", "divider", "section", "divider", "section"]
    assert (blocks[0]["text"]["text"], blocks[2]["text"]["text"]) == ("Kabar", "*Hello* in id")
    assert stage.simulator.world.prompts == {
        ANN_DM: {
            "title": "To begin with",
            "prompts": [{"title": title, "message": message} for title, message in welcome("id").prompts],
        }
    }


async def test_the_page_offers_the_settings_of_the_direct_message_and_a_tap_there_is_about_it(stage: Stage) -> None:
    choices = (Button("English", "set:language:en", 0), Button("waits", "set:meanwhile:queue", 1))
    await stage.channel().greet(DIRECT, ANN, choices)

    shown = stage.simulator.world.homes["U0ANN"]
    titles = [block["elements"][0]["text"] for block in shown["blocks"] if block["type"] == "context"]
    assert titles == ["Language", "What you write while I work"]
    rows = [block for block in shown["blocks"] if block["type"] == "actions"]
    assert [[button["value"] for button in row["elements"]] for row in rows] == [
        ["set:language:en"],
        ["set:meanwhile:queue"],
    ]
    tapped: dict[str, Any] = {
        "type": "block_actions",
        "team": {"id": "T0WORK"},
        "user": {"id": "U0ANN", "name": "ann"},
        "container": {"type": "view", "view_id": "V1"},
        "view": {"type": "home"},
        "actions": [{**rows[1]["elements"][0], "block_id": rows[1]["block_id"], "action_ts": "1764500000.000100"}],
    }
    tap = parse(tapped)
    assert tap is not None
    assert (tap.kind, tap.data, tap.place.chat, tap.place.thread) == ("tap", "set:meanwhile:queue", ANN_DM, "")
    assert parse({**tapped, "actions": [{**tapped["actions"][0], "block_id": "home:C0GENERAL:0"}]}) is None


async def test_who_is_greeted_reads_it_in_the_language_slack_knows(stage: Stage) -> None:
    await stage.channel().greet(DIRECT, Person(BUDI.id))
    assert stage.simulator.world.homes["U0BUDI"]["blocks"][2]["text"]["text"] == "*Hello* in id"


async def test_what_of_a_greeting_fails_keeps_back_nothing_else(stage: Stage) -> None:
    stage.fault("views.publish", "not_enabled")
    await stage.channel().greet(DIRECT, ANN)
    assert (stage.simulator.world.homes, list(stage.simulator.world.prompts)) == ({}, [ANN_DM])


async def test_without_a_greeting_nothing_is_shown(stage: Stage) -> None:
    channel = SlackChannel(OneToken("xoxb-1"), f"{unreachable()}/")
    await channel.greet(DIRECT, ANN)
    await channel.close()


# Signs of life.


async def test_a_sign_is_shown_and_ended_only_in_its_own_thread(stage: Stage) -> None:
    channel, one, two = stage.channel(), await stage.thread(ANN_DM), await stage.thread(ANN_DM)
    await channel.typing(one)
    await channel.typing(two)
    await channel.typing(one, active=False)

    assert [thread for (_, _, thread) in stage.simulator.world.signs] == [two.thread]
    assert channel.typing_interval < 120
