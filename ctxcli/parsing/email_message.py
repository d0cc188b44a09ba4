"""Messages (.eml): the headers people read, then the text; attachments are named only."""

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from ctxcli.model.document import Document
from ctxcli.model.errors import ParseError
from ctxcli.parsing import html, plain
from ctxcli.parsing.blocks import Piece, cover, plain_title, stem, without_surrogates
from ctxcli.parsing.sections import nest
from ctxcli.text.encoding import decode, unify_newlines

VERSION = "email/1"

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_BAD_MESSAGE = (ValueError, LookupError, TypeError, AttributeError, AssertionError, RecursionError)


def parse(data: bytes, *, name: str) -> Document:
    """Parse a message; its text is decoded from its parts, so there are no lines."""
    try:
        message = message_from_bytes(data, policy=default)
        headers = {key: _header(message, key) for key in _HEADERS}
        body, is_html = _body(message)
        attached = _attachments(message)
    except _BAD_MESSAGE as error:
        raise ParseError(f"the message cannot be read: {error}", code="damaged", hint="export it anew") from error
    head = "\n".join(f"{key}: {value}" for key, value in headers.items() if value)
    pieces: list[Piece] = []
    for line in head.splitlines(keepends=True):
        start = pieces[-1][1] if pieces else 0
        pieces.append((start, start + len(line), "item"))
    base = len(head) + 2 if head else 0
    content, headings, inner = _content(body, is_html=is_html)
    text = f"{head}\n\n{content}" if head else content
    pieces += [(start + base, end + base, kind) for start, end, kind in inner]
    if attached:
        text = f"{text}\n\nAttachments: {', '.join(attached)}"
    subject = headers["Subject"]
    return Document(
        format="email",
        title=subject or stem(name),
        text=text,
        sections=nest((start + base, level, line, anchor) for start, level, line, anchor in headings),
        blocks=cover(text, pieces),
        title_from_name=not subject,
    )


def _content(body: str, *, is_html: bool) -> tuple[str, list[tuple[int, int, str, str]], list[Piece]]:
    if is_html:
        page = html.read(body)
        return page.text, list(page.headings), list(page.pieces)
    text = body.strip("\n")
    return text, [], plain.paragraphs(text)


def _header(message: EmailMessage, key: str) -> str:
    values = message.get_all(key) or []
    return without_surrogates(plain_title(", ".join(str(value) for value in values)))


def _body(message: EmailMessage) -> tuple[str, bool]:
    """The text of a message and whether it is HTML; plain text is preferred."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        part = message if message.get_content_maintype() == "text" else None
    if part is None:
        return "", False
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or ""
    return without_surrogates(unify_newlines(_decoded(raw, charset))), part.get_content_subtype() == "html"


def _decoded(raw: bytes, charset: str) -> str:
    wider = {"gb2312": "gb18030", "gbk": "gb18030", "us-ascii": "", "iso-8859-1": "cp1252"}.get(charset, charset)
    if wider:
        try:
            return raw.decode(wider)
        except (LookupError, UnicodeError):
            pass
    return decode(raw).text


def _attachments(message: EmailMessage) -> list[str]:
    names = (part.get_filename() for part in message.walk() if not part.is_multipart())
    return [without_surrogates(plain_title(name)) for name in names if name]
