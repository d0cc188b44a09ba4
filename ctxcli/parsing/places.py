"""Where a slice of a document stands: section, pages and lines; and where a quote stands."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxcli.model.document import Document
from ctxcli.model.stored import Place, line_at
from ctxcli.parsing.sections import split_number
from ctxcli.text.comparing import MARKS
from ctxcli.text.question import named_sections

MOST_PLACES = 10_000
"""So many places of one quote are looked at."""
_MOST_STEPS = 100_000
"""So often a piece of one quote is looked for."""
_LONGEST_NUMBER = 24
_NUMBER = re.compile("[0-9]+(?:[.,][0-9]+)*|(?<=[周週期拜])[一二三四五六日]|[零〇一二三四五六七八九十百千万亿萬億]+")
_LEFT_OUT = re.compile(r"\s*(?:\[(?:…+|\.{3,})\]|…+|\.{3,})\s*")
_QUOTATION_MARKS = {"“": "”", '"': '"', "「": "」", "『": "』", "«": "»", "‘": "’", "'": "'", "„": "“"}
_ONE_FORM = str.maketrans({chr(0xFF01 + at): chr(0x21 + at) for at in range(0x5E)} | MARKS)
"""What editors write otherwise than the document: kinds of quotation marks and dashes, width."""


class Located:
    """A document ready to be searched for quotes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._places: dict[str, list[Place]] = {}

    def places(self, quote: str) -> list[Place]:
        """The places of a quote, in order; kept, since an answer may cite it often."""
        if quote not in self._places:
            self._places[quote] = [self.place(start, end) for start, end in self.quotes(quote)]
        return self._places[quote]

    def place(self, start: int, end: int) -> Place:
        """The place of ``document.text[start:end]``; lines and pages are 1-based."""
        document = self._document
        index = bisect_right(self._section_starts, start) - 1
        section = document.sections[index] if index >= 0 else None
        page = bisect_right(document.page_starts, start) or None
        last = max(start, end - 1)
        return Place(
            section=(section.number or None) if section else None,
            heading=(section.title or None) if section else None,
            heading_path=section.path if section else (),
            anchor=section.anchor if section else "",
            page=page,
            page_end=bisect_right(document.page_starts, last) or None,
            page_label=(document.page_labels[page - 1] or None) if page and document.page_labels else None,
            line_start=line_at(document, start, bisect_right(self._line_starts, start)),
            line_end=line_at(document, last, bisect_right(self._line_starts, last)),
        )

    def quotes(self, quote: str) -> list[tuple[int, int]]:
        """The places of a quote as (start, end), in order; [] where it does not stand there.

        White space, width, and kinds of quotation marks and dashes do not count. Marks around the quote (“ ”) and marks
        of what was left out (… or [...]) need not stand in the document: then the pieces must follow one another in it.
        """
        for form in (quote, _without_marks(quote), quote.strip().strip("…")):
            if found := self._exact(form):
                return found
        pieces = [piece for piece in _LEFT_OUT.split(_without_marks(quote)) if _bare(piece)]
        return list(self._pieces(pieces)) if _bare("".join(pieces)) != _bare(quote) else []

    def _exact(self, quote: str) -> list[tuple[int, int]]:
        wanted = _bare(quote)
        found: list[tuple[int, int]] = []
        at = self._bare_text.find(wanted) if wanted else -1
        while at >= 0 and len(found) < MOST_PLACES:
            start, end = self._offsets[at], self._offsets[at + len(wanted) - 1] + 1
            if not self._cuts_number(start, end):
                found.append((start, end))
            at = self._bare_text.find(wanted, at + 1)
        return found

    def _pieces(self, pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Runs from a place of the first piece to the next place of each following one, within one section."""
        wanted = [_bare(piece) for piece in pieces]
        at = self._bare_text.find(wanted[0]) if wanted else -1
        for _ in range(min(MOST_PLACES, _MOST_STEPS // max(1, len(wanted)) + 1)):
            if at < 0:
                return
            end = at + len(wanted[0])
            for piece in wanted[1:]:
                found = self._bare_text.find(piece, end)
                if found < 0:
                    return
                end = found + len(piece)
            first, last = self._offsets[at], self._offsets[end - 1]
            same_section = bisect_right(self._section_starts, first) == bisect_right(self._section_starts, last)
            if same_section and not self._cuts_number(first, last + 1):
                yield first, last + 1
            at = self._bare_text.find(wanted[0], at + 1)

    def _cuts_number(self, start: int, end: int) -> bool:
        """Whether a slice begins or ends within a number: ``12`` is no quote of ``120``, ``3`` none of ``3.5``."""
        for at in (start, end):
            begin = max(0, at - _LONGEST_NUMBER)
            near = self._document.text[begin : at + _LONGEST_NUMBER]
            if any(found.start() < at - begin < found.end() for found in _NUMBER.finditer(near)):
                return True
        return False

    @cached_property
    def _bare_text(self) -> str:
        return _bare(self._document.text)

    @cached_property
    def _offsets(self) -> list[int]:
        """Where each character of the bare text stands in the text."""
        return [at for at, char in enumerate(self._document.text) if not char.isspace()]

    @cached_property
    def _section_starts(self) -> list[int]:
        return [section.start for section in self._document.sections]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self._document.text))]


def is_within(wanted: str, *, number: str | None, heading: str | None, path: Sequence[str]) -> bool:
    """Whether a place stands in the section that `wanted` names, or in one below it.

    `wanted` is a number (``6.3``, ``§ 6.3``, ``第三章``, ``第3章``), a heading, or both (``6.3 Efficacy``); the rest is
    the place.
    """
    bare = wanted.strip().lstrip("§").strip()
    if bare.startswith("第"):
        forms = named_sections(split_number(bare)[0])
        if any(_is_within(form, number=number, heading=heading, path=path) for form in forms):
            return True
    return _is_within(wanted, number=number, heading=heading, path=path)


def _is_within(wanted: str, *, number: str | None, heading: str | None, path: Sequence[str]) -> bool:
    asked = _plain(wanted.strip().lstrip("§"))
    own = _plain(number or "")
    asked_number = _plain(split_number(wanted.strip().lstrip("§"))[0]) or asked
    if own and (own == asked_number or own.startswith(f"{asked_number}.")):
        return True
    above = [_plain(one) for one in (*path, heading or "") if one]
    numbers = [_plain(split_number(one)[0]) for one in path]
    return bool(asked) and (asked in above or asked_number in numbers)


def _without_marks(quote: str) -> str:
    text = quote.strip()
    if len(text) > 1 and _QUOTATION_MARKS.get(text[0]) == text[-1]:
        text = text[1:-1]
    return text


def _bare(text: str) -> str:
    """The text without white space, marks in one form; each character that is left stands for one of the text."""
    return "".join(text.split()).translate(_ONE_FORM)


def _plain(text: str) -> str:
    """A number or heading without what writers vary: white space, forms of marks, and case."""
    return _bare(text).casefold()
