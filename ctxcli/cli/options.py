"""Options that many commands share."""

from pathlib import Path
from typing import Annotated

import typer


def given(text: str) -> str:
    """The value of an option. An empty one, as an unset variable of a shell gives it, is not taken for none."""
    if not text.strip():
        raise typer.BadParameter("it is empty; give a value, or leave the option out")
    return text


def _folder(text: str) -> Path:
    return Path(given(text))


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no notices.")]
WorkspaceDir = Annotated[
    Path | None,
    typer.Option(
        "--workspace", "-w", metavar="DIR", parser=_folder, help="The workspace; else CTX_WORKSPACE, else the nearest."
    ),
]
Kb = Annotated[
    str | None, typer.Option("--kb", metavar="NAME", parser=given, help="The knowledge base; else `default`.")
]
Kbs = Annotated[
    list[str] | None, typer.Option("--kb", metavar="NAME", parser=given, help="Only this knowledge base; repeatable.")
]
Notes = Annotated[bool | None, typer.Option("--notes/--no-notes", help="Look into the notes; else `ask.notes`.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]
AllowWrite = Annotated[bool, typer.Option("--allow-write", help="Let the model change notes and facts.")]
