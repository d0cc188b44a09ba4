"""Cuts a document into chunks: whole sections where they fit, small neighbours merged, long ones split.

A chunk holds about 170 English words or 350 Chinese characters. It never crosses a section of the
document's highest level, and a cut falls between blocks, else between sentences. A heading
stays with what follows it; a code block, list item or table row is cut only when it is longer than a chunk.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from ctxcli.model.document import Block, Chunk, Document, Span, Unit
from ctxcli.text.sentences import sentence_spans

VERSION = "1"
LATIN_CHARACTERS = 1_020
"""A full chunk of spaced text: 170 words of six characters with the blank."""
HAN_CHARACTERS = 400
"""A full chunk of Chinese: 350 characters and their punctuation."""
SPLIT_ABOVE = 1.3
"""A block that is heavier than this many chunks is split at sentence ends, a lighter one never."""


_start = attrgetter("start")


class _Atom(NamedTuple):
    """Text that no cut may divide; `weight` is its share of a full chunk, `opens` the section it begins (or -1)."""

    start: int
    end: int
    weight: float
    opens: int
    only_heading: bool


def chunk(document: Document) -> tuple[Chunk, ...]:
    """Return the chunks of a document; together they are its text, each character once."""
    if not document.text:
        return ()
    blocks = document.blocks or (Block(0, len(document.text), "prose"),)
    units = tuple(_units(document.text, blocks))
    bounds = _bounds(document, _atoms(document, blocks, units))
    return tuple(_chunks(document, bounds, units))


def weight(text: str) -> float:
    """The share of a full chunk that a text takes (0 for none, 1 for a chunk)."""
    han = 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - len(text)) // 2
    return han / HAN_CHARACTERS + max(0, len(text) - han) / LATIN_CHARACTERS


def _heavier(text: str, start: int, end: int, limit: float) -> bool:
    """Whether a slice weighs more than `limit` chunks."""
    return end - start > limit * HAN_CHARACTERS and weight(text[start:end]) > limit


def _units(text: str, blocks: tuple[Block, ...]) -> Iterator[Unit]:
    for block in blocks:
        for start, end in _pieces(text, block):
            first, last, body = start, end, text[start:end]
            if body[:1].isspace() or body[-1:].isspace():
                first += len(body) - len(body.lstrip("\n\r" if block.kind == "code" else None))
                last -= len(body) - len(body.rstrip())
            if first < last:
                yield Unit(first, last, block.kind)


def _pieces(text: str, block: Block) -> Iterable[tuple[int, int]]:
    """A block as it is, or parted where it is prose or heavy; white space may still stand around the pieces."""
    start, end, kind = block
    if kind == "prose" or (kind != "code" and _heavier(text, start, end, 1)):
        spans = sentence_spans(text[start:end])
    elif kind == "code" and _heavier(text, start, end, SPLIT_ABOVE):
        spans = list(_line_groups(text[start:end]))
    else:
        return ((start, end),)
    return [(start + first, start + last) for first, last in spans]


def _line_groups(piece: str) -> Iterator[tuple[int, int]]:
    """Runs of whole lines of at most one chunk each; a longer line is cut at sentence ends or length."""
    start = end = 0
    for line in piece.splitlines(keepends=True):
        if end > start and weight(piece[start : end + len(line)]) > 1:
            yield start, end
            start = end
        end += len(line)
        if weight(line) > SPLIT_ABOVE:
            yield from ((start + a, start + b) for a, b in sentence_spans(piece[start:end]))
            start = end
    if end > start:
        yield start, end


def _atoms(document: Document, blocks: tuple[Block, ...], units: tuple[Unit, ...]) -> list[_Atom]:
    """The text as a row of atoms that tile it; white space goes to the atom before it."""
    text, section_starts = document.text, [section.start for section in document.sections]
    cuts, headings = {0, *section_starts}, set()
    for block in blocks:
        if _heavier(text, block.start, block.end, SPLIT_ABOVE):
            first = bisect_left(units, block.start, key=_start)
            cuts.update(unit.start for unit in units[first : bisect_left(units, block.end, lo=first, key=_start)])
        else:
            cuts.add(block.start)
        if block.kind == "heading":
            headings.add(block.start)
    opened = {start: index for index, start in enumerate(section_starts)}
    starts = sorted(cuts)
    return [
        _Atom(start, end, weight(text[start:end]), opened.get(start, -1), start in headings)
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
        if end > start
    ]


def _bounds(document: Document, atoms: list[_Atom]) -> list[int]:
    """Where chunks begin, ascending; the first is 0."""
    sections = document.sections
    top = min((section.level for section in sections), default=0)
    opens_top = [atom.opens >= 0 and sections[atom.opens].level == top for atom in atoms]
    needs = _needs(atoms, opens_top)
    bounds, full, bare = [0], 0.0, True
    for position, atom in enumerate(atoms):
        wanted = opens_top[position] or (not bare and full + needs[position] > 1)
        if wanted and document.text[bounds[-1] : atom.start].strip():
            bounds.append(atom.start)
            full, bare = 0.0, True
        full += atom.weight
        bare = bare and (atom.only_heading or atom.weight < 0.01)
    return bounds


def _needs(atoms: list[_Atom], opens_top: list[bool]) -> list[float]:
    """For each atom the weight that is to have room where the atom is put.

    That of its section where it opens one, else its own; a heading with nothing below it takes in what follows.
    """
    needs = [0.0] * len(atoms)
    section = following = 0.0
    for position in range(len(atoms) - 1, -1, -1):
        atom = atoms[position]
        section += atom.weight
        needs[position] = section if atom.opens >= 0 else atom.weight
        if atom.only_heading and needs[position] == atom.weight:
            needs[position] += following
        following = 0.0 if opens_top[position] else needs[position]
        if atom.opens >= 0:
            section = 0.0
    return needs


def _chunks(document: Document, bounds: list[int], units: tuple[Unit, ...]) -> Iterator[Chunk]:
    section_starts = [section.start for section in document.sections]
    line, counted, first = 1, 0, 0
    for ordinal, (start, end) in enumerate(zip(bounds, [*bounds[1:], len(document.text)], strict=True)):
        line += document.text.count("\n", counted, start)
        counted = start
        last = first
        while last < len(units) and units[last].start < end:
            last += 1
        yield Chunk(
            ordinal,
            start,
            end,
            _spans(document, section_starts, start, end),
            units[first:last],
            line if document.has_lines else None,
        )
        first = last


def _spans(document: Document, section_starts: list[int], start: int, end: int) -> tuple[Span, ...]:
    pages = document.page_starts
    first_section, first_page = bisect_right(section_starts, start), bisect_right(pages, start)
    marks = {start}
    marks.update(section_starts[first_section : bisect_right(section_starts, end - 1)])
    marks.update(pages[first_page : bisect_right(pages, end - 1)])
    return tuple(
        Span(mark, bisect_right(section_starts, mark) - 1, bisect_right(pages, mark) or None if pages else None)
        for mark in sorted(marks)
    )
