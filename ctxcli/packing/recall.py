"""Turns found again by what they say: BM25 over a conversation, of which most is passed over unread."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ctxcli.packing.history import Event, event_of
from ctxcli.packing.turns import Turn
from ctxcli.retrieval.bm25 import K1, B
from ctxcli.retrieval.weights import weigh
from ctxcli.text.analyzer import Analyzer, fold
from ctxcli.text.question import read_question
from ctxcli.text.variants import other_forms

_BYTES_A_TERM = 6
"""About; it only says how long turns are beside general text."""
_IRREGULAR = {"die": "dy", "lie": "ly", "tie": "ty"}
"""Stems whose words may begin otherwise (dying)."""
_ESCAPED = "\\u"
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Recalled:
    """A turn found again, and how strongly it bears on the query (BM25, unitless); `archived` where it is not shown."""

    id: str
    at: str
    score: float
    summary: str
    text: str
    archived: bool

    def document(self) -> dict[str, Any]:
        """The turn as it stands in documents."""
        return {
            "id": self.id, "at": self.at, "score": round(self.score, 4), "archived": self.archived,
            "summary": self.summary, "text": self.text,
        }  # fmt: skip


def recalled(turn: Turn, score: float, *, archived: bool, events: Mapping[str, Event]) -> Recalled:
    """A turn as it is recalled, with the summary of its event where there is one."""
    event = events.get(turn.id) or event_of(turn)
    return Recalled(turn.id, turn.at, score, event.summary, turn.text, archived)


def recall(query: str, turns: Sequence[Turn], *, k: int, events: Mapping[str, Event]) -> tuple[Recalled, ...]:
    """The turns nearest to a query, best first; one that shares no term with it is never among them."""
    finder: Finder[Turn] = Finder(query)
    for turn in turns:
        if finder.may_hold(turn.text):
            finder.add(turn, finder.terms_in(turn.text), size=len(turn.text.encode("utf-8", "replace")))
    found = zip(range(k), finder.ranked(len(turns)), strict=False)
    return tuple(recalled(turn, score, archived=True, events=events) for _, (turn, score) in found)


class Finder(Generic[Key]):
    """Ranks texts by the terms of a query, Chinese and English, each known by a key.

    A text that surely holds no term is told from its characters, which is many times faster than making its terms.
    """

    def __init__(self, query: str) -> None:
        self._analyzer = Analyzer()
        self._question = read_question(query, self._analyzer)
        terms = self._question.terms
        self._forms = {form for term in terms for form in (term, *(() if term.isascii() else other_forms(term)))}
        hints = {hint for form in self._forms for hint in _hints(form)}
        self._beginnings = tuple({hint[0] if hint[:1].isdigit() else hint.lower() for hint in hints})  # 1000 is 1,000
        self._begins = re.compile("|".join(map(_at_word, sorted(hints))) if hints else r"(?!)")
        self._rows: list[tuple[Key, Mapping[str, int], int]] = []

    def may_hold(self, raw: str) -> bool:
        """Whether a text, or the JSON of one, may hold a term of the query; never false where it does."""
        if _ESCAPED in raw:
            return True
        folded = fold(raw)
        lowered = folded.lower()
        return any(one in lowered for one in self._beginnings) and self._begins.search(folded) is not None

    def terms_in(self, text: str) -> Mapping[str, int]:
        """How often a text holds each term of the query."""
        return Counter(filter(self._forms.__contains__, self._analyzer.terms(text).split()))

    def add(self, key: Key, terms: Mapping[str, int], *, size: int) -> None:
        """Take in a text of `size` bytes that holds these terms; one without any is passed over."""
        if terms:
            self._rows.append((key, terms, size))

    def ranked(self, texts: int) -> Iterator[tuple[Key, float]]:
        """The texts with their BM25, best first, ties newest first; `texts` is how many there were in all.

        Lengths count beside those of the texts that hold a term.
        """
        if not self._rows:
            return
        average = sum(size for _, _, size in self._rows) / len(self._rows) or 1.0
        frequency = Counter(term for _, terms, _ in self._rows for term in terms)
        length = max(1, int(average / _BYTES_A_TERM * texts))
        weights = weigh(self._question, frequency.__getitem__, chunks=max(texts, len(self._rows)), length=length)
        scored = []
        for at, (_, terms, size) in enumerate(self._rows):
            counts: Counter[str] = Counter()
            for term, times in terms.items():
                if term in weights.canonical:
                    counts[weights.canonical[term]] += times
            norm = K1 * (1 - B + B * size / average)
            score = sum(weights.weight[term] * n * (K1 + 1) / (n + norm) for term, n in counts.items())
            if score > 0:
                scored.append((-round(score, 9), -at))
        for negative, at in sorted(scored):
            yield self._rows[-at][0], -negative


def _hints(term: str) -> tuple[str, ...]:
    """How every text begins that gives a term: a stem differs from its word in the last letter at most."""
    leading = re.match(r"[^\W_]*", term)
    start = leading[0] if leading else ""
    if start != term:
        return (start[:4],)
    if not term.isalpha() or ord(term[0]) >= 0x2E80:
        return (term if ord(term[0]) >= 0x2E80 else term[:4],)
    kept = term[:-1] if len(term) > 1 else term
    return (kept, _IRREGULAR[term]) if term in _IRREGULAR else (kept,)


def _at_word(hint: str) -> str:
    """A pattern for a hint where a word or a part of one begins, also behind an escape of JSON (``\\n``)."""
    if not hint:
        return ""
    if not hint.isascii() or hint[0].isdigit():
        return ",?".join(map(re.escape, hint)) if hint[0].isdigit() else _either_case(hint)
    first, rest, length = hint[0], _either_case(hint[1:]), len(hint)
    begins = rf"(?:(?<![A-Za-z].{{{length}}})|(?<=\\[bfnrt].{{{length}}}))"  # behind the hint: patterns run faster so
    return rf"{first}{rest}{begins}|{first.upper()}{rest}"


def _either_case(text: str) -> str:
    cases = (dict.fromkeys(one for one in (char, char.lower(), char.upper()) if len(one) == 1) for char in text)
    return "".join(re.escape(char) if len(found := "".join(one)) == 1 else f"[{re.escape(found)}]"
                   for char, one in zip(text, cases, strict=True))  # fmt: skip
