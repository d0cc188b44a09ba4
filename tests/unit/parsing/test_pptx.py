"""Presentations: a section and a page for each slide."""

from pathlib import Path

import pytest

from ctxcli.model.errors import ParseError
from ctxcli.parsing.pptx import parse

DATA = (Path(__file__).parents[2] / "fixtures" / "pptx" / "slides.pptx").read_bytes()


def test_each_slide_is_a_section_with_its_number_as_page() -> None:
    document = parse(DATA, name="slides.pptx")
    assert [section.title for section in document.sections] == ["Goals", "表格"]
    assert [document.text[start:].split("\n")[0] for start in document.page_starts[:2]] == ["Goals", "表格"]
    assert len(document.page_starts) == 3, "an empty slide is a page too"
    assert document.page_starts[2] == len(document.text)


def test_bullets_are_items_and_notes_follow_the_slide() -> None:
    document = parse(DATA, name="slides.pptx")
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert found[:4] == [("heading", "Goals"), ("item", "A"), ("item", "B"), ("prose", "Remember this")]


def test_a_table_on_a_slide_has_rows() -> None:
    document = parse(DATA, name="slides.pptx")
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert found[-2:] == [("header_row", "c00 | c01"), ("row", "c10 | c11")]


def test_the_title_is_that_of_the_first_slide_where_the_properties_have_none() -> None:
    document = parse(DATA, name="slides.pptx")
    assert (document.title, document.title_from_name) == ("Goals", False)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_presentation_is_damaged(share: float) -> None:
    with pytest.raises(ParseError) as caught:
        parse(DATA[: int(len(DATA) * share)], name="x.pptx")
    assert caught.value.code == "damaged"
