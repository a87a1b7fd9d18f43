"""What only the S3 keeper of files has to promise: what it tells S3, and its word when S3 fails."""

import contextlib
import socket
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec import Struct

from bot.adapters.s3_blobs import S3Blobs
from bot.errors import ConfigError, KabarError, StoreUnavailable
from tests.emulator import REGION, Account

CHAT = "telegram:1"
KEY = f"telegram_3a1/{'0' * 32}"


@pytest.fixture
def bucket(aws: Account) -> str:
    name = f"kabar-{uuid.uuid4().hex}"  # a name is taken once for all accounts
    aws.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return name


@pytest.fixture
def blobs(aws: Account, bucket: str) -> S3Blobs:
    return S3Blobs(lambda: aws.client("s3"), bucket)


async def test_an_object_says_what_it_is_where_that_is_a_kind_at_all(aws: Account, bucket: str, blobs: S3Blobs) -> None:
    kinds = {}
    for kind in ("image/png", "application/vnd.ms-excel", "text/html\r\nX-Acl: public", "Ünknown/☂", "image"):
        key = await blobs.put(CHAT, kind.encode(), kind)
        kinds[kind] = aws.client("s3").head_object(Bucket=bucket, Key=key)["ContentType"]
    assert list(kinds.values()) == ["image/png", "application/vnd.ms-excel", *["application/octet-stream"] * 3]


async def test_nothing_is_kept_outside_the_conversations_own_prefix(aws: Account, bucket: str, blobs: S3Blobs) -> None:
    key = await blobs.put(CHAT, b"x", "text/plain")
    listed = aws.client("s3").list_objects_v2(Bucket=bucket)["Contents"]
    assert [found["Key"] for found in listed] == [key]
    assert key.startswith("telegram_3a1/")


# When S3 fails


class Told(Struct, frozen=True):
    """One answer of a stand-in for S3. ``promised`` is the length it announces, where that is not the body's."""

    status: int
    body: str
    promised: int | None = None


def error(status: int, code: str) -> Told:
    return Told(status, f"<Error><Code>{code}</Code><Message>scripted</Message></Error>")


@contextlib.contextmanager
def answering(*answers: Told) -> Iterator[str]:
    """The address of a server that gives these answers, one after another."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            told = left.pop(0)
            body = told.body.encode()
            self.send_response(told.status)
            self.send_header("Content-Length", str(len(body) if told.promised is None else told.promised))
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert left == []


@pytest.mark.parametrize("status, code", [(503, "SlowDown"), (500, "InternalError"), (400, "RequestTimeout")])
async def test_an_outage_is_named_so_that_the_queue_repeats(aws: Account, status: int, code: str) -> None:
    with answering(*[error(status, code)] * 3) as endpoint:
        blobs = S3Blobs(lambda: aws.client("s3", endpoint=endpoint), "kabar")
        with pytest.raises(StoreUnavailable, match=code):
            await blobs.put(CHAT, b"x", "text/plain")
        with pytest.raises(StoreUnavailable, match=code):
            await blobs.get(KEY)
        with pytest.raises(StoreUnavailable, match=code):
            await blobs.forget(CHAT)


async def test_half_a_file_is_an_outage_and_never_a_file(aws: Account) -> None:
    with answering(Told(200, "only the beg", promised=1_000)) as endpoint, pytest.raises(StoreUnavailable):
        await S3Blobs(lambda: aws.client("s3", endpoint=endpoint), "kabar").get(KEY)


async def test_no_connection_is_an_outage(aws: Account) -> None:
    with socket.socket() as unheard:  # bound, so that nobody else takes the port, but not listening
        unheard.bind(("127.0.0.1", 0))
        client = aws.client("s3", endpoint=f"http://127.0.0.1:{unheard.getsockname()[1]}")
        with pytest.raises(StoreUnavailable):
            await S3Blobs(lambda: client, "kabar").get(KEY)


async def test_a_bucket_that_can_not_be_used_is_the_owners_business(aws: Account) -> None:
    nowhere = S3Blobs(lambda: aws.client("s3"), "kabar-that-nobody-made")
    with pytest.raises(ConfigError, match="KABAR_BUCKET"):
        await nowhere.get(KEY)
    with answering(error(403, "AccessDenied")) as endpoint, pytest.raises(ConfigError, match="AccessDenied"):
        await S3Blobs(lambda: aws.client("s3", endpoint=endpoint), "kabar").put(CHAT, b"x", "text/plain")


async def test_a_request_that_can_never_succeed_is_not_dressed_up_as_an_outage(aws: Account) -> None:
    with (
        answering(error(400, "InvalidArgument")) as endpoint,
        pytest.raises(Exception, match="InvalidArgument") as raised,
    ):
        await S3Blobs(lambda: aws.client("s3", endpoint=endpoint), "kabar").put(CHAT, b"x", "text/plain")
    assert not isinstance(raised.value, KabarError)


@pytest.mark.parametrize(("code", "expected"), [("InternalError", StoreUnavailable), ("AccessDenied", ConfigError)])
async def test_what_s3_kept_of_a_deletion_is_not_taken_for_deleted(
    aws: Account, code: str, expected: type[Exception]
) -> None:
    listed = Told(200, f"<ListBucketResult><Contents><Key>{KEY}</Key></Contents></ListBucketResult>")
    kept = Told(200, f"<DeleteResult><Error><Key>{KEY}</Key><Code>{code}</Code></Error></DeleteResult>")
    with answering(listed, kept) as endpoint, pytest.raises(expected, match="kept 1 of 1"):
        await S3Blobs(lambda: aws.client("s3", endpoint=endpoint), "kabar").forget(CHAT)
