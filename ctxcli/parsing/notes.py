"""A note file taken apart: what its front matter says, with what stands in where it says nothing, and its text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcli.model.note import DEFAULT_TYPE
from ctxcli.parsing import front_matter
from ctxcli.parsing.front_matter import Problem, Span, Texts
from ctxcli.parsing.note_text import read_tags

OWN_KEYS = ("id", "title", "type", "tags", "created_at", "updated_at")
"""Keys that ctx gives a meaning; all others are the user's."""

_CREATED = ("created_at", "created", "date")
_UPDATED = ("updated_at", "updated", "modified", "last_modified")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"[ ]{0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\Z")
_UNDERLINE = re.compile(r"[ ]{0,3}=+[ \t]*\Z")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\x00\x00", "utf-32-le"), (b"\x00\x00\xfe\xff", "utf-32-be"),
         (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class NoteText:
    """A file as text. `exact` says whether writing the text again gives the same bytes; `mark` is the BOM."""

    text: str
    encoding: str
    mark: bytes
    exact: bool

    def encode(self, text: str) -> bytes:
        """The bytes of a changed text, in the file's own encoding."""
        return self.mark + text.encode(self.encoding)


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """`created` and `updated` are as typed, "" where the front matter names none; so is `id`.

    `unread` names the keys of ctx's own whose values are of a kind that says nothing here: a list for a title.
    """

    id: str
    title: str
    type: str
    tags: tuple[str, ...]
    created: str
    updated: str
    extra: Mapping[str, Any]
    problem: Problem | None
    span: Span
    keys: tuple[str, ...]
    unread: tuple[str, ...] = ()


def decode(data: bytes) -> NoteText:
    """The text of a file, in whatever encoding it is."""
    mark = next((mark for mark, _ in _BOMS if data.startswith(mark)), b"")
    if mark in (b"", b"\xef\xbb\xbf"):
        try:
            return NoteText(data[len(mark) :].decode("utf-8"), "utf-8", mark, True)
        except UnicodeDecodeError:
            pass
    from ctxcli.text import encoding

    found = encoding.decode(data)
    name = found.encoding.replace("-sig", "")
    try:
        exact = not found.replaced and mark + found.text.encode(name) == data
    except UnicodeEncodeError:
        exact = False
    return NoteText(found.text, name, mark, exact)


def parse(text: str, name: str) -> ParsedNote:
    """Take a note apart; `name` is its file name without the ending, the title of last resort."""
    span = front_matter.find(text)
    found = front_matter.read(text, span)
    texts = found.texts
    title = _text(texts.get("title")) or heading(text, span.body if span.closed else span.block) or name
    return ParsedNote(
        id=_text(texts.get("id")),
        title=title,
        type=_text(texts.get("type")) or DEFAULT_TYPE,
        tags=read_tags(texts["tags"] if texts.get("tags") is not None else texts.get("tag")),
        created=_first(texts, _CREATED),
        updated=_first(texts, _UPDATED),
        extra={key: value for key, value in found.values.items() if key not in OWN_KEYS},
        problem=found.problem,
        span=span,
        keys=tuple(texts),
        unread=tuple(key for key in OWN_KEYS if _is_unread(key, texts.get(key), found.values.get(key))),
    )


def _is_unread(key: str, text: Texts, value: Any) -> bool:
    """Whether a key has a value of which nothing is taken."""
    return value is not None and not isinstance(text, str) and (text is None or key != "tags")


def _text(found: Texts) -> str:
    return found.strip() if isinstance(found, str) else ""


def _first(texts: Mapping[str, Texts], keys: Sequence[str]) -> str:
    return next((text for key in keys if (text := _text(texts.get(key)))), "")


def heading(text: str, start: int) -> str:
    """The first heading of level 1 below `start`, outside of code; "" if there is none."""
    fence, before = "", ""
    for line in re.split(r"\r\n|\n|\r", text[start : start + 100_000]):
        marks = _FENCE.match(line)
        if marks and (not fence or marks[1].startswith(fence)):
            fence = "" if fence else marks[1]
        elif not fence and (found := _HEADING.match(line)):
            return found[1].strip()
        elif not fence and _UNDERLINE.match(line) and before.strip() and "\n" not in before:
            return before.strip()
        before = "" if fence or marks else line
    return ""


def content(text: str, span: Span) -> str:
    """The text below the front matter: without the blank line above it and its last line end, lines parted by LF."""
    body = text[span.body :] if span.closed else text
    if span.newline != "\n":
        body = body.replace(span.newline, "\n")
    if span.present and span.closed:
        body = body.removeprefix("\n")
    return body.removesuffix("\n")


def replace_content(text: str, span: Span, new: str) -> str:
    """The note with another content; the blank line above it and the line end below it stay as they were."""
    body = text[span.body :]
    newline = span.newline
    above = newline if span.present and (not body or body.startswith(newline)) else ""
    below = newline if not body.strip("\r\n") or body.endswith(newline) else ""
    head = text[: span.body]
    if span.present and new and head and not head.endswith(("\n", "\r")):
        head += newline
    wanted = new.replace("\r\n", "\n").replace("\n", newline) if newline == "\r\n" else new
    return head + (above + wanted + below if new else "")


def append_content(text: str, span: Span, more: str) -> str:
    """The note with `more` on lines of its own at its end; whether it ends with a line end stays as it was."""
    current = content(text, span)
    if not current:
        return replace_content(text, span, more)
    newline = span.newline
    wanted = more.replace("\r\n", "\n").replace("\n", newline) if newline == "\r\n" else more
    ended = text.endswith(("\n", "\r"))
    return text + ("" if ended else newline) + wanted + (newline if ended else "")
