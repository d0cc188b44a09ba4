"""CSV and TSV: one row a record, the first as header where it names the columns."""

import re
from collections.abc import Iterator

from ctxcli.model.document import Document
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, stem
from ctxcli.parsing.columns import names_columns
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "tabular/2"

MAX_RECORD = 20_000
"""Characters; a quote that is not closed so far on is no quote."""

_SEPARATORS = ("\t", ";", ",", "|")
_NAMED = re.compile(r"sep=(.)[ \t]*\n")
"""How Excel is told the separator, in a line before all others."""


def parse(data: bytes, *, name: str) -> Document:
    """Parse a table of text; line n of the text is line n of the file."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    named = _NAMED.match(text)
    start = named.end() if named else 0
    separator = named[1] if named else _separator(text)
    records = list(_records(text, start, separator))
    before = _before_the_table(text, records, separator)
    pieces: list[Piece] = [(0, start, "meta")]
    pieces += [(*record, "prose" if at < before else "row") for at, record in enumerate(records)]
    if len(records) > before + 1 and names_columns(text[slice(*records[before])].split(separator)):
        pieces[before + 1] = (*records[before], "header_row")
    return Document(
        format="tabular",
        title=stem(name),
        text=text,
        blocks=cover(text, pieces),
        has_lines=True,
        encoding=decoded.encoding,
        title_from_name=True,
        warnings=encoding_warnings(decoded),
    )


def _separator(text: str) -> str:
    """The sign that is most frequent in the first lines."""
    head = "\n".join(text[:MAX_RECORD].split("\n", 6)[:6])
    return max(_SEPARATORS, key=head.count)


def _before_the_table(text: str, records: list[tuple[int, int]], separator: str) -> int:
    """How many of the first records are no rows: lines without a separator above rows that have one."""
    found = 0
    while found < min(5, len(records)) and separator not in text[slice(*records[found])]:
        found += 1
    rows = [text[slice(*record)] for record in records[found : found + 2]]
    return found if len(rows) == 2 and all(separator in row for row in rows) else 0


def _records(text: str, at: int, separator: str) -> Iterator[tuple[int, int]]:
    """Offsets of the records; line ends within quotes belong to a record."""
    start = at
    opens = re.compile(rf"{re.escape(separator)}[ ]?\"")
    is_open = False
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        is_open = _is_open(text[at:end], opens, is_open=is_open)
        at = end + 1
        if not is_open or end - start > MAX_RECORD:
            if start < end and not text[start:end].isspace():
                yield start, end
            start, is_open = at, False
    if start < len(text):
        yield start, len(text)


def _is_open(line: str, opens: re.Pattern[str], *, is_open: bool) -> bool:
    """Whether the line ends within quotes; a quote within a cell that does not begin with one is an inch or a word."""
    if '"' not in line:
        return is_open
    at = 0
    if not is_open:
        at = 1 if line.startswith('"') else _opened(line, 0, opens)
    while at >= 0:
        at = _closed(line, at)
        if at < 0:
            return True
        at = _opened(line, at, opens)
    return False


def _opened(line: str, at: int, opens: re.Pattern[str]) -> int:
    """Behind the next quote that begins a cell, -1 if there is none."""
    found = opens.search(line, at)
    return found.end() if found else -1


def _closed(line: str, at: int) -> int:
    """Behind the quote that ends a cell, -1 if it does not end in this line; two quotes stand for one."""
    while (at := line.find('"', at)) >= 0:
        if line[at + 1 : at + 2] != '"':
            return at + 1
        at += 2
    return -1
