"""Notes looked over: what cannot be read, what bears the same id, what only may be wrong; with proposals."""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from ctxcli.model.errors import CtxError
from ctxcli.model.note_reports import NoteCheck, NoteProblem
from ctxcli.parsing import front_matter, front_matter_mend
from ctxcli.parsing import notes as parsing
from ctxcli.parsing.note_times import read_time
from ctxcli.parsing.notes import NoteText, ParsedNote
from ctxcli.services.note_change import with_fields
from ctxcli.services.note_values import new_id
from ctxcli.services.notes import Loaded, Notebook
from ctxcli.storage import notes as files
from ctxcli.storage.files import identity, is_abandoned
from ctxcli.storage.notes_cache import Snapshot
from ctxcli.storage.notes_index import Row

Approve = Callable[[str], bool]
"""Asked with a diff whether it is to be written."""

_LONGEST_ID = 100
_CONFLICT = re.compile(r"(?:(?<=[\r\n])|\A)<{7} .*?[\r\n]={7}[\r\n].*?[\r\n]>{7} ", re.DOTALL)
"""What git writes around two versions that it could not merge."""


def check(notebook: Notebook, *, approve: Approve | None = None) -> NoteCheck:
    """Look every note over. `approve` says of each mend, shown as a diff, whether to make it; the old file is kept."""
    found = notebook.snapshot()
    problems = [
        *_unreadable(notebook, found),
        *_leftovers(notebook, found.scan.leftovers, approve),
        *_alike(notebook, found.rows),
    ]
    holders = _holders(found.rows.values())
    for row in sorted(found.rows.values()):
        if row.stamp or row.size:
            problems += _of_note(notebook, row, holders[row.id], approve)
    problems.sort(key=lambda one: (not one.serious, one.path, one.line or 0))
    return NoteCheck(len(found.rows), tuple(problems))


def _unreadable(notebook: Notebook, found: Snapshot) -> Iterator[NoteProblem]:
    for path, why in found.unreadable:
        yield NoteProblem(notebook.cite(path), None, "unreadable", f"it cannot be read: {why}")
    for folder, why in found.scan.unknown:
        yield NoteProblem(notebook.cite(folder or "."), None, "unreadable_folder", f"it cannot be looked into: {why}")
    for path, why in found.scan.odd:
        yield NoteProblem(notebook.cite(path), None, "no_file", f"{why}, so it is passed over", serious=False)


def _leftovers(notebook: Notebook, paths: Iterable[str], approve: Approve | None) -> Iterator[NoteProblem]:
    """Half-written files. One that is young may be another machine's, which is writing right now."""
    for path in paths:
        cited = notebook.cite(path)
        if not is_abandoned(notebook.folder / path):
            message = "being written right now, or left over from a write that was interrupted; look again in a minute"
            yield NoteProblem(cited, None, "leftover", message, serious=False)
            continue
        mend = f"delete {cited}"
        fixed = bool(approve and approve(mend))
        if fixed:
            with notebook.cache.lock():
                files.remove_leftovers(notebook.folder, [path])
            fixed = not os.path.lexists(notebook.folder / path)
        message = "left over from a write that was interrupted; it can be deleted"
        yield NoteProblem(cited, None, "leftover", message, serious=False, mend=mend, fixed=fixed)


def _alike(notebook: Notebook, rows: Mapping[str, Row]) -> Iterator[NoteProblem]:
    """Names that are one on some platforms."""
    names: dict[str, str] = {}
    for path in sorted(rows):
        alike = names.setdefault(identity(path).casefold(), path)
        if alike != path:
            message = f"its name is the same as that of {notebook.cite(alike)} on Windows and macOS"
            yield NoteProblem(notebook.cite(path), None, "same_name", message, serious=False)


def _holders(rows: Iterable[Row]) -> dict[str, str]:
    """For each id the path of the note that keeps it: the shortest, as a copy has the longer name."""
    return {row.id: row.path for row in sorted(rows, key=lambda row: (len(row.path), row.path), reverse=True)}


def _of_note(notebook: Notebook, row: Row, holder: str, approve: Approve | None) -> Iterator[NoteProblem]:
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
        problem = NoteProblem(path, parsed.problem.line, "broken_front_matter", parsed.problem.message)
        yield _proposed(notebook, loaded, text, front_matter_mend.mend(text.text), problem, approve)
    if holder != row.path or _is_odd(parsed.id):
        problem = _of_id(path, text.text, parsed, row.id, notebook.cite(holder) if holder != row.path else "")
        mended = None if parsed.problem else _with_new_id(text.text, parsed)
        yield _proposed(notebook, loaded, text, mended, problem, approve)
    if not parsed.problem and (marked := _CONFLICT.search(text.text, parsed.span.body)):
        line = len(front_matter.lines(text.text[: marked.start() + 1]))
        message = "two versions of the text stand here, as git left them"
        yield NoteProblem(path, line, "conflict_markers", message, serious=False)
    yield from _of_fields(path, text.text, parsed, notebook.workspace.settings.texts("notes.types"))


def _of_fields(path: str, text: str, parsed: ParsedNote, types: tuple[str, ...]) -> Iterator[NoteProblem]:
    """What only may be wrong with the values of keys."""
    for key in () if parsed.problem else parsed.unread:
        message = f"{key!r} holds no {'list of texts' if key == 'tags' else 'text'}, so nothing is taken from it"
        yield NoteProblem(path, _line_of(text, parsed, key), "unread_value", message, serious=False)
    if parsed.type not in types:
        message = f"the type {parsed.type!r} is none of: {', '.join(types)}"
        yield NoteProblem(path, _line_of(text, parsed, "type"), "unknown_type", message, serious=False)
    for key, value in (("created_at", parsed.created), ("updated_at", parsed.updated)):
        if value and read_time(value) is None:
            message = f"{value!r} is no date"
            yield NoteProblem(path, _line_of(text, parsed, key), "no_date", message, serious=False)


def _is_odd(note_id: str) -> bool:
    """Whether an id typed by hand can hardly be named on a command line."""
    return bool(note_id) and (
        note_id[0] in "-#" or len(note_id) > _LONGEST_ID or not note_id.isprintable() or note_id.isspace()
    )


def _of_id(path: str, text: str, parsed: ParsedNote, note_id: str, holder: str) -> NoteProblem:
    line = _line_of(text, parsed, "id")
    if holder:
        return NoteProblem(path, line, "same_id", f"its id {note_id} is that of {holder} too")
    shown = note_id if len(note_id) <= _LONGEST_ID else f"{note_id[:20]}… ({len(note_id)} characters)"
    message = f"its id {shown!r} can hardly be named on a command line; its path can"
    return NoteProblem(path, line, "odd_id", message, serious=False)


def _with_new_id(text: str, parsed: ParsedNote) -> str | None:
    try:
        return with_fields(text, parsed, {"id": new_id(datetime.now().astimezone())}, "")
    except CtxError:
        return None


def _line_of(text: str, parsed: ParsedNote, key: str) -> int | None:
    """The line of the file where a key stands."""
    block = text[parsed.span.block : parsed.span.block_end]
    for number, line in enumerate(front_matter.lines(block), 2):
        if line.lstrip("\"' ").startswith(key) and line.lstrip("\"' ")[len(key) :].lstrip("\"' ").startswith(":"):
            return number
    return None


def _proposed(
    notebook: Notebook,
    loaded: Loaded,
    text: NoteText,
    mended: str | None,
    problem: NoteProblem,
    approve: Approve | None,
) -> NoteProblem:
    """The problem with its mend, which is written if it is approved."""
    if mended is None or not text.exact:
        return problem
    diff = _diff(text.text, mended, problem.path)
    fixed = bool(approve and approve(diff))
    if fixed:
        _write(notebook, loaded, text.encode(mended))
    return replace(problem, mend=diff, fixed=fixed)


def _diff(old: str, new: str, path: str) -> str:
    before, after = ([line.rstrip("\r\n") for line in front_matter.lines(one)] for one in (old, new))
    return "\n".join(difflib.unified_diff(before, after, path, f"{path} (mended)", n=1, lineterm=""))


def _write(notebook: Notebook, loaded: Loaded, data: bytes) -> None:
    """Write a mended note; the file as it was is kept in the trash."""
    with notebook.cache.lock():
        notebook.keep(loaded.row.path, loaded.data, "mended")
        notebook.save(loaded, data)
