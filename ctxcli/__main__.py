"""The `ctx` command.

`ctx --version` and `ctx ask` in their plain forms are read by hand, since importing Typer
costs several times what answering does; all else, and all that is odd, goes to the Typer app.
"""

import sys


def main() -> None:
    """Run the command line; ends the process with the exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from ctxcli import __version__

        sys.stdout.write(f"{__version__}\n")
        return
    if arguments[:1] == ["ask"]:
        from ctxcli.cli.ask_arguments import read_plain

        request = read_plain(arguments[1:])
        if request is not None:
            from ctxcli.cli.ask import run

            sys.exit(run(request))
    from ctxcli.cli.app import app

    app()


if __name__ == "__main__":
    main()
