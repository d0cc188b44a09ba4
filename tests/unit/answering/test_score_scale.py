"""The scale of scores, fitted to questions."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.answering.score_scale import FLATTEST, PRIOR, brier, brier_unseen, fitted_scale
from ctxcli.model.calibration import AS_IT_IS, Calibration, ScoreScale, log_odds, logistic

SCALES = st.builds(ScoreScale, st.floats(-8, 8), st.floats(0.1, 8))
JUDGED = st.lists(st.tuples(st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.77, 0.98, 1.0]), st.booleans()), max_size=60)


def drawn(count: int, scale: ScoreScale, *, seed: int = 1) -> list[tuple[float, bool]]:
    """Questions whose scores mean what `scale` makes of them."""
    chance = random.Random(seed)
    return [(score, chance.random() < scale.of(score)) for score in (chance.random() for _ in range(count))]


@given(SCALES, st.floats(0, 1), st.floats(0, 1))
def test_a_scale_keeps_order_ends_and_range(scale: ScoreScale, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= scale.of(low) <= scale.of(high) <= 1
    assert (scale.of(0.0), scale.of(1.0)) == (0.0, 1.0)
    assert AS_IT_IS.of(one) == pytest.approx(one)


@given(SCALES, st.floats(0.05, 0.95))
def test_a_threshold_is_as_strict_as_the_score_that_just_reaches_it(scale: ScoreScale, threshold: float) -> None:
    strictness = Calibration(threshold, scale).strictness
    if 1e-9 < strictness < 1 - 1e-9:
        assert scale.of(strictness) == pytest.approx(threshold)


def test_without_questions_scores_are_as_they_are() -> None:
    assert fitted_scale([]) == AS_IT_IS
    assert (brier([]), brier_unseen([])) == (None, None)


def test_many_questions_give_the_scale_and_few_move_it_little() -> None:
    true = ScoreScale(-1.0, 0.5)
    many, few = fitted_scale(drawn(5000, true)), fitted_scale([(0.9, False), (0.8, False)])
    assert (many.shift, many.slope) == (pytest.approx(-1.0, abs=0.15), pytest.approx(0.5, abs=0.15))
    assert 0.7 < few.of(0.9) < 0.9
    assert fitted_scale([(0.9, False)] * 200).of(0.9) < 0.1


@given(JUDGED)
def test_no_scale_nearby_is_more_likely(judged: list[tuple[float, bool]]) -> None:
    def loss(scale: ScoreScale) -> float:
        points = [((at + 0.5) / 10, (at + 0.5) / 10, PRIOR / 10) for at in range(10)]
        points += [(min(0.999, max(0.001, score)), float(right), 1.0) for score, right in judged if score > 0]
        found = 0.0
        for score, share, weight in points:
            shown = logistic(scale.shift + scale.slope * log_odds(score))
            found -= weight * (share * math.log(shown) + (1 - share) * math.log(1 - shown))
        return found

    best = fitted_scale(judged)
    assert best.slope >= FLATTEST
    for shift, slope in ((0.05, 0.0), (-0.05, 0.0), (0.0, 0.05), (0.0, -0.05)):
        if best.slope + slope >= FLATTEST:
            assert loss(ScoreScale(best.shift + shift, best.slope + slope)) >= loss(best) - 1e-6


def test_scores_that_mean_the_opposite_are_flattened_and_not_turned_round() -> None:
    found = fitted_scale([(0.9, False), (0.1, True)] * 300)
    assert found.slope == FLATTEST
    assert found.of(0.1) < found.of(0.9)


def test_the_brier_score_of_questions_left_out_is_honest() -> None:
    assert brier([(1.0, True), (0.5, False)]) == 0.125
    off, fine = drawn(400, ScoreScale(-1.5, 0.5)), drawn(400, AS_IT_IS)
    unseen, before = brier_unseen(off), brier(off)
    assert unseen is not None
    assert before is not None
    assert unseen < before - 0.02
    assert (brier_unseen(fine) or 0) > (brier(fine, fitted_scale(fine)) or 0), "what was fitted to them looks better"
