"""`ctx demo`: the sample documents, indexed and asked."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ctxcli.cli.options import AsJson, Quiet
from ctxcli.cli.output import emit_json, notice
from ctxcli.model.errors import DataError, UsageError

QUESTIONS = (
    "How long are raw sensor readings kept?",
    "叠片过滤器多久清洗一次？",
    "Who won the football world cup in 2022?",
)


def demo(
    directory: Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Keep the demo in this new folder.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Index some sample documents and ask: a cited answer in English, one in Chinese, a refusal."""
    samples = _samples()
    if directory is not None and directory.exists() and any(directory.iterdir()):
        raise UsageError(f"{directory} is not empty", code="not_empty", hint="name a new folder")
    with tempfile.TemporaryDirectory(prefix="ctx-demo-") as temporary:
        root = directory or Path(temporary)
        shutil.copytree(samples, root / "sample_kb", dirs_exist_ok=True)
        answers = _run(root, as_json=as_json)
    if as_json:
        emit_json({"schema": "ctx/demo/1", "answers": answers})
    elif directory is not None:
        notice(f"go on with: cd {directory} && ctx ask …", quiet=quiet)


def _samples() -> Path:
    """The sample documents: beside the package in a checkout, inside it where it is installed."""
    package = Path(__file__).parent.parent
    for folder in (package / "sample_kb", package.parent / "sample_kb"):
        if folder.is_dir():
            return folder
    raise DataError("the sample documents are not installed", code="no_samples", hint="install ctxcli again")


def _run(root: Path, *, as_json: bool) -> list[object]:
    from ctxcli.cli.ask_view import as_text
    from ctxcli.cli.output import has_colour
    from ctxcli.cli.screen import Screen
    from ctxcli.cli.views import index_report
    from ctxcli.cli.wrapping import terminal_width
    from ctxcli.model.documents import answer_document
    from ctxcli.services import indexing
    from ctxcli.services import workspace as workspaces
    from ctxcli.services.asking import Asking

    workspaces.make(root.resolve())
    workspace = workspaces.find(root)
    report = indexing.index(workspace, indexing.IndexRequest(paths=(root.resolve() / "sample_kb",)))
    if not as_json:
        sys.stdout.write("$ ctx kb index sample_kb\n")
        index_report(report, Screen(sys.stdout))
    asking = Asking.of(workspace=root)
    answers: list[object] = []
    for question in QUESTIONS:
        answer = asking.ask(question)
        answers.append(answer_document(answer))
        if not as_json:
            shown = as_text(answer, cite=True, colour=has_colour(sys.stdout), width=terminal_width(sys.stdout))
            sys.stdout.write(f'\n$ ctx ask "{question}" --cite\n{shown}\n')
    return answers
