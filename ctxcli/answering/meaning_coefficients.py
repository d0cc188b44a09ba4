"""Fitted weights of the models that look at meaning too; `benchmarks/fit.py` makes them and says from what."""

from collections.abc import Mapping

from ctxcli.text.question import Language

Models = Mapping[Language, Mapping[str, float]]

SENTENCE: Models = {
    "en": {"": -0.148, "words": 0.879, "near": 0.57, "dnear": -0.176},
    "zh": {"": -0.183, "words": 0.882, "near": 0.68, "dnear": -0.604},
}
"""Log odds that a unit answers, by feature; "" is the intercept."""

FOREIGN_SENTENCE: Models = {
    "en": {"": -10.49, "near": 3.265, "dnear": -1.779, "r0": 1.301, "len": 1.051},
    "zh": {"": -9.524, "near": 2.251, "dnear": -2.414, "r0": 1.801, "len": 0.721},
}
"""The same for a unit in another language than the question's, by which the key is."""

DECISION: Models = {
    "en": {"": -0.954, "words": 0.864, "near": 0.594},
    "zh": {"": -0.64, "words": 0.994, "near": 0.594},
}
"""Log odds that the question is answered at all."""

FOREIGN_DECISION: Models = {
    "en": {"": -5.434, "unit": 3.736, "lead": 2.49},
    "zh": {"": -5.602, "unit": 2.987, "lead": 2.826},
}
"""The same where the best chunk is in another language than the question."""
