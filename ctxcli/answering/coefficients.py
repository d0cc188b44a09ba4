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
        "": -4.779, "dcs": -4.704, "cs": -1.712, "r0": 1.536, "covt": 2.827, "covw": 1.762, "d0": 1.399,
        "len": 0.07, "echo": 2.373, "ty": 0.617,
    },
    "zh": {
        "": -6.514, "dcs": -4.515, "cs": -1.672, "r0": 1.934, "r1": 0.261, "covt": 1.975, "covw": 2.909,
        "d0": 1.914, "dcov": -1.324, "len": 0.367, "echo": 1.873, "ty": 0.735,
    },
}  # fmt: skip
"""Log odds that a unit answers, by feature; "" is the intercept."""

DECISION: dict[Language, dict[str, float]] = {
    "en": {
        "": -10.132, "bmn": 4.94, "sent2": 1.767, "cov": 2.023, "lead": 1.662, "typ": 0.348,
        "ent": 0.974, "num": 0.305, "prox": -0.505, "miss": 1.366, "unit": 2.271, "terms": 0.95,
    },
    "zh": {
        "": -11.784, "bmn": 3.688, "sent2": 3.181, "cov": 4.947, "lead": 0.845, "typ": 0.516,
        "ent": 0.601, "num": 1.161, "prox": -0.36, "miss": 1.723, "unit": 1.839, "terms": 0.849,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
