"""Whether two places say different things about what is asked."""

import re
from collections.abc import Mapping, Sequence

from ctxcli.answering.evidence import Window
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

_QUANTITY = r"(?<![\w.])(?P<number>[0-9]+(?:[.,][0-9]+)*|[零〇一二三四五六七八九十百千万两]+)\s*-?\s*(?P<unit>%|％|°[CF]|[A-Za-zµ]+|[\u4e00-\u9fff]{1,2})"
_ALIKE = 0.6
"""Two sentences are about the same when they share this part of their terms, numbers aside."""
_COVERED = 0.9
"""... and when the second covers the question nearly as well as the first."""


def conflict(question: Question, matches: Sequence[Match], values: Sequence[Mapping[int, float]]) -> tuple[Window, ...]:
    """Two sentences of different sections that give different quantities for the same thing, or ().

    Only where a number or a date is asked for; both sentences must be close in wording and in how they cover the
    question, and name a quantity of the same unit with another number.
    """
    if question.asked not in {"number", "date"}:
        return ()
    best = [
        (match, max(found, key=lambda one: (found[one], -one)))
        for match, found in zip(matches, values, strict=True)
        if found
    ]
    for position, (match, unit) in enumerate(best):
        for other, other_unit in best[position + 1 :]:
            if _disagree(match, unit, other, other_unit):
                return (_window(match, unit, values[position][unit]), _window(other, other_unit, 0.0))
    return ()


def _disagree(match: Match, unit: int, other: Match, other_unit: int) -> bool:
    if other.cover[other_unit] < _COVERED * match.cover[unit]:
        return False
    mine, yours = _quantities(_text(match, unit)), _quantities(_text(other, other_unit))
    shared = mine.keys() & yours.keys()
    if not shared or any(mine[one] & yours[one] for one in shared):
        return False
    a, b = _words(match, unit), _words(other, other_unit)
    return bool(a and b) and len(a & b) >= _ALIKE * min(len(a), len(b)) and len(a & b) >= 2


def _quantities(text: str) -> dict[str, set[str]]:
    """The numbers of a text by their unit."""
    found: dict[str, set[str]] = {}
    for match in re.finditer(_QUANTITY, text):
        found.setdefault(match["unit"].lower().rstrip("s"), set()).add(match["number"].replace(",", ""))
    return found


def _words(match: Match, unit: int) -> set[str]:
    line = match.chunk.terms.split("\n")[unit + 2]
    return {term for term in line.split() if len(term) > 1 and not term[0].isdigit()}


def _text(match: Match, unit: int) -> str:
    start, end, _ = match.chunk.units[unit]
    return match.chunk.text[start:end]


def _window(match: Match, unit: int, value: float) -> Window:
    start, end, _ = match.chunk.units[unit]
    return Window(match, start, end, value)
