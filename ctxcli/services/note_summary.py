"""All notes at a glance."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

from ctxcli.model.note import NoteSummary
from ctxcli.services.note_filter import ordered
from ctxcli.services.notes import Notebook
from ctxcli.storage.notes_index import Row

_RECENT = 5
_WEEKS = 12
_MOST_OPEN = 100
_CLOSED = frozenset(
    "done closed resolved fixed complete completed finished cancelled canceled dropped wontfix 完成 已完成 关闭 已关闭"
    " 解决 已解决 取消 已取消 結束 已结束 结束".split()
)


def summary(notebook: Notebook, *, today: date | None = None) -> NoteSummary:
    """Counts, the five latest notes, the hundred latest open blockers and actions, the notes of twelve weeks."""
    found = notebook.snapshot()
    notebook.tell_problems(found)
    rows = list(found.rows.values())
    to_do = [row for row in rows if row.type in ("blocker", "action") and not is_closed(row)]
    blockers = [row for row in to_do if row.type == "blocker"]
    actions = [row for row in to_do if row.type == "action"]
    return NoteSummary(
        total=len(rows),
        types=_counted(map(attrgetter("type"), rows)),
        tags=_counted(chain.from_iterable(map(attrgetter("tags"), rows))),
        recent=tuple(map(notebook.entry, ordered(rows, "updated", _RECENT))),
        open_blockers=tuple(map(notebook.entry, ordered(blockers, "updated", _MOST_OPEN))),
        open_actions=tuple(map(notebook.entry, ordered(actions, "updated", _MOST_OPEN))),
        open_counts=(len(blockers), len(actions)),
        weekly=_weekly(rows, today or datetime.now().astimezone().date()),
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, most often first."""
    counts = Counter(names)
    ordered_names = sorted(counts)
    ordered_names.sort(key=counts.__getitem__, reverse=True)
    return dict(zip(ordered_names, map(counts.__getitem__, ordered_names), strict=True))


def is_closed(row: Row) -> bool:
    """Whether a note says that it is done: by ``status: done``, ``done: true`` or a tag ``done``."""
    if not _CLOSED.isdisjoint(map(str.lower, row.tags)):
        return True
    if not row.extra:
        return False
    status: Any = row.extra.get("status")
    if isinstance(status, str) and status.strip().lower() in _CLOSED:
        return True
    return any(row.extra.get(key) is True for key in ("done", "closed", "resolved", "completed"))


def _weekly(rows: Iterable[Row], today: date) -> tuple[tuple[str, int], ...]:
    monday = today - timedelta(days=today.weekday())
    weeks = [monday - timedelta(weeks=back) for back in range(_WEEKS - 1, -1, -1)]
    first, counts = weeks[0].isoformat(), dict.fromkeys(weeks, 0)
    late = filter(first.__le__, map(attrgetter("created_at"), rows))
    for created, number in Counter(map(itemgetter(slice(10)), late)).items():
        day = date.fromisoformat(created)
        week = day - timedelta(days=day.weekday())
        if week in counts:
            counts[week] += number
    return tuple((f"{week.isocalendar().year}-W{week.isocalendar().week:02d}", count) for week, count in counts.items())
