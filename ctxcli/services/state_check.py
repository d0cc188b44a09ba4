"""Whether facts, artifacts and sessions can be read, and what was kept aside of them."""

from collections.abc import Iterator

from ctxcli.model.errors import CtxError
from ctxcli.model.report import Check
from ctxcli.services.sessions import Sessions
from ctxcli.services.workspace import Workspace
from ctxcli.storage import facts, sessions

_SHOWN = 5


def check_state(workspace: Workspace, *, fix: bool) -> Iterator[Check]:
    """Look at all that is kept beside notes and knowledge bases; `fix` keeps damaged facts aside."""
    for kind in ("facts", "artifacts"):
        yield _facts(workspace, kind, fix=fix)
    yield from _sessions(workspace)
    yield from _aside(workspace)


def count_facts(workspace: Workspace, kind: str, problems: list[str]) -> int | None:
    """How many facts (or artifacts) there are; None, and a word in `problems`, where they cannot be read."""
    try:
        found = facts.read(workspace.folder / f"{kind}.json")
    except CtxError as error:
        problems.append(error.message)
        return None
    return sum(not rows[-1].deleted for rows in found.values())


def count_sessions(workspace: Workspace) -> int:
    """How many sessions there are."""
    return len(sessions.names(workspace.folder / "sessions"))


def _facts(workspace: Workspace, kind: str, *, fix: bool) -> Check:
    path = workspace.folder / f"{kind}.json"
    try:
        facts.read(path)
    except CtxError as error:
        if not fix or error.code != "facts_damaged":
            return Check(kind, "problem", error.message, error.hint)
        aside = facts.set_aside(path, timeout=workspace.settings.number("index.lock_seconds"))
        return Check(kind, "warning", f"{error.message}; kept as {aside.name}", "take from it what can be read", True)
    held = count_facts(workspace, kind, [])
    return Check(kind, "ok", f"{held} {kind if held != 1 else kind[:-1]}")


def _sessions(workspace: Workspace) -> Iterator[Check]:
    found = Sessions(workspace)
    names = sessions.names(found.folder)
    is_whole = True
    for name in names:
        found.notices.clear()
        try:
            entry = found.entry(name)
        except CtxError as error:
            is_whole = False
            yield Check(f"session {name}", "problem", error.message, error.hint)
            continue
        if entry.problems:
            is_whole = False
            count = f"{entry.problems} lines hold" if entry.problems > 1 else "1 line holds"
            yield Check(f"session {name}", "warning", f"{count} no message", f"ctx session show {name}")
        for notice in found.notices:
            is_whole = False
            yield Check(f"session {name}", "warning", notice, "what is remembered can be made anew")
    if is_whole:
        yield Check("sessions", "ok", f"{len(names)} session{'' if len(names) == 1 else 's'}, all lines can be read")


def _aside(workspace: Workspace) -> Iterator[Check]:
    found = kept_aside(workspace)
    if found:
        yield Check("kept aside", "warning", found[0], "take from them what is missing, then delete them")
    else:
        yield Check("kept aside", "ok", "nothing")


def kept_aside(workspace: Workspace) -> tuple[str, ...]:
    """One word on damaged files and torn lines that were kept, () where there are none."""
    folder = workspace.folder
    found = sorted([*folder.glob(f"*{facts.DAMAGED}*"), *(folder / "sessions").glob(f"*{sessions.TORN}*")])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    names = ", ".join(path.relative_to(workspace.root).as_posix() for path in found[:_SHOWN])
    return (f"{names}{more}",) if found else ()
