"""Tell what is in a table, as Markdown, and write a tidy copy of it.

    table.py FILE [--sheet NAME] [--rows N] [--out NAME.xlsx | NAME.csv]

Reads .csv, .tsv and .txt with Python alone, .xlsx with openpyxl. Says in one sentence what it can not do.
"""

import argparse
import csv
import re
import sys
from collections import Counter
from datetime import date, datetime
from pathlib import Path

TEXTS = (".csv", ".tsv", ".txt")
ENCODINGS = ("utf-8-sig", "utf-16", "cp1252")
LONGEST = 40
"""Characters of a cell that is shown."""
MOST_ROWS = 200_000
DAYS = (
    *("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"),
    *("%d %b %Y", "%d %B %Y", "%m/%d/%Y"),
)
"""Of those that fit as well, the first counts."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--sheet", default="")
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not options.file.is_file():
        there = ", ".join(sorted(each.name for each in Path().iterdir() if each.is_file())) or "none"
        sys.exit(f"There is no file {options.file}. Files here: {there}. Take it along.")
    sheet, sheets, rows = read(options.file, options.sheet)
    header, rows = split(rows)
    if not header:
        sys.exit("The table is empty.")
    typed = options.file.suffix.lower() not in TEXTS
    columns = [Column(name, [row[at] for row in rows], typed) for at, name in enumerate(header)]
    print(overview(options.file.name, sheet, sheets, rows, columns))
    print(sample(columns, len(rows), options.rows))
    if options.out:
        write(options.out, columns, len(rows))
        print(f"\nWritten: {options.out}")


# Reading


def read(file, wanted):
    """The name of the sheet, the names of all of them, and its rows."""
    kind = file.suffix.lower()
    if kind in (".xlsx", ".xlsm"):
        return read_workbook(file, wanted)
    if kind in TEXTS:
        return "", [], read_text(file)
    sys.exit(f"{kind or 'A file without an ending'} is not read here: only .csv, .tsv, .txt and .xlsx are.")


def openpyxl():
    try:
        import openpyxl
    except ImportError:
        sys.exit("Excel files need the library openpyxl, and it is not installed here. A CSV file works without it.")
    return openpyxl


def read_workbook(file, wanted):
    book = openpyxl().load_workbook(file, read_only=True, data_only=True)
    if wanted and wanted not in book.sheetnames:
        sys.exit(f"There is no sheet {wanted!r}. There are: {', '.join(book.sheetnames)}.")
    sheet = book[wanted or book.sheetnames[0]]
    rows = []
    for row in sheet.iter_rows(values_only=True):
        rows.append(list(row))
        if len(rows) > MOST_ROWS:
            break
    return sheet.title, book.sheetnames, rows


def read_text(file):
    data = file.read_bytes()
    for encoding in ENCODINGS:
        if encoding == "utf-16" and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            continue
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        text = data.decode("latin-1")
    lines = text.splitlines(keepends=True)
    delimiter = max(";\t|,", key=lambda sign: evenness(lines[:30], sign))
    rows = []
    for row in csv.reader(lines, delimiter=delimiter):
        rows.append([cell.strip() or None for cell in row])
        if len(rows) > MOST_ROWS:
            break
    return rows


def evenness(lines, sign):
    """How many of the lines have one and the same number of cells, where that is more than one."""
    widths = Counter(len(row) for row in csv.reader(lines, delimiter=sign) if len(row) > 1)
    return max(widths.values(), default=0)


def split(rows):
    """The names of the columns, and the rows below them, all of one width; empty rows and columns are left out."""
    rows = [row for row in rows if any(cell not in (None, "") for cell in row)]
    if not rows:
        return [], []
    width = max(map(len, rows))
    # Titles stand above many tables: the first row that fills more than half of the width names the columns.
    start = next((at for at, row in enumerate(rows) if 2 * filled(row) > width), 0)
    rows = [[*row, *[None] * (width - len(row))] for row in rows[start:]]
    kept = [at for at in range(width) if any(row[at] is not None for row in rows)]
    names = [str(rows[0][at]).strip() if rows[0][at] is not None else f"column {at + 1}" for at in kept]
    return names, [[row[at] for at in kept] for row in rows[1:]]


def filled(row):
    return sum(cell is not None for cell in row)


# What the columns hold


class Column:
    """``values`` are numbers, moments or texts; ``kind`` says which most of them are. ``typed``: the file itself tells
    numbers from texts, as Excel does and CSV does not."""

    def __init__(self, name, cells, typed):
        self.name = name
        self.odd = []
        cells = [cell.strip() or None if isinstance(cell, str) else cell for cell in cells]
        full = [cell for cell in cells if cell is not None]
        numbers, unit = as_numbers(full)
        moments, form = as_moments(full)
        self.kind, read = "text", full
        if full and all(isinstance(cell, bool) for cell in full):
            self.kind = "yes/no"
        elif most(numbers):
            self.kind, read = "number", numbers
            self.name = f"{name} ({unit})" if unit and unit not in name else name
            kept_as_text = sum(
                isinstance(cell, str) and value is not None for cell, value in zip(full, numbers, strict=True)
            )
            if typed and kept_as_text:
                self.odd.append(f"{kept_as_text} numbers kept as text")
        elif most(moments):
            self.kind, read = "date", moments
            if form in ("%d/%m/%Y", "%m/%d/%Y"):
                self.odd.append("read as day/month/year" if form == "%d/%m/%Y" else "read as month/day/year")
        strangers = [cell for cell, value in zip(full, read, strict=True) if value is None]
        if strangers:
            self.odd.append(f"{len(strangers)} not a {self.kind}, such as {shown(strangers[0])}")
        if len(full) < len(cells):
            self.odd.append(f"{len(cells) - len(full)} empty")
        left = iter([cell if value is None else value for cell, value in zip(full, read, strict=True)])
        self.values = [None if cell is None else next(left) for cell in cells]
        self.full = [value for value in read if value is not None]

    def facts(self):
        if not self.full:
            return "nothing in it"
        if self.kind == "number":
            mean, total = sum(self.full) / len(self.full), sum(self.full)
            reach = f"{figure(min(self.full))} to {figure(max(self.full))}"
            return f"{reach}, mean {figure(mean)}, sum {figure(total)}"
        if self.kind == "date":
            return f"{shown(min(self.full))} to {shown(max(self.full))}"
        counted = Counter(map(str, self.full))
        common = ", ".join(f"{value} ({count})" for value, count in counted.most_common(3))
        return f"{len(counted)} different: {common}" if len(counted) < len(self.full) else "all different"


def most(values):
    """Nine of ten; fewer are notes among them."""
    return bool(values) and sum(value is not None for value in values) >= 0.9 * len(values)


UNIT = re.compile(r"^(?P<before>Rp|IDR|USD|EUR|[$€£¥])\.?\s*|\s*(?P<behind>%|IDR|USD|EUR|€)$")


def as_numbers(cells):
    """Numbers as both halves of the world write them, 1,234.56 or 1.234,56, and the unit around them. Which sign parts
    the decimals is decided for the whole column."""
    texts = [UNIT.sub("", cell) if isinstance(cell, str) else "" for cell in cells]
    found = (UNIT.search(cell) for cell in cells if isinstance(cell, str))
    units = {unit["before"] or unit["behind"] for unit in found if unit}
    comma = any(re.search(r",(\d{1,2}|\d{4,})$|\.\d{3},", text) for text in texts)
    if not comma and not any(re.search(r"\.(\d{1,2}|\d{4,})$|,\d{3}", text) for text in texts):
        comma = any(re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+", text) for text in texts)  # 12.500 is twelve thousand
    group, point = (r"\.", ",") if comma else (",", r"\.")
    plain = re.compile(rf"[-+]?(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{point}\d+)?")
    numbers = []
    for cell, text in zip(cells, texts, strict=True):
        if isinstance(cell, (int, float)) and not isinstance(cell, bool):
            numbers.append(cell)
        elif plain.fullmatch(text) and not re.match(r"[-+]?0\d", text):  # 007 and telephone numbers stay as they are
            value = float(re.sub(group, "", text).replace(",", "."))
            numbers.append(int(value) if value.is_integer() else value)
        else:
            numbers.append(None)
    return numbers, units.pop() if len(units) == 1 else ""


def as_moments(cells):
    """Dates and times, and the form that most of the texts among them have."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    form = max(DAYS, key=lambda form: sum(parsed(text, form) is not None for text in texts)) if texts else ""
    moments = []
    for cell in cells:
        if isinstance(cell, date) and not isinstance(cell, datetime):
            cell = datetime(cell.year, cell.month, cell.day)
        moments.append(cell if isinstance(cell, datetime) else parsed(cell, form) if isinstance(cell, str) else None)
    return moments, form


def parsed(text, form):
    try:
        return datetime.strptime(text, form) if len(text) <= 20 else None
    except ValueError:
        return None


# Telling


def overview(name, sheet, sheets, rows, columns):
    others = [each for each in sheets if each != sheet]
    where = f", sheet “{sheet}” (others: {', '.join(others)})" if others else ""
    lines = [f"# {name}{where}", "", f"{len(rows)} rows, {len(columns)} columns.", ""]
    lines += ["| column | kind | filled | what is in it | odd |", "|---|---|---|---|---|"]
    for column in columns:
        part = f"{sum(value is not None for value in column.values)}/{len(rows)}"
        told = (cell(column.name), column.kind, part, cell(column.facts(), 120), cell("; ".join(column.odd), 120))
        lines.append(f"| {' | '.join(told)} |")
    doubled = len(rows) - len({tuple(map(str, row)) for row in rows})
    if doubled:
        lines += ["", f"Rows that repeat an earlier one: {doubled}."]
    if len(rows) >= MOST_ROWS:
        lines += ["", f"Only the first {MOST_ROWS} rows were read."]
    return "\n".join(lines)


def sample(columns, count, most_rows):
    most_rows = max(min(most_rows, count), 0)
    lines = ["", f"The first {most_rows} rows:", ""]
    lines += ["| " + " | ".join(cell(column.name) for column in columns) + " |", "|" + "---|" * len(columns)]
    for at in range(most_rows):
        lines.append("| " + " | ".join(cell(shown(column.values[at])) for column in columns) + " |")
    return "\n".join(lines)


def shown(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return figure(value).replace(",", "")
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}" if is_day(value) else f"{value:%Y-%m-%d %H:%M}"
    return str(value)


def is_day(moment):
    return (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def figure(number):
    """1234567.5 as 1,234,567.5; no digits that nobody reads."""
    text = f"{number:,.2f}" if abs(number) >= 1 or number == 0 else f"{number:.4g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def cell(text, most_characters=LONGEST):
    text = " ".join(str(text).split()).replace("|", "\\|")
    return text if len(text) <= most_characters else f"{text[: most_characters - 1]}…"


# A tidy copy


def write(out, columns, count):
    rows = [[column.values[at] for column in columns] for at in range(count)]
    if out.suffix.lower() == ".xlsx":
        write_workbook(out, columns, rows)
    elif out.suffix.lower() == ".csv":
        with out.open("w", encoding="utf-8-sig", newline="") as file:  # Excel reads UTF-8 only behind this mark
            writer = csv.writer(file)
            writer.writerow([column.name for column in columns])
            writer.writerows([[plain(value) for value in row] for row in rows])
    else:
        sys.exit(f"{out}: only .xlsx and .csv can be written.")


def form_of(column):
    """How Excel shows its cells: nothing cut off, and years without a comma."""
    if column.kind == "date":
        return "yyyy-mm-dd" if all(map(is_day, column.full)) else "yyyy-mm-dd hh:mm"
    if column.kind != "number" or all(value in range(1900, 2101) for value in column.full):
        return None
    return "#,##0" if all(value == int(value) for value in column.full) else "#,##0.00"


def plain(value):
    return shown(value) if isinstance(value, (datetime, type(None))) else value


def write_workbook(out, columns, rows):
    library = openpyxl()
    book = library.Workbook()
    sheet = book.active
    sheet.append([column.name for column in columns])
    for row in rows:
        sheet.append(row)
    for at, column in enumerate(columns, 1):
        letter = library.utils.get_column_letter(at)
        widest = max([len(column.name), *(len(shown(value)) for value in column.values[:1000])])
        sheet.column_dimensions[letter].width = min(widest + 2, 60)
        sheet[f"{letter}1"].font = library.styles.Font(bold=True)
        form = form_of(column)
        for below in sheet[letter][1:] if form else ():
            below.number_format = form
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    book.save(out)


if __name__ == "__main__":
    main()
