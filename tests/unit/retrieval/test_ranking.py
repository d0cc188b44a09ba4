"""The exact ranking: BM25, keyword score, weights of terms."""

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ctxcli.index.memory import MemoryIndex
from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval import bm25, keyword
from ctxcli.retrieval.weights import TermWeights, idf, weigh
from ctxcli.services.answering import Knowledge
from ctxcli.services.searching import search
from ctxcli.text.question import Question, read_question
from tests.unit.index.made import made as file
from tests.unit.retrieval.made import ANALYZER, index, knowledge

CORPUS = [
    "# Pumps\n\nThe pump starts at six. The pump stops at seven.\n\n# Valves\n\nA valve closes when the pump stops.\n",
    "# Vents\n\n" + "The vent opens when it is warm. " * 20 + "\n\n# Wind\n\nWind closes the vent.\n",
    "# 灌溉\n\n水泵每天六点启动，七点停止。\n\n# 阀门\n\n水泵停止后阀门关闭。阀门由控制器打开。\n",
    "# 天窗\n\n温度高于上限时天窗打开。风大时天窗关闭。\n",
    "# Notes\n\nNothing of interest here.\n",
]
QUESTIONS = ["When does the pump stop?", "vent wind valve", "水泵什么时候停止？", "天窗 阀门 打开", "pump 水泵", "warm"]


def weights_of(made: MemoryIndex, question: Question, *, background: int = 0) -> TermWeights:
    stats = made.stats
    return weigh(
        question, made.document_frequency, chunks=stats["chunks"], length=stats["length"], background=background
    )


def chunks_of(made: MemoryIndex, weights: TermWeights) -> Sequence[StoredChunk]:
    return made.candidates(dict.fromkeys(weights.canonical, 1.0), limit=1000)


class Reference(BM25Okapi):  # type: ignore[misc]
    """rank-bm25 with an idf that is never negative."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {term: idf(count, self.corpus_size) for term, count in nd.items()}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_bm25_is_that_of_an_independent_reference(asked: str) -> None:
    made = index(*CORPUS)
    question = read_question(asked, ANALYZER)
    weights = weights_of(made, question)
    everything = list(made._chunks)
    reference = Reference([chunk.terms.split() for chunk in everything], k1=bm25.K1, b=bm25.B)
    scores = sum(
        factor * reference.get_scores([term]) for term, factor in question.terms.items() if term in reference.idf
    )
    expected = dict(zip([chunk.key for chunk in everything], scores, strict=True))
    matches = [bm25.match(chunk, weights) for chunk in chunks_of(made, weights)]
    scale = weights.total * (bm25.K1 + 1)
    assert {match.chunk.key for match in matches} == {key for key, score in expected.items() if score > 0}
    for match in matches:
        assert match.bm25 * scale == pytest.approx(expected[match.chunk.key])
    assert sorted(matches, key=lambda one: (-round(one.bm25, 9), one.chunk.key)) == sorted(
        matches, key=lambda one: (-round(expected[one.chunk.key] / scale, 9), one.chunk.key)
    )


@given(chunks=st.integers(1, 10_000), frequency=st.integers(0, 10_000))
def test_idf_is_positive_and_falls_with_the_frequency(chunks: int, frequency: int) -> None:
    frequency = min(frequency, chunks)
    assert idf(frequency, chunks) > 0
    if frequency:
        assert idf(frequency - 1, chunks) > idf(frequency, chunks)


@pytest.mark.parametrize("background", [0, 100])
@pytest.mark.parametrize("copies", [1, 2, 3])
def test_a_term_in_every_chunk_of_a_tiny_corpus_still_scores(copies: int, background: int) -> None:
    made = index(*[f"windy day number{n}\n" for n in range(copies)])
    weights = weights_of(made, read_question("windy", ANALYZER), background=background)
    matches = bm25.rank(chunks_of(made, weights), weights, limit=10)
    assert len(matches) == copies
    assert all(match.bm25 > 0 for match in matches)


def test_one_of_two_documents_has_the_term() -> None:
    hits = search(knowledge("A windy day.\n", "A calm day.\n"), "windy", limit=10).passages
    assert [hit.doc for hit in hits] == ["docs/0.md"]
    assert hits[0].score > 0


@pytest.mark.parametrize("mode", ["bm25", "keyword"])
def test_what_shares_no_term_is_not_returned(mode: str) -> None:
    made = knowledge("窗前的月光\n", "地上的霜\n", "举头望山\n", "低头思故乡\n")
    assert [hit.doc for hit in search(made, "故乡", limit=10, mode=mode).passages] == ["docs/3.md"]
    assert search(made, "电脑", limit=10, mode=mode).passages == ()


@pytest.mark.parametrize("mode", ["bm25", "keyword"])
def test_terms_are_alternatives_not_conditions(mode: str) -> None:
    made = knowledge("云盘 300 元学生券\n", "别的文件\n")
    assert [hit.doc for hit in search(made, "云盘 优惠券", limit=10, mode=mode).passages] == ["docs/0.md"]


@pytest.mark.parametrize(("stored", "asked"), [("古籍除濕方法", "古籍除湿"), ("古籍除湿方法", "古籍除濕")])
def test_simplified_and_traditional_find_each_other(stored: str, asked: str) -> None:
    assert len(search(knowledge(f"{stored}\n", "别的文件\n"), asked, limit=10).passages) == 1
    made = index(f"{stored}\n")
    weights = weights_of(made, read_question(asked, ANALYZER))
    [match] = bm25.rank(chunks_of(made, weights), weights, limit=5)
    assert max(match.cover) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("# Other\n\nThe pump starts daily.\n", "pump starts slowly", 2 / 3),
        ("# Pump\n\nIt starts daily.\n", "pump starts slowly", 2 / 3 + 0.3),
        ("# Pump\n\nIt starts slowly.\n", "pump starts slowly", 1.3),
        ("# Other\n\nThe pump.\n", "pump", 1.0),
        ("# Other\n\nversion v2.1 of 6.3.2 for ADSL\n", "v2.1 6.3.2 ADSL", 1.0),
        ("# 其他\n\n水泵启动。\n", "水泵停止", 1 / 3),
        ("# 水泵\n\n每天启动。\n", "水泵停止", 1 / 3 + 0.3),
    ],
)
def test_the_keyword_score_is_the_share_of_terms_and_a_bonus_for_the_title(
    text: str, query: str, expected: float
) -> None:
    question = read_question(query, ANALYZER)
    made = index(text)
    weights = weights_of(made, question)
    [chunk] = chunks_of(made, weights)
    assert keyword.score(bm25.match(chunk, weights), question) == pytest.approx(expected)


def test_a_title_alone_does_not_beat_a_full_match() -> None:
    made = knowledge("# Pump\n\nColours of paint.\n", "# Other\n\nThe pump starts at six in the morning.\n")
    hits = search(made, "pump starts six morning", limit=5, mode="keyword").passages
    assert [hit.doc for hit in hits] == ["docs/1.md", "docs/0.md"]


@pytest.mark.parametrize("mode", ["bm25", "keyword"])
def test_ties_have_a_stable_order(mode: str) -> None:
    texts = [f"# Same\n\nThe pump starts at six, says file {n}.\n" for n in range(8)]
    made = knowledge(*texts)
    first = search(made, "pump starts", limit=20, mode=mode)
    assert [hit.chunk_id for hit in first.passages] == sorted(hit.chunk_id for hit in first.passages)
    for order in itertools.islice(itertools.permutations(range(8)), 0, 40_000, 9_999):
        other = MemoryIndex([file(f"docs/{n}.md", texts[n]) for n in order])
        again = search(Knowledge({"default": other}, analyzer=ANALYZER), "pump starts", limit=20, mode=mode)
        assert again == first


WORDS = st.sampled_from(["pump", "vent", "valve", "six", "水泵", "阀门", "启动", "other", "words"])
TEXTS = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), query=TEXTS)
@settings(max_examples=100, deadline=None)
def test_scores_fall_with_the_rank_and_stay_in_their_range(texts: list[str], query: str) -> None:
    made = knowledge(*texts)
    for mode, highest in (("bm25", 1.0), ("keyword", 1.3)):
        scores = [hit.score for hit in search(made, query, limit=100, mode=mode).passages]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= highest for score in scores)
    stats = index(*texts)
    weights = weights_of(stats, read_question(query, ANALYZER), background=100)
    ranked = bm25.rank(chunks_of(stats, weights), weights, limit=100)
    assert [match.score for match in ranked] == sorted((match.score for match in ranked), reverse=True)
    assert all(0 < match.score <= bm25.HIGHEST + 1e-9 for match in ranked)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_one_more_term_of_the_question_never_lowers_bm25(texts: list[str]) -> None:
    made = index(*texts)
    weights = weights_of(made, read_question("pump 水泵", ANALYZER))
    for chunk in made._chunks:
        more = StoredChunk(
            "m:0", chunk.text, chunk.terms + " pump", b'{"n":%d,"u":[],"s":[0,-1,null],"h":{}}' % chunk.length
        )
        assert bm25.match(more, weights).bm25 >= bm25.match(chunk, weights).bm25


@given(st.lists(st.floats(0.001, 12.0), min_size=2, max_size=12), st.randoms())
@settings(max_examples=50)
def test_the_coverage_does_not_depend_on_the_order_in_which_terms_are_held(
    weight: list[float], chance: random.Random
) -> None:
    terms = [f"词{number}" for number in range(len(weight))]
    shuffled = chance.sample(terms, len(terms))
    one, other = (
        TermWeights({term: weight[terms.index(term)] for term in order}, {}, {}, 1.0) for order in (terms, shuffled)
    )
    held = frozenset(terms[::2])
    assert bm25.coverage(held, frozenset(), one) == bm25.coverage(held, frozenset(), other)
    assert bm25.coverage(frozenset(terms), frozenset(), one) == 1.0
