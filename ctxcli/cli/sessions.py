"""`ctx session`: conversations kept, shown, recalled, compacted."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ctxcli.cli.options import AsJson, DryRun, Quiet, WorkspaceDir, Yes
from ctxcli.cli.output import confirm, emit_json, emit_line, end, notice, user_errors, visible, warn
from ctxcli.cli.screen import Screen, local_time
from ctxcli.cli.values import ValueCommand
from ctxcli.model.errors import ExitCode, ParseError, UsageError
from ctxcli.model.json_errors import json_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxcli.model.message import Message
    from ctxcli.model.session import Compaction
    from ctxcli.packing.history import Limits, Policy
    from ctxcli.services.session_wording import Wording
    from ctxcli.services.sessions import Sessions

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Keep conversations, and what is shown of them.",
)
Name = Annotated[str, typer.Argument(help="The session, or the beginning of its name.")]
Model = Annotated[str | None, typer.Option("--model", "-m", help="Count tokens as this model does.")]
_POLICIES = "full|window|weighted|summary|structured|hierarchical"


def _sessions(directory: Path | None) -> "Sessions":
    from ctxcli.services import workspace
    from ctxcli.services.sessions import Sessions

    return Sessions(workspace.find(directory))


def _tell(sessions: "Sessions", *, quiet: bool) -> None:
    for text in sessions.notices[:20]:
        warn(text, quiet=quiet)
    if len(sessions.notices) > 20:
        warn(f"and {len(sessions.notices) - 20} more problems", quiet=quiet)


@app.command()
def new(
    name: Annotated[str | None, typer.Argument(help="Its name; else date and time.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Make a session and print its name."""
    with user_errors(as_json=as_json):
        entry = _sessions(directory).new(name)
        if as_json:
            emit_json(entry.document())
        else:
            emit_line(entry.name)


@app.command("list")
def list_(as_json: AsJson = False, quiet: Quiet = False, directory: WorkspaceDir = None) -> None:
    """List the sessions, last changed first."""
    with user_errors(as_json=as_json):
        sessions = _sessions(directory)
        found = sessions.entries()
        _tell(sessions, quiet=quiet)
        if as_json:
            emit_json(found.document())
        elif found.sessions:
            rows = [
                (one.name, one.messages, one.archived, one.bytes, local_time(one.updated_at)) for one in found.sessions
            ]
            Screen(sys.stdout).table(("name", "messages", "archived", "bytes", "changed"), rows)
        else:
            notice("no sessions", quiet=quiet)


@app.command()
def show(
    name: Name,
    last: Annotated[int, typer.Option(min=0, help="Only the last so many messages.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Show the messages of a session."""
    with user_errors(as_json=as_json):
        sessions = _sessions(directory)
        found = sessions.read(name, last=last)
        for problem in found.problems[:20]:
            warn(problem, quiet=quiet)
        if as_json:
            emit_json(found.document())
        else:
            _show_messages(found.messages)


def _show_messages(messages: "Iterable[Message]") -> None:
    screen = Screen(sys.stdout)
    for one in messages:
        screen.line(_line(one), style="bold", lead=len(one.role) + 1)


def _line(message: "Message") -> str:
    calls = "".join(f" [calls {call.name}({call.arguments})]" for call in message.tool_calls)
    return f"{message.role}: {message.content}{calls}"


@app.command(cls=ValueCommand)
def add(
    name: Name,
    text: Annotated[str | None, typer.Argument(metavar="[CONTENT|-]", help="What was said; - reads stdin.")] = None,
    role: Annotated[
        str | None, typer.Option("--role", "-r", help="user (default), assistant, system, developer or tool.")
    ] = None,
    content: Annotated[str | None, typer.Option("--content", help="What was said.")] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Take it from a file; - for stdin.")
    ] = None,
    tool_calls: Annotated[str | None, typer.Option(metavar="JSON", help="The calls of the assistant.")] = None,
    tool_call_id: Annotated[str | None, typer.Option(metavar="ID", help="The call that a tool result answers.")] = None,
    speaker: Annotated[str | None, typer.Option("--name", help="The name of the speaker.")] = None,
    message: Annotated[str | None, typer.Option(metavar="JSON", help="The whole message; - reads stdin.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Append a message to a session and print its id."""
    with user_errors(as_json=as_json):
        from ctxcli.parsing.messages import read_message

        if message is not None:
            others = {"CONTENT": text, "--content": content, "--file": file, "--role": role, "--name": speaker,
                      "--tool-calls": tool_calls, "--tool-call-id": tool_call_id}  # fmt: skip
            _alone("--message", "it is the whole message", others)
            value = _json(sys.stdin.read() if message == "-" else message, "--message")
        else:
            value = {"role": role or "user", "content": _content(text, content, file), "name": speaker,
                     "tool_call_id": tool_call_id,
                     "tool_calls": _json(tool_calls, "--tool-calls") if tool_calls else None}  # fmt: skip
        sessions = _sessions(directory)
        try:
            checked = read_message(value)
        except ParseError as error:  # on the command line it is a matter of usage, not of data
            raise UsageError(error.message, code=error.code, hint=error.hint) from None
        stored = sessions.add(name, checked)
        _tell(sessions, quiet=quiet)
        if as_json:
            emit_json({"schema": "ctx/message/1", **stored.fields()})
        elif not quiet:
            emit_line(stored.id)


def _alone(option: str, why: str, others: "Mapping[str, object]") -> None:
    """Refuse options that would be ignored beside `option`."""
    for name, value in others.items():
        if value is not None:
            raise UsageError(f"{name} does not go with {option}: {why}", hint=f"leave {name} out")


def _json(text: str, option: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = """put it into quotes: '{"role": "user", "content": "…"}'""" if option == "--message" else ""
        raise UsageError(f"{option} is no JSON ({json_reason(error)})", code="bad_json", hint=hint) from None


def _content(text: str | None, content: str | None, file: str | None) -> str | None:
    given = [one for one in (text, content, file) if one is not None]
    if len(given) > 1:
        raise UsageError("CONTENT, --content and --file do not go together", hint="leave all but one of them out")
    if not given or (given[0] != "-" and file is None):
        return given[0] if given else None
    from ctxcli.services.tokens import read_file, text_of

    data = sys.stdin.buffer.read() if given[0] == "-" else read_file(given[0])
    return text_of(data, given[0]).removesuffix("\n").removesuffix("\r")


_OPTIONS: "dict[str, tuple[str, ...]]" = {
    "full": (),
    "window": ("keep", "keep_head"),
    "weighted": ("weight",),
    **dict.fromkeys(("summary", "structured", "hierarchical"), ("keep", "limit", "threshold")),
}
"""The options of each policy."""


@app.command()
def context(
    name: Name,
    policy: Annotated[str, typer.Option("--policy", "-p", metavar=_POLICIES, help="What is shown.")] = "window",
    keep: Annotated[
        int | None, typer.Option(min=0, help="Turns that stay at the end (default 6); not full, weighted.")
    ] = None,
    keep_head: Annotated[
        int | None, typer.Option(min=0, help="window: turns that stay at the beginning (default 1).")
    ] = None,
    weight: Annotated[float | None, typer.Option(min=0, help="weighted: what turns may weigh (default 10).")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="summary, structured, hierarchical: tokens in all (default 4,000).")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="Share of the limit over which old turns go until half of it is left (default 0.8)."
        ),
    ] = None,
    query: Annotated[str, typer.Option(help="Recall turns that bear on this and are not shown.")] = "",
    top_k: Annotated[int | None, typer.Option(min=1, help="Turns to recall at most (default 3).")] = None,
    model: Model = None,
    format: Annotated[str, typer.Option(metavar="text|messages|json", help="Form of the output.")] = "text",
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Show what a model is to be shown of a session, under a policy. Nothing is written.

    Turns are shown or left out whole. full: everything. window: instructions, the first and the last turns.
    weighted: the newest turns until the weight is spent: tool 0.8, user 0.5, assistant 0.3.
    summary: old turns become a summary, in their own words. structured: the summary in three parts: confirmed, ruled
    out, open. hierarchical: old turns leave, and --query recalls some. These three never exceed the limit.
    """
    with user_errors(as_json=as_json or format == "json"):
        if format not in ("text", "messages", "json"):
            raise UsageError(f"--format {format}: no such format", hint="use text, messages or json")
        if top_k is not None and not query:
            raise UsageError("--top-k goes with --query", hint="say what to recall with --query")
        given = {"keep": keep, "keep_head": keep_head, "weight": weight, "limit": limit, "threshold": threshold}
        chosen, limits = _policy(policy, {name: value for name, value in given.items() if value is not None})
        sessions = _sessions(directory)
        found = sessions.view(name, chosen, limits, model=_model(model, quiet=quiet), query=query, k=top_k or 3)
        _tell(sessions, quiet=quiet)
        if as_json or format == "json":
            emit_json(found.document())
        elif format == "messages":
            emit_line(json.dumps([one.openai() for one in found.messages], ensure_ascii=False))
        else:
            _show_messages(found.messages)


def _model(model: str | None, *, quiet: bool) -> str | None:
    """The name of a model as it was given; one that is not known is told."""
    from ctxcli.cli.tokens import tell_of_model
    from ctxcli.text.tokens import checked_model

    tell_of_model(checked_model(model), quiet=quiet)
    return model


def _policy(name: str, given: dict[str, Any]) -> "tuple[Policy, Limits]":
    """A policy by its name, with the options given, all of which it must have."""
    from ctxcli.packing.history import POLICIES, Limits

    chosen = next((one for one in POLICIES if one == name), None)
    if chosen is None:
        raise UsageError(f"there is no policy {name!r}", hint=f"use one of: {', '.join(POLICIES)}")
    for option in given:
        if option not in _OPTIONS[chosen]:
            shown = f"--{option.replace('_', '-')}"
            having = ", ".join(one for one, names in _OPTIONS.items() if option in names)
            raise UsageError(f"{shown} means nothing to the policy {chosen}", hint=f"it goes with: {having}")
    return chosen, Limits(**given)


@app.command()
def recall(
    name: Name,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="Turns at most.")] = 5,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Find turns of a session, archived ones too; best first."""
    with user_errors(as_json=as_json):
        sessions = _sessions(directory)
        found = sessions.recall(name, query, k=top_k)
        _tell(sessions, quiet=quiet)
        if as_json:
            rows = [one.document() for one in found]
            emit_json({"schema": "ctx/recall/1", "name": name, "query": query, "events": rows})
        else:
            for one in found:
                mark = " (archived)" if one.archived else ""
                emit_line(visible(f"{one.score:.2f}  {one.id}  {local_time(one.at)}{mark}"))
                emit_line(visible(f"      {one.summary or ' '.join(one.text.split())[:200]}"))


@app.command()
def compact(
    name: Name,
    keep: Annotated[int, typer.Option(min=0, help="Turns that stay.")] = 6,
    room: Annotated[int, typer.Option(min=50, help="Tokens that the summary may have.")] = 800,
    llm: Annotated[
        bool, typer.Option("--llm/--no-llm", help="Let a language model word the summary; sends it old turns.")
    ] = False,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="M", help="The model; else CTX_MODEL.")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Move old turns to the archive of a session. A summary stands for them, and nothing is lost.

    Where the model fails the turns are moved with an extractive summary, the exit code is 7, and the next --llm words
    what is missing.
    """
    with user_errors(as_json=as_json):
        if model is not None and not llm:
            raise UsageError("--model names a language model, but none is asked", hint="add --llm")
        sessions = _sessions(directory)
        wording = _wording(sessions, name, model, keep=keep) if llm else None
        more = {"wording": wording.of} if wording else {}
        found = sessions.compact(name, keep=keep, room=room, dry_run=dry_run, **more)
        _tell(sessions, quiet=quiet)
        if as_json:
            emit_json(found.document())
        else:
            _show_compaction(found, quiet=quiet)
        if wording and wording.notice:
            warn(wording.notice, quiet=quiet)
            end(ExitCode.PARTIAL)


def _wording(sessions: "Sessions", name: str, model: str | None, *, keep: int) -> "Wording":
    from ctxcli.services.models import language_model
    from ctxcli.services.session_wording import word

    return word(sessions, name, language_model(sessions.workspace.settings, model=model), keep=keep)


def _show_compaction(found: "Compaction", *, quiet: bool) -> None:
    for turn in found.dropped:
        emit_line(visible(f"{turn.id}  {turn.messages} messages  {turn.summary}"))
    verb = "would move" if found.dry_run else "moved"
    turns = f"{len(found.dropped)} turn{'' if len(found.dropped) == 1 else 's'}"
    notice(f"{verb} {turns} to the archive; {found.kept_messages} messages stay", quiet=quiet)


@app.command()
def delete(
    name: Annotated[str, typer.Argument(help="The session; its whole name.")],
    yes: Yes = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Move a session to the trash."""
    with user_errors(as_json=as_json):
        from ctxcli.storage import sessions as files

        sessions = _sessions(directory)
        if name in files.names(sessions.folder):
            confirm(f"delete the session {name}?", yes=yes)
        gone, place = sessions.delete(name)
        where = sessions.workspace.cite(place)
        if as_json:
            emit_json({"schema": "ctx/session-deletion/1", "name": gone, "path": where})
        else:
            notice(f"moved {gone} to {where}", quiet=quiet)


@app.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A list of OpenAI-style messages; - for stdin.")],
    name: Annotated[str | None, typer.Option("--name", help="Name of the session; else that of the file.")] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to a session that is there.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    directory: WorkspaceDir = None,
) -> None:
    """Make a session from a list of messages. JSON or JSON Lines, all of it or nothing; prints its name."""
    with user_errors(as_json=as_json):
        from ctxcli.parsing.messages import read_messages
        from ctxcli.services.tokens import read_file

        if file == "-" and name is None:
            raise UsageError("a session from standard input needs a name", hint="name it with --name")
        data = sys.stdin.buffer.read() if file == "-" else read_file(file)
        messages = read_messages(data, name=file)
        sessions = _sessions(directory)
        entry = sessions.import_messages(name or Path(file).stem, messages, append=append)
        _tell(sessions, quiet=quiet)
        if as_json:
            emit_json(entry.document())
        else:
            emit_line(entry.name)
