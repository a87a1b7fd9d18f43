"""The real HTTP client against the stand-in for Tavily's endpoint."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.web.address import PageRefused
from bot.web.tavily import FAILED, KEY, WITH_KEY, WITHOUT_KEY, Found, Tavily
from bot.web.transport import UNREACHED
from simulator.serving import serve
from simulator.web import Hit, Refusal, Search

HITS = (Hit("Rice", "https://a.example/rice", "Rice is dear"), Hit("Corn", "https://b.example/", "Corn is cheap"))


@asynccontextmanager
async def service(found: Sequence[Hit] | Refusal = HITS) -> AsyncIterator[tuple[Search, str]]:
    search = Search(lambda query: found, keys=["tvly-0001"])
    async with serve(search.app) as url:
        yield search, url


async def refusal(found: Refusal, key: str = "") -> str:
    async with service(found) as (_, url):
        with pytest.raises(PageRefused) as caught:
            await Tavily(key, url).search("rice", 5)
    return str(caught.value)


@pytest.mark.parametrize("key", ["", "tvly-0001"])
async def test_pages_are_found_with_a_key_and_without(key: str) -> None:
    async with service() as (search, url):
        found = await Tavily(key, url).search("harga beras", 2)

    assert found == [Found(hit.title, hit.url, hit.content) for hit in HITS]
    assert search.asked == [{"query": "harga beras", "max_results": 2, "search_depth": "basic"}]


async def test_no_more_come_than_were_asked_for_and_none_that_nobody_can_open() -> None:
    odd = (Hit("x", "javascript:alert(1)", ""), Hit("x", "https://u:p@a.example/", ""), *HITS)
    async with service(odd) as (_, url):
        assert await Tavily("", url).search("rice", 3) == [Found("Rice", "https://a.example/rice", "Rice is dear")]


async def test_a_key_that_is_not_accepted_is_told() -> None:
    async with service() as (_, url):
        with pytest.raises(PageRefused, match="KABAR_TAVILY_KEY") as caught:
            await Tavily("tvly-wrong", url).search("rice", 5)
    assert str(caught.value) == KEY


@pytest.mark.parametrize("status", [429, 432, 433])
async def test_a_limit_that_is_reached_is_told_with_what_helps(status: int) -> None:
    assert WITH_KEY in await refusal(Refusal(status, "This request exceeds your plan's set usage limit."), "tvly-0001")
    assert WITHOUT_KEY in await refusal(Refusal(status, "Keyless limit reached.", "keyless_limit_exceeded"))


async def test_a_fault_of_the_service_is_told() -> None:
    assert await refusal(Refusal(500, "Internal Server Error")) == FAILED


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"results": [{}]}', b'{"results": 1}', b"<html>", b"\xff"])
async def test_an_answer_of_another_shape_is_told(body: bytes) -> None:
    async def answer(http: Request) -> Response:
        return Response(body, media_type="application/json")

    async with serve(Starlette(routes=[Route("/search", answer, methods=["POST"])])) as url:
        with pytest.raises(PageRefused) as caught:
            await Tavily("", url).search("rice", 5)
    assert str(caught.value) == FAILED


async def test_a_service_that_is_down_is_told() -> None:
    async with service() as (_, url):
        pass
    with pytest.raises(PageRefused) as caught:
        await Tavily("", url).search("rice", 5)
    assert str(caught.value) == UNREACHED


@pytest.mark.parametrize("address", ["", "api.tavily.com", "ftp://a.example", "https://", "http://a.example:x"])
def test_an_address_that_is_none_is_noticed_at_the_start(address: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        Tavily("", address)
