"""Which notes to take, and in which order."""

from collections.abc import Iterable
from datetime import datetime
from heapq import nlargest
from operator import attrgetter
from typing import Literal, NamedTuple

from ctxcli.model.errors import UsageError
from ctxcli.storage.notes_index import Row

Sort = Literal["updated", "created", "title"]


class NoteFilter(NamedTuple):
    """Which notes to take. A tag takes those below it too (``a`` takes ``a/b``); bounds are of `updated_at`."""

    type: str | None = None
    tags: tuple[str, ...] = ()
    any_tag: bool = False
    since: datetime | None = None
    until: datetime | None = None

    def of(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The notes that are wanted."""
        return rows if self == NoteFilter() else filter(self.takes, rows)

    def takes(self, row: Row) -> bool:
        """Whether a note is wanted."""
        if self.type and row.type != self.type:
            return False
        if self.since and row.updated_ms < self.since.timestamp() * 1000:
            return False
        if self.until and row.updated_ms > self.until.timestamp() * 1000:
            return False
        if not self.tags:
            return True
        found = [_has_tag(row.tags, tag) for tag in self.tags]
        return any(found) if self.any_tag else all(found)


def _has_tag(tags: Iterable[str], wanted: str) -> bool:
    folded = wanted.casefold()
    return any(one == folded or one.startswith(f"{folded}/") for one in map(str.casefold, tags))


def ordered(rows: Iterable[Row], sort: Sort, limit: int = 0) -> list[Row]:
    """Rows newest first, or by title; ties by id and path, so that runs repeat. `limit` 0 takes all."""
    if sort == "title":
        return sorted(rows, key=lambda row: (row.title.casefold(), row.path))[: limit or None]
    key = _created_key if sort == "created" else _UPDATED
    known = list(rows)
    if sort == "updated" and 0 < limit < len(known):  # a bound that is cheap to find leaves few to compare whole
        least = sorted(map(attrgetter("updated_ms"), known))[-limit]
        known = [row for row in known if row.updated_ms >= least]
    return nlargest(limit, known, key=key) if limit else sorted(known, key=key, reverse=True)


_UPDATED = attrgetter("updated_ms", "id", "path")


def _created_key(row: Row) -> tuple[float, str, str]:
    return _created(row), row.id, row.path


def _created(row: Row) -> float:
    return datetime.fromisoformat(row.created_at).timestamp() if row.created_at else 0.0


def bound(text: str | None, name: str) -> datetime | None:
    """A bound of time as typed (`name` says which; ``until`` takes a date whole), or UsageError."""
    if text is None:
        return None
    from ctxcli.parsing.note_times import read_bound

    found = read_bound(text, datetime.now().astimezone(), end=name.endswith("until"))
    if found is None:
        hint = "use a date (2026-11-01), a time, or an age (7 days, 2 weeks)"
        raise UsageError(f"{name}: {text!r} is no date", code="bad_date", hint=hint)
    return found
