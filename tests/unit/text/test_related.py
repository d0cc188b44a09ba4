"""Words of like meaning: the table, and how it is searched."""

from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.text.analyzer import Analyzer
from ctxcli.text.related import LEAST, related

TABLE = files("ctxcli.text.data").joinpath("related.txt").read_text("utf-8").splitlines()
ROWS = {line.split(" ")[0]: line.split(" ")[1:] for line in TABLE}


def test_every_word_of_the_table_is_found() -> None:
    assert len(ROWS) == len(TABLE)
    for word, cells in ROWS.items():
        assert [f"{one}{round((near - LEAST) * 20)}" for one, near in related(word)] == cells


@settings(deadline=None)
@given(
    st.text(max_size=12)
    | st.text("abcdefghijklmnopqrstuvwxyz\n 0", max_size=6)
    | st.text("水泵灌溉启动停止", max_size=3)
)
def test_a_term_that_is_not_there_has_none(term: str) -> None:
    found = related(term)
    assert bool(found) <= (term in ROWS or not term.isascii())


@pytest.mark.parametrize(
    ("term", "word"),
    [
        ("film", "movi"),
        ("salari", "wage"),
        ("overwrit", "rewrit"),
        ("清除", "删除"),
        ("存储", "储存"),
        ("電影", "影片"),
    ],
)
def test_words_that_mean_the_same_are_near(term: str, word: str) -> None:
    assert dict(related(term))[word] >= 0.6


@pytest.mark.parametrize("term", ["monday", "seven", "march", "north", "周一"])
def test_names_of_a_row_do_not_stand_for_one_another(term: str) -> None:
    rows = ("monday tuesday sunday", "six seven eight", "march april june", "north south east", "周一 周二 周日")
    beside = next(row.split() for row in rows if term in row.split())
    analyzer = Analyzer()
    assert not {analyzer.terms(word) or word for word in beside} & {word for word, _ in related(analyzer.terms(term))}


@pytest.mark.parametrize(("word", "other"), [("锤子", "饺子"), ("蜻蜓", "猥琐"), ("枇杷", "秸秆"), ("清除", "剿除")])
def test_characters_that_the_encoder_took_for_one_make_no_words_alike(word: str, other: str) -> None:
    assert other not in dict(related(word))


def test_nearness_falls_and_stays_in_its_range() -> None:
    for word in list(ROWS)[::500]:
        near = [value for _, value in related(word)]
        assert near == sorted(near, reverse=True)
        assert all(LEAST <= value < 1 for value in near)
