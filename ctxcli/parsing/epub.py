"""EPUB: the items of the spine in order, each read as HTML; titles from the contents where a page has none."""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

from ctxcli.model.document import Document, ParseWarning
from ctxcli.model.errors import ParseError
from ctxcli.parsing import html
from ctxcli.parsing.blocks import Piece, cover, plain_title, stem
from ctxcli.parsing.sections import nest

VERSION = "epub/2"

MAX_ITEM = 32 * 1024 * 1024
MAX_TOTAL = 256 * 1024 * 1024
MAX_ITEMS = 5000
"""Limits of what is unpacked (bytes, and items of the spine): an archive may be made to fill the memory."""

_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_ENCRYPTION = "META-INF/encryption.xml"
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>", re.IGNORECASE)
_BAD_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
    KeyError,
)


def parse(data: bytes, *, name: str) -> Document:
    """Parse a book; it has sections but neither pages nor lines."""
    book = _Book(data)
    parts: list[str] = []
    pieces: list[Piece] = []
    headings: list[tuple[int, int, str, str]] = []
    length = 0
    for path in book.spine:
        page = html.read(html.with_end_tags(html.decode_html(book.read(path)).text))
        if not page.text.strip():
            continue
        if parts:
            parts.append("\n\n")
            length += 2
        if not page.headings:
            headings += [(start + length, 1, title, path) for start, title in _titled(page, book.titles.get(path, {}))]
        headings += [(start + length, level, line, anchor) for start, level, line, anchor in page.headings]
        pieces += [(start + length, end + length, kind) for start, end, kind in page.pieces]
        parts.append(page.text)
        length += len(page.text)
    text = "".join(parts)
    if not text:
        raise ParseError("the book holds no text", code="no_text", hint="it may be protected or made of images")
    return Document(
        format="epub",
        title=book.title or stem(name),
        text=text,
        sections=nest(headings),
        blocks=cover(text, pieces),
        title_from_name=not book.title,
        warnings=_missing(book.missing),
    )


def _titled(page: html.Page, titles: Mapping[str, str]) -> list[tuple[int, str]]:
    """Where the entries of the contents (id in the page → title) begin; of several at one place the first counts."""
    found: dict[int, str] = {}
    for anchor, title in titles.items():
        start = page.anchors.get(anchor) if anchor else 0
        if start is None and not found:
            start = 0
        if start is not None and title:
            found.setdefault(start, title)
    return sorted(found.items())


def _missing(parts: Sequence[str]) -> tuple[ParseWarning, ...]:
    if not parts:
        return ()
    more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
    return (ParseWarning("missing_parts", f"not in the book, though it names them: {parts[0]}{more}"),)


class _Book:
    """The archive: title, paths of the spine in order, and titles of pages by path."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except _BAD_ARCHIVE as error:
            raise ParseError(f"the book is damaged: {error}", code="damaged", hint="get it anew") from error
        self._left = MAX_TOTAL
        opf_path = self._package_path()
        package = self._xml(opf_path)
        base = posixpath.dirname(opf_path)
        found = next((element for element in package.iter() if _local(element) == "title"), None)
        self.title = plain_title("".join(found.itertext())) if found is not None else ""
        items = {item.get("id", ""): item for item in package.iter() if _local(item) == "item"}
        order = [ref.get("idref", "") for ref in package.iter() if _local(ref) == "itemref"]
        spine = [_join(base, items[ref].get("href", "")) for ref in order if ref in items]
        names = set(self._zip.namelist())
        self.spine = [path for path in spine if path in names][:MAX_ITEMS]
        self.missing = [path for path in spine if path not in names] + [ref for ref in order if ref not in items]
        self._refuse_encrypted(names)
        self.titles = self._contents(items, base, names)

    def read(self, path: str) -> bytes:
        """The bytes of an item, within the limits."""
        try:
            with self._zip.open(path) as item:
                data = item.read(min(MAX_ITEM, self._left) + 1)
        except _BAD_ARCHIVE as error:
            raise ParseError(f"the book is damaged: {path}: {error}", code="damaged", hint="get it anew") from error
        self._left -= len(data)
        if len(data) > MAX_ITEM or self._left < 0:
            raise ParseError("the book is too large when unpacked", code="too_large", hint="split it")
        return data

    def _xml(self, path: str) -> ElementTree.Element:
        try:
            return ElementTree.fromstring(_DOCTYPE.sub(b"", self.read(path)))
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise ParseError(f"the book is damaged: {path}: {error}", code="damaged", hint="get it anew") from error

    def _refuse_encrypted(self, names: set[str]) -> None:
        """Fonts may be encrypted, the text not."""
        if _ENCRYPTION not in names:
            return
        found = (element.get("URI", "") for element in self._xml(_ENCRYPTION).iter() if element.get("URI"))
        if not {_join("", path) for path in found}.isdisjoint(self.spine):
            hint = "get a copy without copy protection"
            raise ParseError("the text of the book is encrypted", code="encrypted", hint=hint)

    def _package_path(self) -> str:
        container = self._xml("META-INF/container.xml")
        for element in container.iter():
            if _local(element) == "rootfile" and element.get("full-path"):
                return element.get("full-path", "")
        raise ParseError("the book names no package file", code="damaged", hint="get it anew")

    def _contents(
        self, items: Mapping[str, ElementTree.Element], base: str, names: set[str]
    ) -> dict[str, dict[str, str]]:
        """By page: id in it ("" for its beginning) → title, from the navigation document or the NCX."""
        titles: dict[str, dict[str, str]] = {}
        for item in items.values():
            path = _join(base, item.get("href", ""))
            is_nav = "nav" in item.get("properties", "").split()
            if path in names and (is_nav or item.get("media-type") == "application/x-dtbncx+xml"):
                for target, title in self._entries(path):
                    page, _, anchor = target.partition("#")
                    titles.setdefault(_join(posixpath.dirname(path), page), {}).setdefault(unquote(anchor), title)
        return titles

    def _entries(self, path: str) -> Iterator[tuple[str, str]]:
        """Target and title of each entry of the contents; page lists and landmarks are none."""
        try:
            tree = self._xml(path)
        except ParseError:
            return
        navs = [nav for nav in tree.iter() if _local(nav) == "nav"]
        for root in [nav for nav in navs if "toc" in nav.get(_EPUB_TYPE, "").split()] or navs or [tree]:
            for element in root.iter():
                if _local(element) == "a" and element.get("href"):
                    yield element.get("href", ""), plain_title("".join(element.itertext()))
                elif _local(element) == "navPoint":
                    label = next((child for child in element.iter() if _local(child) == "text"), None)
                    content = next((child for child in element.iter() if _local(child) == "content"), None)
                    if label is not None and content is not None:
                        yield content.get("src", ""), plain_title("".join(label.itertext()))


def _local(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def _join(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(base, unquote(href.split("#", 1)[0]))) if href else ""
