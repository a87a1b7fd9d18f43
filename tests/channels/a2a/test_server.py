"""Other agents call this one: with the official client, over HTTP, through the whole bot."""

import asyncio
import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from a2a.types import a2a_pb2 as wire
from a2a.utils.errors import InvalidParamsError, TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.adapters.local_wake import LocalWake
from bot.channels.a2a.parse import asked, said, task_id
from bot.clock import SystemClock
from bot.intake import accept
from bot.logs import set_up
from bot.messages import Json
from bot.ports import Clock, Store, Wake
from simulator.model_reply import Refusal
from simulator.script import call, reply, text
from tests.bots import tap
from tests.channels.a2a.agents import (
    KEYS,
    WAIT,
    Agent,
    agent,
    another_door,
    as_json,
    calling,
    got,
    http,
    message,
    note,
    raw,
    sent,
    state,
    words,
)
from tests.letters import LETTER, SENT, TOOLS
from tests.recorder import RecordingChannel
from tests.say import ANN

LETTERS = [tool for name in ("send_letter", "visit") if (tool := TOOLS.find(name))]


@pytest.fixture(autouse=True)
def no_letters() -> None:
    SENT.clear()


# Asking


async def test_a_question_is_answered_with_a_task_that_holds_the_answer(tmp_path: Path) -> None:
    async with agent(tmp_path, text("It will **rain**.")) as kabar, calling(kabar, streaming=False) as client:
        task = await sent(client, message("Weather?"))

        assert (state(task), words(task)) == ("completed", ["It will **rain**."])
        assert [(each["messageId"], each["role"]) for each in task["history"]] == [("m1", "ROLE_USER")]
        assert await got(client, task["id"]) == task


async def test_a_context_is_a_conversation_that_goes_on(tmp_path: Path) -> None:
    async with agent(tmp_path, text("Hello Ann."), text("You are Ann.")) as kabar:
        async with calling(kabar, streaming=False) as client:
            first = await sent(client, message("I am Ann.", "m1"))
            second = await sent(client, message("Who am I?", "m2", context=first["contextId"]))

        assert second["contextId"] == first["contextId"] and second["id"] != first["id"]
        assert words(second) == ["You are Ann."]
        assert len(kabar.model.requests[1]["messages"]) == 3


async def test_two_contexts_know_nothing_of_each_other(tmp_path: Path) -> None:
    async with agent(tmp_path, text("One."), text("Two.")) as kabar, calling(kabar, streaming=False) as client:
        await sent(client, message("a", "m1", context="one"))
        await sent(client, message("b", "m2", context="two"))

        assert [len(request["messages"]) for request in kabar.model.requests] == [1, 1]


async def test_a_repeated_message_is_answered_once_and_is_the_same_task(tmp_path: Path) -> None:
    async with agent(tmp_path, text("Once.")) as kabar, calling(kabar, streaming=False) as client:
        first, again = await asyncio.gather(sent(client, message("hi")), sent(client, message("hi")))
        late = await sent(client, message("hi"))

        assert first == again == late
        assert len(kabar.model.requests) == 1


async def test_messages_are_told_in_the_order_in_which_they_were_sent(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slow(request: Json) -> Json:
        await gate.wait()
        return text("First.")

    async with agent(tmp_path, slow, text("All.")) as kabar, calling(kabar, streaming=False) as client:
        later = wire.SendMessageConfiguration(return_immediately=True)
        first = await sent(client, message("zero", "m0", context="c", configuration=later))
        for number in range(1, 6):
            await sent(client, message(f"word {number}", f"m{number}", context="c", configuration=later))
        gate.set()
        last = await sent(client, message("end", "m9", context="c"))

        told = [block["text"] for request in kabar.model.requests for block in request["messages"][-1]["content"]]
        assert [line for line in told if line.startswith("word")] == [f"word {number}" for number in range(1, 6)]
        assert (state(last), state(await got(client, first["id"]))) == ("completed", "completed")
        kabar.model.spare()


async def test_whoever_does_not_want_to_wait_gets_the_task_at_once_and_looks_again(tmp_path: Path) -> None:
    async with agent(tmp_path, text("Done.")) as kabar, calling(kabar, streaming=False) as client:
        later = wire.SendMessageConfiguration(return_immediately=True)
        task = await sent(client, message("hi", configuration=later))

        assert state(task) in ("submitted", "working", "completed")
        assert words(await _over(client, task["id"])) == ["Done."]


async def test_a_stream_tells_what_is_new_and_ends_with_the_state(tmp_path: Path) -> None:
    script = (reply(text("Let me see."), call("calculator", {"expression": "6*7"})), text("It is 42."))
    async with agent(tmp_path, *script) as kabar, calling(kabar) as client:
        events = [event async for event in client.send_message(message("6*7?"))]

        kinds = [event.WhichOneof("payload") for event in events]
        assert kinds[0] == "task" and kinds[-1] == "status_update"
        assert events[-1].status_update.status.state == wire.TASK_STATE_COMPLETED
        pieces = [event.artifact_update for event in events if event.WhichOneof("payload") == "artifact_update"]
        assert "".join(piece.artifact.parts[0].text for piece in pieces) == "Let me see.\n\nIt is 42."
        assert [piece.append for piece in pieces] == [False, *[True] * (len(pieces) - 1)]


async def test_a_task_can_be_watched_by_whoever_comes_later(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slow(request: Json) -> Json:
        await gate.wait()
        return text("Late.")

    async with agent(tmp_path, slow) as kabar, calling(kabar) as client:
        later = wire.SendMessageConfiguration(return_immediately=True)
        task = (await raw(kabar, "SendMessage", as_json(message("hi", configuration=later))))["result"]["task"]
        watching = client.subscribe(wire.SubscribeToTaskRequest(id=task["id"]))
        first = await anext(watching)
        gate.set()
        rest = [event async for event in watching]

        assert first.task.id == task["id"]
        assert rest[-1].status_update.status.state == wire.TASK_STATE_COMPLETED


async def test_files_and_data_come_along_and_files_go_back(tmp_path: Path) -> None:
    write = reply(call("write_file", {"name": "plan.md", "content": "# Plan"}))
    async with agent(tmp_path, write, text("Here.")) as kabar, calling(kabar, streaming=False) as client:
        parts = [
            wire.Part(text="Read this."),
            wire.Part(raw=b"rice,3\n", filename="stock.csv", media_type="text/csv"),
            wire.Part(data=ParseDict({"limit": 5}, Value())),
            wire.Part(url="https://example.com/more.pdf", filename="more.pdf"),
        ]
        task = await sent(client, message("", parts=parts))

        told = "\n".join(block.get("text", "") for block in kabar.model.requests[0]["messages"][0]["content"])
        assert all(each in told for each in ("Read this.", "rice,3", "stock.csv", '"limit": 5', "more.pdf at https:"))
        [file] = [part for part in task["artifacts"][0]["parts"] if "raw" in part]
        assert (file["filename"], file["mediaType"]) == ("plan.md", "text/markdown")
        assert base64.b64decode(file["raw"]) == b"# Plan"


class Hurrying(SystemClock):
    """Waiting takes no time, and an hour passes at once."""

    def __init__(self) -> None:
        self.passed = 0.0

    def now(self) -> float:
        return super().now() + self.passed

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds
        await asyncio.sleep(0)


async def test_nobody_waits_for_longer_than_a_while_and_the_task_goes_on(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slow(request: Json) -> Json:
        await gate.wait()
        return text("Late.")

    async with agent(tmp_path, slow) as kabar:
        async with another_door(kabar, clock=Hurrying()) as hurried:
            async with calling(hurried, streaming=False) as client:
                task = await sent(client, message("hi"))
                assert state(task) in ("submitted", "working")
            async with calling(hurried) as client:
                events = [event async for event in client.subscribe(wire.SubscribeToTaskRequest(id=task["id"]))]
                assert len([each for each in events if each.WhichOneof("payload") == "status_update"]) > 100
        gate.set()
        async with calling(kabar, streaming=False) as client:
            assert words(await _over(client, task["id"])) == ["Late."]


async def test_a_repeat_of_a_message_that_nobody_took_wakes_its_conversation_again(tmp_path: Path) -> None:
    async with agent(tmp_path, text("Found.")) as kabar, calling(kabar, streaming=False) as client:
        request = message("hi")
        read = said(MessageToDict(request.message))
        id = read.begins("weather")
        await kabar.local.store.receive(asked(read, "weather", id, 0, int(kabar.local.clock.now())))

        task = await sent(client, request)

        assert (task["id"], words(task), len(kabar.model.requests)) == (str(id), ["Found."], 1)


# A word that is waited for


async def test_a_call_that_needs_a_word_asks_the_caller_with_the_exact_arguments_and_a_yes_runs_it(
    tmp_path: Path,
) -> None:
    async with (
        agent(tmp_path, LETTER, text("Sent it."), tools=LETTERS) as kabar,
        calling(kabar, streaming=False) as client,
    ):
        waits = await sent(client, message("Invite Budi."))
        assert (state(waits), SENT) == ("input_required", [])
        assert "Come at nine." in note(waits)
        [_, data] = waits["status"]["message"]["parts"]
        assert data["data"]["arguments"] == {"to": "Budi", "words": "Come at nine."}

        done = await sent(client, message("Yes.", "m2", task=waits["id"]))
        again = await sent(client, message("Yes.", "m2", task=waits["id"]))

    assert (done["id"], state(done), words(done)) == (waits["id"], "completed", ["Sent it."])
    assert again == done
    assert SENT == ["Budi: Come at nine."]


async def test_a_no_does_not_run_it(tmp_path: Path) -> None:
    async with (
        agent(tmp_path, LETTER, text("Left it."), tools=LETTERS) as kabar,
        calling(kabar, streaming=False) as client,
    ):
        waits = await sent(client, message("Invite Budi."))
        done = await sent(client, message("no", "m2", task=waits["id"]))

    assert (state(done), words(done), SENT) == ("completed", ["Left it."], [])


async def test_a_yes_in_the_context_counts_also_where_the_task_is_not_named_and_however_often_it_comes(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path, LETTER, text("Sent it."), tools=LETTERS) as kabar:
        async with calling(kabar, streaming=False) as client:
            waits = await sent(client, message("Invite Budi."))
            done = await sent(client, message("ok", "m2", context=waits["contextId"]))
            await sent(client, message("ok", "m2", context=waits["contextId"]))

        assert (done["id"], state(done)) == (waits["id"], "completed")
        assert len(kabar.model.requests) == 2
    assert SENT == ["Budi: Come at nine."]


async def test_other_words_are_a_no_and_are_heard(tmp_path: Path) -> None:
    async with agent(tmp_path, LETTER, text("To Ann then?"), tools=LETTERS) as kabar:
        async with calling(kabar, streaming=False) as client:
            waits = await sent(client, message("Invite Budi."))
            done = await sent(client, message("Make it Ann.", "m2", task=waits["id"]))

        assert (state(done), words(done)) == ("completed", ["To Ann then?"])
        assert "Make it Ann." in str(kabar.model.requests[1]["messages"][-1])
    assert SENT == []


async def test_somebody_else_neither_sees_the_task_nor_can_say_yes_unless_the_owner_named_them(tmp_path: Path) -> None:
    async with (
        agent(tmp_path / "a", LETTER, tools=LETTERS) as kabar,
        calling(kabar, streaming=False) as client,
        calling(kabar, "boss", streaming=False) as boss,
    ):
        waits = await sent(client, message("Invite Budi."))
        for attempt in (sent(boss, message("yes", task=waits["id"])), got(boss, waits["id"])):
            with pytest.raises(TaskNotFoundError):
                await attempt
        assert state(await got(client, waits["id"])) == "input_required"

    script = (LETTER, text("Sent it."))
    async with (
        agent(tmp_path / "b", *script, tools=LETTERS, KABAR_APPROVERS="a2a:boss") as kabar,
        calling(kabar, streaming=False) as client,
        calling(kabar, "boss", streaming=False) as boss,
    ):
        waits = await sent(client, message("Invite Budi."))
        with pytest.raises(UnsupportedOperationError):
            await sent(boss, message("Rather Ann.", "b1", task=waits["id"]))
        await sent(boss, message("yes", "b2", task=waits["id"]))
        assert words(await _over(client, waits["id"])) == ["Sent it."]
        with pytest.raises(TaskNotFoundError):
            await got(boss, waits["id"])
    assert SENT == ["Budi: Come at nine."]


# Who may


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", f"Basic {KEYS['weather']}", "Bearer \u00e9"])
async def test_without_a_key_that_is_known_nothing_is_taken_in(tmp_path: Path, header: str) -> None:
    async with agent(tmp_path) as kabar, httpx.AsyncClient() as client:
        headers = {b"Authorization": header.encode()} if header else {}
        answer = await client.post(f"{kabar.url}/a2a", json={}, headers=headers)

        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_no_keys_at_all_mean_nobody(tmp_path: Path) -> None:
    async with agent(tmp_path, KABAR_A2A_KEYS="") as kabar, http() as client:
        assert (await client.post(f"{kabar.url}/a2a", json={})).status_code == 401
        assert (await client.get(f"{kabar.url}/.well-known/agent-card.json")).status_code == 200


async def test_who_has_a_key_and_is_not_let_in_is_rejected_and_costs_nothing(tmp_path: Path) -> None:
    async with agent(tmp_path, KABAR_ALLOWED_USERS="a2a:boss") as kabar, calling(kabar, streaming=False) as client:
        told = await sent(client, message("hi", "m1"))
        again = await sent(client, message("hi again", "m2", context=told["contextId"]))

        assert (state(told), state(again)) == ("rejected", "rejected")
        assert "a2a:weather" in note(told) and "not let in" in note(again)
        assert kabar.model.requests == []


async def test_a_request_that_is_too_large_is_refused(tmp_path: Path) -> None:
    async with agent(tmp_path) as kabar, http() as client:
        assert (await client.post(f"{kabar.url}/a2a", content=b" " * 6_000_001)).status_code == 413


async def test_what_is_refused_is_counted_as_at_the_webhook(tmp_path: Path, written: io.StringIO) -> None:
    set_up("INFO", as_json=True, stack="prod")
    async with agent(tmp_path) as kabar, http() as client:
        await client.post(f"{kabar.url}/a2a", content=b" " * 6_000_001)
        await client.post(f"{kabar.url}/a2a", json={}, headers={"Authorization": "Bearer wrong"})

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["Status"] for line in lines if line.get("Refused") == 1] == ["413", "401"]


# Tasks


async def test_a_task_can_be_cancelled_while_it_is_worked_on_and_not_when_it_is_over(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slow(request: Json) -> Json:
        await gate.wait()
        return text("Never.")

    async with agent(tmp_path, slow) as kabar, calling(kabar, streaming=False) as client:
        later = wire.SendMessageConfiguration(return_immediately=True)
        task = await sent(client, message("hi", configuration=later))
        cancelled = as_json(await client.cancel_task(wire.CancelTaskRequest(id=task["id"])))

        assert state(cancelled) == "canceled"
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(wire.CancelTaskRequest(id=task["id"]))
        gate.set()


async def test_a_task_that_waits_for_a_word_can_be_cancelled(tmp_path: Path) -> None:
    async with agent(tmp_path, LETTER, tools=LETTERS) as kabar, calling(kabar, streaming=False) as client:
        waits = await sent(client, message("Invite Budi."))

        assert state(as_json(await client.cancel_task(wire.CancelTaskRequest(id=waits["id"])))) == "canceled"
        assert SENT == []


async def test_the_tasks_of_a_context_are_listed_newest_first_and_page_by_page(tmp_path: Path) -> None:
    async with agent(tmp_path, text("A."), text("B."), text("C.")) as kabar, calling(kabar, streaming=False) as client:
        tasks = [await sent(client, message(each, each, context="c")) for each in ("m1", "m2", "m3")]
        first = await client.list_tasks(wire.ListTasksRequest(context_id="c", page_size=2))
        rest = await client.list_tasks(
            wire.ListTasksRequest(context_id="c", page_size=2, page_token=first.next_page_token)
        )
        ids = [task.id for task in (*first.tasks, *rest.tasks)]

        assert ids == [task["id"] for task in reversed(tasks)]
        assert (first.total_size, rest.next_page_token) == (3, "")
        assert not any(task.artifacts for task in first.tasks)
        others = await client.list_tasks(wire.ListTasksRequest(context_id="other"))
        assert list(others.tasks) == []
        with pytest.raises(InvalidParamsError):
            await client.list_tasks(wire.ListTasksRequest())


async def test_a_failed_task_says_so(tmp_path: Path) -> None:
    async with agent(tmp_path, Refusal(400, message="no")) as kabar, calling(kabar, streaming=False) as client:
        task = await sent(client, message("hi"))

        assert state(task) == "failed" and note(task)


async def test_words_that_are_added_when_the_turn_has_just_ended_are_answered_in_the_same_task(
    tmp_path: Path,
) -> None:
    async with agent(tmp_path, text("One."), text("Two.")) as kabar, calling(kabar, streaming=False) as client:
        task = await sent(client, message("a", "m1"))
        id = task_id(task["id"])
        assert id is not None
        late = said(MessageToDict(message("b", "m2", task=task["id"]).message))
        await accept(asked(late, "weather", id, 0, int(kabar.local.clock.now())), *_parts(kabar))
        assert isinstance(kabar.local.wake, LocalWake)
        await kabar.local.wake.drain()

        assert words(await got(client, task["id"])) == ["Two."]
        listed = await client.list_tasks(wire.ListTasksRequest(context_id=task["contextId"]))
        assert [each.id for each in listed.tasks] == [task["id"]]


async def test_the_owner_hears_of_an_agent_that_is_not_let_in_and_lets_it_in_with_a_tap(tmp_path: Path) -> None:
    channel = RecordingChannel()
    private = agent(
        tmp_path, text("Welcome."), channels={"telegram": channel}, KABAR_ALLOWED_USERS="", KABAR_OWNER=ANN.id
    )
    async with private as kabar, calling(kabar, streaming=False) as client:
        refused = await sent(client, message("hi", "m1"))
        assert state(refused) == "rejected"
        await channel.until(lambda seen: any("a2a:weather" in each for each in seen.shown))
        let = next(each.data for each in channel.buttons if each.data.startswith("let:member"))
        await accept(tap(let), *_parts(kabar))
        await channel.until(lambda seen: any("is a member now" in each for each in seen.shown))

        assert words(await sent(client, message("hi", "m2", context=refused["contextId"]))) == ["Welcome."]


async def test_a_message_to_a_task_that_is_over_is_refused_with_the_way_to_go_on(tmp_path: Path) -> None:
    async with agent(tmp_path, text("Done.")) as kabar, calling(kabar, streaming=False) as client:
        task = await sent(client, message("hi"))

        with pytest.raises(UnsupportedOperationError, match="without taskId in the same context"):
            await sent(client, message("more", "m2", task=task["id"]))
        with pytest.raises(TaskNotFoundError):
            await sent(client, message("more", "m3", task=f"{task['id'][:-1]}x"))
        with pytest.raises(InvalidParamsError):
            await sent(client, message("more", "m4", task=task["id"], context="another"))


@pytest.mark.parametrize(
    "said",
    [
        {"messageId": "m", "role": "ROLE_USER", "parts": []},
        {"messageId": "", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": " "}]},
        {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}], "contextId": "a/b"},
        {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x" * 100_001}]},
        {"messageId": "m" * 300, "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        {"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": "eA=="}] * 11},
        {"messageId": "m", "role": "ROLE_USER", "parts": "hi"},
        {},
    ],
)
async def test_a_message_that_can_not_be_taken_is_told_why_and_nothing_is_stored(tmp_path: Path, said: Json) -> None:
    async with agent(tmp_path) as kabar:
        answer = await raw(kabar, "SendMessage", {"message": said})

        assert answer["error"]["code"] == -32602
        assert await kabar.local.store.overdue(2**40) == []


async def test_what_is_not_offered_is_said(tmp_path: Path) -> None:
    async with agent(tmp_path) as bot, another_door(bot, streams=False) as kabar:
        streamed = await raw(kabar, "SendStreamingMessage", as_json(message("hi")))
        pushed = await raw(kabar, "CreateTaskPushNotificationConfig", {"taskId": "t", "url": "https://x.example"})
        extended = await raw(kabar, "GetExtendedAgentCard", {})

        assert [each["error"]["code"] for each in (streamed, pushed, extended)] == [-32004, -32003, -32007]


async def test_the_words_of_a_request_never_reach_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")  # at which other libraries tell all, but for bot/logs.py
    async with agent(tmp_path, text("Fine.")) as kabar:
        await raw(kabar, "SendMessage", {"message": {"messageId": 5, "parts": [{"text": "my secret"}], "role": "x"}})
        await raw(kabar, "SendMessage", {"message": {"parts": "my secret"}})
        await raw(kabar, "message/send", {"message": {"parts": "my secret"}}, version="")
        await raw(kabar, "SendMessage", as_json(message("my secret")))

    ours = [record for record in caplog.records if record.name.partition(".")[0] in ("a2a", "bot", "handlers")]
    assert ours and not any("my secret" in caplog.handler.format(record) for record in ours)


# The older version, and the card


async def test_an_agent_of_version_0_3_is_answered_in_its_own_shapes(tmp_path: Path) -> None:
    said = {"kind": "message", "messageId": "m1", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
    async with agent(tmp_path, text("Hello.")) as kabar:
        answer = await raw(kabar, "message/send", {"message": said}, version="")
        task = answer["result"]

        assert (task["kind"], task["status"]["state"]) == ("task", "completed")
        assert task["artifacts"][0]["parts"] == [{"kind": "text", "text": "Hello."}]
        assert (await raw(kabar, "tasks/get", {"id": task["id"]}, version=""))["result"]["id"] == task["id"]


async def test_the_card_says_what_the_owner_wrote_and_where_and_how_to_call(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "AGENTS.md").write_text("Secret instructions.")
    skill = '{"id": "stock", "name": "Stock", "description": "What there is.", "tags": ["shop"]}'
    (tmp_path / "agent" / "card.json").write_text(
        f'{{"name": "Warung", "description": "A shop.", "skills": [{skill}]}}'
    )
    async with agent(tmp_path) as kabar, httpx.AsyncClient() as client:
        card = (await client.get(f"{kabar.url}/.well-known/agent-card.json")).json()

    assert (card["name"], card["description"], card["skills"][0]["id"]) == ("Warung", "A shop.", "stock")
    assert [each["url"] for each in card["supportedInterfaces"]] == [f"{kabar.url}/a2a"] * 2
    assert card["capabilities"]["streaming"] is True
    assert card["securitySchemes"]["key"]["httpAuthSecurityScheme"]["scheme"] == "bearer"
    assert "Secret" not in str(card)


async def test_the_public_linter_finds_nothing_to_complain_about(tmp_path: Path) -> None:
    """a2a-lint sends no key, so whoever stands before the agent here adds one; it is a process of its own."""
    script = (text("Hello."), text("Hello again."))
    async with agent(tmp_path, *script) as kabar, another_door(kabar, _with_key) as open_to_all:
        lint = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "a2a_lint.cli", "--live", open_to_all.url), stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(lint.communicate(), WAIT)

    assert lint.returncode == 0, out.decode()
    assert "GRADE A" in out.decode()


def _parts(kabar: Agent) -> tuple[Store, Wake, Clock]:
    return kabar.local.store, kabar.local.wake, kabar.local.clock


def _with_key(app: ASGIApp) -> ASGIApp:
    async def keyed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {KEYS['weather']}".encode())]}
        await app(scope, receive, send)

    return keyed


async def _over(client: Any, task: str) -> Json:
    """The task once it is over."""
    async with asyncio.timeout(WAIT):
        while True:
            found = await got(client, task)
            if state(found) in ("completed", "failed", "canceled", "rejected"):
                return found
            await asyncio.sleep(0.05)
