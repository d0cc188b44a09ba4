"""The stored form of a chunk's place and of a document's outline: compact JSON."""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxcli.model.document import BlockKind, Chunk, Document, Section

KINDS: "tuple[BlockKind, ...]" = ("heading", "prose", "item", "row", "header_row", "code", "meta")
NOT_QUOTED: "frozenset[BlockKind]" = frozenset(("heading", "meta"))
"""Kinds of units that answer nothing by themselves."""
_KIND_NUMBER = {kind: number for number, kind in enumerate(KINDS)}
_ROW = _KIND_NUMBER["row"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of a chunk stands; fields as in `ctx/answer/1`."""

    section: str | None
    heading: str | None
    heading_path: tuple[str, ...]
    anchor: str
    page: int | None
    page_end: int | None
    page_label: str | None
    line_start: int | None
    line_end: int | None


class StoredChunk:
    """A chunk as it comes out of the index; offsets are relative to `text`."""

    __slots__ = ("_data", "_starts", "key", "length", "terms", "text")

    def __init__(self, key: str, text: str, terms: str, meta: bytes) -> None:
        self.key, self.text, self.terms = key, text, terms
        self._data = json.loads(meta)
        self.length: int = self._data["n"]
        self._starts: list[int] = self._data["s"][::3]

    @property
    def units(self) -> "list[tuple[int, int, BlockKind]]":
        """The quotable pieces as (start, end, kind), ascending; line i + 1 of `terms` belongs to unit i."""
        flat: list[int] = self._data["u"]
        return [(flat[i], flat[i] + flat[i + 1], KINDS[flat[i + 2]]) for i in range(0, len(flat), 3)]

    @property
    def has_rows(self) -> bool:
        """Whether rows of a table stand in it."""
        return _ROW in self._data["u"][2::3]

    @property
    def column_names(self) -> str:
        """The header row of the table that the chunk begins in the middle of, else ""."""
        return str(self._data.get("c", ""))

    def section_of(self, offset: int) -> int:
        """The index of the section at `offset` in the document's sections, -1 for none."""
        return int(self._data["s"][3 * self._span(offset) + 1])

    def spot(self, offset: int) -> tuple[int, int | None]:
        """The section (an index, -1 for none) and the page at `offset`."""
        at = 3 * self._span(offset)
        return self._data["s"][at + 1], self._data["s"][at + 2]

    def path_of(self, offset: int) -> tuple[str, ...]:
        """The headings above and at `offset`, outermost first."""
        head = self._data["h"].get(str(self.section_of(offset)))
        return tuple(head[2]) if head else ()

    def heading_terms(self, offset: int) -> list[str]:
        """The terms of the heading of the section at `offset`, [] where there is none."""
        head = self._data["h"].get(str(self.section_of(offset)))
        return str(head[4]).split() if head else []

    def heads(self) -> dict[int, frozenset[str]]:
        """For each section the terms of title and headings above it, and its own; {} where there is but one.

        The headings of other sections in the chunk are taken out of all that stand above the chunk.
        """
        sections: dict[str, list[Any]] = self._data["h"]
        if len(sections) < 2:
            return {}
        heads = {tuple(one[2]): str(one[4]).split() for one in sections.values()}
        left: dict[str, int] = {}
        for term in self.terms.partition("\n")[0].split():
            left[term] = left.get(term, 0) + 1
        for term in chain(*heads.values()):
            left[term] = left.get(term, 0) - 1
        always = frozenset(term for term, count in left.items() if count > 0)
        found = {-1: always}
        for number in {*self._data["s"][1::3]} - {-1}:
            path = tuple(sections[str(number)][2])
            above = list(chain(*(heads.get(path[:size], ()) for size in range(1, len(path) + 1))))
            found[number] = always.union(term for term in above if left.get(term, 0) + above.count(term) > 0)
            found[number] |= {*str(sections[str(number)][4]).split()}
        return found

    def place(self, start: int, end: int) -> Place:
        """Section, pages and lines of ``text[start:end]``."""
        head = self._data["h"].get(str(self.section_of(start)))
        page = self._data["s"][3 * self._span(start) + 2]
        first, last = self._lines(start, end)
        return Place(
            section=(head[0] or None) if head else None,
            heading=(head[1] or None) if head else None,
            heading_path=tuple(head[2]) if head else (),
            anchor=head[3] if head else "",
            page=page,
            page_end=self._data["s"][3 * self._span(max(start, end - 1)) + 2],
            page_label=self._data.get("p", {}).get(str(page)) if page else None,
            line_start=first,
            line_end=last,
        )

    def _lines(self, start: int, end: int) -> tuple[int | None, int | None]:
        """The first and the last line of ``text[start:end]``, None where they are not known."""
        marks: list[int] = self._data.get("m", [])
        if marks:
            offsets = marks[::2]
            first, last = (
                marks[2 * max(0, bisect_right(offsets, at) - 1) + 1] or None for at in (start, max(start, end - 1))
            )
            return first, last if first and last else first
        line = self._data.get("l")
        if line is None:
            return None, None
        line += self.text.count("\n", 0, start)
        return line, line + self.text.count("\n", start, end)

    def _span(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)


def encode_place(
    document: "Document", chunk: "Chunk", *, length: int, column_names: str, terms_of: Callable[[str], str]
) -> bytes:
    """Store spans, units, headings with their terms, labels and the first line of a chunk, `length` in terms.

    `terms_of` gives the terms of a heading.
    """
    data: dict[str, object] = {
        "n": length,
        "u": [n for u in chunk.units for n in (u.start - chunk.start, u.end - u.start, _KIND_NUMBER[u.kind])],
        "s": [n for span in chunk.spans for n in (span.start - chunk.start, span.section, span.page)],
        "h": {
            str(span.section): _head(document.sections[span.section], terms_of)
            for span in chunk.spans
            if span.section >= 0
        },
    }
    labels = {str(s.page): document.page_labels[s.page - 1] for s in chunk.spans if s.page and document.page_labels}
    if any(labels.values()):
        data["p"] = {page: label for page, label in labels.items() if label}
    if document.line_marks:
        data["m"] = _marks_within(document.line_marks, chunk.start, chunk.end)
    elif chunk.line_start is not None:
        data["l"] = chunk.line_start
    if column_names:
        data["c"] = column_names
    return _dump(data)


def _marks_within(marks: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """The marks of a slice, flat, offsets from its start; the first is that in whose line it begins."""
    first = bisect_right(marks, start, key=itemgetter(0)) - 1
    last = bisect_right(marks, end - 1, key=itemgetter(0))
    return [n for offset, line in marks[max(0, first) : last] for n in (max(0, offset - start), line)]


def _head(section: "Section", terms_of: Callable[[str], str]) -> list[object]:
    return [section.number, section.title, section.path, section.anchor, terms_of(section.heading)]


def encode_outline(document: "Document") -> bytes:
    """Store the sections of a document: level, number, title, page, line."""
    rows = []
    line, counted = 1, 0
    for section in document.sections:
        line += document.text.count("\n", counted, section.start)
        counted = section.start
        page = bisect_right(document.page_starts, section.start) or None
        rows.append([section.level, section.number, section.title, page, line_at(document, section.start, line)])
    return _dump(rows)


def line_at(document: "Document", offset: int, counted: int) -> int | None:
    """The line of the file (1-based) at an offset of the text, in whose line `counted` it is; None where unknown."""
    if document.line_marks:
        at = bisect_right(document.line_marks, offset, key=itemgetter(0)) - 1
        return document.line_marks[max(0, at)][1] or None
    return counted if document.has_lines else None


def decode_outline(stored: bytes) -> Sequence[tuple[int, str, str, int | None, int | None]]:
    """The sections of a document as (level, number, title, page, line), in order."""
    return [tuple(row) for row in json.loads(stored)]


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _dump(data: object) -> bytes:
    return _encode(data).encode("utf-8", "surrogatepass")
