"""Which lines of a PDF are headings: the outline first, then numbers with type and sequence, then type alone."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from ctxcli.parsing.pdf.layout import Layout
from ctxcli.parsing.pdf.lines import Line
from ctxcli.parsing.pdf.numbered import NumberedHeadings
from ctxcli.parsing.pdf.outline import from_outline
from ctxcli.parsing.pdf.reader import Entry
from ctxcli.parsing.pdf.titles import CAPTION, CARDINALS, LETTER, SENTENCE, Heading, grown

_CALLOUT = re.compile(
    r"(?:notes?|tip|warning|caution|important|example|see also|chapter|part)[:：!]?|注意?|提示|警告|重要|说明|示例",
    re.IGNORECASE,
)
"""Labels of boxes, which name no section."""


def find(lines: Sequence[Line], outline: Sequence[Entry], layout: Layout, skip: frozenset[int]) -> list[Heading]:
    """Headings in order; lines in `skip` (tables of contents) are none."""
    outlined = from_outline(lines, outline, layout, skip)
    found = NumberedHeadings(lines, layout, skip, outlined).find()
    if len(outlined) < 3:
        found = _with_styles(lines, found, layout, skip)
    return sorted(found, key=lambda heading: heading.first)


def _with_styles(lines: Sequence[Line], found: list[Heading], layout: Layout, skip: frozenset[int]) -> list[Heading]:
    """Add headings without numbers: short lines set as numbered headings are, else larger than the body."""
    taken = {index for heading in found for index in range(heading.first, heading.last + 1)}
    levels = _style_levels(lines, found, layout)
    if not levels:
        levels = _size_levels(lines, layout, skip)
    added: list[Heading] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        level = None if line.text.lower() in CARDINALS else levels.get(_style(line))
        before = lines[index - 1] if index else None
        if index not in taken and index not in skip and level and _is_plain_title(line, before, layout):
            heading = grown(lines, index, index, level, layout, line.text)
            if heading.last - heading.first < 3 and heading.last not in taken:
                added.append(heading)
                index = heading.last
        index += 1
    return found + added


def _style(line: Line) -> tuple[float, bool]:
    return round(line.size * 2) / 2, line.bold


def _style_levels(lines: Sequence[Line], found: list[Heading], layout: Layout) -> dict[tuple[float, bool], int]:
    levels: dict[tuple[float, bool], Counter[int]] = defaultdict(Counter)
    for heading in found:
        line = lines[heading.last]
        if not heading.clause and layout.is_strong(line):
            levels[_style(line)][heading.level] += 1
    return {style: counts.most_common(1)[0][0] for style, counts in levels.items()}


def _size_levels(lines: Sequence[Line], layout: Layout, skip: frozenset[int]) -> dict[tuple[float, bool], int]:
    """Levels by size for documents without numbers; a style that is common is no heading."""
    counts: Counter[tuple[float, bool]] = Counter()
    for index, line in enumerate(lines):
        if index not in skip and layout.is_strong(line):
            counts[_style(line)] += 1
    rare = [style for style, count in counts.items() if count <= max(3, 0.15 * len(lines))]
    ranked = sorted(rare, key=lambda style: (-style[0], not style[1]))
    return {style: min(rank, 6) for rank, style in enumerate(ranked, 1)}


def _is_plain_title(line: Line, before: Line | None, layout: Layout) -> bool:
    text = line.text
    return (
        layout.is_strong(line)
        and line.cells == 1
        and 2 <= len(text) <= 100
        and not line.turned
        and not line.mono
        and bool(LETTER.search(text))
        and not SENTENCE.search(text)
        and not CAPTION.match(text)
        and not _CALLOUT.fullmatch(text)
        and not re.search("[，。；]", text)
        and not text[0].islower()
        and layout.gap_above(before, line)
    )
