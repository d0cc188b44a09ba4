"""Notes looked over: what cannot be read, what bears the same id, what only may be wrong; with proposals."""

import difflib
import os
from collections.abc import Callable, Iterator
from datetime import datetime

from ctxcli.model.errors import CtxError
from ctxcli.model.note_reports import NoteCheck, NoteProblem
from ctxcli.parsing import front_matter_mend
from ctxcli.parsing import notes as parsing
from ctxcli.parsing.note_times import read_time
from ctxcli.services.notes import Loaded, Notebook
from ctxcli.storage import notes as files
from ctxcli.storage.files import identity, printable
from ctxcli.storage.notes_cache import Snapshot
from ctxcli.storage.notes_index import Row

Approve = Callable[[str], bool]
"""Asked with a diff whether it is to be written."""


def check(notebook: Notebook, *, approve: Approve | None = None) -> NoteCheck:
    """Look every note over. `approve` says of each mend, shown as a diff, whether to make it; the old file is kept."""
    found = notebook.snapshot()
    problems = [*_unreadable(notebook, found), *_doubles(notebook, found.rows)]
    for row in sorted(found.rows.values()):
        if row.stamp or row.size:
            problems += _of_note(notebook, row, approve)
    problems.sort(key=lambda one: (not one.serious, one.path, one.line or 0))
    return NoteCheck(len(found.rows), tuple(problems))


def _unreadable(notebook: Notebook, found: Snapshot) -> Iterator[NoteProblem]:
    for path, why in found.unreadable:
        yield NoteProblem(notebook.cite(path), None, "unreadable", f"it cannot be read: {why}")
    for folder, why in found.scan.unknown:
        yield NoteProblem(notebook.cite(folder or "."), None, "unreadable_folder", f"it cannot be looked into: {why}")
    for path, why in found.scan.odd:
        yield NoteProblem(notebook.cite(path), None, "no_file", f"{why}, so it is passed over", serious=False)
    for path in found.scan.leftovers:
        message = "left over from a write that was interrupted; delete it"
        yield NoteProblem(notebook.cite(path), None, "leftover", message, serious=False)


def _doubles(notebook: Notebook, rows: dict[str, Row]) -> Iterator[NoteProblem]:
    """Notes that bear one id, and names that are one on some platforms."""
    ids: dict[str, str] = {}
    names: dict[str, str] = {}
    for path in sorted(rows):
        first = ids.setdefault(rows[path].id, path)
        if first != path:
            message = f"its id {rows[path].id} is that of {notebook.cite(first)} too"
            yield NoteProblem(notebook.cite(path), None, "same_id", message)
        alike = names.setdefault(identity(path).casefold(), path)
        if alike != path:
            message = f"its name is the same as that of {notebook.cite(alike)} on Windows and macOS"
            yield NoteProblem(notebook.cite(path), None, "same_name", message, serious=False)


def _of_note(notebook: Notebook, row: Row, approve: Approve | None) -> Iterator[NoteProblem]:
    path = notebook.cite(row.path)
    try:
        loaded = notebook.load(row)
    except CtxError:
        return  # gone, or told already
    text = parsing.decode(loaded.data)
    parsed = parsing.parse(text.text, "")
    if not text.exact:
        yield NoteProblem(path, None, "unsure_encoding", f"read as {text.encoding}; save it as UTF-8", serious=False)
    if parsed.problem:
        yield _broken(notebook, loaded, text, parsed.problem.line, parsed.problem.message, approve)
    types = notebook.workspace.settings.texts("notes.types")
    if parsed.type not in types:
        message = f"the type {parsed.type!r} is none of: {', '.join(types)}"
        yield NoteProblem(path, _line_of(text.text, "type"), "unknown_type", message, serious=False)
    for key, value in (("created_at", parsed.created), ("updated_at", parsed.updated)):
        if value and read_time(value) is None:
            message = f"{value!r} is no date"
            yield NoteProblem(path, _line_of(text.text, key), "no_date", message, serious=False)


def _line_of(text: str, key: str) -> int | None:
    for number, line in enumerate(text.splitlines()[:200], 1):
        if line.startswith(f"{key}:"):
            return number
    return None


def _broken(
    notebook: Notebook, loaded: Loaded, text: parsing.NoteText, line: int, message: str, approve: Approve | None
) -> NoteProblem:
    path = notebook.cite(loaded.row.path)
    mended = front_matter_mend.mend(text.text) if text.exact else None
    if mended is None:
        return NoteProblem(path, line, "broken_front_matter", message)
    diff = _diff(text.text, mended, path)
    fixed = bool(approve and approve(diff))
    if fixed:
        _write(notebook, loaded, text.encode(mended))
    return NoteProblem(path, line, "broken_front_matter", message, mend=diff, fixed=fixed)


def _diff(old: str, new: str, path: str) -> str:
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), path, f"{path} (mended)", n=1, lineterm="")
    return "\n".join(lines)


def _write(notebook: Notebook, loaded: Loaded, data: bytes) -> None:
    """Write a mended note; the file as it was is kept in the trash."""
    moment = datetime.now().strftime("%Y%m%dT%H%M%S")
    below = f"mended-{moment}-{os.urandom(3).hex()}"
    with notebook.cache.lock():
        place = printable(loaded.row.path.rpartition("/")[2])
        files.create(notebook.trash, [f"{below}/{place}.before"], loaded.data, below=below)
        notebook.save(loaded, data)
