"""The text of one paragraph of a Word document as it stands now, and what hangs on it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxcli.parsing import ooxml_graphics
from ctxcli.parsing.docx_numbering import W, integer
from ctxcli.parsing.ooxml import Element, local

MAX_DEPTH = 200

_DELETED = frozenset({"del", "moveFrom", "instrText", "delText", "rPr", "pPr", "annotationRef", "Fallback", "rt"})
"""What is not read: deletions, field codes, properties, and how a word is pronounced (it would part the word)."""
_FORMULA = {"sup": "^", "den": "/"}
"""What stands between the parts of a formula where they are written on one line."""
_SYMBOL = {
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅",
    **dict(enumerate("ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", 0x41)),
    **dict(enumerate("αβχδεφγηιϕκλμνοπθρστυϖωξψζ", 0x61)),
    **dict(enumerate("ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…", 0xA1)),
    **dict(enumerate("ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", 0xC0)),
}  # fmt: skip
_WINGDINGS = {0x6F: "□", 0xA7: "▪", 0xA8: "☐", 0xE0: "→", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"}


@dataclass(slots=True)
class Paragraph:
    """The text of a paragraph, and what hangs on it: notes by kind and id, text boxes, relations of graphics."""

    text: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    graphics: list[str] = field(default_factory=list)
    font: str = ""
    raised: bool = False

    def add(self, text: str) -> None:
        """Add the text of a run; signs that a font draws in place of private characters become those they look like."""
        if any("\uf000" <= char <= "\uf0ff" for char in text):
            text = "".join(symbol(ord(char), self.font) if "\uf000" <= char <= "\uf0ff" else char for char in text)
        self.text.append(text)


def read(paragraph: Element, begun: Paragraph | None = None) -> Paragraph:
    """Gather the text of a paragraph as it stands now: insertions, not deletions, no field codes.

    It goes on with what has `begun` in a paragraph whose end is deleted.
    """
    found = begun or Paragraph()
    _collect(paragraph, found, 0)
    return found


def paragraphs(parent: Element, depth: int = 0) -> Iterator[Element]:
    """All paragraphs in a cell or a text box, those of tables in it too, not those of text boxes in paragraphs."""
    for child in parent:
        kind = local(child)
        if kind == "p":
            yield child
        elif kind == "AlternateContent" and depth < MAX_DEPTH:
            yield from paragraphs(choice(child), depth + 1)
        elif kind not in _DELETED and depth < MAX_DEPTH and not is_deleted_row(child):
            yield from paragraphs(child, depth + 1)


def symbol(code: int, font: str) -> str:
    """The character that a sign of a symbol font looks like; "" where that is not known."""
    if not 0xF000 <= code <= 0xF0FF:
        return chr(code) if 0x20 <= code < 0xD800 else ""
    if font.startswith("Wingdings"):
        return _WINGDINGS.get(code - 0xF000, "")
    plain = chr(code - 0xF000) if code < 0xF07F else ""
    return _SYMBOL.get(code - 0xF000, plain)


def choice(alternate: Element) -> Element:
    """One of the equal forms of a content: the first choice, else the fallback."""
    for child in alternate:
        if local(child) == "Choice":
            return child
    return next((child for child in alternate if local(child) == "Fallback"), alternate)


def is_on(run: Element, name: str) -> bool:
    """Whether a run has a property that is on or off."""
    mark = run.find(f"{W}rPr/{W}{name}")
    return mark is not None and mark.get(f"{W}val", "1") not in {"0", "false"}


def is_deleted_row(element: Element) -> bool:
    """Whether this is a table row that a tracked change has deleted."""
    return local(element) == "tr" and element.find(f"{W}trPr/{W}del") is not None


def span(cell: Element) -> int:
    """How many columns of the grid a cell is wide."""
    width = cell.find(f"{W}tcPr/{W}gridSpan")
    return max(1, integer(width.get(f"{W}val"), 1)) if width is not None else 1


def goes_on(cell: Element) -> bool | None:
    """Whether a cell goes on the one above it (False: it begins such a run); None where it stands for itself."""
    merged = cell.find(f"{W}tcPr/{W}vMerge")
    return None if merged is None else merged.get(f"{W}val", "continue") != "restart"


def _collect(element: Element, found: Paragraph, depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    for child in element:
        kind = local(child)
        if kind == "t":
            found.add(child.text or "")
        elif kind == "sym":
            code = child.get(f"{W}char", "")
            found.text.append(symbol(hexadecimal(code), child.get(f"{W}font", "")))
        elif kind in {"tab", "ptab"}:
            found.text.append(" ")
        elif kind in {"br", "cr"}:
            found.text.append("\n" if child.get(f"{W}type") is None else " ")
        elif kind == "noBreakHyphen":
            found.text.append("-")
        elif kind in {"footnoteReference", "endnoteReference"}:
            found.notes.append((kind.removesuffix("Reference"), child.get(f"{W}id", "")))
        elif kind == "txbxContent":
            found.boxes.append(child)
        elif pointer := ooxml_graphics.pointer(child):
            found.graphics.append(pointer)
        elif kind == "AlternateContent":
            _collect(choice(child), found, depth + 1)
        elif kind == "r":
            _run(child, found, depth)
        elif kind not in _DELETED:
            found.text.append(_FORMULA[kind] if kind in _FORMULA and "".join(child.itertext()).strip() else "")
            _collect(child, found, depth + 1)


def _run(run: Element, found: Paragraph, depth: int) -> None:
    """A run; raised figures behind a figure are an exponent (10^9), which their size alone tells on paper."""
    if is_on(run, "vanish"):
        return
    fonts = run.find(f"{W}rPr/{W}rFonts")
    found.font = fonts.get(f"{W}ascii", "") if fonts is not None else ""
    place = run.find(f"{W}rPr/{W}vertAlign")
    raised = place is not None and place.get(f"{W}val") == "superscript"
    before = next((text[-1] for text in reversed(found.text) if text), "")
    if raised and not found.raised and before.isdigit() and run.find(f"{W}t") is not None:
        found.text.append("^")
    found.raised = raised
    _collect(run, found, depth + 1)


def hexadecimal(code: str) -> int:
    """The number that is written with the base 16; 0 for other text."""
    try:
        return int(code, 16)
    except ValueError:
        return 0
