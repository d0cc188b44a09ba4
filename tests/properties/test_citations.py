"""Citations and quotes of any text."""

from contextlib import suppress
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.answering.citations import read_answer
from ctxcli.cli.ask_view import as_markdown, as_text
from ctxcli.model.answer import Answer, Passage
from ctxcli.model.document import Document
from ctxcli.model.errors import DataError
from ctxcli.parsing import formats
from ctxcli.parsing.places import Located
from tests.cli.run import ROOT


@cache
def documents() -> list[Document]:
    names = ["operations-manual.pdf", "faq.html", "安全守则.md", "灌溉规程.docx", "vpd.py"]
    return [formats.parse((ROOT / "sample_kb" / name).read_bytes(), name=name) for name in names]


def cuts_number(text: str, at: int) -> bool:
    """Whether digits, or marks within figures, stand on both sides of a place."""
    return {text[at - 1 : at], text[at : at + 1]} <= {*"0123456789.,零〇一二三四五六七八九十百千万亿萬億"}


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(DataError):
        for cited in read_answer(text).citations:
            assert cited.doc
            assert cited.quote.strip()


@given(st.lists(st.sampled_from("[1] |1. |a.md| · |§6|p. 3|第 5 页|\n|    |> |x|{".split("|")), max_size=40))
@settings(max_examples=300, deadline=None)
def test_anything_like_citations_is_read_or_refused(parts: list[str]) -> None:
    with suppress(DataError):
        for cited in read_answer("".join(parts)).citations:
            assert cited.quote.strip()


@given(st.integers(0, 4), st.integers(0, 10**6), st.integers(1, 300))
@settings(max_examples=120, deadline=None)
def test_every_slice_of_a_document_is_found_where_it_stands(which: int, start: int, size: int) -> None:
    document = documents()[which]
    start %= len(document.text)
    quote = document.text[start : start + size].strip()
    if not any(map(str.isalnum, quote)):
        return  # marks alone are found where others of their kind stand too
    first = document.text.index(quote, start)
    if any(cuts_number(document.text, at) for at in (first, first + len(quote))):
        return  # part of a figure is no quote
    rewrapped = "\n".join(quote.split())
    located = Located(document)
    marked = [] if '"' in document.text else [f"“{quote}”"]  # where marks stand in the text they are looked for too
    for form in (quote, rewrapped, *marked, f"{quote}…"):
        found = located.quotes(form)
        assert (first, first + len(quote)) in found
        assert found == sorted(found)
    place = located.place(first, first + len(quote))
    if document.page_starts:
        assert place.page is not None
        assert document.page_starts[place.page - 1] <= first
    if document.has_lines:
        assert place.line_start == document.text.count("\n", 0, first) + 1
        assert place.line_end == document.text.count("\n", 0, first + len(quote) - 1) + 1


WORDS = st.text(st.sampled_from("abc水泵.,:–§"), min_size=1, max_size=12).map("x{}".format)
NAMES = st.sampled_from(["a.md", "docs/my file.pdf", "手册.docx"])


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    page = draw(st.none() | st.integers(1, 99))
    line = draw(st.none() | st.integers(1, 999))
    section = draw(st.sampled_from([None, "6.3.2", "第六条", "Appendix B"]))
    quote = "\n".join(draw(st.lists(WORDS, min_size=1, max_size=3)))
    return Passage(
        "default", draw(NAMES), "Title", section, "Wind" if section else None, (), "", page,
        page and page + draw(st.integers(0, 1)), draw(st.sampled_from([None, "iv"])), line,
        line and line + draw(st.integers(0, 2)), quote, quote, "k", 0.5, "", draw(st.booleans()),
    )  # fmt: skip


@given(st.lists(passages(), min_size=1, max_size=2), st.sampled_from(["en", "zh"]))
@settings(max_examples=200, deadline=None)
def test_what_ask_prints_is_read_back(cited: list[Passage], language: str) -> None:
    answer = Answer("q", language, "Words. [1]", None, 0.5, 0.4, tuple(cited), (), None, (), 1.0)  # type: ignore[arg-type]
    for text in (as_text(answer, cite=True), as_markdown(answer, cite=True)):
        found = read_answer(text).citations
        assert [one.n for one in found] == list(range(1, len(cited) + 1))
        for one, passage in zip(found, cited, strict=True):
            assert one.doc == passage.doc
            assert "".join(one.quote.split()) == "".join(passage.quote.split())
            assert (one.page, one.page_end) == (passage.page, passage.page_end)
            if passage.page is None:
                assert (one.line_start, one.line_end) == (passage.line_start, passage.line_end)
            assert one.section == (f"{passage.section} Wind" if passage.section else None)
