"""CSV and TSV."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import tabular
from tests.unit.parsing.shown import blocks


def read(text: str) -> Document:
    return tabular.parse(text.encode(), name="adsl.csv")


def test_the_first_record_is_the_header() -> None:
    document = read("姓名,年龄\n张三,3\n李四,4\n")
    assert blocks(document, "header_row") == ["姓名,年龄"]
    assert blocks(document, "row") == ["张三,3", "李四,4"]
    assert document.has_lines


@pytest.mark.parametrize("text", ["1,2\n3,4\n", "a,\nb,c\n", "only,one\n"])
def test_a_record_that_names_no_columns_is_a_row(text: str) -> None:
    assert blocks(read(text), "header_row") == []


def test_line_ends_within_quotes_do_not_end_a_record() -> None:
    document = read('name,note\na,"one\ntwo ""x"""\nb,c\n')
    assert blocks(document, "row") == ['a,"one\ntwo ""x"""', "b,c"]


def test_a_quote_that_never_closes_loses_nothing() -> None:
    text = 'a,b\n"open,1\n' + "c,d\n" * 20_000
    assert "".join("".join(blocks(read(text))).split()) == "".join(text.split())


def test_a_quote_within_a_cell_is_an_inch_and_ends_no_record() -> None:
    document = read('part,size\npipe,5" steel\nhose,3m\nbolt,7" iron\n"a, ""b""",c\n')
    assert blocks(document, "row") == ['pipe,5" steel', "hose,3m", 'bolt,7" iron', '"a, ""b""",c']


@pytest.mark.parametrize("text", ["Region,2022,2023\nEast,1,2\n", ",Q1,Q2\nEast,1,2\n"])
def test_years_and_names_over_rows_name_columns(text: str) -> None:
    assert blocks(read(text), "header_row") == [text.partition("\n")[0]]


def test_lines_above_a_table_are_no_columns() -> None:
    document = read("# exported 2024\n\n名称,数量\n苹果,3\n")
    assert blocks(document, "prose") == ["# exported 2024"]
    assert blocks(document, "header_row") == ["名称,数量"]


def test_excel_s_line_about_the_separator_is_meta() -> None:
    document = read("sep=;\nName;Price, net\nApple;3,50\n")
    assert blocks(document, "meta") == ["sep=;"]
    assert blocks(document, "header_row") == ["Name;Price, net"]
