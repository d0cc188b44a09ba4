"""CommonMark with tables, footnotes, front matter and the dialects of notes and site generators."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ctxcli.model.document import Block, BlockKind, Document
from ctxcli.parsing.blocks import (
    Clause,
    Piece,
    clauses_between,
    cover,
    encoding_warnings,
    find_clauses,
    plain_title,
    stem,
)
from ctxcli.parsing.sections import nest
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "markdown/1"

Heading = tuple[int, int, str, str]
"""Start, level, heading line and anchor, as `nest` takes them."""

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n(?P<body>(?:.*\n)*?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)")
_TITLE_LINE = re.compile(r"^title[ \t]*[:=][ \t]*(.*)$", re.MULTILINE)
_HTML_HEADING = re.compile(r"\s*<h([1-6])\b([^>]*)>(.*?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_ANCHOR = re.compile(r"""<\w+\b[^<>]*?\b(?:id|name)\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>|<[!?][^<>]*>", re.DOTALL)
_NEVER_SHOWN = re.compile(r"\s*<(?:script|style|!--|!DOCTYPE|\?)", re.IGNORECASE)
_SPECIAL_LINE = re.compile(
    rb"^[ \t>]*(?::{3,}.*|(?:import|export)[ \t]+.+(?:from[ \t]+)?['\"].+['\"];?[ \t]*)$", re.MULTILINE
)
_NOT_QUOTABLE = re.compile(r"[ \t>]*(?:\[[^\]\n]+\]:.*|\[![^\]\n]+\].*|[-*+]|[0-9]{1,9}[.)]|[\"'(].*)?\Z")
_COMMENT_THEN_TEXT = re.compile(r"\s*<!--(?s:.*?)-->\s*[^\s<]")
_BLANK = b" \t\n"
_MARK = re.compile(rb"\s*(?:[-*+]|[0-9]{1,9}[.)])\s*(?:\[[ xX]\]\s*)?")
MAX_HEADING = 300
"""Characters; what is longer is a paragraph that happens to stand over a line of dashes."""

_Handler = Callable[[int, int, Any], None]
_Event = tuple[Any, dict[str, int]]


def parse(data: bytes, *, name: str) -> Document:
    """Parse a Markdown file; line n of the text is line n of the file."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    markup = read(text)
    title = markup.title or next((heading for _, level, heading, _ in markup.headings if level == 1), "")
    return Document(
        format="markdown",
        title=title or stem(name),
        text=text,
        sections=nest(markup.headings),
        blocks=markup.blocks,
        has_lines=True,
        encoding=decoded.encoding,
        title_from_name=not title,
        warnings=encoding_warnings(decoded),
    )


@dataclass(frozen=True, slots=True)
class Markup:
    """What Markdown text holds; `title` is that of the front matter, "" if it names none."""

    title: str
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]


def read(text: str) -> Markup:
    """Headings and blocks of Markdown text (LF line ends); blocks cover all non-blank text."""
    matter = _FRONT_MATTER.match(text)
    base = matter.end() if matter else 0
    body = text[base:] if base else text
    raw = body.encode()
    reader = _Reader(raw, _clauses_in_bytes(body))
    reader.run(body)
    at = _Offsets(raw, base)
    pieces = [(at(start), at(end), kind) for start, end, kind in reader.pieces]
    headings = tuple((at(start), level, line, anchor) for start, level, line, anchor in reader.headings)
    front: list[Piece] = [(0, base, "meta")]
    title = _front_title(matter["body"]) if matter else ""
    return Markup(title, headings, cover(text, front + pieces, gap_kind=_gap_kind))


def _clauses_in_bytes(text: str) -> list[Clause]:
    return [replace(clause, start=len(text[: clause.start].encode())) for clause in find_clauses(text)]


def _gap_kind(gap: str) -> BlockKind:
    """Link definitions, callout names and bare markers lie between the blocks of CommonMark."""
    return "meta" if all(_NOT_QUOTABLE.match(line) for line in gap.split("\n")) else "prose"


def _front_title(front_matter: str) -> str:
    """The title, read without YAML so that a broken block still gives it; null and empty are none."""
    match = _TITLE_LINE.search(front_matter)
    value = match[1].strip() if match else ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1].strip()
    elif " #" in value:
        value = value.split(" #", 1)[0].strip()
    return "" if value.lower() in {"", "null", "~", "none", "|", ">"} else plain_title(value)


class _Offsets:
    """Turns byte offsets of UTF-8 text into character offsets, `base` added; quickest in ascending order."""

    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, raw: bytes, base: int) -> None:
        self._raw = raw
        self._ascii = raw.isascii()
        self._base = base
        self._last = (0, base)

    def __call__(self, offset: int) -> int:
        if self._ascii:
            return self._base + offset
        known, character = self._last if offset >= self._last[0] else (0, self._base)
        character += len(self._raw[known:offset].translate(None, self._CONTINUATION))
        self._last = (offset, character)
        return character


class _Reader:
    """Collects headings and pieces, in byte offsets, from the events of the CommonMark parser.

    `_item` is where a list item began whose text has not been added yet, -1 if there is none:
    in a tight list the text of an item is no paragraph of its own.
    """

    def __init__(self, raw: bytes, clauses: Sequence[Clause]) -> None:
        self.raw = raw
        self.headings: list[Heading] = []
        self.pieces: list[Piece] = []
        self._clauses = clauses
        self._special = any(sign in raw for sign in (b":::", b"import ", b"export "))
        self._level = self._level_now = 0
        self._anchor = self._heading_id = ""
        self._end = 0
        self._item = self._header = -1
        self._nested = self._quoted = 0
        self._is_section = True
        self._parts: list[str] | None = None

    def add(self, start: int, end: int, kind: BlockKind) -> int:
        """Add a piece from the start of its line on, so that list and quote marks belong to it; returns its start."""
        last, raw = self._end, self.raw
        while end > start and raw[end - 1] in _BLANK:
            end -= 1
        start = max(last, raw.rfind(b"\n", last, start) + 1) if start > last else last
        if start < end:
            self.pieces.append((start, end, kind))
            self._end = end
        return start

    def run(self, body: str) -> None:
        """Read the text whose bytes are `raw`."""
        starts, ends = self._starts(), self._ends()
        for event, span in _events(body):
            if event.__class__ is str:
                self._sign(event, span)
            elif "Start" in event:
                tag = event["Start"]
                name = tag if tag.__class__ is str else next(iter(tag))
                if name in starts:
                    starts[name](span["start"], span["end"], tag)
            elif "End" in event:
                tag = event["End"]
                name = tag if tag.__class__ is str else next(iter(tag))
                if name in ends:
                    ends[name](span["start"], span["end"], tag)
            elif self._parts is not None:
                self._inline(event)

    def _starts(self) -> dict[str, _Handler]:
        return {
            "Paragraph": self._paragraph,
            "Heading": self._start_heading,
            "CodeBlock": self._code,
            "HtmlBlock": self._html,
            "Item": self._start_item,
            "List": self._container,
            "BlockQuote": self._start_quote,
            "FootnoteDefinition": self._start_quote,
            "Table": self._container,
            "TableHead": self._start_header,
            "TableRow": self._row,
        }

    def _ends(self) -> dict[str, _Handler]:
        return {
            "Heading": self._end_heading,
            "Item": self._end_item,
            "BlockQuote": self._end_quote,
            "FootnoteDefinition": self._end_quote,
            "Table": self._end_table,
        }

    def _sign(self, event: str, span: dict[str, int]) -> None:
        if event == "Rule":
            self._flush_item(span["start"])
            self.add(span["start"], span["end"], "meta")
        elif self._parts is not None and event in {"SoftBreak", "HardBreak"}:
            self._parts.append(" ")

    def _inline(self, event: dict[str, str]) -> None:
        for verb, value in event.items():
            if verb in {"Text", "Code"} and self._parts is not None:
                self._parts.append(value)
            elif verb == "InlineHtml" and (found := _ANCHOR.match(value)):
                self._heading_id = self._heading_id or found[1]

    def _flush_item(self, end: int) -> bool:
        """Add the text of the open item up to `end`; False if there is only its mark."""
        start, self._item = self._item, -1
        if start < 0 or _MARK.fullmatch(self.raw, start, end):
            return False
        self._add_text(start, end, "item")
        return True

    def _paragraph(self, start: int, end: int, _tag: Any) -> None:
        first_of_item = self._item >= 0
        begun = self._flush_item(start)
        if self.raw[start : start + 1] == b"<" and not _TAG.sub("", source := self._source(start, end)).strip():
            self._add_html_rest(start, end, source)
            return
        self._add_text(start, end, "item" if first_of_item and not begun else "prose")

    def _code(self, start: int, end: int, _tag: Any) -> None:
        self._flush_item(start)
        self.add(start, end, "code")

    def _container(self, start: int, _end: int, _tag: Any) -> None:
        self._flush_item(start)

    def _start_item(self, start: int, _end: int, _tag: Any) -> None:
        self._flush_item(start)
        self._item = start
        self._nested += 1

    def _end_item(self, _start: int, end: int, _tag: Any) -> None:
        self._flush_item(end)
        self._nested -= 1

    def _start_quote(self, start: int, _end: int, _tag: Any) -> None:
        self._flush_item(start)
        self._nested += 1
        self._quoted += 1

    def _end_quote(self, _start: int, _end: int, _tag: Any) -> None:
        self._nested -= 1
        self._quoted -= 1

    def _start_header(self, start: int, _end: int, _tag: Any) -> None:
        self._header = start

    def _row(self, start: int, end: int, _tag: Any) -> None:
        self._close_header(start)
        self.add(start, end, "row")

    def _end_table(self, _start: int, end: int, _tag: Any) -> None:
        self._close_header(end)

    def _close_header(self, end: int) -> None:
        """The header row takes the line of dashes below it, so that a table has no holes."""
        if self._header >= 0:
            self.add(self._header, end, "header_row")
        self._header = -1

    def _start_heading(self, start: int, _end: int, tag: Any) -> None:
        in_item = self._item >= 0
        begins_item = not self._flush_item(start) and in_item
        self._is_section = not begins_item and not self._quoted
        self._level_now = int(tag["Heading"]["level"][1:])
        self._heading_id = tag["Heading"]["id"] or ""
        self._parts = []

    def _end_heading(self, start: int, end: int, _tag: Any) -> None:
        line = plain_title("".join(self._parts or ()))
        self._parts = None
        anchor = self._heading_id or self._anchor
        self._anchor = ""
        if not self._is_section or not line or len(line) > MAX_HEADING:
            self.add(start, end, "prose" if line else "meta")
            return
        self._section(self.add(start, end, "heading"), self._level_now, line, anchor)

    def _section(self, start: int, level: int, line: str, anchor: str) -> None:
        self.headings.append((start, level, line, anchor))
        self._level = level

    def _source(self, start: int, end: int) -> str:
        return self.raw[start:end].decode()

    def _html(self, start: int, end: int, _tag: Any) -> None:
        self._flush_item(start)
        source = self._source(start, end)
        if _NEVER_SHOWN.match(source) and not _COMMENT_THEN_TEXT.match(source):
            self.add(start, end, "meta")
            return
        heading = _HTML_HEADING.match(source)
        if heading and not self._nested and (line := plain_title(_TAG.sub(" ", heading[3]))):
            found = _ANCHOR.search(heading[0])
            head_end = start + len(heading[0].encode())
            self._section(self.add(start, head_end, "heading"), int(heading[1]), line, found[1] if found else "")
            start = head_end
            source = self._source(start, end)
        self._add_html_rest(start, end, source)

    def _add_html_rest(self, start: int, end: int, source: str) -> None:
        shown = _TAG.sub("", source).strip()
        if not shown and (found := _ANCHOR.search(source)):
            self._anchor = found[1]
        self.add(start, end, "prose" if shown else "meta")

    def _add_text(self, start: int, end: int, kind: BlockKind) -> None:
        """Add a paragraph, parted at articles of law and at lines of site generators."""
        if self._special:
            for match in _SPECIAL_LINE.finditer(self.raw, start, end):
                self._add_articles(start, match.start(), kind)
                self.add(match.start(), match.end(), "meta")
                start = match.end()
        self._add_articles(start, end, kind)

    def _add_articles(self, start: int, end: int, kind: BlockKind) -> None:
        articles = () if self._nested else clauses_between(self._clauses, start, end)
        for article in articles:
            self.add(start, article.start, kind)
            start = article.start
            self.headings.append((start, self._level + 1, article.heading, ""))
            if article.alone:
                line_end = self.raw.find(b"\n", start, end)
                head_end = line_end if line_end >= 0 else end
                self.add(start, head_end, "heading")
                start = head_end
        self.add(start, end, kind)


def _events(body: str) -> Iterator[_Event]:
    from pyromark import Markdown, Options

    options = (
        Options.ENABLE_TABLES
        | Options.ENABLE_FOOTNOTES
        | Options.ENABLE_HEADING_ATTRIBUTES
        | Options.ENABLE_WIKILINKS
        | Options.ENABLE_GFM
    )
    return cast(Iterator[_Event], Markdown(options=options).events_with_range(body, merge_text=True))
