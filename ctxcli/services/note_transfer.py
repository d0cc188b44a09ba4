"""Notes imported from an Obsidian vault or any folder of Markdown, and exported to one.

Files are copied byte for byte, with their folders and the attachments that they link to. On export a link that
only ctx understands (by title or id) is written so that Obsidian finds the file as well.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.model.note_reports import Transferred, TransferReport, TransferState
from ctxcli.parsing import note_links
from ctxcli.parsing import notes as parsing
from ctxcli.services.note_links import Targets
from ctxcli.services.notes import Notebook
from ctxcli.storage import note_transfer as storage
from ctxcli.storage import notes as files
from ctxcli.storage.files import printable, reason, sha256
from ctxcli.storage.notes_index import Row


def named_folder(name: str) -> Path:
    """The folder of a name; UsageError for an empty one, which would be the current folder."""
    if not name.strip():
        raise UsageError("the folder has no name", code="empty_path", hint="name a folder; . is the current one")
    return Path(name)


def import_folder(notebook: Notebook, folder: Path, *, dry_run: bool = False, update: bool = False) -> TransferReport:
    """Copy the Markdown files below `folder` into the notes; nothing is overwritten.

    A file that was imported before and has changed is taken in with `update` only, and only if its copy has not
    changed too; the copy as it was is kept in the trash.
    """
    if not folder.is_dir():
        raise NotFoundError(f"{folder} is no folder", code="path_not_found", hint="name a folder of Markdown files")
    real, own = Path(os.path.realpath(folder)), Path(os.path.realpath(notebook.folder))
    if real.is_relative_to(own):
        raise UsageError(f"{folder} lies in the notes folder", code="import_itself", hint="its notes are there already")
    ids = {row.id: row.path for row in notebook.snapshot().rows.values()}
    if dry_run:
        found = list(_Import(notebook, real, own, ids, update, dry_run).run())
    else:
        with notebook.cache.lock():
            found = list(_Import(notebook, real, own, ids, update, dry_run).run())
        notebook.snapshot()
    return TransferReport("import", folder.as_posix(), dry_run, tuple(found))


@dataclass(slots=True)
class _Import:
    """An import that goes on: `ids` tells which note holds an id, by its path; the record what was imported before."""

    notebook: Notebook
    folder: Path
    own: Path
    ids: dict[str, str]
    update: bool
    dry_run: bool
    record: dict[str, storage.Imported] = field(default_factory=dict)

    def run(self) -> Iterator[Transferred]:
        """What becomes of each file: notes, attachments that they link to, what cannot be read, what is passed over."""
        home = self.notebook.workspace.folder
        self.record = storage.read_record(home) if home.is_dir() else {}
        before = dict(self.record)
        candidates = storage.markdown_files(self.folder, without=self.own)
        attachments: dict[str, None] = {}
        for path in candidates.paths:
            yield self._file(path, attachments)
        for path in attachments:
            yield self._file(path, None)
        for path, why in candidates.unknown:
            yield Transferred(printable(path or "."), "", "failed", why)
        for path, why in storage.passed_over(self.folder, {*candidates.paths, *attachments}, without=self.own):
            yield Transferred(printable(path), "", "skipped", why)
        if not self.dry_run and self.record != before:
            storage.write_record(home, self.record)

    def _file(self, path: str, attachments: dict[str, None] | None) -> Transferred:
        """One file; where it is a note its attachments are added to `attachments`, which is None for one of those."""
        try:
            data, _ = files.read(self.folder, path)
        except OSError as error:
            return Transferred(printable(path), "", "failed", reason(error))
        note_id = ""
        if attachments is not None:
            text = parsing.decode(data).text
            parsed = parsing.parse(text, "")
            note_id = parsed.id
            attachments |= dict.fromkeys(_attachments(self.folder, path, text, parsed.span.body))
        return self._again(path, data) or self._first(path, data, note_id)

    def _first(self, path: str, data: bytes, note_id: str) -> Transferred:
        """A file that was not imported before, as far as is known."""
        notebook, source = self.notebook, printable(path)
        target, there = storage.free_name(notebook.folder, path, data)
        holder = self.ids.get(note_id) if note_id else None
        if there:
            self._remember(path, target, data)
            return Transferred(source, notebook.cite(target), "same")
        if holder:
            return Transferred(source, "", "conflict", f"{notebook.cite(holder)} has the same id")
        if not target:
            return Transferred(source, "", "conflict", "no free name was found")
        if not self.dry_run:
            target = storage.put(notebook.folder, path, data)
        self._remember(path, target, data)
        if note_id:
            self.ids[note_id] = target
        renamed = target != path
        state: TransferState = "renamed" if renamed else "new"
        return Transferred(source, notebook.cite(target), state, "another file has that name" if renamed else "")

    def _again(self, path: str, data: bytes) -> Transferred | None:
        """A file that was imported before, and whose copy is still there; None for any other."""
        known = self.record.get(f"{self.folder}/{path}")
        if not known or not storage.is_regular(self.notebook.folder, known.target):
            return None
        copy, status = files.read(self.notebook.folder, known.target)
        source, target = printable(path), self.notebook.cite(known.target)
        if copy == data:
            return Transferred(source, target, "same")
        if sha256(data) == known.digest:
            return Transferred(source, target, "same", "its copy has changed since it was imported")
        if not self.update:
            hint = "to take it in: ctx note import --update"
            return Transferred(source, target, "changed", f"it has changed since it was imported; {hint}")
        if sha256(copy) != known.digest:
            return Transferred(source, target, "conflict", "both it and its copy have changed since it was imported")
        if not self.dry_run:
            self.notebook.keep(known.target, copy, "updated")
            files.replace(self.notebook.folder, known.target, data, seen=status)
        self._remember(path, known.target, data)
        return Transferred(source, target, "updated", "it has changed since it was imported")

    def _remember(self, path: str, target: str, data: bytes) -> None:
        self.record[f"{self.folder}/{path}"] = storage.Imported(target, sha256(data))


def _attachments(folder: Path, path: str, text: str, start: int) -> Iterator[str]:
    """The files that a note links to and that are no notes: beside it, or anywhere below `folder`."""
    for link in note_links.links(text, start):
        if storage.is_markdown(link.target) or not PurePosixPath(link.target).suffix:
            continue
        beside = os.path.normpath(f"{PurePosixPath(path).parent}/{link.target}").replace(os.sep, "/")
        for candidate in (beside, link.target.lstrip("/"), f"attachments/{link.target}", f"assets/{link.target}"):
            if storage.is_regular(folder, candidate):
                yield candidate
                break


def export_folder(notebook: Notebook, folder: Path, *, dry_run: bool = False) -> TransferReport:
    """Copy the notes into `folder`, which becomes a vault that Obsidian opens; nothing is overwritten."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder", code="not_a_folder", hint="name a new or an empty folder")
    real, own = Path(os.path.realpath(folder)), Path(os.path.realpath(notebook.folder))
    if real.is_relative_to(own) or own.is_relative_to(real / ".ctx"):
        raise UsageError(f"{folder} lies in the notes folder", code="export_itself", hint="name a folder outside of it")
    rows = notebook.snapshot().rows
    targets = Targets.of(notebook, rows.values())
    found = []
    attachments: dict[str, None] = {}
    for path in sorted(rows):
        try:
            data, _ = files.read(notebook.folder, path)
        except OSError as error:
            found.append(Transferred(notebook.cite(path), "", "failed", reason(error)))
            continue
        text = parsing.decode(data)
        start = parsing.parse(text.text, "").span.body
        attachments |= dict.fromkeys(_attachments(notebook.folder, path, text.text, start))
        changed = _for_obsidian(text.text, start, path, targets)
        found.append(_exported(notebook, real, path, text.encode(changed) if changed != text.text else data, dry_run))
    for path in attachments:
        found.append(_exported(notebook, real, path, files.read(notebook.folder, path)[0], dry_run))
    return TransferReport("export", folder.as_posix(), dry_run, tuple(found))


def _exported(notebook: Notebook, folder: Path, path: str, data: bytes, dry_run: bool) -> Transferred:
    place = folder / path
    source, target = notebook.cite(path), printable(path)
    if os.path.lexists(place):
        same = storage.free_name(folder, path, data) == (path, True)
        return Transferred(
            source, target if same else "", "same" if same else "conflict", "" if same else "another file is there"
        )
    if not dry_run:
        storage.put(folder, path, data)
    return Transferred(source, target, "new")


def _for_obsidian(text: str, start: int, path: str, targets: Targets) -> str:
    """The text with each wiki link that only a title or an id explains turned into one to the file."""
    for link in reversed(note_links.links(text, start)):
        rows: Iterable[Row] = targets.find(link, path)
        row = next(iter(rows), None)
        if link.kind == "markdown" or row is None:
            continue
        stem = PurePosixPath(row.path).stem
        called = PurePosixPath(link.target).name.removesuffix(".md")
        if called.casefold() != stem.casefold() and text[link.start : link.end].endswith("]]"):
            mark = "!" if link.kind == "embed" else ""
            heading = f"#{link.heading}" if link.heading else ""
            text = f"{text[: link.start]}{mark}[[{stem}{heading}|{link.text}]]{text[link.end :]}"
    return text
