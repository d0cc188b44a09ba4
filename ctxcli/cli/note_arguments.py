"""The plain forms of `ctx note create`, `list`, `search`, `summary` and `show`, read without Typer.

Importing Typer costs more than what these commands do. Help, mistakes and all that is unusual go to Typer.
"""

import gc
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

_COMMON_FLAGS = {"--json": "as_json", "--quiet": "quiet", "-q": "quiet"}
_COMMON_VALUES = {"--workspace": "directory", "-w": "directory"}
_FILTERS = {"--type": "kind", "-t": "kind", "--since": "since", "--until": "until"}
_LISTED_FLAGS = {"--any": "any_tag", "--fail-empty": "fail_empty"}
_REPEATED = {"--tag": "tags"}
_NUMBERS = {"--limit": "limit", "-n": "limit"}


class _Form(NamedTuple):
    """What a command takes: names of its arguments, how many it needs, and its options."""

    arguments: tuple[str, ...] = ()
    needed: int = 0
    flags: Mapping[str, str] = {}
    values: Mapping[str, str] = {}
    repeated: Mapping[str, str] = {}
    numbers: Mapping[str, str] = {}


_CONTENT = {"--content": "content", "--file": "file", "--type": "kind", "-t": "kind"}
_FORMS = {
    "create": _Form(("title", "source"), 1, {"--edit": "edit"}, _CONTENT, _REPEATED),
    "list": _Form((), 0, {**_LISTED_FLAGS, "--trash": "trash"}, {**_FILTERS, "--sort": "sort"}, _REPEATED, _NUMBERS),
    "search": _Form(("query",), 1, _LISTED_FLAGS, _FILTERS, _REPEATED, _NUMBERS),
    "summary": _Form(),
    "show": _Form(("name",), 1, {"--raw": "raw"}),
}


def read_plain(arguments: list[str]) -> Callable[[], int] | None:
    """What follows ``ctx note``: the command, ready to run and to return its exit code; None where Typer must read."""
    form = _FORMS.get(arguments[0]) if arguments else None
    options = _read(form, arguments[1:]) if form else None
    if options is None:
        return None

    def run() -> int:
        from ctxcli.cli.output import prepare_streams, user_errors

        gc.disable()  # nothing here makes cycles, and so short a process gives its memory back by ending
        prepare_streams()
        code: int = 0
        with user_errors(as_json=options.get("as_json", False)):
            commands = import_module("ctxcli.cli.note_commands")
            code = getattr(commands, arguments[0])(**options)
        return int(code)

    return run


def _read(form: _Form, arguments: list[str]) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    words: list[str] = []
    flags, values = {**_COMMON_FLAGS, **form.flags}, {**_COMMON_VALUES, **form.values, **form.repeated, **form.numbers}
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument in flags:
            found[flags[argument]] = True
        elif argument.startswith("-") and argument != "-":
            option, equals, text = argument.partition("=")
            given = text if equals else next(rest, None)
            if option not in values or given is None or (equals and not option.startswith("--")):
                return None
            if not _set(found, option, values[option], given, form):
                return None
        else:
            words.append(argument)
    if not form.needed <= len(words) <= len(form.arguments):
        return None
    return found | dict(zip(form.arguments, words, strict=False))


def _set(found: dict[str, Any], option: str, name: str, given: str, form: _Form) -> bool:
    """Take an option's value; False where it is none."""
    if option in form.repeated:
        found.setdefault(name, []).append(given)
    elif name == "directory" and not given.strip():
        return False
    elif option in form.numbers:
        if not (given.isascii() and given.isdecimal() and len(given) < 10):
            return False
        found[name] = int(given)
    else:
        found[name] = given
    return True
