"""Whether two places say different things about what is asked: other quantities, times or dates."""

import re
from collections.abc import Mapping, Sequence

from ctxcli.answering.evidence import Window
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question, from_han

_UNITS = (
    "%|％|°[CF]|(?:milli|micro)?seconds?|secs?|minutes?|mins?|hours?|days?|weeks?|months?|years?|times?|percent|ppm|ppb|"
    "[kmµ]?g|[km]?m|cm|ml|l|litres?|liters?|[kMGT]i?B|bytes?|characters?|words?|pages?|people|persons?|users?|euros?|"
    "dollars?|pounds?|pence|degrees?|decibels?|metres?|meters?|connections?|threads?|cores?|ms|s|h|k?[WV]|dB|"
    "个月|個月|小时|小時|分钟|分鐘|公里|公斤|毫克|字符|万元|萬元|千米|平方米|"
    "[天日月年周秒次人元個个条條度米克页頁字岁歲倍册冊本名台件位间間张張层層份块塊]"
)
_HAN = "零〇一二三四五六七八九十百千万两"
_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_QUANTITY = (
    rf"(?<![A-Za-z0-9_.第{_HAN}])(?<![0-9],)(?P<number>[0-9]+(?:[.,][0-9]+)*+|\b(?:{'|'.join(_WORDS)})\b|[{_HAN}]+)"
    rf"\s*-?\s*(?P<unit>{_UNITS})(?![A-Za-z])"
)
_MONEY = r"(?P<unit>[€£$¥￥])\s?(?P<number>[0-9]+(?:[.,][0-9]+)*)"
_CLOCK = r"(?<![A-Za-z0-9_:.])(?P<hour>[0-9]{1,2})[:：](?P<minute>[0-9]{2})(?![0-9:])"
_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = f"(?P<name>Sept|{'|'.join(f'{one[:3]}(?:{one[3:]})?' for one in _MONTHS)})"
_DATES = (
    rf"(?<![\w.])(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? (?P<year>[12][0-9]{{3}}))?",
    rf"\b{_MONTH} (?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>[12][0-9]{{3}}))?",
    r"(?<![\w-])(?P<year>[12][0-9]{3})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})(?![\w-])",
    r"(?:(?P<year>[12][0-9]{3})\s?年\s?)?(?P<month>[0-9]{1,2})\s?月\s?(?P<day>[0-9]{1,2})\s?[日号號]",
)
_A_YEAR = (
    r"(?<![A-Za-z0-9_.,-])(?P<year>(?:1[5-9]|20)[0-9]{2})"
    rf"(?:\s?年|(?![A-Za-z0-9_%-]|[.,][0-9]|\s?(?:{_UNITS})(?![A-Za-z])))"
)
_REASON = (
    r"\b(?:why|how (?:do|does|did|can|could|should|to|is|are|was))\b|为什么|為什麼|为何|為何|怎么|怎麼|怎样|怎樣|如何"
)
_NUMBER = re.compile(f"^[0-9]|(?<![周週期拜])[{_HAN}]")
_DAY, _YEAR = "day", "calendar year"
_ALIKE = 0.75
"""Two sentences are about the same when they share this part of their terms, numbers aside."""
_COVERED = 0.9
"""... and when the second covers the question nearly as well as the first."""
_LIKELY = 0.33
"""... and is at least so likely to answer, as a share of the first, which is the likeliest: rank alone may halve it."""
_LEAST = 0.5
"""... and the first covers so much of the question."""


def conflict(question: Question, matches: Sequence[Match], values: Sequence[Mapping[int, float]]) -> tuple[Window, ...]:
    """Two sentences of different sections that give different quantities for the same thing, or ().

    Not where a reason, a way, a person or a place is asked for. Both sentences must be close in wording and in how they
    cover the question, and name a quantity of the same unit with another number, another date or another time of day.
    """
    if question.asked in {"person", "place"} or (not question.asked and re.search(_REASON, question.text, re.I)):
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
        if apart and value >= _LIKELY * likely and _disagree(question, match, unit, other, other_unit):
            return (_window(match, unit, likely), _window(other, other_unit, value))
    return ()


def _disagree(question: Question, match: Match, unit: int, other: Match, other_unit: int) -> bool:
    if other.cover[other_unit] < _COVERED * match.cover[unit]:
        return False
    a, b = _words(match, unit), _words(other, other_unit)
    if not (a and b) or len(a & b) < _ALIKE * len(a | b):
        return False
    known = _quantities(question.text)
    mine, yours = (_without(_quantities(_text(*one)), known) for one in ((match, unit), (other, other_unit)))
    return _differ(mine, yours, asked=question.asked)


def _without(found: dict[str, set[str]], known: dict[str, set[str]]) -> dict[str, set[str]]:
    """The quantities that the question does not hold itself."""
    return {unit: left for unit, numbers in found.items() if (left := numbers - known.get(unit, set()))}


def _differ(mine: dict[str, set[str]], yours: dict[str, set[str]], *, asked: str) -> bool:
    """Whether two sentences give different numbers for the same units, and none in common.

    Where a date is asked for, the day decides, whatever hours are named; where none is, what is said of different years
    is no contradiction, and where a number is asked for, neither is what is said of different days.
    """
    apart = {unit for unit in (_DAY, _YEAR) if mine.get(unit, set()) != yours.get(unit, set())}
    if (asked == "number" and apart) or (not asked and _YEAR in apart):
        return False
    if asked == "date" and mine.keys() & yours.keys() >= {_DAY}:
        return not mine[_DAY] & yours[_DAY]
    shared = mine.keys() & yours.keys() - {_YEAR}
    return bool(shared) and not any(mine[one] & yours[one] for one in shared)


def _quantities(text: str) -> dict[str, set[str]]:
    """The numbers of a text by their unit; days as ``5-17``, times of day as ``9:00``."""
    found: dict[str, set[str]] = {}
    for pattern in (*_DATES, _A_YEAR):
        for match in re.finditer(pattern, text):
            named = match.groupdict()
            if named["year"]:
                found.setdefault(_YEAR, set()).add(named["year"])
            if named.get("day"):
                found.setdefault(_DAY, set()).add(f"{_month(named)}-{int(named['day'])}")
        text = re.sub(pattern, " ", text)
    for match in re.finditer(_CLOCK, text):
        found.setdefault("clock", set()).add(f"{int(match['hour'])}:{match['minute']}")
    for pattern in (_MONEY, _QUANTITY):
        for match in re.finditer(pattern, text):
            found.setdefault(match["unit"].lower().rstrip("s"), set()).add(_as_digits(match["number"]))
    return found


def _month(named: Mapping[str, str]) -> int:
    """The month of a date, 1 to 12, by its number or its name."""
    name = named.get("name")
    return next(at for at, one in enumerate(_MONTHS, 1) if one[:3] == name[:3]) if name else int(named["month"])


def _as_digits(number: str) -> str:
    """The number in one form: ``ten``, ``十``, ``10.0`` and ``10`` are the same."""
    if number in _WORDS:
        return str(_WORDS.index(number) + 1)
    if not number[0].isdecimal():
        return number if set(number) & set("万萬") else str(from_han(number))
    whole = number.replace(",", "")
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _words(match: Match, unit: int) -> set[str]:
    line = match.chunk.terms.split("\n")[unit + 2]
    return {term for term in line.split() if len(term) > 1 and term not in _WORDS and not _NUMBER.search(term)}


def _text(match: Match, unit: int) -> str:
    start, end, _ = match.chunk.units[unit]
    return match.chunk.text[start:end]


def _window(match: Match, unit: int, value: float) -> Window:
    start, end, _ = match.chunk.units[unit]
    return Window(match, start, end, value)
