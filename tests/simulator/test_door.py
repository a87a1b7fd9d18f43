"""The page's door over HTTP: the shapes that simulator/README.md promises."""

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from simulator.app import Simulator, serve
from simulator.deliver import QUICK
from simulator.slack import ANN_DM, GENERAL
from simulator.telegram import ANN_CHAT, FORUM
from simulator.world import Fault


class Page:
    """What a page does."""

    def __init__(self, simulator: Simulator, session: aiohttp.ClientSession) -> None:
        self.simulator = simulator
        self.session = session

    async def state(self) -> dict[str, Any]:
        async with self.session.get("/sim/state") as response:
            state: dict[str, Any] = await response.json()
            return state

    async def post(self, path: str, body: dict[str, Any], status: int = 200) -> Any:
        async with self.session.post(path, json=body) as response:
            assert response.status == status
            return await response.json()


async def next_event(stream: aiohttp.ClientResponse) -> tuple[int, str, Any]:
    """Version, type and data of the next server-sent event."""
    fields = dict([(await stream.content.readline()).decode().rstrip("\n").split(": ", 1) for _ in range(3)])
    assert await stream.content.readline() == b"\n"
    return int(fields["id"]), fields["event"], json.loads(fields["data"])


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    simulator = Simulator(pace=QUICK)
    timeout = aiohttp.ClientTimeout(total=5)
    async with serve(simulator) as url, aiohttp.ClientSession(url, timeout=timeout) as session:
        yield Page(simulator, session)


async def test_the_state_holds_what_the_page_shows(page: Page) -> None:
    state = await page.state()
    assert [(chat["platform"], chat["id"]) for chat in state["chats"]] == [
        ("telegram", "1001"),
        ("telegram", "1002"),
        ("telegram", "1003"),
        ("telegram", "-2001"),
        ("telegram", FORUM),
        ("slack", "D0ANN"),
        ("slack", "D0BUDI"),
        ("slack", "D0SARI"),
        ("slack", GENERAL),
    ]
    assert state["bot"] == {"url": "", "status": "waiting", "detail": ""}
    assert state["names"]["U0KABAR"] == "Kabar"
    assert state["messages"] == []


async def test_the_page_itself_is_served(page: Page) -> None:
    async with page.session.get("/") as response:
        assert response.content_type == "text/html"
        assert "/static/" in await response.text()


async def test_every_change_is_an_event_that_follows_on_the_state(page: Page) -> None:
    async with page.session.get("/sim/events") as stream:
        version, kind, _ = await next_event(stream)
        state = await page.state()
        assert (kind, version) == ("hello", state["version"])
        said = await page.post("/sim/say", {"platform": "telegram", "chat": ANN_CHAT, "user": "ann", "text": "hi"})
        first, kind, message = await next_event(stream)
        assert (kind, message["id"], message["text"], first > version) == ("message", said["id"], "hi", True)
        page.simulator.world.sign("telegram", ANN_CHAT, "", "typing…", 5)
        kinds = [(await next_event(stream))[1] for _ in range(2)]
        assert kinds == ["message", "sign"]
    assert [sign["text"] for sign in (await page.state())["signs"]] == ["typing…"]


async def test_people_write_reply_and_edit_on_both_platforms(page: Page) -> None:
    place = {"platform": "telegram", "chat": FORUM, "user": "ann"}
    first = await page.post("/sim/say", {**place, "text": "one", "thread": "2"})
    reply = await page.post("/sim/say", {**place, "text": "two", "reply_to": first["id"]})
    edited = await page.post("/sim/say", {**place, "text": "three", "edit": reply["id"]})
    assert (reply["thread"], reply["quote"]["text"]) == ("2", "one")
    assert (edited["id"], edited["text"], edited["edits"]) == (reply["id"], "three", 1)
    place = {"platform": "slack", "chat": ANN_DM, "user": "ann"}
    root = await page.post("/sim/say", {**place, "text": "one"})
    answer = await page.post("/sim/say", {**place, "text": "two", "thread": root["id"]})
    assert answer["thread"] == root["id"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/sim/say", {"platform": "telegram", "chat": "5", "user": "ann", "text": "hi"}),
        ("/sim/say", {"platform": "telegram", "chat": ANN_CHAT, "user": "ann"}),
        ("/sim/tap", {"platform": "slack", "chat": GENERAL, "user": "ann", "message": "1.0", "button": "0.0"}),
        ("/sim/faults", {"platform": "telegram", "method": "sendMessage", "kind": "explode"}),
    ],
)
async def test_what_can_not_be_done_is_said_in_one_sentence(page: Page, path: str, body: dict[str, Any]) -> None:
    assert (await page.post(path, body, status=400))["error"]


async def test_only_json_is_taken_so_that_no_other_site_can_speak_for_people(page: Page) -> None:
    body = json.dumps({"platform": "telegram", "chat": ANN_CHAT, "user": "ann", "text": "hi"})
    async with page.session.post("/sim/say", data=body, headers={"Content-Type": "text/plain"}) as response:
        assert response.status == 400
    assert (await page.state())["messages"] == []


async def test_faults_are_ordered_and_cleared(page: Page) -> None:
    fault = {"platform": "telegram", "method": "sendMessage", "kind": "error", "status": 429, "retry_after": 3}
    (ordered,) = await page.post("/sim/faults", fault)
    assert (ordered["times"], ordered["skip"]) == (1, 0)
    assert page.simulator.world.faults == [Fault("telegram", "sendMessage", "error", status=429, retry_after=3)]
    assert await page.post("/sim/faults", {"clear": True}) == []


async def test_people_speak_the_language_they_choose(page: Page) -> None:
    assert (await page.state())["people"][0] == {"id": "ann", "name": "Ann", "slack_id": "U0ANN", "language": "en"}
    async with page.session.get("/sim/events") as stream:
        await next_event(stream)
        assert await page.post("/sim/person", {"user": "ann", "language": "id"}) == {"ok": True}
        _, kind, people = await next_event(stream)
    assert (kind, people) == ("people", (await page.state())["people"])
    assert [person["language"] for person in people] == ["id", "id", "id"]
    refused = await page.post("/sim/person", {"user": "ann", "language": "tlh"}, 400)
    assert refused == {"error": "Nobody here speaks 'tlh'."}


@pytest.mark.parametrize(("platform", "chat"), [("telegram", ANN_CHAT), ("slack", ANN_DM)])
async def test_people_delete_what_they_said_themselves(page: Page, platform: str, chat: str) -> None:
    said = await page.post("/sim/say", {"platform": platform, "chat": chat, "user": "ann", "text": "hi"})
    gone = {"platform": platform, "chat": chat, "user": "ann", "message": said["id"]}
    assert await page.post("/sim/delete", gone) == {"ok": True}
    assert (await page.state())["messages"] == []
    assert await page.post("/sim/delete", gone, 400) == {"error": "Ann has no such message."}


async def test_a_reset_forgets_messages_and_keeps_chats(page: Page) -> None:
    first = await page.post("/sim/say", {"platform": "telegram", "chat": ANN_CHAT, "user": "ann", "text": "hi"})
    await page.post("/sim/reset", {})
    state = await page.state()
    assert (state["messages"], len(state["chats"])) == ([], 9)
    again = await page.post("/sim/say", {"platform": "telegram", "chat": ANN_CHAT, "user": "ann", "text": "hi"})
    assert int(again["id"]) > int(first["id"])


# Slack's own ways in.


async def upload(page: Page, name: str, data: bytes) -> str:
    headers = {"Content-Type": "application/octet-stream"}
    query = {"name": name, "media_type": "text/plain"}
    async with page.session.post("/sim/files", params=query, data=data, headers=headers) as response:
        return str((await response.json())["id"])


async def test_a_file_is_said_in_slack(page: Page) -> None:
    file = await upload(page, "a.txt", b"eggs")
    said = await page.post("/sim/say", {"platform": "slack", "chat": ANN_DM, "user": "ann", "files": [{"id": file}]})
    assert [(each["name"], each["size"]) for each in said["files"]] == [("a.txt", 4)]
    async with page.session.get(said["files"][0]["url"]) as response:
        assert await response.read() == b"eggs"


async def test_slash_command_shortcut_and_home_are_done_or_refused_in_words(page: Page) -> None:
    said = await page.post("/sim/say", {"platform": "slack", "chat": GENERAL, "user": "budi", "text": "the key"})
    for path, body in (
        ("/sim/command", {"chat": GENERAL, "user": "ann", "text": "usage"}),
        ("/sim/shortcut", {"chat": GENERAL, "user": "ann", "message": said["id"]}),
        ("/sim/home", {"user": "ann", "tab": "messages"}),
    ):
        assert await page.post(path, body) == {"ok": True}
    refused = await page.post("/sim/shortcut", {"chat": GENERAL, "user": "ann", "message": "1.0"}, 400)
    assert refused == {"error": "There is no such message any more."}
