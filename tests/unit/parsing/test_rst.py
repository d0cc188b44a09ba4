"""reStructuredText: adornments, directives, tables, literal blocks, PEP headers."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import rst
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(text: str) -> Document:
    return rst.parse(text.encode(), name="guide.rst")


def test_levels_follow_the_order_in_which_adornments_appear() -> None:
    document = read(
        "=====\nTitle\n=====\n\nOne\n===\n\na\n\n1.1 Two\n-------\n\nb\n\n~~~\nOdd\n~~~\n\nThree\n=====\n\nc\n"
    )
    assert headings(document) == [(1, "", "Title"), (2, "", "One"), (3, "1.1", "Two"), (4, "", "Odd"), (2, "", "Three")]
    assert document.title == "Title"


def test_a_chinese_title_needs_no_double_underline() -> None:
    assert headings(read("配置说明文档\n======\n\n正文\n")) == [(1, "", "配置说明文档")]


@pytest.mark.parametrize(
    "text",
    [
        "text\n\n----\n\nmore\n",
        "=== ===\na   b\n=== ===\n1   2\n=== ===\n",
        "two lines\nof text\n-------\n",
        "::\n\n  Title\n  =====\n",
    ],
)
def test_rules_tables_and_literal_text_are_no_titles(text: str) -> None:
    assert headings(read(text)) == []


def test_labels_are_anchors() -> None:
    document = read(".. _start-here:\n\nTitle\n=====\n\n.. _site: http://x\n\nNext\n====\n")
    assert [section.anchor for section in document.sections] == ["start-here", ""]


def test_titles_have_no_markup() -> None:
    assert (
        headings(read("``code`` and :ref:`label <x>` and *em*\n=======================================\n"))[0][2]
        == "code and label and em"
    )


def test_code_blocks_are_code_and_their_marks_are_not() -> None:
    document = read(
        "Use::\n\n    # no title\n    ====\n\n    more\n\nafter\n\n"
        ".. code-block:: python\n   :caption: x\n\n   def f():\n       pass\n\n>>> 1 + 1\n2\n"
    )
    assert blocks(document, "code") == [
        "    # no title\n    ====\n\n    more",
        "   def f():\n       pass",
        ">>> 1 + 1\n2",
    ]
    assert kind_of(document, ".. code-block") == "meta"
    assert kind_of(document, "after") == "prose"


def test_notes_are_read_and_comments_are_not() -> None:
    document = read(
        ".. note:: Keep this.\n\n.. warning::\n\n   Inner text.\n\n.. a comment\n   goes on\n\n"
        ".. toctree::\n\n   a\n\n.. [1] Footnote.\n\n.. |x| replace:: y\n"
    )
    for words, kind in {
        "Keep": "prose",
        "Inner": "prose",
        "comment": "meta",
        "toctree": "meta",
        "Footnote": "prose",
        "|x|": "meta",
    }.items():
        assert kind_of(document, words) == kind, words


def test_tables_are_rows() -> None:
    document = read(
        "===  =====\nA    Notes\n===  =====\n1    one\n2    two\n     more\n===  =====\n\n"
        "+---+---+\n| K | V |\n+===+===+\n| a | b |\n+---+---+\n| c | d |\n+---+---+\n"
    )
    assert [row.split()[0] for row in blocks(document, "row")] == ["1", "2", "|", "|"]
    assert "more" in blocks(document, "row")[1]
    assert len(blocks(document, "header_row")) == 2


def test_the_header_of_a_pep_names_the_title() -> None:
    document = read("PEP: 8\nTitle: Style Guide\nAuthor: A,\n        B\n\nIntroduction\n============\n\nText.\n")
    assert document.title == "Style Guide"
    assert blocks(document, "item") == ["PEP: 8", "Title: Style Guide", "Author: A,\n        B"]
    assert path_of(document, "Text.") == ("Introduction",)


def test_items_and_fields_are_blocks_of_their_own() -> None:
    document = read("- one\n  goes on\n- two\n\n#. auto\n\n:Author: Me\n:Date: today\n\n1. not a title\n")
    assert blocks(document, "item") == [
        "- one\n  goes on",
        "- two",
        "#. auto",
        ":Author: Me",
        ":Date: today",
        "1. not a title",
    ]


def test_a_table_written_as_lists_has_rows() -> None:
    document = read(
        "T\n=\n\n.. list-table:: Prices\n   :header-rows: 1\n\n   * - Item\n     - Price\n   * - Apple\n       red\n\n"
        "     - * a\n       * 3\n   * - 梨\n     - 4\n\nAfter.\n"
    )
    assert blocks(document, "header_row") == ["* - Item\n     - Price"]
    assert blocks(document, "row") == ["* - Apple\n       red\n\n     - * a\n       * 3", "* - 梨\n     - 4"]
    assert kind_of(document, "Prices") == "prose"
    assert kind_of(document, "After.") == "prose"


def test_a_table_without_rows_is_read_all_the_same() -> None:
    assert "text" in blocks(read("T\n=\n\n.. list-table:: P\n\n   text\n"))
