"""The sentences that answer: a small linear model over the units of the best chunks, and windows of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ctxcli.answering.coefficients import SENTENCE, judged
from ctxcli.model.stored import NOT_QUOTED
from ctxcli.retrieval.bm25 import Match, coverage
from ctxcli.retrieval.weights import TermWeights
from ctxcli.text.question import Language, Question

LIMIT: dict[Language, int] = {"en": 400, "zh": 160}
"""Characters that an answer may show; a block may have three times as many."""
BLOCK_FACTOR = 3
CHUNKS = 5
"""The answer is chosen from so many of the best chunks."""
SECOND_EXCERPT = 0.02
"""What a second excerpt must add to the expected number of right answers to be shown."""
SECOND_SHARE = 0.1
"""... and the share of the first excerpt's that its own expected number must be."""
IDLE_PARAGRAPH = 0.05
"""A paragraph at either end of an excerpt that adds less than this is left out."""
COLUMN_NAMES = 0.1
"""What is left of the probability of a row that only names columns: it answers no question by itself."""
ONLY_ASKS = 0.1
"""What is left of the probability of a question in a document; what follows it has its probability, where higher."""
_MARKS = 3
"""Characters kept for ellipses and the blanks between excerpts."""
_PAIRED = 40
_SENTENCE = 12
"""Shorter units may stand in both excerpts: "Yes.", a cell of a table."""
_ROOM = 40
_NO_TERMS: frozenset[str] = frozenset()
_IN_FIGURES = frozenset("0123456789.,零〇一二三四五六七八九十百千万亿萬億")


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring units of one chunk: `chunk.text[start:end]`; `value` is what it is expected to answer (≥ 0)."""

    match: Match
    start: int
    end: int
    value: float

    @property
    def size(self) -> int:
        """Characters."""
        return self.end - self.start

    @property
    def text(self) -> str:
        """The excerpt, verbatim."""
        return self.match.chunk.text[self.start : self.end]

    def units(self) -> Iterator[int]:
        """The units that it holds, wholly or in part."""
        for at, (start, end, _) in enumerate(self.match.chunk.units):
            if start < self.end and self.start < end:
                yield at


Windows = Sequence[Window]
Values = Sequence[Mapping[int, float]]
"""For each of the best matches the probability, by unit, that the unit answers."""


def sentence_features(
    question: Question, weights: TermWeights, matches: Sequence[Match], *, headings: bool = False
) -> Iterator[tuple[int, int, dict[str, float]]]:
    """For each unit of the matches that can be quoted: (rank of its chunk from 0, index of the unit, features by name).

    With `headings` for those that say when instead.
    """
    best_score = matches[0].score if matches else 0.0
    for rank, match in enumerate(matches):
        lines = match.chunk.terms.split("\n")[2:]
        best = match.best
        for index, (start, end, kind) in enumerate(match.chunk.units):
            if not (_dates(question, match.chunk.text[start:end], kind) if headings else kind not in NOT_QUOTED):
                continue
            terms = match.units[index]
            around = terms.union(*_beside(match, index))
            others = set(lines[index].split())
            cover = match.cover[index]
            new_things = question.asked_things(match.chunk.text[start:end]) if question.asked else ()
            yield (
                rank,
                index,
                {
                    "cs": match.score,
                    "dcs": best_score - match.score,
                    "r0": float(rank == 0),
                    "r1": float(rank == 1),
                    "covt": cover,
                    "covw": coverage(around, _NO_TERMS, weights),
                    "d0": float(index == best),
                    "d1": float(index == best + 1),
                    "dm1": float(index == best - 1),
                    "dcov": match.cover[best] - cover,
                    "len": math.log(1 + end - start),
                    "echo": len(terms) / len(others) if others else 0.0,
                    "nov": math.log(1 + len(others) - len(terms)),
                    "ty": (1.0 if new_things else -1.0) if question.asked else 0.0,
                },
            )


def _dates(question: Question, text: str, kind: str) -> bool:
    """Whether a unit is a heading that says when, as those of releases and meetings do."""
    return kind == "heading" and bool(question.asked_things(text))


def with_dated_headings(
    question: Question, weights: TermWeights, matches: Sequence[Match], values: Sequence[Mapping[int, float]]
) -> list[dict[int, float]]:
    """The values of units, and where a date is asked for those of headings that say one (``v2.1 (2022-05-30)``).

    Only for what is shown: a date in a heading does not speak for an answer as one in a sentence does.
    """
    found = [dict(one) for one in values]
    if question.asked in {"date", "year"} and not question.sections:
        model = SENTENCE[question.language]
        for rank, index, features in sentence_features(question, weights, matches, headings=True):
            found[rank][index] = judged(model, features)
    return found


def _beside(match: Match, index: int) -> Iterator[frozenset[str]]:
    """What of the question is in the units before and after one, as far as they stand in the same section."""
    units = match.chunk.units
    section = match.chunk.section_of(units[index][0])
    for at in (index - 1, index + 1):
        if 0 <= at < len(units) and match.chunk.section_of(units[at][0]) == section:
            yield match.units[at]


def sentence_values(question: Question, weights: TermWeights, matches: Sequence[Match]) -> list[dict[int, float]]:
    """For each match the probability, by unit, that the unit answers."""
    model = SENTENCE[question.language]
    values: list[dict[int, float]] = [{} for _ in matches]
    for rank, index, features in sentence_features(question, weights, matches):
        values[rank][index] = judged(model, features)
    for match, found in zip(matches, values, strict=True):
        for index in found:
            start, end, kind = match.chunk.units[index]
            if kind == "header_row":
                found[index] *= COLUMN_NAMES
            elif is_question(match.chunk.text[start:end]) and match.chunk.section_of(start) == _section_after(
                match, index
            ):
                following = index + 1
                if following in found:
                    found[following] = max(found[following], found[index])
                found[index] *= ONLY_ASKS
    return values


def is_question(text: str) -> bool:
    """Whether a unit only asks, as those of a list of questions and answers do."""
    return text.rstrip("*_ \n").endswith(("?", "？"))


def _section_after(match: Match, index: int) -> int | None:
    """The section of the next unit, None behind the last."""
    units = match.chunk.units
    return match.chunk.section_of(units[index + 1][0]) if index + 1 < len(units) else None


def best_span(match: Match, values: Mapping[int, float], *, limit: int) -> tuple[int, int]:
    """Start and end of the run of units within `limit` characters that most likely answers.

    One unit where its neighbours add little; the first unit where none can be quoted.
    """
    units = match.chunk.units
    if not values:
        return (units[0][0], units[0][1]) if units else (0, len(match.chunk.text))
    windows = list(_windows(match, values, limit))
    if not windows:
        index = max(values, key=lambda one: (values[one], -one))
        return units[index][0], units[index][1]
    best = max(windows, key=lambda window: (window.value, -window.size, -window.start))
    return best.start, best.end


def choose(
    matches: Sequence[Match],
    values: Sequence[Mapping[int, float]],
    *,
    limit: int,
    penalty: float = SECOND_EXCERPT,
    least: float = SECOND_SHARE,
) -> tuple[Window, ...]:
    """The window, or the two windows, that most likely hold the answer, within `limit` characters; best first."""
    limit -= _MARKS
    windows = sorted(
        (window for match, found in zip(matches, values, strict=True) for window in _windows(match, found, limit)),
        key=lambda window: (-window.value, window.match.chunk.key, window.start, window.end),
    )
    if not windows:
        return ()
    chosen: tuple[Window, ...] = (windows[0],)
    highest = windows[0].value
    short = islice((window for window in windows if window.size <= limit - _ROOM), _PAIRED)
    for first in short:
        second = _second(windows, first, limit - first.size - 3)
        if second is None:
            continue
        more, less = sorted((first.value, second.value), reverse=True)
        if less >= least * more and more + less - penalty > highest:
            highest = more + less - penalty
            chosen = (first, second) if first.value >= second.value else (second, first)
    return chosen


def would_show(question: Question, matches: Sequence[Match], values: Values) -> tuple[Window, ...]:
    """What of the best matches an answer shows, as far as `values` tells what their units are worth."""
    count = min(CHUNKS, len(values))
    return choose(matches[:count], values[:count], limit=LIMIT[question.language])


def without_idle_ends(window: Window, values: Mapping[int, float]) -> Window:
    """The window without paragraphs at its ends that hardly answer; what leads a list in stays with it.

    `values` holds the probability, by unit of its chunk, that the unit answers.
    """
    units, text = window.match.chunk.units, window.match.chunk.text
    paragraphs: list[list[int]] = []
    for at in window.units():
        if not paragraphs or _begins_paragraph(text[slice(*units[at - 1][:2])], text[units[at - 1][1] : units[at][0]]):
            paragraphs.append([])
        paragraphs[-1].append(at)
    worth = [math.fsum(values.get(at, 0.0) for at in one) for one in paragraphs]
    first, last = 0, len(paragraphs) - 1
    while first < last and worth[first] < IDLE_PARAGRAPH:
        first += 1
    while first < last and worth[last] < IDLE_PARAGRAPH:
        last -= 1
    start, end = units[paragraphs[first][0]][0], units[paragraphs[last][-1]][1]
    return replace(window, start=max(window.start, start), end=min(window.end, end))


def leads_in(text: str) -> bool:
    """Whether a text announces what follows it, as a list."""
    return text.rstrip("*_ \n").endswith((":", "："))


def _begins_paragraph(before: str, gap: str) -> bool:
    return "\n\n" in gap and not leads_in(before)


def _second(windows: Sequence[Window], first: Window, room: int) -> Window | None:
    for window in windows:
        apart = window.match is not first.match or window.end <= first.start or window.start >= first.end
        if window.size <= room and apart and not _repeats(window, first):
            return window
    return None


def _repeats(one: Window, other: Window) -> bool:
    """Whether one of two excerpts holds the other, or a whole sentence of it, white space apart."""
    a, b = _bare(one.text), _bare(other.text)
    return a in b or b in a or any(len(unit) >= _SENTENCE and unit in b for unit in _bare_units(one))


def _bare_units(window: Window) -> Iterator[str]:
    """The whole units of a window."""
    for start, end, _ in window.match.chunk.units:
        if window.start <= start and end <= window.end:
            yield _bare(window.match.chunk.text[start:end])


def _bare(text: str) -> str:
    return "".join(text.split())


def _windows(match: Match, values: Mapping[int, float], limit: int) -> Iterator[Window]:
    """All runs of units of one section and page within the limit; one that is too long is cut, as is the last."""
    units = match.chunk.units
    place = {index: match.chunk.spot(units[index][0]) for index in values}
    for first in values:
        start, value, last = units[first][0], 0.0, first
        while last in values and place[last] == place[first]:
            end = units[last][1]
            if last == first and units[first][2] == "code" and limit < end - start <= BLOCK_FACTOR * limit:
                yield Window(match, start, end, values[first])  # a block of code is whole or it is nothing
                break
            if end - start > limit:
                begin = units[last][0]
                room = limit - (begin - start)
                if room >= min(_ROOM, limit // 4):
                    cut = _cut(match.chunk.text, begin, start + limit)
                    share = (cut - begin) / (end - begin)
                    yield Window(match, start, cut, value + values[last] * share)
                break
            value += values[last]
            yield Window(match, start, end, value)
            last += 1


def _cut(text: str, begin: int, end: int) -> int:
    """The last place before `end` where a word ends, and no figure goes on."""
    before = end
    while begin < before < len(text) and {text[before - 1], text[before]} <= _IN_FIGURES:
        before -= 1
    end = before if before > begin else end
    if not text[end - 1].isascii() or end >= len(text) or text[end].isspace():
        return end
    blank = max(text.rfind(" ", begin, end), text.rfind("\n", begin, end))
    return blank if blank > begin else end
