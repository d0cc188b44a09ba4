"""A list or a table is shown whole where it is the answer, not an item of it."""

from collections.abc import Mapping, Sequence
from math import fsum

from ctxcli.answering.evidence import BLOCK_FACTOR, LIMIT, Window, leads_in
from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

_FAMILY = {"item": "list", "row": "table", "header_row": "table"}
NEARLY = 0.8
"""The share of a block that an excerpt holds which is then shown whole."""
MOSTLY = 0.7
"""The share of an excerpt's value in one block for which all else is left out."""


def whole_block(
    question: Question, windows: Sequence[Window], matches: Sequence[Match], values: Sequence[Mapping[int, float]]
) -> tuple[Window, ...]:
    """The excerpts, or in their place the one list or table that the first of them is most of.

    That is so where the question asks for several things or for steps and the excerpt lies in a list, or where the
    excerpt holds half of the block and no item of it has half of its value (then no single item is the answer) or
    nearly all of the block, but for the end of an item. Where the excerpt holds other things too, the block is shown
    alone if several things or steps are asked for and most of the excerpt's value lies in it.
    `values` holds for each match the probability, by unit, that the unit answers. The block, with the line that leads
    it in, may have three times the characters of another answer; a longer one stays cut.
    """
    if not windows:
        return ()
    first = windows[0]
    of_unit = next(found for match, found in zip(matches, values, strict=True) if match is first.match)
    chosen = _block(question, first, of_unit)
    if chosen is None:
        return tuple(windows)
    whole = Window(first.match, *chosen, first.value)
    rest = [window for window in windows[1:] if window.match is not first.match or not _meet(window, whole)]
    room = LIMIT[question.language] - whole.size
    return (whole, *(window for window in rest if window.size <= room))


def _block(question: Question, first: Window, of_unit: Mapping[int, float]) -> tuple[int, int] | None:
    """Start and end of the block that is the answer, None where the excerpt is to stay as it is."""
    chunk, units = first.match.chunk, first.match.chunk.units
    inside = [at for at, (start, end, _) in enumerate(units) if start < first.end and first.start < end]
    runs = list(dict.fromkeys(_run(chunk, at) for at in inside if units[at][2] in _FAMILY))
    worth = {run: fsum(of_unit.get(at, 0.0) for at in inside if _lead_in(chunk, run[0]) <= at < run[1]) for run in runs}
    begin, end = max(runs, key=lambda run: (worth[run], -run[0]), default=(0, 0))
    if end - begin < 2:
        return None
    start, stop = units[_lead_in(chunk, begin)][0], units[end - 1][1]
    if stop - start > BLOCK_FACTOR * LIMIT[question.language]:
        return None
    led_in = inside[1:] if units[inside[0]][2] not in _FAMILY else inside
    if not all(begin <= at < end for at in led_in):
        is_answer = question.wants_several and worth[begin, end] >= MOSTLY * first.value
        return (start, stop) if is_answer else None
    held = [at for at in inside if begin <= at < end]
    is_spread = max(of_unit.get(at, 0.0) for at in held) < first.value / 2
    is_whole = first.size >= NEARLY * (stop - start)
    is_answer = question.wants_several or is_whole or (is_spread and 2 * first.size >= stop - start)
    return (start, stop) if is_answer and stop - start > first.size else None


def _run(chunk: StoredChunk, at: int) -> tuple[int, int]:
    """The units, first and behind the last, of the one list or table that a unit stands in."""
    units = chunk.units

    def block_of(unit: int) -> tuple[str | None, tuple[int, int | None]]:
        return _FAMILY.get(units[unit][2]), chunk.spot(units[unit][0])

    begin, end = at, at + 1
    while begin > 0 and block_of(begin - 1) == block_of(at):
        begin -= 1
    while end < len(units) and block_of(end) == block_of(at):
        end += 1
    return begin, end


def _lead_in(chunk: StoredChunk, begin: int) -> int:
    """The unit that leads a block in, of the same section and page; the block's first unit where there is none."""
    units = chunk.units
    if begin == 0 or units[begin - 1][2] != "prose" or chunk.spot(units[begin - 1][0]) != chunk.spot(units[begin][0]):
        return begin
    return begin - 1 if leads_in(chunk.text[slice(*units[begin - 1][:2])]) else begin


def _meet(one: Window, other: Window) -> bool:
    return one.start < other.end and other.start < one.end
