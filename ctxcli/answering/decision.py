"""Answer or decline: a calibrated score from how well the best chunk covers the question."""

import math
import re
from collections.abc import Mapping, Sequence

from ctxcli.answering.coefficients import DECISION, judged
from ctxcli.retrieval.bm25 import Match, coverage
from ctxcli.retrieval.weights import TermWeights
from ctxcli.text.question import Question

THRESHOLD = 0.40
UNKNOWN_IDENTIFIER = 0.3
"""The highest score of a question about a model, code or year that the knowledge base does not have at all.

And of one about a price where the chunks that hold most of it speak of no money.
"""
_PRICE = r"\b(?:prices?|priced|costs?)\b|多少[钱錢元]|价格|價格|价[钱位]|售[价價]|[单單][价價]|[几幾][块塊][钱錢]?"
_MONEY = (
    r"[€£$¥￥元圆圓块塊币幣钱錢价價费費]|\b[0-9]+(?:\.[0-9]+)?p\b|\b(?:EUR|GBP|USD|CNY|RMB|CHF|JPY)\b"
    r"|\b(?:euro|pound|dollar|pence|penny|cent|yuan|yen|franc|rupee|price|cost|fee|charge|fare|rate|pay|paid|free|worth)"
)
_ALIKE = 0.9
"""The share of the best chunk's coverage that a chunk on the same matter has."""
_NOTHING: frozenset[str] = frozenset()
_MANY_TERMS = 60
"""More terms than a question has: what is longer is a text, and says no more for an answer."""
_NEAR = 4
"""Words between which a pair of the question counts as close together."""


def decision_features(
    question: Question, weights: TermWeights, matches: Sequence[Match], values: Sequence[Mapping[int, float]]
) -> dict[str, float]:
    """What speaks for an answer in the best of `matches` (not empty); all but `terms` lie in 0…1.

    `values` holds for each match the probability, by unit, that the unit answers.

    bmn     BM25 as a share of its highest value
    sent2   coverage of the question by the best two neighbouring units
    sent3   the same by the best three
    cov     coverage by the chunk with title and headings
    lead    how far its score is above the mean of the next four, as a share of it; 1 where it is the only one
    typ     1 if something of the asked kind (date, number, name) stands in the best unit, the one before or the two
            after, or none is asked
    ent     coverage of the question's proper names, 1 if it has none
    num     coverage of its numbers and of identifiers with a number, 1 if it has none
    prox    share of neighbouring terms of the question that are close together in the chunk
    miss    the heaviest term that is missing, as a share of the heaviest
    unit    the highest probability of a unit of the three best chunks
    terms   ln(1 + number of terms asked for): a long question that is covered says more than a short one
    """
    best = matches[0]
    everything = best.head.union(*best.units)
    others = [match.score for match in matches[1:5]]
    missing = [weight for term, weight in weights.weight.items() if term not in everything]
    return {
        "bmn": best.bm25,
        "sent2": _neighbours(best, 2, weights),
        "sent3": _neighbours(best, 3, weights),
        "cov": coverage(everything, _NOTHING, weights),
        "lead": (best.score - math.fsum(others) / len(others)) / best.score if others and best.score else 1.0,
        "typ": float(not question.asked or bool(question.asked_things(_around(best)))),
        "ent": _share(question.names, everything, weights),
        "num": _share(question.numbers, everything, weights),
        "prox": _proximity(question, weights, best),
        "miss": max(missing, default=0.0) / max(weights.weight.values()),
        "unit": max((max(found.values(), default=0.0) for found in values[:3]), default=0.0),
        "terms": math.log(1 + min(_MANY_TERMS, sum(weight == 1.0 for weight in question.terms.values()))),
    }


def score(
    question: Question, weights: TermWeights, matches: Sequence[Match], values: Sequence[Mapping[int, float]]
) -> float:
    """The probability that the question is answered (0…1); 0 where nothing matches."""
    if not matches:
        return 0.0
    found = judged(DECISION[question.language], decision_features(question, weights, matches, values))
    unknown = asks_for_unknown(question, weights) or asks_for_untold_price(question, weights, matches)
    return min(found, UNKNOWN_IDENTIFIER) if unknown else found


def asks_for_unknown(question: Question, weights: TermWeights) -> bool:
    """Whether the question names a model, code or year that the knowledge base does not have at all."""
    return any(not weights.frequency[term] for term in question.identifiers)


def asks_for_untold_price(question: Question, weights: TermWeights, matches: Sequence[Match]) -> bool:
    """Whether a price is asked for and no chunk that holds so much of the question as the best says a word of money.

    多少钱 gives no term: what has a price would be found, and any number near it taken for the price.
    """
    if not matches or not re.search(_PRICE, question.text, re.IGNORECASE):
        return False
    held = [coverage(match.head.union(*match.units), _NOTHING, weights) for match in matches]
    chunks = [match.chunk for match, share in zip(matches, held, strict=True) if share >= _ALIKE * held[0]]
    texts = ("\n".join((*chunk.path_of(0), chunk.column_names, chunk.text)) for chunk in chunks)
    return not any(re.search(_MONEY, text, re.IGNORECASE) for text in texts)


def _neighbours(best: Match, count: int, weights: TermWeights) -> float:
    """The highest coverage of the question by `count` units in a row (0…1)."""
    starts = range(max(1, len(best.units) - count + 1))
    runs = (_NOTHING.union(*best.units[start : start + count]) for start in starts)
    return max(coverage(run, _NOTHING, weights) for run in runs)


def _share(wanted: frozenset[str], held: frozenset[str], weights: TermWeights) -> float:
    """The share of the weight of some terms that is held, 1 if there are none; words of like meaning do not count."""
    total = math.fsum(weights.weight[term] for term in wanted)
    return math.fsum(weights.weight[term] for term in wanted & held) / total if total else 1.0


def _around(best: Match) -> str:
    units = best.chunk.units
    if not units:
        return ""
    index = best.best
    return best.chunk.text[units[max(0, index - 1)][0] : units[min(len(units) - 1, index + 2)][1]]


def _proximity(question: Question, weights: TermWeights, best: Match) -> float:
    if not question.pairs:
        return 0.0
    positions: dict[str, list[int]] = {}
    for position, term in enumerate(best.chunk.terms.split()):
        found = weights.canonical.get(term)
        if found:
            positions.setdefault(found, []).append(position)
    near = sum(
        any(abs(a - b) <= _NEAR for a in positions.get(one, ()) for b in positions.get(other, ()))
        for one, other in question.pairs
    )
    return near / len(question.pairs)
