"""Headings that the outline of a PDF names, found on their pages."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ctxcli.parsing.pdf.layout import Layout
from ctxcli.parsing.pdf.lines import Line
from ctxcli.parsing.pdf.numbers import read_number
from ctxcli.parsing.pdf.reader import Entry
from ctxcli.parsing.pdf.titles import LONGEST, Heading, grown, key_of

_PAGE_TITLE = re.compile(r"(?:page|p\.|第)?\s*\d+\s*页?|_\w+|.*\.(?:pdf|docx?)", re.IGNORECASE)


def from_outline(
    lines: Sequence[Line], outline: Sequence[Entry], layout: Layout, skip: frozenset[int]
) -> dict[int, Heading]:
    """Headings that the outline names, by their first line."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if not line.turned:
            by_page[line.page].append(index)
    found: dict[int, Heading] = {}
    for entry in outline:
        if _PAGE_TITLE.fullmatch(entry.title):
            continue
        heading = _place(entry, lines, by_page, layout, skip)
        if heading and heading.first not in found:
            found[heading.first] = heading
    return found


def _place(
    entry: Entry, lines: Sequence[Line], by_page: Mapping[int, list[int]], layout: Layout, skip: frozenset[int]
) -> Heading | None:
    wanted = key_of(entry.title)
    matches: list[tuple[float, int, int]] = []
    for page in (entry.page, entry.page + 1, entry.page - 1):
        for place, index in enumerate(by_page.get(page, ())):
            if index in skip and not layout.is_big(lines[index]):
                continue
            last = _matching(wanted, lines, by_page[page][place : place + 5])
            if last is not None:
                matches.append((_distance(entry, lines[index], layout), index, last))
        if matches:
            break
    if matches:
        _, first, last = min(matches)
        return grown(lines, first, last, entry.level, layout, entry.title)
    return _by_height(entry, lines, by_page.get(entry.page, []), skip, layout)


def _matching(wanted: str, lines: Sequence[Line], places: Sequence[int]) -> int | None:
    """The last of the lines that together are the title, with or without a number before it."""
    text = ""
    for index in places:
        text += lines[index].text + " "
        key = key_of(text)
        if wanted and key == wanted:
            return index
        number = read_number(text)
        if number and key_of(number.rest) and key_of(number.rest) in {wanted, key_of(_unnumbered(wanted))}:
            return index
        if not wanted.startswith(key[: len(wanted)]) and not (number and wanted.startswith(key_of(number.rest)[:8])):
            return None
        if len(key) > len(wanted) + 12:
            return None
    return None


def _unnumbered(text: str) -> str:
    return re.sub(r"^[\dv.]+", "", text)


def _distance(entry: Entry, line: Line, layout: Layout) -> float:
    """How ill the line fits the target: lines that stand out come first, then those near its height."""
    away = abs(entry.y - line.y - line.size) if entry.y is not None else 0.0
    return away + (0.0 if layout.is_strong(line) else 100.0)


def _by_height(
    entry: Entry, lines: Sequence[Line], places: Sequence[int], skip: frozenset[int], layout: Layout
) -> Heading | None:
    """The line at the target's height, if it looks like a heading; the title of the outline names it."""
    if entry.y is None:
        return None
    below = [i for i in places if i not in skip and entry.y - 4 * layout.size < lines[i].y <= entry.y + 2]
    for index in below[:3]:
        line = lines[index]
        if layout.is_strong(line) and len(line.text) <= LONGEST and _alike(entry.title, line.text):
            return grown(lines, index, index, entry.level, layout, line.text)
    return None


def _alike(title: str, text: str) -> bool:
    wanted, found = Counter(key_of(title)), Counter(key_of(text))
    return sum((wanted & found).values()) >= 0.7 * max(sum(wanted.values()), 1)
