"""EPUB: the items of the spine in order, each read as HTML; titles from the contents where a page has none."""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import html
from ctxcli.parsing.blocks import Piece, cover, plain_title, stem
from ctxcli.parsing.sections import nest

VERSION = "epub/1"

MAX_ITEM = 32 * 1024 * 1024
MAX_TOTAL = 256 * 1024 * 1024
MAX_ITEMS = 5000
"""Limits of what is unpacked (bytes, and items of the spine): an archive may be made to fill the memory."""

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
        page = html.read(html.decode_html(book.read(path)).text)
        if not page.text.strip():
            continue
        if parts:
            parts.append("\n\n")
            length += 2
        known = book.titles.get(path, "")
        if known and not page.headings:
            headings.append((length, 1, known, path))
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
    )


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

    def _package_path(self) -> str:
        container = self._xml("META-INF/container.xml")
        for element in container.iter():
            if _local(element) == "rootfile" and element.get("full-path"):
                return element.get("full-path", "")
        raise ParseError("the book names no package file", code="damaged", hint="get it anew")

    def _contents(self, items: Mapping[str, ElementTree.Element], base: str, names: set[str]) -> dict[str, str]:
        """Titles from the navigation document or the NCX; the first entry of a page counts."""
        titles: dict[str, str] = {}
        for item in items.values():
            path = _join(base, item.get("href", ""))
            is_nav = "nav" in item.get("properties", "").split()
            if path in names and (is_nav or item.get("media-type") == "application/x-dtbncx+xml"):
                for target, title in self._entries(path):
                    titles.setdefault(target, title)
        return titles

    def _entries(self, path: str) -> Iterator[tuple[str, str]]:
        try:
            tree = self._xml(path)
        except ParseError:
            return
        base = posixpath.dirname(path)
        for element in tree.iter():
            if _local(element) == "a" and element.get("href"):
                yield _join(base, element.get("href", "")), plain_title("".join(element.itertext()))
            elif _local(element) == "navPoint":
                label = next((child for child in element.iter() if _local(child) == "text"), None)
                content = next((child for child in element.iter() if _local(child) == "content"), None)
                if label is not None and content is not None:
                    yield _join(base, content.get("src", "")), plain_title("".join(label.itertext()))


def _local(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def _join(base: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(base, unquote(href.split("#", 1)[0]))) if href else ""
