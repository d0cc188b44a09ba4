"""What holds for the chunks of every document, and for their stored form."""

import unicodedata
from bisect import bisect_right
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcli.model.document import Document
from ctxcli.model.stored import StoredChunk, decode_outline, encode_outline
from ctxcli.parsing import markdown
from ctxcli.parsing.chunker import SPLIT_ABOVE, chunk, weight
from ctxcli.services.prepare import indexed_chunks
from ctxcli.text.analyzer import Analyzer
from tests.properties.documents import documents
from tests.properties.test_parsers import TEXTS

MARKDOWN = TEXTS.map(lambda text: markdown.parse(text.encode("utf-8", "replace"), name="a.md"))
ANY = st.one_of(documents(), MARKDOWN)
QUICK = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ANALYZER = Analyzer()


@given(document=ANY)
@QUICK
def test_chunks_tile_the_text(document: Document) -> None:
    chunks = chunk(document)
    assert "".join(document.text[one.start : one.end] for one in chunks) == document.text
    assert [one.ordinal for one in chunks] == list(range(len(chunks)))
    assert all(one.start < one.end for one in chunks)
    assert all(one.end == two.start for one, two in pairwise(chunks))


@given(document=ANY)
@QUICK
def test_a_chunk_says_something_unless_the_document_does_not(document: Document) -> None:
    if document.text.strip():
        assert all(document.text[one.start : one.end].strip() for one in chunk(document))


@given(document=ANY)
@QUICK
def test_every_letter_of_a_block_is_in_one_unit_of_one_chunk(document: Document) -> None:
    text = document.text
    units = []
    for one in chunk(document):
        for unit in one.units:
            assert one.start <= unit.start < unit.end <= one.end
            assert text[unit.start : unit.end].strip()
        units += one.units
    assert all(one.end <= two.start for one, two in pairwise(units))
    at = 0
    for unit in units:
        assert text[at : unit.start].strip() == ""
        at = unit.end
    assert text[at:].strip() == ""
    for block in document.blocks:
        held = [unit for unit in units if block.start <= unit.start and unit.end <= block.end]
        assert held, "a block has its units"
        assert {unit.kind for unit in held} == {block.kind}


@given(document=ANY)
@QUICK
def test_spans_know_section_and_page_of_every_place(document: Document) -> None:
    starts = [section.start for section in document.sections]
    for one in chunk(document):
        assert one.spans[0].start == one.start
        edges = [span.start for span in one.spans]
        assert edges == sorted(set(edges))
        for offset in {*edges, one.end - 1, (one.start + one.end) // 2}:
            span = one.spans[bisect_right(edges, offset) - 1]
            assert span.section == bisect_right(starts, offset) - 1
            page = bisect_right(document.page_starts, offset) if document.page_starts else None
            assert span.page == page


@given(document=ANY)
@QUICK
def test_no_chunk_goes_over_into_another_top_level_section(document: Document) -> None:
    top = min((section.level for section in document.sections), default=0)
    starts = {section.start for section in document.sections if section.level == top}
    for one in chunk(document):
        inside = [start for start in starts if one.start < start < one.end]
        assert not any(document.text[one.start : start].strip() for start in inside)


@given(document=ANY)
@QUICK
def test_what_fits_into_a_chunk_is_not_cut(document: Document) -> None:
    bounds = [one.start for one in chunk(document)]
    sections = {section.start for section in document.sections}
    for block in document.blocks:
        if weight(document.text[block.start : block.end]) <= SPLIT_ABOVE:
            cut = [bound for bound in bounds if block.start < bound < block.end and bound not in sections]
            assert not cut, (block, cut)


@given(document=documents())
@QUICK
def test_a_heading_stays_with_what_follows_it(document: Document) -> None:
    chunks = chunk(document)
    top = {section.start for section in document.sections if section.level == min(s.level for s in document.sections)}
    for one, two in pairwise(chunks):
        if one.units and one.units[-1].kind == "heading":
            assert two.start in top


@given(document=documents())
@QUICK
def test_a_chunk_has_a_greatest_weight(document: Document) -> None:
    for one in chunk(document):
        assert weight(document.text[one.start : one.end]) <= SPLIT_ABOVE + 0.7


@given(document=ANY)
@QUICK
def test_no_cut_parts_what_is_drawn_as_one(document: Document) -> None:
    text = document.text
    for one in chunk(document)[1:]:
        before, after = text[one.start - 1], text[one.start]
        assert before.isspace() or before != "\u200d"
        assert before.isspace() or unicodedata.category(after)[0] != "M" or after in document_marks(document)


def document_marks(document: Document) -> set[str]:
    """Marks that begin a block: a text may begin with one, then there is nothing to keep it with."""
    return {document.text[block.start] for block in document.blocks} | {
        document.text[section.start] for section in document.sections
    }


@given(document=ANY)
@QUICK
def test_the_stored_form_gives_back_place_and_units(document: Document) -> None:
    starts = [section.start for section in document.sections]
    for one, stored in zip(chunk(document), indexed_chunks(document, ANALYZER), strict=True):
        back = StoredChunk(f"d:{one.ordinal}", stored.text, stored.terms, stored.meta)
        assert back.text == document.text[one.start : one.end]
        assert back.units == [(u.start - one.start, u.end - one.start, u.kind) for u in one.units]
        assert len(stored.terms.split("\n")) == 2 + max(1, len(one.units)), "a line for each unit"
        assert back.length == len(stored.terms.split()) == stored.length
        for unit in one.units:
            place = back.place(unit.start - one.start, unit.end - one.start)
            section = bisect_right(starts, unit.start) - 1
            expected = document.sections[section] if section >= 0 else None
            assert place.heading_path == (expected.path if expected else ())
            assert place.section == ((expected.number or None) if expected else None)
            assert place.page == (bisect_right(document.page_starts, unit.start) or None)
            assert place.page_end == (bisect_right(document.page_starts, unit.end - 1) or None)
            if document.has_lines:
                assert place.line_start == 1 + document.text.count("\n", 0, unit.start)
                assert place.line_end == 1 + document.text.count("\n", 0, unit.end)
            else:
                assert place.line_start is place.line_end is None
            if place.page and document.page_labels:
                assert place.page_label == (document.page_labels[place.page - 1] or None)


@given(document=ANY)
@QUICK
def test_the_outline_tells_all_sections(document: Document) -> None:
    rows = decode_outline(encode_outline(document))
    assert [(row[0], row[1], row[2]) for row in rows] == [(s.level, s.number, s.title) for s in document.sections]
    for row, section in zip(rows, document.sections, strict=True):
        assert row[3] == (bisect_right(document.page_starts, section.start) or None)
        assert row[4] == (1 + document.text.count("\n", 0, section.start) if document.has_lines else None)
