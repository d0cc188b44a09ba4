"""`ctx open N`: the source behind a number of the last answer, at its place."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ctxcli.cli.options import WorkspaceDir
from ctxcli.cli.output import emit_line
from ctxcli.model.errors import NotFoundError, ServiceError

_AT_LINE = {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "kak", "micro", "hx"}
_COLON = {"code", "codium", "cursor", "subl", "zed"}
_OWN_PROGRAM = {".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".html", ".htm"}


def open_source(
    number: Annotated[int, typer.Argument(min=1, metavar="N", help="The number of the source in the last answer.")],
    show: Annotated[bool, typer.Option("--print", help="Print the path and the place, and open nothing.")] = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Open source N of the last answer that was shown on a terminal: text in the editor, at its line."""
    from ctxcli.services import workspace as workspaces
    from ctxcli.storage.last_answer import recall

    found = workspaces.find(workspace)
    sources = recall(found.folder)
    if number > len(sources):
        known = f"the last answer had {len(sources)} sources" if sources else "no answer was shown on a terminal yet"
        raise NotFoundError(f"there is no source {number}", code="no_source", hint=known)
    source = sources[number - 1]
    path = found.root / str(source.get("doc", ""))
    if not path.is_file():
        raise NotFoundError(f"{path}: the file is gone", code="file_not_found", hint="bring the index up to date")
    if show or not _on_terminal():
        emit_line(f"{path}{_place(source)}")
        return
    _run(_command(path, source, found.settings.text("editor")))


def _place(source: dict[str, Any]) -> str:
    if source.get("line_start"):
        return f":{source['line_start']}"
    return f"#page={source['page']}" if source.get("page") else ""


def _on_terminal() -> bool:
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty())


def _command(path: Path, source: dict[str, Any], configured: str) -> list[str]:
    """The editor at the line, or the program that the system has for the file."""
    from ctxcli.cli.note_input import editor

    if path.suffix.lower() in _OWN_PROGRAM:
        if sys.platform == "darwin":
            return ["open", str(path)]
        return ["xdg-open", str(path)] if os.name != "nt" else ["cmd", "/c", "start", "", str(path)]
    words = [word for word in editor(configured) if word not in {"--wait", "-w"}]
    line = source.get("line_start")
    name = Path(words[0]).stem.lower()
    if isinstance(line, int) and name in _AT_LINE:
        return [*words, f"+{line}", str(path)]
    if isinstance(line, int) and name in _COLON:
        return [*words, *(["--goto"] if name in {"code", "codium", "cursor"} else []), f"{path}:{line}"]
    return [*words, str(path)]


def _run(command: list[str]) -> None:
    import subprocess

    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise ServiceError(
            f"{command[0]}: {(error.strerror or '').lower()}", code="cannot_open", hint="use --print, or set $EDITOR"
        ) from error
    if code:
        raise ServiceError(f"{command[0]} ended with code {code}", code="cannot_open", hint="use --print")
