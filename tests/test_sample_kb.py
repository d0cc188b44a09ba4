"""`sample_kb/`: sections and pages as they were read off the printed pages, and what is answered and declined."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.run import ROOT, ctx

GOLDEN = ROOT / "tests" / "golden"
SECTIONS: Mapping[str, list[list[Any]]] = json.loads((GOLDEN / "sample_kb_sections.json").read_text("utf-8"))
QUESTIONS = [json.loads(line) for line in (GOLDEN / "sample_kb_questions.jsonl").read_text("utf-8").splitlines()]
CHECKS = yaml.safe_load((ROOT / "sample_kb" / "tests.yml").read_text("utf-8"))["tests"]
RIGHT = 46
"""So many of the answerable questions must be answered with the right document, section, page and lines."""
FALSE_ANSWERS = 10
"""So many of the questions that the documents do not answer may be answered."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("station") / "work"
    folder.mkdir()
    (folder / "sample_kb").symlink_to(ROOT / "sample_kb")
    done = ctx(folder, "kb", "index", "sample_kb", "--json")
    assert done.code == 0, done.err
    assert done.json["failures"] == done.json["warnings"] == []
    assert done.json["files"]["indexed"] == len(_documents())
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    done = ctx(folder, "ask", "--batch", str(GOLDEN / "sample_kb_questions.jsonl"), "--json")
    assert done.code == 0, done.err
    return {answer["id"]: answer for answer in map(json.loads, done.out.splitlines())}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_stand_on_their_printed_pages(folder: Path, name: str) -> None:
    outline = ctx(folder, "kb", "outline", name, "--json").json["sections"]
    assert [[one["section"], one["heading"], one["page"]] for one in outline] == SECTIONS[name]


def test_a_section_that_runs_over_a_page_is_cited_where_its_sentence_stands(folder: Path) -> None:
    hits = ctx(folder, "kb", "search", "gauge liquid tank supplier", "--doc", "*.pdf", "--json").json["hits"]
    assert "every five weeks by the supplier" in hits[0]["quote"]
    assert (hits[0]["section"], hits[0]["page"], hits[0]["page_label"]) == ("3.4.2", 7, "4")


def test_front_matter_has_roman_page_labels(folder: Path) -> None:
    hits = ctx(folder, "kb", "search", "edition 3 of 12 January 2023 replaced", "--doc", "*.pdf", "--json").json["hits"]
    assert (hits[0]["page"], hits[0]["page_label"], hits[0]["section"]) == (2, "ii", None)


def test_the_table_of_contents_is_no_evidence(folder: Path) -> None:
    hits = ctx(folder, "kb", "search", "irrigation and nutrients", "--doc", "*.pdf", "--json").json["hits"]
    assert all(". . . ." not in hit["text"] for hit in hits)


def test_a_second_run_reads_nothing(folder: Path) -> None:
    files = ctx(folder, "kb", "index", "--json").json["files"]
    assert (files["indexed"], files["unchanged"]) == (0, len(_documents()))


def test_questions_are_answered_from_the_right_place(answers: dict[str, Any]) -> None:
    asked = [question for question in QUESTIONS if question["answerable"]]
    wrong = [question["question"] for question in asked if not is_right(answers[question["id"]], question)]
    assert len(wrong) <= len(asked) - RIGHT, wrong


def test_what_the_documents_do_not_say_is_declined(answers: dict[str, Any]) -> None:
    asked = [question for question in QUESTIONS if not question["answerable"]]
    false = [question["question"] for question in asked if not answers[question["id"]]["declined"]]
    assert len(false) <= FALSE_ANSWERS, false


def test_the_documentation_tests_pass(answers: dict[str, Any]) -> None:
    by_question = {question["question"]: answers[question["id"]] for question in QUESTIONS}
    failed = [test["question"] for test in CHECKS if not passes(by_question[test["question"]], test)]
    assert failed == []


def test_the_questions_are_enough_and_well_formed() -> None:
    assert len(QUESTIONS) >= 40
    assert sum(not question["answerable"] for question in QUESTIONS) >= 12
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    for question in QUESTIONS:
        if question["answerable"]:
            assert (ROOT / question["doc"]).is_file()
        if question["lines"]:
            line = (ROOT / question["doc"]).read_text("utf-8").splitlines()[question["lines"][0] - 1]
            assert question["answers"][0] in line


def is_right(answer: Mapping[str, Any], question: Mapping[str, Any]) -> bool:
    """Whether a citation quotes the answer and names its document, section, page and lines."""
    return any(
        citation["doc"] == question["doc"]
        and any(wanted in " ".join(citation["quote"].split()) for wanted in question["answers"])
        and citation["section"] == question["section"]
        and (question["page"] is None or citation["page"] <= question["page"] <= citation["page_end"])
        and (not question["lines"] or citation["line_start"] <= question["lines"][0] <= citation["line_end"])
        for citation in answer["citations"]
    )


def passes(answer: Mapping[str, Any], test: Mapping[str, Any]) -> bool:
    """Whether an answer is as a documentation test expects it."""
    if test.get("declined"):
        return bool(answer["declined"])
    expected = test["expect"]
    return any(
        citation["doc"] == expected["doc"]
        and citation["section"] == expected.get("section", citation["section"])
        and citation["page"] == expected.get("page", citation["page"])
        and all(words in " ".join(citation["quote"].split()) for words in expected["contains"])
        for citation in answer["citations"]
    )


def _documents() -> list[Path]:
    """The files of the samples but the tests, which `.ctxignore` leaves out."""
    files = (path for path in (ROOT / "sample_kb").rglob("*") if path.is_file())
    return [path for path in files if path.name not in {".ctxignore", "tests.yml"}]


@pytest.mark.parametrize(("figure", "floor"), [("doc_hit@1", 0.95), ("place_hit@1", 0.9), ("answer", 0.9)])
def test_the_figures_do_not_fall(figures: dict[str, float], figure: str, floor: float) -> None:
    assert figures[figure] >= floor


@pytest.fixture(scope="module")
def figures(folder: Path) -> dict[str, float]:
    done = ctx(folder, "kb", "eval", str(GOLDEN / "sample_kb_questions.jsonl"), "--json")
    assert done.code == 0, done.err
    return dict(done.json["figures"])
