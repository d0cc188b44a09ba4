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
