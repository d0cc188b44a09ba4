"""Fitted weights of the models that look at meaning too; `benchmarks/fit.py` makes them and says from what."""

from collections.abc import Mapping

from ctxcli.text.question import Language

Models = Mapping[Language, Mapping[str, float]]

SENTENCE: Models = {
    "en": {"": 0.01, "words": 0.893, "near": 0.67, "dnear": -0.017},
    "zh": {"": -0.017, "words": 0.884, "near": 0.726, "dnear": -0.492},
}
"""Log odds that a unit answers, by feature; "" is the intercept."""

FOREIGN_SENTENCE: Models = {
    "en": {"": -10.558, "near": 2.63, "dnear": -2.321, "r0": 2.02, "len": 1.125},
    "zh": {"": -9.754, "near": 2.044, "dnear": -2.255, "r0": 2.125, "len": 0.681},
}
"""The same for a unit in another language than the question's, by which the key is."""

DECISION: Models = {
    "en": {"": -0.942, "words": 0.91, "near": 0.673},
    "zh": {"": -0.663, "words": 1.018, "near": 0.688},
}
"""Log odds that the question is answered at all."""

FOREIGN_DECISION: Models = {
    "en": {"": -5.313, "unit": 3.181, "lead": 3.245},
    "zh": {"": -5.402, "unit": 2.614, "lead": 3.16},
}
"""The same where the best chunk is in another language than the question."""
