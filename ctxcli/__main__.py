"""The `ctx` command.

`ctx --version`, `ctx ask` and a few more are read by hand in their plain forms, since importing Typer
costs several times what answering does; all else, and all that is odd, goes to the Typer app.
"""

import sys

TYPE_CHECKING = False  # importing typing for its own costs more than the rest of this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_INTERRUPTED = 130


def main() -> None:
    """Run the command line; ends the process with the exit code."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except KeyboardInterrupt:  # while modules were loaded: the commands themselves handle theirs
        if sys.stderr:
            sys.stderr.write("interrupted\n")
        sys.exit(_INTERRUPTED)


def _run(arguments: list[str]) -> int:
    if sys.getfilesystemencoding() != "utf-8":
        from ctxcli.cli.utf8 import ensure_utf8_names

        ensure_utf8_names()
    if arguments in (["--version"], ["-V"]) and _is_version_said():
        return 0
    plain = _plain(arguments)
    if plain is not None:
        return plain()
    from ctxcli.cli.app import run as run_app

    return run_app(arguments)


def _is_version_said() -> bool:
    """Print the version; False where that fails, which the command line then reports."""
    from ctxcli import __version__

    try:
        sys.stdout.write(f"{__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):  # AttributeError: there is no stdout
        return False
    return True


def _plain(arguments: list[str]) -> "Callable[[], int] | None":
    """The command in its plain form, or None where Typer must read it. Each reader is imported for its command only."""
    match arguments[:1]:
        case ["ask"]:
            from ctxcli.cli.ask_arguments import read_plain as read_ask

            asked = read_ask(arguments[1:])
            return None if asked is None else lambda: _import("ask").run(asked)
        case ["note"]:
            from ctxcli.cli.note_arguments import read_plain as read_note

            return read_note(arguments[1:])
        case ["tokens"]:
            from ctxcli.cli.token_arguments import read_plain as read_tokens

            counted = read_tokens(arguments[1:])
            return None if counted is None else lambda: _import("tokens").run(counted)
        case ["context"] if arguments[1:2] == ["build"]:
            from ctxcli.cli.context_arguments import read_plain as read_context

            built = read_context(arguments[2:])
            return None if built is None else lambda: _import("context").run(built)
    return None


def _import(name: str) -> "Any":
    from importlib import import_module

    return import_module(f"ctxcli.cli.{name}")


if __name__ == "__main__":
    main()
