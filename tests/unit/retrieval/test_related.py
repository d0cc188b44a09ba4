"""Words of like meaning in ranking, coverage and answers."""

from dataclasses import replace

import pytest

from ctxcli.retrieval import bm25
from ctxcli.services.answering import EVERYWHERE, ask, consider
from ctxcli.services.explanation import explain
from ctxcli.services.searching import search
from ctxcli.text.question import read_question
from tests.unit.retrieval.made import ANALYZER, knowledge

ENGLISH = (
    "# Cinema\n\nThe movie begins at nine in the evening. Bring a ticket.\n",
    "# Stores\n\nThe shop sells ropes and tents. It opens on weekdays.\n",
    "# Garden\n\nRoses need water in July. Pots are kept inside.\n",
)
CHINESE = (
    "# 维护\n\n管理员每周删除一次过期的日志。\n",
    "# 仓库\n\n零件储存在二号仓库的货架上。\n",
    "# 花园\n\n玫瑰在七月需要浇水。\n",
)
TRADITIONAL = ("# 電影院\n\n影片於晚上九點放映。\n", "# 花園\n\n兒童不能單獨入園。\n")


@pytest.mark.parametrize(
    ("texts", "question", "document"),
    [
        (ENGLISH, "When does the film start?", "docs/0.md"),
        (CHINESE, "多久清除一次？", "docs/0.md"),
        (CHINESE, "存储", "docs/1.md"),
        (TRADITIONAL, "电影", "docs/0.md"),
        (TRADITIONAL, "電影", "docs/0.md"),
        (TRADITIONAL, "孩子", "docs/1.md"),
    ],
)
def test_a_text_in_other_words_is_found(texts: tuple[str, ...], question: str, document: str) -> None:
    base = knowledge(*texts)
    assert base.passage(consider(base, question).matches[0], 0, 1, 0.0).doc == document


def test_the_word_itself_counts_more_than_one_like_it() -> None:
    base = knowledge("# A\n\nThe movie begins.\n", "# B\n\nThe film begins.\n")
    question = read_question("film", ANALYZER)
    weights = base.weigh(question, with_related=True)
    by_doc = {
        one.doc_id: one for one in bm25.rank(base.candidates(weights, limit=9, filters=EVERYWHERE), weights, limit=9)
    }
    exact, like = sorted(by_doc.values(), key=lambda one: -one.score)
    assert "film" in exact.chunk.text
    assert 0 < like.bm25 < exact.bm25 <= 1
    assert 0 < max(like.cover) < max(exact.cover) <= 1


@pytest.mark.parametrize(
    ("question", "word", "spanning"), [("别人结婚", "结婚", "人结"), ("他家會被判決", "判決", "會被")]
)
def test_a_word_that_is_missing_weighs_and_what_spans_two_words_hardly(question: str, word: str, spanning: str) -> None:
    weight = knowledge(*CHINESE).weigh(read_question(question, ANALYZER)).weight
    assert weight[spanning] < 0.5 * weight[word]


@pytest.mark.parametrize("question", ["Which films does Movie Palace show?", "How old is Disc?"])
def test_names_are_taken_at_their_word(question: str) -> None:
    base = knowledge("# Notes\n\nA disk and a film are here.\n")
    read = read_question(question, ANALYZER)
    near = base.weigh(read, with_related=True).related
    assert not {term for term, _ in near.values()} & read.names


def test_coverage_is_the_same_by_either_way_where_no_related_word_stands() -> None:
    plain = knowledge("# Pumps\n\nThe pump starts at six.\n").weigh(read_question("pump starts", ANALYZER))
    with_related = replace(plain, related={"engin": ("pump", 0.2)})
    for terms in (frozenset({"pump"}), frozenset({"pump", "start"}), frozenset()):
        for head in (frozenset({"pump"}), frozenset()):
            assert bm25.coverage(terms, head, plain) == pytest.approx(bm25.coverage(terms, head, with_related))


def test_plain_search_looks_for_the_words_alone() -> None:
    base = knowledge(*ENGLISH)
    assert not search(base, "film", limit=5).passages
    assert search(base, "movie", limit=5).passages


def test_words_of_like_meaning_do_not_make_an_answer_to_what_is_not_asked() -> None:
    base = knowledge(*ENGLISH)
    assert ask(base, "What does the film cost in Oslo?").text is None


def test_the_explanation_names_them() -> None:
    terms = {one.term: one for one in explain(knowledge(*ENGLISH), "When does the film start?", threshold=0.4).terms}
    assert terms["film"].related == ("movi", "cinema")
    assert terms["film"].hits == ()
