"""PDF: text in reading order, sections, pages and their labels, from the text layer."""

import re
from collections.abc import Sequence, Set
from itertools import takewhile
from pathlib import PurePath

from ctxcli.model.document import Document, ParseWarning
from ctxcli.model.errors import ParseError
from ctxcli.parsing.pdf import furniture
from ctxcli.parsing.pdf.assemble import assemble, pieces
from ctxcli.parsing.pdf.headings import find
from ctxcli.parsing.pdf.layout import Column, Layout, columns, measure
from ctxcli.parsing.pdf.lines import Line, words_of
from ctxcli.parsing.pdf.numbers import read_number
from ctxcli.parsing.pdf.reader import Page, Pdf, read
from ctxcli.parsing.sections import nest

VERSION = "pdf/2"

_GARBLED_SHARE = 0.2
_NO_CHARACTER = re.compile("\\(cid:\\d+\\)|[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]+")
_NO_TITLE = re.compile(
    r"\(?(?:untitled|anonymous|unspecified|无标题|未命名)\)?\W*\d*|document\d*|新建.{0,20}文[档件]\W*\d*\W*"
    r"|microsoft word.*|.*\.(?:docx?|pdf|tex|indd|pptx?)|\W*",
    re.IGNORECASE,
)


def parse(data: bytes, *, name: str) -> Document:
    """Read a PDF; `name` is the file's name.

    Pages without a text layer and garbled pages are warnings; a file without any text, encrypted or
    damaged is a `ParseError` (codes ``no_text_layer``, ``encrypted``, ``damaged``, ``empty``, ``not_a_pdf``).
    """
    pdf = read(data)
    warnings = _warnings(pdf.pages)
    if not any(page.lines for page in pdf.pages):
        raise ParseError(
            "the PDF has no text layer: it is scanned",
            code="no_text_layer",
            hint="run OCR on it (ocrmypdf), then index it",
        )
    gone = furniture.running(pdf.pages)
    labels = furniture.labels(pdf.pages, gone)
    lines, edges, meta = _body(pdf.pages, gone)
    layout = measure(lines)
    headings = find(lines, pdf.outline, layout, frozenset(meta))
    made = assemble(pieces(lines, edges, headings, layout, meta), len(pdf.pages), words_of(lines))
    sections = nest(
        (made.heading_starts[number], heading.level, heading.text, "")
        for number, heading in enumerate(headings)
        if number in made.heading_starts
    )
    numbered = {at for one in headings if read_number(one.text) for at in range(one.first, one.last + 1)}
    title, from_name = _title(pdf, lines, layout, numbered, name)
    return Document(
        format="pdf", title=title, text=made.text, sections=sections, blocks=made.blocks,
        page_starts=made.page_starts, page_labels=labels, title_from_name=from_name, warnings=warnings,
    )  # fmt: skip


def _body(pages: Sequence[Page], gone: set[tuple[int, int]]) -> tuple[list[Line], list[Column], set[int]]:
    """The lines that are text, the column of each, and the indexes of those in tables of contents."""
    lines: list[Line] = []
    edges: list[Column] = []
    meta: set[int] = set()
    for index, page in enumerate(pages):
        kept = [line for place, line in enumerate(page.lines) if (index, place) not in gone and not line.turned]
        kept += [line for place, line in enumerate(page.lines) if (index, place) not in gone and line.turned]
        meta |= {len(lines) + place for place in furniture.contents(kept, len(pages))}
        lines += kept
        edges += columns(kept, page.width)
    return lines, edges, meta


def _warnings(pages: Sequence[Page]) -> tuple[ParseWarning, ...]:
    found: list[ParseWarning] = []
    for number, page in enumerate(pages, 1):
        if not page.lines and page.pictured:
            found.append(ParseWarning("no_text_layer", "the page has no text layer", number))
        elif _is_garbled("".join(line.text for line in page.lines)):
            found.append(ParseWarning("garbled_text", "the text layer of the page is garbled", number))
    return tuple(found)


def _is_garbled(text: str) -> bool:
    """Whether over a fifth of the characters name no character."""
    bad = sum(map(len, _NO_CHARACTER.findall(text)))
    return bad > _GARBLED_SHARE * max(len(text), 1)


def _title(pdf: Pdf, lines: Sequence[Line], layout: Layout, numbered: Set[int], name: str) -> tuple[str, bool]:
    """The title of the metadata, else the largest lines of the first page, else the file's name.

    Numbered headings (`numbered` holds the indexes of their lines) are no title, however large.
    """
    title = " ".join(pdf.title.split())
    if title and not _NO_TITLE.fullmatch(title) and not _is_garbled(title):
        return title, False
    first = [(at, line) for at, line in enumerate(lines) if line.page == lines[0].page and not line.turned]
    size = max((line.size for _, line in first), default=0.0)
    if size >= 1.25 * layout.size:
        large = [(at, line.text) for at, line in first if line.size > 0.95 * size][:3]
        text = " ".join(text for _, text in takewhile(lambda one: one[0] not in numbered, large))
        if 3 <= len(text) <= 150 and not _is_garbled(text):
            return text, False
    return PurePath(name).stem, True
