"""Spreadsheets: a section for each sheet, a row for each line, with the column names where they help."""

import io
import re
from collections.abc import Collection, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import PurePath
from typing import Any

from ctxcli.model.document import Document, ParseWarning
from ctxcli.model.errors import ParseError
from ctxcli.model.extras import install
from ctxcli.parsing.columns import names_columns
from ctxcli.parsing.ooxml import Package, TextBuilder, number_text
from ctxcli.parsing.sections import nest
from ctxcli.parsing.xlsx_formats import cells_of, parts_of_sheets, percent_styles

VERSION = "xlsx/2"

_MAX_CELLS = 5_000_000
_UNSAVED = re.compile(
    rb"""<c\b(?![^>]*\st="str")[^>]*>\s*<f\b[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"""
)
"""A formula without a value: no program that calculates has saved the file. One that gives "" has the type str."""
_MAX_REPEATED = 60
"""Characters; a longer text names no column, and is not said again in each row that it stands beside."""
_NAMED_FROM = 3
"""Rows of a table this wide carry the column names: a figure far from the header says nothing."""


def parse(data: bytes, *, name: str) -> Document:
    """Read an XLSX with the extra ``xlsx``; `name` is the file's name."""
    try:
        import python_calamine
    except ImportError as error:
        raise ParseError("reading spreadsheets needs an extra", code="missing_extra", hint=install("xlsx")) from error
    package = Package(data, kind="xlsx")
    styles, names = percent_styles(package), parts_of_sheets(package)
    unsaved, shares = 0, {}
    for part, raw in package.unpacked_parts():
        if "/worksheets/" in part:
            unsaved += len(_UNSAVED.findall(raw))
            shares[names.get(part, "")] = cells_of(raw, styles)
    title = package.title()
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [(sheet, _rows(book.get_sheet_by_name(sheet), shares.get(sheet, ()))) for sheet in book.sheet_names]
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise ParseError(
            "the spreadsheet is damaged or no spreadsheet", code="damaged", hint="save the file anew"
        ) from error
    builder = TextBuilder()
    headings: list[tuple[int, int, str, str]] = []
    for sheet, rows in sheets:
        _sheet(sheet, rows, builder, headings)
    warnings = [] if builder.length else [ParseWarning("no_text", "the spreadsheet has no cells")]
    if unsaved:
        message = f"{unsaved} formulas have no saved value and are not read; open the file in Excel and save it"
        warnings.append(ParseWarning("formulas", message))
    return Document(
        format="xlsx", title=title or PurePath(name).stem, text=builder.text, sections=nest(headings),
        blocks=tuple(builder.blocks), title_from_name=not title, warnings=tuple(warnings),
    )  # fmt: skip


def _rows(sheet: Any, shares: Collection[tuple[int, int]]) -> list[list[Any]]:
    """The cells of a sheet, `shares` as per cent; what is merged downwards is said in each row it stands beside."""
    rows: list[list[Any]] = sheet.to_python(skip_empty_area=True)
    top, left = sheet.start or (0, 0)
    for row, column in shares:
        share = _at(rows, row - top, column - left)
        if isinstance(share, float):
            rows[row - top][column - left] = f"{number_text(repr(share * 100))}%"
    for (first, column), (last, _) in sheet.merged_cell_ranges or ():
        above = _at(rows, first - top, column - left)
        for place in range(first + 1, last + 1) if above is not None and len(_text(above)) <= _MAX_REPEATED else ():
            if _at(rows, place - top, column - left) == "":
                rows[place - top][column - left] = above
    return rows


def _at(rows: list[list[Any]], row: int, column: int) -> Any:
    inside = 0 <= row < len(rows) and 0 <= column < len(rows[row])
    return rows[row][column] if inside else None


def _sheet(
    sheet: str, rows: Sequence[Sequence[Any]], builder: TextBuilder, headings: list[tuple[int, int, str, str]]
) -> None:
    """Add a sheet; the first row is the header if it names the columns."""
    texts = [[_text(cell) for cell in row] for row in rows if any(_text(cell) for cell in row)]
    if not texts:
        return
    if sum(map(len, texts)) > _MAX_CELLS:
        raise ParseError(f"the sheet {sheet} has over {_MAX_CELLS} cells", code="too_large", hint="split the sheet")
    start = builder.add("heading", sheet)
    if start is not None:
        headings.append((start, 1, sheet, ""))
    place = _header(texts, rows)
    names = texts[place] if place is not None else []
    for index, row in enumerate(texts):
        if index == place:
            builder.add("header_row", " | ".join(filter(None, row)))
        elif place is not None and index > place and sum(map(bool, names)) >= _NAMED_FROM:
            builder.add("row", _named(names, row))
        else:
            builder.add("row", " | ".join(filter(None, row)))


def _header(texts: Sequence[Sequence[str]], rows: Sequence[Sequence[Any]]) -> int | None:
    """The row that names the columns: the first of several with two or more cells, if all are words."""
    if len(texts) < 2:
        return None
    for index, row in enumerate(texts[:5]):
        filled = [cell for cell in row if cell]
        if len(filled) < 2:
            continue
        distinct = len(set(filled)) == len(filled) and max(map(len, filled)) <= _MAX_REPEATED
        return index if distinct and names_columns(filled) and index + 1 < len(texts) else None
    return None


def _named(names: Sequence[str], row: Sequence[str]) -> str:
    pairs = ((names[place] if place < len(names) else "", cell) for place, cell in enumerate(row) if cell)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in pairs)


def _text(cell: Any) -> str:
    """A cell as people read it: whole numbers without ``.0``, dates as ISO."""
    if cell is None or cell == "":
        return ""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return number_text(repr(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat(sep=" ") if isinstance(cell, datetime) else cell.isoformat()
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(round(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
    return " ".join(str(cell).split())
