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
        "": -6.819, "bmn": 3.953, "sent2": 2.337, "cov": -0.305, "margin": 2.633, "typ": 0.813, "ent": 1.388,
        "prox": -0.053, "miss": 1.509,
    },
    "zh": {
        "": -8.456, "bmn": 1.777, "sent2": 2.794, "cov": 2.987, "margin": 2.421, "typ": 1.234, "ent": 1.040,
        "prox": 2.021, "miss": 1.708,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
