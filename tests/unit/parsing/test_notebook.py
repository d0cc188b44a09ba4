"""Jupyter notebooks."""

import json
from typing import Any

import pytest

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import notebook
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(*cells: dict[str, Any]) -> Document:
    return notebook.parse(json.dumps({"cells": cells, "nbformat": 4}).encode(), name="study.ipynb")


def test_cells_are_markdown_and_code() -> None:
    document = read(
        {"cell_type": "markdown", "source": ["# 分析\n", "\n", "- item\n"]},
        {
            "cell_type": "code",
            "source": "# no heading\nx = 1",
            "outputs": [{"output_type": "stream", "text": ["out\n"]}],
        },
        {"cell_type": "markdown", "source": "## 6.3 Result\n\nDone."},
        {"cell_type": "code", "source": "df", "outputs": [{"data": {"text/plain": "a  b", "image/png": "AAAA"}}]},
    )
    assert headings(document) == [(1, "", "分析"), (2, "6.3", "Result")]
    assert document.title == "分析"
    assert blocks(document, "code") == ["# no heading\nx = 1", "out", "df", "a  b"]
    assert kind_of(document, "item") == "item"
    assert path_of(document, "Done.") == ("分析", "6.3 Result")
    assert "AAAA" not in document.text
    assert not document.has_lines


def test_long_outputs_are_cut() -> None:
    document = read({"cell_type": "code", "source": "x", "outputs": [{"text": "y" * 9000}]})
    assert len(document.text) < 2100


def test_half_an_emoji_is_no_error() -> None:
    document = notebook.parse(b'{"cells": [{"cell_type": "markdown", "source": "a \\ud83d b"}]}', name="a.ipynb")
    assert document.text.encode()


@pytest.mark.parametrize("data", [b"{", b"[]", b'"x"', b"not json", b"[" * 100_000])
def test_what_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        notebook.parse(data, name="a.ipynb")
    assert caught.value.code == "damaged"


@pytest.mark.parametrize("cells", [None, 1, [1, None, {}], [{"source": 3, "outputs": 4}]])
def test_odd_cells_are_passed_over(cells: object) -> None:
    assert notebook.parse(json.dumps({"cells": cells}).encode(), name="a.ipynb").text == ""


def test_an_error_is_told_and_colours_are_left_out() -> None:
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "bad value 7", "traceback": ["\x1b[31mTB"]}
    shown = {"output_type": "stream", "text": "\x1b[32mgreen\x1b[0m"}
    document = read({"cell_type": "code", "source": "x", "outputs": [failed, shown]})
    assert blocks(document, "code") == ["x", "ValueError: bad value 7", "green"]


def test_a_heading_cell_of_an_old_notebook_is_a_heading() -> None:
    document = read({"cell_type": "heading", "level": 2, "source": "旧标题"})
    assert headings(document) == [(2, "", "旧标题")]
