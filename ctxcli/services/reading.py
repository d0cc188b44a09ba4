"""Documents of a knowledge base read again, as they were indexed: whole, a section, a page, some lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.model.stored import Place, StoredChunk
from ctxcli.services import knowledge
from ctxcli.services.workspace import Workspace

LIMIT = 8_000
"""Characters that are shown at once unless another limit is named."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of a document: the section with those below it, a page, lines (all from 1); None takes all."""

    section: str | None = None
    page: int | None = None
    line_start: int | None = None
    line_end: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of a document or of a part of it. `characters` counts what was asked for, shown or not."""

    SCHEMA: ClassVar[str] = "ctx/document/1"

    kb: str
    doc: str
    title: str
    section: str | None
    page: int | None
    line_start: int | None
    line_end: int | None
    text: str
    characters: int
    truncated: bool


def read(workspace: Workspace, doc: str, wanted: Wanted, *, kb: Sequence[str] = (), limit: int = LIMIT) -> DocumentText:
    """The text of a document that was indexed, at most `limit` characters of it.

    `doc` is its path or the end of it, its id or its title. Raises NotFoundError where it has no such part.
    """
    found = knowledge.outline(workspace, doc, kb)
    reader = workspace.reader(found.kb)
    record = next(one for one in reader.files() if one.path == found.doc)
    chunks = reader.chunks_of(record.doc_id)
    if wanted.line_start is not None or wanted.line_end is not None:
        text, first = _lines(chunks, wanted, found.doc)
    else:
        pieces = [(text, place) for text, place in _pieces(chunks) if _fits(place, wanted)]
        text = "".join(piece for piece, _ in pieces)
        first = pieces[0][1].line_start if pieces else None
    if not text.strip() and wanted != Wanted():
        raise _missing(found.doc, wanted)
    shown = text[:limit]
    last = None if first is None else first + shown.rstrip("\n").count("\n")
    return DocumentText(
        found.kb, found.doc, found.title, wanted.section, wanted.page, first, last, shown, len(text), len(text) > limit
    )


def _missing(doc: str, wanted: Wanted) -> NotFoundError:
    what = f"section {wanted.section!r}" if wanted.section else f"page {wanted.page}" if wanted.page else "such lines"
    return NotFoundError(f"{doc} has no {what}", code="part_not_found", hint=f"see: ctx kb outline {doc}")


def _pieces(chunks: Sequence[StoredChunk]) -> Iterator[tuple[str, Place]]:
    """The text in pieces that tile it, each with its place."""
    for chunk in chunks:
        starts = [0, *(start for start, _, _ in chunk.units[1:])]
        for start, end in zip(starts, [*starts[1:], len(chunk.text)], strict=True):
            unit = next((one for one in chunk.units if one[0] >= start), (start, end, ""))
            yield chunk.text[start:end], chunk.place(unit[0], max(unit[0], end))


def _fits(place: Place, wanted: Wanted) -> bool:
    if wanted.page is not None and not (place.page and place.page <= wanted.page <= (place.page_end or place.page)):
        return False
    if wanted.section is None:
        return True
    asked = wanted.section.strip().removeprefix("§").strip().casefold()
    own = (place.section or "").casefold()
    if own == asked or own.startswith(f"{asked}."):
        return True
    return any(asked in (heading.casefold(), heading.casefold().partition(" ")[2]) for heading in place.heading_path)


def _lines(chunks: Sequence[StoredChunk], wanted: Wanted, doc: str) -> tuple[str, int | None]:
    """The lines that are wanted, and the number of the first."""
    first = next((chunk.place(0, 0).line_start for chunk in chunks), None)
    if first is None:
        raise UsageError(f"{doc} has no lines", code="no_lines", hint="ask for a page or a section")
    begin, end = wanted.line_start or 1, wanted.line_end
    if begin < 1 or (end is not None and end < begin):
        raise UsageError(f"lines {begin} to {end} are none", code="bad_lines", hint="lines count from 1")
    lines = "".join(chunk.text for chunk in chunks).splitlines(keepends=True)
    return "".join(lines[max(0, begin - first) : None if end is None else end - first + 1]), begin
