"""`ctx verify`: are the citations of an answer still true?"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, end
from ctxcli.model.errors import DataError, ExitCode, NotFoundError

if TYPE_CHECKING:
    from ctxcli.cli.screen import Screen
    from ctxcli.model.stored import Place
    from ctxcli.model.verification import CheckedCitation, Verification
    from ctxcli.services.verification import Shelf


def verify(
    answer: Annotated[str, typer.Argument(help="The answer: JSON of `ctx ask`, its text, or Markdown; - for stdin.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
    workspace: WorkspaceDir = None,
) -> None:
    """Check each citation of ANSWER against the files as they are now; exit 4 unless all are right."""
    from ctxcli.services import verification

    found = verification.verify(_read(answer), _shelf(workspace))
    if as_json:
        emit_json(_document(found))
    elif not quiet:
        from ctxcli.cli.screen import Screen

        _show(found, Screen(sys.stdout))
    if not found.ok:
        end(ExitCode.DECLINED)


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise NotFoundError(f"{name}: {error.strerror}", code="file_not_found", hint="name an answer file") from None
    from ctxcli.text.encoding import decode, is_binary

    if is_binary(data):
        raise DataError(f"{name}: not a text", code="bad_answer", hint="give the output of `ctx ask --json`")
    return decode(data).text


def _shelf(workspace: Path | None) -> "Shelf":
    """What may be opened: the documents of the workspace, or those in this folder where there is none."""
    from ctxcli.services import workspace as workspaces
    from ctxcli.services.verification import Shelf

    try:
        return Shelf.of(workspaces.find(workspace))
    except NotFoundError:
        if workspace is not None:
            raise
        return Shelf.of_folder(Path.cwd())


def _document(found: "Verification") -> dict[str, object]:
    return {"schema": "ctx/verification/1", "citations": [_row(one) for one in found.citations], "ok": found.ok}


def _row(one: "CheckedCitation") -> dict[str, object]:
    row: dict[str, object] = {"n": one.cited.n, "doc": one.cited.doc, "status": one.status}
    if one.now is not None:
        now = one.now
        row["now"] = {"page": now.page, "line_start": now.line_start, "section": now.section, "heading": now.heading}
    if one.message:
        row["message"] = one.message
    return row


_STYLES = {"ok": "green", "moved": "yellow", "stale": "red", "missing": "red"}


def _show(found: "Verification", screen: "Screen") -> None:
    for one in found.citations:
        detail = f"now at {_where(one.now)}" if one.now else one.message
        lacks_lines = one.now and one.cited.line_start and not one.now.line_start
        if one.now and ((one.cited.page and not one.now.page) or lacks_lines):
            detail = f"{one.message}; it stands at {_where(one.now)}"
        said = ": ".join(filter(None, (one.cited.doc, detail)))
        screen.line(f"[{one.cited.n}] {one.status:8}{said}", style=_STYLES[one.status])
    if not found.citations:
        screen.line("there is nothing to check: the answer cites nothing")


def _where(place: "Place") -> str:
    parts = [f"§{place.section}" if place.section else place.heading or ""]
    parts.append(f"p. {place.page}" if place.page else "")
    parts.append(f"line {place.line_start}" if place.line_start else "")
    return " · ".join(filter(None, parts)) or "another place"
