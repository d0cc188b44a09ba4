"""Presentations: one section a slide, the page is the slide's number; notes follow the slide's text."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from ctxcli.model.document import Document, ParseWarning
from ctxcli.parsing import ooxml_graphics
from ctxcli.parsing.ooxml import Element, Package, TextBuilder, local
from ctxcli.parsing.sections import nest

VERSION = "pptx/2"

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"sldNum", "dt", "ftr", "hdr", "sldImg"}
_MAX_DEPTH = 100
_MAX_REPEATED = 60
"""Characters; a longer text that stands beside several rows is not said again in each of them."""
_NO_TITLE = re.compile(r"powerpoint.*|(?:presentation|slide|演示文稿|幻灯片)\s*\d*", re.IGNORECASE)


def parse(data: bytes, *, name: str) -> Document:
    """Read a PPTX; `name` is the file's name. Hidden slides are read too: they are in the file."""
    package = Package(data, kind="pptx")
    builder = TextBuilder()
    headings: list[tuple[int, int, str, str]] = []
    starts: list[int] = []
    for part in _slides(package):
        before = builder.length
        added = len(builder.blocks)
        heading = _slide(package, part, builder)
        start = builder.blocks[added].start if len(builder.blocks) > added else before
        starts.append(start)
        if len(builder.blocks) > added:
            headings.append((start, 1, heading or _first_line(builder, start), ""))
    title = package.title()
    if not title or _NO_TITLE.fullmatch(title):
        title = headings[0][2] if headings and starts[0] == headings[0][0] else ""
    warnings = () if builder.length else (ParseWarning("no_text", "the slides have no text"),)
    return Document(
        format="pptx", title=title or PurePath(name).stem, text=builder.text, sections=nest(headings),
        blocks=tuple(builder.blocks), page_starts=tuple(starts), page_labels=("",) * len(starts),
        title_from_name=not title, warnings=warnings,
    )  # fmt: skip


def _first_line(builder: TextBuilder, start: int) -> str:
    """What names a slide without a title."""
    return builder.text[start : start + 80].split("\n", 1)[0]


def _slides(package: Package) -> Iterator[str]:
    """Names of the slide parts in the order of the show."""
    main = next((to for kind, to in package.relations("").values() if kind == "officeDocument"), "ppt/presentation.xml")
    root = package.main(main)
    relations = package.relations(main)
    for slide in root.iter(f"{_P}sldId"):
        kind, target = relations.get(slide.get(f"{_R}id", ""), ("", ""))
        if kind == "slide":
            yield target


def _slide(package: Package, part: str, builder: TextBuilder) -> str:
    """Add the text of a slide and of its notes; returns the title, "" if it has none."""
    root = package.xml(part)
    if root is None:
        return ""
    shapes = list(_shapes(root, 0))
    titles = [" ".join(" ".join(_paragraphs(shape)).split()) for shape in shapes if _place(shape) in _TITLES]
    heading = next(filter(None, titles), "")
    if heading:
        builder.add("heading", heading)
    relations = package.relations(part)
    for shape in shapes:
        if _place(shape) not in _TITLES | _FURNITURE:
            _shape(shape, builder)
            for pointer in ooxml_graphics.pointers(shape):
                ooxml_graphics.add(package, relations.get(pointer, ("", "")), builder)
    for kind, target in relations.values():
        notes = package.xml(target) if kind == "notesSlide" else None
        for shape in _shapes(notes, 0) if notes is not None else ():
            if _place(shape) == "body":
                builder.add("prose", "\n".join(_paragraphs(shape)))
    return heading


def _shapes(parent: Element, depth: int) -> Iterator[Element]:
    """Shapes and table frames in reading order of the file, groups opened, equal forms read once."""
    if depth > _MAX_DEPTH:
        return
    for child in parent:
        kind = local(child)
        if kind in {"sp", "graphicFrame"}:
            yield child
        elif kind == "AlternateContent":
            first = next((form for form in child if local(form) == "Choice"), None)
            if first is not None:
                yield from _shapes(first, depth + 1)
        elif kind in {"cSld", "spTree", "grpSp"}:
            yield from _shapes(child, depth + 1)


def _place(shape: Element) -> str:
    """What the shape is for on its slide: ``title``, ``body``, "" for a free text box."""
    mark = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return "" if mark is None else mark.get("type", "body")


def _shape(shape: Element, builder: TextBuilder) -> None:
    rows = list(shape.iter(f"{_A}tr"))
    if rows:
        look = shape.find(f".//{_A}tblPr")
        header = look is not None and look.get("firstRow") == "1" and len(rows) > 1
        above: dict[int, str] = {}
        for place, row in enumerate(rows):
            cells = (_cell(cell, column, above) for column, cell in enumerate(row.iter(f"{_A}tc")))
            builder.add("header_row" if header and place == 0 else "row", " | ".join(cells))
        return
    found = list(_paragraphs(shape))
    listed = _place(shape) in {"body", "obj"} and len(found) > 1
    for text in found:
        builder.add("item" if listed else "prose", text)


def _cell(cell: Element, column: int, above: dict[int, str]) -> str:
    """The text of a cell; what is merged downwards (kept in `above`) is said in each row it stands beside."""
    text = " ".join(" ".join(_paragraphs(cell)).split())
    if cell.get("vMerge") in {"1", "true"}:
        return text or above.get(column, "")
    above[column] = text if cell.get("rowSpan") and len(text) <= _MAX_REPEATED else ""
    return text


def _paragraphs(shape: Element) -> Iterator[str]:
    for paragraph in shape.iter(f"{_A}p"):
        parts: list[str] = []
        for part in paragraph:
            parts.append("\n" if local(part) == "br" else "")
            parts.append("^" if _is_raised(part) and "".join(parts)[-1:].isdigit() else "")
            parts += [words.text or "" for words in part.iter(f"{_A}t")]
        text = re.sub(r"[ \t\u00a0\x0b]+", " ", "".join(parts)).strip()
        if text:
            yield text


def _is_raised(run: Element) -> bool:
    """Whether a run stands above the line; behind a figure it is an exponent."""
    place = run.find(f"{_A}rPr")
    lift = place.get("baseline", "0") if place is not None else "0"
    return lift.isdigit() and int(lift) > 0 and bool("".join(run.itertext()).strip())
