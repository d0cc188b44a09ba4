"""Word documents: headings with their automatic numbers, list items, table rows, footnotes.

Word keeps no pages in the file (they depend on printer and fonts), so a DOCX has none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ctxcli.model.document import BlockKind, Document, ParseWarning
from ctxcli.parsing import docx_text, ooxml_graphics
from ctxcli.parsing.docx_numbering import Numbering, W, integer
from ctxcli.parsing.ooxml import Element, Package, TextBuilder, local, tidy
from ctxcli.parsing.pdf.headings import find
from ctxcli.parsing.pdf.layout import measure
from ctxcli.parsing.pdf.lines import Line
from ctxcli.parsing.sections import nest, split_number

VERSION = "docx/2"

_HEADING = re.compile(r"(?:heading|标题|標題)\s*([1-9])$", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc\s*\d|toc heading|table of figures|目录\s*\d*)$", re.IGNORECASE)
_CODE = re.compile(r"\bcode\b|source|preformatted|代码|plain text", re.IGNORECASE)
_MAX_REPEATED = 60
"""Characters; a longer text that stands beside several rows is not said again in each of them."""


@dataclass(frozen=True, slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int | None = None
    number_id: str | None = None
    depth: int | None = None


def parse(data: bytes, *, name: str) -> Document:
    """Read a DOCX; `name` is the file's name. Old, encrypted and damaged files are a `ParseError`."""
    package = Package(data, kind="docx")
    main = _main_part(package)
    reader = _Reader(package, main)
    body = package.main(main).find(f"{W}body")
    reader.walk(body if body is not None else Element("none"), 0)
    text = reader.builder.text
    headings = reader.headings or reader.unstyled()
    title = reader.title or package.title() or _first_heading(headings)
    warnings = () if text else (ParseWarning("no_text", "the document has no text"),)
    return Document(
        format="docx", title=title or PurePath(name).stem, text=text, sections=nest(headings),
        blocks=tuple(reader.builder.blocks), title_from_name=not title, warnings=warnings,
    )  # fmt: skip


def _first_heading(headings: list[tuple[int, int, str, str]]) -> str:
    """The heading that opens the document, unless it is numbered: then it is a chapter."""
    opening = [heading for start, _, heading, _ in headings if start == 0]
    return opening[0] if opening and not split_number(opening[0])[0] else ""


def _main_part(package: Package) -> str:
    for kind, target in package.relations("").values():
        if kind == "officeDocument":
            return target
    return "word/document.xml"


class _Reader:
    """Walks the body once, in order, so that numbers are counted as Word counts them."""

    def __init__(self, package: Package, main: str) -> None:
        parts: dict[str, Element] = {}
        self.package, self.relations = package, package.relations(main)
        for kind, target in self.relations.values():
            if kind in {"styles", "numbering", "footnotes", "endnotes"}:
                root = package.xml(target)
                if root is not None:
                    parts[kind] = root
        self.styles = _read_styles(parts.get("styles"))
        self.numbering = Numbering(parts.get("numbering"))
        self.notes = {kind: _read_notes(parts.get(f"{kind}s"), kind) for kind in ("footnote", "endnote")}
        self.builder = TextBuilder()
        self.headings: list[tuple[int, int, str, str]] = []
        self.looks: dict[int, Element] = {}  # block → its paragraph
        self.title = ""
        self.begun: docx_text.Paragraph | None = None

    def walk(self, parent: Element, depth: int) -> None:
        """Take in the blocks below `parent`."""
        if depth > docx_text.MAX_DEPTH:
            return
        for child in parent:
            kind = local(child)
            if kind == "p":
                self._paragraph(child, depth)
            elif kind == "tbl":
                self._end()
                self._table(child)
            elif kind == "AlternateContent":
                self.walk(docx_text.choice(child), depth + 1)
            elif kind in {"sdt", "sdtContent", "customXml", "ins", "moveTo", "Choice", "txbxContent"}:
                self.walk(child, depth + 1)
        if depth == 0:
            self._end()

    def unstyled(self) -> list[tuple[int, int, str, str]]:
        """Headings of a document without heading styles, by number and type as in print; turns blocks into headings."""
        blocks, text = self.builder.blocks, self.builder.text
        lines = [
            _printed(text[block.start : block.end], place, self.looks.get(place)) for place, block in enumerate(blocks)
        ]
        skip = frozenset(place for place, block in enumerate(blocks) if block.kind not in {"prose", "item"})
        found = find(lines, (), measure(lines), skip) if lines else []
        for heading in found:
            for place in range(heading.first, heading.last + 1) if not heading.clause else ():
                blocks[place] = blocks[place]._replace(kind="heading")
        return [(blocks[heading.first].start, heading.level, heading.text, "") for heading in found]

    def _paragraph(self, element: Element, depth: int) -> None:
        found = docx_text.read(element, self.begun)
        properties = element.find(f"{W}pPr")
        deleted = properties is not None and properties.find(f"{W}rPr/{W}del") is not None
        self.begun = found if deleted else None
        if deleted:
            return
        text = "".join(found.text)
        style_id = _value(properties, "pStyle") or ""
        level = self._heading_level(properties, style_id)
        blank = not text.strip()
        label, bullet = ("", False) if blank and level is None else self._label(properties, style_id)
        if not blank:
            self.looks[len(self.builder.blocks)] = element
            self._emit(text, label, bullet, level, self._name(style_id))
        self._hangers_on(found, depth)

    def _end(self) -> None:
        """What has begun ends here, since no paragraph follows that it could go on in."""
        if found := self.begun:
            self.begun = None
            self.builder.add("prose", "".join(found.text))
            self._hangers_on(found, 0)

    def _hangers_on(self, found: docx_text.Paragraph, depth: int) -> None:
        for kind, note_id in found.notes:
            self._note(kind, note_id)
        for box in found.boxes:
            self.walk(box, depth + 1)
        for pointer in found.graphics:
            ooxml_graphics.add(self.package, self.relations.get(pointer, ("", "")), self.builder)

    def _emit(self, text: str, label: str, bullet: bool, level: int | None, style: str) -> None:
        if _CONTENTS.match(style):
            self.builder.add("meta", text)
            return
        line = " ".join(tidy(text).split("\n"))
        if level is not None:
            heading = f"{label} {line}".strip() if not bullet else line
            start = self.builder.add("heading", heading)
            if start is not None:
                self.headings.append((start, level, heading, ""))
            return
        if style.lower() == "title" and not self.title:
            self.title = line
            self.builder.add("heading", line)
            return
        kind: BlockKind = "item" if label else "code" if _CODE.search(style) else "prose"
        self.builder.add(kind, f"{label} {text}" if label else text)

    def _note(self, kind: str, note_id: str) -> None:
        note = self.notes[kind].get(note_id)
        if note is None:
            return
        lines = ("".join(docx_text.read(paragraph).text) for paragraph in docx_text.paragraphs(note))
        self.builder.add("prose", " ".join(lines))

    def _table(self, table: Element) -> None:
        """Add the rows; what a merged cell says is said in each of its rows; notes and charts follow."""
        rows = list(_rows(table, 0))
        above: dict[int, str] = {}
        later: list[docx_text.Paragraph] = []
        for place, row in enumerate(rows):
            cells = list(self._row(row, above, later))
            text = " | ".join(cells)
            if not text.strip(" |"):
                continue
            named = row.find(f"{W}trPr/{W}tblHeader") is not None
            first = place == 0 and len(rows) > 1 and _first_row_is_header(table, cells)
            self.builder.add("header_row" if named or first else "row", text)
        for found in later:
            self._hangers_on(found, 0)

    def _row(self, row: Element, above: dict[int, str], later: list[docx_text.Paragraph]) -> Iterator[str]:
        """The cells of a row; `above` holds what is merged downwards, by column of the grid."""
        column = 0
        for cell in _cells(row):
            text = self._cell(cell, later)
            goes_on = docx_text.goes_on(cell)
            if goes_on:
                text = text or above.get(column, "")
            elif goes_on is False and len(text) <= _MAX_REPEATED:
                above[column] = text
            else:
                above.pop(column, None)
            yield text
            column += docx_text.span(cell)

    def _cell(self, cell: Element, later: list[docx_text.Paragraph], depth: int = 0) -> str:
        """The text of a cell on one line, its text boxes too; its list numbers count too."""
        parts: list[str] = []
        for paragraph in docx_text.paragraphs(cell):
            found = docx_text.read(paragraph)
            properties = paragraph.find(f"{W}pPr")
            text = " ".join("".join(found.text).split())
            label, _ = self._label(properties, _value(properties, "pStyle") or "") if text else ("", False)
            parts.append(f"{label} {text}".strip())
            parts += [self._cell(box, later, depth + 1) for box in found.boxes if depth < docx_text.MAX_DEPTH]
            found.boxes.clear()
            later.append(found)
        return " ".join(filter(None, parts))

    def _heading_level(self, properties: Element | None, style_id: str) -> int | None:
        own = _value(properties, "outlineLvl")
        if own is not None:
            level = integer(own, 9)
            return level + 1 if level < 9 else None
        for style in self._chain(style_id):
            match = _HEADING.match(style.name)
            if match:
                return int(match[1])
            if style.outline is not None:
                return style.outline + 1 if style.outline < 9 else None
        return None

    def _label(self, properties: Element | None, style_id: str) -> tuple[str, bool]:
        """Count the paragraph if it is numbered: its label, and whether that is a bullet."""
        number = properties.find(f"{W}numPr") if properties is not None else None
        number_id, depth = _value(number, "numId"), _value(number, "ilvl")
        level = integer(depth, 0) if depth is not None else None
        tied = style_id
        chain = list(self._chain_ids(style_id))
        for identifier in chain:
            style = self.styles.get(identifier, _Style())
            if number_id is None and style.number_id is not None:
                number_id, tied = style.number_id, identifier
                level = style.depth if level is None else level
        if number_id is None or number_id == "0":
            return "", False
        if level is None:
            level = self.numbering.level_of_style(number_id, tied)
        return self.numbering.next(number_id, level), self.numbering.is_bullet(number_id, level)

    def _chain_ids(self, style_id: str) -> Iterator[str]:
        seen: set[str] = set()
        while style_id and style_id not in seen:
            seen.add(style_id)
            yield style_id
            style_id = self.styles.get(style_id, _Style()).based_on

    def _chain(self, style_id: str) -> Iterator[_Style]:
        """The style and those it is based on."""
        return (self.styles.get(identifier, _Style()) for identifier in self._chain_ids(style_id))

    def _name(self, style_id: str) -> str:
        return self.styles.get(style_id, _Style()).name


def _printed(text: str, place: int, paragraph: Element | None) -> Line:
    """A block as if it were a printed line, each set apart from the one before."""
    runs = [run for run in paragraph.iter(f"{W}r") if run.find(f"{W}t") is not None] if paragraph is not None else []
    bold = bool(runs) and all(docx_text.is_on(run, "b") for run in runs)
    size = integer(_value(runs[0].find(f"{W}rPr"), "sz"), 21) / 2 if runs else 10.5
    return Line(text.replace("\n", " "), 0, 0.0, 400.0, -3.0 * 10.5 * place, size, bold, lead_bold=bold, lead_size=size)


def _value(parent: Element | None, name: str) -> str | None:
    child = parent.find(f"{W}{name}") if parent is not None else None
    return None if child is None else child.get(f"{W}val", "")


def _read_styles(root: Element | None) -> dict[str, _Style]:
    found: dict[str, _Style] = {}
    for style in root.iter(f"{W}style") if root is not None else ():
        properties = style.find(f"{W}pPr")
        number = properties.find(f"{W}numPr") if properties is not None else None
        outline, depth = _value(properties, "outlineLvl"), _value(number, "ilvl")
        found[style.get(f"{W}styleId", "")] = _Style(
            _value(style, "name") or "", _value(style, "basedOn") or "",
            None if outline is None else integer(outline, 9), _value(number, "numId"),
            None if depth is None else integer(depth, 0),
        )  # fmt: skip
    return found


def _read_notes(root: Element | None, kind: str) -> dict[str, Element]:
    if root is None:
        return {}
    return {note.get(f"{W}id", ""): note for note in root.iter(f"{W}{kind}") if note.get(f"{W}type") is None}


def _rows(table: Element, depth: int) -> Iterator[Element]:
    """The rows of the table itself, not of tables in its cells; deleted rows are none."""
    for child in table:
        kind = local(child)
        if kind == "tr":
            if not docx_text.is_deleted_row(child):
                yield child
        elif kind in {"sdt", "sdtContent", "customXml", "ins"} and depth < docx_text.MAX_DEPTH:
            yield from _rows(child, depth + 1)


def _cells(row: Element, depth: int = 0) -> Iterator[Element]:
    for child in row:
        kind = local(child)
        if kind == "tc":
            yield child
        elif kind in {"sdt", "sdtContent", "customXml"} and depth < docx_text.MAX_DEPTH:
            yield from _cells(child, depth + 1)


def _first_row_is_header(table: Element, cells: list[str]) -> bool:
    """Whether the table's look sets off its first row, and that holds no figures."""
    look = table.find(f"{W}tblPr/{W}tblLook")
    if look is None:
        return False
    marked = look.get(f"{W}firstRow")
    on = marked in {"1", "true"} if marked is not None else bool(docx_text.hexadecimal(look.get(f"{W}val", "")) & 0x20)
    return on and len(cells) > 1 and not any(cell.replace(".", "").isdigit() for cell in cells)
