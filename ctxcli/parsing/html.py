"""HTML: the main content as spaced text, with headings, lists, tables and code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxcli.model.document import Document
from ctxcli.parsing.blocks import Piece, cover, encoding_warnings, plain_title, stem, with_clauses
from ctxcli.parsing.html_text import Writer
from ctxcli.parsing.sections import nest
from ctxcli.parsing.source_lines import line_marks
from ctxcli.text.encoding import Decoded, decode, unify_newlines

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

VERSION = "html/3"

_CHARSET = re.compile(rb"""<meta\b[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]{2,30})""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""<\?xml\b[^>]{0,100}?encoding\s*=\s*["']([\w-]{2,30})""", re.IGNORECASE)


_XHTML = re.compile(r"<\?xml\b|<html\b[^>]{0,500}\bxmlns\s*=", re.IGNORECASE)
_CLOSED_AT_ONCE = re.compile(
    r"""<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)\b)([A-Za-z][\w:-]*+)
    ((?:[^<>"'/]|/(?!>)|"[^"<]{0,2000}"|'[^'<]{0,2000}')*+)/>""",
    re.IGNORECASE | re.VERBOSE,
)
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "shift_jis": "cp932"}


def parse(data: bytes, *, name: str) -> Document:
    """Parse an HTML file; its text is made from the markup, and then looked for in its lines."""
    decoded = decode_html(data)
    source = with_end_tags(unify_newlines(decoded.text))
    page = read(source)
    blocks = cover(page.text, page.pieces)
    return Document(
        format="html",
        title=page.title or stem(name),
        text=page.text,
        sections=nest(page.headings),
        blocks=blocks,
        line_marks=line_marks(source, page.text, blocks),
        encoding=decoded.encoding,
        title_from_name=not page.title,
        warnings=encoding_warnings(decoded),
    )


def with_end_tags(source: str) -> str:
    """XHTML with an end tag for what is closed at once: HTML takes ``<title/>`` for a title without end."""
    if not _XHTML.search(source[:2000]):
        return source
    return _CLOSED_AT_ONCE.sub(r"<\1\2></\1>", source)


def decode_html(data: bytes) -> Decoded:
    """Decode by byte order mark, UTF-8, the encoding the file declares, then by guess."""
    decoded = decode(data)
    if decoded.encoding.startswith("utf") and not decoded.replaced:
        return decoded
    declared = _CHARSET.search(data[:4096]) or _XML_ENCODING.match(data[:200])
    if not declared:
        return decoded
    encoding = declared[1].decode("ascii", errors="ignore").lower()
    encoding = _WIDER.get(encoding, encoding)
    if encoding.startswith(("utf-16", "utf-32", "utf-7")):
        return decoded
    try:
        text = data.decode(encoding, errors="replace")
    except (LookupError, UnicodeError):
        return decoded
    replaced = text.count("\ufffd")
    return Decoded(text, encoding, replaced) if replaced <= decoded.replaced else decoded


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page with its headings and pieces; `title` is "" if it has none.

    `anchors` says at which block of the text an id stands.
    """

    title: str
    text: str
    headings: tuple[tuple[int, int, str, str], ...]
    pieces: tuple[Piece, ...]
    anchors: Mapping[str, int]


def read(source: str) -> Page:
    """The content of an HTML page (or a part of one)."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(unify_newlines(source).replace("\x00", ""))
    body = tree.body
    writer = Writer()
    if body is not None:
        writer.walk(_main_content(body))
        writer.flush()
    text = "".join(writer.parts)
    headings, pieces = with_clauses(text, writer.headings, writer.pieces)
    return Page(_title(tree.css_first("title"), headings), text, tuple(headings), tuple(pieces), writer.anchors)


def _title(element: "LexborNode | None", headings: list[tuple[int, int, str, str]]) -> str:
    named = plain_title(element.text()) if element is not None else ""
    top = next((line for _, level, line, _ in headings if level == 1), "")
    return named or top or (headings[0][2] if headings else "")


def _main_content(body: "LexborNode") -> "LexborNode":
    """The main element or the only article, if it holds more than 40 % of the text."""
    found = body.css("main, [role=main]") or body.css("article")
    if len(found) != 1:
        return body
    whole = len(body.text(deep=True))
    return found[0] if whole and len(found[0].text(deep=True)) > 0.4 * whole else body
