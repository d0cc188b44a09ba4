"""Figures over known questions, and the threshold that follows, checked by hand."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcli.answering import metrics
from ctxcli.model.calibration import AS_IT_IS, Calibration, Fit
from ctxcli.model.errors import DataError
from ctxcli.model.evaluation import Outcome
from ctxcli.services.asking import Asking
from ctxcli.services.evaluation import evaluate, fit, fitted_threshold, made_questions, read_questions
from tests.unit.retrieval.made import knowledge

MANUAL = (
    "# Manual\n\n## 6.3 Vents\n\nThe roof vent opens above 28 degrees.\n\n## 6.4 Pumps\n\nThe pump starts at six.\n"
)
CHINESE = "# 第三章 水\n\n## 第七条 水泵\n\n灌溉水泵每天早上六点启动。\n"


def outcome(score: float, *, answerable: bool = True, right: bool = True, rank: int | None = 1) -> Outcome:
    return Outcome("q", answerable, score < 0.4, score, rank, rank, right and answerable)


FOUR = [
    outcome(0.9),
    outcome(0.7, right=False, rank=3),
    outcome(0.5, answerable=False, rank=None),
    outcome(0.3, rank=None),
]


def test_the_figures_of_four_questions() -> None:
    found = metrics.figures(FOUR)
    assert found["doc_hit@1"] == round(1 / 3, 4)
    assert found["doc_hit@3"] == found["place_hit@5"] == round(2 / 3, 4)
    assert found["doc_mrr"] == round((1 + 1 / 3) / 3, 4)
    assert found["answer"] == round(2 / 3, 4), "right or not, shown or not"
    assert found["right"] == round(1 / 3, 4)
    assert found["false_declines"] == round(1 / 3, 4)
    assert found["false_answers"] == 1.0
    assert found["auroc"] == round(2 / 3, 4)


def test_questions_of_which_the_place_is_not_known_do_not_count_for_it() -> None:
    unknown = replace(outcome(0.8, rank=None), knows_doc=False, knows_place=False)
    only_doc = replace(outcome(0.8), knows_place=False)
    found = metrics.figures([outcome(0.9), unknown, only_doc])
    assert (found["doc_hit@1"], found["place_hit@1"], found["doc_mrr"]) == (1.0, 1.0, 1.0)
    nothing = metrics.figures([unknown])
    assert (nothing["doc_hit@1"], nothing["doc_mrr"], nothing["false_answers"], nothing["auroc"]) == (None,) * 4


def test_questions_of_which_neither_answer_nor_place_is_known_are_neither_right_nor_wrong() -> None:
    untold = replace(outcome(0.8), right=None)
    found = metrics.figures([*FOUR, untold])
    assert (found["answer"], found["right"]) == (round(2 / 3, 4), round(1 / 3, 4))
    assert found["false_declines"] == 0.25
    assert metrics.risk_coverage([*FOUR, untold]) == metrics.risk_coverage(FOUR)
    assert metrics.best_threshold([*FOUR, untold]) == metrics.best_threshold(FOUR)
    nothing = [untold]
    assert (metrics.figures(nothing)["answer"], metrics.risk_coverage(nothing)) == (None, ())


def test_risk_against_coverage_of_four_questions() -> None:
    assert metrics.risk_coverage(FOUR) == ((0.9, 0.25, 0.0), (0.7, 0.5, 0.5), (0.5, 0.75, 2 / 3), (0.3, 1.0, 0.5))
    equal = metrics.risk_coverage([outcome(0.5), outcome(0.5, right=False)])
    assert equal == ((0.5, 1.0, 0.5),), "equal scores cannot be parted"


def test_the_best_threshold_makes_the_fewest_mistakes() -> None:
    assert metrics.best_threshold(FOUR) == 0.8, "one right answer is held back; lower, two wrong ones are shown"
    assert metrics.best_threshold([outcome(0.9), outcome(0.2, answerable=False)]) == 0.55
    assert metrics.best_threshold([outcome(0.9), outcome(0.8)]) is None
    assert metrics.best_threshold([outcome(0.9, answerable=False)]) is None
    assert metrics.best_threshold([]) is None


def mistakes(outcomes: list[Outcome], threshold: float) -> int:
    return sum((one.score >= threshold) != (one.answerable and one.right) for one in outcomes)


SCORED = st.builds(
    outcome, st.sampled_from([0.1, 0.2, 0.35, 0.5, 0.8, 0.95]), answerable=st.booleans(), right=st.booleans()
)


@given(st.lists(SCORED, max_size=12))
def test_no_other_threshold_makes_fewer_mistakes(outcomes: list[Outcome]) -> None:
    best = metrics.best_threshold(outcomes)
    if best is not None:
        assert 0 <= best <= 1
        assert mistakes(outcomes, best) == min(mistakes(outcomes, at / 100) for at in range(0, 101))


@given(st.lists(SCORED, min_size=1, max_size=12))
def test_figures_and_curve_are_shares(outcomes: list[Outcome]) -> None:
    assert all(value is None or 0 <= value <= 1 for value in metrics.figures(outcomes).values())
    curve = metrics.risk_coverage(outcomes)
    coverages = [coverage for _, coverage, _ in curve]
    assert coverages == sorted(set(coverages))
    assert coverages[-1] == 1
    assert 0.05 <= fitted_threshold(outcomes, default=0.4) <= 0.95


def test_few_questions_move_the_threshold_little_and_made_ones_less() -> None:
    few = [outcome(0.9), outcome(0.7, answerable=False)]
    many = few * 100
    near, far = fitted_threshold(few, default=0.4), fitted_threshold(many, default=0.4)
    assert 0.4 < near < 0.45 < 0.7 < far < 0.8
    assert 0.4 < fitted_threshold(many, default=0.4, made=True) < far
    assert fitted_threshold([], default=0.4) == 0.4


def asking(*texts: str) -> Asking:
    return Asking(knowledge(*texts), 0.4, 10, lambda passage: False)


def test_a_tiny_set_is_judged_as_by_hand() -> None:
    rows = [
        {"question": "Above how many degrees does the roof vent open?", "answers": ["28 degrees"], "doc": "0.md",
         "section": "6.3", "lines": [5, 5]},
        {"question": "When does the pump start?", "answers": ["at eight"], "doc": "0.md", "section": "6.4"},
        {"question": "灌溉水泵几点启动？", "answers": ["早上六点"], "doc": "docs/1.md", "section": "第七条"},
        {"question": "Who wrote Hamlet?", "answerable": False},
    ]  # fmt: skip
    found = evaluate(asking(MANUAL, CHINESE), read_questions(map(json.dumps, rows), name="q"))
    assert [one.id for one in found.outcomes] == ["1", "2", "3", "4"]
    assert [one.declined for one in found.outcomes] == [False, False, False, True]
    assert [one.right for one in found.outcomes] == [True, False, True, False]
    figures = found.figures
    assert (figures["doc_hit@1"], figures["place_hit@1"]) == (1.0, 1.0)
    assert (figures["answer"], figures["right"]) == (round(2 / 3, 4),) * 2
    assert (figures["false_declines"], figures["false_answers"], figures["auroc"]) == (0.0, 0.0, 1.0)
    document = found.document()
    assert (document["schema"], document["questions"], document["threshold"]) == ("ctx/evaluation/1", 4, 0.4)
    assert document["risk_coverage"][-1]["coverage"] == 1.0


def test_what_cannot_be_told_of_a_question_is_not_counted() -> None:
    rows = [
        {"question": "Above how many degrees does the roof vent open?", "answers": ["28 degrees"]},
        {"question": "When does the pump start?"},
        {"question": "灌溉水泵几点启动？", "doc": "1.md"},
        {"question": "天窗什么时候打开？", "section": "6.3"},
        {"question": "Who wrote Hamlet?", "answerable": False},
    ]
    found = evaluate(asking(MANUAL, CHINESE), read_questions(map(json.dumps, rows), name="q"))
    assert [one.right for one in found.outcomes] == [True, None, None, None, False]
    assert (found.figures["answer"], found.figures["right"], found.document()["untold"]) == (1.0, 1.0, 3)
    assert found.curve[-1][1:] == (1.0, 0.5)


@pytest.mark.parametrize(
    "line",
    [
        "not json", "[]", "{}", '{"question": ""}', '{"question": 3}', '{"question": "a", "answers": "b"}',
        '{"question": "a", "answers": [1]}', '{"question": "a", "page": 0}', '{"question": "a", "page": true}',
        '{"question": "a", "lines": [1]}', '{"question": "a", "lines": 5}', '{"question": "a", "lines": [0, 2]}',
        '{"question": "a", "lines": [5, 1]}', '{"question": "a", "answer": ["b"]}', '{"question": "a", "Page": 3}',
        '{"question": "a", "answerable": "no"}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(DataError) as error:
        read_questions(['{"question": "fine"}', "", line], name="q.jsonl")
    assert error.value.message.startswith("q.jsonl:3: ")


def test_keys_of_one_s_own_are_no_mistake() -> None:
    [question] = read_questions(['{"question": "a", "kind": "table", "lang": "zh", "note": "x"}'], name="q.jsonl")
    assert question.question == "a"


def test_a_file_without_a_question_is_an_error() -> None:
    with pytest.raises(DataError):
        read_questions(["", " "], name="q.jsonl")


def test_questions_made_out_of_documents_repeat_and_are_of_both_kinds() -> None:
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omega".split()
    texts = [f"# {word}\n\nThe {word} machine number {n} has a very special {word} purpose in the hall.\n"
             for n, word in enumerate(words)]  # fmt: skip
    texts += [
        f"# 第{n}号\n\n第{n}号温室的二氧化碳传感器安装在北侧的立柱上，每个季度由值班人员校准一次。\n"
        for n in "一二三四"
    ]
    base = knowledge(*texts)
    chunks = list(base.readers["default"].all_chunks())
    made = list(made_questions(chunks))
    assert made == list(made_questions(list(reversed(chunks))))
    assert {one.answerable for one in made} == {True, False}
    assert len({one.id for one in made}) == len(made)
    assert list(made_questions(chunks[:1])) == [], "there is nothing else to take words from"
    assert list(made_questions([])) == []


def test_scores_that_promise_too_much_are_put_on_a_scale_and_the_threshold_with_them() -> None:
    outcomes = [outcome(0.8, right=n % 3 > 0) for n in range(60)]
    outcomes += [outcome(0.6, answerable=False) for _ in range(60)]
    found = fit(outcomes, default=0.4)
    scale = found.calibration.scale
    assert 0.55 < scale.of(0.8) < 0.7
    assert scale.of(0.6) < 0.25 < found.calibration.threshold < scale.of(0.8)
    assert found.before is not None
    assert found.after is not None
    assert found.after < found.before
    made = fit(outcomes, default=0.4, made=True)
    assert (made.calibration.scale, made.before, made.after) == (AS_IT_IS, None, None)


def test_a_scale_that_foretells_nothing_better_is_not_kept() -> None:
    few = [outcome(0.9), outcome(0.1, answerable=False)] * 3
    fine = [outcome(0.5, right=n % 2 == 0) for n in range(40)]
    for outcomes in ([], few[:1], fine):
        found = fit(outcomes, default=0.4)
        assert found.calibration.scale == AS_IT_IS
        assert found.before == found.after or (found.after or 0) >= (found.before or 0)
    untold = replace(outcome(0.9), right=None)
    assert fit([untold] * 50, default=0.4) == Fit(Calibration(0.4), 50)


@pytest.mark.parametrize("right", [True, False])
def test_questions_that_all_went_the_same_way_leave_refusal_as_it_is(right: bool) -> None:
    alike = [outcome(0.45 + n / 100, right=right) for n in range(40)]
    assert fit(alike, default=0.4) == Fit(Calibration(0.4), 40)
