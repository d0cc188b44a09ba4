"""Two columns that a program drew line by line across the page, put into reading order."""

from collections.abc import Callable, Sequence

from ctxcli.parsing.pdf.lines import Line

_SAMPLES = 12
_LEAST = 8
_SHARE = 0.6
_ROOM = 3.0
"""A line fills its column if it ends within this many em of the edge."""
_NARROWEST = 12.0
"""A column of prose is at least so many em wide; one of a table may be narrower."""


def common_gap(gaps: Sequence[tuple[float, float] | None], size: float) -> tuple[float, float] | None:
    """The x range that most of the sampled gaps share, None if there is none."""
    found = [gap for gap in gaps if gap]
    if len(found) < max(_SHARE * len(gaps), 4):
        return None
    starts, ends = sorted(gap[0] for gap in found), sorted(gap[1] for gap in found)
    left, right = starts[int(len(starts) * 0.8)], ends[int(len(ends) * 0.2)]
    return (left, right) if right - left > 0.4 * size else None


def gap_near(
    text: str, middle: float, size: float, origin: Callable[[int], float], right: Callable[[int], float]
) -> tuple[int, float, float] | None:
    """The place of the widest blank near `middle` and the x of its edges; None if all are narrow.

    `origin` and `right` give the left and right x of a character.
    """
    low, high = 0, len(text) - 1
    while low < high:
        half = (low + high) // 2
        low, high = (half + 1, high) if origin(half) < middle else (low, half)
    best: tuple[int, float, float] | None = None
    for place in range(max(1, low - 16), min(len(text) - 1, low + 16)):
        if text[place] != " ":
            continue
        start, end = right(place - 1), origin(place + 1)
        if end - start > 0.8 * size and (best is None or end - start > best[2] - best[1]):
            best = (place, start, end)
    return best


def samples(lines: Sequence[Line], middle: float) -> list[int]:
    """Some of the lines that run across the middle of the page, [] if they are few."""
    across = [place for place, line in enumerate(lines) if line.x0 < middle - 40 and line.x1 > middle + 40]
    if len(across) < _LEAST or len(across) < 0.4 * len(lines):
        return []
    return across[:: max(len(across) // _SAMPLES, 1)][:_SAMPLES]


def by_columns(lines: Sequence[Line], middle: float) -> list[Line]:
    """Lines of the left column before those of the right one, if the two alternate and are filled as prose is.

    Lines across the middle keep their place and part what is above from what is below.
    """
    sides = [-1 if line.x1 <= middle + 2 else 1 if line.x0 >= middle - 2 else 0 for line in lines]
    if not _alternates(lines, sides) or not (_is_prose(lines, sides, -1) and _is_prose(lines, sides, 1)):
        return list(lines)
    ordered: list[Line] = []
    right: list[Line] = []
    for line, side in zip(lines, sides, strict=True):
        if side == 0:
            ordered += right
            right = []
        (right if side == 1 else ordered).append(line)
    return ordered + right


def _alternates(lines: Sequence[Line], sides: Sequence[int]) -> bool:
    pairs = sum(
        sides[place] == -1 and sides[place + 1] == 1 and abs(lines[place].y - lines[place + 1].y) < 2
        for place in range(len(lines) - 1)
    )
    return pairs >= _LEAST and pairs >= 0.25 * len(lines)


def _is_prose(lines: Sequence[Line], sides: Sequence[int], side: int) -> bool:
    """Whether a column is wide and most lines end near its right edge: cells of a table are short or ragged."""
    column = [line for line, own in zip(lines, sides, strict=True) if own == side]
    if len(column) < _LEAST:
        return False
    ends = sorted(line.x1 for line in column)
    edge = ends[-1 - len(ends) // 20]
    size = sorted(line.size for line in column)[len(column) // 2]
    if edge - min(line.x0 for line in column) < _NARROWEST * size:
        return False
    return sum(line.x1 > edge - _ROOM * line.size for line in column) >= _SHARE * len(column)
