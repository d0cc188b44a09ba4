"""What is printed on pages but is no text: running heads, page numbers, tables of contents."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcli.parsing.pdf.lines import Line
from ctxcli.parsing.pdf.numbers import roman_value
from ctxcli.parsing.pdf.reader import Page

_HEAD_ZONE = 0.85
_FOOT_ZONE = 0.12
_REPEATS = 3
_REPEAT_SHARE = 0.04
_SLOT_SHARE = 0.6
_APART = 2.6
"""Baselines of head and text lie this many em apart."""

_LARGE = 1.15
_CHAPTER_WORD = re.compile(
    r"chapter|part|appendix|annex|one|two|three|four|five|six|seven|eight|nine|ten", re.IGNORECASE
)
_CHAPTER_LINE = re.compile(
    r"(?:chapter|part|appendix|annex)\s+\w{1,5}|第\s*\w+\s*[章编篇部]|附录\s*\w{1,3}", re.IGNORECASE
)
_ROMAN = re.compile(r"\b[ivxlc]+\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"[-–—\s·|]*(?:page|p\.|第)?\s*(?P<number>\d{1,4}|[ivxlc]{1,8})\s*页?\s*(?:(?:of|/|,|，)?\s*共?\s*\d{1,4}\s*页?)?[-–—\s·|]*",
    re.IGNORECASE,
)
_LEADER = re.compile(r"(?:[.·…‥․•⋯]\s?){4,}|…{2,}|(?:\s\.){3,}|_{4,}")
_LEADER_END = re.compile(rf"(?:{_LEADER.pattern})\s*(?P<number>\d{{1,4}}|[ivxlc]{{1,8}})?\W*$", re.IGNORECASE)
_NUMBER_END = re.compile(r"\D\s?(?P<number>\d{1,4})$")
_CONTENTS = re.compile(r"(?:table of )?contents|目\s*[录錄次]|(?:list of )(?:figures|tables)", re.IGNORECASE)


def running(pages: Sequence[Page]) -> set[tuple[int, int]]:
    """Places (page, line) of running heads, running feet and page numbers.

    A line of the top 15 % or bottom 12 % goes if its form (digits and roman numerals taken away)
    repeats at that height, if it stands in a slot of which most lines repeat, or if it is a page number.
    """
    gone: set[tuple[int, int]] = set()
    body = _body_size(pages)
    least = max(_REPEATS, int(len(pages) * _REPEAT_SHARE))
    for top in (True, False):
        for layer in range(3):
            found = _layer(pages, gone, body, top=top, least=least, outermost=layer == 0)
            if not found:
                break
            gone |= found
    return gone | _page_numbers(pages, gone)


def _edge(page: Page, index: int, gone: set[tuple[int, int]], *, top: bool) -> list[int]:
    """Lines of the outermost printed line still there, if it lies in the zone of heads or feet."""
    left = [place for place, line in enumerate(page.lines) if (index, place) not in gone and not line.turned]
    if not left:
        return []
    y = (max if top else min)(page.lines[place].y for place in left)
    share = y / page.height if page.height else 0.5
    if (share < _HEAD_ZONE) if top else (share > _FOOT_ZONE):
        return []
    return [place for place in left if abs(page.lines[place].y - y) < 3]


def _layer(
    pages: Sequence[Page], gone: set[tuple[int, int]], body: float, *, top: bool, least: int, outermost: bool
) -> set[tuple[int, int]]:
    edges = {index: _edge(page, index, gone, top=top) for index, page in enumerate(pages)}
    slots: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, places in edges.items():
        for place in places:
            slots[round(pages[index].lines[place].y / 4)].append((index, place))
    found: set[tuple[int, int]] = set()
    for key, slot in slots.items():
        near = slot + slots.get(key + 1, []) + slots.get(key - 1, [])
        form = {(index, place): _form_alone(pages[index], place, edges[index], body) for index, place in near}
        forms = Counter(form.values())
        found |= {at for at in slot if form[at] and forms[form[at]] >= least}
        twice = [at for at in slot if form[at] and forms[form[at]] > 1]
        found |= {at for at in twice if _stands_apart(pages[at[0]], edges[at[0]], top=top)}
        apart = [
            at
            for at in slot
            if form[at]
            and _stands_apart(pages[at[0]], edges[at[0]], top=top)
            and pages[at[0]].lines[at[1]].size <= _LARGE * body
        ]
        if outermost and len(apart) >= max(_REPEATS, _SLOT_SHARE * len(slot), 0.4 * len(pages)):
            found |= set(apart)
        if outermost and len(slot) >= least and len(twice) >= _SLOT_SHARE * len(slot):
            found |= {at for at in slot if len(pages[at[0]].lines) > len(edges[at[0]])}
    return found


def _stands_apart(page: Page, places: Sequence[int], *, top: bool) -> bool:
    """Whether far more room than between lines of text parts an edge line from the rest of the page."""
    own = page.lines[places[0]]
    if len(own.text) > 90:
        return False
    beyond = [line.y for place, line in enumerate(page.lines) if place not in places and not line.turned]
    inner = [y for y in beyond if (y < own.y if top else y > own.y)]
    return bool(inner) and abs(own.y - (max if top else min)(inner)) > _APART * own.size


def _form_alone(page: Page, place: int, edge: Sequence[int], body: float) -> str:
    """The form of an edge line; "" where a line beside it has the same: then it is a row of a table or a list."""
    form = _form(page.lines[place], body)
    if not _LETTER.search(form):
        return form
    beside = range(max(0, place - len(edge) - 1), min(len(page.lines), place + len(edge) + 2))
    return "" if any(other not in edge and _form(page.lines[other], body) == form for other in beside) else form


def _form(line: Line, body: float) -> str:
    """What a running head has in common on all pages; "" for a line that opens a chapter.

    Large lines and numbered chapters must repeat with their numbers: ``Chapter 6`` and ``Chapter 7`` are headings.
    """
    if _CHAPTER_WORD.fullmatch(line.text):
        return ""
    if line.size > _LARGE * body or _CHAPTER_LINE.fullmatch(line.text):
        return line.text
    return _DIGITS.sub("#", _ROMAN.sub("#", line.text)).casefold()


def _body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=10.0)


def _page_numbers(pages: Sequence[Page], gone: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Edge lines that are a number only and grow with the pages."""
    found: dict[tuple[int, int], int] = {}
    for index, page in enumerate(pages):
        for top in (True, False):
            for place in _edge(page, index, gone, top=top):
                match = _PAGE_NUMBER.fullmatch(page.lines[place].text)
                value = _value(match["number"]) if match else None
                if value is not None:
                    found[(index, place)] = value - index
    offsets = Counter(found.values())
    return {at for at, offset in found.items() if offsets[offset] > 1 or (len(pages) <= 2 and offset in {0, 1})}


def _value(number: str) -> int | None:
    if number.isdigit():
        return int(number)
    return roman_value(number)


def labels(pages: Sequence[Page], gone: set[tuple[int, int]]) -> tuple[str, ...]:
    """The label of each page: that of the label tree, else the printed number if it is consistent, else ""."""
    if any(page.label for page in pages):
        return tuple(page.label for page in pages)
    printed: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for index, place in sorted(gone):
        printed[index].extend(_numbers(pages[index].lines[place].text))
    offsets = Counter(value - index for index, values in printed.items() for value, _ in set(values))
    if not offsets:
        return ("",) * len(pages)
    found = [""] * len(pages)
    for offset, support in sorted(offsets.items(), key=lambda item: (item[1], -abs(item[0]))):
        if support < max(2, 0.1 * len(pages)) and len(pages) > 1:
            continue
        for index, values in printed.items():
            for value, word in values:
                if value - index == offset:
                    found[index] = word
    return tuple(found) if sum(map(bool, found)) >= _SLOT_SHARE * len(printed) else ("",) * len(pages)


def _numbers(text: str) -> Iterator[tuple[int, str]]:
    """Numbers of a head or foot that may be the page's, ``5`` of ``5/51`` alone."""
    match = _PAGE_NUMBER.fullmatch(text)
    if match:
        value = _value(match["number"])
        if value is not None:
            yield value, match["number"]
        return
    for word in re.findall(r"(?<![\d./])\d{1,4}(?![\d.])|(?<!\S)[ivxl]{1,8}(?!\S)", text):
        value = _value(word)
        if value is not None:
            yield value, word


def contents(lines: Sequence[Line], pages: int) -> set[int]:
    """Indexes of the lines of a page that belong to a table of contents; `pages` is the number of pages.

    Leaders mark it, else page numbers at line ends that grow from line to line.
    """
    if len(lines) < 3:
        return set()
    leaders = [place for place, line in enumerate(lines) if _LEADER_END.search(line.text)]
    if len(leaders) >= 3:
        marks = leaders
    else:
        marks = _growing(lines, pages)
        if len(marks) < 6:
            return set()
    if len(marks) < 0.4 * (marks[-1] - marks[0] + 1):
        return set(marks) if marks is leaders else set()
    first, last = marks[0], marks[-1]
    ends = [place for place, line in enumerate(lines) if _ends_like_contents(line, pages)]
    while ends and first > 0 and (first - 1 in ends or _CONTENTS.fullmatch(lines[first - 1].text)):
        first -= 1
    while last + 1 in ends:
        last += 1
    while first > 0 and len(lines[first - 1].text) < 60 and len(marks) > 0.6 * len(lines):
        first -= 1
    return set(range(first, last + 1))


def _ends_like_contents(line: Line, pages: int) -> bool:
    match = _NUMBER_END.search(line.text)
    return bool(_LEADER_END.search(line.text) or (match and int(match["number"]) <= pages + 50))


def _growing(lines: Sequence[Line], pages: int) -> list[int]:
    """Lines that end in page numbers, if most of the page does and the numbers never fall."""
    found: list[int] = []
    numbers: list[int] = []
    for place, line in enumerate(lines):
        match = _NUMBER_END.search(line.text)
        if match and int(match["number"]) <= pages + 50 and line.text[0].isalnum():
            found.append(place)
            numbers.append(int(match["number"]))
    steps = [after - before for before, after in pairwise(numbers)]
    falls = sum(step < 0 for step in steps)
    if len(found) < 0.4 * len(lines) or falls > 0.1 * len(steps) or sum(steps) <= 0:
        return []
    return found
