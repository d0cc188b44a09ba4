"""Which stage lost a passage, each by a case that reaches it."""

import pytest

from ctxcli.index.memory import MemoryIndex
from ctxcli.model.errors import UsageError
from ctxcli.model.explanation import Expected
from ctxcli.model.index import FileRecord
from ctxcli.model.prepared import Prepared
from ctxcli.services.answering import Knowledge, ask
from ctxcli.services.explanation import explain
from tests.unit.index.made import failed, made
from tests.unit.retrieval.made import ANALYZER

MANUAL = """# Manual

## 6.3 Vents

The roof vent opens above 28 degrees.

## 6.4 Pumps

The irrigation pump starts at six in the morning.
"""
CHINESE = "# 第三章 水\n\n## 第七条 水泵\n\n灌溉水泵每天早上六点启动。\n"
PUMP = "When does the irrigation pump start?"


def base(*more: tuple[FileRecord, Prepared]) -> Knowledge:
    held = [made("docs/manual.md", MANUAL), made("docs/手册.md", CHINESE), *more]
    index = MemoryIndex(held)
    with_failed = [*index.files(), failed("docs/locked.pdf")]
    index.files = lambda: with_failed  # type: ignore[method-assign]
    return Knowledge({"default": index}, analyzer=ANALYZER)


def stage(knowledge: Knowledge, question: str, expect: str, *, threshold: float = 0.4) -> Expected:
    found = explain(knowledge, question, threshold=threshold, expect=expect).expected
    assert found is not None
    assert found.why
    return found


@pytest.mark.parametrize(
    ("question", "expect", "wanted"),
    [
        (PUMP, "nowhere.md", "not_indexed"),
        (PUMP, "locked.pdf", "not_parsed"),
        (PUMP, "manual.md#9.9", "not_chunked"),
        (PUMP, "手册.md", "not_matched"),
        (PUMP, "manual.md#6.3", "not_matched"),
        (PUMP, "manual.md#6.4", "shown"),
        (PUMP, "manual.md#Pumps", "shown"),
        (PUMP, "docs/*.md", "shown"),
        (PUMP, "manual.md", "shown"),
        ("灌溉水泵几点启动？", "手册.md#第七条", "shown"),
        ("灌溉水泵几点启动？", "手册.md#第三章", "shown"),
        ("灌溉水泵几点启动？", "手册.md#第八条", "not_chunked"),
    ],
)
def test_the_stage_of_a_passage(question: str, expect: str, wanted: str) -> None:
    assert stage(base(), question, expect).stage == wanted


def test_below_the_threshold() -> None:
    found = stage(base(), PUMP, "manual.md#6.4", threshold=0.999)
    assert (found.stage, found.rank) == ("below_threshold", 1)


def test_ranked_too_low_among_the_candidates_and_beyond_them() -> None:
    better = [
        made(f"docs/{n}.md", f"# Irrigation {n}\n\nThe irrigation pump {n} starts at {n} when irrigation starts.\n")
        for n in range(40)
    ]
    weak = made("docs/weak.md", "# Other\n\nSomebody painted a pump, and " + "nothing more was said of it. " * 30)
    found = stage(base(*better, weak), PUMP, "weak.md")
    assert (found.stage, found.rank) == ("ranked_too_low", None)
    assert "pump" in found.why
    found = stage(base(*better[:12], weak), PUMP, "weak.md")
    assert found.stage == "ranked_too_low"
    assert found.rank is not None
    assert found.rank > 5


def test_not_chosen_where_other_sentences_answer() -> None:
    near = made("docs/near.md", "# Repairs\n\nA pump for irrigation was repaired.\n")
    found = stage(base(near), PUMP, "near.md")
    assert (found.stage, found.rank) == ("not_chosen", 2)


def test_a_document_is_found_by_its_path_before_another_by_its_name() -> None:
    knowledge = base(made("a/manual.md", "# Else\n\nElse.\n"))
    assert stage(knowledge, PUMP, "docs/manual.md").doc == "docs/manual.md"
    assert stage(knowledge, PUMP, "a/manual.md").stage == "not_matched"


def test_a_section_alone_names_no_document() -> None:
    with pytest.raises(UsageError):
        explain(base(), PUMP, threshold=0.4, expect="#6.4")


@pytest.mark.parametrize(
    "question", [PUMP, "灌溉水泵几点启动？", "What does section 6.4 say?", "第七条规定了什么？", "zebra"]
)
def test_the_explanation_is_of_what_ask_does(question: str) -> None:
    knowledge = base()
    explained = explain(knowledge, question, threshold=0.4)
    answer = ask(knowledge, question)
    assert explained.score == answer.score
    assert explained.declined == answer.declined
    assert explained.answer == answer.candidate
    assert bool(explained.features) == (answer.reason != "no_match")
    document = explained.document()
    assert document["schema"] == "ctx/explanation/1"
    for hit in document["hits"]:
        assert hit["rank"] >= 1


def test_the_score_does_not_depend_on_how_many_chunks_are_kept() -> None:
    more = [made(f"docs/{n}.md", f"# Irrigation {n}\n\nThe irrigation pump {n} is green.\n") for n in range(12)]
    knowledge = base(*more)
    scores = {ask(knowledge, PUMP, limit=limit).score for limit in (1, 3, 5, 10, 30)}
    assert len(scores) == 1


def test_terms_say_in_which_hits_they_are() -> None:
    terms = {one.term: one for one in explain(base(), "irrigation zebra", threshold=0.4).terms}
    assert (terms["zebra"].chunks, terms["zebra"].hits) == (0, ())
    assert terms["irrig"].chunks == 1
    assert terms["irrig"].hits == (1,)
