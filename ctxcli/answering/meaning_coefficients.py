"""Fitted weights of the models that look at meaning too; `benchmarks/fit.py` makes them and says from what."""

from collections.abc import Mapping

from ctxcli.text.question import Language

Models = Mapping[Language, Mapping[str, float]]

SENTENCE: Models = {
    "en": {"": -0.089, "words": 0.907, "near": 0.591, "dnear": -0.038},
    "zh": {"": -0.089, "words": 0.891, "near": 0.645, "dnear": -0.55},
}
"""Log odds that a unit answers, by feature; "" is the intercept."""

FOREIGN_SENTENCE: Models = {
    "en": {"": -10.502, "near": 2.542, "dnear": -2.384, "r0": 2.18, "len": 1.114},
    "zh": {"": -9.494, "near": 2.051, "dnear": -2.258, "r0": 2.022, "len": 0.652},
}
"""The same for a unit in another language than the question's, by which the key is."""

DECISION: Models = {
    "en": {"": -0.925, "words": 0.898, "near": 0.668},
    "zh": {"": -0.724, "words": 1.016, "near": 0.729},
}
"""Log odds that the question is answered at all."""

FOREIGN_DECISION: Models = {
    "en": {"": -5.301, "unit": 3.212, "lead": 3.162},
    "zh": {"": -5.441, "unit": 2.633, "lead": 3.201},
}
"""The same where the best chunk is in another language than the question."""
