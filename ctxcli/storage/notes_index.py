"""The cache over the notes: JSON, one note a line, appended to, and written anew now and then.

The first line names the format. A later line about a path stands for an earlier one; a line that holds only a path
says that the note is gone. Lists, not objects: half the work to read, and ten thousand lines are read at once.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ctxcli.storage.files import atomic_write

FILE = "notes-index.jsonl"


class Row(NamedTuple):
    """A note as it was when its file was read. `path` is relative to the notes folder.

    `stamp` and `size` tell whether the file has changed since; `updated_ms` orders (Unix time, milliseconds).
    The content begins at the byte `body`; `encoding` is "" for UTF-8. `problem` is ``line:message`` for front
    matter that cannot be read.
    """

    path: str
    stamp: int
    size: int
    id: str
    title: str
    type: str
    tags: list[str]
    created_at: str
    updated_at: str
    updated_ms: int
    extra: dict[str, Any]
    body: int
    encoding: str
    problem: str


_HEADER = json.dumps({"schema": "ctx/notes-index/1", "fields": Row._fields}) + "\n"
_SHAPE = (str, int, int, str, str, str, list, str, str, int, dict, int, str, str)
_GONE = (str,)


class Loaded(NamedTuple):
    """The rows by path, how many lines told them, and what is wrong with the file ("" if nothing)."""

    rows: dict[str, Row]
    lines: int
    damage: str


def load(path: Path) -> Loaded:
    """Read the cache. One that is damaged gives no rows at all: they are cheap to make again."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Loaded({}, 0, "")
    except OSError as error:
        return Loaded({}, 0, (error.strerror or "unreadable").lower())
    try:
        return _parse(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return Loaded({}, 0, "it is damaged")


def _parse(text: str) -> Loaded:
    """Read all lines at once; ValueError where one is not as it should be."""
    if not text.startswith(_HEADER) or not text.endswith("\n"):
        raise ValueError("no header, or torn")
    lines = text[len(_HEADER) : -1].split("\n") if len(text) > len(_HEADER) else []
    rows: dict[str, Row] = {}
    for found in json.loads(f"[{','.join(lines)}]"):
        shape = tuple(map(type, found)) if type(found) is list else ()
        if shape == _SHAPE:
            rows[found[0]] = Row._make(found)
        elif shape == _GONE:
            rows.pop(found[0], None)
        else:
            raise ValueError("a line of another shape")
    return Loaded(rows, len(lines), "")


def _line(values: Iterable[Any]) -> str:
    text = json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n" if _is_encodable(text) else f"{json.dumps(list(values), separators=(',', ':'))}\n"


def _is_encodable(text: str) -> bool:
    """Whether there are no bytes of odd file names in it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def append(path: Path, rows: Iterable[Row] = (), gone: Iterable[str] = ()) -> None:
    """Add lines; the caller holds the lock. Its cost does not depend on the length of the file.

    A file that is damaged at its head or its end is left as it is: who reads it next makes it anew.
    """
    lines = "".join([*map(_line, rows), *(_line([one]) for one in gone)])
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        size = os.fstat(descriptor).st_size
        header = _HEADER.encode()
        if size == 0:
            os.write(descriptor, header + lines.encode())
        elif os.read(descriptor, len(header)) == header and _ends_a_line(descriptor, size):
            os.write(descriptor, lines.encode())
    finally:
        os.close(descriptor)


def _ends_a_line(descriptor: int, size: int) -> bool:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def write(path: Path, rows: Mapping[str, Row]) -> None:
    """Write the cache anew, one line a note; the caller holds the lock."""
    ordered = (rows[name] for name in sorted(rows))
    atomic_write(path, (_HEADER + "".join(map(_line, ordered))).encode(), durable=False)


def set_aside(path: Path) -> Path:
    """Rename a damaged cache, so that it can be looked at; returns its new place."""
    place = path.with_name(path.name + ".damaged")
    if place.is_dir():
        place = path.with_name(f"{path.name}.damaged-{os.urandom(3).hex()}")
    return path.replace(place)
