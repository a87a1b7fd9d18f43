"""The owner's folder in a bucket: all of it or nothing, and never outside of where it is copied to."""

import socket
from pathlib import Path

import pytest

from bot.adapters.s3_folder import NotCopied, S3Folder
from tests.emulator import Account


def put(aws: Account, bucket: str, *keys: str, data: bytes = b"x") -> None:
    for key in keys:
        aws.client("s3").put_object(Bucket=bucket, Key=key, Body=data)


def copied(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("prefix", ["agent/", "agent"])
def test_what_lies_under_the_prefix_is_copied_and_nothing_beside_it(aws: Account, tmp_path: Path, prefix: str) -> None:
    bucket = aws.bucket()
    put(aws, bucket, "agent/AGENTS.md", "agent/skills/a/SKILL.md", "agent/skills/a/scripts/", data=b"Be kind.")
    put(aws, bucket, "agents/AGENTS.md", "telegram_3a1/0", "agent/")
    S3Folder(lambda: aws.client("s3"), bucket, prefix).copy(tmp_path)
    assert copied(tmp_path) == {"AGENTS.md": b"Be kind.", "skills/a/SKILL.md": b"Be kind."}


def test_a_key_that_leads_elsewhere_is_left_out_and_told(
    aws: Account, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bucket, folder = aws.bucket(), tmp_path / "in/here"
    folder.mkdir(parents=True)
    odd = ("../up.md", "a/../../up.md", "/etc/up.md", "a//up.md", ".", "a\\up.md", "c:up.md", "a\nb", "x" * 300)
    put(aws, bucket, "agent/AGENTS.md", *(f"agent/{name}" for name in odd))
    S3Folder(lambda: aws.client("s3"), bucket, "agent/").copy(folder)
    assert copied(tmp_path) == {"in/here/AGENTS.md": b"x"}
    assert caplog.text.count("no plain name") == len(odd)


@pytest.mark.parametrize("limits", [{"most": 2}, {"largest": 29}])
def test_too_much_is_not_begun(aws: Account, tmp_path: Path, limits: dict[str, int]) -> None:
    bucket = aws.bucket()
    put(aws, bucket, *(f"agent/{number}.md" for number in range(3)), data=b"x" * 10)
    with pytest.raises(NotCopied, match="There are more than"):
        S3Folder(lambda: aws.client("s3"), bucket, "agent/", **limits).copy(tmp_path)
    assert copied(tmp_path) == {}
    S3Folder(lambda: aws.client("s3"), bucket, "agent/", most=3, largest=30).copy(tmp_path)
    assert len(copied(tmp_path)) == 3


def test_nothing_there_no_bucket_and_no_answer_say_why(aws: Account, tmp_path: Path) -> None:
    bucket = aws.bucket()
    with pytest.raises(NotCopied, match="Nothing lies under agent/"):
        S3Folder(lambda: aws.client("s3"), bucket, "agent/").copy(tmp_path)
    with pytest.raises(NotCopied, match="NoSuchBucket"):
        S3Folder(lambda: aws.client("s3"), "kabar-that-nobody-made", "agent/").copy(tmp_path)
    with socket.socket() as unheard:  # bound, so that nobody else takes the port, but not listening
        unheard.bind(("127.0.0.1", 0))
        client = aws.client("s3", endpoint=f"http://127.0.0.1:{unheard.getsockname()[1]}")
        with pytest.raises(NotCopied, match="EndpointConnectionError"):
            S3Folder(lambda: client, bucket, "agent/").copy(tmp_path)


def test_names_that_can_not_lie_beside_each_other_are_no_folder(aws: Account, tmp_path: Path) -> None:
    bucket = aws.bucket()
    put(aws, bucket, "agent/a", "agent/a/b")
    with pytest.raises(NotCopied):
        S3Folder(lambda: aws.client("s3"), bucket, "agent/").copy(tmp_path)
