"""One site on this machine that stands in for the web: for what is asked of pages and how they answer."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from simulator.web import Answer, Sites, StandInWeb, stand_in_web

SITE = "news.example"


@asynccontextmanager
async def site(pages: Mapping[str, Answer]) -> AsyncIterator[StandInWeb]:
    """Serve these pages, by path, as SITE."""
    async with stand_in_web(Sites({SITE: pages})) as web:
        yield web
