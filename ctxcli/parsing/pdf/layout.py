"""Measures of a document's layout: its body type, the edges of its columns, the usual leading."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ctxcli.parsing.pdf.lines import Line, is_wide

_BIG = 1.12
_GAP = 1.3


@dataclass(frozen=True, slots=True)
class Column:
    """The left and right edge of the text of one column of a page, in points."""

    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Layout:
    """What is usual in a document: `size` in points, `leading` from baseline to baseline by size."""

    size: float
    bold: bool
    leadings: dict[int, float]

    def leading(self, size: float) -> float:
        """The usual distance of two baselines for a type size."""
        return self.leadings.get(round(size), 0) or 1.25 * size

    def is_big(self, line: Line) -> bool:
        """Whether the line is set clearly larger than the body."""
        return max(line.size, min(line.lead_size, line.size * 1.5)) >= _BIG * self.size

    def is_strong(self, line: Line) -> bool:
        """Whether the whole line stands out from the body by size or weight."""
        return self.is_big(line) or (line.bold and line.lead_bold and not self.bold and line.size > 0.85 * self.size)

    def gap_above(self, before: Line | None, line: Line) -> bool:
        """Whether there is more room above the line than between the lines of a paragraph."""
        if before is None or before.page != line.page or before.y <= line.y:
            return True
        return before.y - line.y > _GAP * self.leading(min(before.size, line.size))


def measure(lines: Sequence[Line]) -> Layout:
    """Measure all lines of a document; the size that carries most characters is that of the body."""
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    steps: dict[int, Counter[float]] = defaultdict(Counter)
    before: Line | None = None
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
        bold[line.bold] += len(line.text)
        wide = before is not None and before.x1 - before.x0 > 25 * before.size
        if before is not None and before.page == line.page and abs(before.size - line.size) < 0.6 and wide:
            step = before.y - line.y
            if 0.8 * line.size < step < 2.5 * line.size:
                steps[round(line.size)][round(step, 0)] += 1
        before = line
    size = max(sizes, key=lambda value: (sizes[value], -value), default=10.0)
    leadings = {key: _usual(counts) for key, counts in steps.items()}
    return Layout(size, bold[True] > bold[False], leadings)


def _usual(steps: Counter[float]) -> float:
    """The smallest step that is common: paragraph gaps may be as frequent as lines."""
    most = max(steps.values())
    return min(step for step, count in steps.items() if count >= 0.3 * most) + 0.5


def columns(lines: Sequence[Line], width: float) -> list[Column]:
    """The column each line of a page stands in."""
    if not lines:
        return []
    middle = _gutter(lines, width)
    groups: dict[int, list[Line]] = defaultdict(list)
    sides = [_side(line, middle) for line in lines]
    for side, line in zip(sides, lines, strict=True):
        groups[side].append(line)
    edges = {side: _edges(group) for side, group in groups.items()}
    return _narrowed(lines, [edges[side] for side in sides])


def _narrowed(lines: Sequence[Line], found: list[Column]) -> list[Column]:
    """Give boxes and cells their own right edge: runs of lines with one left edge that fill a narrower measure."""
    start = 0
    for end in range(1, len(lines) + 1):
        if end < len(lines) and _is_run(lines[end - 1], lines[end]):
            continue
        run = lines[start:end]
        right = max(line.x1 for line in run)
        filled = sum(line.x1 > right - 1.2 * line.size for line in run)
        wide = right - run[0].x0 > 12 * run[0].size
        if filled >= 2 and wide and right < found[start].right - 2 * run[0].size:
            found[start:end] = [Column(run[0].x0, right)] * len(run)
        start = end
    return found


def _is_run(before: Line, line: Line) -> bool:
    return (
        abs(before.x0 - line.x0) < 1.5
        and abs(before.size - line.size) < 0.6
        and 0 < before.y - line.y < 1.8 * line.size
    )


def _gutter(lines: Sequence[Line], width: float) -> float | None:
    """The x of the gap between two columns; None where most of the text runs across the page."""
    middle = width / 2
    left = sum(line.x1 <= middle + 8 for line in lines if line.x1 - line.x0 > 0.25 * width)
    right = sum(line.x0 >= middle - 8 for line in lines if line.x1 - line.x0 > 0.25 * width)
    across = sum(line.x0 < middle - 20 and line.x1 > middle + 20 for line in lines)
    return middle if min(left, right) >= 5 and left + right > 1.5 * across else None


def _side(line: Line, middle: float | None) -> int:
    if middle is None:
        return 0
    if line.x1 <= middle + 8:
        return 1
    return 2 if line.x0 >= middle - 8 else 0


def _edges(lines: Sequence[Line]) -> Column:
    rights = sorted(line.x1 for line in lines)
    lefts = sorted(line.x0 for line in lines)
    return Column(lefts[len(lefts) // 20], rights[-1 - len(rights) // 20])


def first_word_width(line: Line) -> float:
    """About how much room the first word of a line takes, in points."""
    if is_wide(line.text[0]):
        return line.size * (2.0 if len(line.text) > 1 and not line.text[1].isalnum() else 1.0)
    return len(line.text.split(" ", 1)[0]) * 0.5 * line.size
