"""Spreadsheets by calamine, each sheet as comma-separated lines that begin at its cell A1."""

import csv
import datetime
import io
from collections.abc import Iterator, Sequence

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError

from bot.errors import FileRefused
from bot.ports import Read
from bot.reading.plain import gathered

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta

LOCKED = "The file is protected with a password: it has to be sent without one."


def read(data: bytes, media_type: str) -> Read:
    """Raises FileRefused, and calamine's own errors where it is broken."""
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    except PasswordError as fault:
        raise FileRefused(LOCKED) from fault
    sheets = (piece for name in workbook.sheet_names for piece in _lines(workbook.get_sheet_by_name(name)))
    return Read(data=data, media_type=media_type, text=gathered(sheets))


def _lines(sheet: CalamineSheet) -> Iterator[str]:
    yield f"[Sheet {sheet.name}]\n"
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in sheet.iter_rows():
        writer.writerow(_filled([_shown(value) for value in row]))
        yield line.getvalue()
        line.seek(0)
        line.truncate()
    yield "\n"


def _filled(cells: Sequence[str]) -> Sequence[str]:
    """Without the empty cells at its end."""
    end = next((at for at in range(len(cells), 0, -1) if cells[at - 1]), 0)
    return cells[:end]


def _shown(value: Value) -> str:
    match value:
        case bool():
            return str(value).upper()
        case float() if value.is_integer():
            return str(int(value))
        case datetime.datetime():
            return value.isoformat(" ")
        case _:
            return str(value)
