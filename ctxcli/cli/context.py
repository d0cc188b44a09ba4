"""`ctx context`: what a language model is to be told, within a budget."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AsJson, Kbs, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, emit_line, is_terminal, user_errors, visible, warn
from ctxcli.model.errors import UsageError

if TYPE_CHECKING:
    from ctxcli.model.context import Context, ContextPacket
    from ctxcli.model.message import Message

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
        bool | None, typer.Option("--notes/--no-notes", help="Notes, open blockers and actions first; else ask.notes.")
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
    """Build a context for QUERY from instructions, facts, notes, documents, a conversation and packets.

    It never has more tokens than the budget; instructions are never cut. Packets score 0.7 relevance + 0.3 recency.
    """
    with user_errors(as_json=as_json or format == "json"):
        from ctxcli.cli.tokens import tell_of_model
        from ctxcli.model.context import Format
        from ctxcli.packing.builder import ContextConfig
        from ctxcli.services import workspace as workspaces
        from ctxcli.services.context import ContextBuilder, Sources, read_clock, read_text

        formats: dict[str, Format] = {"text": "text", "messages": "messages", "json": "text"}
        if format not in formats:
            raise UsageError(f"--format {format}: no such format", hint="use text, messages or json")
        if history and session:
            raise UsageError("--history and --session do not go together", hint="leave one of them out")
        if [query, system, history, *(packet or [])].count("-") > 1:
            raise UsageError("only one thing can be read from standard input", hint="put the others into files")
        workspace = workspaces.find(directory)
        settings = workspace.settings
        config = ContextConfig(
            budget=budget if budget is not None else settings.integer("context.budget"),
            model=model or settings.text("llm.model") or None,
            format=formats[format],
            min_relevance=min_relevance,
        )
        sources = Sources(
            kb=None if no_kb else tuple(kb or ()),
            notes=settings.flag("ask.notes") if notes is None else notes,
            facts=facts,
            session=session,
        )
        builder = ContextBuilder(config, workspace=workspace, sources=sources)
        found = builder.build(
            query if query != "-" else sys.stdin.read(),
            system=read_text(system, _read(system)) if system else "",
            history=_messages(history),
            packets=_packets(packet or ()),
            now=read_clock(now) if now else None,
        )
        tell_of_model(config.model, found.encoding, quiet=quiet)
        for text in builder.notices[:20]:
            warn(text, quiet=quiet)
        _show(found, "json" if as_json else format, explain=explain)


def _read(path: str) -> bytes:
    from ctxcli.services.tokens import read_file

    return sys.stdin.buffer.read() if path == "-" else read_file(path)


def _messages(path: str | None) -> "tuple[Message, ...]":
    if not path:
        return ()
    from ctxcli.parsing.messages import read_messages

    return read_messages(_read(path), name=path)


def _packets(paths: "list[str] | tuple[()]") -> "list[ContextPacket]":
    if not paths:
        return []
    from ctxcli.packing.packets import read_packets

    return [one for path in paths for one in read_packets(_read(path), name=path)]


def _show(found: "Context", format: str, *, explain: bool) -> None:
    if format == "json":
        emit_json(found.document())
    elif format == "messages":
        emit_line(json.dumps(found.openai(), ensure_ascii=False))
    else:
        emit_line(visible(found.text) if is_terminal(sys.stdout) else found.text)
    if explain and format != "json":
        _explain(found, sys.stdout if format == "text" else sys.stderr)


def _explain(found: "Context", stream: "object") -> None:
    """What became of every packet: after the text, or on stderr beside messages."""
    from ctxcli.cli.screen import Screen

    screen = Screen(stream)  # type: ignore[arg-type]
    screen.line()
    screen.line(f"{found.tokens:,} of {found.budget:,} tokens ({found.encoding})")
    rows = [
        (one.state, one.type, one.tokens, _figure(one.relevance), _figure(one.recency), _figure(one.score), one.source,
         one.why)
        for one in found.packets
    ]  # fmt: skip
    screen.table(("state", "type", "tokens", "relevance", "recency", "score", "source", "why"), rows)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
