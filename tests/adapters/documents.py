"""Small documents, written as their formats' specifications have them."""

import io
import zipfile
from collections.abc import Mapping, Sequence

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument"
_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_SLIDES = f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" {_DRAWING}'
_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def pdf(*pages: str, field: str = "") -> bytes:
    """One line of text a page; ``field`` is what somebody wrote into a form on the first."""
    kids = " ".join(f"{10 + 2 * number} 0 R" for number in range(len(pages)))
    form = "/AcroForm << /Fields [5 0 R] >>" if field else ""
    objects = {
        1: f"<< /Type /Catalog /Pages 2 0 R {form} >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        3: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    }
    if field:
        look = f"/Tx BMC BT /F 12 Tf 2 4 Td ({field}) Tj ET EMC"
        shape = "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F 3 0 R >> >>"
        objects[4] = f"<< {shape} /Length {len(look)} >>\nstream\n{look}\nendstream"
        widget = "/Type /Annot /Subtype /Widget /FT /Tx /T (name) /F 4 /Rect [72 600 272 620] /P 10 0 R"
        objects[5] = f"<< {widget} /V ({field}) /AP << /N 4 0 R >> >>"
    for number, text in enumerate(pages):
        words = f"BT /F 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        notes = "/Annots [5 0 R]" if field and number == 0 else ""
        page = "/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >>"
        objects[10 + 2 * number] = f"<< {page} /Contents {11 + 2 * number} 0 R {notes} >>"
        objects[11 + 2 * number] = f"<< /Length {len(words)} >>\nstream\n{words}\nendstream"
    return _numbered(objects)


def _numbered(objects: Mapping[int, str]) -> bytes:
    """With the table that says at which byte each object begins."""
    out = "%PDF-1.7\n"
    places = {}
    for number, content in objects.items():
        places[number] = len(out)
        out += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{number} 1\n{place:010} 00000 n \n" for number, place in places.items())
    size = max(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return f"{out}xref\n0 1\n0000000000 65535 f \n{table}{trailer}".encode()


def word(body: str, parts: Mapping[str, str] | None = None) -> bytes:
    """``body`` and the other parts' content are WordprocessingML; parts are named without folder and ending."""
    others = {
        f"word/{name}.xml": f"{_XML}<w:{name} {_WORD}>{content}</w:{name}>" for name, content in (parts or {}).items()
    }
    return packed(
        {
            "[Content_Types].xml": _content_types("/word/document.xml", f"{_TYPES}.wordprocessingml.document.main+xml"),
            "word/document.xml": f"{_XML}<w:document {_WORD}><w:body>{body}</w:body></w:document>",
            **others,
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    style = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f"<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>"


def slides(titles: Sequence[str], shown: Sequence[int], notes: str = "") -> bytes:
    """Slides stored in the order of ``titles`` and shown in that of ``shown``; ``notes`` are those of the first one
    stored."""
    order = "".join(f'<p:sldId id="{256 + at}" r:id="rId{at}"/>' for at in shown)
    main = f'<p:presentation {_SLIDES} xmlns:r="{_RELATIONS}"><p:sldIdLst>{order}</p:sldIdLst></p:presentation>'
    links = {f"rId{at}": f"slides/slide{at}.xml" for at in range(len(titles))}
    parts = {
        "[Content_Types].xml": _content_types(
            "/ppt/presentation.xml", f"{_TYPES}.presentationml.presentation.main+xml"
        ),
        "ppt/presentation.xml": _XML + main,
        "ppt/_rels/presentation.xml.rels": _relations(links),
        "ppt/slides/_rels/slide0.xml.rels": _relations({"rId1": "../notesSlides/notesSlide1.xml"} if notes else {}),
        "ppt/notesSlides/notesSlide1.xml": f"{_XML}<p:notes {_SLIDES}>{_drawn(notes)}</p:notes>",
    }
    stored = {
        f"ppt/slides/slide{at}.xml": f"{_XML}<p:sld {_SLIDES}>{_drawn(title)}</p:sld>"
        for at, title in enumerate(titles)
    }
    return packed(parts | stored)


def _drawn(text: str) -> str:
    return f"<p:cSld><p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp></p:cSld>"


def workbook(cells: Mapping[str, str], sheet: str = "Sheet1") -> bytes:
    """``cells`` are numbers by their place, such as B2; a text begins with an apostrophe. In rows as they are given."""
    written = "".join(f'<row r="{_row(place)}">{_cell(place, value)}</row>' for place, value in cells.items())
    book = f'<sheets><sheet name="{sheet}" sheetId="1" r:id="rId1"/></sheets>'
    return packed(
        {
            "[Content_Types].xml": _content_types("/xl/workbook.xml", f"{_TYPES}.spreadsheetml.sheet.main+xml"),
            "_rels/.rels": _relations({"rId1": "xl/workbook.xml"}),
            "xl/workbook.xml": f'{_XML}<workbook {_SHEET} xmlns:r="{_RELATIONS}">{book}</workbook>',
            "xl/_rels/workbook.xml.rels": _relations({"rId1": "worksheets/sheet1.xml"}),
            "xl/worksheets/sheet1.xml": f"{_XML}<worksheet {_SHEET}><sheetData>{written}</sheetData></worksheet>",
        }
    )


def _row(place: str) -> str:
    return place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _cell(place: str, value: str) -> str:
    if value.startswith("'"):
        return f'<c r="{place}" t="inlineStr"><is><t>{value[1:]}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def open_document(body: str, kind: str = "text") -> bytes:
    """``body`` is OpenDocument's XML inside its office:body, with the prefixes text, table and draw."""
    names = " ".join(f'xmlns:{name}="{_OPEN}:{whole}:1.0"' for name, whole in _PREFIXES.items())
    return packed(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{_XML}<office:document-content {names}><office:body>{body}</office:body>"
            "</office:document-content>",
        }
    )


_PREFIXES = {"office": "office", "text": "text", "table": "table", "draw": "drawing"}


def _content_types(part: str, media_type: str) -> str:
    override = f'<Override PartName="{part}" ContentType="{media_type}"/>'
    return f'{_XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{override}</Types>'


def _relations(targets: Mapping[str, str]) -> str:
    links = "".join(
        f'<Relationship Id="{name}" Type="{_RELATIONS}/{_kind(target)}" Target="{target}"/>'
        for name, target in targets.items()
    )
    return f'{_XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>'


def _kind(target: str) -> str:
    if "notesSlide" in target:
        return "notesSlide"
    if "sheet" in target:
        return "worksheet"
    return "slide" if "slide" in target else "officeDocument"
