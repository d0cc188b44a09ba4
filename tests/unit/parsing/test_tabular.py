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
