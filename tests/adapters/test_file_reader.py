"""Files of every kind through the real reader: each in a process of its own, with the real libraries."""

import asyncio
import codecs
import io
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from bot.adapters import file_reader
from bot.adapters.file_reader import FileReader
from bot.errors import FileRefused
from bot.media import facts
from bot.ports import Read
from bot.reading.limits import LARGEST_PICTURE, LONG_SIDE, LONGEST_TEXT
from tests.adapters import documents
from tests.adapters.documents import paragraph

FILES = Path(__file__).parent / "files"
VOICE = b"OggS\0\2" + bytes(22) + b"OpusHead" + bytes(40)
GPS = 0x8825
ORIENTATION = 0x0112


async def read(data: bytes) -> Read:
    return await FileReader(None).read(data)


async def refusal(data: bytes, reader: FileReader | None = None) -> str:
    with pytest.raises(FileRefused) as caught:
        await (reader or FileReader(None)).read(data)
    return str(caught.value)


def saved(image: Image.Image, format_name: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format_name, **options)
    return file.getvalue()


def shown(picture: Read) -> Image.Image:
    image = Image.open(io.BytesIO(picture.data))
    image.load()
    assert facts(picture.data) == (picture.media_type, (picture.width, picture.height))
    return image


def two_halves(width: int = 64, height: int = 32) -> Image.Image:
    """Blue on the left, red on the right."""
    image = Image.new("RGB", (width, height), "red")
    image.paste("blue", (0, 0, width // 2, height))
    return image


def colour(pixel: object) -> str:
    assert isinstance(pixel, tuple)
    red, green, blue, *_ = pixel
    return "blue" if blue > 200 and red + green < 60 else "red" if red > 200 and green + blue < 60 else str(pixel)


# Pictures


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"])
async def test_a_picture_is_told_by_its_bytes_and_comes_out_as_the_model_takes_it(format_name: str) -> None:
    picture = await read(saved(two_halves(), format_name))

    image = shown(picture)
    assert picture.media_type in ("image/png", "image/jpeg")
    assert [colour(image.convert("RGB").getpixel(at)) for at in ((4, 16), (60, 16))] == ["blue", "red"]


async def test_a_phone_s_heic_becomes_a_jpeg() -> None:
    picture = await read((FILES / "photo.heic").read_bytes())

    assert (picture.media_type, picture.width, picture.height) == ("image/jpeg", 64, 32)
    assert colour(shown(picture).getpixel((4, 16))) == "blue"


async def test_where_and_with_what_a_picture_was_taken_is_gone() -> None:
    exif = Image.Exif()
    exif[0x010F] = "KabarCam"
    exif.get_ifd(GPS)[1] = "N"
    photo = saved(two_halves(), "JPEG", exif=exif, comment=b"at home", xmp=b"<x>KabarCam</x>", icc_profile=b"KabarCam")
    assert Image.open(io.BytesIO(photo)).getexif().get_ifd(GPS)

    picture = await read(photo)

    image = shown(picture)
    assert not image.getexif()
    assert image.info.keys() <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}
    assert b"KabarCam" not in picture.data and b"at home" not in picture.data


async def test_a_picture_taken_sideways_stands_upright() -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # to be turned right by a quarter

    picture = await read(saved(two_halves(64, 32), "JPEG", exif=exif, quality=95))

    assert (picture.width, picture.height) == (32, 64)
    assert [colour(shown(picture).getpixel(at)) for at in ((16, 4), (16, 60))] == ["blue", "red"]


async def test_metadata_that_is_broken_takes_no_picture_away() -> None:
    picture = await read(saved(two_halves(), "JPEG", exif=b"Exif\0\0II*\0\xff\xff\xff\x7f" + b"\xff" * 40))

    assert (picture.width, picture.height) == (64, 32)


@pytest.mark.parametrize(("width", "height"), [(4000, 3000), (3000, 4000), (6000, 10)])
async def test_a_large_picture_is_made_as_small_as_the_model_sees_it(width: int, height: int) -> None:
    picture = await read(saved(two_halves(width, height), "JPEG"))

    assert max(picture.width, picture.height) == LONG_SIDE
    assert abs(picture.width / picture.height - width / height) < 0.01 * width / height or min(width, height) == 10
    shown(picture)


async def test_a_small_picture_keeps_its_size() -> None:
    picture = await read(saved(two_halves(20, 10), "PNG"))

    assert (picture.width, picture.height, picture.media_type) == (20, 10, "image/png")


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
async def test_a_picture_that_is_too_many_bytes_as_png_becomes_a_jpeg(mode: str) -> None:
    noise = Image.frombytes(mode, (1568, 1568), os.urandom(1568 * 1568 * len(mode)))

    picture = await read(saved(noise, "PNG", compress_level=0))

    assert picture.media_type == "image/jpeg"
    assert len(picture.data) <= LARGEST_PICTURE
    shown(picture)


async def test_what_is_transparent_stays_so() -> None:
    image = Image.new("RGBA", (10, 10), (255, 0, 0, 0))

    assert shown(await read(saved(image, "PNG"))).getpixel((5, 5)) == (255, 0, 0, 0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "CMYK", "YCbCr", "I;16", "I", "F"])
async def test_a_picture_in_any_mode_is_read(mode: str) -> None:
    grey = Image.new("L", (3200, 1600), 128)
    image = Image.new("I;16", grey.size, 128 * 257) if mode == "I;16" else grey.convert("LA" if mode == "PA" else mode)

    picture = await read(saved(image.convert("PA") if mode == "PA" else image, "TIFF" if mode != "LA" else "PNG"))

    assert (picture.width, picture.height) == (LONG_SIDE, LONG_SIDE // 2)
    brightness = shown(picture).convert("L").getpixel((700, 300))
    assert brightness in range(120, 136)


async def test_of_what_moves_the_first_frame_is_kept() -> None:
    frames = [two_halves(), Image.new("RGB", (64, 32), "white")]

    for format_name in ("GIF", "WEBP", "PNG"):
        moving = saved(frames[0], format_name, save_all=True, append_images=frames[1:], duration=100)
        picture = shown(await read(moving))
        assert getattr(picture, "n_frames", 1) == 1
        assert colour(picture.convert("RGB").getpixel((4, 16))) == "blue"


@pytest.mark.parametrize("side", [10_001, 50_000])
async def test_a_bomb_of_pixels_is_refused_before_it_is_unpacked(side: int) -> None:
    """A tiny PNG whose header says that it is huge."""
    small = saved(two_halves(), "PNG")
    header = b"IHDR" + struct.pack(">II", side, side) + small[24:29]
    bomb = small[:12] + header + struct.pack(">I", zlib.crc32(header)) + small[33:]

    assert await refusal(bomb) == "The picture has more than 100 million pixels."


async def test_a_picture_that_is_cut_off_is_refused() -> None:
    whole = saved(two_halves(400, 400), "JPEG")

    assert "broken" in await refusal(whole[: len(whole) // 2])


# Text


async def test_text_comes_out_whole_with_plain_ends_of_lines() -> None:
    text = await read("Satu\r\nDua\rTiga ☕\n".encode())

    assert text == Read(data="Satu\r\nDua\rTiga ☕\n".encode(), media_type="text/plain", text="Satu\nDua\nTiga ☕\n")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
async def test_text_that_names_its_encoding_is_read_in_it(encoding: str) -> None:
    text = await read("Kopi susu ☕".encode(encoding))

    assert (text.text, text.data) == ("Kopi susu ☕", "Kopi susu ☕".encode())
    assert (await read(codecs.BOM_UTF16_BE + "Kopi ☕".encode("utf-16-be"))).text == "Kopi ☕"


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("Größe;Straße;Äpfel\n1;2;3\n", "cp1252"),
        ("Café déjà vu, naïve façade – “quoted” €5", "cp1252"),
        ("Laporan – “kunjungan” ke café di Solo", "cp1252"),
        ("Привет, это отчёт за месяц. Сумма договора", "cp1251"),
        ("これは日本語のテキストです。会議の議事録", "shift_jis"),
        ("这是一个中文文件，包含合同条款和日期", "gbk"),
        ("안녕하세요 이것은 한국어 문서입니다", "euc-kr"),
    ],
)
async def test_text_from_before_unicode_is_read_in_its_writer_s_encoding(words: str, encoding: str) -> None:
    assert (await read(words.encode(encoding))).text == words


async def test_a_log_that_was_cut_in_the_middle_of_a_character_is_still_utf_8() -> None:
    log = "✓ selesai\n".encode() * 20 + "✓".encode()

    assert (await read(log[1:-1])).text.count("✓") == 19


async def test_a_web_page_is_text() -> None:
    page = await read(b"\n<!DOCTYPE html><title>Kabar</title>")

    assert (page.media_type, page.text) == ("text/html", "\n<!DOCTYPE html><title>Kabar</title>")


async def test_of_a_huge_text_the_beginning_is_read_and_all_is_kept() -> None:
    huge = b"0123456789" * 250_000

    text = await read(huge)

    assert (len(text.text), len(text.data)) == (LONGEST_TEXT, 2_500_000)


@pytest.mark.parametrize(
    "data",
    [b"\x7fELF\2\1\1" + bytes(60), b"MZ\x90\0\3\0\0\0" * 50, b"\x1f\x8b\x08\0" + bytes(range(256)) * 20, b"hi\0there"],
)
async def test_what_is_no_text_is_none(data: bytes) -> None:
    with pytest.raises(FileRefused, match="only pictures, PDF, text, Word"):
        await read(data)


@pytest.mark.parametrize("data", [b"", b" \n\n", codecs.BOM_UTF8])
async def test_an_empty_file_is_said_to_be_empty(data: bytes) -> None:
    assert await refusal(data) == "The file is empty."


async def test_a_file_that_is_too_large_is_refused() -> None:
    assert await refusal(bytes(20 * 1024 * 1024 + 1)) == "The file is larger than 20 MB."


# PDF


async def test_a_pdf_is_kept_and_its_text_is_told_by_pages() -> None:
    document = documents.pdf("Kontrak kerja", "", "Tanda tangan")

    read_pdf = await read(document)

    assert read_pdf == Read(
        data=document,
        media_type="application/pdf",
        pages=3,
        text="[Page 1]\nKontrak kerja\n\n[Page 3]\nTanda tangan\n\n",
    )


async def test_a_scan_has_pages_and_no_text() -> None:
    scan = await read(documents.pdf("", ""))

    assert (scan.pages, scan.text) == (2, "")


async def test_what_was_filled_into_a_form_is_read() -> None:
    assert "Budi Santoso" in (await read(documents.pdf("Nama:", field="Budi Santoso"))).text


async def test_of_a_pdf_with_very_many_pages_the_first_thousand_are_read() -> None:
    long = await read(documents.pdf(*(f"number {number}" for number in range(1, 1003))))

    assert long.pages == 1002
    assert long.text.endswith("[Page 1000]\nnumber 1000\n\n[Pages 1001 to 1002 were not read]\n")


async def test_a_pdf_with_a_password_is_refused_with_what_to_do() -> None:
    assert await refusal((FILES / "locked.pdf").read_bytes()) == (
        "The PDF is protected with a password: it has to be sent without one."
    )


async def test_a_pdf_that_opens_but_is_encrypted_is_kept_so_that_the_model_can_read_it() -> None:
    restricted = await read((FILES / "restricted.pdf").read_bytes())

    assert "Only for reading" in restricted.text
    assert b"/Encrypt " not in restricted.data
    assert (await read(restricted.data)).text == restricted.text


async def test_a_broken_pdf_is_refused() -> None:
    assert await refusal(b"%PDF-1.7\n" + b"nothing of use " * 100) == "The PDF is broken and can not be read."


# Office


async def test_a_word_file_is_read_with_its_headings_lists_tables_and_notes() -> None:
    row = f"<w:tr><w:tc>{paragraph('Kopi')}</w:tc><w:tc>{paragraph('12')}{paragraph('000')}</w:tc></w:tr>"
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = (
        paragraph("Laporan", '<w:pStyle w:val="Judul1"/>')
        + paragraph("Isi", '<w:tabs><w:tab w:val="left"/></w:tabs>').replace("</w:p>", f"{note}</w:p>")
        + paragraph("satu", '<w:numPr><w:ilvl w:val="0"/></w:numPr>')
        + paragraph("dua", '<w:pStyle w:val="DaftarBerpoin"/>')
        + f"<w:tbl><w:tblPr/>{row}</w:tbl>"
        + "<w:p><w:del><w:delText>hapus</w:delText></w:del><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r></w:p>"
        + "<w:sdt><w:p><w:hyperlink><w:r><w:t>tautan</w:t></w:r></w:hyperlink></w:p></w:sdt>"
    )
    styles = (
        '<w:style w:styleId="Judul1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="DaftarBerpoin"><w:name w:val="List Bullet"/><w:pPr><w:numPr/></w:pPr></w:style>'
    )
    notes = f'<w:footnote w:id="2">{paragraph("sumber: BPS")}</w:footnote>'

    document = await read(documents.word(body, {"styles": styles, "footnotes": notes}))

    assert document.media_type == "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    assert document.text == (
        "# Laporan\nIsi[2]\n- satu\n- dua\nKopi | 12 000\na\tb\ntautan\n\n[Footnotes]\n2: sumber: BPS\n"
    )


async def test_slides_are_read_in_the_order_they_are_shown_in() -> None:
    deck = await read(documents.slides(["Penutup", "Pembuka"], shown=[1, 0], notes="Terima kasih"))

    assert deck.media_type == "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    assert deck.text == "[Slide 1]\nPembuka\n\n[Slide 2]\nPenutup\n[Notes]\nTerima kasih\n\n"


async def test_a_spreadsheet_is_read_as_lines_in_which_every_cell_has_its_place() -> None:
    sheet = await read(documents.workbook({"A1": "'Kopi, susu", "C2": "12000", "B4": "2.5"}, sheet="Harga"))

    assert sheet.media_type == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert sheet.text == '[Sheet Harga]\n"Kopi, susu"\n,,12000\n\n,2.5\n\n'


async def test_a_spreadsheet_of_the_nineties_is_read() -> None:
    sheet = await read((FILES / "prices.xls").read_bytes())

    assert (sheet.media_type, sheet.text) == ("application/vnd.ms-excel", "[Sheet Harga]\nKopi,12000\n\n")


async def test_an_open_document_is_read() -> None:
    cells = "<table:table-cell><text:p>a</text:p></table:table-cell>" * 2
    body = (
        '<office:text><text:h text:outline-level="2">Judul</text:h>'
        "<text:p>satu<text:tab/><text:span>dua</text:span> tiga</text:p>"
        f"<table:table><table:table-row>{cells}</table:table-row></table:table></office:text>"
    )

    document = await read(documents.open_document(body))

    assert document.media_type == "application/vnd.oasis.opendocument.text"
    assert document.text == "## Judul\nsatu\tdua tiga\na | a\n"


@pytest.mark.parametrize(
    ("stream", "said"),
    [("WordDocument", "has to be saved as .docx"), ("EncryptedPackage", "protected with a password")],
)
async def test_an_office_file_that_can_not_be_read_is_refused_with_what_to_do(stream: str, said: str) -> None:
    compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + f"{stream}\0".encode("utf-16-le")

    assert said in await refusal(compound)


async def test_any_other_zip_file_is_refused() -> None:
    assert "only pictures" in await refusal(documents.packed({"program.exe": b"MZ"}))


async def test_a_bomb_in_an_office_file_is_refused_before_it_is_unpacked() -> None:
    bomb = documents.packed({"[Content_Types].xml": "<Types/>", "word/document.xml": bytes(201 * 1024 * 1024)})

    assert "unpacks to more than can be read" in await refusal(bomb)


async def test_a_bomb_of_entities_is_refused() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE l [<!ENTITY l0 "ha">{laughs}]><w:document xmlns:w="w">&l9;</w:document>'
    types = '<Types><Override PartName="/d.xml" ContentType="application/vnd.ms-word.document.main+xml"/></Types>'

    assert "broken" in await refusal(documents.packed({"[Content_Types].xml": types, "d.xml": bomb}))


async def test_a_spreadsheet_that_would_fill_the_memory_ends_its_own_process_only() -> None:
    """Seventeen thousand million cells between these two: calamine asks for room for all and aborts."""
    assert "memory" in await refusal(documents.workbook({"A1": "1", "XFD1048576": "2"}))


# Voices


class Ear:
    """Hears what it is told to."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.heard: list[str] = []

    async def transcribe(self, data: bytes, media_type: str) -> str:
        self.heard.append(media_type)
        return self.words


async def test_of_a_voice_message_what_was_said_is_its_text() -> None:
    ear = Ear(" Halo, apa kabar? ")

    voice = await FileReader(ear).read(VOICE)

    assert voice == Read(data=VOICE, media_type="audio/ogg", text="Halo, apa kabar?")
    assert ear.heard == ["audio/ogg"]


async def test_where_nothing_is_heard_the_recording_is_refused() -> None:
    assert await refusal(VOICE, FileReader(Ear("\n"))) == "No words can be heard in the recording."


async def test_without_a_transcriber_a_voice_message_is_refused_with_the_reason() -> None:
    assert await refusal(VOICE) == "Voice messages can not be heard here: no transcription is set up."
    assert "Videos can not be watched" in await refusal(b"\0\0\0\x18ftypmp42\0\0\0\0isommp42")


@pytest.mark.parametrize(
    ("beginning", "media_type"),
    [
        (b"ID3\4\0\0\0\0\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64\0\0", "audio/mpeg"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0M4A mp42isom", "audio/mp4"),
        (b"\0\0\0\x18ftypmp42\0\0\0\0isommp42", "video/mp4"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81", "video/webm"),
    ],
)
async def test_a_recording_is_told_by_its_bytes(beginning: bytes, media_type: str) -> None:
    voice = await FileReader(Ear("ya")).read(beginning + bytes(50))

    assert voice.media_type == media_type


# The process


def hooked(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> Path:
    """Have every Python that starts with our paths run this code first; it writes to the path returned."""
    note = folder / "note"
    (folder / "sitecustomize.py").write_text(f"import os, signal\nnote = {str(note)!r}\n{code}")
    monkeypatch.syspath_prepend(str(folder))
    return note


async def test_the_process_that_reads_gets_nothing_of_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "secret")
    note = hooked(tmp_path, monkeypatch, "open(note, 'w').write(' '.join(os.environ))")

    await read(b"text")

    assert set(note.read_text().split()) <= {"PYTHONPATH", "LD_LIBRARY_PATH", "LC_CTYPE"}


async def test_what_takes_too_long_is_ended_and_refused() -> None:
    assert await refusal(b"text", FileReader(None, seconds=0)) == "Reading the file takes longer than 0 seconds."


async def test_a_reading_that_is_cancelled_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = hooked(tmp_path, monkeypatch, "open(note, 'w').write(str(os.getpid()))\nsignal.pause()")
    os.mkfifo(note)
    reading = asyncio.create_task(read(b"text"))
    process = int(await asyncio.to_thread(note.read_text))  # until that process writes

    reading.cancel()
    await asyncio.wait([reading])

    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_loading_the_reader_loads_no_library() -> None:
    """They would be half a second of the worker's start."""
    code = f"import sys, {file_reader.__name__}; print(*(name.partition('.')[0] for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()

    assert {"bot", "msgspec"} <= set(loaded)
    assert {"PIL", "pi_heif", "pypdfium2", "python_calamine", "chardet", "defusedxml"}.isdisjoint(loaded)


# Anything at all

WHOLE = {
    "png": saved(two_halves(), "PNG"),
    "jpeg": saved(two_halves(), "JPEG"),
    "webp": saved(two_halves(), "WEBP"),
    "gif": saved(two_halves(), "GIF"),
    "tiff": saved(two_halves(), "TIFF"),
    "heic": (FILES / "photo.heic").read_bytes(),
    "pdf": documents.pdf("one", "two"),
    "word": documents.word(paragraph("one")),
    "slides": documents.slides(["one"], [0]),
    "sheet": documents.workbook({"A1": "1"}),
    "xls": (FILES / "prices.xls").read_bytes(),
    "text": "Kopi ☕".encode(),
}


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A file in which some bytes are others, of which something is missing, or that is followed by more."""
    data = bytearray(WHOLE[draw(st.sampled_from(sorted(WHOLE)))])
    for _ in range(draw(st.integers(0, 8))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    start = draw(st.integers(0, 4))
    return bytes(data[start : draw(st.integers(len(data) // 2, len(data)))]) + draw(st.binary(max_size=20))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(damaged(), st.binary(max_size=2000), st.text(max_size=500).map(str.encode)))
def test_anything_at_all_is_read_or_refused_in_a_sentence(data: bytes) -> None:
    try:
        found = asyncio.run(read(data))
    except FileRefused as why:
        assert str(why).endswith(".") and "\n" not in str(why)
    else:
        assert found.data and found.media_type
        found.text.encode()
        if found.media_type.startswith("image/"):
            assert facts(found.data) == (found.media_type, (found.width, found.height))
