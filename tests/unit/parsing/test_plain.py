"""Plain text: headings by numbering, lists, statutes, titles."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import plain
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(text: str) -> Document:
    return plain.parse(text.encode(), name="note.txt")


def test_an_rfc_has_its_sections_and_no_contents() -> None:
    document = read(
        "Table of Contents\n\n   1.  Introduction . . . . . . . . .   3\n   4.1.  Terms . . . . . . . . .  9\n\n"
        "1.  Introduction\n\n   This is text.\n\n   1. Do this\n   2. Do that\n\n4.1.  Terms\n\n   A term.\n"
    )
    assert [(s.number, s.title) for s in document.sections if s.number] == [("1", "Introduction"), ("4.1", "Terms")]
    assert path_of(document, "A term.")[-2:] == ("1 Introduction", "4.1 Terms")
    assert kind_of(document, "Introduction . .") == "meta"


def test_chinese_numbering_nests() -> None:
    document = read("某办法\n\n第一章 总则\n\n一、概述\n\n正文。\n\n二、目标\n\n更多。\n\n第二章 附则\n\n结束。\n")
    assert path_of(document, "更多") == ("某办法", "第一章 总则", "二 目标")
    assert path_of(document, "结束") == ("某办法", "第二章 附则")


@pytest.mark.parametrize(
    "text",
    [
        "1. Do this\n2. Do that\n",
        "1. Do this\n\n2. Do that\n\n3. Stop\n",
        "一、甲\n二、乙\n三、丙\n",
        "text\n\n3.5 mg twice\n\nmore\n",
        "text\n\n2024 was good\n\nmore\n",
        "text\n\n1.2 and lower case\n\nmore\n",
        "text\n\n第一章的内容如下。\n\nmore\n",
        "text\n\nOK\n\nmore\n",
        "text\n\n1. A sentence that ends with a stop.\n\nmore\n",
    ],
)
def test_lists_quantities_and_sentences_are_no_sections(text: str) -> None:
    assert [heading for heading in headings(read(text)) if heading[2] != "text"] == []


def test_capitals_and_underlines_are_headings() -> None:
    document = read("intro text goes first here.\n\nOPTIONS AND FLAGS\n\na\n\nUsage notes\n-----------\nb\n")
    assert headings(document) == [(2, "", "OPTIONS AND FLAGS"), (3, "", "Usage notes")]


def test_articles_are_sections_line_by_line() -> None:
    document = read("某法\n\n第一章 总则\n第一条　为了规范。\n第二条　在境内适用。\n　　前款所称境内。\n")
    assert path_of(document, "前款") == ("某法", "第一章 总则", "第二条")


def test_the_first_line_is_the_title_if_it_stands_alone() -> None:
    assert read("2008年总决赛\n\n正文是这样的。\n").title == "2008年总决赛"
    for text in ("first line\nsecond line\n", "A sentence that ends.\n\nmore\n", "- item\n\nmore\n", "only\n"):
        document = read(text)
        assert (document.title, document.title_from_name) == ("note", True)


def test_paragraphs_and_items() -> None:
    document = read("one\ntwo\n\n- a\n  b\n- c\n\n　　第一段。\n　　第二段。\n")
    assert blocks(document, "prose") == ["one\ntwo", "第一段。", "第二段。"]
    assert blocks(document, "item") == ["- a\n  b", "- c"]


def test_one_very_long_line_is_kept_whole() -> None:
    text = "没有换行的正文，" * 50_000
    document = read(text)
    assert document.text == text
    assert blocks(document) == [text]


def test_a_text_without_blank_lines_loses_nothing() -> None:
    text = "汉" * 1500 + "." + "字" * 4500
    assert "".join(blocks(read(text))) == text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("第一章 总则", "第二章 职责"),
        ("一、总则", "二、职责"),
        ("1 Scope", "2 Methods"),
        ("Chapter 1 Scope", "Chapter 2 Methods"),
    ],
)
def test_a_first_line_that_opens_a_chapter_is_no_title(first: str, second: str) -> None:
    document = plain.parse(f"{first}\n\nText one.\n\n{second}\n\nText two.\n".encode(), name="a.txt")
    assert document.title_from_name
    assert [section.path for section in document.sections] == [
        (first.replace("、", " "),),
        (second.replace("、", " "),),
    ]


def test_a_title_may_begin_with_a_number() -> None:
    document = plain.parse(b"3 Ways To Cook Rice\n\nThe first is simple.\n", name="a.txt")
    assert document.title == "3 Ways To Cook Rice"
