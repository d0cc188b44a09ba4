"""Ids, titles and tags as notes hold them."""

import os
from collections.abc import Iterable
from datetime import datetime

from ctxcli.model.errors import UsageError
from ctxcli.parsing import note_text

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: datetime) -> str:
    """A new id: the time in milliseconds (10 digits of base 32, so that ids sort) and 40 random bits."""
    number = int(now.timestamp() * 1000) << 40 | int.from_bytes(os.urandom(5), "big")
    return "".join(_DIGITS[number >> shift & 31] for shift in range(85, -1, -5))


def clean(text: str) -> str:
    """The text with what is no character replaced: bytes of an argument that are no UTF-8."""
    if not _has_surrogates(text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)


def _has_surrogates(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def checked_title(title: str) -> str:
    """A title, or UsageError."""
    found = clean(title).strip()
    if not found:
        raise UsageError("the title is empty", code="empty_title", hint='give one: ctx note create "…"')
    return found


def wanted_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags to look for, or UsageError for one that names nothing: it would take all notes."""
    given = tuple(tags)
    if not all(checked_tags([tag]) for tag in given):
        raise UsageError("a tag is empty", code="empty_tag", hint="name a tag, or leave the option out")
    return checked_tags(given)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as notes hold them; ``a, b`` are two, ``#a`` is ``a``."""
    return tuple(dict.fromkeys(one for tag in tags for one in note_text.read_tags(clean(" ".join(tag.split())))))
