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
        "": -9.757, "bmn": 3.661, "sent2": 2.075, "cov": 1.574, "margin": 0.319, "typ": 0.335,
        "ent": 1.197, "prox": 0.171, "miss": 1.395, "unit": 1.551, "terms": 1.558,
    },
    "zh": {
        "": -10.548, "bmn": 2.714, "sent2": 3.358, "cov": 4.962, "margin": -0.372, "typ": 0.874,
        "ent": 2.107, "prox": -1.286, "miss": 0.098, "unit": 1.369, "terms": 1.287,
    },
}  # fmt: skip
"""Log odds that the question is answered at all, by feature of the best chunk."""
