"""`ctx tokens`: count the tokens of texts and messages."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from ctxcli.cli.output import emit_line, end, notice, prepare_streams, user_errors, visible
from ctxcli.cli.token_arguments import TokenRequest
from ctxcli.model.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ctxcli.model.tokens import TokenCount


def run(request: TokenRequest) -> int:
    """Do what was asked; returns the exit code, or raises SystemExit with that of an error."""
    prepare_streams()
    with user_errors(as_json=request.as_json):
        _run(request)
    return int(ExitCode.OK)


def _run(request: TokenRequest) -> None:
    from ctxcli.services import tokens
    from ctxcli.text.tokens import checked_model

    files = request.files or ("-",)
    if not request.files and (sys.stdin is None or sys.stdin.isatty()):
        raise UsageError("there is no text to count", hint="name a file, or pipe a text: ctx tokens < FILE")
    found = tokens.count_files(
        files, _read_stdin, model=checked_model(request.model), messages=request.messages, estimated=request.estimate
    )
    tell_of_model(found.model, quiet=request.quiet)
    if request.estimate:
        notice("an estimate: 0.8 a Chinese, Japanese or Korean character, 0.3 any other", quiet=request.quiet)
    if request.as_json:
        import json

        emit_line(json.dumps(found.document(), ensure_ascii=False))
    else:
        emit_line(_table(found))


def tell_of_model(model: str | None, *, quiet: bool) -> None:
    """Say on stderr that a model is not known."""
    from ctxcli.text.tokens import encoding_of

    encoding, is_known = encoding_of(model)
    if not is_known:
        notice(f"the model {model!r} is not known: counted as {encoding}", quiet=quiet)


def _read_stdin() -> bytes:
    return sys.stdin.buffer.read() if sys.stdin else b""


def _table(found: "TokenCount") -> str:
    """The number; of several files one a line, and the total."""
    if len(found.files) == 1:
        return str(found.tokens)
    width = len(str(found.tokens))
    rows = [*((one.tokens, visible(one.path)) for one in found.files), (found.tokens, "total")]
    return "\n".join(f"{tokens:>{width}}  {name}" for tokens, name in rows)


def _typer_command() -> Any:
    """The same command for Typer: help, completion and everything that is not plain."""
    import typer

    from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir

    def tokens(
        files: Annotated[list[str] | None, typer.Argument(help="Files; - or none: standard input.")] = None,
        model: Annotated[str | None, typer.Option("--model", "-m", help="Model or encoding; else o200k_base.")] = None,
        messages: Annotated[
            bool, typer.Option("--messages", help="The files are lists of chat messages: count what frames them too.")
        ] = False,
        estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate, by the kind of characters.")] = False,
        as_json: AsJson = False,
        quiet: Quiet = False,
        workspace: WorkspaceDir = None,
    ) -> None:
        """Count the tokens of files, exactly and offline (o200k_base, cl100k_base)."""
        end(ExitCode(run(TokenRequest(tuple(files or ()), model, messages, estimate, as_json, quiet))))

    return tokens


def __getattr__(name: str) -> Any:
    if name == "tokens":
        return _typer_command()
    raise AttributeError(name)
