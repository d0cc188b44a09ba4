"""reStructuredText: adorned titles, directives, literal blocks, tables, field lists and PEP headers."""

import re
from itertools import pairwise

from ctxcli.model.document import BlockKind, Document
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, plain_title, stem
from ctxcli.parsing.sections import nest
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "rst/2"

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*")
_HEADER_FIELD = re.compile(r"[A-Z][A-Za-z-]*:(?:[ \t]|$)")
_DIRECTIVE = re.compile(r"[ \t]*\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w:.+-]*?)::(?:[ \t]+(.*))?$")
_TARGET = re.compile(r"[ \t]*(?:\.\.[ \t]+)?_(?:`([^`]+)`|([^:\n]+))?:(?:[ \t]|$)|[ \t]*(?:\.\.[ \t]+__:?|__)[ \t]")
_FOOTNOTE = re.compile(r"[ \t]*\.\.[ \t]+\[[^\]]+\][ \t]")
_EXPLICIT = re.compile(r"[ \t]*\.\.(?:[ \t]|$)")
_OPTION = re.compile(r"[ \t]+:[A-Za-z][\w -]*:")
_FIELD = re.compile(r"[ \t]*:[A-Za-z][^:\n]{0,60}:(?:[ \t]|$)")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+•‣⁃][ \t]+|(?:[0-9]{1,3}|#|[A-Za-z])[.)][ \t]+|\((?:[0-9]{1,3}|#|[A-Za-z])\)[ \t]+)(?=\S)"
)
_SIMPLE_BORDER = re.compile(r"[ \t]*=+(?:[ \t]+=+)+[ \t]*")
_SIMPLE_SPAN = re.compile(r"[ \t]*-+(?:[ \t]+-+)*[ \t]*")
_GRID_BORDER = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*")
_HEADER_ROWS = re.compile(r"[ \t]+:header-rows:[ \t]*([0-9]{1,2})[ \t]*$")
_LIST_ROW = re.compile(r"[ \t]+[*+-][ \t]+[*+-](?:[ \t]|$)")
_CODE = re.compile(r"code|code-block|sourcecode|parsed-literal|literalinclude|doctest|testcode|testoutput|math|prompt")
_HIDDEN = re.compile(
    r"toctree|contents|image|include|highlight|raw|index|meta|sectnum|default-role|role|currentmodule|module|"
    r"target-notes|tabularcolumns|replace|unicode|canonical-[\w-]+"
)
_INLINE = (
    (re.compile(r":[\w:+.-]+:`([^`<]*?)(?:\s*<[^>]*>)?`"), r"\1"),
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r"`([^`<]+?)(?:\s*<[^>]*>)?`_{0,2}"), r"\1"),
    (re.compile(r"\*{1,2}([^*]+)\*{1,2}"), r"\1"),
    (re.compile(r"\|([^|]+)\|_?"), r"\1"),
    (re.compile(r"(?<=\w)_(?=\s|$)"), ""),
    (re.compile(r"\\(\S)"), r"\1"),
)


def parse(data: bytes, *, name: str) -> Document:
    """Parse a reStructuredText file; line n of the text is line n of the file."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    reader = _Reader(text)
    reader.run()
    title = reader.title or next((line for _, level, line, _ in reader.headings if level == 1), "")
    return Document(
        format="rst",
        title=title or stem(name),
        text=text,
        sections=nest(reader.headings),
        blocks=cover(text, reader.pieces),
        has_lines=True,
        encoding=decoded.encoding,
        title_from_name=not title,
        warnings=encoding_warnings(decoded),
    )


class _Reader:
    """Goes through the lines once; each method takes what begins at a line and returns the line after it."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.headings: list[tuple[int, int, str, str]] = []
        self.pieces: list[Piece] = []
        self.title = ""
        self._styles: dict[tuple[str, bool], int] = {}
        self._anchor = ""
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def run(self) -> None:
        """Read all lines."""
        at = self._header()
        while at < len(self.lines):
            at = self._next(at)

    def _add(self, first: int, after: int, kind: BlockKind) -> None:
        if first < after:
            self.pieces.append((self._starts[first], self._starts[after] - 1, kind))

    def _header(self) -> int:
        """The header fields of a PEP."""
        at = 0
        if not self.lines or not _HEADER_FIELD.match(self.lines[0]):
            return 0
        while at < len(self.lines) and self.lines[at].strip():
            after = self._indented(at + 1, 0, blanks=False)
            self._add(at, after, "item")
            if self.lines[at].startswith("Title:"):
                self.title = plain_title(" ".join(self.lines[at:after]).removeprefix("Title:"))
            at = after
        return at

    def _next(self, at: int) -> int:
        line = self.lines[at]
        if not line.strip():
            return at + 1
        if _EXPLICIT.match(line) or _TARGET.match(line):
            return self._explicit(at)
        if _GRID_BORDER.fullmatch(line):
            return self._grid(at)
        if _SIMPLE_BORDER.fullmatch(line):
            return self._simple_table(at)
        if not line[0].isspace() and (after := self._section(at)):
            return after
        if line.lstrip().startswith(">>> "):
            after = self._paragraph_end(at)
            self._add(at, after, "code")
            return after
        if _ITEM.match(line) or _FIELD.match(line):
            return self._items(at)
        return self._text(at, self._paragraph_end(at), "prose")

    def _text(self, at: int, after: int, kind: BlockKind) -> int:
        """A paragraph or item, with the literal block that follows it if it ends in ``::``."""
        last = self.lines[after - 1].rstrip()
        self._anchor = ""
        self._add(at, after, "meta" if last.strip() == "::" and after == at + 1 else kind)
        return self._literal(after, _indent(self.lines[at])) if last.endswith("::") else after

    def _literal(self, at: int, indent: int) -> int:
        while at < len(self.lines) and not self.lines[at].strip():
            at += 1
        after = self._indented(at, indent)
        self._add(at, after, "code")
        return after

    def _items(self, at: int) -> int:
        """One item, up to a blank line or to the next item."""
        after = at + 1
        while after < len(self.lines) and self.lines[after].strip():
            if _ITEM.match(self.lines[after]) or _FIELD.match(self.lines[after]):
                break
            after += 1
        return self._text(at, after, "item")

    def _paragraph_end(self, at: int) -> int:
        while at < len(self.lines) and self.lines[at].strip():
            at += 1
        return at

    def _indented(self, at: int, indent: int, *, blanks: bool = True) -> int:
        """The line after those from `at` on that are indented deeper; blank lines between belong to them."""
        after = at
        while at < len(self.lines):
            line = self.lines[at]
            if not line.strip():
                if not blanks:
                    break
            elif _indent(line) <= indent:
                break
            else:
                after = at + 1
            at += 1
        return after

    def _section(self, at: int) -> int:
        """A title with its adornments; 0 if there is none here."""
        lines = self.lines
        here = _ADORNMENT.fullmatch(lines[at])
        if here:
            is_title = at + 2 < len(lines) and lines[at + 1].strip() and not _ADORNMENT.fullmatch(lines[at + 1])
            under = _ADORNMENT.fullmatch(lines[at + 2]) if is_title else None
            if under and under[1] == here[1] and len(lines[at]) >= 3:
                return self._heading(at, lines[at + 1], here[1], over=True)
            if len(lines[at].rstrip()) >= 4 and (at + 1 == len(lines) or not lines[at + 1].strip()):
                self._add(at, at + 1, "meta")
                return at + 1
            return 0
        under = _ADORNMENT.fullmatch(lines[at + 1]) if at + 1 < len(lines) else None
        if not under or len(lines[at + 1].rstrip()) < min(4, len(lines[at].rstrip())):
            return 0
        return self._heading(at, lines[at], under[1], over=False)

    def _heading(self, at: int, title: str, character: str, *, over: bool) -> int:
        level = self._styles.setdefault((character, over), len(self._styles) + 1)
        after = at + (3 if over else 2)
        self._add(at, after, "heading")
        self.headings.append((self._starts[at], level, plain(title), self._anchor))
        self._anchor = ""
        return after

    def _explicit(self, at: int) -> int:
        line = self.lines[at]
        if target := _TARGET.match(line.replace(".. ", "", 1) if _EXPLICIT.match(line) else line):
            internal = not line[line.rfind(":") + 1 :].strip()
            self._anchor = ((target[1] or target[2] or "").strip() if internal else "") or self._anchor
            self._add(at, at + 1, "meta")
            return at + 1
        if directive := _DIRECTIVE.match(line):
            return self._directive(at, directive[1].lower(), directive[2] or "")
        after = self._indented(at + 1, _indent(line))
        if _FOOTNOTE.match(line):
            after = max(at + 1, self._indented(at + 1, _indent(line), blanks=False))
            self._add(at, after, "prose")
            return after
        self._add(at, max(after, at + 1), "meta")
        return max(after, at + 1)

    def _directive(self, at: int, name: str, argument: str) -> int:
        indent = _indent(self.lines[at])
        after = max(at + 1, self._indented(at + 1, indent))
        if _HIDDEN.fullmatch(name):
            self._add(at, after, "meta")
            return after
        body = at + 1
        while body < after and _OPTION.match(self.lines[body]):
            body += 1
        if _CODE.fullmatch(name):
            self._add(at, body, "meta")
            return self._literal(body, indent) if body < after else body
        self._add(at, body, "prose" if argument.strip() else "meta")
        if name == "csv-table":
            for row in range(body, after):
                self._add(row, row + 1, "row")
            return after
        if name == "list-table":
            return self._list_table(at, body, after)
        return body

    def _list_table(self, at: int, body: int, after: int) -> int:
        """A table written as a list of lists: each item of the outer one is a row."""
        options = (_HEADER_ROWS.match(line) for line in self.lines[at:body])
        header = next((int(found[1]) for found in options if found), 0)
        starts = [row for row in range(body, after) if _LIST_ROW.match(self.lines[row])]
        outer = min(map(_indent, (self.lines[row] for row in starts)), default=0)
        starts = [row for row in starts if _indent(self.lines[row]) == outer]
        for number, (row, end) in enumerate(pairwise([*starts, after])):
            self._add(row, end, "header_row" if number < header else "row")
        return after if starts else body

    def _grid(self, at: int) -> int:
        """A grid table: what stands between two borders is a row."""
        after = at
        while after < len(self.lines) and self.lines[after].lstrip().startswith(("+", "|")):
            after += 1
        header_ends = next((n for n in range(at, after) if re.match(r"[ \t]*\+=", self.lines[n])), -1)
        first = at
        for n in range(at + 1, after):
            if _GRID_BORDER.fullmatch(self.lines[n]):
                self._add(first, n + 1, "header_row" if n <= header_ends else "row")
                first = n + 1
        self._add(first, after, "row")
        return after

    def _simple_table(self, at: int) -> int:
        """A table with borders of ``=``; a row goes on where its first column is blank."""
        borders = [at]
        n = at + 1
        while n < len(self.lines) and len(borders) < 3:
            if _SIMPLE_BORDER.fullmatch(self.lines[n]):
                borders.append(n)
                if n + 1 >= len(self.lines) or not self.lines[n + 1].strip():
                    break
            n += 1
        if len(borders) < 2:
            return self._text(at, self._paragraph_end(at), "prose")
        header = borders[1] if len(borders) > 2 else at
        self._add(at, header + 1, "header_row" if header > at else "meta")
        self._simple_rows(header + 1, borders[-1], _indent(self.lines[at]))
        return borders[-1] + 1

    def _simple_rows(self, at: int, last: int, indent: int) -> None:
        while at < last:
            after = at + 1
            while after < last and (_indent(self.lines[after]) > indent or _SIMPLE_SPAN.fullmatch(self.lines[after])):
                after += 1
            self._add(at, after, "row")
            at = after
        self._add(last, last + 1, "meta")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip()) if line.strip() else 0


def plain(title: str) -> str:
    """A title without inline markup."""
    for pattern, shown in _INLINE:
        title = pattern.sub(shown, title)
    return plain_title(title)
