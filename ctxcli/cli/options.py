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
Fusion = Annotated[
    str | None,
    typer.Option(metavar="scores|rrf", parser=given, help="How hybrid puts both together; else `ask.fusion`."),
]
Mode = Annotated[
    str | None,
    typer.Option(metavar="bm25|keyword|vector|hybrid", parser=given, help="How chunks are ranked; else `ask.mode`."),
]
Rerank = Annotated[
    bool | None,
    typer.Option("--rerank/--no-rerank", help="Rank the best again by `rerank.model`; else `ask.rerank`."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")]
AllowWrite = Annotated[bool, typer.Option("--allow-write", help="Let the model change notes and facts.")]


def checked_way(mode: str | None, fusion: str | None) -> None:
    """UsageError where a mode or a fusion is none."""
    from ctxcli.model.errors import UsageError
    from ctxcli.settings import FUSIONS, MODES

    for option, value, choices in (("mode", mode, MODES), ("fusion", fusion, FUSIONS)):
        if value is not None and value not in choices:
            raise UsageError(f"--{option} {value}: no such {option}", hint=f"use {', '.join(choices)}")
