"""PDF by PDFium, which Chrome reads them with (docs/decisions/0008-reading-files.md)."""

import io
import time
from collections.abc import Iterator

from pypdfium2 import PdfDocument, PdfiumError, raw

from bot.errors import FileRefused
from bot.ports import Read
from bot.reading.limits import PDF_PAGES, PDF_SECONDS
from bot.reading.plain import gathered

_NOT_ENCRYPTED = -1
_HYPHENS = str.maketrans("", "", "\ufffe\x02")
"""What PDFium puts where a word was broken at the end of a line."""

LOCKED = "The PDF is protected with a password: it has to be sent without one."
BROKEN = "The PDF is broken and can not be read."


def read(data: bytes) -> Read:
    """All of its text, each page below its mark, "" where no page has any (a scan). What is kept of one that opens
    without a password and yet is encrypted, is not. Raises FileRefused."""
    try:
        document = PdfDocument(data)
    except PdfiumError as fault:
        raise FileRefused(LOCKED if fault.err_code == raw.FPDF_ERR_PASSWORD else BROKEN) from fault
    pages = len(document)
    if not pages:
        raise FileRefused(BROKEN)
    kept = data if raw.FPDF_GetSecurityHandlerRevision(document) == _NOT_ENCRYPTED else _unlocked(document)
    text = gathered(_pages(document, time.monotonic() + PDF_SECONDS))
    return Read(data=kept, media_type="application/pdf", pages=pages, text=text)


def _unlocked(document: PdfDocument) -> bytes:
    copy = io.BytesIO()
    document.save(copy, flags=raw.FPDF_REMOVE_SECURITY)
    return copy.getvalue()


def _pages(document: PdfDocument, until: float) -> Iterator[str]:
    """Raises nothing: one page that is broken leaves the others."""
    document.init_forms()
    for index in range(len(document)):
        if index >= PDF_PAGES or time.monotonic() > until:
            yield f"[Pages {index + 1} to {len(document)} were not read]\n"
            return
        if text := _page(document, index).strip():
            yield f"[Page {index + 1}]\n{text}\n\n"


def _page(document: PdfDocument, index: int) -> str:
    try:
        page = document[index]
        raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)  # what was filled into a form becomes words of the page
        page.close()
        page = document[index]
        text: str = page.get_textpage().get_text_range()
        page.close()
    except PdfiumError:
        return "(This page can not be read.)"
    return text.translate(_HYPHENS)
