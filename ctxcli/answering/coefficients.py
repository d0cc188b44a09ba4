"""Fitted weights of the two linear models; `benchmarks/fit.py` makes them and says from what."""

from ctxcli.text.question import Language

SENTENCE: dict[Language, dict[str, float]] = {
    "en": {
        "": -4.756, "dcs": -4.942, "cs": -1.867, "r0": 1.446, "covt": 2.957, "covw": 1.722, "d0": 1.293,
        "len": 0.046, "echo": 2.154, "ty": 0.63,
    },
    "zh": {
        "": -6.858, "dcs": -5.086, "cs": -1.894, "r0": 2.112, "r1": 0.59, "covt": 2.019, "covw": 2.857,
        "d0": 1.93, "dcov": -1.547, "len": 0.38, "echo": 1.863, "ty": 0.805,
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
