"""Lines and headings to one text: paragraphs, list items, rows and code, with the start of each page."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from ctxcli.model.document import Block, BlockKind
from ctxcli.parsing.pdf.layout import Column, Layout, first_word_width
from ctxcli.parsing.pdf.lines import CELL, Line, is_wide, joint
from ctxcli.parsing.pdf.titles import Heading

_BULLET = re.compile(r"[•·●○▪■□◆◇►▸‣⁃–—*∙-]\s*(?=\S)|[\uf0b7\uf0a7\uf0d8]\s*")
_ENUMERATED = re.compile(
    r"(?:\(?[0-9]{1,3}[.)）、．](?!\d)|[（(](?:[0-9]{1,3}|[a-zA-Z]|[ivx]{1,5}|[一二三四五六七八九十]+)[)）]"
    r"|[a-zA-Z][)）]|[a-z]\.(?=\s)|[①-⑳]|[ivx]{1,5}[.)](?=\s)|[一二三四五六七八九十]+、)\s*(?=\S)"
)
_LABELLED = re.compile(r"\[\d{1,3}\]\s+\S")
_UNFINISHED = re.compile(
    r"\b(?:and|or|the|a|an|of|to|in|on|at|by|for|with|from|that|which|is|are|be|not|than|as|if|see|chapter|section|clause"
    r"|article|figure|table|page|no\.)$|[，、]$",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_END = re.compile(r"[.!?。！？:：;；…][\"'”’」』）)\]]*$")


@dataclass(slots=True)
class Piece:
    """Lines that become one block; `heading` is the index of the heading that begins here, else None."""

    kind: BlockKind
    lines: list[Line]
    columns: list[Column] = field(default_factory=list)
    heading: int | None = None


def pieces(
    lines: Sequence[Line], columns: Sequence[Column], headings: Sequence[Heading], layout: Layout, meta: Set[int]
) -> list[Piece]:
    """Cut the lines into pieces, in reading order; footnotes stand before a paragraph that runs over the page."""
    starts = {heading.first: number for number, heading in enumerate(headings)}
    found: list[Piece] = []
    index = 0
    while index < len(lines):
        number = starts.get(index)
        if number is not None and not headings[number].clause:
            last = headings[number].last
            found.append(Piece("heading", list(lines[index : last + 1]), list(columns[index : last + 1]), number))
            index = last + 1
            continue
        _add(found, lines[index], columns[index], layout, number, meta=index in meta)
        index += 1
    _name_columns(found)
    for piece in found:
        if piece.heading is not None and piece.kind == "item":
            piece.kind = "prose"  # a clause may hold many sentences
    return found


def _add(found: list[Piece], line: Line, column: Column, layout: Layout, number: int | None, *, meta: bool) -> None:
    kind: BlockKind = "meta" if meta else _kind(line)
    last = found[-1] if found else None
    if kind == "code" and last is not None and _is_running_text(last, line, layout):
        kind = "prose"
    if number is not None:
        found.append(Piece("item" if kind in {"prose", "row"} else kind, [line], [column], number))
    elif last is not None and last.lines[-1].page == line.page and _continues(last, kind, line, layout):
        last.lines.append(line)
        last.columns.append(column)
    elif last is not None and last.lines[-1].page != line.page and _over_the_page(found, kind, line, layout):
        last = found[-1]
        last.lines.append(line)
        last.columns.append(column)
    else:
        found.append(Piece(kind, [line], [column]))


def _kind(line: Line) -> BlockKind:
    if line.mono:
        return "code"
    if _BULLET.match(line.text) or _ENUMERATED.match(line.text) or _LABELLED.match(line.text):
        return "item"
    return "row" if line.cells > 1 else "prose"


def _continues(piece: Piece, kind: BlockKind, line: Line, layout: Layout) -> bool:
    """Whether a line belongs to the piece above it on the same page."""
    before, column = piece.lines[-1], piece.columns[-1]
    if "meta" in {piece.kind, kind} or "code" in {piece.kind, kind}:
        return piece.kind == kind and not (kind == "code" and layout.gap_above(before, line))
    if kind in {"prose", "row"} and piece.kind in {"item", "prose"} and _is_cell_tail(piece, line):
        return True
    if kind in {"item", "row"} or piece.kind == "heading" or before.turned != line.turned:
        return False
    if piece.kind == "row":
        return _in_cell(piece, line, layout)
    jump = line.y > before.y + 2 * line.size
    if _differs(before.size, line.size) and _differs(before.lead_size, line.lead_size):
        return False
    if jump:
        return _is_full(before, column, line) and not _END.search(before.text)
    near = before.y - line.y <= 1.3 * max(layout.leading(line.size), 1.15 * line.size)
    return near and (_in_item if piece.kind == "item" else _in_paragraph)(piece, line, column)


def _differs(one: float, other: float) -> bool:
    return abs(one - other) > max(0.12 * one, 0.6)


def _is_running_text(piece: Piece, line: Line, layout: Layout) -> bool:
    """Whether a line that begins in typewriter type goes on with a sentence (a file name, a command in the text)."""
    before, column = piece.lines[-1], piece.columns[-1]
    if piece.kind not in {"prose", "item"} or before.page != line.page or abs(before.size - line.size) > 1:
        return False
    near = not layout.gap_above(before, line) and _is_full(before, column, line)
    return near and not _END.search(before.text) and line.x0 <= before.x0 + line.size


def _is_cell_tail(piece: Piece, line: Line) -> bool:
    """A short cell right of the first line of a numbered row, set after the row's other lines."""
    head = piece.lines[0]
    return abs(line.y - head.y) < 0.5 * line.size and line.x0 > head.x1 and len(line.text) < 20


def _in_cell(piece: Piece, line: Line, layout: Layout) -> bool:
    """The rest of a cell of the row above: near, short, and either within the row or right of its start."""
    head, before = piece.lines[0], piece.lines[-1]
    near = -0.5 * line.size < before.y - line.y < 1.2 * layout.leading(line.size)
    inside = line.x0 > head.x0 + line.size and line.x1 < head.x1 + line.size
    return near and inside


def _in_item(piece: Piece, line: Line, column: Column) -> bool:
    head, before = piece.lines[0], piece.lines[-1]
    if line.x0 > head.x0 + 0.4 * line.size:
        return True
    open_end = _is_full(before, column, line) or bool(_UNFINISHED.search(before.text))
    return open_end and line.x0 > head.x0 - 3 * line.size and not _END.search(before.text)


def _in_paragraph(piece: Piece, line: Line, column: Column) -> bool:
    before = piece.lines[-1]
    indent = line.x0 - before.x0
    if len(piece.lines) == 1:
        indent = max(indent, 0)
    if indent > 0.8 * line.size and not (len(piece.lines) == 1 and not _END.search(before.text)):
        return False
    if _is_full(before, column, line):
        return True
    if before.hyphen or before.text.endswith("-") or _UNFINISHED.search(before.text):
        return True
    return not _END.search(before.text) and line.text[0].islower() and not is_wide(before.text[-1])


def _is_full(before: Line, column: Column, line: Line) -> bool:
    """Whether the next word would not have fitted into the line before."""
    return column.right - before.x1 < first_word_width(line) + 0.6 * line.size


def _over_the_page(found: list[Piece], kind: BlockKind, line: Line, layout: Layout) -> bool:
    """Whether the line goes on with the last paragraph of the page before; moves footnotes before it if so."""
    if kind in {"code", "row"}:
        return False
    place = len(found) - 1
    while place > 0 and found[place].kind in {"prose", "item"} and found[place].lines[-1].size < 0.93 * layout.size:
        if found[place].heading is not None:
            return False
        place -= 1
    open_piece = found[place]
    before, column = open_piece.lines[-1], open_piece.columns[-1]
    if before.page != line.page - 1 or open_piece.kind not in {"prose", "item"} or kind == "item":
        return False
    if abs(before.size - line.size) > 0.6 or _END.search(before.text) or not _is_full(before, column, line):
        return False
    if len(open_piece.lines) == 1 and before.x1 - before.x0 < 0.4 * (column.right - column.left):
        return False
    latin = not is_wide(before.text[-1])
    if latin and line.text[0].isupper() and open_piece.kind == "item":
        return False
    found.append(found.pop(place))
    return True


def _name_columns(found: Sequence[Piece]) -> None:
    """The first of several rows is a header where it is bold, or has no digits while the next row has."""
    for place, piece in enumerate(found[:-1]):
        after = found[place + 1]
        first = place == 0 or found[place - 1].kind not in {"row", "header_row"}
        if piece.kind != "row" or not first or after.kind not in {"row", "item"} or len(piece.lines) > 2:
            continue
        text, below = (" ".join(line.text for line in one.lines) for one in (piece, after))
        bold = piece.lines[0].bold and not after.lines[0].bold
        plain = not _DIGIT.search(text) and bool(_DIGIT.search(below)) and not _END.search(text) and len(text) < 120
        if bold or plain:
            piece.kind = "header_row"


@dataclass(frozen=True, slots=True)
class Assembled:
    """The text, its blocks, where pages begin and where the headings (by their index) begin."""

    text: str
    blocks: tuple[Block, ...]
    page_starts: tuple[int, ...]
    heading_starts: dict[int, int]


def assemble(found: Sequence[Piece], page_count: int, words: Set[str]) -> Assembled:
    """Write the pieces into one text."""
    writer = _Writer(words)
    for piece in found:
        writer.write(piece)
    return writer.finish(page_count)


class _Writer:
    def __init__(self, words: Set[str]) -> None:
        self.words = words
        self.parts: list[str] = []
        self.length = 0
        self.blocks: list[Block] = []
        self.pages: dict[int, int] = {}
        self.headings: dict[int, int] = {}
        self.before: Piece | None = None

    def write(self, piece: Piece) -> None:
        if self.before is not None:
            close = piece.kind == self.before.kind and piece.kind in {"item", "row", "header_row"}
            self._put("\n" if close else "\n\n")
        start = self.length
        if piece.heading is not None:
            self.headings[piece.heading] = start
        text = self._body(piece)
        self._put(text)
        self.blocks.append(Block(start, self.length, piece.kind))
        self.before = piece

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def _body(self, piece: Piece) -> str:
        text = ""
        left = min(line.x0 for line in piece.lines)
        before: Line | None = None
        for line in piece.lines:
            if before is None or piece.kind in {"code", "meta"}:
                between = "\n" if before is not None else ""
                if piece.kind == "code":
                    between += " " * min(round((line.x0 - left) / (0.6 * max(line.size, 1))), 60)
            else:
                text, between = joint(text, line.text, hyphen=before.hyphen, words=self.words)
            text += between
            self.pages.setdefault(line.page, self.length + len(text))
            text += line.text.replace(CELL, " ") if piece.kind == "heading" else line.text
            if piece.kind in {"code", "meta"} and line.hyphen:
                text += "-"
            before = line
        if before is not None and before.hyphen and piece.kind not in {"code", "meta"}:
            text += "-"
        return text

    def finish(self, page_count: int) -> Assembled:
        """Pages without text begin where the next one does."""
        starts = [self.length] * page_count
        after = self.length
        for page in range(page_count - 1, -1, -1):
            after = min(self.pages.get(page, after), after)
            starts[page] = after
        return Assembled("".join(self.parts), tuple(self.blocks), tuple(starts), self.headings)
