"""Messages (.eml): the headers people read, then the text; attachments are named only, forwarded messages are read."""

from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.message import MIMEPart
from email.policy import default
from typing import NamedTuple

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import html, plain
from ctxcli.parsing.blocks import Piece, cover, plain_title, stem, without_surrogates
from ctxcli.parsing.sections import nest
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "email/2"

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_BAD_MESSAGE = (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError, OverflowError)
_MAX_DEPTH = 20
"""How deep messages and parts within each other are followed."""


class _Part(NamedTuple):
    """A piece of a message: its text, headings and pieces, with offsets into its text."""

    text: str
    headings: list[tuple[int, int, str, str]]
    pieces: list[Piece]


def parse(data: bytes, *, name: str) -> Document:
    """Parse a message; its text is decoded from its parts, so there are no lines."""
    try:
        message = message_from_bytes(data, policy=default)
        subject = _header(message, "Subject")
        parts = [*_message(message, 0), _attachments(message)]
    except _BAD_MESSAGE as error:
        raise ParseError(f"the message cannot be read: {error}", code="damaged", hint="export it anew") from error
    text, headings, pieces = "", [], []
    for part in parts:
        if part.text:
            text += "\n\n" if text else ""
            headings += [(start + len(text), level, line, anchor) for start, level, line, anchor in part.headings]
            pieces += [(start + len(text), end + len(text), kind) for start, end, kind in part.pieces]
            text += part.text
    return Document(
        format="email",
        title=subject or stem(name),
        text=text,
        sections=nest(headings),
        blocks=cover(text, pieces),
        title_from_name=not subject,
    )


def _message(message: MIMEPart, depth: int) -> Iterator[_Part]:
    """The headers of a message and what it says."""
    headers = {key: _header(message, key) for key in _HEADERS}
    head = "\n".join(f"{key}: {value}" for key, value in headers.items() if value)
    pieces: list[Piece] = []
    for line in head.splitlines(keepends=True):
        start = pieces[-1][1] if pieces else 0
        pieces.append((start, start + len(line), "item"))
    yield _Part(head, [], pieces)
    yield from _body(message, depth)


def _body(part: MIMEPart, depth: int) -> Iterator[_Part]:
    """The texts of a part in order; of alternatives the plain one, unless it is blank."""
    kind = part.get_content_type()
    if depth > _MAX_DEPTH:
        return
    if kind == "message/rfc822":
        for inner in part.iter_parts():
            yield from _message(inner, depth + 1)
    elif kind == "multipart/alternative":
        forms = ([*_body(form, depth + 1)] for form in sorted(part.iter_parts(), key=_preference))
        yield from next((form for form in forms if any(one.text.strip() for one in form)), [])
    elif kind == "multipart/related":
        for root in list(part.iter_parts())[:1]:
            yield from _body(root, depth + 1)
    elif part.is_multipart():
        for child in part.iter_parts():
            yield from _body(child, depth + 1)
    elif part.get_content_maintype() == "text" and not part.is_attachment():
        yield _content(part)


def _preference(part: MIMEPart) -> int:
    """Plain text first, then what holds HTML, whatever the order they are sent in."""
    order = ("text/plain", "text/html", "multipart/related", "multipart/mixed")
    kind = part.get_content_type()
    return order.index(kind) if kind in order else len(order)


def _content(part: MIMEPart) -> _Part:
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    body = without_surrogates(unify_newlines(_decoded(raw, part.get_content_charset() or "")))
    if part.get_content_subtype() == "html":
        page = html.read(body)
        return _Part(page.text, list(page.headings), list(page.pieces))
    text = body.strip("\n")
    return _Part(text, [], plain.paragraphs(text))


def _header(message: MIMEPart, key: str) -> str:
    """The values of a header; bytes that are not encoded, as they must be, are taken for what the text is in."""
    raw = [str(value).encode("ascii", "surrogateescape") for name, value in message.raw_items() if _is(name, key)]
    values: list[str] = []
    if all(value.isascii() for value in raw):
        with suppress(*_BAD_MESSAGE):  # a date that is none, an address without end
            values = [str(value) for value in message.get_all(key) or []]
    if not values:
        charset = next((found for part in message.walk() if (found := part.get_content_charset())), "")
        values = [_decoded(value, "utf-8" if _is_utf8(value) else charset) for value in raw]
    return without_surrogates(plain_title(", ".join(values)))


def _is(name: str, key: str) -> bool:
    return name.lower() == key.lower()


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(raw: bytes, charset: str) -> str:
    wider = {"gb2312": "gb18030", "gbk": "gb18030", "us-ascii": "", "iso-8859-1": "cp1252"}.get(charset, charset)
    if wider:
        try:
            return raw.decode(wider)
        except (LookupError, UnicodeError):
            pass
    return decode(raw).text


def _attachments(message: MIMEPart) -> _Part:
    names = (part.get_filename() for part in message.walk() if not part.is_multipart())
    shown = [without_surrogates(plain_title(name)) for name in names if name]
    return _Part(f"Attachments: {', '.join(shown)}" if shown else "", [], [])
