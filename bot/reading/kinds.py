"""What a file is, told by how it begins, whatever it is called. Pure, and no more than what can be read or heard.

The marks are those of the formats' own specifications; a library would know thousands of others, all to be refused.
"""

from enum import Enum

from bot.media import facts


class Kind(Enum):
    PICTURE = "picture"
    PDF = "pdf"
    PACKED = "packed"
    """A zip file, as Office files are."""
    OLD_OFFICE = "old office"
    """A compound file: Office before 2007, or an Office file with a password."""
    SOUND = "sound"
    FILM = "film"
    OTHER = "other"
    """Text, or nothing that can be read."""


Told = tuple[Kind, str]
"""A kind and its media type; "" where only a look inside tells it."""

REFUSED = (
    "This kind of file can not be read here: only pictures, PDF, text, Word, Excel, PowerPoint and OpenDocument files."
)

_BEGINNINGS: tuple[tuple[bytes, Told], ...] = (
    (b"II*\0", (Kind.PICTURE, "image/tiff")),
    (b"MM\0*", (Kind.PICTURE, "image/tiff")),
    (b"PK\x03\x04", (Kind.PACKED, "")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", (Kind.OLD_OFFICE, "")),
    (b"OggS", (Kind.SOUND, "audio/ogg")),
    (b"fLaC", (Kind.SOUND, "audio/flac")),
    (b"ID3", (Kind.SOUND, "audio/mpeg")),
    (b"\xff\xfb", (Kind.SOUND, "audio/mpeg")),
    (b"\xff\xf3", (Kind.SOUND, "audio/mpeg")),
    (b"\xff\xf2", (Kind.SOUND, "audio/mpeg")),
    (b"\xff\xfa", (Kind.SOUND, "audio/mpeg")),
    (b"\xff\xf1", (Kind.SOUND, "audio/aac")),
    (b"\xff\xf9", (Kind.SOUND, "audio/aac")),
    (b"#!AMR", (Kind.SOUND, "audio/amr")),
    (b"caff\0", (Kind.SOUND, "audio/x-caf")),
    (b"\x1aE\xdf\xa3", (Kind.FILM, "video/webm")),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", (Kind.FILM, "video/x-ms-asf")),
)
_CHUNKED: dict[bytes, Told] = {
    b"RIFFWEBP": (Kind.PICTURE, "image/webp"),
    b"RIFFWAVE": (Kind.SOUND, "audio/wav"),
    b"RIFFAVI ": (Kind.FILM, "video/x-msvideo"),
    b"FORMAIFF": (Kind.SOUND, "audio/aiff"),
    b"FORMAIFC": (Kind.SOUND, "audio/aiff"),
}
_STILL = {b"heic", b"heix", b"heim", b"heis", b"mif1", b"hevc", b"hevx"}
_HEARD = {b"M4A ", b"M4B ", b"F4A "}
_PDF_BEGINS_WITHIN = 1024
"""Bytes that may stand before a PDF's own beginning (ISO 32000, note to 7.5.2)."""


def told(data: bytes) -> Told:
    """What the bytes say they are; that they are so throughout is seen when they are read."""
    if data.startswith((b"RIFF", b"FORM")):
        return _CHUNKED.get(data[:4] + data[8:12], (Kind.OTHER, ""))
    if media_type := facts(data)[0]:
        return Kind.PICTURE, media_type
    for beginning, kind in _BEGINNINGS:
        if data.startswith(beginning):
            return kind
    if data[4:8] == b"ftyp":
        return _by_brand(data)
    if data.startswith(b"BM") and data[6:10] == bytes(4):
        return Kind.PICTURE, "image/bmp"
    if b"%PDF-" in data[:_PDF_BEGINS_WITHIN]:
        return Kind.PDF, "application/pdf"
    return Kind.OTHER, ""


def _by_brand(data: bytes) -> Told:
    """ISO 14496-12, 4.3: one container for pictures, sounds and films; its first box names what it holds."""
    size = min(int.from_bytes(data[:4], "big"), 256)
    brands = {data[at : at + 4] for at in (8, *range(16, size, 4))}
    if brands & {b"avif", b"avis"}:
        return Kind.PICTURE, "image/avif"
    if brands & _STILL:
        return Kind.PICTURE, "image/heic"
    if data[8:12] in _HEARD:
        return Kind.SOUND, "audio/mp4"
    return Kind.FILM, "video/mp4"
