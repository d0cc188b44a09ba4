"""`ctx context`: what a language model is to be told, within a budget."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli.cli.context_arguments import FORMATS, ContextRequest
from ctxcli.cli.output import emit_json, emit_line, is_terminal, prepare_streams, user_errors, visible, warn
from ctxcli.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxcli.model.context import Context, ContextPacket
    from ctxcli.model.message import Message
    from ctxcli.packing.builder import ContextConfig
    from ctxcli.services.context import Sources
    from ctxcli.settings import Settings


def run(request: ContextRequest) -> int:
    """Do what was asked; returns the exit code, or raises SystemExit with that of an error."""
    prepare_streams()
    with user_errors(as_json=request.as_json or request.format == "json"):
        _run(request)
    return int(ExitCode.OK)


def _run(request: ContextRequest) -> None:
    from ctxcli.services import workspace as workspaces
    from ctxcli.services.context import ContextBuilder, read_clock, read_text

    _check_pairs(request)
    workspace = workspaces.find(Path(request.workspace) if request.workspace else None)
    config = _config(request, workspace.settings)
    builder = ContextBuilder(config, workspace=workspace, sources=_sources(request, workspace.settings))
    found = builder.build(
        request.query if request.query != "-" else sys.stdin.read(),
        system=read_text(request.system, _read(request.system)) if request.system else "",
        history=_messages(request.history),
        packets=_packets(request.packet),
        now=read_clock(request.now) if request.now else None,
    )
    if config.model:
        from ctxcli.cli.tokens import tell_of_model

        tell_of_model(config.model, quiet=request.quiet)
    for text in builder.notices[:20]:
        warn(text, quiet=request.quiet)
    _show(found, "json" if request.as_json else request.format, explain=request.explain)


def _check_pairs(request: ContextRequest) -> None:
    """UsageError where of two options one would be ignored, or a format is none."""
    if request.format not in FORMATS:
        raise UsageError(f"--format {request.format}: no such format", hint=f"use {', '.join(FORMATS)}")
    if request.history and request.session:
        raise UsageError("--history and --session do not go together", hint="leave one of them out")
    if request.no_kb and request.kb:
        raise UsageError("--kb and --no-kb do not go together", hint="leave one of them out")
    if [request.query, request.system, request.history, *request.packet].count("-") > 1:
        raise UsageError("only one thing can be read from standard input", hint="put the others into files")


def _config(request: ContextRequest, settings: "Settings") -> "ContextConfig":
    from ctxcli.packing.builder import ContextConfig
    from ctxcli.text.tokens import checked_model

    return ContextConfig(
        budget=request.budget if request.budget is not None else settings.integer("context.budget"),
        model=checked_model(request.model) or settings.text("llm.model") or None,
        format="messages" if request.format == "messages" else "text",
        min_relevance=request.min_relevance,
    )


def _sources(request: ContextRequest, settings: "Settings") -> "Sources":
    from ctxcli.services.context import Sources

    return Sources(
        kb=None if request.no_kb else request.kb,
        notes=settings.flag("ask.notes") if request.notes is None else request.notes,
        facts=request.facts,
        session=request.session,
    )


def _read(path: str) -> bytes:
    from ctxcli.services.tokens import read_file

    return sys.stdin.buffer.read() if path == "-" else read_file(path)


def _messages(path: str | None) -> "tuple[Message, ...]":
    if not path:
        return ()
    from ctxcli.parsing.messages import read_messages

    return read_messages(_read(path), name=path)


def _packets(paths: "Sequence[str]") -> "list[ContextPacket]":
    if not paths:
        return []
    from ctxcli.packing.packets import read_packets

    return [one for path in paths for one in read_packets(_read(path), name=path)]


def _show(found: "Context", format: str, *, explain: bool) -> None:
    if format == "json":
        emit_json(found.document())
    elif format == "messages":
        import json

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
    screen.table(
        ("state", "type", "tokens", "relevance", "recency", "score", "source", "why"),
        rows,
        spare=("recency", "relevance"),
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
