"""How far texts bear on a query."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.packing.relevance import Relevance

WORD = st.sampled_from("pump valve vent boiler lamp sensor filter motor 水泵 阀门 天窗 锅炉 传感器 过滤器".split())


@given(words=st.lists(WORD, min_size=1, max_size=12, unique=True), corpus=st.lists(WORD, max_size=30))
@settings(max_examples=60)
def test_a_text_that_holds_the_whole_query_bears_on_it_wholly(words: list[str], corpus: list[str]) -> None:
    query = " ".join(words)
    judge = Relevance(query, corpus)
    assert judge.share(" ".join(reversed(words))) == 1.0, "exact, in whatever order the terms are held"
    assert judge.share("") == 0.0
