"""AsciiDoc, Org, LaTeX, MediaWiki and Textile."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import plain
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(text: str, name: str) -> Document:
    document = plain.parse(text.encode(), name=name)
    assert document.text == text
    assert document.has_lines
    return document


def test_asciidoc_has_sections_code_tables_and_items() -> None:
    document = read(
        "= 手册\n:toc:\n\n== 1. Scope\n\nText one.\n\n.Block title\n----\n== no heading\n----\n\n"
        "|===\n|Name |Qty\n\n|Apple |3\n\n|Pear\n|4\n|===\n\n* item\n  goes on\n** nested\n\n"
        "=== 第二节 职责\n\n中文。\n",
        "a.adoc",
    )
    assert headings(document) == [(1, "", "手册"), (2, "1", "Scope"), (3, "第二节", "职责")]
    assert document.title == "手册"
    assert kind_of(document, "== no heading") == "code"
    assert blocks(document, "header_row", "row") == ["|Name |Qty", "|Apple |3", "|Pear\n|4"]
    assert blocks(document, "header_row") == ["|Name |Qty"]
    assert blocks(document, "item") == ["* item\n  goes on", "** nested"]
    assert path_of(document, "中文。") == ("手册", "1 Scope", "第二节 职责")


def test_asciidoc_titles_of_two_lines_are_told_from_blocks() -> None:
    document = read("git-foo(1)\n==========\n\nNAME\n----\ngit-foo - does it\n\n.Usage\n----\n$ git\n----\n", "a.adoc")
    assert headings(document) == [(1, "", "git-foo(1)"), (2, "", "NAME")]
    assert blocks(document, "code") == ["----\n$ git\n----"]


def test_org_has_headlines_without_their_keywords() -> None:
    document = read(
        "#+TITLE: 计划\n* 第一章 总则\nText.\n** TODO [#A] Sub heading :tag:home:\n:PROPERTIES:\n:ID: 7\n:END:\n- one\n"
        "  - two\n#+BEGIN_SRC python\n* no heading\n#+END_SRC\n| a | b |\n|---+---|\n| 1 | 2 |\n",
        "a.org",
    )
    assert document.title == "计划"
    assert headings(document) == [(1, "第一章", "总则"), (2, "", "Sub heading")]
    assert kind_of(document, "* no heading") == "code"
    assert kind_of(document, ":ID: 7") == "meta"
    assert blocks(document, "header_row") == ["| a | b |"]
    assert blocks(document, "row") == ["| 1 | 2 |"]
    assert blocks(document, "item") == ["- one", "- two"]


def test_latex_has_its_sections() -> None:
    document = read(
        "\\title{论文}\n\\section{Intro}\\label{s}\nText.\n\\subsection*{方法}\n\\begin{verbatim}\n\\section{no}\n"
        "\\end{verbatim}\n\\begin{itemize}\n\\item one\n\\end{itemize}\n",
        "a.tex",
    )
    assert [heading[2] for heading in headings(document)] == ["Intro", "方法"]
    assert document.title == "论文"
    assert kind_of(document, "\\section{no}") == "code"
    assert kind_of(document, "\\item one") == "item"


def test_mediawiki_and_textile_have_their_headings() -> None:
    wiki = read(
        "Intro.\n\n== 安装 ==\n* a\n* b\n=== 细节 ===\n<pre>== no ==</pre>\n<pre>\n== no ==\n</pre>\nEnd.\n", "a.wiki"
    )
    assert headings(wiki) == [(2, "", "安装"), (3, "", "细节")]
    assert kind_of(wiki, "End.") == "prose"
    textile = read("h1. Title\n\nh2. 1.2 Part\n\n* a\n* b\n\n|a|b|\n", "a.textile")
    assert headings(textile) == [(1, "", "Title"), (2, "1.2", "Part")]
    assert blocks(textile, "item") == ["* a", "* b"]


@pytest.mark.parametrize("name", ["a.org", "a.adoc", "a.tex", "a.wiki", "a.textile"])
def test_without_marks_it_is_plain_text(name: str) -> None:
    document = read("第一章 总则\n\n为规范管理。\n\n第二章 职责\n\n采购。\n", name)
    assert headings(document) == [(3, "第一章", "总则"), (3, "第二章", "职责")]


def test_articles_below_marked_headings_are_sections() -> None:
    document = read("* 总则\n\n第一条 为规范管理。\n\n第二条 本部门负责采购。\n", "a.org")
    assert path_of(document, "采购") == ("总则", "第二条")


@pytest.mark.parametrize(
    "text", ["* a\n#+BEGIN_SRC\nx", "* a\n|", "* a\n\n\n", "* a\n:PROPERTIES:", "* a\r\n\x0c\n* b"]
)
def test_what_is_cut_off_is_read_to_the_end(text: str) -> None:
    document = plain.parse(text.encode(), name="a.org")
    assert "".join("".join(blocks(document)).split()) == "".join(text.split())
