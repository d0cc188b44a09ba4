"""Markdown: block structure of CommonMark, front matter, dialects, statutes."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import markdown
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(text: str, name: str = "note.md") -> Document:
    return markdown.parse(text.encode(), name=name)


def test_headings_build_a_path() -> None:
    document = read("# Guide\n\n## 6.3 Efficacy\n\n### 6.3.2 Primary analysis\n\nITT.\n\n## Safety\n\nAE.\n")
    assert headings(document) == [
        (1, "", "Guide"),
        (2, "6.3", "Efficacy"),
        (3, "6.3.2", "Primary analysis"),
        (2, "", "Safety"),
    ]
    assert path_of(document, "ITT") == ("Guide", "6.3 Efficacy", "6.3.2 Primary analysis")
    assert path_of(document, "AE.") == ("Guide", "Safety")


@pytest.mark.parametrize(
    "fence",
    [
        "```\n# no\n```",
        "~~~ruby\n# no\n~~~",
        "````md\n```\n# no\n```\n````",
        "```\n# no\n~~~\n# no\n```",
        "```\n# an open fence",
        "    # indented",
        "- item\n\n  ```\n  # no\n  ```",
        "<!--\n# no\n-->",
        "<pre>\n# no\n</pre>",
        "> # quoted",
        "#hashtag",
        "\\# escaped",
        "####### seven",
        "1. # in a list",
    ],
)
def test_what_only_looks_like_a_heading_is_none(fence: str) -> None:
    document = read(f"# Real\n\n{fence}\n")
    assert headings(document) == [(1, "", "Real")]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# Title", "Title"),
        ("#\tTitle", "Title"),
        ("   # Title ##  ", "Title"),
        ("# Title #hash", "Title #hash"),
        ("# C\\#", "C#"),
        ("Title\n=====", "Title"),
        ("Two\nlines\n===", "Two lines"),
        ("# A `code` *and* **bold** [link](http://x) ~~old~~", "A code and bold link ~~old~~"),
        ("# See [[Page|别名]]", "See 别名"),
        ("# 标题 {#anchor}", "标题"),
        ("# New <span class='v'>since v5</span>", "New since v5"),
        ('<h1 align="center">Hello <b>there</b></h1>', "Hello there"),
        ("# &amp; 😀 👨‍👩‍👧", "& 😀 👨‍👩‍👧"),
    ],
)
def test_the_text_of_a_heading_has_no_markup(source: str, title: str) -> None:
    document = read(f"{source}\n\ntext\n")
    assert headings(document) == [(1, "", title)]
    assert document.title == title


def test_setext_underlines_only_follow_paragraphs() -> None:
    document = read("Title\n---\n\n- item\n---\n\n> quote\n---\n\n| a |\n|---|\n\ntext\n\n---\n\nmore\n")
    assert headings(document) == [(2, "", "Title")]


def test_anchors_are_kept() -> None:
    document = read('# A {#one}\n\n<a id="two"></a>\n\n## B\n\n## C <a name="three"></a>\n')
    assert [section.anchor for section in document.sections] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: 周报: 第3周 | A & B", "周报: 第3周 | A & B"),
        ("title: 2026-05-26", "2026-05-26"),
        ('title: "a: b # c"', "a: b # c"),
        ("title: 'yes'", "yes"),
        ("desc: a --- b\ntitle: T", "T"),
        ("title: T # comment", "T"),
        ("title:", "Heading"),
        ("title: null", "Heading"),
        ("title: None", "Heading"),
        ("tags: [a", "Heading"),
        ("- broken: [", "Heading"),
    ],
)
def test_the_front_matter_names_the_title_even_if_it_is_broken(front: str, title: str) -> None:
    document = read(f"---\n{front}\n---\n\n# Heading\n\ntext\n")
    assert document.title == title
    assert not document.title_from_name
    assert kind_of(document, "---\n") == "meta"
    assert headings(document) == [(1, "", "Heading")]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf---\ntitle: t\n---\nx\n", b"---\r\ntitle: t\r\n---\r\nx\r\n", b"---\ntitle: t\n---"]
)
def test_front_matter_is_found_after_a_mark_and_with_any_line_ends(data: bytes) -> None:
    document = markdown.parse(data, name="n.md")
    assert document.title == "t"
    assert "\r" not in document.text
    assert document.text.startswith("---\ntitle")


def test_empty_front_matter_hides_nothing() -> None:
    document = read("---\n---\nx\n")
    assert blocks(document, "prose") == ["x"]
    assert document.title == "note"
    assert document.title_from_name


def test_a_rule_is_no_front_matter() -> None:
    document = read("text\n\n---\ntitle: no\n---\n")
    assert document.title == "note"


def test_each_list_item_is_a_block_of_its_own() -> None:
    document = read("- one\n  goes on\n  - nested\n- two\n\n1. Do this\n2. Do that\n- [ ] task\n")
    assert blocks(document, "item") == [
        "- one\n  goes on",
        "- nested",
        "- two",
        "1. Do this",
        "2. Do that",
        "- [ ] task",
    ]
    assert headings(document) == []


def test_a_table_is_read_row_by_row() -> None:
    document = read("| 参数 | 值 |\n|---|---|\n| max | 100 |\n| min | 1 |\n\nafter\n")
    assert blocks(document, "header_row") == ["| 参数 | 值 |\n|---|---|"]
    assert blocks(document, "row") == ["| max | 100 |", "| min | 1 |"]


def test_a_table_of_200_rows_keeps_its_header_and_all_rows() -> None:
    rows = "".join(f"| {n} | {n * n} |\n" for n in range(200))
    document = read(f"Table 1: squares\n\n| n | square |\n|---|---|\n{rows}")
    assert len(blocks(document, "row")) == 200
    assert len(blocks(document, "header_row")) == 1


def test_kinds_of_blocks() -> None:
    document = read(
        "> [!NOTE]\n> called out\n\n> quoted\n\n[link]: http://x 'title'\n\nText[^1].\n\n"
        "[^1]: footnote\n\n<!-- hidden -->\n\n"
        "<script setup>\nconst x = 1\n</script>\n\n<div>\n\ninside\n\n</div>\n\n    indented code\n\n***\n"
    )
    for words, kind in {
        "[!NOTE]": "meta",
        "called out": "prose",
        "quoted": "prose",
        "[link]": "meta",
        "Text": "prose",
        "footnote": "prose",
        "hidden": "meta",
        "const": "meta",
        "<div>": "meta",
        "inside": "prose",
        "indented": "code",
        "***": "meta",
    }.items():
        assert kind_of(document, words) == kind, words


def test_containers_and_imports_of_site_generators_are_no_text() -> None:
    document = read("import X from './x'\n\n::: tip 提示\n正文在这里。\n- 列表\n:::\n\nexport const a = 'b'\n")
    assert blocks(document, "prose", "item") == ["正文在这里。", "- 列表"]


STATUTE = """# 某法

## 第一章　总则

**第六条**　凡在中华人民共和国领域内犯罪的，适用本法。

（一）情形一；

**第一百三十三条之一**　在道路上驾驶机动车。

## 第二章　附则

第七条　自公布之日起施行。
第八条　第六条规定的情形除外。
"""


def test_an_article_of_a_statute_is_a_section_below_its_chapter() -> None:
    document = read(STATUTE)
    assert [(s.number, s.title) for s in document.sections] == [
        ("", "某法"),
        ("第一章", "总则"),
        ("第六条", ""),
        ("第一百三十三条之一", ""),
        ("第二章", "附则"),
        ("第七条", ""),
        ("第八条", ""),
    ]
    assert path_of(document, "情形一") == ("某法", "第一章 总则", "第六条")
    assert path_of(document, "情形除外") == ("某法", "第二章 附则", "第八条")
    assert kind_of(document, "凡在") == "prose"


@pytest.mark.parametrize(
    "text", ["第六条规定的内容。", "依照第六条　处理。", "Article 5 of the treaty.", "> **第六条**　引文", "`第六条　`"]
)
def test_a_mention_of_an_article_is_no_section(text: str) -> None:
    assert headings(read(f"{text}\n")) == []


def test_english_articles_are_sections() -> None:
    document = read("# Act\n\nArticle 5 The State protects.\n\nArticle 6. Nobody may.\n\n**§ 7** Scope\n")
    assert [s.number for s in document.sections] == ["", "Article 5", "Article 6", "7"]


def test_a_heading_further_down_in_a_list_item_is_a_section() -> None:
    document = read("## API\n\n- details\n\n  ### Signature {#sig}\n\n  text\n\n- # not this\n")
    assert headings(document) == [(2, "", "API"), (3, "", "Signature")]
    assert path_of(document, "text") == ("API", "Signature")


def test_numbered_list_items_are_never_headings() -> None:
    assert headings(read("1. First\n2. Second\n\n1.1 not a heading either\n")) == []


def test_a_needle_far_down_is_there_with_its_line() -> None:
    lines = [f"第{n}行 words" for n in range(5000)]
    document = read("\n".join(lines))
    assert document.text.split("\n")[4321] == "第4321行 words"
    assert document.has_lines


def test_every_kind_of_line_end_counts_lines_alike() -> None:
    for end in ("\n", "\r\n", "\r"):
        document = markdown.parse(end.join(["# 标题", "", "正文"]).encode(), name="a.md")
        assert document.text == "# 标题\n\n正文"


def test_gbk_is_read_and_said() -> None:
    document = markdown.parse("# 会议纪要\n\n今天讨论连接池超时的问题。\n".encode("gbk"), name="a.md")
    assert document.title == "会议纪要"
    assert document.encoding == "gb18030"


def test_bytes_that_cannot_be_read_are_reported() -> None:
    document = markdown.parse("正文正文正文正文正文正文".encode() + b"\xff\n", name="a.md")
    assert [warning.code for warning in document.warnings] == ["undecodable"]


def test_deep_nesting_is_read() -> None:
    assert read("> " * 3000 + "x").blocks
    assert read("- " * 2000 + "x").blocks
