"""HTML: main content, spacing, headings, lists, tables, code, encodings."""

import pytest

from ctxcli.model.document import Document
from ctxcli.parsing import html
from tests.unit.parsing.shown import blocks, headings, kind_of, path_of


def read(body: str, head: str = "") -> Document:
    return html.parse(f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode(), name="page.html")


def test_headings_keep_numbers_and_anchors() -> None:
    document = read(
        '<div id="SECT"><h2 class="title">20.3. Connections</h2></div>'
        '<h3 id="own">20.3.1. Settings<a class="headerlink" href="#own">¶</a></h3><p>max</p>'
    )
    assert [(s.level, s.number, s.title, s.anchor) for s in document.sections] == [
        (2, "20.3", "Connections", "SECT"),
        (3, "20.3.1", "Settings", "own"),
    ]
    assert path_of(document, "max") == ("20.3 Connections", "20.3.1 Settings")


def test_inline_elements_join_and_blocks_part() -> None:
    document = read(
        "<p>The <b>max</b>imum\n  is <code>100</code>.</p><p>Next"
        "<br>line&nbsp;x &amp; y &lt;z&gt;</p><div>loose</div>tail"
    )
    assert document.text == "The maximum is 100.\n\nNext\nline x & y <z>\n\nloose\n\ntail"


@pytest.mark.parametrize(
    "noise",
    [
        "<script>NOISE</script>",
        "<style>NOISE</style>",
        "<nav>NOISE</nav>",
        "<footer>NOISE</footer>",
        "<aside>NOISE</aside>",
        "<template>NOISE</template>",
        "<noscript>NOISE</noscript>",
        "<p hidden>NOISE</p>",
        '<p style="display: none">NOISE</p>',
        '<div class="toc"><h2>NOISE</h2></div>',
        '<div role="navigation">NOISE</div>',
        "<form><input>NOISE</form>",
        "<!-- NOISE -->",
        "<button>NOISE</button>",
    ],
)
def test_what_is_no_content_is_left_out(noise: str) -> None:
    document = read(f"<h1>T</h1>{noise}<p>content</p>")
    assert document.text == "T\n\ncontent"


def test_the_main_element_is_taken_when_it_holds_most_of_the_text() -> None:
    menu = "<div>menu entry</div>"
    assert read(f"{menu}<main><p>{'long text ' * 20}</p></main>").text.startswith("long text")
    assert "menu entry" in read(f"{menu}<main><p>x</p></main>{'<p>elsewhere</p>' * 20}").text


def test_code_keeps_its_white_space() -> None:
    document = read("<pre><code>def f():\n    return  1\n\n# no heading\n</code></pre>")
    assert blocks(document, "code") == ["def f():\n    return  1\n\n# no heading"]
    assert headings(document) == []


def test_a_table_is_rows_of_cells() -> None:
    document = read(
        "<table><caption>Limits</caption><thead><tr><th>Item</th><th>Limit</th></tr></thead>"
        "<tr><td>Columns</td><td><p>1600</p></td></tr><tr><td>数据库\n大小</td><td>无限制</td></tr></table>"
    )
    assert blocks(document, "header_row") == ["Item | Limit"]
    assert blocks(document, "row") == ["Columns | 1600", "数据库 大小 | 无限制"]
    assert kind_of(document, "Limits") == "prose"


def test_a_table_that_lays_out_a_page_is_read_as_blocks() -> None:
    document = read("<table><tr><td><h2>Head</h2><p>one</p></td><td><p>two</p></td></tr></table>")
    assert headings(document) == [(2, "", "Head")]
    assert blocks(document, "prose") == ["one", "two"]


def test_lists_and_definitions() -> None:
    document = read(
        '<ul><li>a<ul><li>b</li></ul></li></ul><ol start="3"><li>c<p>more'
        "</p></li></ol><dl><dt>port</dt><dd><p>5432</p></dd></dl>"
    )
    assert blocks(document, "item") == ["- a", "- b", "3. c", "port"]
    assert blocks(document, "prose") == ["more", "5432"]


def test_the_word_note_above_a_note_is_no_section() -> None:
    document = read('<h2>Use</h2><div class="note"><h3>Note</h3><p>beware</p></div><p>after</p>')
    assert path_of(document, "after") == ("Use",)


def test_the_title_is_that_of_the_head_then_of_a_heading_then_of_the_file() -> None:
    assert read("<h1>H</h1>", "<title>\n  T &amp; U </title>").title == "T & U"
    assert read("<h2>G</h2><h1>H</h1>").title == "H"
    document = read("<p>x</p>")
    assert (document.title, document.title_from_name) == ("page", True)


def test_there_are_no_lines() -> None:
    assert not read("<p>x</p>").has_lines


def test_articles_of_statutes_are_sections() -> None:
    document = read(
        "<h1>某法</h1><h2>第一章 总则</h2><p><strong>第六条</strong>　凡在领域内犯罪的。"
        "</p><p>（一）款</p><p>第七条　其他。</p>"
    )
    assert path_of(document, "款") == ("某法", "第一章 总则", "第六条")
    assert path_of(document, "其他") == ("某法", "第一章 总则", "第七条")


@pytest.mark.parametrize("declared", ["gb2312", "GBK", "gb18030"])
def test_a_declared_encoding_is_used(declared: str) -> None:
    page = f'<html><head><meta charset="{declared}"><title>标题</title></head><body>正文</body></html>'
    document = html.parse(page.encode("gbk"), name="a.html")
    assert (document.title, document.text) == ("标题", "正文")


def test_valid_utf8_outweighs_a_wrong_declaration() -> None:
    document = html.parse('<meta charset="gbk"><p>正文是对的</p>'.encode(), name="a.html")
    assert document.text == "正文是对的"


def test_an_unknown_declared_encoding_is_no_error() -> None:
    document = html.parse('<meta charset="x-no-such"><p>今天讨论连接池超时</p>'.encode("gbk"), name="a.html")
    assert document.text == "今天讨论连接池超时"


@pytest.mark.parametrize(
    "page", ["<div>" * 20000 + "x", "<ul><li>a" * 3000, "<table><tr><td>" * 2000 + "x", "<b>" * 9000 + "x", "<p", ""]
)
def test_broken_and_deep_markup_is_read(page: str) -> None:
    html.parse(page.encode() or b" ", name="a.html")


def test_powers_keep_apart() -> None:
    assert "10^6 rows" in read("<p>10<sup>6</sup> rows</p>").text


def test_cells_that_reach_over_rows_and_columns_keep_the_columns() -> None:
    document = read(
        "<table><tr><th>Fruit</th><th>Kind</th><th>Price</th></tr>"
        '<tr><td rowspan="2">Pear</td><td>green</td><td>4</td></tr><tr><td>red</td><td>5</td></tr>'
        '<tr><td colspan="2">All</td><td>9</td></tr><tr><td>Fig</td><td>blue</td><td rowspan="0">7</td></tr></table>'
    )
    assert blocks(document, "row") == ["Pear | green | 4", "| red | 5", "All |  | 9", "Fig | blue | 7"]


def test_xhtml_elements_that_are_closed_at_once_swallow_nothing() -> None:
    source = (
        '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title/>\n<script src="a/b.js"/>'
        '</head><body>\n<a id="p1"/><p>one<br/>two</p>\n<iframe src="x"/>\n<p>after</p></body></html>'
    )
    document = html.parse(source.encode(), name="a.xhtml")
    assert document.text == "one\ntwo\n\nafter"
    assert document.line_marks[-1][1] == 6


def test_how_a_word_is_spoken_does_not_part_it() -> None:
    document = read("<p>\n<ruby>汉<rp>(</rp><rt>hàn</rt><rp>)</rp>字<rt>zì</ruby>在此，很长的一段文字还在后面。</p>")
    assert document.text == "汉字在此，很长的一段文字还在后面。"
    assert [line for _, line in document.line_marks] == [2]
