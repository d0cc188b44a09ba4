"""Word documents: counted numbers, headings by level, and what tracked changes leave."""

from pathlib import Path

import pytest

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing.docx import parse
from ctxcli.parsing.docx_numbering import format_number

FIXTURES = Path(__file__).parents[2] / "fixtures" / "docx"
NAMES = sorted(path.name for path in FIXTURES.glob("*.docx"))


def read(name: str) -> Document:
    return parse((FIXTURES / name).read_bytes(), name=name)


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


@pytest.mark.parametrize("name", NAMES)
def test_blocks_cover_the_text_and_sections_begin_at_blocks(name: str) -> None:
    document = read(name)
    end = 0
    for block in document.blocks:
        assert document.text[end : block.start].strip() == ""
        end = block.end
    assert end == len(document.text)
    assert {section.start for section in document.sections} <= {block.start for block in document.blocks}
    assert document.page_starts == ()
    assert document.page_labels == ()
    assert not document.has_lines


def test_automatic_numbers_are_counted_over_three_levels() -> None:
    assert [section.heading for section in read("numbered-en.docx").sections] == [
        "1 Scope",
        "2 Objectives",
        "2.1 Primary objective",
        "2.2 Secondary objectives",
        "2.2.1 Safety",
        "3 Methods",
        "3.1 Sample size",
        "Unnumbered remarks",
        "Annex A Tables",
        "Silent",
    ]


def test_the_number_stands_in_the_text_so_that_it_can_be_quoted() -> None:
    assert ("heading", "2.2.1 Safety") in blocks(read("numbered-en.docx"))


def test_a_number_format_of_none_and_a_number_id_of_zero_give_no_number() -> None:
    sections = {section.title: section.number for section in read("numbered-en.docx").sections}
    assert sections["Silent"] == ""
    assert sections["Unnumbered remarks"] == ""


def test_list_items_keep_their_labels_and_restart_where_word_does() -> None:
    items = [text for kind, text in blocks(read("numbered-en.docx")) if kind == "item"]
    assert items == ["1. Measure", "2. Weigh", "a) on a scale", "b) twice", "3. Report", "1. Fresh start", "• dot"]


def test_the_title_paragraph_wins_over_the_properties() -> None:
    document = read("numbered-en.docx")
    assert (document.title, document.title_from_name) == ("Analysis plan", False)


def test_chinese_outline_levels_on_custom_styles_are_headings() -> None:
    document = read("outline-zh.docx")
    assert [(section.level, section.number, section.title) for section in document.sections] == [
        (1, "第一章", "总则"),
        (2, "（一）", "目的"),
        (2, "（二）", "范围"),
        (1, "第二章", "操作"),
        (2, "（一）", "准备"),
        (3, "2.1.1", "设备"),
    ]
    assert document.title_from_name
    assert document.title == "outline-zh"


def test_a_paragraph_of_outline_level_nine_is_body_text() -> None:
    assert ("item", "第三章 附则") in blocks(read("outline-zh.docx"))


def test_deletions_moves_away_and_hidden_text_are_not_read() -> None:
    text = read("tracked-en.docx").text
    assert "The limit is seven days." in text
    assert "Moved here." in text
    for gone in ("five", "FIVE", "Secret", "Moved away", "PAGEREF"):
        assert gone not in text


def test_a_text_box_in_two_forms_is_read_once() -> None:
    assert read("tracked-en.docx").text.count("Text of the box.") == 1


def test_a_footnote_follows_its_paragraph() -> None:
    found = blocks(read("tracked-en.docx"))
    place = found.index(("prose", "See page nine."))
    assert found[place + 1] == ("prose", "A note below.")


def test_a_table_row_is_a_line_of_cells() -> None:
    found = blocks(read("tracked-en.docx"))
    assert ("header_row", "Name | Size") in found
    assert ("row", "Pump | 12") in found
    assert ("row", "outer inner cell | right") in found


def test_a_table_of_contents_is_meta() -> None:
    assert ("meta", "1 Changes 2") in blocks(read("tracked-en.docx"))


def test_breaks_tabs_and_hard_hyphens_are_kept() -> None:
    assert ("prose", "non-breaking\nnew line tab") in blocks(read("tracked-en.docx"))


def test_articles_without_styles_are_sections() -> None:
    document = read("articles-zh.docx")
    assert [section.heading for section in document.sections] == ["供货合同", "第一条 定义", "第二条"]
    assert document.title == "供货合同"


def test_numbers_and_bold_type_make_headings_where_there_are_no_styles() -> None:
    document = read("unstyled-en.docx")
    assert [section.number for section in document.sections] == ["1", "2", "2.1", "2.2"]
    assert document.sections[2].path == ("2 Terms", "2.1")


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (3, "decimal", "3"),
        (4, "upperRoman", "IV"),
        (9, "lowerRoman", "ix"),
        (2, "upperLetter", "B"),
        (28, "lowerLetter", "bb"),
        (10, "chineseCounting", "十"),
        (12, "chineseCountingThousand", "十二"),
        (105, "chineseCountingThousand", "一百零五"),
        (20, "japaneseCounting", "二十"),
        (10, "ideographDigital", "一〇"),
        (3, "chineseLegalSimplified", "叁"),
        (2, "decimalEnclosedCircle", "②"),
        (7, "decimalZero", "07"),
        (5, "decimalFullWidth", "５"),
        (5, "none", ""),
        (5, "unheardOf", "5"),
    ],
)
def test_numbers_are_written_in_words_formats(value: int, form: str, text: str) -> None:
    assert format_number(value, form) == text


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_a_truncated_file_is_damaged(share: float) -> None:
    data = (FIXTURES / "numbered-en.docx").read_bytes()
    with pytest.raises(ParseError) as caught:
        parse(data[: int(len(data) * share)], name="x.docx")
    assert caught.value.code == "damaged"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "legacy_office"),
        (b"<html></html>", "damaged"),
    ],
)
def test_what_is_no_word_file_says_what_it_is(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data, name="x.docx")
    assert caught.value.code == code
    assert code != "legacy_office" or "save as .docx" in caught.value.hint
