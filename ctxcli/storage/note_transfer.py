"""Files copied into the notes folder and out of it. Nothing that is there is ever written over; no link is followed."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ctxcli.storage import notes
from ctxcli.storage.note_names import ENDINGS

_SKIPPED = frozenset({"node_modules", "__pycache__"})


def markdown_files(folder: Path, *, without: Path) -> list[str]:
    """The Markdown files below a folder, hidden ones and those below `without` passed over."""
    return [
        path
        for path in sorted(notes.scan(folder).files)
        if not _is_below(folder / path, without) and not _skipped(path)
    ]


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
