"""Whether two places say different things about what is asked."""

import re
from collections.abc import Mapping, Sequence

from ctxcli.answering.evidence import Window
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

_UNITS = (
    "%|％|°[CF]|(?:milli|micro)?seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?|times?|percent|ppm|ppb|"
    "[kmµ]?g|[km]?m|cm|ml|l|litres?|liters?|[kMGT]i?B|bytes?|characters?|words?|pages?|people|persons?|users?|euros?|"
    "dollars?|degrees?|metres?|meters?|connections?|threads?|cores?|ms|s|h|"
    "个月|個月|小时|小時|分钟|分鐘|公里|公斤|毫克|字符|万元|萬元|千米|平方米|[天日月年周秒次人元個个条條度米克页頁字岁歲倍]"
)
_QUANTITY = (
    r"(?<![\w.])(?P<number>[0-9]+(?:[.,][0-9]+)*|[零〇一二三四五六七八九十百千万两]+)\s*-?\s*"
    rf"(?P<unit>{_UNITS})(?![A-Za-z])"
)
_ALIKE = 0.75
"""Two sentences are about the same when they share this part of their terms, numbers aside."""
_COVERED = 0.9
"""... and when the second covers the question nearly as well as the first."""
_LIKELY = 0.5
"""... and is at least so likely to answer, as a share of the first; the first is the likeliest of all."""
_LEAST = 0.5
"""... and the first covers so much of the question."""


def conflict(question: Question, matches: Sequence[Match], values: Sequence[Mapping[int, float]]) -> tuple[Window, ...]:
    """Two sentences of different sections that give different quantities for the same thing, or ().

    Only where a number or a date is asked for; both sentences must be close in wording and in how they cover the
    question, and name a quantity of the same unit with another number.
    """
    if question.asked not in {"number", "date", "year"}:
        return ()
    best = [
        (match, unit, found[unit])
        for match, found in zip(matches, values, strict=True)
        if found
        for unit in [max(found, key=lambda one: (found[one], -one))]
    ]
    if not best:
        return ()
    match, unit, likely = max(best, key=lambda one: one[2])
    if match.cover[unit] < _LEAST:
        return ()
    for other, other_unit, value in best:
        apart = other.chunk.key != match.chunk.key
        if apart and value >= _LIKELY * likely and _disagree(match, unit, other, other_unit):
            return (_window(match, unit, likely), _window(other, other_unit, value))
    return ()


def _disagree(match: Match, unit: int, other: Match, other_unit: int) -> bool:
    if other.cover[other_unit] < _COVERED * match.cover[unit]:
        return False
    mine, yours = _quantities(_text(match, unit)), _quantities(_text(other, other_unit))
    shared = mine.keys() & yours.keys()
    if not shared or any(mine[one] & yours[one] for one in shared):
        return False
    a, b = _words(match, unit), _words(other, other_unit)
    return bool(a and b) and len(a & b) >= _ALIKE * len(a | b)


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
