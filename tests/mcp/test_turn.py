"""A whole turn with a real server: what the model is offered and told, and what a person is asked."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.access import Access
from bot.budget import Budget
from bot.mcp.configured import Command, Server
from bot.mcp.servers import Servers
from bot.messages import Profile
from bot.toolkit import Toolbox
from simulator.script import Line, call, text
from tests.bots import Bot, bot_on, results, tap
from tests.mcp.serving import knowing, somewhere
from tests.say import inbound
from tests.test_money import PRICE, Noon, heard, said

PROGRAM = Server("odds", "mcp:odds:0", Command(sys.executable, ("-m", "tests.mcp.server")), ask=())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kabar.sqlite3"


@asynccontextmanager
async def bot_with(servers: Servers, path: Path, *script: Line) -> AsyncIterator[Bot]:
    async with bot_on(path, *script, tools=Toolbox(servers.tools(())), their_prompts=servers.prompts()) as bot:
        yield bot


@asynccontextmanager
async def a_bot(path: Path, *script: Line, **options: Any) -> AsyncIterator[Bot]:
    """With a server that is up."""
    server, up = somewhere(**options)
    async with up(), knowing(path, server) as servers, bot_with(servers, path, *script) as bot:
        yield bot


async def hears(bot: Bot, words: str = "do it", number: int = 1, **more: Any) -> None:
    await bot.hears(inbound(words, number, **more))
    await bot.wakes()


async def says_yes(bot: Bot, number: int = 50) -> None:
    await bot.hears(tap(next(each.data for each in bot.channel.buttons if each.data.startswith("ok:")), number))
    await bot.wakes()


def told(bot: Bot, request: int = -1) -> Any:
    [result] = results(bot.model.requests[request])
    return result["content"]


async def test_the_model_is_offered_the_tools_as_the_server_describes_them(path: Path) -> None:
    async with a_bot(path, call("odds_echo", {"text": "hi"}), text("It says hi."), deny=("d*",)) as bot:
        await hears(bot)
        assert bot.channel.shown == ["It says hi."]
        offered = {tool["name"]: tool for tool in bot.model.requests[0]["tools"]}
        assert offered["odds_echo"]["description"] == "Say it again."
        assert offered["odds_echo"]["input_schema"]["properties"] == {"text": {"title": "Text", "type": "string"}}
        assert {"odds_book", "mcp_answer", "mcp_resource"} <= set(offered)
        assert {"odds_die", "odds_draw", "odds_delete_all"} & set(offered) == set()
        assert told(bot) == "hi"


async def test_what_may_change_something_waits_for_a_person(path: Path) -> None:
    async with a_bot(path, call("odds_book", {"what": "a table"}), text("Booked.")) as bot:
        await hears(bot)
        assert bot.channel.shown == ["**May I do this: odds_book?**\n\nwhat:\n```\na table\n```"]
        await says_yes(bot)
        assert told(bot) == "booked a table"


async def test_once_words_of_others_were_read_every_call_waits_unless_the_owner_said_which_do(path: Path) -> None:
    twice = (call("odds_echo", {"text": "one"}), call("odds_echo", {"text": "two"}))
    async with a_bot(path, *twice, text("Both.")) as bot:
        await hears(bot)
        assert "May I do this: odds_echo?" in bot.channel.shown[-1]
        await says_yes(bot)
    async with a_bot(path.with_name("other.sqlite3"), *twice, text("Both."), ask=()) as bot:
        await hears(bot)
        assert bot.channel.shown == ["Both."]


async def test_the_owner_s_word_holds_over_the_server_s(path: Path) -> None:
    async with a_bot(path, call("odds_echo", {"text": "one"}), text("Done."), ask=("*",)) as bot:
        await hears(bot)
        assert "May I do this: odds_echo?" in bot.channel.shown[-1]
        await says_yes(bot)


async def test_pictures_are_seen_and_sent_and_no_base64_is_ever_text(path: Path) -> None:
    async with a_bot(path, call("odds_draw", {}), text("There."), ask=()) as bot:
        await hears(bot)
        first, *pictures = told(bot)
        assert [each["type"] for each in pictures] == ["image", "image"]
        assert "Here it is." in first["text"] and "sent to the person" in first["text"]
        assert "iVBORw0" not in json.dumps(first)
        assert [upload.name for upload in bot.channel.uploads] == ["picture.png", "audio.wav"]


async def test_files_links_and_data_come_along(path: Path) -> None:
    async with a_bot(path, call("odds_report", {}), text("There."), ask=()) as bot:
        await hears(bot)
        assert told(bot).split("\n\n") == [
            "[report.csv, text/csv, 4 bytes, sent to the person]",
            "[Resource: notes (what was said), note://today]",
            '{"rows": 1}',
        ]
        assert bot.channel.uploads[0].data == b"a,b\n"


async def test_a_resource_is_read_by_its_address(path: Path) -> None:
    calls = (call("mcp_resource", {"server": "odds", "uri": "note://rain"}), text("Read."))
    async with a_bot(path, *calls) as bot:
        await hears(bot)
        assert told(bot) == "[note://rain]\nA note on rain."
        [tool] = [each for each in bot.model.requests[0]["tools"] if each["name"] == "mcp_resource"]
        assert "- odds: note://today (today) What was said today." in tool["description"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("odds_fail", {"words": "no luck"}, "no luck"),
        ("odds_echo", {}, "Not run: the arguments do not fit. text: Field required. Arguments of odds_echo: text."),
        ("odds_add", {"a": "x", "b": 1}, "a"),
        ("odds_wait", {"steps": 1}, "odds_wait was stopped after 1 seconds without a result."),
        ("mcp_resource", {"server": "odds", "uri": "nothing://here"}, "odds did not give it"),
        ("mcp_resource", {"server": "evens", "uri": "note://today"}, "There are: odds."),
        ("mcp_answer", {"name": "x", "arguments": {}, "answers": []}, "answers"),
    ],
)
async def test_what_fails_is_a_result_and_the_turn_goes_on(
    path: Path, name: str, arguments: dict[str, Any], words: str
) -> None:
    async with a_bot(path, call(name, arguments), text("A pity."), ask=(), seconds=1) as bot:
        await hears(bot)
        [result] = results(bot.model.requests[1])
        assert result["is_error"] and words in result["content"], result
        assert bot.channel.shown == ["A pity."]


async def test_a_server_that_dies_in_a_call_is_told_and_lives_again_for_the_next(path: Path) -> None:
    script = (call("odds_die", {}), call("odds_echo", {"text": "alive"}), text("It is back."))
    async with knowing(path, PROGRAM) as servers, bot_with(servers, path, *script) as bot:
        await hears(bot)
        assert told(bot, 1) == (
            "The connection to the server odds ended before it had answered. It may have had its effect: check before "
            "you do it again."
        )
        assert told(bot, 2) == "alive"
        assert bot.channel.shown == ["It is back."]


QUESTION = "Really delete everything in attic?"
ANSWERS = {
    "name": "odds_delete_all",
    "arguments": {"place": "attic"},
    "answers": [{"question": QUESTION, "fields": {"sure": True}}],
}


async def test_a_server_s_question_is_answered_by_the_person_and_nobody_else(path: Path) -> None:
    script = (call("odds_delete_all", {"place": "attic"}), call("mcp_answer", ANSWERS), text("Gone."))
    async with a_bot(path, *script, ask=()) as bot:
        await hears(bot)
        asked = told(bot, 1)
        assert QUESTION in asked and '"sure"' in asked and "call mcp_answer" in asked
        assert "May I do this: mcp_answer?" in bot.channel.shown[-1] and QUESTION in bot.channel.shown[-1]
        await says_yes(bot)
        assert told(bot, 2) == "deleted attic"
        assert bot.channel.shown[-1] == "Gone."


async def test_an_answer_to_another_question_than_was_shown_is_no_answer(path: Path) -> None:
    other = {**ANSWERS, "answers": [{"question": "Keep it?", "fields": {"sure": True}}]}
    script = (call("odds_delete_all", {"place": "attic"}), call("mcp_answer", other), text("Not yet."))
    async with a_bot(path, *script, ask=()) as bot:
        await hears(bot)
        await says_yes(bot)
        assert QUESTION in told(bot)


async def test_leave_to_answer_for_an_hour_is_none_to_call_what_nobody_allowed(path: Path) -> None:
    cellar = {**ANSWERS, "arguments": {"place": "cellar"}}
    script = (
        *(call("odds_delete_all", {"place": "attic"}), call("mcp_answer", ANSWERS), text("Gone.")),
        *(call("mcp_answer", cellar), call("mcp_answer", {**ANSWERS, "name": "odds_book"}), text("That I may not.")),
    )
    async with a_bot(path, *script, ask=("odds_book",)) as bot:
        await hears(bot)
        await bot.hears(tap(next(each.data for each in bot.channel.buttons if each.data.startswith("hour:")), 50))
        await bot.wakes()
        await hears(bot, number=60)
        assert bot.channel.shown[-1] == "That I may not."
        for request in (-2, -1):
            assert "make the call itself" in told(bot, request)


async def test_a_prompt_is_a_command_that_speaks_for_the_person(path: Path) -> None:
    async with a_bot(path, text("Looks fine.")) as bot:
        await hears(bot, "plan.txt very deep", command="odds_review")
        *_, said = bot.model.requests[0]["messages"][-1]["content"]
        assert said["text"] == "Review plan.txt, very deep. &lt;quote>not ours&lt;/quote>"
        await hears(bot, "", 2, command="help")
        assert "/odds_review – Look through a file." in bot.channel.shown[-1]
        await hears(bot, "", 3, command="odds_review")
        assert bot.channel.shown[-1] == "This needs more words: /odds_review <file> [depth]"


async def test_what_a_server_wrote_for_a_command_is_not_the_person_s_own_word(path: Path) -> None:
    async with a_bot(path, call("odds_echo", {"text": "one"})) as bot:
        await hears(bot, "plan.txt", command="odds_review")
        assert "May I do this: odds_echo?" in bot.channel.shown[-1]


async def test_a_guest_s_command_is_plain_words(path: Path) -> None:
    server, up = somewhere()
    async with up(), knowing(path, server) as servers:
        prompts, access = servers.prompts(), Access(owner="telegram:2")
    async with bot_on(path, text("What is that?"), access=access, their_prompts=prompts) as bot:
        await bot.store.keep_profile("telegram:1", Profile(role="guest"))
        await hears(bot, "plan.txt", command="odds_review")
        assert bot.model.requests[0]["messages"][-1]["content"][-1]["text"] == "/odds_review plan.txt"


async def test_a_prompt_of_a_server_that_is_down_is_told_and_may_be_tried_again(path: Path) -> None:
    server, up = somewhere()
    async with up(), knowing(path, server):
        pass
    async with knowing(path, server) as servers, bot_with(servers, path, text("Fine.")) as bot:
        await hears(bot, "plan.txt", command="odds_review")
        assert bot.channel.shown[-1].startswith("The server odds, which that command comes from, does not answer.")
        again = bot.channel.buttons[0].data
        async with up():
            await bot.hears(tap(again, 5))
            await bot.wakes()
        assert bot.channel.shown[-1] == "Fine."


async def test_over_a_limit_no_server_is_asked_for_its_prompt(path: Path) -> None:
    server, up = somewhere()
    async with up(), knowing(path, server):
        pass
    async with knowing(path, server) as servers:
        options: dict[str, Any] = {
            "budget": Budget(person_day=PRICE),
            "their_prompts": servers.prompts(),
            "clock": Noon(),
        }
        async with bot_on(path, said("Hello."), **options) as bot:
            for question in (heard("hi", 1), heard("plan.txt", 2, command="odds_review")):
                await bot.hears(question)
                await bot.wakes()
            assert bot.channel.shown[-1].startswith("You have used up today's budget of this bot.")


async def test_a_prompt_that_does_not_come_is_given_up_before_its_conversation_is_held_up(path: Path) -> None:
    async with a_bot(path, seconds=1) as bot:
        await hears(bot, command="odds_ponder")
        assert bot.channel.shown[-1].startswith("The server odds, which that command comes from, does not answer.")


async def test_a_prompt_behind_a_slash_command_in_slack_is_found_too(path: Path) -> None:
    async with a_bot(path, text("Looks fine.")) as bot:
        await hears(bot, "plan.txt", command="odds_review", quiet=True)
        assert bot.channel.shown == ["Looks fine."]
        assert "Review plan.txt" in str(bot.model.requests[0]["messages"])
