"""How much each term of a question is worth in a knowledge base."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ctxcli.text.background import shares
from ctxcli.text.question import Question
from ctxcli.text.related import is_word
from ctxcli.text.variants import other_forms, version_forms

BACKGROUND_CHUNKS = 100
"""Pseudo chunks of general text that are added to every knowledge base, so that three chunks have a sensible idf."""
PART = 0.3
"""What a part of an identifier counts (``max`` of ``max_connections``) where the knowledge base has the whole."""
RELATED = 0.3
"""What a word of like meaning counts of the term's weight, times how near it is (0.2 to 0.4 measured the same)."""
UNKNOWN_BIGRAM = 0.3
"""What a Chinese bigram counts that the knowledge base does not have and that is no word: most span two words."""


def idf(frequency: float, chunks: float) -> float:
    """Weight of a term found in `frequency` of `chunks` chunks (nats, > 0; 0 <= frequency <= chunks).

    The 1 + inside the logarithm keeps it positive, as Lucene does.
    """
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The terms of a question as this knowledge base knows them.

    `weight` maps each term of the question to its idf times its weight in the question.
    `canonical` maps every form to look for (the term, or where the knowledge base has only that the term in the other
    Chinese script or the version written otherwise) to the question's term. `frequency` counts the chunks with it.
    `average_length` is the mean length of a chunk in terms. `related` maps words of like meaning that the knowledge
    base has to the term they may stand for and the share of its weight that they count (0 < share < 1); they are no
    terms themselves, and in `canonical` they stand for themselves. `total` is the weight of all terms together.
    """

    weight: Mapping[str, float]
    canonical: Mapping[str, str]
    frequency: Mapping[str, int]
    average_length: float
    related: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", math.fsum(self.weight.values()))


def weigh(
    question: Question,
    document_frequency: Callable[[str], int],
    *,
    chunks: int,
    length: int,
    background: int = BACKGROUND_CHUNKS,
    related: Callable[[str], Iterable[tuple[str, float]]] | None = None,
) -> TermWeights:
    """Weigh the terms of a question; `length` is the number of terms in all `chunks` chunks.

    With `background` > 0 frequencies are smoothed: df + background · (1 − e^(−L·f)), f the term's share in general
    text and L the mean length of a chunk; with 0 they are the knowledge base's own. `related` gives the words near a
    term and how near they are (0…1); without it only the question's own words count.
    """
    average = length / chunks if chunks else 1.0
    weight: dict[str, float] = {}
    canonical: dict[str, str] = {}
    frequency: dict[str, int] = {}
    general = shares(question.terms)
    for term, factor in question.terms.items():
        found = document_frequency(term)
        forms = [term] if found else [term, *(version_forms(term) if term.isascii() else other_forms(term))]
        if not found and len(forms) > 1:
            counts = {form: document_frequency(form) for form in forms}
            forms = [form for form in forms if counts[form]] or [term]
            found = min(chunks, sum(counts.values()))
        canonical.update(dict.fromkeys(forms, term))
        frequency[term] = found
        expected = background * (1 - math.exp(-average * general[term])) if background else 0.0
        weight[term] = factor * idf(found + expected, chunks + background)
        if not found and len(term) == 2 and not term.isascii() and not is_word(term):
            weight[term] *= UNKNOWN_BIGRAM
    for part, whole in question.wholes.items():
        if part in weight and frequency.get(whole):
            weight[part] *= PART if whole in canonical else 0.0  # another way to write it has other parts
    near = _related(question, canonical, document_frequency, related) if related else {}
    return TermWeights(weight, {**canonical, **{form: form for form in near}}, frequency, average, near)


def _related(
    question: Question,
    canonical: Mapping[str, str],
    document_frequency: Callable[[str], int],
    related: Callable[[str], Iterable[tuple[str, float]]],
) -> dict[str, tuple[str, float]]:
    """The words of like meaning that the knowledge base has, each for the term that it is nearest to."""
    found: dict[str, tuple[str, float]] = {}
    exact = question.names | question.numbers | question.wholes.keys()
    for term in question.terms:
        for word, nearness in () if term in exact else related(term):
            share = nearness * RELATED
            for form in (word,) if word.isascii() else (word, *other_forms(word)):
                if form not in canonical and share > found.get(form, ("", 0.0))[1]:
                    found[form] = (term, share)
    return {form: one for form, one in found.items() if document_frequency(form)}
