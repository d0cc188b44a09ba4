"""Rerankers behind the port `Reranker`; each module is imported when its model is asked for."""

import math


def probability(logit: float) -> float:
    """A score of any size as a share (0…1)."""
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))
