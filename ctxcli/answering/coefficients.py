"""Fitted weights of the two logistic models, and what they make of features; `benchmarks/fit.py` says from what."""

import math
from collections.abc import Mapping

from ctxcli.text.question import Language

_MOST = 60.0
"""Log odds beyond which a probability is 0 or 1 for all purposes, and an exponential may overflow."""


def probability(log_odds: float) -> float:
    """The probability (0…1) of log odds."""
    return 1 / (1 + math.exp(-max(-_MOST, min(_MOST, log_odds))))


def judged(model: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The probability that a model gives; it may leave features out, and "" is its intercept."""
    return probability(model[""] + sum(weight * features[name] for name, weight in model.items() if name))


SENTENCE: dict[Language, dict[str, float]] = {
    "en": {
        "": -4.88, "dcs": -4.631, "cs": -1.488, "r0": 1.448, "covt": 2.621, "covw": 1.75, "d0": 1.432,
        "len": 0.075, "echo": 2.266, "ty": 0.582,
    },
    "zh": {
        "": -6.722, "dcs": -4.5, "cs": -1.598, "r0": 2.039, "r1": 0.466, "covt": 1.95, "covw": 2.862,
        "d0": 1.936, "dcov": -1.433, "len": 0.38, "echo": 1.946, "ty": 0.73,
    },
}  # fmt: skip
"""Log odds that a unit answers, by feature; "" is the intercept."""

DECISION: dict[Language, dict[str, float]] = {
    "en": {
        "": -8.49, "bmn": 3.293, "sent2": 2.125, "cov": 1.651, "margin": 0.417, "typ": 0.408,
        "ent": 1.075, "num": 0.271, "prox": -0.336, "miss": 1.111, "unit": 2.171, "terms": 0.833,
    },
    "zh": {
        "": -10.717, "bmn": 3.501, "sent2": 3.382, "cov": 5.006, "margin": 0.342, "typ": 0.493,
        "ent": 0.671, "num": 1.102, "prox": -0.963, "miss": 1.111, "unit": 2.171, "terms": 0.901,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
