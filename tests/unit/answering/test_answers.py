"""Answers, their citations, and refusals, on documents as they are."""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from ctxcli.answering.evidence import LIMIT
from ctxcli.index.memory import MemoryIndex
from ctxcli.model.answer import Answer, Passage
from ctxcli.model.document import Document
from ctxcli.model.index import FileRecord
from ctxcli.parsing import chunker, formats
from ctxcli.services.answering import Knowledge, ask
from ctxcli.services.prepare import prepare
from ctxcli.services.searching import search
from tests.unit.retrieval.made import ANALYZER, knowledge

ROOT = Path(__file__).parents[3]
FILES = sorted(path for path in (ROOT / "sample_kb").rglob("*.*") if path.name not in {".ctxignore", "tests.yml"})
QUESTIONS = [
    json.loads(line)["question"]
    for line in (ROOT / "tests/golden/sample_kb_questions.jsonl").read_text("utf-8").splitlines()
]


@cache
def documents() -> Mapping[str, Document]:
    return {path.name: formats.parse(path.read_bytes(), name=path.name) for path in FILES}


@pytest.fixture(scope="module")
def sample() -> Knowledge:
    held = []
    for path in FILES:
        prepared = prepare(path.read_bytes(), name=path.name)
        record = FileRecord(path.name, "", path.name, 0, 0, "", "ok", title=prepared.title)
        held.append((record, prepared))
    return Knowledge({"default": MemoryIndex(held)}, analyzer=ANALYZER)


@pytest.fixture(scope="module")
def answers(sample: Knowledge) -> list[Answer]:
    asked = [ask(sample, question, threshold=0.0, with_evidence=True) for question in QUESTIONS]
    return [answer for answer in asked if answer.reason != "no_match"]


def line_of(document: Document, counted: int, marked: int) -> int | None:
    """The line of the file: by the line ends before `counted`, or by the mark at or before `marked`."""
    if document.line_marks:
        return max(line for offset, line in document.line_marks if offset <= marked)
    return 1 + document.text.count("\n", 0, counted) if document.has_lines else None


def assert_place_is_right(passage: Passage) -> None:
    """The place that is cited is where the quote stands in the canonical text."""
    document = documents()[passage.doc]
    doc_id, _, ordinal = passage.chunk_id.rpartition(":")
    chunk = chunker.chunk(document)[int(ordinal)]
    assert doc_id == passage.doc
    assert document.text[chunk.start : chunk.end] == passage.text
    starts = [m.start() for m in re.finditer(re.escape(passage.quote), passage.text)]
    assert starts, "the quote stands verbatim in the chunk"
    fits = []
    for start in (chunk.start + one for one in starts):
        end = start + len(passage.quote)
        section = bisect_right([one.start for one in document.sections], start) - 1
        found = document.sections[section] if section >= 0 else None
        page = bisect_right(document.page_starts, start) or None
        fits.append(
            (
                (found.number or None) if found else None,
                found.path if found else (),
                page,
                bisect_right(document.page_starts, end - 1) or None,
                (document.page_labels[page - 1] or None) if page and document.page_labels else None,
                line_of(document, start, start),
                line_of(document, end, end - 1),
            )
        )
    assert (
        passage.section,
        passage.heading_path,
        passage.page,
        passage.page_end,
        passage.page_label,
        passage.line_start,
        passage.line_end,
    ) in fits


def test_every_citation_is_where_it_says(answers: list[Answer]) -> None:
    cited = [passage for answer in answers for passage in answer.citations]
    assert len(cited) >= len(answers) >= 40
    for passage in cited:
        assert_place_is_right(passage)


def test_every_ranked_chunk_is_where_it_says(answers: list[Answer]) -> None:
    assert sum(len(answer.evidence) == 10 for answer in answers) > len(answers) / 2
    for answer in answers:
        for passage in answer.evidence:
            assert_place_is_right(passage)
        scores = [passage.score for passage in answer.evidence]
        assert scores == sorted(scores, reverse=True)
        assert len({passage.chunk_id for passage in answer.evidence}) == len(answer.evidence)


def test_each_excerpt_has_its_number_and_is_cited_verbatim(answers: list[Answer]) -> None:
    for answer in answers:
        assert answer.text
        numbers = [int(number) for number in re.findall(r" \[(\d)\](?=\s|$)", answer.text)]
        assert numbers == list(range(1, len(answer.citations) + 1))
        for passage in answer.citations:
            assert passage.quote.strip() == passage.quote
            assert passage.quote in answer.text


def test_an_answer_is_short_unless_it_is_one_block(answers: list[Answer]) -> None:
    for answer in answers:
        shown = re.sub(r" \[\d\](?=\s|$)", "", answer.text or "")
        most = LIMIT[answer.language]
        assert len(shown) <= most or (len(answer.citations) == 1 and len(shown) <= 3 * most), shown


def test_the_limits_are_those_of_the_interface() -> None:
    assert LIMIT == {"en": 400, "zh": 160}


def test_the_same_question_has_the_same_answer(sample: Knowledge) -> None:
    for question in QUESTIONS[:12]:
        first, second = ask(sample, question), ask(sample, question)
        assert replace(first, elapsed_ms=0) == replace(second, elapsed_ms=0)


def test_scores_are_shares(answers: list[Answer]) -> None:
    for answer in answers:
        assert 0 <= answer.score <= 1
        assert all(0 <= passage.score <= 1 for passage in (*answer.citations, *answer.evidence))


def test_a_refusal_names_the_nearest_places_and_cites_nothing(sample: Knowledge) -> None:
    for question in QUESTIONS:
        answer = ask(sample, question, threshold=1.0)
        if answer.reason == "no_match":
            continue
        assert answer.declined
        assert answer.reason == "below_threshold"
        assert answer.text is None
        assert answer.citations == ()
        assert 1 <= len(answer.nearest) <= 3
        assert answer.candidate
        places = [(passage.doc, passage.heading_path) for passage in answer.nearest]
        assert len(set(places)) == len(places)


def test_the_threshold_is_not_below_the_score(sample: Knowledge) -> None:
    question = QUESTIONS[0]
    score = ask(sample, question).score
    assert not ask(sample, question, threshold=score - 0.001).declined
    assert ask(sample, question, threshold=min(1.0, score + 0.001)).reason == "below_threshold"
    assert not ask(sample, question, threshold=0.0).declined


@pytest.mark.parametrize(
    "question", ["这是什么", "的 是 什么", "the is", "what is it?", "是什么？", "？", "😀", "a the of"]
)
def test_words_without_meaning_are_declined(sample: Knowledge, question: str) -> None:
    answer = ask(sample, question)
    assert answer.declined
    assert answer.citations == ()


@pytest.mark.parametrize(
    "question",
    [
        "音乐是什么",
        "法国的首都是哪里？",
        "谁写了《红楼梦》？",
        "Who wrote Hamlet?",
        "What is the capital of France?",
        "How do I install PostgreSQL on Windows?",
        "股票今天的收盘价是多少？",
    ],
)
def test_what_has_nothing_to_do_with_the_documents_is_declined(sample: Knowledge, question: str) -> None:
    answer = ask(sample, question)
    assert answer.reason in {"no_match", "below_threshold"}
    assert answer.citations == ()


def test_nothing_to_search_is_a_reason_of_its_own() -> None:
    assert ask(knowledge(), "When does the pump start?").reason == "empty_kb"
    assert ask(knowledge(), "").reason == "empty_kb"


def test_no_term_in_common_is_no_match() -> None:
    answer = ask(knowledge("# Pump\n\nThe pump starts at six.\n"), "zebra crossing", threshold=0.0)
    assert answer.reason == "no_match"
    assert answer.score == 0
    assert answer.nearest == ()
    assert answer.candidate is None


TWICE = "# Pump\n\nThe irrigation pump starts at six in the morning.\n"


def test_a_passage_that_stands_in_two_files_is_shown_once() -> None:
    answer = ask(knowledge(TWICE, TWICE + "\n"), "When does the irrigation pump start?")
    assert answer.text
    assert answer.text.count("starts at six") == 1
    assert len(answer.citations) == 1


def test_a_quote_on_the_next_page_is_cited_with_that_page() -> None:
    from ctxcli.model.prepared import Prepared
    from ctxcli.services.prepare import indexed_chunks

    first = "Chapter on sensors. " + "It has many words about sensors and cables. " * 10
    second = "The limit alarm rings at thirty degrees. "
    text = first + second + "End of the page. "
    document = Document(
        "pdf", "Manual", text, page_starts=(0, len(first)), page_labels=("ix", "1"), sections=(), has_lines=False
    )
    chunks = tuple(indexed_chunks(document, ANALYZER))
    assert len(chunks) == 1
    prepared = Prepared("pdf", "pdf/1", "Manual", False, "", 2, (), b"[]", chunks)
    record = FileRecord("m.pdf", "", "m", 0, 0, "", "ok", title="Manual")
    made = Knowledge({"": MemoryIndex([(record, prepared)])}, analyzer=ANALYZER)
    [hit] = search(made, "When does the limit alarm ring?", limit=5).passages
    assert (hit.page, hit.page_end, hit.page_label) == (2, 2, "1")
    citations = ask(made, "When does the limit alarm ring?").citations
    assert second.strip() in citations[0].quote
    for cited in citations:
        on_second = cited.quote in second + "End of the page."
        assert (cited.page, cited.page_end) == ((2, 2) if on_second else (1, 1)), "no quote runs over a page"


def test_a_quote_in_a_later_section_of_its_chunk_is_cited_with_that_section() -> None:
    text = (
        "# Manual\n\n## 6.1 Sensors\n\nSensors have cables.\n\n"
        "## 6.2 Alarms\n\nThe limit alarm rings at thirty degrees.\n\n## 6.3 More\n\nNothing else.\n"
    )
    [citation] = ask(knowledge(text), "When does the limit alarm ring?").citations
    assert (citation.section, citation.heading, citation.line_start) == ("6.2", "Alarms", 9)


def test_the_line_is_that_of_the_match_in_a_long_chinese_file() -> None:
    lines = [f"第{n}行说的是别的事情，与问题没有关系。\n" for n in range(1, 201)]
    lines[179] = "连接池超时的上限是三十秒。\n"
    [hit, *_] = search(knowledge("\n".join(lines)), "连接池超时", limit=3).passages
    assert hit.line_start == 2 * 179 + 1
    assert hit.quote == "连接池超时的上限是三十秒。"


def test_a_needle_far_down_a_long_document_is_found() -> None:
    text = (
        "# Long\n\n" + "Plain words fill this file. " * 1800 + "The needle alarm rings at noon. " + "More words. " * 900
    )
    [citation, *_] = ask(knowledge(text), "When does the needle alarm ring?").citations
    assert "rings at noon" in citation.quote


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("The station was opened on 14 May 2016.", "When was the station opened?"),
        ("观测站于2016年5月14日启用。", "观测站什么时候启用？"),
    ],
)
def test_paragraphs_beside_the_answer_are_left_out(answer: str, question: str) -> None:
    others = "Rain falls into two basins. 雨水流入两个水池。\n\nBees live in the orchard. 蜜蜂住在果园。"
    text = f"# Notes 笔记\n\n{others}\n\n{answer}\n\n{others}\n"
    assert [one.quote for one in ask(knowledge(text), question, threshold=0).citations] == [answer]


def test_a_question_is_answered_though_its_words_stand_two_sentences_apart() -> None:
    text = (
        "# Power\n\nThe generator starts within 20 seconds. Its tank lasts 36 hours. "
        "It is tested on the first Wednesday of each month at 08:00.\n\n# Water\n\nThe pump is cleaned in May.\n"
    )
    base = knowledge(text, *(f"# Page {name}\n\nThe {name} is kept in room {name}.\n" for name in "abcdefgh"))
    assert "Wednesday" in (ask(base, "When is the generator tested?").text or "")


def test_a_text_for_a_question_says_no_more_than_a_long_question() -> None:
    words = [a + b + c for a in ("ba", "ko", "mi", "tu") for b in ("dan", "fer", "gol", "hip") for c in ("tek", "lom")]
    base = knowledge(*(f"# T\n\n{' '.join(words[at : at + 20])}.\n" for at in range(0, len(words), 4)))
    scores = [ask(base, " ".join(f"{word}{at % 40}" for at in range(count) for word in words), threshold=0).score
              for count in (2, 40)]  # fmt: skip
    assert scores[1] <= scores[0]


def test_a_code_block_is_shown_whole_up_to_three_times_the_limit() -> None:
    code = "```sh\n" + "".join(f"pumpctl calibrate --valve {n} --wait\n" for n in range(1, 16)) + "```"
    assert 400 < len(code) < 1_200
    found = ask(knowledge(f"# Valves\n\nSee below.\n\n{code}\n"), "pumpctl calibrate valve 7 wait", threshold=0.0)
    assert [citation.quote for citation in found.citations] == [code]


@pytest.mark.parametrize("filled", range(140, 170, 3))
def test_a_figure_is_not_cut_in_two(filled: int) -> None:
    text = (
        "水库的容量"
        + "从北向南" * (filled // 4)
        + "甲" * (filled % 4)
        + "是12000立方米，深三百二十五米，"
        + "由西向东" * 40
        + "。"
    )
    [citation, *_] = ask(knowledge(f"# 水库\n\n{text}\n"), "水库的容量是多少立方米？").citations
    end = text.index(citation.quote) + len(citation.quote)
    assert not (text[end - 1] in "0123456789" and text[end] in "0123456789")
    assert not (text[end - 1] in "三百二十五" and text[end] in "三百二十五")
