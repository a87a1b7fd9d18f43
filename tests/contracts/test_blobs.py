"""What every keeper of files guarantees. Each test runs over S3 (a local emulator, real boto3) and over a folder."""

import asyncio
import random
import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.adapters.file_blobs import FileBlobs
from bot.adapters.s3_blobs import S3Blobs
from bot.keeping import blob_key
from bot.ports import Blobs
from tests.emulator import REGION, Account

CHAT = "telegram:-100200:55"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture(params=["s3", "folder"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Blobs]:
    """As after a restart: each keeps what those before it kept."""
    if request.param == "folder":
        return lambda: FileBlobs(tmp_path / "files")
    aws: Account = request.getfixturevalue("aws")
    client = aws.client("s3")
    bucket = f"kabar-{uuid.uuid4().hex}"  # a name is taken once for all accounts
    client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    return lambda: S3Blobs(lambda: client, bucket)


@pytest.fixture
def blobs(made: Callable[[], Blobs]) -> Blobs:
    return made()


@pytest.mark.parametrize("data", [b"", b"\x00", PICTURE, random.Random(7).randbytes(9_000_000)], ids=len)
async def test_what_is_kept_comes_back_byte_for_byte(made: Callable[[], Blobs], data: bytes) -> None:
    key = await made().put(CHAT, data, "image/png")
    assert await made().get(key) == data


async def test_a_file_kept_again_has_the_same_key_and_another_file_another(blobs: Blobs) -> None:
    key = await blobs.put(CHAT, PICTURE, "image/png")
    assert await blobs.put(CHAT, PICTURE, "image/jpeg") == key
    assert await blobs.put(CHAT, PICTURE + b" ", "image/png") != key
    assert await blobs.put("telegram:1", PICTURE, "image/png") != key
    assert await blobs.get(key) == PICTURE


async def test_the_same_file_kept_many_times_at_once_is_kept_whole(blobs: Blobs) -> None:
    data = random.Random(7).randbytes(300_000)
    keys = await asyncio.gather(*(blobs.put(CHAT, data, "image/png") for _ in range(10)))
    assert await asyncio.gather(*map(blobs.get, keys)) == [data] * 10
    assert len(set(keys)) == 1


async def test_what_is_not_there_is_none(blobs: Blobs) -> None:
    kept = await blobs.put(CHAT, PICTURE, "image/png")
    folder, _, name = kept.partition("/")
    assert await blobs.get(f"{folder}/{'0' * len(name)}") is None
    assert await blobs.get(f"nobody/{name}") is None


@pytest.mark.parametrize(
    "key",
    [
        *("", "/", "a", "a/", "/etc/passwd", "..", "../secret", "x/../../secret", "a\x00/b", "\ud800"),
        f"../{'0' * 32}",
        f"./{'0' * 32}",
        f"{'0' * 32}/../{'0' * 32}",
        f"x/{'0' * 32}\n",
    ],
)
async def test_a_key_that_nobody_was_given_leads_nowhere(blobs: Blobs, tmp_path: Path, key: str) -> None:
    for file in ("secret", "0" * 32):
        (tmp_path / file).write_text("outside the folder")
    assert await blobs.get(key) is None


@pytest.mark.parametrize("kind", ["", "image/svg+xml; x", "text/html\r\nX-Acl: public", "Ünknown/☂", "a" * 300])
async def test_whatever_kind_a_file_claims_to_be_it_is_kept(blobs: Blobs, kind: str) -> None:
    assert await blobs.get(await blobs.put(CHAT, PICTURE, kind)) == PICTURE


ALIKE = [
    *("telegram:1", "telegram:10", "telegram:1:1", "TELEGRAM:1", "telegram:", "", "..", ".", "/", "a/b", "a/../b"),
    *("telegram_3a1", "~", "con", "terminal:a b/\\%_'\";--\x00", "terminal:Zoë\U0001f35c", "x" * 300, "x" * 301),
]
"""Conversations whose names some file system or other mixes up, or takes for something else."""


async def test_any_name_may_name_a_conversation_and_no_two_are_mixed_up(blobs: Blobs) -> None:
    keys = {conversation: await blobs.put(conversation, conversation.encode(), "text/plain") for conversation in ALIKE}
    for gone in ALIKE:
        await blobs.forget(gone)
        assert await blobs.get(keys.pop(gone)) is None
        for conversation, key in keys.items():
            assert await blobs.get(key) == conversation.encode()


def test_keys_stay_apart_where_case_does_not_count_and_are_short_and_plain() -> None:
    folders = [blob_key(conversation, b"").partition("/")[0] for conversation in ALIKE]
    assert len({folder.lower() for folder in folders}) == len(ALIKE)
    assert all(re.fullmatch("[a-z0-9_~-]{1,150}", folder) for folder in folders)
    assert blob_key("slack:T1:C1", b"").startswith("slack_3a_541_3a_431/")


async def test_forgetting_deletes_everything_however_much_it_is_and_may_be_done_again(blobs: Blobs) -> None:
    keys = await asyncio.gather(*(blobs.put(CHAT, str(number).encode(), "text/plain") for number in range(1_100)))
    other = await blobs.put("telegram:-100200", PICTURE, "image/png")
    await asyncio.gather(blobs.forget(CHAT), blobs.forget(CHAT))
    assert {await blobs.get(key) for key in keys} == {None}
    await blobs.forget(CHAT)
    await blobs.forget("telegram:never-seen")
    assert await blobs.get(other) == PICTURE
    assert await blobs.put(CHAT, b"0", "text/plain") == keys[0]
    assert await blobs.get(keys[0]) == b"0"
