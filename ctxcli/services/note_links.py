"""Links between notes: where each leads, what leads here, what is broken, and which notes nothing leads to."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ctxcli.model.note_reports import LinkTo, NoteLinks
from ctxcli.parsing import note_links
from ctxcli.parsing import notes as parsing
from ctxcli.parsing.note_links import Link
from ctxcli.services.notes import Notebook
from ctxcli.storage import notes as files
from ctxcli.storage.files import identity, reason
from ctxcli.storage.notes_index import Row

_ENDINGS = (".md", ".markdown")


def links(notebook: Notebook, name: str | None = None) -> NoteLinks:
    """The links of one note with its backlinks; without a name those of all notes with the orphans."""
    found = notebook.snapshot()
    places = Targets.of(notebook, found.rows.values())
    everything = [link for row in found.rows.values() for link in _links_of(notebook, row, places)]
    everything.sort(key=lambda link: (link.source.path, link.line))
    if name is None:
        linked = {link.note.path for link in everything if link.note and link.note.path != link.source.path}
        orphans = [notebook.entry(row) for row in found.rows.values()]
        orphans = sorted((one for one in orphans if one.path not in linked), key=lambda one: one.path)
        broken = tuple(link for link in everything if link.broken)
        return NoteLinks(None, tuple(everything), (), broken, tuple(orphans))
    note = notebook.entry(notebook.find(name))
    outgoing = tuple(link for link in everything if link.source.path == note.path)
    backlinks = tuple(link for link in everything if link.note and link.note.path == note.path)
    return NoteLinks(note, outgoing, backlinks, tuple(link for link in outgoing if link.broken), ())


def _links_of(notebook: Notebook, row: Row, places: "Targets") -> Iterable[LinkTo]:
    text = read_text(notebook, row)
    span = parsing.parse(text, "").span
    source = notebook.entry(row)
    for link in note_links.links(text, span.body if span.closed else span.block):
        rows = places.find(link, row.path)
        best = notebook.entry(rows[0]) if rows else None
        broken = not rows and not places.is_attachment(link, row.path)
        yield LinkTo(
            source, link.line, link.kind, link.target, link.heading, link.text, best, broken, max(0, len(rows) - 1)
        )


def read_text(notebook: Notebook, row: Row) -> str:
    """The text of a note, "" where it cannot be read (which is noted)."""
    try:
        return parsing.decode(files.read(notebook.folder, row.path)[0]).text
    except OSError as error:
        notebook.tell_unreadable(row.path, reason(error))
        return ""


def _folded(name: str) -> str:
    return identity(name).casefold()


def _bare(path: str) -> str:
    return next((path[: -len(ending)] for ending in _ENDINGS if path.lower().endswith(ending)), path)


@dataclass(slots=True)
class Targets:
    """What a link may mean: notes by path, file name, title, alias or id; attachments by path or name."""

    paths: dict[str, list[Row]] = field(default_factory=dict)
    names: dict[str, list[Row]] = field(default_factory=dict)
    titles: dict[str, list[Row]] = field(default_factory=dict)
    attachments: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, notebook: Notebook, rows: Iterable[Row]) -> "Targets":
        """What the notes of a notebook are called."""
        found = cls(attachments=_attachments(str(notebook.folder)))
        for row in rows:
            bare = _bare(row.path)
            found.paths.setdefault(_folded(bare), []).append(row)
            found.names.setdefault(_folded(bare.rpartition("/")[2]), []).append(row)
            aliases = row.extra.get("aliases", row.extra.get("alias", ()))
            called = aliases if isinstance(aliases, list) else [aliases] if isinstance(aliases, str) else []
            for name in {row.title, row.id, *map(str, called)}:
                found.titles.setdefault(_folded(name), []).append(row)
        return found

    def find(self, link: Link, source: str) -> list[Row]:
        """The notes that a link may mean, the nearest first."""
        folder = PurePosixPath(source).parent
        bare = _folded(_bare(link.target))
        steps: list[tuple[Mapping[str, list[Row]], str]] = []
        relative = _normal(str(folder / link.target))
        if relative is not None:
            steps.append((self.paths, _folded(_bare(relative))))
        if not link.target.startswith("../"):
            steps.append((self.paths, bare.lstrip("/")))
        if "/" not in bare:
            steps += [(self.names, bare), (self.titles, _folded(link.target)), (self.titles, bare)]
        elif link.kind != "markdown":
            steps += [(self.names, bare.rpartition("/")[2]), (self.titles, _folded(link.target))]
        if link.kind != "markdown" and "/" not in bare:
            steps = [*steps[1:], *steps[:1]] if relative is not None and len(steps) > 1 else steps
        for table, key in steps:
            if table.get(key):
                return sorted(table[key], key=lambda row: _distance(row.path, str(folder)))
        return []

    def is_attachment(self, link: Link, source: str) -> bool:
        """Whether a link leads to a file that is there but is no note."""
        relative = _normal(str(PurePosixPath(source).parent / link.target))
        wanted = {_folded(link.target.lstrip("/")), _folded(relative or "")}
        name = _folded(link.target.rpartition("/")[2])
        return bool(wanted & self.attachments) or (link.kind != "markdown" and f"\0{name}" in self.attachments)


def _normal(path: str) -> str | None:
    """A path without ``.`` and ``..``; None where it leads out of the notes."""
    found = os.path.normpath(path.replace("\\", "/")).replace("\\", "/")
    return None if found.startswith("..") or found.startswith("/") else found


def _distance(path: str, folder: str) -> tuple[bool, int, str]:
    """Files in the same folder first, then those that lie least deep."""
    return str(PurePosixPath(path).parent) != folder, path.count("/"), path


def _attachments(folder: str) -> set[str]:
    """Files that are no notes: their paths, and ``\\0`` with their names."""
    found = set()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        relative = os.path.relpath(place, folder).replace(os.sep, "/")
        for name in names:
            if not name.startswith(".") and not name.lower().endswith(_ENDINGS):
                path = name if relative == "." else f"{relative}/{name}"
                found |= {_folded(path), f"\0{_folded(name)}"}
    return found
