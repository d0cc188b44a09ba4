"""`ctx note`: the commands as Typer reads them; what they do stands in `note_commands`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ctxcli.cli import note_commands
from ctxcli.cli.app import Lazy, LazyGroup
from ctxcli.cli.options import AsJson, DryRun, Quiet, WorkspaceDir, Yes
from ctxcli.cli.output import end, user_errors
from ctxcli.services.notes import NoteChange

_MODULE = "ctxcli.cli.notes"
_COMMANDS = {
    "create": "Make a note; prints its id.",
    "show": "Print a note.",
    "edit": "Edit a note in $VISUAL or $EDITOR.",
    "open": "Open a note in the program for such files.",
    "update": "Change what is named in a note, and nothing else.",
    "search": "Find notes: title before tags before text.",
    "list": "List notes, newest first.",
    "summary": "All notes at a glance.",
    "delete": "Move a note to the trash.",
    "restore": "Bring a note back from the trash.",
    "links": "Links, backlinks, broken links and orphans.",
    "import": "Take in an Obsidian vault or a folder of Markdown.",
    "export": "Write a folder that Obsidian opens.",
    "check": "Find notes that cannot be read, and propose mends.",
}


class NoteGroup(LazyGroup):
    """The group of `ctx note`; each command is built only when it is called."""

    lazy: Mapping[str, Lazy] = {name: Lazy(_MODULE, f"{name}_", line) for name, line in _COMMANDS.items()}


app = typer.Typer(
    cls=NoteGroup, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Make, find and keep notes."
)


@app.callback()
def _root() -> None:
    """Make, find and keep notes."""


Name = Annotated[str, typer.Argument(metavar="ID", help="An id, the beginning of one, a path, or a title.")]
StrictName = Annotated[str, typer.Argument(metavar="ID", help="An id, the beginning of one, or a path.")]
Source = Annotated[str | None, typer.Argument(metavar="[-]", help="- reads the content from standard input.")]
Content = Annotated[str | None, typer.Option("--content", metavar="TEXT", help="The content; - for standard input.")]
File = Annotated[str | None, typer.Option("--file", metavar="FILE", help="A file with the content; - for stdin.")]
Type = Annotated[
    str | None, typer.Option("--type", "-t", metavar="TYPE", help="The type; see the setting notes.types.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; repeatable.")]
AnyTag = Annotated[bool, typer.Option("--any", help="Notes with any of the tags, not all.")]
Since = Annotated[str | None, typer.Option(metavar="DATE", help='Changed since: 2026-11-01, "7 days", yesterday.')]
Until = Annotated[str | None, typer.Option(metavar="DATE", help="Changed until; a date counts whole.")]
FailEmpty = Annotated[bool, typer.Option("--fail-empty", help="Exit code 4 where nothing is found.")]


def _text(directory: Path | None) -> str | None:
    return str(directory) if directory else None


def create_(
    title: Annotated[str, typer.Argument(help="The title.")],
    source: Source = None,
    content: Content = None,
    file: File = None,
    kind: Type = None,
    tags: Tags = None,
    edit: Annotated[bool, typer.Option("--edit", help="Write the content in $VISUAL or $EDITOR.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Make a note; prints its id alone. Makes a workspace in the current folder where there is none."""
    with user_errors(as_json=as_json):
        end(note_commands.create(title, source, content=content, file=file, kind=kind, tags=tags or (), edit=edit,
                                 as_json=as_json, quiet=quiet, directory=_text(directory)))  # fmt: skip


def show_(
    name: Name,
    raw: Annotated[bool, typer.Option("--raw", help="The bytes of the file, as they are.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Print a note."""
    with user_errors(as_json=as_json):
        end(note_commands.show(name, raw=raw, as_json=as_json, quiet=quiet, directory=_text(directory)))


def edit_(name: Name, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Edit a note in $VISUAL or $EDITOR. Exit code 6 where its file was changed by somebody else meanwhile."""
    with user_errors(as_json=as_json):
        end(note_commands.edit(name, as_json=as_json, quiet=quiet, directory=_text(directory)))


def open_(name: Name, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Open a note's file in the program that the system opens Markdown with."""
    with user_errors(as_json=as_json):
        end(note_commands.open_(name, as_json=as_json, quiet=quiet, directory=_text(directory)))


def update_(
    name: Name,
    source: Source = None,
    title: Annotated[str | None, typer.Option(help="A new title; the file keeps its name.")] = None,
    content: Content = None,
    file: File = None,
    append: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Text for the end of the note; - for standard input.")
    ] = None,
    kind: Type = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="In place of all tags.")] = None,
    add_tags: Annotated[list[str] | None, typer.Option("--add-tag", metavar="TAG", help="A tag more.")] = None,
    remove_tags: Annotated[list[str] | None, typer.Option("--remove-tag", metavar="TAG", help="A tag less.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Change what is named; all other bytes of the file stay. `--tag ''` removes all tags."""
    with user_errors(as_json=as_json):
        change = NoteChange(
            title=title, content=content, append=append, type=kind, tags=tuple(tags) if tags else None,
            add_tags=tuple(add_tags or ()), remove_tags=tuple(remove_tags or ()),
        )  # fmt: skip
        end(note_commands.update(name, change, source=source, file=file,
                                 as_json=as_json, quiet=quiet, directory=_text(directory)))  # fmt: skip


def search_(
    query: Annotated[str, typer.Argument(help='Words, or "a phrase"; - reads them from standard input.')],
    kind: Type = None,
    tags: Tags = None,
    any_tag: AnyTag = False,
    since: Since = None,
    until: Until = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Notes at most; 0 for all.")] = 10,
    fail_empty: FailEmpty = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Find notes, best first: words in titles count more than in tags, those more than in the text."""
    with user_errors(as_json=as_json):
        end(note_commands.search(query, kind=kind, tags=tags or (), any_tag=any_tag, since=since, until=until,
                                 limit=limit, fail_empty=fail_empty, as_json=as_json, quiet=quiet,
                                 directory=_text(directory)))  # fmt: skip


def list_(
    kind: Type = None,
    tags: Tags = None,
    any_tag: AnyTag = False,
    since: Since = None,
    until: Until = None,
    sort: Annotated[str, typer.Option(metavar="updated|created|title", help="The order.")] = "updated",
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="Notes at most; 0 for all; else 100, on a terminal 20.")
    ] = None,
    trash: Annotated[bool, typer.Option("--trash", help="The deleted notes that can be restored.")] = False,
    fail_empty: FailEmpty = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """List notes, newest first; the last line says how many of all."""
    with user_errors(as_json=as_json):
        end(note_commands.list(kind=kind, tags=tags or (), any_tag=any_tag, since=since, until=until, sort=sort,
                               limit=limit, trash=trash, fail_empty=fail_empty, as_json=as_json, quiet=quiet,
                               directory=_text(directory)))  # fmt: skip


def summary_(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Counts by type and tag, the latest notes, open blockers and actions, notes a week.

    A blocker or action is closed by `status: done` (closed, resolved …), `done: true` or a tag of that name.
    """
    with user_errors(as_json=as_json):
        end(note_commands.summary(as_json=as_json, quiet=quiet, directory=_text(directory)))


def delete_(
    name: StrictName,
    yes: Yes = False,
    purge: Annotated[bool, typer.Option("--purge", help="For good; takes a note in the trash too.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Move a note to the trash; `ctx note restore` brings it back. Asks on a terminal, needs --yes elsewhere."""
    with user_errors(as_json=as_json):
        end(note_commands.delete(name, yes=yes, purge=purge, as_json=as_json, quiet=quiet, directory=_text(directory)))


def restore_(name: Name, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Bring a note back from the trash. Nothing is overwritten: where its place is taken it gets a like name."""
    with user_errors(as_json=as_json):
        end(note_commands.restore(name, as_json=as_json, quiet=quiet, directory=_text(directory)))


def links_(
    name: Annotated[str | None, typer.Argument(metavar="ID", help="A note; else all are looked over.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Links of a note and to it; without ID the broken links and the notes that nothing links to."""
    with user_errors(as_json=as_json):
        end(note_commands.links(name, as_json=as_json, quiet=quiet, directory=_text(directory)))


def import_(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="An Obsidian vault or a folder of Markdown.")],
    dry_run: DryRun = False,
    update: Annotated[
        bool, typer.Option("--update", help="Take in files that have changed since they were imported.")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Copy notes in, byte for byte, with the attachments they link to. Nothing is overwritten, unless
    --update says so: then what has changed since it was imported is taken in, and the old text kept in the trash.

    On a terminal what would be done is shown first and asked for. Exit code 7 where a file was not taken.
    """
    with user_errors(as_json=as_json):
        end(note_commands.transfer("import", folder, dry_run=dry_run, update=update, yes=yes, as_json=as_json,
                                   quiet=quiet, directory=_text(directory)))  # fmt: skip


def export_(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new folder, or one exported to before.")],
    dry_run: DryRun = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Copy the notes and their attachments to a folder that Obsidian opens as a vault. Nothing is overwritten."""
    with user_errors(as_json=as_json):
        end(note_commands.transfer("export", folder, dry_run=dry_run, as_json=as_json, quiet=quiet,
                                   directory=_text(directory)))  # fmt: skip


def check_(
    fix: Annotated[bool, typer.Option("--fix", help="Propose mends; asks on a terminal, --yes makes them.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Find notes whose front matter cannot be read, with file and line; double ids; what may be wrong. Exit code 4."""
    with user_errors(as_json=as_json):
        end(note_commands.check(fix=fix, yes=yes, as_json=as_json, quiet=quiet, directory=_text(directory)))
