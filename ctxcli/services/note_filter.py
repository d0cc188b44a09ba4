"""Filters of notes as they are typed: tags, and bounds of time."""

from collections.abc import Iterable
from datetime import datetime

from ctxcli.model.errors import UsageError
from ctxcli.services.notes import checked_tags


def checked_filter_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags to look for, as notes hold them."""
    return checked_tags(tags)


def bound(text: str | None, name: str) -> datetime | None:
    """A bound of time (`name` says which, ``until`` takes a date whole), or UsageError."""
    if text is None:
        return None
    from ctxcli.parsing.note_times import read_bound

    found = read_bound(text, datetime.now().astimezone(), end=name.endswith("until"))
    if found is None:
        hint = "use a date (2026-11-01), a time, or an age (7 days, 2 weeks)"
        raise UsageError(f"{name}: {text!r} is no date", code="bad_date", hint=hint)
    return found
