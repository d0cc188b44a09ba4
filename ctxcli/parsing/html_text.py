"""From the tree of an HTML page to spaced text and its pieces."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxcli.model.document import BlockKind
from ctxcli.parsing.blocks import Piece, plain_title

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_DEPTH = 150
"""Nesting of elements that is followed; what lies deeper is kept as plain text."""
MAX_SPAN = 100
"""Rows or columns that one cell is taken to reach over."""
FORM = 400
"""Characters; a form with less text and no paragraph is a control, not content."""


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DROPPED = _names(
    "script style template noscript nav footer aside button select option svg canvas iframe object embed "
    "head title meta link audio video map input textarea rt rp rtc -comment -doctype"
)
_DROPPED_CLASS = re.compile(
    r"(?:^|\s)(?:sidebar\w*|toc\w*|table-of-contents|navheader|navfooter|navbar|nav|breadcrumbs?|headerlink|id_link|"
    r"anchor-link|header-anchor|hash-link|skip-link|visually-hidden|sr-only|footer|page-footer|related|cookie\S*|"
    r"mw-editsection|edit-link|copybtn)(?:\s|$)",
    re.IGNORECASE,
)
_DROPPED_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "complementary"})
_BLOCKS = _names(
    "address article blockquote body center dd details dialog div dl dt fieldset figcaption figure form header hgroup "
    "hr html legend li main menu ol p section summary tbody td tfoot th thead tr ul caption"
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_BREAK = "\x00"
_BREAKS = re.compile(f"[ ]?{_BREAK}[ ]?")
_ADMONITION = re.compile(
    r"(?:note|tip|info|hint|warning|caution|important|attention|danger|see also"
    r"|注意|提示|警告|说明|重要|小贴士|備註|注)[:：!！]?",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)


def is_dropped(node: "LexborNode") -> bool:
    """Whether an element is no content: scripts, navigation, hidden parts, tables of contents."""
    if node.tag in _DROPPED:
        return True
    if node.tag == "form":
        return len(node.text(deep=True)) < FORM and node.css_first("h1, h2, h3, p, pre") is None
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or attributes.get("role") in _DROPPED_ROLES:
        return True
    if (style := attributes.get("style")) and _HIDDEN_STYLE.search(style):
        return True
    names = attributes.get("class")
    return bool(names and _DROPPED_CLASS.search(names)) and node.tag not in {"body", "main", "article"}


class Writer:
    """Writes the text of elements; blocks are parted by blank lines, items and rows by line ends."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.pieces: list[Piece] = []
        self.headings: list[tuple[int, int, str, str]] = []
        self.anchors: dict[str, int] = {}
        self._ids: list[str] = []
        self._length = 0
        self._inline: list[str] = []
        self._kind: BlockKind = "prose"
        self._mark = ""
        self._pending_id = ""

    def walk(self, node: "LexborNode", depth: int = 0) -> None:
        """Write the children of `node`."""
        child = node.first_child
        number = _start_of(node)
        while child is not None:
            tag = child.tag or ""
            if tag == "-text":
                self._inline.append(child.text_content or "")
            elif not is_dropped(child):
                if tag == "li":
                    self._begin_item(f"{number}. " if number else "- ")
                    number += bool(number)
                self._element(child, tag, depth)
            child = child.next

    def flush(self, kind: BlockKind | None = None) -> int:
        """Write the inline text gathered so far as one block; returns its start, -1 if it is blank."""
        text = _BREAKS.sub("\n", _SPACE.sub(" ", "".join(self._inline))).strip(" \n")
        self._inline.clear()
        if not text:
            return -1
        kind, mark = kind or self._kind, self._mark
        self._kind, self._mark = "prose", ""
        return self._write(mark + text, kind)

    def _write(self, text: str, kind: BlockKind) -> int:
        if self.pieces:
            near = kind in {"item", "row"} and self.pieces[-1][2] in {"item", "row", "header_row"}
            gap = "\n" if near else "\n\n"
            self.parts.append(gap)
            self._length += len(gap)
        start = self._length
        for anchor in self._ids:
            self.anchors.setdefault(anchor, start)
        self._ids.clear()
        self.parts.append(text)
        self._length += len(text)
        self.pieces.append((start, self._length, kind))
        return start

    def _begin_item(self, mark: str) -> None:
        self.flush()
        self._kind, self._mark = "item", mark

    def _element(self, node: "LexborNode", tag: str, depth: int) -> None:
        if node.id:
            self._ids.append(node.id)
        if tag in _HEADINGS:
            self._heading(node, _HEADINGS[tag])
        elif tag == "br":
            self._inline.append(_BREAK)
        elif tag in {"pre", "listing", "xmp"}:
            self.flush()
            self._code(node)
        elif tag == "table":
            self.flush()
            self._table(node, depth)
        elif depth >= MAX_DEPTH:
            self._inline.append(f" {node.text(deep=True)} ")
        elif tag in _BLOCKS:
            self._block(node, tag, depth)
        else:
            if tag == "sup" and self._inline and self._inline[-1][-1:].isdigit():
                self._inline.append("^")
            self.walk(node, depth + 1)

    def _block(self, node: "LexborNode", tag: str, depth: int) -> None:
        if tag != "li":
            self.flush()
        if tag == "dt":
            self._kind = "item"
        self._pending_id = node.attributes.get("id") or self._pending_id
        self.walk(node, depth + 1)
        self.flush()
        if tag in {"li", "dt"}:
            self._kind, self._mark = "prose", ""

    def _heading(self, node: "LexborNode", level: int) -> None:
        self.flush()
        self._kind, self._mark = "prose", ""
        line = plain_title(inline_text(node).rstrip("¶# "))
        if _ADMONITION.fullmatch(line) and level > 1:
            self._write(line, "prose")
            return
        start = self._write(line, "heading") if line else -1
        anchor = node.attributes.get("id") or _inner_anchor(node) or self._pending_id
        self._pending_id = ""
        if line:
            self.headings.append((start, level, line, anchor))

    def _code(self, node: "LexborNode") -> None:
        text = node.text(deep=True).rstrip().lstrip("\n")
        if text.strip():
            self._write(text, "code")
            self._kind, self._mark = "prose", ""

    def _table(self, table: "LexborNode", depth: int) -> None:
        rows = _rows(table)
        if not rows or max(len(cells) for _, cells in rows) < 2:
            self.walk(table, depth + 1) if depth < MAX_DEPTH else self._inline.append(table.text(deep=True))
            self.flush()
            return
        caption = table.css_first("caption")
        if caption is not None and (title := plain_title(inline_text(caption))):
            self._write(title, "prose")
        for is_header, cells in rows:
            line = " | ".join(cells)
            if line.strip(" |"):
                self._write(line, "header_row" if is_header else "row")


def inline_text(node: "LexborNode") -> str:
    """All content of an element on one line."""
    found: list[str] = []
    _gather(node, found, 0)
    return _SPACE.sub(" ", "".join(found)).strip()


def _gather(node: "LexborNode", found: list[str], depth: int) -> None:
    child = node.first_child
    while child is not None:
        tag = child.tag or ""
        if tag == "-text":
            found.append(child.text_content or "")
        elif tag == "br":
            found.append(" ")
        elif not is_dropped(child):
            space = " " if tag in _BLOCKS or tag in {"pre", "table"} else ""
            found.append(space)
            if depth < MAX_DEPTH:
                _gather(child, found, depth + 1)
            found.append(space)
        child = child.next


def _rows(table: "LexborNode") -> list[tuple[bool, list[str]]]:
    """Whether it is a header, and the cells, of each row; none for a table that only lays out a page."""
    if len(table.css("table")) > 1 or table.css_first("h1, h2, h3, h4, h5, h6") is not None:
        return []
    rows: list[tuple[bool, list[str]]] = []
    above: dict[int, int] = {}
    for row in table.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in {"td", "th"}]
        parent = row.parent
        in_head = parent is not None and parent.tag == "thead"
        is_header = bool(cells) and (in_head or all(cell.tag == "th" for cell in cells))
        if cells:
            rows.append((is_header, _in_columns(cells, above)))
    return rows


def _in_columns(cells: Sequence["LexborNode"], above: dict[int, int]) -> list[str]:
    """The cells of a row, blank where one reaches over from its left or from `above` (column: rows still to come)."""
    shown: list[str] = []
    for cell in cells:
        _blank_below(shown, above)
        height, width = _span(cell, "rowspan"), _span(cell, "colspan")
        for column in range(len(shown), len(shown) + width) if height > 1 else ():
            above[column] = height - 1
        shown += [inline_text(cell), *([""] * (width - 1))]
    _blank_below(shown, above)
    return shown


def _blank_below(shown: list[str], above: dict[int, int]) -> None:
    while above.get(len(shown), 0) > 0:
        above[len(shown)] -= 1
        shown.append("")


def _span(cell: "LexborNode", name: str) -> int:
    span = cell.attributes.get(name) or ""
    return min(int(span), MAX_SPAN) if span.isascii() and span.isdigit() and len(span) < 6 and int(span) else 1


def _inner_anchor(heading: "LexborNode") -> str:
    target = heading.css_first("[id], a[name]")
    return (target.attributes.get("id") or target.attributes.get("name") or "") if target is not None else ""


def _start_of(node: "LexborNode") -> int:
    """The first number of an ordered list, 0 for other elements."""
    if node.tag != "ol":
        return 0
    start = node.attributes.get("start") or "1"
    return int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
