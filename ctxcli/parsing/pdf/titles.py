"""Headings of one or more printed lines: what they hold and how far they reach."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ctxcli.parsing.pdf.layout import Layout
from ctxcli.parsing.pdf.lines import Line, joint
from ctxcli.parsing.pdf.numbers import read_number

LONGEST = 160
SENTENCE = re.compile(r"[.。；;:：,，、!！]$|[。；！？][^”』」）)]")
CAPTION = re.compile(r"(?:figure|fig\.|table|图|表)\s*\d", re.IGNORECASE)
LETTER = re.compile(r"[^\W\d_]{2}|[\u3400-\u9fff]")
_PAGE_TITLE = re.compile(r"(?:page|p\.|第)?\s*\d+\s*页?|_\w+|.*\.(?:pdf|docx?)", re.IGNORECASE)
CARDINALS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_CHAPTER = re.compile(
    rf"(?:chapter|part|appendix|annex|section)\s+(?:[0-9A-Z]{{1,5}}|{'|'.join(CARDINALS)})|第\s*[零〇一二三四五六七八九十百0-9]+\s*[章编篇部节]|附录\s*[A-Z一二三四五六七八九十]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heading:
    """Lines `first` … `last` (inclusive) are a heading; `text` is its line with the number.

    `clause` means that only the number is the heading: the line goes on with body text.
    """

    first: int
    last: int
    level: int
    text: str
    clause: bool = False


def key_of(text: str) -> str:
    """Letters and digits alone, folded: what a title of the outline and its printed form share."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def grown(lines: Sequence[Line], first: int, last: int, level: int, layout: Layout, title: str) -> Heading:
    """Take in the chapter line above and the wrapped lines below, as long as they are set as the heading."""
    head = lines[first]
    named = _chapter_lines(lines, first, layout)
    if layout.is_strong(head):
        while last + 1 < len(lines) and last - first < 5 and _wraps(lines[last], lines[last + 1], layout):
            last += 1
    title = " ".join(title.split())
    text = joined(lines[first : last + 1])
    if named:
        above = " ".join(line.text for line in lines[first - named : first])
        return Heading(first - named, last, level, f"{_chapter_name(above)} {text}")
    if last > first or key_of(title) not in key_of(text):
        return Heading(first, last, level, text)
    return Heading(first, last, level, _titled(text, title))


def _chapter_lines(lines: Sequence[Line], first: int, layout: Layout) -> int:
    """How many lines above a title name its chapter: ``Chapter 6``, or ``CHAPTER`` and ``SIX``."""
    for count in (1, 2):
        above = lines[max(first - count, 0) : first]
        if len(above) < count or any(line.page != lines[first].page or not layout.is_strong(line) for line in above):
            return 0
        if _CHAPTER.fullmatch(" ".join(line.text for line in above)):
            return count
    return 0


def _chapter_name(text: str) -> str:
    """``CHAPTER SIX`` as ``Chapter 6``, so that it reads as a number."""
    word, _, value = text.partition(" ")
    if value.lower() in CARDINALS:
        return f"{word.capitalize()} {CARDINALS.index(value.lower()) + 1}"
    return text


def _titled(text: str, title: str) -> str:
    """The printed heading, which bears the number."""
    return text if len(text) >= len(title) else title


def joined(lines: Sequence[Line]) -> str:
    """The lines of a heading as one."""
    text = lines[0].text
    for before, line in pairwise(lines):
        text, between = joint(text, line.text, hyphen=before.hyphen, words=frozenset())
        if _CHAPTER.fullmatch(before.text):
            between = " "
        text += between + line.text
    return re.sub(r"\s+", " ", text)


def _wraps(before: Line, line: Line, layout: Layout) -> bool:
    """Whether `line` is the next line of the same heading."""
    same = abs(before.size - line.size) < 0.3 and before.bold == line.bold and before.page == line.page
    near = 0 < before.y - line.y < 1.6 * max(line.size, 1)
    return same and near and read_number(line.text) is None and layout.is_strong(line)
