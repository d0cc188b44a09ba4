"""Fitted weights of the models that look at meaning too; `benchmarks/fit.py` makes them and says from what."""

from collections.abc import Mapping

from ctxcli.text.question import Language

Models = Mapping[Language, Mapping[str, float]]

SENTENCE: Models = {
    "en": {"": 0.015, "words": 0.893, "near": 0.668, "dnear": -0.017},
    "zh": {"": -0.064, "words": 0.875, "near": 0.739, "dnear": -0.485},
}
"""Log odds that a unit answers, by feature; "" is the intercept."""

FOREIGN_SENTENCE: Models = {
    "en": {"": -10.558, "near": 2.63, "dnear": -2.321, "r0": 2.02, "len": 1.125},
    "zh": {"": -9.477, "near": 1.936, "dnear": -2.33, "r0": 2.173, "len": 0.658},
}
"""The same for a unit in another language than the question's, by which the key is."""

DECISION: Models = {
    "en": {"": -0.821, "words": 0.907, "near": 0.675},
    "zh": {"": -0.704, "words": 1.028, "near": 0.756},
}
"""Log odds that the question is answered at all."""

FOREIGN_DECISION: Models = {
    "en": {"": -5.313, "unit": 3.181, "lead": 3.245},
    "zh": {"": -5.421, "unit": 2.61, "lead": 3.215},
}
"""The same where the best chunk is in another language than the question."""
