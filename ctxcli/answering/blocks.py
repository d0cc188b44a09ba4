"""A list or a table is shown whole where it is the answer, not an item of it."""

from collections.abc import Mapping, Sequence

from ctxcli.answering.evidence import BLOCK_FACTOR, LIMIT, Window
from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

_FAMILY = {"item": "list", "row": "table", "header_row": "table"}
NEARLY = 0.8
"""The share of a block that an excerpt holds which is then shown whole."""
_LEAD_IN = (":", "：")


def whole_block(
    question: Question, windows: Sequence[Window], matches: Sequence[Match], values: Sequence[Mapping[int, float]]
) -> tuple[Window, ...]:
    """The excerpts, or in their place the one list or table that the first of them is most of.

    That is so where the question asks for several things or for steps and the excerpt lies in a list, or where the
    excerpt holds half of the block and no item of it has half of its value (then no single item is the answer) or
    nearly all of the block, but for the end of an item.
    `values` holds for each match the probability, by unit, that the unit answers. The block, with the line that leads
    it in, may have three times the characters of another answer; a longer one stays cut.
    """
    if not windows:
        return ()
    first = windows[0]
    run = _run(first)
    if run is None:
        return tuple(windows)
    begin, end = run
    units = first.match.chunk.units
    held = [at for at in range(begin, end) if first.start < units[at][1] and units[at][0] < first.end]
    start, stop = units[_lead_in(first.match.chunk, begin)][0], units[end - 1][1]
    of_unit = next(found for match, found in zip(matches, values, strict=True) if match is first.match)
    is_spread = max(of_unit.get(at, 0.0) for at in held) < first.value / 2
    is_whole = first.size >= NEARLY * (stop - start)
    is_answer = question.wants_several or is_whole or (is_spread and 2 * first.size >= stop - start)
    if not is_answer or stop - start > BLOCK_FACTOR * LIMIT[question.language] or stop - start <= first.size:
        return tuple(windows)
    whole = Window(first.match, start, stop, first.value)
    rest = [window for window in windows[1:] if window.match is not first.match or not _meet(window, whole)]
    room = LIMIT[question.language] - whole.size
    return (whole, *(window for window in rest if window.size <= room))


def _run(window: Window) -> tuple[int, int] | None:
    """The units, first and behind the last, of the one list or table of which an excerpt shows something."""
    chunk, units = window.match.chunk, window.match.chunk.units
    inside = [at for at, (start, end, _) in enumerate(units) if start < window.end and window.start < end]
    if inside and units[inside[0]][2] not in _FAMILY:
        del inside[0]  # what leads the block in

    def block_of(at: int) -> tuple[str | None, tuple[int, int | None]]:
        return _FAMILY.get(units[at][2]), chunk.spot(units[at][0])

    if not inside or any(units[at][2] not in _FAMILY or block_of(at) != block_of(inside[0]) for at in inside):
        return None
    own, begin, end = block_of(inside[0]), inside[0], inside[-1] + 1
    while begin > 0 and block_of(begin - 1) == own:
        begin -= 1
    while end < len(units) and block_of(end) == own:
        end += 1
    return (begin, end) if end - begin > 1 else None


def _lead_in(chunk: StoredChunk, begin: int) -> int:
    """The unit that leads a block in, of the same section and page; the block's first unit where there is none."""
    units = chunk.units
    if begin == 0 or units[begin - 1][2] != "prose" or chunk.spot(units[begin - 1][0]) != chunk.spot(units[begin][0]):
        return begin
    return begin - 1 if chunk.text[slice(*units[begin - 1][:2])].rstrip("*_ ").endswith(_LEAD_IN) else begin


def _meet(one: Window, other: Window) -> bool:
    return one.start < other.end and other.start < one.end
