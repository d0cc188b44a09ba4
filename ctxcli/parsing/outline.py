"""AsciiDoc, Org, LaTeX, MediaWiki and Textile: the headings, code, tables and lists that their marks set apart."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ctxcli.model.document import BlockKind
from ctxcli.parsing.blocks import Piece, plain_title, with_clauses

Heading = tuple[int, int, str, str]
"""Start, level, heading line and anchor, as `nest` takes them."""

_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How lines begin: `heading` gives level and title; a fence is its beginning, its end and what it holds.

    The end of a fence may name what its beginning has matched (``{}``). `title` is the document's own;
    `underlines` are the signs below titles, by level.
    """

    heading: re.Pattern[str]
    level: Callable[[re.Match[str]], int]
    fences: tuple[tuple[re.Pattern[str], str, BlockKind], ...] = ()
    meta: re.Pattern[str] = _NOTHING
    item: re.Pattern[str] = _NOTHING
    row: re.Pattern[str] = _NOTHING
    rule: re.Pattern[str] = _NOTHING
    title: re.Pattern[str] = _NOTHING
    underlines: str = ""


def _length(match: re.Match[str]) -> int:
    return len(match[1])


def _number(match: re.Match[str]) -> int:
    return int(match[1])


_LATEX = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")

_ASCIIDOC = _Dialect(
    heading=re.compile(r"(={1,6})[ \t]+(?P<title>\S.*)"),
    level=_length,
    fences=(
        (re.compile(r"(-{4,}|\.{4,}|`{3,}|\+{4,})\w*[ \t]*"), r"{}[ \t]*", "code"),
        (re.compile(r"(/{4,})[ \t]*"), r"{}[ \t]*", "meta"),
    ),
    meta=re.compile(
        r":[\w!-]+:.*|\[[^\]]*\][ \t]*|\[\[.*\]\]|//(?!/).*|(?:={4,}|\*{4,}|_{4,}|--|\|={3,}|'{3,}|<{3})[ \t]*"
    ),
    item=re.compile(r"[ \t]*(?:\*{1,5}|-|\.{1,5}|[0-9]+\.|[a-z]\.|<[0-9.]+>)[ \t]+\S"),
    row=re.compile(r"[^|\n]{0,10}\|.*"),
    underlines="=-~^+",
)  # fmt: skip
_ORG = _Dialect(
    heading=re.compile(
        r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED|STARTED|HOLD)[ \t]+)?(?:\[#[A-Z]\][ \t]+)?"
        r"(?P<title>\S.*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*"
    ),
    level=_length,
    fences=(
        (re.compile(r"[ \t]*#\+begin_(src|example|export|comment)\b.*", re.IGNORECASE), r"[ \t]*#\+end_{}\b.*", "code"),
        (re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK|DRAWER):[ \t]*", re.IGNORECASE), r"[ \t]*:END:", "meta"),
    ),
    meta=re.compile(r"[ \t]*#\+.*|[ \t]*#(?:[ \t].*)?|(?:SCHEDULED|DEADLINE|CLOSED):.*"),
    item=re.compile(r"[ \t]*(?:[-+]|[0-9]+[.)])[ \t]+\S|[ \t]+\*[ \t]+\S"),
    row=re.compile(r"[ \t]*\|.*"),
    rule=re.compile(r"[ \t]*\|-[-+|]*[ \t]*"),
    title=re.compile(r"#\+title:[ \t]*(.*)", re.IGNORECASE),
)
_TEX = _Dialect(
    heading=re.compile(
        rf"[ \t]*\\({'|'.join(_LATEX)})\*?(?:\[[^\]]*\])?\{{(?P<title>.+?)\}}[ \t]*(?:\\label\{{.*?\}})?[ \t]*"
    ),
    level=lambda match: _LATEX.index(match[1]) + 1,
    fences=((re.compile(r"[ \t]*\\begin\{(verbatim|lstlisting|minted)\*?\}.*"), r".*\\end\{{{}\*?\}}.*", "code"),),
    meta=re.compile(
        r"[ \t]*%.*|[ \t]*\\(?:documentclass|usepackage|begin|end|label|maketitle|tableofcontents|title)\b.*"
    ),
    item=re.compile(r"[ \t]*\\item\b"),
    title=re.compile(r"[ \t]*\\title\{(.+?)\}"),
)  # fmt: skip
_WIKI = _Dialect(
    heading=re.compile(r"(={1,6})[ \t]*(?P<title>[^=\s](?:.*\S)?)[ \t]*\1[ \t]*"),
    level=_length,
    fences=((re.compile(r"<(pre|nowiki|syntaxhighlight|source)\b.*", re.IGNORECASE), r".*</{}>.*", "code"),),
    meta=re.compile(r"\{\|.*|\|\}.*|\|-.*|\[\[Category:.*|__[A-Z]+__"),
    item=re.compile(r"[*#;:]+[ \t]*\S"),
    row=re.compile(r"[|!].*"),
)
_TEXTILE = _Dialect(
    heading=re.compile(r"h([1-6])(?:\([^)]*\))?\.[ \t]+(?P<title>\S.*)"),
    level=_number,
    item=re.compile(r"[*#]+[ \t]+\S"),
    row=re.compile(r"\|.*"),
)
_DIALECTS = {
    ".adoc": _ASCIIDOC, ".asciidoc": _ASCIIDOC, ".org": _ORG, ".tex": _TEX, ".wiki": _WIKI, ".textile": _TEXTILE,
}  # fmt: skip


def read(text: str, *, name: str) -> tuple[list[Heading], list[Piece], str] | None:
    """Headings, pieces and title of a text whose file name tells its marks; None where it has no heading of its own."""
    dialect = _DIALECTS.get(PurePath(name.lower()).suffix)
    if dialect is None:
        return None
    reader = _Reader(text, dialect)
    reader.run()
    if not reader.headings:
        return None
    first = reader.headings[0]
    opens = not text[: first[0]].strip() and all(level > first[1] for _, level, _, _ in reader.headings[1:])
    headings, pieces = with_clauses(text, reader.headings, reader.pieces)
    return headings, pieces, reader.title or (first[2] if opens else "")


class _Reader:
    """Goes through the lines once; each method takes what begins at a line and returns the line after it."""

    def __init__(self, text: str, dialect: _Dialect) -> None:
        self.lines = text.split("\n")
        self.dialect = dialect
        self.headings: list[Heading] = []
        self.pieces: list[Piece] = []
        self.title = ""
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def run(self) -> None:
        """Read all lines."""
        at = 0
        while at < len(self.lines):
            at = self._next(at)

    def _add(self, first: int, after: int, kind: BlockKind) -> int:
        self.pieces.append((self._starts[first], self._starts[after] - 1, kind))
        return after

    def _next(self, at: int) -> int:
        line = self.lines[at]
        if not line.strip():
            return at + 1
        if heading := self.dialect.heading.fullmatch(line):
            self.headings.append((self._starts[at], self.dialect.level(heading), plain_title(heading["title"]), ""))
            return self._add(at, at + 1, "heading")
        if level := self._underlined(at):
            self.headings.append((self._starts[at], level, plain_title(line), ""))
            return self._add(at, at + 2, "heading")
        for begins, ends, kind in self.dialect.fences:
            if found := begins.fullmatch(line):
                return self._add(at, self._end_of_fence(at, found, ends), kind)
        if named := self.dialect.title.match(line):
            self.title = self.title or plain_title(named[1])
        if self.dialect.rule.fullmatch(line) or self.dialect.meta.fullmatch(line):
            return self._add(at, at + 1, "meta")
        if self.dialect.row.fullmatch(line):
            return self._table(at)
        kind = "item" if self.dialect.item.match(line) else "prose"
        return self._add(at, self._end_of_run(at + 1), kind)

    def _underlined(self, at: int) -> int:
        """The level of a title in two lines as AsciiDoc has it, 0 if this is none."""
        if not self.dialect.underlines or at + 1 == len(self.lines) or (at and self.lines[at - 1].strip()):
            return 0
        line, below = self.lines[at].rstrip(), self.lines[at + 1].rstrip()
        fits = len(below) > 3 and below == below[0] * len(below) and abs(len(line) - len(below)) < 3
        is_text = line[0].isalnum() and not line.endswith((":", "."))
        return self.dialect.underlines.find(below[0]) + 1 if fits and is_text else 0

    def _end_of_fence(self, at: int, begun: re.Match[str], ends: str) -> int:
        mark = re.escape(begun[1]) if begun.re.groups else ""
        closes = re.compile(ends.format(mark), re.IGNORECASE)
        if begun.re.groups and closes.fullmatch(self.lines[at], begun.end(1)):
            return at + 1
        return next((n + 1 for n in range(at + 1, len(self.lines)) if closes.fullmatch(self.lines[n])), len(self.lines))

    def _table(self, at: int) -> int:
        """Rows that follow each other; the first names the columns where a rule or a blank line sets it apart."""
        after = at
        while after < len(self.lines) and self._is_row(after):
            after += 1
        ruled = after < len(self.lines) and self.dialect.rule.fullmatch(self.lines[after])
        opened = at > 0 and self.lines[at - 1].startswith("|===")
        single = after == at + 1
        is_header = single and bool(ruled or (opened and after < len(self.lines) and not self.lines[after].strip()))
        for first, end in self._rows(at, after):
            self._add(first, end, "header_row" if is_header else "row")
        return after

    def _is_row(self, at: int) -> bool:
        line = self.lines[at]
        other = self.dialect.rule.fullmatch(line) or self.dialect.meta.fullmatch(line)
        return bool(line.strip() and self.dialect.row.fullmatch(line) and not other)

    def _rows(self, at: int, after: int) -> Iterator[tuple[int, int]]:
        """A row for each line; AsciiDoc may also give a line to each cell, and then the lines together are the row."""
        if self.dialect is _ASCIIDOC and all(line.count("|") == 1 for line in self.lines[at:after]):
            yield at, after
            return
        yield from ((line, line + 1) for line in range(at, after))

    def _end_of_run(self, at: int) -> int:
        while at < len(self.lines) and self.lines[at].strip() and not self._begins(at):
            at += 1
        return at

    def _begins(self, at: int) -> bool:
        line, dialect = self.lines[at], self.dialect
        if dialect.item.match(line) or any(begins.fullmatch(line) for begins, _, _ in dialect.fences):
            return True
        marks = (dialect.heading, dialect.meta, dialect.rule, dialect.row)
        return any(mark.fullmatch(line) for mark in marks)
