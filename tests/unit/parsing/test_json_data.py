"""JSON and JSON Lines."""

from ctxcli.model.document import Document
from ctxcli.parsing import json_data
from tests.unit.parsing.shown import blocks, headings, path_of


def read(text: str) -> Document:
    return json_data.parse(text.encode(), name="package.json")


def test_keys_at_the_top_are_sections() -> None:
    document = read('{\n  "name": "x",\n  "依赖": {\n    "a": "1",\n    "b": []\n  }\n}\n')
    assert headings(document) == [(1, "", "依赖")]
    assert path_of(document, '"b"') == ("依赖",)
    assert document.has_lines


def test_each_json_line_is_a_row() -> None:
    assert blocks(read('{"a": 1}\n{"b": 2}\n{"c": 3}\n'), "row") == ['{"a": 1}', '{"b": 2}', '{"c": 3}']


def test_a_minified_file_is_laid_out() -> None:
    document = read('{"long": "' + "x" * 2000 + '", "字": {"a": 1, "b": 2}}')
    assert not document.has_lines
    assert '"字": {\n' in document.text
    assert headings(document) == [(1, "", "字")]


def test_what_is_no_json_is_kept_as_text() -> None:
    for text in ("{broken", "[" * 5000, '{"a": NaN'):
        assert read(text).text == text
