"""What the further commands on notes report: links, imports, exports, checks."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ctxcli.model.note import NoteEntry

TransferState = Literal["new", "renamed", "updated", "same", "changed", "conflict", "failed", "skipped"]
"""What becomes of a file that is imported or exported.

new        it is written under its own path
renamed    another file has its path, so it is written under one like it
updated    it was imported before and has changed; the note takes its text, and the old one lies in the trash
same       there is nothing to do: the same bytes are there already
changed    it was imported before and has changed; it is not written unless updates are asked for
conflict   it is not written: another note has its id, another file its place, or both sides have changed
failed     it cannot be read or written
skipped    it is no note and no note links to it, or it is a link
"""


@dataclass(frozen=True, slots=True)
class LinkTo:
    """A link from a note: `note` is where it leads, None where it is broken or leads to an attachment."""

    source: NoteEntry
    line: int
    kind: str
    target: str
    heading: str
    text: str
    note: NoteEntry | None
    broken: bool
    others: int = 0

    def outgoing(self) -> dict[str, Any]:
        """The link as seen from its note."""
        found: dict[str, Any] = {"line": self.line, "kind": self.kind, "target": self.target, "heading": self.heading,
                                 "text": self.text, "id": None, "path": None, "title": None}  # fmt: skip
        if self.note:
            found.update(id=self.note.id, path=self.note.path, title=self.note.title)
        return {**found, "broken": self.broken, "ambiguous": self.others > 0}

    def incoming(self) -> dict[str, Any]:
        """The link as seen from the note that it leads to."""
        source = self.source
        return {"id": source.id, "path": source.path, "title": source.title, "line": self.line, "kind": self.kind}


@dataclass(frozen=True, slots=True)
class NoteLinks:
    """The links of one note (`note`), or of all (None); orphans are notes that no other note links to."""

    note: NoteEntry | None
    links: tuple[LinkTo, ...]
    backlinks: tuple[LinkTo, ...]
    broken: tuple[LinkTo, ...]
    orphans: tuple[NoteEntry, ...]

    def document(self) -> dict[str, Any]:
        """``ctx/note-links/1``."""
        broken = [{**one.incoming(), "target": one.target} for one in self.broken]
        if self.note:
            head = {"id": self.note.id, "title": self.note.title, "path": self.note.path}
            outgoing = [one.outgoing() for one in self.links]
            backlinks = [one.incoming() for one in self.backlinks]
            return {"schema": "ctx/note-links/1", **head, "links": outgoing, "backlinks": backlinks, "broken": broken}
        orphans = [{"id": one.id, "title": one.title, "path": one.path} for one in self.orphans]
        return {"schema": "ctx/note-links/1", "total": len(self.links), "broken": broken, "orphans": orphans}


@dataclass(frozen=True, slots=True)
class Transferred:
    """A file of an import or export: where it comes from, where it goes ("" where nowhere), and why."""

    source: str
    target: str
    state: TransferState
    message: str = ""


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What an import or export did, or with `dry_run` would do."""

    action: Literal["import", "export"]
    folder: str
    dry_run: bool
    files: tuple[Transferred, ...]

    def count(self, *states: TransferState) -> int:
        """How many files are in one of these states."""
        return sum(one.state in states for one in self.files)

    @property
    def written(self) -> int:
        """How many files were written, or would be."""
        return self.count("new", "renamed", "updated")

    @property
    def counts(self) -> dict[TransferState, int]:
        """How many files are in each state."""
        return {state: self.count(state) for state in get_args(TransferState)}

    def document(self) -> dict[str, Any]:
        """``ctx/note-import/1`` or ``ctx/note-export/1``."""
        files = [
            {"source": one.source, "target": one.target or None, "state": one.state, "message": one.message}
            for one in self.files
        ]
        head = {"schema": f"ctx/note-{self.action}/1", "folder": self.folder, "dry_run": self.dry_run}
        return {**head, "written": self.written, "counts": self.counts, "files": files}


@dataclass(frozen=True, slots=True)
class NoteProblem:
    """Something wrong with a note. `serious` is false for what only may be. `mend` is a proposal as a diff."""

    path: str
    line: int | None
    code: str
    message: str
    serious: bool = True
    mend: str = ""
    fixed: bool = False

    @property
    def place(self) -> str:
        """``path:line``."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class NoteCheck:
    """What `ctx note check` found."""

    notes: int
    problems: tuple[NoteProblem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing serious is left."""
        return all(one.fixed or not one.serious for one in self.problems)

    def document(self) -> dict[str, Any]:
        """``ctx/note-check/1``."""
        problems = [
            {"path": one.path, "line": one.line, "code": one.code, "message": one.message,
             "severity": "problem" if one.serious else "warning", "mend": one.mend or None, "fixed": one.fixed}
            for one in self.problems
        ]  # fmt: skip
        return {"schema": "ctx/note-check/1", "ok": self.ok, "notes": self.notes, "problems": problems}
