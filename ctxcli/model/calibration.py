"""What was fitted to a knowledge base and a way of ranking: the scale of its scores, and its threshold."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """A logistic map of scores (0…1) onto the share of such questions that are rightly answered (0…1).

    The log-odds are multiplied by `slope` (> 0) and moved by `shift`: so the order stays, and 0 and 1 stay themselves.
    """

    shift: float = 0.0
    slope: float = 1.0

    def of(self, score: float) -> float:
        """The share."""
        return logistic(self.shift + self.slope * log_odds(score)) if 0 < score < 1 else score

    def back(self, share: float) -> float:
        """The score that has this share."""
        return logistic((log_odds(share) - self.shift) / self.slope) if 0 < share < 1 else share


AS_IT_IS = ScoreScale()


@dataclass(frozen=True, slots=True)
class Calibration:
    """A threshold (0…1) for scores on `scale`."""

    threshold: float
    scale: ScoreScale = AS_IT_IS

    @property
    def strictness(self) -> float:
        """The threshold as a score without scale: what lies below it is declined."""
        return self.scale.back(self.threshold)


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibration and what it was fitted to: how many questions, and whether they were made.

    `before` and `after` are the Brier scores (0…1, lower is better) of the scores as they are and on a scale fitted to
    other questions; None where no scale was tried.
    """

    calibration: Calibration
    questions: int = 0
    made: bool = False
    before: float | None = None
    after: float | None = None

    def document(self, kb: str) -> dict[str, object]:
        """`ctx/calibration/1`."""
        scale = self.calibration.scale
        return {
            "schema": "ctx/calibration/1",
            "kb": kb,
            "threshold": self.calibration.threshold,
            "questions": self.questions,
            "scale": None if scale == AS_IT_IS else {"shift": scale.shift, "slope": scale.slope},
            "brier": None if self.before is None else {"before": self.before, "after": self.after},
        }


def log_odds(share: float) -> float:
    """The log-odds (nats) of a share in 0…1, both excluded."""
    return math.log(share) - math.log1p(-share)


def logistic(odds: float) -> float:
    """The share (0…1) of log-odds, without overflow."""
    return (1 + math.tanh(odds / 2)) / 2
