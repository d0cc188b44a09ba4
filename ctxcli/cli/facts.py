"""`ctx fact`: facts and artifacts set, read, listed."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctxcli.cli.options import AsJson, Quiet, WorkspaceDir
from ctxcli.cli.output import emit_json, emit_line, notice, user_errors, warn
from ctxcli.cli.values import ValueCommand

if TYPE_CHECKING:
    from ctxcli.model.fact import Fact, FactKind
    from ctxcli.model.fact_reports import FactChange, FactList
    from ctxcli.services.facts import Facts

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Keep facts with their source and history."
)
artifact = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Keep results of tools by key."
)
app.add_typer(artifact, name="artifact")

Key = Annotated[str, typer.Argument(help="The key, such as adsl.n_rows.")]
Source = Annotated[str, typer.Option("--source", "-s", help="Where the value comes from.")]
Step = Annotated[int | None, typer.Option(min=0, help="The step of the work at which it was found.")]
AsText = Annotated[bool, typer.Option("--text", help="Take the value as a text, even where it looks like JSON.")]
Prefix = Annotated[str, typer.Argument(help="Only keys that begin so.")]


def _facts(directory: Path | None, kind: "FactKind") -> "Facts":
    from ctxcli.services import workspace
    from ctxcli.services.facts import Facts

    return Facts(workspace.find(directory), kind)


@app.command("set", cls=ValueCommand)
def set_(
    key: Key,
    value: Annotated[str, typer.Argument(help="JSON, or else a text; - reads standard input.")],
    source: Source,
    step: Step = None,
    as_text: AsText = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Set a fact. A value that differs from the one before is reported; the old one is kept."""
    with user_errors(as_json=as_json):
        facts = _facts(directory, "fact")
        changed = facts.set(key, _value(value, as_text=as_text), source=source, step=step)
        _report(changed, as_json=as_json, quiet=quiet)


@artifact.command("set", cls=ValueCommand)
def set_artifact(
    key: Key,
    source: Source,
    value: Annotated[str | None, typer.Argument(help="JSON, or else a text; - reads standard input.")] = None,
    file: Annotated[str | None, typer.Option(metavar="FILE", help="Take the content of a file; - for stdin.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Bytes it may have; default 262,144.")] = None,
    step: Step = None,
    as_text: AsText = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Keep the result of a tool under a key."""
    with user_errors(as_json=as_json):
        from ctxcli.model.errors import UsageError

        if (value is None) == (file is None):
            raise UsageError("one value is needed", hint="give a VALUE, or --file FILE")
        facts = _facts(directory, "artifact")
        found = _value(value, as_text=as_text) if value is not None else _content(file or "-", as_text=as_text)
        _report(facts.set(key, found, source=source, step=step, limit=limit), as_json=as_json, quiet=quiet)


def _value(text: str, *, as_text: bool) -> Any:
    if text == "-":
        return _content("-", as_text=as_text)
    from ctxcli.services.facts import read_value

    return text if as_text else read_value(text)


def _content(path: str, *, as_text: bool) -> Any:
    from ctxcli.services.facts import read_value
    from ctxcli.services.tokens import read_file, text_of

    data = sys.stdin.buffer.read() if path == "-" else read_file(path)
    text = text_of(data, path).removesuffix("\n").removesuffix("\r")
    return text if as_text else read_value(text)


def _report(changed: "FactChange", *, as_json: bool, quiet: bool) -> None:
    if changed.state == "changed" and changed.previous:
        old, new = _short(changed.previous.value), _short(changed.fact.value)
        warn(f"{changed.fact.key} was {old} ({_origin(changed.previous)}), is now {new}")
    if as_json:
        emit_json(changed.document())
    elif changed.state == "deleted":
        notice(f"deleted {changed.fact.key}; its history is kept", quiet=quiet)
    elif not quiet:
        emit_line(f"{changed.fact.key} = {_short(changed.fact.value)}")


def _origin(fact: "Fact") -> str:
    return fact.source + (f", step {fact.step}" if fact.step is not None else "")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _get(kind: "FactKind", key: str, *, as_json: bool, directory: Path | None) -> None:
    with user_errors(as_json=as_json):
        fact = _facts(directory, kind).get(key)
        if as_json:
            emit_json({"schema": f"ctx/{kind}/1", **fact.fields()})
        else:
            emit_line(fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False))


@app.command()
def get(key: Key, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Print the value of a fact."""
    _get("fact", key, as_json=as_json, directory=directory)


@artifact.command("get")
def get_artifact(key: Key, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Print an artifact."""
    _get("artifact", key, as_json=as_json, directory=directory)


def _emit_list(found: "FactList", *, as_json: bool, quiet: bool) -> None:
    if as_json:
        emit_json(found.document())
        return
    from ctxcli.cli.screen import Screen, local_time
    from ctxcli.model.fact_reports import size_of

    screen = Screen(sys.stdout)
    if not found.facts:
        notice(f"no {found.kind}s", quiet=quiet)
        return
    if found.kind == "artifact" and found.key is None:
        rows = [(fact.key, size_of(fact.value), fact.source, fact.step, local_time(fact.at)) for fact in found.facts]
        screen.table(("key", "bytes", "source", "step", "at"), rows, spare=("at",))
        return
    shown = [("(deleted)" if fact.deleted else _short(fact.value)) for fact in found.facts]
    cells = [
        (fact.key, text, fact.source, fact.step, local_time(fact.at))
        for fact, text in zip(found.facts, shown, strict=True)
    ]
    screen.table(("key", "value", "source", "step", "at"), cells, spare=("at",))


@app.command("list")
def list_(prefix: Prefix = "", as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """List the facts."""
    with user_errors(as_json=as_json):
        _emit_list(_facts(directory, "fact").list(prefix), as_json=as_json, quiet=quiet)


@artifact.command("list")
def list_artifacts(
    prefix: Prefix = "", as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None
) -> None:
    """List the artifacts with their sizes."""
    with user_errors(as_json=as_json):
        _emit_list(_facts(directory, "artifact").list(prefix), as_json=as_json, quiet=quiet)


@app.command()
def history(key: Key, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Show what a fact has been, oldest first."""
    with user_errors(as_json=as_json):
        _emit_list(_facts(directory, "fact").history(key), as_json=as_json, quiet=quiet)


@app.command()
def delete(key: Key, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Delete a fact; its history stays."""
    with user_errors(as_json=as_json):
        facts = _facts(directory, "fact")
        _report(facts.delete(key), as_json=as_json, quiet=quiet)


@artifact.command("delete")
def delete_artifact(key: Key, as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """Delete an artifact; its history stays."""
    with user_errors(as_json=as_json):
        facts = _facts(directory, "artifact")
        _report(facts.delete(key), as_json=as_json, quiet=quiet)
