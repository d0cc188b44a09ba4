"""Fitted weights of the models that look at meaning too; `benchmarks/fit.py` makes them and says from what."""

from collections.abc import Mapping

from ctxcli.text.question import Language

Models = Mapping[Language, Mapping[str, float]]

SENTENCE: Models = {
    "en": {"": -1.0, "words": 0.8, "near": 0.5},
    "zh": {"": -1.0, "words": 0.8, "near": 0.5},
}
"""Log odds that a unit answers, by feature; "" is the intercept."""

FOREIGN_SENTENCE: Models = {
    "en": {"": -3.0, "near": 1.5},
    "zh": {"": -3.0, "near": 1.5},
}
"""The same for a unit in another language than the question's, by which the key is."""

DECISION: Models = {
    "en": {"": -1.0, "words": 0.8, "near": 0.5},
    "zh": {"": -1.0, "words": 0.8, "near": 0.5},
}
"""Log odds that the question is answered at all."""

FOREIGN_DECISION: Models = {
    "en": {"": -3.0, "near": 1.5, "unit": 1.0},
    "zh": {"": -3.0, "near": 1.5, "unit": 1.0},
}
"""The same where the best chunk is in another language than the question."""
