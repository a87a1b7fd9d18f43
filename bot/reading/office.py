"""Office files: zip files of XML, of which the words are taken, paragraph by paragraph, in the order of reading.

Word and PowerPoint (ECMA-376) give the same names to paragraphs, runs and tables, so one walk reads both; OpenDocument
(ISO 26300) has its own. Spreadsheets are read by calamine, which knows how their numbers are meant.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import fromstring

from bot.errors import FileRefused
from bot.ports import Read
from bot.reading.kinds import REFUSED
from bot.reading.limits import PART, UNPACKED
from bot.reading.plain import gathered

_OPENXML = "application/vnd.openxmlformats-officedocument"
WORD = f"{_OPENXML}.wordprocessingml.document"
SLIDES = f"{_OPENXML}.presentationml.presentation"
SHEETS = f"{_OPENXML}.spreadsheetml.sheet"
_OPENDOCUMENT = "application/vnd.oasis.opendocument."
OPEN_SHEETS = f"{_OPENDOCUMENT}spreadsheet"
_OPEN_TEXTS = (f"{_OPENDOCUMENT}text", f"{_OPENDOCUMENT}presentation")

_MAIN = re.compile(r"(wordprocessingml|ms-word|presentationml|ms-powerpoint|spreadsheetml|ms-excel)\..*\bmain\b", re.I)
_PROGRAMS = {"word": WORD, "pres": SLIDES, "powe": SLIDES, "spre": SHEETS, "exce": SHEETS}
_HEADING = re.compile(r"(?:heading (\d)|title)", re.I)
_NOT_TEXT = frozenset({"pPr", "rPr", "tblPr", "sectPr", "Fallback", "instrText", "delText", "tracked-changes"})
"""Properties, the second form of a drawing for old programs, field codes, and what was deleted."""

TOO_LARGE = "The Office file unpacks to more than can be read here: it has to be sent in smaller parts, or as a PDF."


def read(data: bytes) -> Read:
    """Its text, headings marked as in Markdown and cells parted by bars. Raises FileRefused where it is another kind of
    zip file or unpacks to too much, and whatever its readers raise where it is broken."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(part.file_size for part in archive.infolist()) > UNPACKED:
            raise FileRefused(TOO_LARGE)
        media_type, main = _told(archive)
        if media_type in (SHEETS, OPEN_SHEETS):
            from bot.reading import sheets

            return sheets.read(data, media_type)
        return Read(data=data, media_type=media_type, text=gathered(_words(archive, media_type, main)))


def _told(archive: zipfile.ZipFile) -> tuple[str, str]:
    """The media type and the name of the main part. Raises FileRefused where it is no Office file."""
    names = set(archive.namelist())
    if "[Content_Types].xml" in names:
        for part in _part(archive, "[Content_Types].xml"):
            if (found := _MAIN.search(part.get("ContentType", ""))) and part.get("PartName"):
                program = found[1].lower().removeprefix("ms-")[:4]
                return _PROGRAMS[program], part.get("PartName", "").removeprefix("/")
    if "mimetype" in names:
        media_type = archive.read("mimetype").decode("ascii", "replace").strip()
        for known in (*_OPEN_TEXTS, OPEN_SHEETS):
            if media_type.startswith(known):  # a template's goes on with -template
                return known, "content.xml"
    raise FileRefused(REFUSED)


def _part(archive: zipfile.ZipFile, name: str) -> Element:
    """A part's tree; an empty one where it is not there. It is refused where it defines entities: none of ours does."""
    try:
        if archive.getinfo(name).file_size > PART:
            raise FileRefused(TOO_LARGE)
    except KeyError:
        return Element("none")
    tree: Element = fromstring(archive.read(name), forbid_dtd=True)
    return tree


def _words(archive: zipfile.ZipFile, media_type: str, main: str) -> Iterator[str]:
    if media_type == WORD:
        yield from _document(archive, main)
    elif media_type == SLIDES:
        yield from _slides(archive, main)
    else:
        yield from _open_blocks(_part(archive, main))


# Word and PowerPoint


def _document(archive: zipfile.ZipFile, main: str) -> Iterator[str]:
    folder = posixpath.dirname(main)
    yield from _blocks(_part(archive, main), _marks(_part(archive, f"{folder}/styles.xml")))
    for name in ("footnotes", "endnotes", "comments"):
        notes = "".join(map(_note, _part(archive, f"{folder}/{name}.xml")))
        if notes:
            yield f"\n[{name.capitalize()}]\n{notes}"


def _note(note: Element) -> str:
    text = "".join(_blocks(note, {})).strip()
    return f"{_attribute(note, 'id')}: {text}\n" if text else ""


def _slides(archive: zipfile.ZipFile, main: str) -> Iterator[str]:
    """In the order of showing, which their names do not tell."""
    targets = _relations(archive, main)
    shown = [each for each in _part(archive, main).iter() if _name(each) == "sldId"]
    for number, slide in enumerate(shown, 1):
        # Its id in the presentation has the same name: that of the relation is in a namespace.
        name = targets.get(next((value for key, value in slide.items() if key.endswith("}id")), ""), "")
        yield f"[Slide {number}]\n"
        yield from _blocks(_part(archive, name), {})
        notes = next((each for each in _relations(archive, name).values() if "notesSlide" in each), "")
        if text := "".join(_blocks(_part(archive, notes), {})).strip():
            yield f"[Notes]\n{text}\n"
        yield "\n"


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The names of the parts that a part refers to, by the ids it has for them."""
    folder, name = posixpath.split(part)
    return {
        each.get("Id", ""): posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/")
        for each in _part(archive, posixpath.join(folder, "_rels", f"{name}.rels"))
    }


def _marks(styles: Element) -> dict[str, str]:
    """What a paragraph of a style begins with: the style's id is in the writer's language, its name in English."""
    marks = {}
    for style in styles:
        name = next((_attribute(each, "val") for each in style if _name(each) == "name"), "")
        if found := _HEADING.fullmatch(name):
            marks[_attribute(style, "styleId")] = f"{'#' * int(found[1] or 1)} "
        elif any(_name(each) == "numPr" for each in style.iter()):
            marks[_attribute(style, "styleId")] = "- "
    return marks


def _blocks(element: Element, marks: dict[str, str]) -> Iterator[str]:
    for child in element:
        match _name(child):
            case "p":
                text = "".join(_inline(child)).strip("\n")
                yield f"{_mark(child, marks) if text else ''}{text}\n"
            case "tr":
                cells = (" ".join("".join(_blocks(cell, {})).split()) for cell in child if _name(cell) == "tc")
                yield f"{' | '.join(cells)}\n"
            case name if name not in _NOT_TEXT:
                yield from _blocks(child, marks)


def _mark(paragraph: Element, marks: dict[str, str]) -> str:
    properties: Iterable[Element] = next((child for child in paragraph if _name(child) == "pPr"), ())
    by_name = {_name(each): _attribute(each, "val") for each in properties}
    return marks.get(by_name.get("pStyle", ""), "- " if "numPr" in by_name else "")


def _inline(element: Element) -> Iterator[str]:
    for child in element:
        match _name(child):
            case "t":
                yield child.text or ""
            case "tab":
                yield "\t"
            case "br" | "cr":
                yield "\n"
            case "noBreakHyphen":
                yield "-"
            case "footnoteReference" | "endnoteReference":
                yield f"[{_attribute(child, 'id')}]"
            case "p":  # of a box of text
                yield from ("\n", *_inline(child), "\n")
            case name if name not in _NOT_TEXT:
                yield from _inline(child)


# OpenDocument


def _open_blocks(element: Element) -> Iterator[str]:
    for child in element:
        match _name(child):
            case "p":
                yield f"{_open_inline(child)}\n"
            case "h":
                yield f"{'#' * int(_attribute(child, 'outline-level') or 1)} {_open_inline(child)}\n"
            case "table-row":
                cells = (" ".join("".join(_open_blocks(cell)).split()) for cell in child)
                yield f"{' | '.join(cells)}\n"
            case "page":
                yield f"[{_attribute(child, 'name')}]\n"
                yield from _open_blocks(child)
            case name if name not in _NOT_TEXT:
                yield from _open_blocks(child)


def _open_inline(element: Element) -> str:
    spaces = {"tab": "\t", "line-break": "\n", "s": " "}
    inner = (f"{spaces.get(_name(child)) or _open_inline(child)}{child.tail or ''}" for child in element)
    return f"{element.text or ''}{''.join(inner)}"


# XML


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.items() if key.rpartition("}")[2] == name), "")
