"""Opening a PDF and reading its lines, outline and labels; the only code here that calls PDFium.

PDFium is not thread-safe: one document, one process.
"""

import ctypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ctxcli.model.errors import ParseError
from ctxcli.parsing.pdf import gutter
from ctxcli.parsing.pdf.lines import CELL, CELL_GAP, HYPHENS, WORD_GAP, Line, clean, is_wide

_BOLD = re.compile(r"bold|black|heavy|demi|[-_]bd|simhei|heiti|黑体|小标宋|FZXBS|FZHTK", re.IGNORECASE)
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|cmtt|lmtt|sftt|inconsolata|code(?!2)", re.IGNORECASE)
_LINE_NUMBER = re.compile(r"\d{1,4} ")
_FIXED_PITCH = 1
_BOLD_WEIGHT = 600
_WIDE_GAP = 1.6
"""Blanks wider than this (em) part two cells."""
_HANZI_GAP = 0.6
"""Blanks between two hanzi wider than this (em) are meant."""
_LOOSE = 1.2
"""A line this much wider than its characters need has wide gaps."""
_MAX_OUTLINE = 20_000
_MAX_PAGES = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the outline; `level` from 1, `page` 0-based, `y` None where the target names no height."""

    title: str
    level: int
    page: int
    y: float | None


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page in reading order, its size in points and the label of the label tree ("" if none).

    `pictured` means that there are pictures or drawings on it, which may be scanned text.
    """

    lines: tuple[Line, ...]
    width: float
    height: float
    label: str = ""
    pictured: bool = False


@dataclass(frozen=True, slots=True)
class Pdf:
    """All that is read from the file; `title` is that of the metadata."""

    pages: tuple[Page, ...]
    outline: tuple[Entry, ...]
    title: str


@dataclass(frozen=True, slots=True)
class _Font:
    bold: bool
    mono: bool


def read(data: bytes) -> Pdf:
    """Read the whole file; a file that cannot be read is a `ParseError` that says why."""
    document = _open(data)
    try:
        count = len(document)
        if count == 0:
            raise ParseError("the PDF has no pages", code="damaged", hint="export the PDF anew")
        if count > _MAX_PAGES:
            raise ParseError(f"the PDF has {count} pages; at most {_MAX_PAGES} are read", code="too_large")
        fonts: dict[bytes, _Font] = {}
        pages = tuple(_read_page(document, number, fonts) for number in range(count))
        return Pdf(pages, tuple(_outline(document, count)), str(document.get_metadata_value("Title")).strip("\0 "))
    finally:
        document.close()


def _open(data: bytes) -> Any:
    import pypdfium2

    if not data:
        raise ParseError("the file is empty", code="empty")
    if b"%PDF-" not in data[:4096]:
        looks = " (it looks like HTML)" if b"<html" in data[:1024].lower() else ""
        raise ParseError(f"not a PDF{looks}", code="not_a_pdf", hint="check what the file is, or rename it")
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise ParseError(
                "the PDF is encrypted and needs a password", code="encrypted", hint="save a copy without a password"
            ) from error
        raise ParseError(
            "the PDF is damaged or cut off", code="damaged", hint="fetch or export the file anew"
        ) from error


def _outline(document: Any, count: int) -> Iterator[Entry]:
    for number, mark in enumerate(document.get_toc()):
        if number >= _MAX_OUTLINE:
            return
        target = mark.get_dest()
        page = target.get_index() if target else None
        title = clean(mark.get_title())
        if page is None or not 0 <= page < count or not title:
            continue
        yield Entry(title, mark.level + 1, page, _height(target))


def _height(target: Any) -> float | None:
    """The y of a target; 0 and absent mean that it names only the page."""
    _, numbers = target.get_view()
    if len(numbers) == 3 and numbers[1]:
        return float(numbers[1])
    return float(numbers[0]) if len(numbers) == 1 and numbers[0] else None


def _read_page(document: Any, number: int, fonts: dict[bytes, _Font]) -> Page:
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return Page((), 0.0, 0.0)
    lines: list[Line] = []
    try:
        width, height = page.get_size()
        text_page = page.get_textpage()
        try:
            lines = _Probe(text_page, number, page.get_rotation(), (width, height), fonts).lines()
        finally:
            text_page.close()
    except pypdfium2.PdfiumError:
        return Page((), 0.0, 0.0)
    finally:
        pictured = not lines and _is_pictured(page)
        page.close()
    label = document.get_page_label(number) or ""
    return Page(tuple(lines), width, height, label, pictured)


def _is_pictured(page: Any) -> bool:
    """Whether a page without text shows a picture or many paths (letters drawn as outlines)."""
    from pypdfium2 import raw

    count = raw.FPDFPage_CountObjects(page)
    kinds = [raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, place)) for place in range(min(count, 500))]
    return raw.FPDF_PAGEOBJ_IMAGE in kinds or raw.FPDF_PAGEOBJ_FORM in kinds or len(kinds) > 50


class _Probe:
    """Reads text and geometry of one page with few calls a line."""

    def __init__(
        self, text_page: Any, page: int, rotation: int, size: tuple[float, float], fonts: dict[bytes, _Font]
    ) -> None:
        import pypdfium2.raw

        self.raw = pypdfium2.raw
        self.text_page = text_page
        self.page = page
        self.rotation = rotation
        self.size = size
        self.fonts = fonts
        self.count: int = text_page.count_chars()
        self.a, self.b, self.c, self.d = (ctypes.c_double() for _ in range(4))
        self.name = ctypes.create_string_buffer(128)
        self.flags = ctypes.c_int()
        self.matrix = self.raw.FS_MATRIX()

    def lines(self) -> list[Line]:
        """All lines in the order of the page's content, superscripts put back into their line."""
        parts: list[tuple[str, int]] = []
        start = 0
        for part in _physical_lines(self._text()):
            if part.strip():
                parts.append((part, start))
            start += len(part)
        found = self._unmixed([(line, part) for part in parts if (line := self._line(*part))])
        lines: list[Line] = []
        for line in found:
            if lines and _goes_on(lines[-1], line):
                lines[-1] = _merged(lines[-1], line)
            elif lines and _is_next_cell(lines[-1], line):
                lines[-1] = _merged(lines[-1], line, between=CELL)
            else:
                lines.append(line)
        return lines

    def _unmixed(self, found: list[tuple[Line, tuple[str, int]]]) -> list[Line]:
        """Cut lines that hold both columns of a page in two, and put the columns one after the other."""
        lines = [line for line, _ in found]
        if len(lines) < 8:
            return lines
        middle = (min(line.x0 for line in lines) + max(line.x1 for line in lines)) / 2
        picked = gutter.samples(lines, middle)
        gaps = [self._gap(*found[place], middle) for place in picked]
        common = gutter.common_gap([gap and gap[1:] for gap in gaps], lines[picked[0]].size) if picked else None
        if common is None:
            return gutter.by_columns(lines, middle)
        middle = sum(common) / 2
        cut: list[Line] = []
        for line, (part, start) in found:
            gap = self._gap(line, (part, start), middle) if line.x0 < middle < line.x1 else None
            if gap is None or not gap[1] <= middle <= gap[2]:
                cut.append(line)
                continue
            halves = self._line(part[: gap[0]], start), self._line(part[gap[0] :], start + gap[0])
            cut += [half for half in halves if half]
        return gutter.by_columns(cut, middle)

    def _gap(self, line: Line, place: tuple[str, int], middle: float) -> tuple[int, float, float] | None:
        part, start = place
        first = self._index(start)
        text = part.rstrip(HYPHENS + " \r\n\t")
        return gutter.gap_near(
            text, middle, line.size, lambda at: self._origin(first + at)[0], lambda at: self._right(first + at)
        )

    def _text(self) -> str:
        if self.count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (2 * self.count + 2))()
        written = self.raw.FPDFText_GetText(self.text_page, 0, self.count, buffer)
        return bytes(memoryview(buffer)[: max(written - 1, 0)]).decode("utf-16-le", errors="replace")

    def _line(self, part: str, start: int) -> Line | None:
        head = start + len(part) - len(part.lstrip())
        last = start + len(part.rstrip(HYPHENS + " \r\n\t")) - 1
        if last < head:
            return None
        first, end = self._index(head), self._index(last)
        x0, y = self._origin(first)
        x1 = self._right(end)
        half = (head + last) // 2
        while half < last and part[half - start].isspace():
            half += 1
        middle = self._index(half)
        size, turned = self._size(middle)
        lead_size = self._size(first)[0] if middle != first else size
        font, lead = self._font(middle), self._font(first)
        numbered = lead_size < 0.75 * size and bool(_LINE_NUMBER.match(part[head - start :]))
        mono = font.mono and (lead.mono or numbered)
        line = Line(
            "", self.page, x0, max(x1, x0), y, size, font.bold, mono, lead.bold, lead_size,
            hyphen=part.rstrip()[-1:] in HYPHENS, turned=turned,
        )  # fmt: skip
        raw = part[head - start : last - start + 1]
        text, cells = self._cells(raw, first, line)
        text = clean(text)
        return replace(line, text=text, cells=cells) if text else None

    def _cells(self, raw: str, first: int, line: Line) -> tuple[str, int]:
        """Put `CELL` where the gap between two words is that of a table; blanks between hanzi go unless wide."""
        if " " not in raw or line.turned or line.size <= 0:
            return raw, 1
        need = sum(1.0 if is_wide(character) else 0.5 for character in raw) * line.size
        loose = line.x1 - line.x0 > _LOOSE * need
        cells, out = 1, list(raw)
        for place, character in enumerate(raw):
            if character != " " or not 0 < place < len(raw) - 1:
                continue
            hanzi = is_wide(raw[place - 1]) and is_wide(raw[place + 1])
            if not (loose or hanzi):
                continue
            gap = (self._origin(first + place + 1)[0] - self._right(first + place - 1)) / line.size
            if gap > _WIDE_GAP:
                cells, out[place] = cells + 1, CELL_GAP
            elif hanzi and gap > _HANZI_GAP:
                out[place] = WORD_GAP
        return "".join(out), cells

    def _index(self, place: int) -> int:
        index = self.raw.FPDFText_GetCharIndexFromTextIndex(self.text_page, place)
        return int(index) if index >= 0 else min(place, self.count - 1)

    def _turn(self, x: float, y: float) -> tuple[float, float]:
        """From the page as stored to the page as seen."""
        width, height = self.size
        turned = {90: (y, height - x), 180: (width - x, height - y), 270: (width - y, x)}
        return turned.get(self.rotation, (x, y))

    def _origin(self, index: int) -> tuple[float, float]:
        if not self.raw.FPDFText_GetCharOrigin(self.text_page, index, self.a, self.b):
            return 0.0, 0.0
        return (self.a.value, self.b.value) if not self.rotation else self._turn(self.a.value, self.b.value)

    def _right(self, index: int) -> float:
        # left, right, bottom, top
        if not self.raw.FPDFText_GetCharBox(self.text_page, index, self.a, self.b, self.c, self.d):
            return 0.0
        if not self.rotation:
            return self.b.value
        corners = (self._turn(self.a.value, self.c.value)[0], self._turn(self.b.value, self.d.value)[0])
        return max(corners)

    def _size(self, index: int) -> tuple[float, bool]:
        """The size as seen in points, and whether the text does not run from left to right."""
        size = float(self.raw.FPDFText_GetFontSize(self.text_page, index))
        if not self.raw.FPDFText_GetMatrix(self.text_page, index, self.matrix):
            return size, False
        along, across = (self.matrix.a, self.matrix.b) if not self.rotation % 180 else (self.matrix.b, self.matrix.a)
        scale = float((self.matrix.c**2 + self.matrix.d**2) ** 0.5)
        return round(size * scale, 1), abs(along) < abs(across)

    def _font(self, index: int) -> _Font:
        length = self.raw.FPDFText_GetFontInfo(self.text_page, index, self.name, 128, self.flags)
        key = self.name.raw[: min(max(length - 1, 0), 127)] + b"%d" % (self.flags.value & _FIXED_PITCH)
        font = self.fonts.get(key)
        if font is None:
            name = key.decode("utf-8", "replace")
            bold = bool(_BOLD.search(name)) or self.raw.FPDFText_GetFontWeight(self.text_page, index) >= _BOLD_WEIGHT
            mono = bool(_MONO.search(name)) or bool(self.flags.value & _FIXED_PITCH)
            font = self.fonts[key] = _Font(bold, mono)
        return font


_LINE = re.compile(rf"[^\r\n{HYPHENS}]*(?:[{HYPHENS}](?:\r?\n)?|\r?\n|\r|$)")


def _physical_lines(text: str) -> list[str]:
    """Cut at line ends and after hyphen marks, where PDFium glues two printed lines; nothing is lost."""
    return [part for part in _LINE.findall(text) if part]


def _goes_on(before: Line, line: Line) -> bool:
    """Whether `line` stands right of `before` in the same printed line (after a superscript)."""
    size = max(before.size, line.size)
    near = -0.5 * size < line.x0 - before.x1 < 1.2 * size
    return near and abs(line.y - before.y) < 0.55 * size and not before.hyphen and before.turned == line.turned


def _is_next_cell(before: Line, line: Line) -> bool:
    """Whether `line` stands on the same baseline as `before`, far to the right: the next cell of a row."""
    size = max(before.size, line.size)
    far = line.x0 - before.x1 >= 1.2 * size
    return far and abs(line.y - before.y) < 0.3 * size and not (before.hyphen or before.turned or line.turned)


def _merged(before: Line, line: Line, *, between: str | None = None) -> Line:
    wide = is_wide(before.text[-1]) or is_wide(line.text[0]) or line.x0 - before.x1 < 0.15 * line.size
    main = before if len(before.text) >= len(line.text) else line
    return replace(
        before, text=before.text + (("" if wide else " ") if between is None else between) + line.text, x1=line.x1,
        size=main.size, bold=main.bold, mono=before.mono and line.mono, hyphen=line.hyphen,
        cells=before.cells + line.cells - (between is None),
    )  # fmt: skip
