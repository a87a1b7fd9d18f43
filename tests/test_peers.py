"""Other agents are asked as the official SDK answers, in both versions, and nobody is sent elsewhere."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.peers import Came, Heard, Peer, PeerRefused, ask, look
from simulator.serving import serve
from tests.official_agent import Official, official


def peer(agent: Official, **more: Any) -> Peer:
    return Peer("weather", agent.url, seconds=more.pop("seconds", 10), **more)


@pytest.mark.parametrize("versions", [("1.0",), ("0.3",), ("1.0", "0.3"), ()])
async def test_an_agent_answers_in_the_version_that_it_speaks_with_or_without_a_card(versions: tuple[str, ...]) -> None:
    async with official(*versions) as agent:
        answer = await ask(peer(agent), "Jakarta?")

        assert (answer.state, answer.text) == ("completed", "You said: Jakarta?")
        assert answer.context and answer.task
        assert (await look(peer(agent), answer.task)).text == "You said: Jakarta?"


@pytest.mark.parametrize("versions", [("1.0",), ("0.3",)])
async def test_an_agent_may_answer_with_a_message_and_no_task(versions: tuple[str, ...]) -> None:
    async with official(*versions) as agent:
        answer = await ask(peer(agent), "hello")

        assert (answer.state, answer.text, answer.task) == ("completed", "Hello to you.", "")
        assert answer.context


@pytest.mark.parametrize("versions", [("1.0",), ("0.3",)])
async def test_what_it_asks_is_answered_in_the_same_task(versions: tuple[str, ...]) -> None:
    async with official(*versions) as agent:
        asks = await ask(peer(agent), "ask")
        assert (asks.state, asks.text) == ("input-required", "Which city?")

        answer = await ask(peer(agent), "Jakarta", asks.context, asks.task)

        assert (answer.state, answer.task) == ("completed", asks.task)
        assert agent.heard[-1] == ("Jakarta", asks.context, asks.task)


@pytest.mark.parametrize(
    ("words", "state", "said"),
    [("fail", "failed", "No such city."), ("sign in", "auth-required", "https://example.com/in")],
)
async def test_every_end_is_told(words: str, state: str, said: str) -> None:
    async with official("1.0") as agent:
        answer = await ask(peer(agent), words)
        assert (answer.state, answer.text) == (state, said)


@pytest.mark.parametrize("versions", [("1.0",), ("0.3",)])
async def test_files_come_along(versions: tuple[str, ...]) -> None:
    async with official(*versions) as agent:
        answer = await ask(peer(agent), "file")
        assert (answer.text, answer.files) == ("Here:", (Came("../t.csv", "text/csv", b"a,b\n"),))


async def test_who_takes_longer_than_there_is_time_is_looked_at_again() -> None:
    async with official("1.0") as agent:
        answer = await ask(peer(agent, seconds=1), "slow")
        assert answer.state == "working" and answer.task

        agent.gate.set()

        assert await look(peer(agent), answer.task) == Heard(
            "completed", "At last.", context=answer.context, task=answer.task
        )


async def test_the_key_and_the_headers_are_sent_with_every_call() -> None:
    async with official("1.0") as agent:
        await ask(peer(agent, headers={"authorization": "Bearer k", "x-team": "a"}), "hi")

        assert len(agent.headers) >= 2
        assert {(each["authorization"], each["x-team"]) for each in agent.headers} == {("Bearer k", "a")}


async def test_a_card_that_names_another_server_is_not_followed() -> None:
    async with official("1.0", card="http://127.0.0.1:9/a2a") as agent:
        with pytest.raises(PeerRefused, match="another server than the owner named"):
            await ask(peer(agent), "hi")
        assert agent.heard == []


async def test_a_redirect_is_not_followed() -> None:
    async with official("1.0", moved=True) as agent:
        with pytest.raises(PeerRefused, match="nobody is followed there"):
            await ask(peer(agent), "hi")


async def test_a_server_that_is_not_there_is_said_and_nothing_was_sent() -> None:
    with pytest.raises(PeerRefused, match="could not be reached") as refused:
        await ask(Peer("weather", "http://127.0.0.1:9"), "hi")
    assert not refused.value.sent


def answering(answer: Callable[[], Response]) -> Starlette:
    async def rpc(request: Request) -> Response:
        return answer()

    return Starlette(routes=[Route("/", rpc, methods=["POST"])])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda: Response(status_code=401), "does not accept the key"),
        (lambda: Response(status_code=500), "HTTP 500"),
        (lambda: Response("<html>"), "is not A2A"),
        (lambda: JSONResponse([]), "is not A2A"),
        (lambda: JSONResponse({"result": 5}), "is not A2A"),
        (lambda: JSONResponse({"result": {"status": {"state": 5}}}), "is not A2A"),
        (lambda: JSONResponse({"result": {"task": {"id": "t"}}}), "is not A2A"),
        (lambda: JSONResponse({"error": {"code": -32000, "message": "over\nquota"}}), "error -32000.*over quota"),
        (lambda: Response(b" " * (8 * 1024 * 1024 + 1)), "larger than 8 MB"),
    ],
)
async def test_an_agent_that_answers_wrongly_is_told_in_a_sentence(answer: Callable[[], Response], reason: str) -> None:
    async with serve(answering(answer)) as url:
        with pytest.raises(PeerRefused, match=reason):
            await ask(Peer("weather", url, seconds=5), "hi")


async def test_ids_that_could_pass_for_words_of_ours_are_not_kept() -> None:
    task = {"id": "t1; context x]", "contextId": "a b", "status": {"state": "completed"}}
    async with serve(answering(lambda: JSONResponse({"result": task}))) as url:
        answer = await ask(Peer("weather", url, seconds=5), "hi")

    assert (answer.state, answer.context, answer.task) == ("completed", "", "")


async def test_an_agent_without_a_card_that_knows_only_the_older_methods_is_asked_by_them() -> None:
    called = []

    async def rpc(request: Request) -> Response:
        call = await request.json()
        called.append(call["method"])
        if call["method"] != "message/send":
            return JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}})
        parts = [{"kind": "text", "text": "From before."}]
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "parts": parts}})

    async with serve(Starlette(routes=[Route("/agent", rpc, methods=["POST"])])) as url:
        answer = await ask(Peer("weather", f"{url}/agent", seconds=5), "hi")

    assert (answer.text, called) == ("From before.", ["SendMessage", "message/send"])


async def test_an_answer_that_takes_too_long_is_a_task_to_look_at_and_not_sent_again() -> None:
    async with official("1.0") as agent:
        asks = await ask(peer(agent), "ask")

        slow = await ask(peer(agent, seconds=1), "slow", asks.context, asks.task)
        assert (slow.state, slow.task) == ("working", asks.task)
        agent.gate.set()

        assert (await look(peer(agent), slow.task)).text == "At last."
        assert [words for words, _, _ in agent.heard] == ["ask", "slow"]
