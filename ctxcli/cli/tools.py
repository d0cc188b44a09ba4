"""`ctx tools` and `ctx schema`: what agents and programs need to know of ctx."""

import json
from typing import Annotated, Any

import typer

from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, emit_line, user_errors
from ctxcli.model.errors import UsageError


def tools(
    form: Annotated[str, typer.Option("--format", metavar="openai|anthropic|mcp", help="For which API.")] = "openai",
    read_only: Annotated[bool, typer.Option("--read-only", help="Leave out the tools that write.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Print the tools of agents with their JSON Schemas, as the list that an API takes; with --json as a document."""
    with user_errors(as_json=as_json):
        from ctxcli.services import tools as service

        chosen: Any = form
        if chosen not in service.FORMS:
            raise UsageError(f"--format {form}: no such format", hint=f"use {', '.join(service.FORMS)}")
        wanted = tuple(tool for tool in service.TOOLS if not (read_only and tool.writes))
        found = service.exported(chosen, wanted)
        if as_json:
            emit_json({"schema": "ctx/tools/1", "format": form, "tools": found})
        else:
            emit_line(json.dumps(found, ensure_ascii=False, indent=2))


def schema(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A document, as answer or ctx/answer/1.")] = "",
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Print the JSON Schema of a document, or without NAME the names of all."""
    with user_errors(as_json=as_json):
        from ctxcli.services import schemas

        if name:
            found = schemas.text(name)
            emit_json(json.loads(found)) if as_json else emit_line(found.rstrip())
        elif as_json:
            emit_json(schemas.listing())
        else:
            for row in schemas.listing()["schemas"]:
                emit_line(f"{row['name']:20} {row['title']}")
