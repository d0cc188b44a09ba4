"""Fitted weights of the two linear models; `benchmarks/fit.py` makes them and says from what."""

from ctxcli.text.question import Language

SENTENCE: dict[Language, dict[str, float]] = {
    "en": {
        "": -4.888, "dcs": -4.63, "cs": -1.461, "r0": 1.45, "covt": 2.623, "covw": 1.719, "d0": 1.439,
        "len": 0.075, "echo": 2.237, "ty": 0.581,
    },
    "zh": {
        "": -6.729, "dcs": -4.532, "cs": -1.631, "r0": 1.996, "r1": 0.357, "covt": 1.938, "covw": 2.964,
        "d0": 1.97, "dcov": -1.348, "len": 0.387, "echo": 1.842, "ty": 0.732,
    },
}  # fmt: skip
"""Log odds that a unit answers, by feature; "" is the intercept."""

DECISION: dict[Language, dict[str, float]] = {
    "en": {
        "": -9.43, "bmn": 3.598, "sent2": 2.174, "cov": 1.338, "margin": 0.511, "typ": 0.312, "ent": 1.136,
        "prox": 0.065, "miss": 1.371, "unit": 1.451, "terms": 1.499,
    },
    "zh": {
        "": -10.083, "bmn": 2.942, "sent2": 3.123, "cov": 4.929, "margin": -0.075, "typ": 0.314,
        "ent": 2.31, "prox": -2.506, "miss": 0.069, "unit": 2.432, "terms": 1.162,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
