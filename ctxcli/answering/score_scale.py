"""Fits the scale of scores: what share of the questions with such a score is rightly answered."""

from collections.abc import Sequence

from ctxcli.model.calibration import AS_IT_IS, ScoreScale, log_odds, logistic

PRIOR = 20
"""That scores mean what they say counts as much as so many questions."""
FLATTEST = 0.1
"""The slope is at least this: a higher score never means less."""
_FOLDS = 10
_STEPS = 50
_EDGE = 0.001

Judged = Sequence[tuple[float, bool]]
"""Scores (0…1), and whether the questions were rightly answered."""


def fitted_scale(judged: Judged, *, prior: float = PRIOR) -> ScoreScale:
    """The scale that makes these most likely, drawn towards the scores as they are.

    It is drawn as by `prior` more questions, spread evenly over the scores and rightly answered as often as these say.
    """
    points = [((at + 0.5) / 10, (at + 0.5) / 10, prior / 10) for at in range(10)]
    points += [(score, float(right), 1.0) for score, right in judged if score > 0]
    seen = [(log_odds(min(1 - _EDGE, max(_EDGE, score))), share, weight) for score, share, weight in points]
    shift, slope = _most_likely(seen)
    return ScoreScale(round(shift, 4), round(slope, 4))


def _most_likely(seen: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Shift and slope by Newton's method, of (log-odds, share, weight); the loss is convex and has its minimum."""
    shift, slope = 0.0, 1.0
    for _ in range(_STEPS):
        d0 = d1 = h00 = h01 = h11 = 0.0
        for odds, share, weight in seen:
            found = logistic(shift + slope * odds)
            off, curved = weight * (found - share), weight * found * (1 - found)
            d0, d1 = d0 + off, d1 + off * odds
            h00, h01, h11 = h00 + curved, h01 + curved * odds, h11 + curved * odds * odds
        if slope <= FLATTEST and d1 >= 0:  # at its bound: only the shift can become better
            step0, step1 = d0 / h00, 0.0
        else:
            determinant = h00 * h11 - h01 * h01
            step0, step1 = (h11 * d0 - h01 * d1) / determinant, (h00 * d1 - h01 * d0) / determinant
        part = min(1.0, 2.0 / max(abs(step0), abs(step1), 1e-12))  # Newton leaps where the curve is flat
        shift, slope = shift - part * step0, max(FLATTEST, slope - part * step1)
        if max(abs(step0), abs(step1)) < 1e-9:
            break
    return shift, slope


def brier(judged: Judged, scale: ScoreScale = AS_IT_IS) -> float | None:
    """The mean squared distance (0…1, lower is better) of scores from what came true; None where there are none."""
    return _mean_square([(scale.of(score), right) for score, right in judged])


def brier_unseen(judged: Judged) -> float | None:
    """The same under a scale that was fitted to the other questions: tenth by tenth, in turn."""
    folds = min(_FOLDS, len(judged))
    found: list[tuple[float, bool]] = []
    for fold in range(folds):
        rest = [one for at, one in enumerate(judged) if at % folds != fold]
        scale = fitted_scale(rest)
        found += [(scale.of(score), right) for score, right in judged[fold::folds]]
    return _mean_square(found)


def _mean_square(judged: Judged) -> float | None:
    return sum((score - right) ** 2 for score, right in judged) / len(judged) if judged else None
