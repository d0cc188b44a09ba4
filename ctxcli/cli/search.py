"""`ctx kb search`: the passages nearest to a query."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctxcli.cli.options import AsJson, Fusion, Kbs, Mode, Notes, Quiet, Rerank, WorkspaceDir, checked_way, given
from ctxcli.cli.output import emit_json, end, notice, visible
from ctxcli.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ctxcli.model.answer import Hits


def search(
    query: Annotated[str, typer.Argument(help="What to look for; - reads it from stdin.")],
    kb: Kbs = None,
    notes: Notes = None,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many hits at most.")] = 10,
    mode: Mode = None,
    fusion: Fusion = None,
    rerank: Rerank = None,
    section: Annotated[
        str | None,
        typer.Option(metavar="TEXT", parser=given, help="Only this section number and those below it, as 6.3."),
    ] = None,
    doc: Annotated[
        str | None, typer.Option(metavar="GLOB", parser=given, help="Only documents that fit (as in .gitignore).")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the terms and what each hit has of them.")] = False,
    fail_empty: Annotated[bool, typer.Option("--fail-empty", help="Exit with 4 where there is no hit.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Find the passages nearest to QUERY, best first."""
    from ctxcli.services.answering import Filters
    from ctxcli.services.asking import Asking, Way

    checked_way(mode, fusion)
    query = sys.stdin.read() if query == "-" else query
    if not query.strip():
        raise UsageError("the query is empty", hint='look for something: ctx kb search "…"')
    asking = Asking.of(workspace=workspace, kb=kb or (), notes=notes, way=Way(mode, fusion, rerank))
    hits = asking.search(query, limit=top_k, filters=Filters(section or "", doc or ""))
    explained = asking.explain(query, hits) if explain else None
    if as_json:
        from ctxcli.model.documents import hits_document

        document = hits_document(hits)
        if explained is not None:
            document["explain"] = explained
        emit_json(document)
    else:
        _show(hits, explained)
        if not hits.passages:
            notice("no hits", quiet=quiet)
    if fail_empty and not hits.passages:
        end(ExitCode.DECLINED)


def _show(hits: "Hits", explained: "dict[str, object] | None") -> None:
    from ctxcli.cli.ask_view import place
    from ctxcli.cli.screen import Screen
    from ctxcli.text.question import language_of

    screen = Screen(sys.stdout)
    for rank, hit in enumerate(hits.passages, 1):
        screen.line(f"{rank:2}. {hit.score:.2f}  {place(hit, language_of(hits.query))}", style="bold", hang=10)
        for line in visible(hit.quote).splitlines():
            screen.line(f"          {line}")
    if explained:
        screen.line()
        terms: Any = explained["terms"]
        rows = [(one["term"], one["chunks"], one["weight"], " ".join(map(str, one["hits"]))) for one in terms]
        screen.table(("term", "chunks", "weight", "in hits"), rows)
