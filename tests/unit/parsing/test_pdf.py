"""PDF documents: sections, pages, running text, and files that cannot be read."""

from bisect import bisect_right
from pathlib import Path

import pytest

from ctxcli.model.document import Document, Section
from ctxcli.model.errors import ParseError
from ctxcli.parsing.pdf import parse

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pdf"
NAMES = sorted(path.name for path in FIXTURES.glob("*.pdf") if path.name not in {"user-password.pdf", "scanned.pdf"})


def read(name: str) -> Document:
    return parse((FIXTURES / name).read_bytes(), name=name)


def numbers(document: Document) -> list[str]:
    return [section.number for section in document.sections]


def at(document: Document, words: str) -> tuple[int, Section]:
    """Page and section of the first place where the words stand."""
    place = document.text.index(words)
    section = bisect_right([section.start for section in document.sections], place) - 1
    return bisect_right(document.page_starts, place), document.sections[section]


def block(document: Document, words: str) -> tuple[str, str]:
    place = document.text.index(words)
    found = next(block for block in document.blocks if block.start <= place < block.end)
    return found.kind, document.text[found.start : found.end]


@pytest.mark.parametrize("name", NAMES)
def test_blocks_cover_all_text_in_order(name: str) -> None:
    document = read(name)
    end = 0
    for one in document.blocks:
        assert document.text[end : one.start].strip() == ""
        assert end <= one.start < one.end
        end = one.end
    assert document.text[end:].strip() == ""


@pytest.mark.parametrize("name", NAMES)
def test_pages_and_sections_are_in_order_and_in_the_text(name: str) -> None:
    document = read(name)
    assert len(document.page_starts) == len(document.page_labels) > 0
    assert list(document.page_starts) == sorted(document.page_starts)
    starts = [section.start for section in document.sections]
    assert starts == sorted(set(starts))
    assert all(0 <= start < len(document.text) for start in starts)
    assert {one.start for one in document.blocks if one.kind == "heading"} <= set(starts)


def test_an_outline_without_numbers_gets_them_from_the_page() -> None:
    assert [(section.number, section.title, section.level) for section in read("manual-en.pdf").sections] == [
        ("1", "Safety", 1),
        ("1.1", "Electric shock", 2),
        ("1.2", "Hot surfaces", 2),
        ("2", "Dosing", 1),
        ("2.1", "Limits", 2),
        ("Appendix A", "Spare parts", 1),
    ]


def test_roman_page_labels_and_empty_pages_are_kept() -> None:
    document = read("manual-en.pdf")
    assert document.page_labels == ("i", "ii", "iii", "1", "2", "3", "4")
    assert document.page_starts[2] == document.page_starts[3]
    assert document.warnings == ()


def test_running_heads_and_feet_are_no_text() -> None:
    text = read("manual-en.pdf").text
    assert "PUMP MANUAL" not in text
    assert "1. SAFETY" not in text


def test_a_sentence_over_the_page_is_whole_and_knows_both_pages() -> None:
    document = read("manual-en.pdf")
    kind, text = block(document, "The voltage must")
    assert kind == "prose"
    assert text.endswith("before anyone touches the housing of the pump and the person who does so wears gloves.")
    assert at(document, "The voltage must")[0] == 4
    assert at(document, "wears gloves")[0] == 5


def test_a_footnote_stands_before_the_sentence_it_would_part() -> None:
    document = read("manual-en.pdf")
    assert block(document, "This note stands")[1].startswith("1 This note")
    assert document.text.index("This note stands") < document.text.index("The voltage must")


def test_line_end_hyphens_are_joined_as_the_document_writes_the_word() -> None:
    text = read("manual-en.pdf").text
    assert "The container is multi-layered and the result of the multi-layered wall" in text


def test_a_table_of_contents_is_meta_and_has_no_sections() -> None:
    document = read("manual-en.pdf")
    kind, text = block(document, "Contents")
    assert kind == "meta"
    assert "A Spare parts" in text
    assert all(bisect_right(document.page_starts, section.start) >= 4 for section in document.sections)


def test_quantities_and_references_at_a_line_start_are_no_headings() -> None:
    document = read("manual-en.pdf")
    assert "that is 3.5 mg per litre for a new pump and 2.0 mg for one that has run for a year." in document.text
    assert "See Chapter 2.1 for the limits." in document.text
    assert numbers(document).count("2.1") == 1


def test_list_items_table_rows_and_code_are_blocks_of_their_own() -> None:
    document = read("manual-en.pdf")
    assert block(document, "Shoes with") == (
        "item",
        "• Shoes with a steel cap are worn wherever heavy parts are lifted.",
    )
    assert block(document, "Part  Weight") == ("header_row", "Part  Weight  Price")
    assert block(document, "Valve  12.5") == ("row", "Valve  12.5 kg  300")
    assert block(document, "pump --start") == ("code", "pump --start --rate 5\n    --log daily.txt")


def test_narrow_columns_of_a_table_are_not_taken_for_those_of_a_page() -> None:
    document = read("prices.pdf")
    rows = " ".join(document.text.split())
    for row in ("K-007 Bolt size 117 149 EUR", "K-077 Bolt size 187 639 EUR", "K-077 螺栓规格 187 639 EUR"):
        assert row in rows


def test_a_row_at_the_top_of_a_page_is_no_running_head() -> None:
    document = read("prices.pdf")
    assert document.text.count("EUR") == 200
    assert "K-045 Bolt size 155" in " ".join(document.text.split())
    assert block(document, "2 价格表")[0] == "heading"


def test_a_title_that_says_nothing_and_numbered_headings_in_large_type_are_no_title() -> None:
    document = read("prices.pdf")
    assert (document.title, document.title_from_name) == ("prices", True)
    assert [section.path for section in document.sections] == [("1 Price list",), ("2 价格表",)]


def test_a_chinese_standard_in_one_type_size_has_its_chapters() -> None:
    document = read("standard-zh.pdf")
    assert numbers(document)[1:] == ["1", "2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5"]
    assert at(document, "额定功率不大于") == (3, document.sections[1])
    assert document.sections[7].path == ("4 要求", "4.1 外观")
    assert document.page_labels == ("", "", "1", "2")


def test_chinese_lines_join_without_blanks_and_table_figures_are_no_headings() -> None:
    document = read("standard-zh.pdf")
    assert "适用于额定功率不大于 15 kW 的冷却泵的设计、制造和验收。" in document.text
    assert block(document, "CX-50") == ("row", "CX-50  12.5  20")
    assert "2.5" not in numbers(document)


def test_articles_of_law_are_sections_and_mentions_are_not() -> None:
    document = read("law-zh.pdf")
    assert numbers(document) == ["第一章", "第一条", "第二条", "第二章", "第三条", "第四条"]
    assert document.sections[2].path == ("第一章 总则", "第二条")
    assert block(document, "第一条的规定")[1].endswith("并保存三年。")
    assert block(document, "（一）新建")[0] == "item"


def test_clause_numbers_are_sections_without_titles() -> None:
    document = read("contract-en.pdf")
    assert numbers(document) == ["1", "1.1", "1.2", "2", "2.1", "2.2", "3"]
    assert document.sections[4].path == ("2 Delivery", "2.1")
    assert document.sections[6].title == "Final provisions"
    assert block(document, "within thirty days")[0] == "prose"


@pytest.mark.parametrize("name", ["two-columns-en.pdf", "two-columns-by-rows-en.pdf"])
def test_two_columns_are_read_one_after_the_other(name: str) -> None:
    document = read(name)
    places = [document.text.index(word) for word in ("Alpha", "Beta", "Gamma", "Delta")]
    assert places == sorted(places)
    assert "The primary purpose of the pump is to move coolant through the loop at a steady rate" in document.text
    assert numbers(document)[:4] == ["1", "1.1", "2", "2.1"]
    assert document.page_labels == ("101", "102")


def test_enlarged_type_and_turned_pages_are_measured_as_seen() -> None:
    document = read("matrix-en.pdf")
    assert [(section.title, section.level) for section in document.sections] == [("Overview", 1), ("Details", 2)]
    assert "its first line is long enough to need a second one." in document.text


def test_a_file_with_only_an_owner_password_is_read() -> None:
    assert "only the owner may change" in read("owner-password.pdf").text


def test_a_page_without_text_layer_is_named() -> None:
    document = read("half-scanned.pdf")
    assert [(warning.code, warning.page) for warning in document.warnings] == [("no_text_layer", 1)]
    assert at_page(document, "text layer") == 2


def at_page(document: Document, words: str) -> int:
    return bisect_right(document.page_starts, document.text.index(words))


def test_a_garbled_text_layer_is_named() -> None:
    document = parse(handmade("<E041> <F05A>"), name="g.pdf")
    assert [warning.code for warning in document.warnings] == ["garbled_text"]


def test_characters_beyond_the_basic_plane_survive() -> None:
    document = parse(handmade("<D83DDE00> <D842DFB7>"), name="rare.pdf")
    assert "😀" in document.text
    assert "𠮷" in document.text


def handmade(targets: str) -> bytes:
    """A PDF whose letters A and B stand for the two given UTF-16 codes."""
    first, second = targets.split()
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def "
        f"1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <41> {first} <42> {second} endbfchar "
        "endcmap end end"
    )
    page = "BT /F 12 Tf 72 700 Td (ABABABABAB) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(page)}>>stream\n{page}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        f"<</Length {len(cmap)}>>stream\n{cmap}\nendstream",
    ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{body}endobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    return (
        f"{out}xref\n0 7\n0000000000 65535 f \n{table}trailer<</Root 1 0 R/Size 7>>startxref\n{len(out)}\n%%EOF"
    ).encode()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "not_a_pdf"),
        (bytes(range(256)) * 20, "not_a_pdf"),
        ((FIXTURES / "user-password.pdf").read_bytes(), "encrypted"),
        ((FIXTURES / "manual-en.pdf").read_bytes()[:900], "damaged"),
        ((FIXTURES / "scanned.pdf").read_bytes(), "no_text_layer"),
        (b"%PDF-1.7\n%%EOF", "damaged"),
    ],
)
def test_each_kind_of_bad_file_has_its_own_error(data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(data, name="bad.pdf")
    assert caught.value.code == code


def test_junk_before_the_header_does_not_matter() -> None:
    data = b"HTTP junk\r\n\r\n" + (FIXTURES / "law-zh.pdf").read_bytes()
    assert "企业用水管理办法" in parse(data, name="x.pdf").text


def test_the_title_is_that_of_the_metadata_else_the_largest_line_else_the_file_name() -> None:
    assert (read("manual-en.pdf").title, read("manual-en.pdf").title_from_name) == ("Pump Manual", False)
    assert read("standard-zh.pdf").title == "冷却泵通用技术条件"
    assert (read("owner-password.pdf").title, read("owner-password.pdf").title_from_name) == ("owner-password", True)


def test_reading_twice_gives_the_same() -> None:
    assert read("manual-en.pdf") == read("manual-en.pdf")
