"""Searching the web with Tavily: one POST, with a key or without.

Without a key Tavily answers too, the same way and up to a limit it does not tell ("keyless", for exploration and light
use: its documentation, November 2026). So a bot that nobody gave a key can search, and no library that reads other
search engines' result pages against their terms is needed.
"""

from typing import Any

from msgspec import DecodeError, Struct, json

from bot.web.address import PageRefused
from bot.web.transport import Answer, Headers, Request, configured, exchange
from bot.web.words import is_openable

BASE_URL = "https://api.tavily.com"
LARGEST = 2 * 1024 * 1024
MOST = 10

KEY = "The search service does not accept the key that is set here (KABAR_TAVILY_KEY). Tell the person that."
USED_UP = "The search service's limit for this bot is reached; {hint}. Answer without it and say so."
WITH_KEY = "more can be searched later, or with a larger plan"
WITHOUT_KEY = "an owner can set KABAR_TAVILY_KEY, which is free, for more searches"
FAILED = "The search service failed. Try once more, in other words; then answer without it and say so."


class Found(Struct, frozen=True):
    """One page that was found."""

    title: str
    address: str
    snippet: str = ""


class _Result(Struct, frozen=True):
    url: str
    title: str | None = ""
    content: str | None = ""


class _Results(Struct, frozen=True):
    results: list[_Result]


class Tavily:
    """``key`` "" searches without one. Raises ValueError where ``base_url`` is no address."""

    def __init__(self, key: str = "", base_url: str = BASE_URL) -> None:
        self._key = key
        self._target = configured(base_url, "/search")

    async def search(self, query: str, count: int) -> list[Found]:
        """The pages found, the best first; at most ``count``. Raises PageRefused."""
        access = ("authorization", f"Bearer {self._key}") if self._key else ("x-tavily-access-mode", "keyless")
        asked: dict[str, Any] = {"query": query, "max_results": count, "search_depth": "basic"}
        headers = (("content-type", "application/json"), ("x-client-source", "kabar"), access)
        request = Request(self._target, headers, "POST", json.encode(asked))
        answer = await exchange(request, _limit_of)
        if answer.status != 200:
            raise PageRefused(self._refusal(answer))
        try:
            results = json.decode(answer.data, type=_Results).results
        except DecodeError as fault:  # also where the shape is another
            raise PageRefused(FAILED) from fault
        found = (Found((each.title or "").strip(), each.url, (each.content or "").strip()) for each in results)
        return [each for each in found if is_openable(each.address)][:count]

    def _refusal(self, answer: Answer) -> str:
        if answer.status == 401 and self._key:
            return KEY
        if answer.status in (401, 403, 429, 432, 433):  # 432 and 433: the plan's limit, and the pay-as-you-go one
            return USED_UP.format(hint=WITH_KEY if self._key else WITHOUT_KEY)
        return FAILED


def _limit_of(status: int, headers: Headers) -> int:
    return LARGEST if status == 200 else 0
