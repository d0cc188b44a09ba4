"""`ctx context` for Typer: help, completion and everything that is not plain."""

from typing import Annotated

import typer

from ctxcli.cli.context import run
from ctxcli.cli.context_arguments import ContextRequest
from ctxcli.cli.options import AsJson, Kbs, Quiet, WorkspaceDir
from ctxcli.cli.output import end
from ctxcli.model.errors import ExitCode

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Build the context of a language model within a budget.",
)


@app.callback()
def _group() -> None:
    """Build the context of a language model within a budget."""


@app.command()
def build(
    query: Annotated[str, typer.Argument(help="The task or question; - reads standard input.")],
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", help="Tokens it may have; else context.budget.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", metavar="FILE", help="Instructions, never cut; - for stdin.")
    ] = None,
    history: Annotated[
        str | None, typer.Option("--history", metavar="FILE", help="OpenAI-style messages; - for stdin.")
    ] = None,
    session: Annotated[str | None, typer.Option("--session", "-s", help="The session that goes on.")] = None,
    kb: Kbs = None,
    no_kb: Annotated[bool, typer.Option("--no-kb", help="No knowledge base.")] = False,
    notes: Annotated[
        bool | None,
        typer.Option("--notes/--no-notes", help="Notes, open blockers and actions first; else ask.notes."),
    ] = None,
    facts: Annotated[bool, typer.Option("--facts/--no-facts", help="Facts.")] = True,
    packet: Annotated[
        list[str] | None, typer.Option("--packet", metavar="FILE", help="Packets as JSON; - for stdin; repeatable.")
    ] = None,
    now: Annotated[str, typer.Option(metavar="TIME", help="The clock for recency; else now.")] = "",
    model: Annotated[str | None, typer.Option("--model", "-m", help="Count tokens as this model does.")] = None,
    min_relevance: Annotated[float, typer.Option(min=0, max=1, help="Drop packets below this relevance.")] = 0.1,
    format: Annotated[str, typer.Option(metavar="text|messages|json", help="Form of the output.")] = "text",
    explain: Annotated[bool, typer.Option("--explain", help="Show what became of every packet, and why.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Build a context for QUERY within a budget of tokens.

    It is put together from instructions, which are never cut, facts, notes, documents, a conversation and packets.
    Packets score 0.7 relevance + 0.3 recency.
    """
    request = ContextRequest(
        query, budget, system, history, session, tuple(kb or ()), no_kb, notes, facts, tuple(packet or ()), now,
        model, min_relevance, format, explain, as_json, quiet, str(directory) if directory else None,
    )  # fmt: skip
    end(ExitCode(run(request)))
