"""What picture files tell of themselves, and how many of them fit into one request."""

import struct
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.media import LARGEST, LARGEST_TOGETHER, MANY, MOST, NO_PICTURE, Medium, facts, surplus, usable
from simulator.model_rules import image_facts

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 300, 7)
GIF = b"GIF89a" + struct.pack("<HH", 300, 7)
JPEG = (
    b"\xff\xd8"
    + b"\xff\xe1"
    + struct.pack(">H", 2 + 300)
    + b"\xff\xc0" * 150  # a thumbnail inside a segment is not the picture
    + b"\xff\xc2"
    + struct.pack(">HBHH", 17, 8, 7, 300)
)
RIFF = b"RIFF\x00\x00\x00\x00WEBP"
WEBP_LOSSY = RIFF + b"VP8 \x00\x00\x00\x00" + b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 300 | 1 << 14, 7)
WEBP_LOSSLESS = RIFF + b"VP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", 299 | 6 << 14)
WEBP_EXTENDED = RIFF + b"VP8X\x0a\x00\x00\x00" + b"\x10\x00\x00\x00" + b"\x2b\x01\x00" + b"\x06\x00\x00"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (GIF, "image/gif"),
        (JPEG, "image/jpeg"),
        (WEBP_LOSSY, "image/webp"),
        (WEBP_LOSSLESS, "image/webp"),
        (WEBP_EXTENDED, "image/webp"),
    ],
)
def test_type_and_size_are_read_from_the_bytes(data: bytes, kind: str) -> None:
    assert facts(data) == (kind, (300, 7))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", PNG[:-1], GIF[:-1], JPEG[:-4], WEBP_LOSSLESS[:-1], RIFF])
def test_what_is_no_whole_header_is_no_picture(data: bytes) -> None:
    assert facts(data)[1] == (0, 0)


@settings(deadline=None, max_examples=500)
@given(st.sampled_from([PNG, GIF, JPEG, b""]), st.integers(0, 400), st.binary(max_size=60))
def test_no_bytes_break_the_reader_and_none_that_it_takes_are_taken_otherwise_by_the_provider(
    start: bytes, cut: int, data: bytes
) -> None:
    kind, sides = facts(start[:cut] + data)
    if min(sides):
        assert image_facts(start[:cut] + data) == (kind, sides)


def test_addresses_and_uploaded_files_are_taken_as_they_are() -> None:
    for source in ({"type": "url", "url": "https://example.com/a.png"}, {"type": "file", "file_id": "file_1"}):
        assert usable(source) is source


def test_five_megabytes_of_base64_are_taken_and_a_byte_more_is_not() -> None:
    whole = PNG + b"\x00" * (LARGEST * 3 // 4 - len(PNG))
    source = {"type": "base64", "media_type": "image/png", "data": b64encode(whole).decode()}
    assert len(source["data"]) == LARGEST
    assert usable(source) is source
    assert "too large" in str(usable({**source, "data": source["data"] + "AAAA"}))


MEDIA = st.builds(Medium, st.sampled_from([0, 2000, 2001]), st.sampled_from([0, LARGEST]))


@given(st.lists(MEDIA, max_size=130), MEDIA)
def test_what_stays_fits_and_what_is_gone_never_comes_back(media: list[Medium], another: Medium) -> None:
    gone = surplus(media)
    shown = media[gone:]
    assert len(shown) <= MOST
    assert len(shown) <= MANY or all(medium.side <= 2000 for medium in shown)
    assert sum(medium.size for medium in shown) <= LARGEST_TOGETHER
    assert surplus(shown) == 0
    assert surplus([*media, another]) >= gone


def test_no_picture_says_nothing() -> None:
    assert facts(b"\x89PNG") == NO_PICTURE
