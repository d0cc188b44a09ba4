"""Notes: made, read, changed, deleted, restored, listed. The files are the truth; each call sees them as they are."""

import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ctxcli.model.errors import BusyError, DataError, NotFoundError, UsageError
from ctxcli.model.note import DEFAULT_TYPE, Note, NoteEntry, NoteList
from ctxcli.parsing import note_text
from ctxcli.services import note_lookup
from ctxcli.services.note_filter import NoteFilter, Sort, ordered
from ctxcli.services.note_values import checked_tags, checked_title, clean, new_id, wanted_tags
from ctxcli.services.workspace import Workspace
from ctxcli.storage import note_names
from ctxcli.storage import notes as files
from ctxcli.storage.files import printable, reason
from ctxcli.storage.notes_cache import NoteCache, Snapshot, row_of
from ctxcli.storage.notes_index import Row

__all__ = ["NoteChange", "NoteFilter", "Notebook", "note_files", "ordered"]


class NoteChange(NamedTuple):
    """What to change in a note; None (or nothing) stays as it is. `tags` replaces all tags."""

    title: str | None = None
    content: str | None = None
    append: str | None = None
    type: str | None = None
    tags: tuple[str, ...] | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """A note as it was read, to be changed only if it is still so."""

    row: Row
    data: bytes
    status: os.stat_result


class Notebook:
    """The notes of a workspace. `notices` gathers what is to be said beside the results.

    `failed` says that some files could not be read, so that a result may lack something.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.notices: list[str] = []
        self.failed = False
        folder = _notes_folder(workspace)
        self.cache = NoteCache(folder, workspace.folder, workspace.settings.number("index.lock_seconds"))
        self._cited = workspace.cite(folder)
        self.places = note_lookup.Places(workspace.root, folder, self._cited)

    @property
    def folder(self) -> Path:
        """The folder of the notes; it need not be there."""
        return self.cache.folder

    @property
    def trash(self) -> Path:
        """Where deleted notes lie."""
        return self.workspace.folder / "trash"

    def snapshot(self) -> Snapshot:
        """All notes as they are now."""
        found = self.cache.refresh()
        self.notices += found.notices
        return found

    def entry(self, row: Row) -> NoteEntry:
        """A row as a value: its path as cited."""
        path = self.cite(row.path)
        problem = f"{path}:{row.problem.replace(':', ': ', 1)}" if row.problem else ""
        return NoteEntry(
            row.id, row.title, row.type, tuple(row.tags), row.created_at, row.updated_at, path, row.extra, problem
        )

    def cite(self, path: str) -> str:
        """The path of a note as cited: relative to the workspace."""
        cited = f"{self._cited}/{path}" if path != "." else self._cited
        return cited if cited.isascii() else printable(cited)

    def find(self, name: str, *, by_title: bool = True) -> Row:
        """The note that a name means."""
        return note_lookup.find(self.snapshot().rows.values(), name, self.places, by_title=by_title)

    def create(self, title: str, content: str = "", *, type: str | None = None, tags: Iterable[str] = ()) -> Note:
        """Make a note. Its cost does not depend on how many there are."""
        title = checked_title(title)
        kind = self.checked_type(DEFAULT_TYPE if type is None else type)
        checked, text = wanted_tags(tags), clean(content)
        now = datetime.now().astimezone()
        moment = now.isoformat(timespec="milliseconds")
        note_id = new_id(now)
        head, body = note_text.render(
            {
                "id": note_id,
                "title": title,
                "type": kind,
                "tags": checked,
                "created_at": moment,
                "updated_at": moment,
            },
            text,
        )
        front = head.encode("utf-8")
        with self.cache.lock():
            path, status = files.create(
                self.folder, note_names.candidates(title, note_id), front + body.encode("utf-8")
            )
            stamp, size = files.stamp_of(status)
            ms = int(datetime.fromisoformat(moment).timestamp() * 1000)
            row = Row(path, note_id, title, kind, moment, moment, stamp, size, ms, len(front), [*checked])
            self.cache.remember(row)
        return Note(self.entry(row), text)

    def read(self, name: str) -> Note:
        """A note with its content."""
        return self.note(self.load(self.find(name)))

    def load(self, row: Row) -> Loaded:
        """Read the file of a note."""
        try:
            return Loaded(row, *files.read(self.folder, row.path))
        except FileNotFoundError:
            raise NotFoundError(
                f"there is no note {row.id} any more", code="note_not_found", hint="see: ctx note list"
            ) from None
        except OSError as error:
            raise DataError(
                f"{self.cite(row.path)} cannot be read: {reason(error)}",
                code="unreadable",
                hint="check its permissions",
            ) from error

    def note(self, loaded: Loaded) -> Note:
        """The note that was loaded."""
        from ctxcli.parsing import notes as parsing

        text = parsing.decode(loaded.data).text
        span = parsing.parse(text, "").span
        row = row_of(loaded.row.path, loaded.data, loaded.status)
        return Note(self.entry(row), parsing.content(text, span))

    def update(self, name: str, change: NoteChange, *, since: Loaded | None = None) -> Note:
        """Change what is named. `since` is the note as the change was made from: BusyError if it is no longer so."""
        if change == NoteChange():
            raise UsageError(
                "there is nothing to change", hint="name a title, a content (- reads standard input), a type or tags"
            )
        row = since.row if since else self.find(name)
        with self.cache.lock():
            current = self._load_same(row)
            if since and current.data != since.data:
                raise files.changed_meanwhile(self.cite(row.path))
            from ctxcli.services import note_change

            data = note_change.changed(current.data, self._checked(change), path=self.cite(row.path))
            return self.save(current, data)

    def save(self, current: Loaded, data: bytes) -> Note:
        """Give a note new bytes; the caller holds the lock."""
        status = files.replace(self.folder, current.row.path, data, seen=current.status)
        row = row_of(current.row.path, data, status)
        self.cache.remember(row)
        return self.note(Loaded(row, data, status))

    def keep(self, path: str, data: bytes, why: str) -> None:
        """Keep a file as it was in the trash, before it is written over; `why` begins the name of its folder there."""
        below = f"{why}-{datetime.now().strftime('%Y%m%dT%H%M%S')}-{os.urandom(3).hex()}"
        files.create(self.trash, [f"{below}/{printable(path.rpartition('/')[2])}.before"], data, below=below)

    def _load_same(self, row: Row) -> Loaded:
        """Read a note again, now that nobody else writes; BusyError where its file is another note by now."""
        current = self.load(row)
        if row_of(row.path, current.data, current.status).id != row.id:
            raise files.changed_meanwhile(self.cite(row.path))
        return current

    def _checked(self, change: NoteChange) -> NoteChange:
        return NoteChange(
            title=None if change.title is None else checked_title(change.title),
            content=None if change.content is None else clean(change.content),
            append=None if change.append is None else clean(change.append),
            type=None if change.type is None else self.checked_type(change.type),
            tags=None if change.tags is None else checked_tags(change.tags),
            add_tags=wanted_tags(change.add_tags),
            remove_tags=wanted_tags(change.remove_tags),
        )

    def find_to_delete(self, name: str, *, purge: bool = False) -> Row:
        """The note that `delete` would take."""
        try:
            return self.find(name, by_title=False)
        except NotFoundError as error:
            if not purge or error.code != "note_not_found":
                raise
            return self._find_trashed(name, by_title=False)[1]

    def delete(self, name: str, *, purge: bool = False) -> NoteEntry:
        """Move a note to the trash, or with `purge` delete it for good (from the trash too). Never by title."""
        try:
            row = self.find(name, by_title=False)
        except NotFoundError as error:
            if not purge or error.code != "note_not_found":
                raise
            return self._purge(name)
        with self.cache.lock():
            self._load_same(row)
            place = files.move_to_trash(self.folder, row.path, self.trash, row.id)
            if purge:
                files.purge(place, self.trash)
            self.cache.remember(gone=row.path)
        return self.entry(row)

    def _purge(self, name: str) -> NoteEntry:
        with self.cache.lock():
            place, row = self._find_trashed(name, by_title=False)
            files.purge(place, self.trash)
        return self.entry(row)

    def trashed(self) -> list[tuple[Path, Row]]:
        """The notes in the trash, last deleted first, with the paths they had."""
        found = []
        for place, path in files.trashed(self.trash):
            with_status = files.read(place.parent, place.name)
            found.append((place, row_of(path, *with_status)))
        return found

    def _find_trashed(self, name: str, *, by_title: bool) -> tuple[Path, Row]:
        places: dict[str, tuple[Path, Row]] = {}
        for place, row in self.trashed():
            places.setdefault(f"{row.id}\0{row.path}", (place, row))
        row = note_lookup.find([row for _, row in places.values()], name, self.places, by_title=by_title)
        return places[f"{row.id}\0{row.path}"]

    def restore(self, name: str) -> Note:
        """Bring a note back from the trash, under its old path or, where that is taken, one like it."""
        known = self.snapshot().rows.values()
        with self.cache.lock():
            try:
                place, row = self._find_trashed(name, by_title=True)
            except NotFoundError as error:
                if error.code != "note_not_found":
                    raise
                hint = "its notes are listed by: ctx note list --trash"
                raise NotFoundError(f"there is no note {name!r} in the trash", code=error.code, hint=hint) from None
            if any(row.id == one.id for one in known):
                raise BusyError(f"a note {row.id} is there already", code="id_taken", hint="delete or rename it first")
            path, status = files.restore_from_trash(place, row.path, self.folder)
            files.forget_deletion(place, self.trash)
            loaded = Loaded(row._replace(path=path), files.read(self.folder, path)[0], status)
            self.cache.remember(row_of(path, loaded.data, status))
        return self.note(loaded)

    def list(self, wanted: NoteFilter, *, sort: Sort = "updated", limit: int = 0) -> NoteList:
        """The notes that are wanted, in order; `limit` 0 takes all."""
        found = self.snapshot()
        self.tell_problems(found)
        rows = list(wanted.of(found.rows.values()))
        return NoteList(len(rows), tuple(map(self.entry, ordered(rows, sort, limit))))

    def list_trash(self, wanted: NoteFilter, *, limit: int = 0) -> NoteList:
        """The notes in the trash, last deleted first."""
        rows = [row for _, row in self.trashed() if wanted.takes(row)]
        return NoteList(len(rows), tuple(map(self.entry, rows[: limit or None])))

    def tell_problems(self, found: Snapshot) -> None:
        """Put into `notices` what is wrong with files and folders."""
        for path, why in found.unreadable:
            self.tell_unreadable(path, why)
        for path, why in found.scan.unknown:
            self.tell_unreadable(path or ".", why)
        self.notices += sorted(self.entry(row).problem for row in found.rows.values() if row.problem)

    def tell_unreadable(self, path: str, why: str) -> None:
        """Put into `notices`, once, that a file or folder cannot be read."""
        self.failed = True
        text = f"{self.cite(path)} cannot be read: {why}"
        if text not in self.notices:
            self.notices.append(text)

    def checked_type(self, name: str) -> str:
        """A type that notes may have, or UsageError."""
        types = self.workspace.settings.texts("notes.types")
        if name in types:
            return name
        from difflib import get_close_matches

        near = get_close_matches(name, types, n=1)
        raise UsageError(
            f"there is no note type {name!r}",
            code="unknown_type",
            hint=f"did you mean {near[0]}?" if near else f"use one of: {', '.join(types)}",
        )


def _notes_folder(workspace: Workspace) -> Path:
    """The folder of the notes; DataError where a stranger's workspace would lead out of it."""
    setting = workspace.settings.values["notes.dir"]
    folder = workspace.root / str(setting.value)
    real = os.path.realpath(folder)
    own = os.path.realpath(workspace.root)
    if real == own or real.startswith(own + os.sep):
        return Path(os.path.abspath(folder))  # noqa: PTH100 - links stay as they are cited
    from ctxcli.settings import is_trusted

    if setting.origin in ("flag", setting.key.variable) or is_trusted(workspace.root):
        return folder
    raise DataError(
        f"the notes folder {folder} leads out of the workspace", code="notes_outside", hint="if you trust it: ctx trust"
    )


def note_files(workspace: Workspace) -> list[Path]:
    """The files of all notes that can be read, in order: what `--notes` lets answers be taken from."""
    notebook = Notebook(workspace)
    found = notebook.snapshot()
    unreadable = {path for path, _ in found.unreadable}
    return [notebook.folder / path for path in sorted(found.scan.files) if path not in unreadable]
