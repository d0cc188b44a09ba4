"""Files copied into the notes folder and out of it. Nothing that is there is ever written over; no link is followed."""

import json
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ctxcli.storage import notes
from ctxcli.storage.files import atomic_write
from ctxcli.storage.note_names import ENDINGS

RECORD = "note-imports.json"
_SKIPPED = frozenset({"node_modules", "__pycache__"})


class Imported(NamedTuple):
    """What an import made of a file: the path of its copy in the notes, and the digest of its bytes then."""

    target: str
    digest: str


def read_record(home: Path) -> dict[str, Imported]:
    """What was imported before, by the absolute path of the source; a damaged record is set aside."""
    place = home / RECORD
    try:
        return {source: Imported(*map(str, one)) for source, one in json.loads(place.read_bytes())["files"].items()}
    except OSError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        with suppress(OSError):
            place.replace(place.with_name(f"{RECORD}.damaged"))
        return {}


def write_record(home: Path, record: dict[str, Imported]) -> None:
    """Keep what was imported; without it the next import would not know changed files again."""
    text = json.dumps({"schema": "ctx/note-imports/1", "files": record}, separators=(",", ":"))
    with suppress(OSError):
        atomic_write(home / RECORD, text.encode("ascii"))


class Candidates(NamedTuple):
    """Markdown files to copy, and places that cannot be looked into, with the reason."""

    paths: list[str]
    unknown: list[tuple[str, str]]


def markdown_files(folder: Path, *, without: Path) -> Candidates:
    """The Markdown files below a folder, hidden ones and those below `without` passed over."""
    found = notes.scan(folder)
    paths = [path for path in sorted(found.files) if not _is_below(folder / path, without) and not _skipped(path)]
    return Candidates(paths, sorted(found.unknown))


def passed_over(folder: Path, taken: Collection[str], *, without: Path) -> Iterator[tuple[str, str]]:
    """What lies below a folder and is not `taken`, with the reason; hidden files and folders are not looked at."""
    for place, folders, names in os.walk(folder):
        below = os.path.relpath(place, folder).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        folders[:] = sorted(name for name in folders if name[0] != "." and not _is_below(Path(place, name), without))
        for name in (*folders, *sorted(name for name in names if name[0] != ".")):
            path = f"{prefix}{name}"
            if name in _SKIPPED:
                yield f"{path}/", "such folders hold no notes"
            elif os.path.islink(f"{place}/{name}"):  # noqa: PTH114
                yield path, "it is a link"
            elif name in names and path not in taken:
                yield path, "it is no Markdown, and no note links to it"
        folders[:] = [name for name in folders if name not in _SKIPPED]


def _skipped(path: str) -> bool:
    return not _SKIPPED.isdisjoint(path.split("/"))


def _is_below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def is_regular(folder: Path, path: str) -> bool:
    """Whether `path` is a regular file below `folder`, reached without a link and without leaving it."""
    if ".." in PurePosixPath(path).parts or not path:
        return False
    place = str(folder)
    parts = path.split("/")
    try:
        for number, part in enumerate(parts, 1):
            place = f"{place}/{part}"
            mode = os.lstat(place).st_mode
            if not (stat.S_ISREG(mode) if number == len(parts) else stat.S_ISDIR(mode)):
                return False
    except (OSError, ValueError):
        return False
    return True


def free_name(folder: Path, path: str, data: bytes) -> tuple[str, bool]:
    """Where a file can go: its path, or one like it where another file has that; and whether it is there already."""
    for name in names_like(path):
        place = folder / name
        if not os.path.lexists(place):
            return name, False
        if is_regular(folder, name) and _holds(place, data):
            return name, True
    return "", False


def names_like(path: str) -> Iterator[str]:
    """The path, then ones like it with a number."""
    yield path
    plain = PurePosixPath(path)
    for number in range(2, 100):
        yield str(plain.with_name(f"{plain.stem} {number}{plain.suffix}"))


def _holds(place: Path, data: bytes) -> bool:
    try:
        return place.stat().st_size == len(data) and place.read_bytes() == data
    except OSError:
        return False


def put(folder: Path, path: str, data: bytes) -> str:
    """Write a new file at `path`, or at one like it if that is taken by now; returns where."""
    below = str(PurePosixPath(path).parent)
    return notes.create(folder, names_like(path), data, below="" if below == "." else below)[0]


def is_markdown(path: str) -> bool:
    """Whether a file is named as a note."""
    return path.lower().endswith(ENDINGS)
