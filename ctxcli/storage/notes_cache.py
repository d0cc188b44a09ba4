"""The index kept in step with the files, whoever has changed them: editors, Obsidian, `git pull`, other processes."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from os import stat_result
from pathlib import Path
from typing import NamedTuple

from ctxcli.model.errors import BusyError, DataError
from ctxcli.storage import notes, notes_index
from ctxcli.storage.files import identity, locked, printable, reason, sha256
from ctxcli.storage.notes import Scan
from ctxcli.storage.notes_index import Loaded, Row

_STAMP = attrgetter("stamp", "size")
_UNSURE_NS = 50_000_000
"""A file written this short a time before it was read may be written again without a sign of it: it is read again."""


_ODD_FORMS = "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\ufb00-\ufb06\uff66-\uff9f\u0300-\u036f]"
"""Letters that are found only in a folded text."""


class Snapshot(NamedTuple):
    """All notes as they are now, by path; what could not be read, with the reason; and what there is to say."""

    rows: dict[str, Row]
    scan: Scan
    unreadable: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()


class NoteCache:
    """Where the notes and their index lie."""

    def __init__(self, folder: Path, home: Path, lock_seconds: float) -> None:
        self.folder = folder
        self.home = home
        self.lock_seconds = lock_seconds

    @property
    def index(self) -> Path:
        """The file of the index."""
        return self.home / notes_index.FILE

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes of ctx from writing."""
        with locked(self.home / "notes.lock", timeout=self.lock_seconds, what="the notes folder"):
            yield

    def refresh(self) -> Snapshot:
        """The notes as they are now. The index is mended and brought up to date, if it can be written."""
        loaded, seen = notes_index.load(self.index), notes.scan(self.folder)
        if not loaded.damage and _is_fresh(loaded, seen):
            return Snapshot(loaded.rows, seen)
        try:
            with self.lock():
                notes.remove_leftovers(self.folder, seen.leftovers)
                return self._bring_up(notes_index.load(self.index), notes.scan(self.folder), save=True)
        except (BusyError, DataError):
            return self._bring_up(loaded, seen, save=False)

    def remember(self, row: Row | None = None, *, gone: str | None = None) -> None:
        """Tell the index about a change just made; the caller holds the lock. A failure costs only time later."""
        with suppress(OSError):
            notes_index.append(self.index, [row] if row else [], [gone] if gone is not None else [])

    def _bring_up(self, loaded: Loaded, seen: Scan, *, save: bool) -> Snapshot:
        changed, gone, unreadable = self._differences(loaded.rows, seen)
        rows = {path: row for path, row in loaded.rows.items() if path not in gone}
        saved = {**rows, **{row.path: row for row in changed}}
        notices = self._save(loaded, saved, changed, gone) if save else _damage_notice(loaded, None)
        bare = {path: rows.get(path) or _bare_row(path) for path, _ in unreadable}
        return Snapshot({**saved, **bare}, seen, tuple(unreadable), notices)

    def _differences(self, rows: dict[str, Row], seen: Scan) -> tuple[list[Row], set[str], list[tuple[str, str]]]:
        """Rows of files that are new or have changed, paths that are gone, and files that cannot be read."""
        changed: list[Row] = []
        unreadable: list[tuple[str, str]] = []
        gone = {path for path in rows if path not in seen.files and not seen.may_hold(path)}
        for path, (stamp, size) in seen.files.items():
            row = rows.get(path)
            if row and row.stamp == stamp and row.size == size:
                continue
            try:
                new = row_of(path, *notes.read(self.folder, path), now=time.time_ns())
            except FileNotFoundError:
                if row:
                    gone.add(path)
                continue
            except OSError as error:
                unreadable.append((path, reason(error)))
                continue
            if new != row:
                changed.append(new)
        return changed, gone, unreadable

    def _save(self, loaded: Loaded, rows: dict[str, Row], changed: list[Row], gone: set[str]) -> tuple[str, ...]:
        """Append what has changed, or write the index anew where that is better; returns what there is to say."""
        aside = None
        try:
            if loaded.damage:
                aside = notes_index.set_aside(self.index)
            lines = loaded.lines + len(changed) + len(gone)
            if loaded.damage or lines > 2 * len(rows) + 200 or len(changed) * 2 > len(rows):
                notes_index.write(self.index, rows)
            elif changed or gone:
                notes_index.append(self.index, changed, gone)
        except OSError:
            pass  # a folder that cannot be written: the notes are read anew each time
        return _damage_notice(loaded, aside)


def _is_fresh(loaded: Loaded, seen: Scan) -> bool:
    """Whether the index says of every file what it is, and of no other."""
    rows = loaded.rows
    stamps = dict(zip(rows, map(_STAMP, rows.values()), strict=True))
    if stamps != seen.files:
        for path in rows.keys() - seen.files.keys():
            if seen.may_hold(path):
                del stamps[path]
        if stamps != seen.files:
            return False
    return loaded.lines <= 2 * len(rows) + 400


def _damage_notice(loaded: Loaded, aside: Path | None) -> tuple[str, ...]:
    if not loaded.damage:
        return ()
    kept = f"; the old one is kept as {aside.parent.name}/{aside.name}" if aside else ""
    return (f"the index of the notes could not be used ({loaded.damage}) and was built anew from the files{kept}",)


def path_id(path: str) -> str:
    """The id of a note that has none of its own: it goes by its path."""
    return "p" + sha256(identity(path).encode("utf-8", "surrogateescape"))[:11]


def _bare_row(path: str) -> Row:
    """What is known of a file that cannot be read."""
    stem = printable(path.rpartition("/")[2].rpartition(".")[0])
    return Row(path, path_id(path), stem, "general", "", "", 0, 0, 0, 0, [])


def row_of(path: str, data: bytes, status: stat_result, *, now: int = 0) -> Row:
    """What the index holds of a file. With `now` (ns) a file written just before gets no stamp."""
    from datetime import datetime

    from ctxcli.parsing import notes as parsing
    from ctxcli.parsing.note_times import read_time, written

    text = parsing.decode(data)
    found = parsing.parse(text.text, printable(path.rpartition("/")[2].rpartition(".")[0]))
    updated = read_time(found.updated) if found.updated else None
    updated = updated or datetime.fromtimestamp(status.st_mtime).astimezone()
    created = (read_time(found.created) if found.created else None) or updated
    stamp, size = notes.stamp_of(status)
    if now and abs(now - max(stamp, status.st_mtime_ns)) < _UNSURE_NS:
        stamp = 0
    problem = f"{found.problem.line}:{found.problem.message}" if found.problem else ""
    body = 0 if found.problem else len(text.mark) + len(text.text[: found.span.body].encode("utf-8", "replace"))
    return Row(
        path=path,
        stamp=stamp,
        size=size,
        id=found.id or path_id(path),
        title=found.title,
        type=found.type,
        tags=list(found.tags),
        created_at=written(created),
        updated_at=written(updated),
        updated_ms=int(updated.timestamp() * 1000),
        body=body,
        extra=dict(found.extra),
        odd=text.encoding != "utf-8" or (not text.text.isascii() and bool(re.search(_ODD_FORMS, text.text))),
        problem=problem,
    )
