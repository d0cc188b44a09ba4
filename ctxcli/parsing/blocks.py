"""What all text parsers share: blocks that cover a text, and articles of law within paragraphs."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ctxcli.model.document import Block, BlockKind, ParseWarning
from ctxcli.text.encoding import Decoded

_HAN_CLAUSE = r"第[零〇一二三四五六七八九十百千两0-9０-９]+[条條](?:之[一二三四五六七八九十]+)?"
_CLAUSE = re.compile(
    rf"""^[ \t\u3000]*(?:
      (?P<bold>\*\*|__)\s*(?P<strong>{_HAN_CLAUSE}|(?:Article|Section|Rule|Clause)\s+[0-9]+[a-z]?|§+\s*[0-9]+[a-z]?)
          (?P<strong_title>[ \t\u3000.:：]*[^*_\n]{{0,60}}?)\s*(?P=bold)
    | (?P<han>{_HAN_CLAUSE})(?=[ \t\u3000【]|$)
    | (?P<word>(?:Article|Rule|Clause)\s+[0-9]+[a-z]?)(?=[.:：]?(?:[ \t]+[A-Z“"(]|$))
    | (?P<sign>§+\s*[0-9]+[a-z]?)(?=[.:]?(?:[ \t]+[A-Z“"(]|$))
    )""",
    re.MULTILINE | re.VERBOSE,
)
_FOREIGN_CLAUSE = re.compile("Article |Section |Rule |Clause |§")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLAUSE_TITLE = re.compile(r"[ \t\u3000]*【([^】\n]{1,40})】")


Piece = tuple[int, int, BlockKind]
"""Start, end and kind of what becomes a block."""


@dataclass(frozen=True, slots=True)
class Clause:
    """An article of a law or contract that begins a line; `alone` if nothing else stands there."""

    start: int
    heading: str
    alone: bool


def find_clauses(text: str) -> list[Clause]:
    """Lines that begin with the number of an article: ``**第六条**　…``, ``第六条　…``, ``Article 5 …``, ``§ 4 …``.

    English forms that are not bold count when there are two of them at least: one alone is a mention.
    """
    if not (("条" in text or "條" in text) and "第" in text) and not _FOREIGN_CLAUSE.search(text):
        return []
    found: list[Clause] = []
    loose = 0
    for match in _CLAUSE.finditer(text):
        kind = match.lastgroup or ""
        if kind == "bold" or match["bold"]:
            heading = match["strong"] + " " + match["strong_title"].strip(" \t\u3000.:：")
        else:
            heading = match[kind]
            loose += kind in {"word", "sign"}
            title = _CLAUSE_TITLE.match(text, match.end())
            heading += f" {title[1]}" if title else ""
        end = text.find("\n", match.end())
        rest = text[match.end() : end if end >= 0 else len(text)]
        first = match.end("bold") - 2 if match["bold"] else match.start(kind)
        found.append(Clause(first, heading.strip(), not rest.strip(" \t.:：")))
    if loose == 1:
        return [clause for clause in found if not clause.heading.startswith(("Article", "Rule", "Clause", "§"))]
    return found


def clauses_between(clauses: Sequence[Clause], start: int, end: int) -> Sequence[Clause]:
    """Those of the ordered `clauses` that begin in ``[start, end)``."""
    if not clauses:
        return ()
    first = bisect_left(clauses, start, key=lambda clause: clause.start)
    return clauses[first : bisect_left(clauses, end, lo=first, key=lambda clause: clause.start)]


def with_clauses(
    text: str, headings: list[tuple[int, int, str, str]], pieces: list[Piece]
) -> tuple[list[tuple[int, int, str, str]], list[Piece]]:
    """Add a section for each paragraph that begins with the number of an article."""
    clauses = find_clauses(text)
    if not clauses:
        return headings, pieces
    levels = [(start, level) for start, level, _, _ in headings]
    merged = list(headings)
    at = level = 0
    for start, end, kind in pieces:
        while at < len(levels) and levels[at][0] <= start:
            level = levels[at][1]
            at += 1
        if kind == "prose":
            found = clauses_between(clauses, start, end)
            merged += [(clause.start, level + 1, clause.heading, "") for clause in found]
    return sorted(merged), pieces


def prose(_gap: str) -> BlockKind:
    """The kind of text between blocks, unless a format knows better."""
    return "prose"


def cover(text: str, pieces: Iterable[Piece], *, gap_kind: Callable[[str], BlockKind] = prose) -> tuple[Block, ...]:
    """Trim pieces to their non-blank text, drop empty ones, and fill what lies between.

    `gap_kind` says what the text between two pieces is.
    The result is in order, disjoint, and holds every non-blank character. Of overlapping
    pieces the first keeps what it has.
    """
    result: list[Block] = []
    at = 0
    for start, end, kind in pieces:
        if start > at:
            gap = text[at:start]
            if not gap.isspace():
                _append_trimmed(result, text, at, start, gap_kind(gap))
        elif start < at:
            start = at  # noqa: PLW2901
        if start >= end:
            continue
        _append_trimmed(result, text, start, end, kind)
        at = end
    _append_trimmed(result, text, at, len(text), gap_kind(text[at:]))
    return tuple(result)


def _append_trimmed(result: list[Block], text: str, start: int, end: int, kind: BlockKind) -> None:
    if start < end and (text[start].isspace() or text[end - 1].isspace()):
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        start += piece.rfind("\n", 0, lead) + 1 if kind == "code" else lead
        end -= len(piece) - len(piece.rstrip())
    if start < end:
        result.append(Block(start, end, kind))


def stem(name: str) -> str:
    """The title a file has by its name."""
    return PurePath(name).stem.strip() or name.strip() or "untitled"


def plain_title(text: str) -> str:
    """A title on one line, without control characters."""
    return re.sub(r"[\s\x00-\x1f]+", " ", text).strip()


def encoding_warnings(decoded: Decoded) -> tuple[ParseWarning, ...]:
    """The warning of a file some of whose bytes could not be decoded."""
    if not decoded.replaced:
        return ()
    return (ParseWarning("undecodable", f"{decoded.replaced} bytes or characters are not valid {decoded.encoding}"),)


def without_surrogates(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become U+FFFD."""
    return text.encode("utf-8", "replace").decode() if _SURROGATE.search(text) else text
