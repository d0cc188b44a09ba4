"""What `ctx context build` is asked to do, and the reading of its plain forms without Typer."""

from typing import Any, NamedTuple

FORMATS = ("text", "messages", "json")


class ContextRequest(NamedTuple):
    """The arguments of `ctx context build`; None where an option was not given.

    Not a dataclass: making one of so many fields costs as much as choosing the packets does.
    """

    query: str = ""
    budget: int | None = None
    system: str | None = None
    history: str | None = None
    session: str | None = None
    kb: tuple[str, ...] = ()
    no_kb: bool = False
    notes: bool | None = None
    facts: bool = True
    packet: tuple[str, ...] = ()
    now: str = ""
    model: str | None = None
    min_relevance: float = 0.1
    format: str = "text"
    explain: bool = False
    as_json: bool = False
    quiet: bool = False
    workspace: str | None = None


_FLAGS = {
    "--no-kb": ("no_kb", True),
    "--notes": ("notes", True),
    "--no-notes": ("notes", False),
    "--facts": ("facts", True),
    "--no-facts": ("facts", False),
    "--explain": ("explain", True),
    "--json": ("as_json", True),
    "--quiet": ("quiet", True),
    "-q": ("quiet", True),
}
_VALUES = {
    "--budget": "budget",
    "-b": "budget",
    "--system": "system",
    "--history": "history",
    "--session": "session",
    "-s": "session",
    "--kb": "kb",
    "--packet": "packet",
    "--now": "now",
    "--model": "model",
    "-m": "model",
    "--format": "format",
    "--workspace": "workspace",
    "-w": "workspace",
}


def read_plain(arguments: list[str]) -> ContextRequest | None:
    """Read the arguments behind ``context build``, or return None where Typer must (help, mistakes, the unusual)."""
    found: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument in _FLAGS:
            name, value = _FLAGS[argument]
            found[name] = value
        elif argument.startswith("-") and argument != "-":
            option, equals, text = argument.partition("=")
            if option not in _VALUES or (equals and not option.startswith("--")):
                return None
            given = text if equals else next(rest, None)
            if given is None or not _set(found, _VALUES[option], given):
                return None
        else:
            words.append(argument)
    if len(words) != 1:
        return None
    return ContextRequest(words[0], **found)


def _set(found: dict[str, Any], name: str, text: str) -> bool:
    """Set an option from its text; False where the text is no value for it."""
    if name in ("kb", "workspace") and not text.strip():
        return False
    if name in ("kb", "packet"):
        found[name] = (*found.get(name, ()), text)
    elif name == "budget":
        if not text.isdecimal() or not text.isascii():
            return False
        found[name] = int(text)
    else:
        found[name] = text
    return True
