"""`ctx mcp`: the tools for agents, by the Model Context Protocol."""

from typing import Annotated

import typer

from ctxcli.cli.options import AllowWrite, AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import notice, user_errors
from ctxcli.model.errors import ServiceError
from ctxcli.model.extras import install


def mcp(
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve over HTTP on this machine, not on stdio.")
    ] = None,
    allow_write: AllowWrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Serve search, answers, documents, notes and facts to agents: over stdio, until the agent closes it."""
    with user_errors(as_json=as_json):
        from ctxcli.services.tools import Toolbox

        try:
            from ctxcli import mcp_server
        except ImportError as error:
            raise ServiceError(
                f"the Model Context Protocol is not installed ({error.name})",
                code="mcp_missing",
                hint=f"install it with: {install('mcp')}",
            ) from None
        box = Toolbox(workspace, allow_write=allow_write)
        if http is None:
            mcp_server.serve_stdio(box)
        else:
            mcp_server.serve_http(box, http, ready=lambda url: notice(f"serving on {url}", quiet=quiet))
