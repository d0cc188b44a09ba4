"""What `ctx ask` is asked to do, and the reading of its plain forms without Typer."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class AskRequest:
    """The arguments of `ctx ask`; None where an option was not given."""

    question: str = ""
    cite: bool = False
    kb: list[str] = field(default_factory=list)
    notes: bool | None = None
    top_k: int | None = None
    threshold: float | None = None
    llm: bool | None = None
    model: str | None = None
    format: str | None = None
    sources: list[str] = field(default_factory=list)
    batch: str | None = None
    evidence: bool = False
    as_json: bool = False
    quiet: bool = False
    workspace: str | None = None
    mode: str | None = None
    fusion: str | None = None
    rerank: bool | None = None


_FLAGS = {
    "--cite": ("cite", True),
    "--notes": ("notes", True),
    "--no-notes": ("notes", False),
    "--llm": ("llm", True),
    "--no-llm": ("llm", False),
    "--evidence": ("evidence", True),
    "--rerank": ("rerank", True),
    "--no-rerank": ("rerank", False),
    "--json": ("as_json", True),
    "--quiet": ("quiet", True),
    "-q": ("quiet", True),
}
_VALUES = {
    "--kb": "kb",
    "--from": "sources",
    "--top-k": "top_k",
    "--threshold": "threshold",
    "--model": "model",
    "--format": "format",
    "--batch": "batch",
    "--mode": "mode",
    "--fusion": "fusion",
    "--workspace": "workspace",
    "-w": "workspace",
}
_FORMATS = ("text", "md", "json")


def read_plain(arguments: list[str]) -> AskRequest | None:
    """Read arguments, or return None where Typer must (help, mistakes, anything unusual)."""
    request = AskRequest()
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words += rest
        elif argument in _FLAGS:
            name, value = _FLAGS[argument]
            setattr(request, name, value)
        elif argument.startswith("-") and argument != "-":
            option, equals, text = argument.partition("=")
            if option not in _VALUES or (equals and not option.startswith("--")):
                return None
            given = text if equals else next(rest, None)
            if given is None or not _set(request, _VALUES[option], given):
                return None
        else:
            words.append(argument)
    if len(words) != (0 if request.batch else 1) or words == [""]:
        return None
    request.question = words[0] if words else ""
    return request


def _set(request: AskRequest, name: str, text: str) -> bool:
    """Set an option from its text; False where the text is no value for it."""
    if not text.strip():
        return False
    if name in {"kb", "sources"}:
        getattr(request, name).append(text)
    elif name == "top_k":
        if not text.isdecimal() or int(text) < 1:
            return False
        request.top_k = int(text)
    elif name == "threshold":
        try:
            request.threshold = float(text)
        except ValueError:
            return False
        return 0 <= request.threshold <= 1
    else:
        setattr(request, name, text)
        return name not in ("format", "mode", "fusion") or text in _choices(name)
    return True


def _choices(name: str) -> tuple[str, ...]:
    from ctxcli.settings import FUSIONS, MODES  # on use: most questions name neither

    return {"format": _FORMATS, "mode": MODES, "fusion": FUSIONS}[name]
