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
        "": -10.572, "bmn": 3.959, "sent2": 1.823, "cov": 1.665, "margin": 0.298, "typ": 0.292,
        "ent": 1.291, "num": 0.68, "prox": 0.185, "miss": 1.387, "unit": 1.53, "terms": 1.592,
    },
    "zh": {
        "": -10.957, "bmn": 2.986, "sent2": 2.842, "cov": 4.735, "margin": -0.227, "typ": 1.076,
        "ent": 1.382, "num": 0.186, "prox": -0.939, "miss": 0.503, "unit": 1.911, "terms": 1.37,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
