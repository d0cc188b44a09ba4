"""Source code: one section and one block for each definition, with its decorators and comments."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from ctxcli.model.document import BlockKind, Document, ParseWarning, Section
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings
from ctxcli.parsing.code_languages import Language, language_of
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "code/1"

CLASS_LIMIT = 1200
"""Characters; a class that is longer is split by method."""

_PYTHON = frozenset({".py", ".pyi", ".pyw"})
_STRING_OR_COMMENT = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|[{}]""", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Definition:
    """Lines ``[first, after)`` (0-based) of a definition; `inner` holds its methods."""

    name: str
    first: int
    after: int
    inner: tuple["_Definition", ...] = field(default=())


def parse(data: bytes, *, name: str) -> Document:
    """Parse a source file; the title is the file's name, sections bear qualified names (``Store.open``)."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    found_warnings = encoding_warnings(decoded)
    lines = _Lines(text)
    doc_lines: tuple[int, int] | None = None
    if PurePath(name).suffix.lower() in _PYTHON:
        try:
            definitions, doc_lines = _python(text, lines)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
            where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
            found_warnings += (ParseWarning("python_syntax", f"{where}{reason}; cut by lines that begin a definition"),)
            definitions = _by_lines(lines, _PYTHON_LINES)
    else:
        definitions = _by_lines(lines, language_of(name))
    pieces, sections = _assemble(lines, definitions, doc_lines)
    return Document(
        format="code",
        title=PurePath(name).name,
        text=text,
        sections=tuple(sections),
        blocks=cover(text, pieces, gap_kind=_code),
        has_lines=True,
        encoding=decoded.encoding,
        title_from_name=True,
        warnings=found_warnings,
    )


def _code(_gap: str) -> BlockKind:
    return "code"


class _Lines:
    """The lines of a text with their offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = text.split("\n")
        self.starts = [0]
        for row in self.rows:
            self.starts.append(self.starts[-1] + len(row) + 1)

    def span(self, first: int, after: int) -> tuple[int, int]:
        """The offsets of lines ``[first, after)``."""
        return self.starts[first], min(self.starts[after], len(self.text))

    def comments_above(self, first: int, comment: re.Pattern[str], floor: int) -> int:
        """The first of the comment lines directly above line `first`, not above line `floor`."""
        while first > floor and self.rows[first - 1].strip() and comment.match(self.rows[first - 1]):
            first -= 1
        return first


_HASH = re.compile(r"\s*#(?!!)")
_PYTHON_LINES = Language(
    "python",
    re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(?P<name>\w+)"),
    re.compile(r"^\s*class\b"),
    re.compile(r"\s*[#@]"),
    "indent",
)


def _python(text: str, lines: _Lines) -> tuple[list[_Definition], tuple[int, int] | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    first = tree.body[0] if tree.body else None
    doc = None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        doc = (first.lineno - 1, first.end_lineno or first.lineno)
    return list(_python_definitions(tree.body, lines, "", doc[1] if doc else 0)), doc


def _python_definitions(body: Sequence[ast.stmt], lines: _Lines, owner: str, floor: int) -> Iterator[_Definition]:
    """Functions and classes of this level, those under ``if`` and ``try`` not; nothing nested in functions."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            begin = lines.comments_above(begin, _HASH, floor)
            name = f"{owner}.{node.name}" if owner else node.name
            inner: tuple[_Definition, ...] = ()
            if isinstance(node, ast.ClassDef):
                inner = tuple(_python_definitions(node.body, lines, name, node.lineno))
            if begin >= floor:
                yield _Definition(name, begin, node.end_lineno or node.lineno, inner)
        floor = max(floor, node.end_lineno or node.lineno)


def _by_lines(lines: _Lines, language: Language) -> list[_Definition]:
    return list(_scan(lines, language, 0, len(lines.rows), "", depth=0, ends=_Braces(lines)))


class _Braces:
    """Where the block ends that opens at or after a line; counted once for the file, on demand."""

    def __init__(self, lines: _Lines) -> None:
        self._lines = lines
        self._ends: dict[int, int] | None = None

    def after(self, line: int, limit: int) -> int:
        """The line after the block, or `limit`; a definition without a block ends with its statement."""
        if self._ends is None:
            self._ends = self._count()
        for at in range(line, min(line + 12, limit)):
            if at in self._ends:
                return min(self._ends[at], limit)
            if self._lines.rows[at].rstrip().endswith(";"):
                return at + 1
        return min(line + 1, limit)

    def _count(self) -> dict[int, int]:
        """For each line on which an outer brace opens: the line after the one that closes it."""
        ends: dict[int, int] = {}
        stack: list[int] = []
        line = at = 0
        text = self._lines.text
        for match in _STRING_OR_COMMENT.finditer(text):
            sign = match[0]
            if sign not in "{}":
                continue
            line += text.count("\n", at, match.start())
            at = match.start()
            if sign == "{":
                stack.append(line)
            elif stack:
                opened = stack.pop()
                ends[opened] = max(ends.get(opened, 0), line + 1)
        return ends


def _scan(
    lines: _Lines, language: Language, first: int, limit: int, owner: str, *, depth: int, ends: _Braces
) -> Iterator[_Definition]:
    """Definitions in lines ``[first, limit)``; those inside containers one level deep, and no deeper."""
    at = floor = first
    while at < limit:
        row = lines.rows[at]
        match = language.definition.match(row) if len(row) < 1000 else None
        if not match or language.comment.match(row):
            at += 1
            continue
        parts = [part for part in match.groups() if part]
        name = ".".join([owner, *parts] if owner else parts).strip() or row.strip()[:60]
        after = max(at + 1, _end(lines, language, at, limit, ends))
        inner: tuple[_Definition, ...] = ()
        if language.container and language.container.search(row) and depth < 3 and after > at + 1:
            inner = tuple(_scan(lines, language, at + 1, after, name, depth=depth + 1, ends=ends))
        yield _Definition(name, lines.comments_above(at, language.comment, floor), after, inner)
        at = floor = after


def _end(lines: _Lines, language: Language, at: int, limit: int, ends: _Braces) -> int:
    if language.ending == "brace":
        return ends.after(at, limit)
    indent = _indent(lines.rows[at])
    for after in range(at + 1, limit):
        row = lines.rows[after]
        if language.ending == "next":
            if language.definition.match(row):
                return lines.comments_above(after, language.comment, at + 1)
        elif row.strip() and _indent(row) <= indent:
            if language.ending == "end":
                return after + 1 if row.strip().startswith("end") else after
            if not row.lstrip().startswith((")", "]", "}")):
                return after
    return limit


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


TOP_LEVEL = "(top level)"
"""The section of what stands between and after the definitions of a file."""


def _assemble(
    lines: _Lines, definitions: Sequence[_Definition], doc_lines: tuple[int, int] | None
) -> tuple[list[Piece], list[Section]]:
    pieces: list[Piece] = []
    sections: list[Section] = []
    if doc_lines:
        pieces.append((*lines.span(*doc_lines), "prose"))
    _place_all(lines, definitions, (), (0, len(lines.rows)), pieces, sections)
    return pieces, sections


def _place_all(
    lines: _Lines,
    definitions: Sequence[_Definition],
    path: tuple[str, ...],
    within: tuple[int, int],
    pieces: list[Piece],
    sections: list[Section],
) -> None:
    """Add definitions and the code between them, which belongs to their owner or to the file."""
    at, last = within
    for definition in definitions:
        _place_gap(lines, at, definition.first, path, pieces, sections)
        _place(lines, definition, path, pieces, sections)
        at = max(at, definition.after)
    _place_gap(lines, at, last, path, pieces, sections)


def _place_gap(
    lines: _Lines, first: int, after: int, path: tuple[str, ...], pieces: list[Piece], sections: list[Section]
) -> None:
    start, end = lines.span(first, max(first, after))
    start = max(start, pieces[-1][1] if pieces else 0)
    gap = lines.text[start:end]
    if not gap.strip():
        return
    pieces.append((start, end, "code"))
    if sections and path and sections[-1].path != path:
        sections.append(Section(start, len(path), "", path[-1], path, path[-1]))
    elif sections and not path:
        sections.append(Section(start, 1, "", TOP_LEVEL, (TOP_LEVEL,)))


def _place(
    lines: _Lines, definition: _Definition, path: tuple[str, ...], pieces: list[Piece], sections: list[Section]
) -> None:
    """Add a definition whole, or split by method if it is long."""
    start, end = lines.span(definition.first, definition.after)
    path = (*path, definition.name)
    sections.append(Section(start, len(path), "", definition.name, path, definition.name))
    if not definition.inner or end - start <= CLASS_LIMIT:
        pieces.append((start, end, "code"))
        return
    _place_all(lines, definition.inner, path, (definition.first, definition.after), pieces, sections)
