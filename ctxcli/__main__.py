"""The `ctx` command.

`ctx --version` and `ctx ask` in their plain forms are read by hand, since importing Typer
costs several times what answering does; all else, and all that is odd, goes to the Typer app.
"""

import sys

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
    if arguments in (["--version"], ["-V"]):
        from ctxcli import __version__

        if sys.stdout:
            sys.stdout.write(f"{__version__}\n")
        return 0
    if arguments[:1] == ["ask"]:
        from ctxcli.cli.ask_arguments import read_plain

        request = read_plain(arguments[1:])
        if request is not None:
            from ctxcli.cli.ask import run

            return run(request)
    from ctxcli.cli.app import run as run_app

    return run_app(arguments)


if __name__ == "__main__":
    main()
