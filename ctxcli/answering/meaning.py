"""Sentences and decision where questions are compared by meaning too: what the words say, corrected by nearness."""

import math
from collections.abc import Sequence
from statistics import median

from ctxcli.answering import decision, evidence
from ctxcli.answering.coefficients import judged
from ctxcli.answering.evidence import Values, Windows
from ctxcli.answering.meaning_coefficients import DECISION, FOREIGN_DECISION, FOREIGN_SENTENCE, SENTENCE
from ctxcli.retrieval.fusion import NearMatch
from ctxcli.retrieval.weights import TermWeights
from ctxcli.text.question import Question

_SMALLEST = 1e-6


def logit(probability: float) -> float:
    """The log odds of a probability."""
    held = min(1 - _SMALLEST, max(_SMALLEST, probability))
    return math.log(held / (1 - held))


def sentence_features(match: NearMatch, unit: int, *, rank: int, words: float) -> dict[str, float]:
    """What speaks for a unit of the match at `rank` (from 0).

    words  the log odds that the words give it
    near   how near it is
    dnear  how much nearer the chunk's nearest unit is
    r0     1 in the first chunk
    len    ln(1 + characters)
    """
    start, end, _ = match.chunk.units[unit]
    near = match.nearness_of(unit)
    return {
        "words": words,
        "near": near,
        "dnear": match.near.unit - near,
        "r0": float(rank == 0),
        "len": math.log(1 + end - start),
    }


def sentence_values(question: Question, weights: TermWeights, matches: Sequence[NearMatch]) -> list[dict[int, float]]:
    """For each match the probability, by unit, that the unit answers."""
    found = evidence.sentence_values(question, weights, matches)
    for rank, (match, values) in enumerate(zip(matches, found, strict=True)):
        model = (FOREIGN_SENTENCE if match.near.foreign else SENTENCE)[question.language]
        for unit, value in values.items():
            values[unit] = judged(model, sentence_features(match, unit, rank=rank, words=logit(value)))
    return found


def decision_features(matches: Sequence[NearMatch], *, words: float) -> dict[str, float]:
    """What speaks for an answer in the best of `matches` (not empty).

    words  the log odds that the words give
    near   how near the best chunk is
    unit   how near the nearest unit of the best three chunks is
    lead   how much nearer the best chunk is than the others are: the median of them, 0 where there are none
    """
    others = [one.near.both for one in matches[1:]] or [0.0]
    return {
        "words": words,
        "near": matches[0].near.both,
        "unit": max(one.near.unit for one in matches[:3]),
        "lead": matches[0].near.both - median(others),
    }


def score(
    question: Question, weights: TermWeights, matches: Sequence[NearMatch], values: Values, shown: Windows
) -> float:
    """The probability that the question is answered (0…1); 0 where nothing matches."""
    if not matches:
        return 0.0
    words = decision.score(question, weights, matches, values, shown) if weights.weight else 0.0
    foreign = matches[0].near.foreign
    model = (FOREIGN_DECISION if foreign else DECISION)[question.language]
    found = judged(model, decision_features(matches, words=logit(words)))
    unknown = not foreign and (
        decision.asks_for_unknown(question, weights) or decision.asks_for_untold_price(question, weights, matches)
    )
    return min(found, decision.UNKNOWN_IDENTIFIER) if unknown else found
