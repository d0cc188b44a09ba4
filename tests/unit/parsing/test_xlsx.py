"""Spreadsheets: a section for each sheet, a row for each line."""

import builtins
from pathlib import Path
from typing import Any

import pytest

from ctxcli.model.errors import ParseError
from ctxcli.parsing.xlsx import parse

DATA = (Path(__file__).parents[2] / "fixtures" / "xlsx" / "stock.xlsx").read_bytes()


def test_each_sheet_with_cells_is_a_section() -> None:
    pytest.importorskip("python_calamine")
    document = parse(DATA, name="stock.xlsx")
    assert [section.title for section in document.sections] == ["库存", "Two"]
    assert document.title == "stock"


def test_rows_of_a_wide_table_carry_the_column_names() -> None:
    pytest.importorskip("python_calamine")
    document = parse(DATA, name="stock.xlsx")
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert found[1:4] == [
        ("header_row", "品名 | 数量 | 单价 | 日期"),
        ("row", "品名: 螺丝 | 数量: 100 | 单价: 0.5 | 日期: 2024-01-02"),
        ("row", "品名: 螺母 | 单价: 3 | 日期: 2024-01-02 03:04:00"),
    ]
    assert found[5:] == [("header_row", "a | b"), ("row", "1 | 2.5")]


@pytest.mark.parametrize("data", [DATA[: len(DATA) // 2], b"a;b\n1;2\n"])
def test_a_broken_spreadsheet_is_damaged(data: bytes) -> None:
    pytest.importorskip("python_calamine")
    with pytest.raises(ParseError) as caught:
        parse(data, name="x.xlsx")
    assert caught.value.code == "damaged"


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "python_calamine":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ParseError) as caught:
        parse(DATA, name="stock.xlsx")
    assert caught.value.code == "missing_extra"
    assert "'.[xlsx]'" in caught.value.hint
