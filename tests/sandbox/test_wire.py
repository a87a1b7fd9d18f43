"""Jobs and what became of them, on their way to the sandbox function and back."""

import base64
import json
import random
import zlib

import pytest

from bot.sandbox import wire
from bot.sandbox.port import CanNotRun, Item, Job, Ran


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


def test_what_goes_in_comes_out() -> None:
    job = Job("print(1)", ("a", "é"), (Item("x.bin", bytes(range(256))),))
    ran = Ran(137, "time", "out", "err", (Item("a/b.txt", b"x"),), ("c: too large",), ("network",))

    assert wire.unpack(wire.request(job)["job"], Job) == job
    assert wire.unpack(wire.response(ran)["ran"], Ran) == ran


def test_a_large_table_travels_because_it_is_packed() -> None:
    table = b"2026-11-30,Jakarta,42.5\n" * 500_000

    assert len(json.dumps(wire.request(Job("", files=(Item("t.csv", table),))))) < wire.LARGEST_PAYLOAD


def test_files_that_do_not_fit_are_refused_with_the_limit() -> None:
    with pytest.raises(CanNotRun, match="4 MB"):
        wire.request(Job("", files=(Item("x.bin", noise(5_000_000)),)))


def test_of_results_that_do_not_fit_the_largest_stay_and_are_named() -> None:
    files = (Item("small.txt", b"x"), Item("large.bin", noise(4_000_000)), Item("medium.bin", noise(2_000_000)))

    answer = wire.response(Ran(0, files=files))

    ran = wire.unpack(answer["ran"], Ran)
    assert [item.name for item in ran.files] == ["small.txt", "medium.bin"]
    assert ran.left == ("large.bin: too large to be brought back",)
    assert len(json.dumps(answer)) < wire.LARGEST_PAYLOAD


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!!!",
        base64.b64encode(b"no zlib").decode(),
        base64.b64encode(zlib.compress(b"no msgpack")).decode(),
        base64.b64encode(zlib.compress(b"\x81\xa4code\xa1x")).decode(),
        base64.b64encode(zlib.compress(bytes(100_000_000))).decode(),
        wire.pack(Ran(0, files=(Item("x", b"x"),)))[:-8],
    ],
)
def test_what_is_no_answer_or_a_bomb_is_no_answer(text: str) -> None:
    with pytest.raises(ValueError):
        wire.unpack(text, Ran)
