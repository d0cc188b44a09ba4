"""What each command of `ctx note` does, whether Typer read its arguments or not; each returns the exit code."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.cli import note_input
from ctxcli.cli.output import confirm, emit_json, emit_line, is_terminal, notice, warn
from ctxcli.model.errors import BusyError, ExitCode, UsageError
from ctxcli.services import workspace as workspaces
from ctxcli.services.note_filter import NoteFilter, bound
from ctxcli.services.note_values import wanted_tags
from ctxcli.services.notes import Notebook, NoteChange

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen
    from ctxcli.model.note import Note, NoteList

_SHOWN_WARNINGS = 5
_LISTED_ON_TERMINAL, _LISTED = 20, 100


@contextmanager
def _notebook(directory: str | None, *, quiet: bool, make: bool = False, imagine: bool = False) -> Iterator[Notebook]:
    """The notebook of the workspace; what it has to say beside its results is said at the end.

    Where there is no workspace, `make` makes one, and `imagine` goes on as if there were one.
    """
    place = Path(directory) if directory else None
    if imagine:
        workspace = workspaces.find_or_imagine(place)
    elif make:
        workspace, made = workspaces.find_or_make(place)
        if made:
            notice(f"made a workspace in {workspace.root}", quiet=quiet)
    else:
        workspace = workspaces.find(place)
    notebook = Notebook(workspace)
    try:
        yield notebook
    finally:
        for text in notebook.notices[:_SHOWN_WARNINGS]:
            warn(text, quiet=quiet)
        if (more := len(notebook.notices) - _SHOWN_WARNINGS) > 0:
            warn(f"and {more} more; see: ctx note check", quiet=quiet)


def _screen() -> "Screen":
    from ctxcli.cli.screen import Screen

    return Screen(sys.stdout)


def create(
    title: str,
    source: str | None = None,
    *,
    content: str | None = None,
    file: str | None = None,
    kind: str | None = None,
    tags: Sequence[str] = (),
    edit: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Make a note and print its id."""
    given = note_input.given_text(content=content, file=file, source=source)
    text = given or ""
    with _notebook(directory, quiet=quiet, make=True) as notebook:
        if kind is not None:
            notebook.checked_type(kind)
        if edit:
            command = note_input.editor(notebook.workspace.settings.text("editor"))
            data, path = note_input.edited(command, text.encode("utf-8"), "note.md")
            text = note_input.decoded(data)
            note_input.forget(path)
        note = notebook.create(title, text, type=kind, tags=tags)
        if as_json:
            emit_json(note.document())
        else:
            emit_line(note.entry.id)
        if given is None and not edit:
            _tell_unread_text("title", quiet=quiet)
    return ExitCode.OK


def _tell_unread_text(name: str, *, quiet: bool) -> None:
    if note_input.holds_unread_text():
        notice(f"standard input was not read; to take text from it, put - behind the {name}", quiet=quiet)


def show(
    name: str, *, raw: bool = False, as_json: bool = False, quiet: bool = False, directory: str | None = None
) -> ExitCode:
    """Print a note."""
    with _notebook(directory, quiet=quiet) as notebook:
        loaded = notebook.load(notebook.find(name))
        note = notebook.note(loaded)
        if note.entry.problem:
            notebook.notices.append(note.entry.problem)
        if as_json:
            emit_json(note.document())
        elif raw:
            sys.stdout.flush()
            sys.stdout.buffer.write(loaded.data)
        else:
            from ctxcli.cli import note_views

            note_views.note(note, _screen())
    return ExitCode.OK


def wanted(
    notebook: Notebook, kind: str | None, tags: Sequence[str], any_tag: bool, since: str | None, until: str | None
) -> NoteFilter:
    """The filter that options describe."""
    if kind is None and since is None and until is None and not tags:
        return NoteFilter()
    return NoteFilter(
        None if kind is None else notebook.checked_type(kind),
        wanted_tags(tags),
        any_tag,
        bound(since, "--since"),
        bound(until, "--until"),
    )


def list(
    *,
    kind: str | None = None,
    tags: Sequence[str] = (),
    any_tag: bool = False,
    since: str | None = None,
    until: str | None = None,
    sort: Any = "updated",
    limit: int | None = None,
    trash: bool = False,
    fail_empty: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Print the notes that are wanted."""
    if sort not in ("updated", "created", "title"):
        raise UsageError(f"--sort {sort}: no such order", hint="use updated, created or title")
    most = limit if limit is not None else _LISTED_ON_TERMINAL if is_terminal(sys.stdout) and not as_json else _LISTED
    with _notebook(directory, quiet=quiet) as notebook:
        taken = wanted(notebook, kind, tags, any_tag, since, until)
        found = notebook.list_trash(taken, limit=most) if trash else notebook.list(taken, sort=sort, limit=most)
        _show_list(found, as_json=as_json, searched=False)
        return _code(notebook, found.total, fail_empty=fail_empty)


def _show_list(found: "NoteList", *, as_json: bool, searched: bool) -> None:
    if as_json:
        emit_json(found.document())
    else:
        from ctxcli.cli import note_views

        (note_views.hits if searched else note_views.notes)(found, _screen())


def _code(notebook: Notebook, total: int = 1, *, fail_empty: bool = False) -> ExitCode:
    """The exit code of a command that read many notes."""
    if notebook.failed:
        return ExitCode.PARTIAL
    return ExitCode.DECLINED if fail_empty and not total else ExitCode.OK


def search(
    query: str,
    *,
    kind: str | None = None,
    tags: Sequence[str] = (),
    any_tag: bool = False,
    since: str | None = None,
    until: str | None = None,
    limit: int = 10,
    fail_empty: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Print the notes that hold words of a query."""
    with _notebook(directory, quiet=quiet) as notebook:
        from ctxcli.services import note_search

        text = note_input.read_stdin() if query == "-" else query
        taken = wanted(notebook, kind, tags, any_tag, since, until)
        found = note_search.search(notebook, text, taken, limit=limit)
        _show_list(found, as_json=as_json, searched=True)
        return _code(notebook, found.total, fail_empty=fail_empty)


def summary(*, as_json: bool = False, quiet: bool = False, directory: str | None = None) -> ExitCode:
    """Print all notes at a glance."""
    with _notebook(directory, quiet=quiet) as notebook:
        from ctxcli.services import note_summary

        found = note_summary.summary(notebook)
        if as_json:
            emit_json(found.document())
        else:
            from ctxcli.cli import note_views

            note_views.summary(found, _screen(), chart=is_terminal(sys.stdout))
        return _code(notebook)


def update(
    name: str,
    change: NoteChange,
    *,
    source: str | None = None,
    file: str | None = None,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Change what is named in a note. What is read from standard input replaces only what was there before."""
    with _notebook(directory, quiet=quiet) as notebook:
        since = None
        if "-" in (source, file, change.content) and change.append is None:
            since = notebook.load(notebook.find(name))
        text = note_input.given_text(content=change.content, file=file, source=source)
        append = note_input.read_stdin() if change.append == "-" else change.append
        note = notebook.update(name, change._replace(content=text, append=append), since=since)
        _say(note, "updated", as_json=as_json, quiet=quiet)
        if text is None and append is None:
            _tell_unread_text("id", quiet=quiet)
    return ExitCode.OK


def _say(note: "Note", done: str, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        emit_json(note.document())
    else:
        notice(f"{done} {note.entry.path} ({note.entry.id})", quiet=quiet)


def edit(name: str, *, as_json: bool = False, quiet: bool = False, directory: str | None = None) -> ExitCode:
    """Edit a note in the editor; refused where the file was changed by somebody else meanwhile."""
    with _notebook(directory, quiet=quiet) as notebook:
        before = notebook.load(notebook.find(name))
        command = note_input.editor(notebook.workspace.settings.text("editor"))
        data, path = note_input.edited(command, before.data, Path(before.row.path).name)
        if data == before.data:
            note_input.forget(path)
            _say(notebook.note(before), "unchanged:", as_json=as_json, quiet=quiet)
            return ExitCode.OK
        from ctxcli.services.note_change import touched

        try:
            with notebook.cache.lock():
                note = notebook.save(before, touched(data, before.data))
        except BusyError as error:
            raise BusyError(error.message, code=error.code, hint=f"what you wrote is kept in {path}") from None
        note_input.forget(path)
        if note.entry.problem:
            notebook.notices.append(note.entry.problem)
        _say(note, "updated", as_json=as_json, quiet=quiet)
    return ExitCode.OK


def open_(name: str, *, as_json: bool = False, quiet: bool = False, directory: str | None = None) -> ExitCode:
    """Open a note's file in the program that the system opens such files with."""
    with _notebook(directory, quiet=quiet) as notebook:
        row = notebook.find(name)
        path = notebook.folder / row.path
        if not note_input.on_terminal():
            raise UsageError("there is no terminal", code="no_terminal", hint=f"the file is {path}")
        note_input.open_file(path)
        if as_json:
            emit_json(notebook.read(row.path if row.path.count("/") else f"{notebook.folder}/{row.path}").document())
        else:
            notice(f"opened {notebook.cite(row.path)}", quiet=quiet)
    return ExitCode.OK


def delete(
    name: str,
    *,
    yes: bool = False,
    purge: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Move a note to the trash, or delete it for good."""
    with _notebook(directory, quiet=quiet) as notebook:
        if not yes:
            row = notebook.find_to_delete(name, purge=purge)
            confirm(f"delete {notebook.cite(row.path)} ({row.title})" + (" for good?" if purge else "?"), yes=False)
        entry = notebook.delete(name, purge=purge)
        if as_json:
            from ctxcli.services.note_tool import deletion

            emit_json(deletion(entry.fields(), purged=purge))
        else:
            way_back = "" if purge else f"; bring it back with: ctx note restore {entry.id}"
            notice(f"deleted {entry.path}{way_back}", quiet=quiet)
    return ExitCode.OK


def restore(name: str, *, as_json: bool = False, quiet: bool = False, directory: str | None = None) -> ExitCode:
    """Bring a note back from the trash."""
    with _notebook(directory, quiet=quiet) as notebook:
        _say(notebook.restore(name), "restored", as_json=as_json, quiet=quiet)
    return ExitCode.OK


def links(
    name: str | None = None, *, as_json: bool = False, quiet: bool = False, directory: str | None = None
) -> ExitCode:
    """Print the links of a note, or those of all that are broken, and the orphans."""
    with _notebook(directory, quiet=quiet) as notebook:
        from ctxcli.services import note_links

        found = note_links.links(notebook, name)
        if as_json:
            emit_json(found.document())
        else:
            from ctxcli.cli import note_views

            note_views.links(found, _screen())
    return ExitCode.OK


def transfer(
    action: str,
    name: str,
    *,
    dry_run: bool = False,
    update: bool = False,
    yes: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Import or export; an import on a terminal first shows what it would do, and asks."""
    from functools import partial

    is_import = action == "import"
    with _notebook(directory, quiet=quiet, make=is_import, imagine=is_import and dry_run) as notebook:
        from ctxcli.cli import note_views
        from ctxcli.services import note_transfer

        folder = note_transfer.named_folder(name)
        act = partial(note_transfer.import_folder, update=update) if is_import else note_transfer.export_folder
        if is_import and not (dry_run or yes or as_json) and sys.stdin and sys.stdin.isatty():
            plan = act(notebook, folder, dry_run=True)
            note_views.transfer(plan, _screen())
            confirm(f"import {plan.written} files?", yes=not plan.written)
        report = act(notebook, folder, dry_run=dry_run)
        if as_json:
            emit_json(report.document())
        else:
            note_views.transfer(report, _screen())
        return ExitCode.PARTIAL if report.count("failed", "conflict", "changed") else ExitCode.OK


def check(
    *,
    fix: bool = False,
    yes: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    directory: str | None = None,
) -> ExitCode:
    """Print what is wrong with notes; with `fix` propose mends, and make them where they are approved."""
    with _notebook(directory, quiet=quiet) as notebook:
        from ctxcli.services import note_check

        def approve(diff: str) -> bool:
            if yes or as_json or not note_input.on_terminal():
                return yes
            notice(diff)
            try:
                confirm("mend it so?", yes=False)
            except UsageError:
                return False
            return True

        found = note_check.check(notebook, approve=approve if fix else None)
        if as_json:
            emit_json(found.document())
        else:
            from ctxcli.cli import note_views

            note_views.check(found, _screen(), mends=fix)
        return ExitCode.OK if found.ok else ExitCode.DECLINED
