"""Plain text: headings by numbering, capitals and underlines; paragraphs, list items and articles of law."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ctxcli.model.document import BlockKind, Document
from ctxcli.parsing import outline
from ctxcli.parsing.blocks import Piece, clauses_between, cover, encoding_warnings, find_clauses, plain_title, stem
from ctxcli.parsing.sections import nest, split_number
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "plain/2"

MAX_HEADING = 80
"""Characters of a heading line in plain text."""

_HAN_PART = re.compile(
    r"第\s*[零〇一二三四五六七八九十百千0-9０-９]+\s*([编篇部卷章节節])(?=[\s\u3000]|$|(?![的中和与])[\u4e00-\u9fff])"
)
_HAN_LEVEL = {"编": 1, "篇": 1, "部": 1, "卷": 1, "章": 2, "节": 3, "節": 3}
_HAN_ENUMERATED = re.compile(r"[一二三四五六七八九十]{1,3}[、.．]\s*(?=\S)")
_WORD = re.compile(
    r"(?:chapter|part|appendix|annex)\s+(?:[0-9]+|[ivxlc]+|[a-z])\b|附[录錄件]\s*[A-Z0-9一二三四五六七八九十]",
    re.IGNORECASE,
)
_DECIMAL = re.compile(
    r"(?:[A-Z]\.)?[0-9]{1,3}((?:[.．][0-9]{1,3})*)[.．、]?[ \t\u3000]+(?=\S)"
    r"|[0-9]{1,3}((?:[.．][0-9]{1,3})+)(?=[\u4e00-\u9fff])"
)
_ENDS_SENTENCE = tuple("。，；,;.!?！？:：、|")
_LEADERS = re.compile(r"(?:\.[ \t]?){4,}[ \t]*\w{0,5}$|[…‥]{2,}[ \t]*\w{0,5}$")
_ITEM = re.compile(
    r"[ \t\u3000]*(?:[-*+•·●○▪◦‣–][ \t]|[0-9]{1,3}[.)、）][ \t\u3000]*(?=[^\s0-9])"
    r"|[（(][0-9a-z一二三四五六七八九十]{1,3}[)）]|[a-z][.)][ \t]|[①-⑳])"
)
_UNDERLINE = re.compile(r"([=\-~*#^])\1{2,}[ \t]*")
_LETTERS = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its offsets; `text` is stripped, and cut if it is too long to be a heading.

    `before` and `after` say whether the lines beside it are blank, `indented` whether it begins with a blank.
    """

    start: int
    end: int
    text: str
    indented: bool
    before: bool
    after: bool


def parse(data: bytes, *, name: str) -> Document:
    """Parse a text file; line n of the text is line n of the file."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    headings, pieces, title = outline.read(text, name=name) or read(text)
    return Document(
        format="plain",
        title=title or stem(name),
        text=text,
        sections=nest(headings),
        blocks=cover(text, pieces),
        has_lines=True,
        encoding=decoded.encoding,
        title_from_name=not title,
        warnings=encoding_warnings(decoded),
    )


def read(text: str) -> tuple[list[tuple[int, int, str, str]], list[Piece], str]:
    """Headings as `nest` takes them, pieces in order, and the title ("" if the text names none)."""
    lines = list(_lines(text))
    title = "" if _is_chapter(lines) else _title(lines)
    found = _headings(lines, titled=bool(title))
    clauses = find_clauses(text)
    headings: list[tuple[int, int, str, str]] = []
    pieces: list[Piece] = []
    level = 0
    for start, end, heading in _runs(lines, found):
        if heading:
            level = heading[0]
            headings.append((start, *heading, ""))
            pieces.append((start, end, "heading"))
            continue
        for clause in clauses_between(clauses, start, end):
            pieces += _paragraphs(text, start, clause.start)
            start = clause.start  # noqa: PLW2901
            headings.append((start, level + 1, clause.heading, ""))
            if clause.alone:
                line_end = text.find("\n", start, end)
                pieces.append((start, line_end if line_end >= 0 else end, "heading"))
                start = pieces[-1][1]  # noqa: PLW2901
        pieces += _paragraphs(text, start, end)
    return headings, pieces, title


def paragraphs(text: str) -> list[Piece]:
    """Paragraphs and list items of text in which no headings are looked for."""
    runs = _runs(list(_lines(text)), {})
    return [piece for start, end, _ in runs for piece in _paragraphs(text, start, end)]


def _lines(text: str) -> Iterator[_Line]:
    """All lines that are not blank."""
    rows = text.split("\n")
    blank = [not row or row.isspace() for row in rows]
    at = 0
    for index, row in enumerate(rows):
        if not blank[index]:
            before = index == 0 or blank[index - 1]
            after = index + 1 == len(rows) or blank[index + 1]
            shown = row.strip() if len(row) <= 4 * MAX_HEADING else row[: 4 * MAX_HEADING]
            yield _Line(at, at + len(row), shown, row[0] in " \t", before, after)
        at += len(row) + 1


def _title(lines: list[_Line]) -> str:
    """The first line, if it stands alone and reads like a title."""
    if not lines:
        return ""
    first = lines[0]
    alone = first.after and len(lines) > 1
    underlined = len(lines) > 1 and not first.after and _UNDERLINE.fullmatch(lines[1].text)
    if not (alone or underlined) or not _short(first) or _ITEM.match(first.text) or _LEADERS.search(first.text):
        return ""
    return plain_title(first.text)


def _is_chapter(lines: list[_Line]) -> bool:
    """Whether the first line has a number and is not alone with that: it opens a chapter, it names no document."""
    return bool(lines) and bool(split_number(lines[0].text)[0]) and any(map(_is_numbered, lines[1:]))


def _is_numbered(line: _Line) -> bool:
    return _short(line) and _level(line, "") is not None and bool(split_number(line.text)[0])


def _short(line: _Line) -> bool:
    limit = MAX_HEADING if line.text.isascii() else MAX_HEADING // 2
    return 1 < len(line.text) <= limit and not line.text.endswith(_ENDS_SENTENCE)


def _headings(lines: list[_Line], *, titled: bool) -> dict[int, tuple[int, str]]:
    """Level and heading line by the start of each line that is a heading."""
    found: dict[int, tuple[int, str]] = {}
    if titled:
        found[lines[0].start] = (1, lines[0].text)
    single: list[int] = []
    for index, line in enumerate(lines):
        if line.start in found or not _short(line) or _LEADERS.search(line.text):
            continue
        below = lines[index + 1].text if index + 1 < len(lines) and not line.after else ""
        level = _level(line, below)
        if level is None or (_counts(line.text) and _counts(below) == _counts(line.text)):
            continue
        found[line.start] = (level, line.text)
        if _counts(line.text):
            single.append(index)
    for index in _list_members(lines, single):
        found.pop(lines[index].start, None)
    return found


def _level(line: _Line, below: str) -> int | None:
    """The level of a heading line, None for a line that is none; 1 is the document's title."""
    text = line.text
    if match := _HAN_PART.match(text):
        return 1 + _HAN_LEVEL[match[1]] if line.before or line.after or len(text) <= 20 else None
    if below and _UNDERLINE.fullmatch(below) and line.before and len(below) * 3 >= len(text):
        return 2 if below[0] == "=" else 3
    if not line.before:
        return None
    if _WORD.match(text):
        return 2
    if _HAN_ENUMERATED.match(text):
        return 5 if len(text) <= 30 else None
    if line.indented:
        return None
    if match := _DECIMAL.match(text):
        return _decimal_level(line, match)
    return 2 if line.after and _is_capitals(text) else None


def _decimal_level(line: _Line, match: re.Match[str]) -> int | None:
    number, title = split_number(line.text)
    if not number or not title or title[0].islower():
        return None
    depth = (match[1] or match[2] or "").replace("．", ".").count(".")
    if depth == 0 and not (line.after and line.before):
        return None
    return 2 + depth + (line.text[0].isalpha())


def _is_capitals(text: str) -> bool:
    return len(_LETTERS.findall(text)) >= 4 and text == text.upper() and text.isascii() and not _ITEM.match(text)


def _counts(text: str) -> str:
    """The kind of single number a line begins with, if a list could begin so too, else ""."""
    if _HAN_ENUMERATED.match(text):
        return "han"
    match = _DECIMAL.match(text)
    return "single" if match and not (match[1] or match[2]) and text[0].isdigit() else ""


def _list_members(lines: list[_Line], single: list[int]) -> set[int]:
    """Of lines with a single number those that follow one another without text between: a list."""
    members: set[int] = set()
    for one, two in pairwise(single):
        if two == one + 1 and _counts(lines[one].text) == _counts(lines[two].text):
            members |= {one, two}
    return members


def _runs(lines: list[_Line], found: dict[int, tuple[int, str]]) -> Iterator[tuple[int, int, tuple[int, str] | None]]:
    """Headings, and the runs of lines between them that no blank line parts."""
    start = end = -1
    skip = -1
    for index, line in enumerate(lines):
        if index == skip:
            continue
        heading = found.get(line.start)
        if (heading or line.before) and start >= 0:
            yield start, end, None
            start = -1
        if heading:
            below = lines[index + 1] if index + 1 < len(lines) and not line.after else None
            skip = index + 1 if below and _UNDERLINE.fullmatch(below.text) else -1
            yield line.start, below.end if below and skip >= 0 else line.end, heading
            continue
        start = line.start if start < 0 else start
        end = line.end
    if start >= 0:
        yield start, end, None


def _paragraphs(text: str, start: int, end: int) -> Iterator[Piece]:
    """Part a run of lines at list items and at indented beginnings (``　　``); lines of contents are meta."""
    at = start
    kind: BlockKind = "prose"
    while start < end:
        line_end = text.find("\n", start, end)
        line_end = end if line_end < 0 else line_end
        line = text[start : min(line_end, start + 400)]
        new: BlockKind | None = "item" if _ITEM.match(line) else "prose" if line.startswith("\u3000\u3000") else None
        if _LEADERS.search(text[max(start, line_end - 40) : line_end]):
            new = "meta"
        elif kind == "meta" and new is None:
            new = "prose"
        if new:
            if at < start:
                yield at, start, kind
            at, kind = start, new
        start = line_end + 1
    if at < end:
        yield at, end, kind
