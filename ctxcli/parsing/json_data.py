"""JSON and JSON Lines: the file as it is, one section for each key at the top."""

import json
import re

from ctxcli.model.document import Document, Section
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, stem
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "json/1"

MAX_LINE = 1000
"""Characters; a file of few lines with a longer one is laid out anew, one value a line, and loses its lines."""

_TOP_MEMBER = re.compile(r'^(?: {1,4}|\t)(?:"((?:[^"\\\n]|\\.)*)"[ \t]*:|[\[{"0-9tfn-])', re.MULTILINE)


def parse(data: bytes, *, name: str) -> Document:
    """Parse a JSON file; one that is no valid JSON is kept as text all the same."""
    decoded = decode(data)
    text = unify_newlines(decoded.text)
    rows = _is_lines(text)
    has_lines = rows or text.count("\n") > 3 or len(max(text.split("\n"), key=len)) <= MAX_LINE
    if not has_lines:
        text, has_lines = _laid_out(text)
    pieces, sections = (_rows(text), []) if rows else _members(text)
    return Document(
        format="json",
        title=stem(name),
        text=text,
        sections=tuple(sections),
        blocks=cover(text, pieces),
        has_lines=has_lines,
        encoding=decoded.encoding,
        title_from_name=True,
        warnings=encoding_warnings(decoded),
    )


def _is_lines(text: str) -> bool:
    """Whether each of the first lines is a JSON value of its own."""
    lines = [line for line in text[:20000].split("\n")[:4] if line.strip()]
    return len(lines) > 1 and all(line.strip()[0] + line.strip()[-1] in {"{}", "[]"} for line in lines[:-1])


def _laid_out(text: str) -> tuple[str, bool]:
    """The text with one value a line, and whether it still has the lines of the file."""
    try:
        value = json.loads(text)
        laid_out = json.dumps(value, ensure_ascii=False, indent=1)
        laid_out.encode()
    except (ValueError, RecursionError):
        return text, True
    return laid_out, False


def _rows(text: str) -> list[Piece]:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return [(start, end, "row") for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _members(text: str) -> tuple[list[Piece], list[Section]]:
    """A code block for each member at the top, and a section for each that has a name and several lines."""
    indent = re.search(r"^[ \t]+(?=\S)", text, re.MULTILINE)
    if not indent:
        return [(0, len(text), "code")], []
    found = [match for match in _TOP_MEMBER.finditer(text) if _indent_of(match) == indent[0]]
    if not found:
        return [(0, len(text), "code")], []
    ends = [*(match.start() for match in found[1:]), len(text)]
    pieces: list[Piece] = [(0, found[0].start(), "code")]
    sections: list[Section] = []
    for match, end in zip(found, ends, strict=True):
        pieces.append((match.start(), end, "code"))
        if match[1] and text.count("\n", match.start(), end) > 1:
            sections.append(Section(match.start(), 1, "", match[1], (match[1],), match[1]))
    return pieces, sections


def _indent_of(match: re.Match[str]) -> str:
    return match[0][: len(match[0]) - len(match[0].lstrip())]
