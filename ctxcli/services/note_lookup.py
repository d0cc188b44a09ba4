"""Which note a name means: an id, the beginning of one, a path, or a title."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ctxcli.model.errors import NotFoundError
from ctxcli.storage.files import identity, printable
from ctxcli.storage.notes_index import Row

_MOST_CANDIDATES = 8


class Places(NamedTuple):
    """Folders that a path may be relative to: the workspace, and that of the notes; and how the latter is cited."""

    root: Path
    folder: Path
    cited: str


def find(rows: Iterable[Row], name: str, places: Places, *, by_title: bool) -> Row:
    """The one note that `name` means; NotFoundError where there is none or more than one.

    A whole id or a path goes before the beginning of an id and a title (the latter only `by_title`).
    """
    known = list(rows)
    wanted = name.strip().removeprefix("#")
    exact = {row.path: row for row in known if row.id == wanted}
    exact |= {row.path: row for row in _by_path(known, name.strip(), places)}  # an id may look like another's path
    if exact:
        return _one(list(exact.values()), name, places)
    lowered = wanted.lower()
    begun = [row for row in known if lowered and row.id.lower().startswith(lowered)]
    titled = _by_title(known, name)
    if not by_title:
        if titled and not begun:
            raise NotFoundError(
                f"{name!r} is a title; this command takes an id or a path only",
                code="title_not_accepted",
                hint=_candidates(titled, places),
            )
        titled = []
    return _one(list({row.path: row for row in (*begun, *titled)}.values()), name, places)


def _by_path(rows: Sequence[Row], name: str, places: Places) -> list[Row]:
    if "/" not in name and os.sep not in name and not name.lower().endswith((".md", ".markdown")):
        return []
    wanted = set()
    for base in (Path.cwd(), places.root, places.folder):
        for place in {os.path.abspath(base / name), os.path.realpath(base / name)}:  # noqa: PTH100
            for folder in {str(places.folder), os.path.realpath(places.folder)}:
                if place.startswith(folder + os.sep):
                    relative = identity(place[len(folder) + 1 :].replace(os.sep, "/"))
                    wanted |= {relative, f"{relative}.md"}
    return [row for row in rows if identity(row.path) in wanted] if wanted else []


def _by_title(rows: Sequence[Row], name: str) -> list[Row]:
    wanted = identity(name.strip())
    exact = [row for row in rows if identity(row.title) == wanted]
    return exact or [row for row in rows if identity(row.title).casefold() == wanted.casefold()]


def _one(found: Sequence[Row], name: str, places: Places) -> Row:
    if not found:
        raise NotFoundError(f"there is no note {printable(name)!r}", code="note_not_found", hint="see: ctx note list")
    if len(found) > 1:
        raise NotFoundError(
            f"{printable(name)!r} means {len(found)} notes",
            code="ambiguous",
            hint=f"name one: {_candidates(found, places)}",
        )
    return found[0]


def _candidates(found: Sequence[Row], places: Places) -> str:
    """What each can be named by: its id with its path, or its path alone where others bear its id."""
    ids = [row.id for row in found]
    named = []
    for row in found[:_MOST_CANDIDATES]:
        path = printable(f"{places.cited}/{row.path}")
        named.append(f"{row.id} ({path}, {row.title})" if ids.count(row.id) == 1 else f"{path} ({row.title})")
    more = len(found) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "")
