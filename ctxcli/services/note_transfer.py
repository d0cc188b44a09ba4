"""Notes imported from an Obsidian vault or any folder of Markdown, and exported to one.

Files are copied byte for byte, with their folders and the attachments that they link to. On export a link that
only ctx understands (by title or id) is written so that Obsidian finds the file as well.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from ctxcli.model.errors import NotFoundError, UsageError
from ctxcli.model.note_reports import Transferred, TransferReport, TransferState
from ctxcli.parsing import note_links
from ctxcli.parsing import notes as parsing
from ctxcli.services.note_links import Targets
from ctxcli.services.notes import Notebook
from ctxcli.storage import note_transfer as storage
from ctxcli.storage import notes as files
from ctxcli.storage.files import printable, reason
from ctxcli.storage.notes_index import Row


def import_folder(notebook: Notebook, folder: Path, *, dry_run: bool = False) -> TransferReport:
    """Copy the Markdown files below `folder` into the notes; nothing is overwritten."""
    if not folder.is_dir():
        raise NotFoundError(f"{folder} is no folder", code="path_not_found", hint="name a folder of Markdown files")
    real, own = Path(os.path.realpath(folder)), Path(os.path.realpath(notebook.folder))
    if real.is_relative_to(own):
        raise UsageError(f"{folder} lies in the notes folder", code="import_itself", hint="its notes are there already")
    ids = {row.id: row.path for row in notebook.snapshot().rows.values()}
    paths = storage.markdown_files(real, without=own)
    if dry_run:
        found = list(_imported(notebook, real, paths, ids, dry_run=True))
    else:
        with notebook.cache.lock():
            found = list(_imported(notebook, real, paths, ids, dry_run=False))
        notebook.snapshot()
    return TransferReport("import", folder.as_posix(), dry_run, tuple(found))


def _imported(
    notebook: Notebook, folder: Path, paths: list[str], ids: dict[str, str], *, dry_run: bool
) -> Iterator[Transferred]:
    attachments: dict[str, None] = {}
    for path in paths:
        try:
            data, _ = files.read(folder, path)
        except OSError as error:
            yield Transferred(printable(path), "", "failed", reason(error))
            continue
        text = parsing.decode(data).text
        parsed = parsing.parse(text, "")
        attachments |= dict.fromkeys(_attachments(folder, path, text, parsed.span.body))
        holder = ids.get(parsed.id) if parsed.id else None
        one = _copied(notebook, path, data, dry_run=dry_run, holder=holder)
        if one.state in ("new", "renamed") and parsed.id:
            ids[parsed.id] = one.target
        yield one
    for path in attachments:
        try:
            data, _ = files.read(folder, path)
        except OSError as error:
            yield Transferred(printable(path), "", "failed", reason(error))
            continue
        yield _copied(notebook, path, data, dry_run=dry_run, holder=None)


def _copied(notebook: Notebook, path: str, data: bytes, *, dry_run: bool, holder: str | None) -> Transferred:
    target, there = storage.free_name(notebook.folder, path, data)
    source = printable(path)
    if there:
        return Transferred(source, notebook.cite(target), "same")
    if holder:
        return Transferred(source, "", "conflict", f"{notebook.cite(holder)} has the same id")
    if not target:
        return Transferred(source, "", "conflict", "no free name was found")
    if not dry_run:
        target = storage.put(notebook.folder, path, data)
    renamed = target != path
    state: TransferState = "renamed" if renamed else "new"
    return Transferred(source, notebook.cite(target), state, "another file has that name" if renamed else "")


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
