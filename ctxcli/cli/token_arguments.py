"""What `ctx tokens` is asked to do, and the reading of its plain forms without Typer."""

from typing import Any, NamedTuple


class TokenRequest(NamedTuple):
    """The arguments of `ctx tokens`. Not a dataclass: loading those costs more than counting does."""

    files: tuple[str, ...] = ()
    model: str | None = None
    messages: bool = False
    estimate: bool = False
    as_json: bool = False
    quiet: bool = False


_FLAGS = {
    "--messages": "messages",
    "--estimate": "estimate",
    "--json": "as_json",
    "--quiet": "quiet",
    "-q": "quiet",
}


def read_plain(arguments: list[str]) -> TokenRequest | None:
    """Read arguments, or return None where Typer must (help, mistakes, anything unusual)."""
    given: dict[str, Any] = {}
    files: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            files += rest
        elif argument in _FLAGS:
            given[_FLAGS[argument]] = True
        elif argument.startswith("--model="):
            given["model"] = argument.partition("=")[2]
        elif argument in ("--model", "-m"):
            given["model"] = next(rest, None)
            if given["model"] is None:
                return None
        elif argument.startswith("-") and argument != "-":
            return None
        else:
            files.append(argument)
    return TokenRequest(tuple(files), **given)
