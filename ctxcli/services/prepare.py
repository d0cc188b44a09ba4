"""From the bytes of a file to what the index takes: parsed, cut and analysed."""

from collections.abc import Iterable, Iterator
from itertools import islice

from ctxcli.model.document import Chunk, Document
from ctxcli.model.prepared import IndexedChunk, Prepared
from ctxcli.model.stored import encode_outline, encode_place
from ctxcli.parsing import chunker, formats
from ctxcli.text.analyzer import Analyzer

_TOGETHER = 16
"""Chunks that are analysed in one go, which costs less than one by one."""
_analyzers: dict[str, Analyzer] = {}


def prepare(data: bytes, *, name: str, analyzer: str = "bigrams") -> Prepared:
    """Return what the index needs of a file named `name` (the last part of its path).

    Raises ParseError where the file cannot be read.
    """
    document = formats.parse(data, name=name)
    terms_of = _analyzers.setdefault(analyzer, Analyzer(analyzer))
    return Prepared(
        format=document.format,
        parser=formats.parser_version(document.format),
        title=document.title,
        title_from_name=document.title_from_name,
        encoding=document.encoding,
        pages=len(document.page_starts) or None,
        warnings=document.warnings,
        outline=encode_outline(document),
        chunks=tuple(indexed_chunks(document, terms_of)),
    )


def indexed_chunks(document: Document, analyzer: Analyzer) -> Iterator[IndexedChunk]:
    """Cut a document and analyse its chunks.

    The first two lines of the terms are title and headings (so they count twice), then each unit has one.
    """
    names = _ColumnNames(document)
    numbers = _Numbers(document)
    heading_terms = _HeadingTerms(document, analyzer)
    chunks = iter(chunker.chunk(document))
    while group := tuple(islice(chunks, _TOGETHER)):
        lines = iter(analyzer.lines(_texts(document, group)).split("\n"))
        for chunk in group:
            columns = names.before(chunk)
            head = " ".join(filter(None, map(heading_terms.__getitem__, _headings(document, chunk, columns))))
            units = list(islice(lines, len(chunk.units)))
            terms = "\n".join([head, head, *(units or [""])])
            length = terms.count(" ") + sum(map(bool, units)) + 2 * bool(head)
            meta = encode_place(
                document, chunk, length=length, column_names=columns, terms_of=heading_terms.__getitem__
            )
            text = document.text[chunk.start : chunk.end]
            yield IndexedChunk(chunk.ordinal, text, terms, numbers.of(chunk), meta, length)


class _HeadingTerms(dict[str, str]):
    """The terms of titles, headings and column names; those of a document are analysed in one go."""

    def __init__(self, document: Document, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        headings = list(dict.fromkeys((document.title, *(section.heading for section in document.sections))))
        super().__init__(zip(headings, analyzer.lines(headings).split("\n"), strict=True))

    def __missing__(self, heading: str) -> str:
        return self._analyzer.terms(heading)


def _texts(document: Document, chunks: Iterable[Chunk]) -> Iterator[str]:
    """The units of the chunks, those blank that are never an answer."""
    for chunk in chunks:
        for unit in chunk.units:
            yield "" if unit.kind == "meta" else document.text[unit.start : unit.end]


def _headings(document: Document, chunk: Chunk, column_names: str) -> Iterator[str]:
    """The title, each heading above the chunk or in it once, and the column names of a cut table."""
    yield document.title
    seen = {document.title}
    for span in chunk.spans:
        for heading in document.sections[span.section].path if span.section >= 0 else ():
            if heading not in seen:
                seen.add(heading)
                yield heading
    if column_names:
        yield column_names


class _Numbers(dict[int, tuple[str, ...]]):
    """For each section (its index, -1 before the first) its number, those above it, and all that these begin with.

    ``6.3.2`` gives ``6``, ``6.3`` and ``6.3.2``: for ``--section`` and for questions that name a section.
    """

    def __init__(self, document: Document) -> None:
        super().__init__({-1: ()})
        self._sections = document.sections
        self._by_path = {section.path: section.number for section in document.sections}

    def __missing__(self, section: int) -> tuple[str, ...]:
        path = self._sections[section].path
        numbers: dict[str, None] = {}
        for depth in range(len(path), 0, -1):
            parts = self._by_path.get(path[:depth], "").lower().split(".")
            numbers.update((".".join(parts[:size]), None) for size in range(1, len(parts) + 1))
        found = self[section] = tuple(number for number in numbers if number)
        return found

    def of(self, chunk: Chunk) -> tuple[str, ...]:
        """Those of all sections in a chunk."""
        return tuple(dict.fromkeys(number for span in chunk.spans for number in self[span.section]))


class _ColumnNames:
    """Finds the header row of a table for a chunk that begins inside the table."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._header: dict[int, tuple[int, int]] = {}
        header: tuple[int, int] | None = None
        for block in document.blocks:
            if block.kind == "header_row":
                header = (block.start, block.end)
            elif block.kind != "row":
                header = None
            elif header:
                self._header[block.start] = header

    def before(self, chunk: Chunk) -> str:
        """The header row above the chunk's first row, "" where it is in the chunk or there is none."""
        first = next((unit for unit in chunk.units if unit.kind == "row"), None)
        header = self._header.get(first.start) if first else None
        return self._document.text[header[0] : header[1]].strip() if header and header[0] < chunk.start else ""
