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
        "": -4.772, "dcs": -4.68, "cs": -1.681, "r0": 1.53, "covt": 2.81, "covw": 1.768,
        "d0": 1.413, "len": 0.062, "echo": 2.35, "ty": 0.601,
    },
    "zh": {
        "": -6.464, "dcs": -4.582, "cs": -1.658, "r0": 1.897, "r1": 0.269, "covt": 1.974,
        "covw": 2.906, "d0": 1.907, "dcov": -1.354, "len": 0.361, "echo": 1.838, "ty": 0.755,
    },
}  # fmt: skip
"""Log odds that a unit answers, by feature; "" is the intercept."""

DECISION: dict[Language, dict[str, float]] = {
    "en": {
        "": -10.319, "bmn": 4.693, "shown": 1.566, "two": 1.509, "lead": 1.737, "typ": 0.494,
        "ent": 0.942, "num": 0.45, "miss": 1.267, "unit": 2.99, "terms": 0.903,
    },
    "zh": {
        "": -12.452, "bmn": 4.807, "shown": 3.359, "two": 3.191, "lead": 1.179, "typ": 0.75,
        "ent": 0.588, "num": 1.079, "miss": 1.069, "unit": 2.405, "terms": 0.944,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunks."""
