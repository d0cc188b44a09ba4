"""Links in a note: ``[[wiki|alias]]``, ``![[embed]]``, ``[text](file.md)``, ``[text][ref]``; none in code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

LinkKind = Literal["wiki", "embed", "markdown"]

_FENCED = re.compile(
    r"^[ ]{0,3}(?P<mark>`{3,}|~{3,})[^\n]*\n(?:.*?^[ ]{0,3}(?P=mark)[`~]*[ \t]*$|.*\Z)", re.MULTILINE | re.DOTALL
)
_INLINE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)*?(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_WIKI = re.compile(r"(!?)\[\[([^\[\]\n]+?)\]\]")
_INNER = r"(?:\\.|[^\[\]\\]|\[[^\[\]]*\]){0,500}?"
_MARKDOWN = re.compile(
    rf"(!?)\[({_INNER})\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))+))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[([^\[\]\n^][^\[\]\n]*)\]:[ \t]*(?:<([^<>\n]*)>|(\S+))", re.MULTILINE)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|\Z")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in a note. `target` is decoded and without heading; `line` is the 1-based line."""

    kind: LinkKind
    target: str
    heading: str
    text: str
    line: int
    start: int
    end: int


def links(text: str, start: int = 0) -> tuple[Link, ...]:
    """The links to other files in `text` from `start` on, in order."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")  # as long as it was
    bare = without_code(text[start:])
    found = sorted((*_wiki(bare), *_markdown(bare), *_definitions(bare)), key=lambda one: one[0])
    lines, at, result = text.count("\n", 0, start) + 1, 0, []
    for begin, end, kind, target, heading, label in found:
        lines += bare.count("\n", at, begin)
        at = begin
        result.append(Link(kind, target, heading, label, lines, start + begin, start + end))
    return tuple(result)


_Found = tuple[int, int, LinkKind, str, str, str]


def without_code(text: str) -> str:
    """The text with blanks in place of code and comments; offsets and lines stay."""
    for pattern in (_FENCED, _COMMENT, _INLINE):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return text


def _wiki(text: str) -> Iterator[_Found]:
    for found in _WIKI.finditer(text):
        inner = found[2].replace("\\|", "|")
        target, _, alias = inner.partition("|")
        target, _, heading = target.partition("#")
        if target.strip():
            kind: LinkKind = "embed" if found[1] else "wiki"
            yield found.start(), found.end(), kind, target.strip(), heading.strip(), (alias or target).strip()


def _markdown(text: str) -> Iterator[_Found]:
    for found in _MARKDOWN.finditer(text):
        given = found[3] if found[3] is not None else found[4]
        if not _SCHEME.match(given):
            target, heading = _decoded(given)
            kind: LinkKind = "embed" if found[1] else "markdown"
            yield found.start(), found.end(), kind, target, heading, found[2]


def _definitions(text: str) -> Iterator[_Found]:
    for found in _DEFINITION.finditer(text):
        given = found[2] if found[2] is not None else found[3]
        if not _SCHEME.match(given):
            target, heading = _decoded(given)
            yield found.start(), found.end(), "markdown", target, heading, found[1]


def _decoded(given: str) -> tuple[str, str]:
    target, _, heading = re.sub(r"\\([^\w\s])", r"\1", given).partition("#")
    return unquote(target), unquote(heading)
