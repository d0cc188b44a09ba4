"""EPUB books."""

import io
import zipfile

import pytest

from ctxcli.model.errors import ParseError
from ctxcli.parsing import epub
from tests.unit.parsing.shown import blocks, headings, path_of

CONTAINER = '<container xmlns="urn:x"><rootfiles><rootfile full-path="OPS/p.opf"/></rootfiles></container>'
NCX = (
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "x.dtd">'
    '<ncx xmlns="urn:n"><navMap><navPoint><navLabel><text>第二章 后来'
    '</text></navLabel><content src="two%20b.xhtml#a"/></navPoint></navMap></ncx>'
)
OPF = """<package xmlns="urn:o" xmlns:dc="urn:d"><metadata><dc:title>书名</dc:title></metadata><manifest>
<item id="a" href="one.xhtml"/><item id="b" href="two%20b.xhtml"/><item id="c" href="gone.xhtml"/>
<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
<spine><itemref idref="b"/><itemref idref="a"/><itemref idref="c"/><itemref idref="zz"/></spine></package>"""


def book(**changed: str) -> bytes:
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/p.opf": OPF,
        "OPS/one.xhtml": '<?xml version="1.0"?><html><body><h1 id="x">第一章 起初</h1><p>正文。</p></body></html>',
        "OPS/two b.xhtml": "<html><body><p>没有标题的一章。</p></body></html>",
        "OPS/toc.ncx": NCX,
    } | changed
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as box:
        for name, content in files.items():
            box.writestr(name, content)
    return buffer.getvalue()


def test_the_spine_gives_the_order_and_the_contents_missing_titles() -> None:
    document = epub.parse(book(), name="a.epub")
    assert document.title == "书名"
    assert headings(document) == [(1, "第二章", "后来"), (1, "第一章", "起初")]
    assert blocks(document, "prose") == ["没有标题的一章。", "正文。"]
    assert path_of(document, "正文") == ("第一章 起初",)
    assert document.page_starts == ()
    assert not document.has_lines


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04broken",
        b"no zip",
        book()[:300],
        book(**{"META-INF/container.xml": "<a/>"}),
        book(**{"META-INF/container.xml": "not xml"}),
        book(**{"OPS/p.opf": "<package/>"}),
    ],
)
def test_a_damaged_book_is_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        epub.parse(data, name="a.epub")
    assert caught.value.code in {"damaged", "no_text"}


def test_a_bomb_is_refused() -> None:
    bomb = book(**{"OPS/one.xhtml": "x" * (epub.MAX_ITEM + 1)})
    assert len(bomb) < 200_000
    with pytest.raises(ParseError) as caught:
        epub.parse(bomb, name="a.epub")
    assert caught.value.code == "too_large"


def test_entities_that_grow_are_not_followed() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><package>&b;</package>'
    with pytest.raises(ParseError):
        epub.parse(book(**{"OPS/p.opf": bomb}), name="a.epub")


NAV = (
    '<html xmlns="urn:h" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>'
    '<li><a href="one.xhtml#s1">第一节 甲</a></li><li><a href="one.xhtml#s2">第二节 乙</a></li></ol></nav>'
    '<nav epub:type="page-list"><ol><li><a href="one.xhtml#p7">7</a></li></ol></nav></body></html>'
)


def test_entries_of_the_contents_that_point_into_a_page_part_it() -> None:
    page = '<html><body><div id="s1"><p>甲文。</p></div><p id="s2">乙<a id="p7"></a>文。</p><p>又。</p></body></html>'
    opf = OPF.replace('href="toc.ncx"', 'href="nav.xhtml" properties="nav"')
    document = epub.parse(book(**{"OPS/one.xhtml": page, "OPS/nav.xhtml": NAV, "OPS/p.opf": opf}), name="a.epub")
    assert path_of(document, "甲文") == ("第一节 甲",)
    assert path_of(document, "又。") == ("第二节 乙",)
    assert len(document.sections) == 2


def test_parts_of_the_spine_that_are_not_there_are_a_warning() -> None:
    warnings = epub.parse(book(), name="a.epub").warnings
    assert [(warning.code, warning.message) for warning in warnings] == [
        ("missing_parts", "not in the book, though it names them: OPS/gone.xhtml and 1 more")
    ]


def test_an_encrypted_book_is_refused_not_read_as_noise() -> None:
    listed = '<encryption><CipherData><CipherReference URI="{}"/></CipherData></encryption>'
    text = {"META-INF/encryption.xml": listed.format("OPS/two%20b.xhtml"), "OPS/two b.xhtml": "\x01\x02noise"}
    with pytest.raises(ParseError) as caught:
        epub.parse(book(**text), name="a.epub")
    assert caught.value.code == "encrypted"
    font = {"META-INF/encryption.xml": listed.format("OPS/font.otf")}
    assert epub.parse(book(**font), name="a.epub").text, "a font may be"


def test_a_title_without_end_does_not_swallow_the_page() -> None:
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>正文。</p>'
    assert "正文。" in epub.parse(book(**{"OPS/one.xhtml": f"{page}</body></html>"}), name="a.epub").text
