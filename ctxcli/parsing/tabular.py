"""CSV and TSV: one row a record, the first as header where it names the columns."""

import re
from collections.abc import Iterator

from ctxcli.model.document import Document
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, stem
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "tabular/1"

_NUMBER = re.compile(r"[\s\"']*[-+]?[$€¥]?[0-9][0-9.,:/%\-]*[\s\"']*")
_SEPARATORS = ("\t", ";", ",", "|")


def parse(data: bytes, *, name: str) -> Document:
    """Parse a table of text; line n of the text is line n of the file."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    records = list(_records(text))
    has_header = len(records) > 1 and _names_columns(text[slice(*records[0])])
    pieces: list[Piece] = [(start, end, "row") for start, end in records]
    if has_header:
        pieces[0] = (*records[0], "header_row")
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


def _records(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of the records; line ends within quotes belong to a record."""
    start = at = 0
    quotes = 0
    has_quotes = '"' in text
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        quotes += text.count('"', at, end) if has_quotes else 0
        at = end + 1
        if quotes % 2 == 0 or end - start > 20000:
            if not text[start:end].isspace() and start < end:
                yield start, end
            start, quotes = at, 0
    if start < len(text):
        yield start, len(text)


def _names_columns(record: str) -> bool:
    separator = max(_SEPARATORS, key=record.count)
    cells = record.split(separator)
    return all(cell.strip() and not _NUMBER.fullmatch(cell) for cell in cells)
