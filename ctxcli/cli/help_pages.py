"""What the help of a command says beyond its docstring: the form of values, and examples."""

from typing import Any

from ctxcli.cli.examples import EXAMPLES

_FORMS = {"int": "N", "integer": "N", "float": "X", "path": "PATH"}


def describe(path: str, command: Any) -> None:
    """Name the values of a command's parameters, and add its examples; of a group, those of all its commands.

    `path` is the command without `ctx`, as ``note create``.
    """
    for name, below in getattr(command, "commands", {}).items():
        describe(f"{path} {name}", below)
    for one in command.params:
        if one.metavar is None and not getattr(one, "is_flag", False):
            one.metavar = _form(one)
    if path in EXAMPLES:
        command.epilog = "\n".join(("\b", "Examples:", *(f"  {line}" for line in EXAMPLES[path])))


def _form(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = parameter.name.upper()
        return f"[{name.removesuffix('S')}]..." if parameter.nargs == -1 else str(name)
    return _FORMS.get(parameter.type.name.strip("<>").split()[0].lower(), "TEXT")
