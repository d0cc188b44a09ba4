"""The `ctx` command: names every command and group, and imports each only when it is used."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from ctxcli.cli.output import fail, prepare_streams, user_errors, wants_json
from ctxcli.cli.utf8 import ensure_utf8_names
from ctxcli.model.errors import UsageError

_EPILOG = (
    "\b\nBegin with:\n"
    "  ctx demo                  sample documents, asked three questions\n"
    "  ctx kb index FOLDER       index your own documents\n"
    '  ctx ask "…" --cite        ask them\n\n'
    "Exit codes: 0 done, 2 usage, 3 not found, 4 no answer, 5 data, 6 busy, 7 some files failed, 8 service failed."
)


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command or group: the module that holds it, its name there (a function or a Typer app), one line of help."""

    module: str
    attribute: str
    help: str


COMMANDS: Mapping[str, Lazy] = {
    "init": Lazy("ctxcli.cli.workspace", "init", "Make a folder a workspace."),
    "note": Lazy("ctxcli.cli.notes", "app", "Make, find and keep notes."),
    "kb": Lazy("ctxcli.cli.kb", "app", "Index documents and look into knowledge bases."),
    "ask": Lazy("ctxcli.cli.ask", "ask", "Answer a question from the documents, with citations, or decline."),
    "check": Lazy("ctxcli.cli.check", "check", "Run documentation tests: questions with expected answers."),
    "open": Lazy("ctxcli.cli.open_source", "open_source", "Open a source of the last answer."),
    "demo": Lazy("ctxcli.cli.demo", "demo", "Index some sample documents and ask them three questions."),
    "verify": Lazy("ctxcli.cli.verify", "verify", "Check the citations of an answer against the files."),
    "context": Lazy("ctxcli.cli.context_command", "app", "Build the context of a language model within a budget."),
    "session": Lazy("ctxcli.cli.sessions", "app", "Keep conversations, and what is shown of them."),
    "fact": Lazy("ctxcli.cli.facts", "app", "Keep facts with their source and history."),
    "tokens": Lazy("ctxcli.cli.tokens", "tokens", "Count tokens exactly, offline."),
    "tools": Lazy("ctxcli.cli.tools", "tools", "Print the tools of agents with their JSON Schemas."),
    "schema": Lazy("ctxcli.cli.tools", "schema", "Print the JSON Schema of a document."),
    "mcp": Lazy("ctxcli.cli.mcp", "mcp", "Serve the tools to agents by the Model Context Protocol."),
    "chat": Lazy("ctxcli.cli.chat", "chat", "Talk with a language model that uses the tools."),
    "status": Lazy("ctxcli.cli.workspace", "status", "Show the workspace at a glance."),
    "doctor": Lazy("ctxcli.cli.workspace", "doctor", "Look for what is wrong, and mend it."),
    "config": Lazy("ctxcli.cli.workspace", "config", "Show and change settings."),
    "trust": Lazy("ctxcli.cli.workspace", "trust", "Trust the settings of this workspace."),
}
"""All commands by name, in the order of the help. One whose module is not there is not shown."""

KB_COMMANDS: Mapping[str, Lazy] = {
    "eval": Lazy("ctxcli.cli.evaluate", "evaluate", "Measure answers to questions whose answers are known."),
    "calibrate": Lazy("ctxcli.cli.evaluate", "calibrate", "Fit threshold and scale of a knowledge base."),
    "explain": Lazy("ctxcli.cli.explain", "explain", "Tell why a question got its answer, or what lost a passage."),
    "search": Lazy("ctxcli.cli.search", "search", "Find the passages nearest to a query."),
}
"""Commands of `ctx kb` that stand in modules of their own."""


class LazyGroup(TyperGroup):
    """A group whose further commands are imported when they are called, and named in the help before."""

    lazy: Mapping[str, Lazy] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands that are there."""
        return [*self.commands, *(name for name, entry in self.lazy.items() if find_spec(entry.module))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; before it is called only its name and help."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        entry = self.lazy.get(cmd_name)
        return TyperCommand(cmd_name, help=entry.help) if entry else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import what is called; a name that is none gets the nearest as a hint."""
        name = args[0]
        if name in self.commands:
            return name, self.commands[name], args[1:]
        if name in self.lazy and find_spec(self.lazy[name].module):
            group = ctx.command_path.partition(" ")[2]
            return name, load(f"{group} {name}".strip(), self.lazy[name]), args[1:]
        if name.startswith("-"):
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        near = get_close_matches(name, self.list_commands(ctx), n=1)
        raise UsageError(
            f"there is no command {ctx.command_path.partition(' ')[2]} {name}".replace("  ", " "),
            hint=f"did you mean {near[0]}?" if near else f"see: {ctx.command_path} --help",
        )


class _Root(LazyGroup):
    lazy = COMMANDS


class KbGroup(LazyGroup):
    """The group of `ctx kb`."""

    lazy = KB_COMMANDS

    def list_commands(self, ctx: Any) -> list[str]:
        """What is wanted every day comes first."""
        first = ("index", "search", "list", "info", "files", "outline", "show", "explain")
        names = super().list_commands(ctx)
        return [*(name for name in first if name in names), *(name for name in names if name not in first)]


def load(path: str, entry: Lazy) -> Any:
    """Import a command or a group; `path` is its name with that of its group, as ``kb search``."""
    from ctxcli.cli.help_pages import describe

    name = path.rpartition(" ")[2]
    found = getattr(import_module(entry.module), entry.attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name)(found)
        found = single
    command = typer.main.get_command(found)
    command.name = name
    describe(path, command)
    return command


def _version(value: bool) -> None:
    if value:
        from ctxcli import __version__

        sys.stdout.write(f"{__version__}\n")
        raise typer.Exit


typer_app = typer.Typer(cls=_Root, rich_markup_mode=None, pretty_exceptions_enable=False, epilog=_EPILOG)


@typer_app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Notes and knowledge bases with cited answers, or an honest refusal. Offline, Chinese and English."""
    if ctx.invoked_subcommand is None:
        sys.stdout.write(ctx.get_help() + "\n")


def run(arguments: list[str]) -> int:
    """Run a command line; returns the exit code or raises SystemExit with it."""
    prepare_streams()
    as_json = wants_json(arguments)
    with user_errors(as_json=as_json):
        try:
            code = typer.main.get_command(typer_app).main(arguments, prog_name="ctx", standalone_mode=False)
        except typer.Abort:
            raise KeyboardInterrupt from None
        except TyperException as error:
            return _fail_usage(error, as_json=as_json)
    return code if isinstance(code, int) else 0


def _fail_usage(error: TyperException, *, as_json: bool) -> int:
    """Report a mistake in the command line as any other error."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context and not as_json:
        sys.stderr.write(context.get_help() + "\n")
        return int(UsageError.exit_code)
    hint = f"see: {context.command_path} --help" if context else ""
    wrong = getattr(error, "option_name", "")
    if context and type(error).__name__ == "NoSuchOption":
        near = _near_option(wrong, context)
        message = f"{context.command_path} has no option {wrong}"
        return fail(UsageError(message, hint=f"did you mean {near}?" if near else hint), as_json=as_json)
    return fail(UsageError(error.format_message(), hint=hint), as_json=as_json)


def _near_option(wrong: str, context: Any) -> str:
    """The option of a command that is most like `wrong`, "" if none is."""
    from difflib import get_close_matches

    names = [name for one in context.command.get_params(context) for name in (*one.opts, *one.secondary_opts)]
    known = [name for name in names if name.startswith("--")]
    return next(iter(get_close_matches(wrong, known, n=1)), "")


def app() -> NoReturn:
    """Run the command line of this process and end it."""
    ensure_utf8_names()
    sys.exit(run(sys.argv[1:]))
