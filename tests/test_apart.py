"""Work in a process of its own: what it says comes back, and however it ends, only it ends."""

import pytest

from bot.apart import apart, ended, environment


async def test_what_the_process_writes_comes_back() -> None:
    assert (await apart("json.tool", b'{"a":1}', 30)).split() == [b"{", b'"a":', b"1", b"}"]


async def test_one_that_fails_or_is_not_there_is_told() -> None:
    for module in ("json.tool", "no.such.module"):
        with pytest.raises(ValueError, match=module):
            await apart(module, b"{", 30)


async def test_how_one_ended_is_told_where_it_is_asked_for() -> None:
    assert await ended("json.tool", b"{", 30) == (b"", 1)


async def test_one_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TimeoutError):
        await apart("json.tool", b"{}", 0)


def test_it_is_given_where_modules_are_and_nothing_else() -> None:
    assert environment(["", "/a"]).keys() == {"PYTHONPATH", "LD_LIBRARY_PATH"}
    assert environment(["", "/a"])["PYTHONPATH"] == "/a"
