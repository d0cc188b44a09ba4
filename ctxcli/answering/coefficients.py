"""Fitted weights of the two linear models; `benchmarks/fit.py` makes them and says from what."""

from ctxcli.text.question import Language

SENTENCE: dict[Language, dict[str, float]] = {
    "en": {
        "": -5.365, "dcs": -9.937, "r0": 1.275, "covt": 0.558, "covw": 1.937, "d0": 1.935, "dcov": -1.973,
        "len": 0.140, "ty": 0.369,
    },
    "zh": {
        "": -7.732, "dcs": -10.615, "cs": -6.042, "r0": 2.621, "r1": 1.181, "covt": 5.759, "covw": 2.364,
        "d0": 2.114, "d1": 0.200, "dm1": 0.367, "dcov": 2.449, "len": 0.496, "echo": 2.743, "nov": 0.155, "ty": 0.331,
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
