"""The files of sessions: one message a line, appended safely.

``<name>.jsonl`` the session, ``<name>.archive.jsonl`` the lines that compacting moved out, ``<name>.memory.json`` what
is remembered of old turns, ``<name>.lock`` and ``<name>.turn.lock``.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ctxcli.model.errors import DataError, NotFoundError
from ctxcli.model.json_errors import json_reason
from ctxcli.storage.files import atomic_write, locked, reason
from ctxcli.storage.json_bytes import json_bytes

ENDING, ARCHIVE, MEMORY = ".jsonl", ".archive.jsonl", ".memory.json"
LOCK, TURN = ".lock", ".turn.lock"
TORN = ".torn-"
"""Stands in the name of a torn line that is kept aside."""
_BLOCK = 65_536
_MEMORY_SCHEMA = "ctx/session-memory/2"


def lock(folder: Path, name: str, *, timeout: float) -> AbstractContextManager[None]:
    """Hold the session against other writers."""
    return locked(folder / (name + LOCK), timeout=timeout, what=f"the session {name}")


def turn(folder: Path, name: str, *, timeout: float) -> AbstractContextManager[None]:
    """Hold the session against other conversations, from a question to its answer; single lines may still be added."""
    return locked(folder / (name + TURN), timeout=timeout, what=f"the session {name}")


def create(folder: Path, name: str) -> bool:
    """Make an empty session; False where there is one of that name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(folder / (name + ENDING), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileExistsError:
        return False
    except OSError as error:
        raise DataError(f"{folder} cannot be written: {reason(error)}", code="unwritable") from error
    return True


def names(folder: Path) -> list[str]:
    """The sessions there are, in order."""
    try:
        with os.scandir(folder) as entries:
            found = [one.name for one in entries if one.name.endswith(ENDING) and one.is_file()]
    except FileNotFoundError:
        return []
    return sorted(name.removesuffix(ENDING) for name in found if not name.endswith(ARCHIVE))


def append(folder: Path, name: str, lines: bytes, *, ending: str = ENDING) -> str:
    """Write whole lines behind what is there; the caller holds the lock. The cost does not depend on the length.

    A last line that was torn off is moved to a file of its own; the name of that is returned, else "".
    """
    path = folder / (name + ending)
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | (os.O_CREAT if ending == ARCHIVE else 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except FileNotFoundError:
        raise NotFoundError(f"there is no session {name!r} any more", code="session_not_found") from None
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error
    try:
        aside = _write(descriptor, path, lines)
        os.fsync(descriptor)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error
    finally:
        os.close(descriptor)
    return aside


def _write(descriptor: int, path: Path, lines: bytes) -> str:
    """See that the file ends with a whole line, then write; where writing fails the file is as it was."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    aside = ""
    if end and _read(descriptor, end - 1, 1) != b"\n":
        start = _last_line(descriptor, end)
        torn = _read(descriptor, start, end - start)
        if _is_object(torn):
            lines = b"\n" + lines
        else:
            place = _free_name(path)
            atomic_write(place, torn)
            os.ftruncate(descriptor, start)
            aside, end = place.name, start
    os.lseek(descriptor, end, os.SEEK_SET)
    try:
        left = memoryview(lines)
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        os.ftruncate(descriptor, end)
        raise
    return aside


def _read(descriptor: int, at: int, size: int) -> bytes:
    os.lseek(descriptor, at, os.SEEK_SET)
    parts = []
    while size and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _last_line(descriptor: int, end: int) -> int:
    """Where the last line begins."""
    at = end
    while at:
        first = max(0, at - _BLOCK)
        found = _read(descriptor, first, at - first).rfind(b"\n")
        if found >= 0:
            return first + found + 1
        at = first
    return 0


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%S")
    return path.with_name(f"{path.name}{TORN}{stamp}-{os.urandom(2).hex()}")


def lines(folder: Path, name: str, *, ending: str = ENDING, end: int | None = None) -> Iterator[tuple[int, int, bytes]]:
    """The lines with their numbers from 1 and where they begin (bytes), blank ones passed over.

    None where there is no such file; only those that begin before `end` where it is given.
    """
    path = folder / (name + ending)
    at = 0
    try:
        with path.open("rb") as handle:
            for number, line in enumerate(handle, 1):
                if end is not None and at >= end:
                    return
                if line.strip():
                    yield number, at, line
                at += len(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise DataError(f"{path} cannot be read: {reason(error)}", code="unreadable") from error


def part(folder: Path, name: str, *, ending: str, start: int, end: int) -> bytes:
    """The bytes of a file from `start` to `end`."""
    path = folder / (name + ending)
    try:
        with path.open("rb") as handle:
            handle.seek(start)
            return handle.read(end - start)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {reason(error)}", code="unreadable") from error


def size(folder: Path, name: str, *, ending: str) -> int:
    """The bytes of a file, 0 where there is none."""
    try:
        return (folder / (name + ending)).stat().st_size
    except FileNotFoundError:
        return 0


def cut(folder: Path, name: str, *, ending: str, end: int) -> None:
    """Take what is behind `end` off a file; the caller holds the lock."""
    path = folder / (name + ending)
    try:
        os.truncate(path, end)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {reason(error)}", code="unwritable") from error


def tail(folder: Path, name: str, *, size: int) -> tuple[list[bytes], bool]:
    """The whole lines in the last `size` bytes, and whether these are all there are."""
    path = folder / (name + ENDING)
    with path.open("rb") as handle:
        end = handle.seek(0, os.SEEK_END)
        handle.seek(max(0, end - size))
        data = handle.read()
    found = data.split(b"\n")
    return [line for line in found[0 if end <= size else 1 :] if line.strip()], end <= size


def head(folder: Path, name: str, *, size: int) -> list[bytes]:
    """The instructions among the whole lines in the first `size` bytes."""
    with (folder / (name + ENDING)).open("rb") as handle:
        found = handle.read(size).split(b"\n")[:-1]
    return [line for line in found if _is_object(line) and json.loads(line).get("role") in ("system", "developer")]


def replace_lines(folder: Path, name: str, kept: bytes) -> None:
    """Give a session other lines at once; the caller holds the lock."""
    try:
        atomic_write(folder / (name + ENDING), kept)
    except OSError as error:
        raise DataError(f"the session {name} cannot be written: {reason(error)}", code="unwritable") from error


def read_memory(folder: Path, name: str) -> tuple[dict[str, Any] | None, str]:
    """What is remembered of old turns, None for nothing, and why it could not be read, "" if it could.

    What an earlier form of the file says is nothing: it can be made anew from the turns.
    """
    try:
        found = json.loads((folder / (name + MEMORY)).read_bytes())
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, f"{name}{MEMORY} cannot be read: {reason(error)}"
    except (ValueError, RecursionError) as error:
        return None, f"{name}{MEMORY} is damaged ({json_reason(error)})"
    if not isinstance(found, dict):
        return None, f"{name}{MEMORY} holds no object"
    return (found if found.get("schema") == _MEMORY_SCHEMA else None), ""


def write_memory(folder: Path, name: str, value: dict[str, Any]) -> None:
    """Remember; the caller holds the lock."""
    data = json_bytes({"schema": _MEMORY_SCHEMA, **value})
    try:
        atomic_write(folder / (name + MEMORY), data)
    except OSError as error:
        raise DataError(f"{name}{MEMORY} cannot be written: {reason(error)}", code="unwritable") from error


def move_to_trash(folder: Path, name: str, trash: Path) -> Path:
    """Move all files of a session to a folder of their own in the trash; the caller holds the lock."""
    place = trash / f"session-{name}-{time.strftime('%Y%m%dT%H%M%S')}-{os.urandom(2).hex()}"
    try:
        place.mkdir(parents=True)
        for ending in (ARCHIVE, MEMORY, ENDING):
            path = folder / (name + ending)
            if path.exists():
                path.rename(place / path.name)
    except OSError as error:
        raise DataError(f"the session {name} cannot be moved: {reason(error)}", code="unwritable") from error
    return place
