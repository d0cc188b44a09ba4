"""Answer or decline: a calibrated score from how well the best chunks cover the question."""

import math
import re
from collections.abc import Sequence

from ctxcli.answering.coefficients import DECISION, judged
from ctxcli.answering.evidence import Values, Window, Windows
from ctxcli.retrieval.bm25 import Match, asked_heads, coverage
from ctxcli.retrieval.weights import TermWeights
from ctxcli.text.question import Question

THRESHOLD = 0.40
UNKNOWN_IDENTIFIER = 0.3
"""The highest score of a question about a model, code or year that the knowledge base does not have at all.

And of one about a price where the chunks that hold most of it speak of no money.
"""
_PRICE = (
    r"\b(?:prices?|priced|(?<!\bat all )(?<!\bat any )costs?(?! of living))\b"
    r"|多少[钱錢元]|价格|價格|价[钱位]|售[价價]|[单單][价價]|[几幾][块塊](?:[钱錢]|\W*$)"
)
_MONEY = (
    r"[€£$¥￥钱錢价價费費币幣]|[0-9零〇一二三四五六七八九十百千万萬亿億两兩几幾(（：:/美欧歐日]\s*[元圆圓块塊]"
    r"|\b[0-9]+(?:\.[0-9]+)?p\b|\b(?:EUR|GBP|USD|CNY|RMB|CHF|JPY)\b"
    r"|\b(?:(?:euro|pound|dollar|cent|yuan|franc|rupee|price|cost|fee|charge|fare|rate)s?|pence|penny|yen|priced|costing"
    r"|pay(?:s|ing|able|ments?)?|paid|free|worth)\b"
)
_PRICING = tuple("pric cost 钱 錢 元 价 價 块 塊".split())
"""What a question about a price holds, in lower case; the pattern is slow to compile."""
_ALIKE = 0.9
"""The share of the best chunk's coverage that a chunk on the same matter has."""
_NOTHING: frozenset[str] = frozenset()
_MANY_TERMS = 60
"""More terms than a question has: what is longer is a text, and says no more for an answer."""


def decision_features(
    question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows
) -> dict[str, float]:
    """What speaks for an answer in the best of `matches` (not empty); all but `terms` lie in 0…1.

    `values` holds for each of the best matches the probability, by unit, that the unit answers; `shown` are the
    excerpts that an answer would have.

    bmn     BM25 as a share of its highest value
    shown   coverage of the question by what would be shown, title and headings at half
    two     coverage by the best two chunks with title and headings
    lead    how far its score is above the mean of the next four, as a share of it; 1 where it is the only one
    typ     1 if something of the asked kind (date, number, name) stands in the best unit, the one before or the two
            after, or none is asked
    ent     coverage of the question's proper names, 1 if it has none
    num     coverage of its numbers and of identifiers with a number, 1 if it has none
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
        "shown": _shown(weights, shown),
        "two": coverage(_NOTHING.union(*(one.head.union(*one.units) for one in matches[:2])), _NOTHING, weights),
        "lead": (best.score - math.fsum(others) / len(others)) / best.score if others and best.score else 1.0,
        "typ": float(not question.asked or bool(question.asked_things(_around(best)))),
        "ent": _share(question.names, everything, weights),
        "num": _share(question.numbers, everything, weights),
        "miss": max(missing, default=0.0) / max(weights.weight.values()),
        "unit": max((max(found.values(), default=0.0) for found in values[:3]), default=0.0),
        "terms": math.log(1 + min(_MANY_TERMS, sum(weight == 1.0 for weight in question.terms.values()))),
    }


def score(question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows) -> float:
    """The probability that the question is answered (0…1); 0 where nothing matches."""
    if not matches:
        return 0.0
    found = judged(DECISION[question.language], decision_features(question, weights, matches, values, shown))
    unknown = asks_for_unknown(question, weights) or asks_for_untold_price(question, weights, matches)
    return min(found, UNKNOWN_IDENTIFIER) if unknown else found


def asks_for_unknown(question: Question, weights: TermWeights) -> bool:
    """Whether the question names a model, code or year that the knowledge base does not have at all."""
    return any(not weights.frequency[term] for term in question.identifiers)


def asks_for_untold_price(question: Question, weights: TermWeights, matches: Sequence[Match]) -> bool:
    """Whether a price is asked for and no chunk that holds so much of the question as the best says a word of money.

    多少钱 gives no term: what has a price would be found, and any number near it taken for the price.
    """
    is_likely = matches and any(map(question.text.lower().__contains__, _PRICING))
    if not is_likely or not re.search(_PRICE, question.text, re.IGNORECASE):
        return False
    held = [coverage(match.head.union(*match.units), _NOTHING, weights) for match in matches]
    chunks = [match.chunk for match, share in zip(matches, held, strict=True) if share >= _ALIKE * held[0]]
    texts = ("\n".join((*chunk.path_of(0), chunk.column_names, chunk.text)) for chunk in chunks)
    return not any(re.search(_MONEY, text, re.IGNORECASE) for text in texts)


def _shown(weights: TermWeights, windows: Sequence[Window]) -> float:
    """The share of the question that excerpts cover (0…1); what only title or headings above them say counts half."""
    units = (one.match.units[at] for one in windows for at in one.units())
    return coverage(_NOTHING.union(*units), _NOTHING.union(*(_above(one, weights) for one in windows)), weights)


def _above(window: Window, weights: TermWeights) -> frozenset[str]:
    """The terms of the question in the title and the headings above an excerpt."""
    chunk = window.match.chunk
    heads = asked_heads(chunk, weights.canonical)
    return heads[chunk.section_of(window.start)] if heads else window.match.head


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
