"""The cache over the notes: JSON, one note a line, appended to, and written anew now and then.

The first line names the format. A later line about a path stands for an earlier one; a line that holds only a path
says that the note is gone. Below what is written at once stands its checksum, so what is damaged is never believed.
Lists, not objects: half the work to read, and ten thousand lines are read at once.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import add, itemgetter
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from ctxcli.storage.files import atomic_write

FILE = "notes-index.jsonl"


class Row(NamedTuple):
    """A note as it was when its file was read. `path` is relative to the notes folder.

    `stamp` and `size` tell whether the file has changed since; `updated_ms` orders (Unix time, milliseconds).
    The content begins at the byte `body`. `odd` says that it must be decoded and folded to be searched: it is not
    UTF-8, or has full-width letters or marks apart from their letters. `problem` is ``line:message`` for front matter
    that cannot be read.
    """

    path: str
    id: str
    title: str
    type: str
    created_at: str
    updated_at: str
    stamp: int
    size: int
    updated_ms: int
    body: int
    tags: list[str]
    extra: dict[str, Any] = {}  # noqa: RUF012 - no class attribute, and never changed
    odd: bool = False
    problem: str = ""


_HEADER = json.dumps({"schema": "ctx/notes-index/1", "fields": Row._fields}).encode() + b"\n"
_REST: tuple[dict[str, Any], bool, str] = ({}, False, "")
"""The last fields, which are left out of a line where they say nothing."""
_LENGTH = len(Row._fields)
_SHORT = _LENGTH - len(_REST)
_CHECKSUM = b'\n{"crc":"'
_CHECKSUM_LENGTH = len(b'00000000"}')


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
        return _parse(data)
    except (ValueError, TypeError, IndexError, RecursionError):
        return Loaded({}, 0, "it is damaged")


def _parse(data: bytes) -> Loaded:
    """Read all lines at once; an error of some kind where the file is not as it should be."""
    if not data.startswith(_HEADER):
        raise ValueError("another header")
    first, *others = data[len(_HEADER) - 1 :].split(_CHECKSUM)
    batches = [first, *(part[_CHECKSUM_LENGTH:] for part in others)]
    if batches[-1] != b"\n":
        raise ValueError("torn")
    for batch, following in zip(batches, others, strict=False):
        if int(following[:8], 16) != crc32(batch):
            raise ValueError("a wrong checksum")
    lines = b"".join(batches[:-1])
    found = json.loads(b"[" + lines[1:].replace(b"\n", b",") + b"]")
    return Loaded(_rows(found), len(found) + len(others) + 1, "")


def _rows(found: list[list[Any]]) -> dict[str, Row]:
    """The rows by path. Ten thousand at once, so with as few steps of Python as can be."""
    rest = list(_REST)
    lengths = set(map(len, found))
    if lengths == {_SHORT}:
        found = list(map(add, found, repeat(rest)))
    elif lengths:
        found = [one + rest if len(one) == _SHORT else one for one in found]
    if lengths <= {_SHORT, _LENGTH}:
        return dict(zip(map(itemgetter(0), found), map(tuple.__new__, repeat(Row), found), strict=False))
    rows: dict[str, Row] = {}
    for one in found:
        if len(one) == _LENGTH:
            rows[one[0]] = Row._make(one)
        else:
            (path,) = one
            rows.pop(path, None)
    return rows


def _batch(values: Iterable[Sequence[Any]]) -> bytes:
    """Lines of rows, or of paths alone, and their checksum."""
    lines = b"".join(map(_line, values))
    return lines + _CHECKSUM[1:] + b'%08x"}\n' % crc32(b"\n" + lines[:-1] if lines else b"")


def _line(values: Sequence[Any]) -> bytes:
    kept = values[:_SHORT] if tuple(values[_SHORT:]) == _REST else values
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # bytes in odd file names
        return json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def append(file: Path, rows: Iterable[Row] = (), gone: Iterable[str] = ()) -> None:
    """Add lines; the caller holds the lock. Its cost does not depend on the length of the file.

    A file that is damaged at its head or its end is left as it is: who reads it next makes it anew.
    """
    batch = _batch([*rows, *([path] for path in gone)])
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        size = os.fstat(descriptor).st_size
        if size == 0:
            os.write(descriptor, _HEADER + batch)
        elif os.read(descriptor, len(_HEADER)) == _HEADER and _ends_well(descriptor, size):
            os.write(descriptor, batch)
    finally:
        os.close(descriptor)


def _ends_well(descriptor: int, size: int) -> bool:
    os.lseek(descriptor, size - 3, os.SEEK_SET)
    return os.read(descriptor, 3) == b'"}\n'


def write(path: Path, rows: Mapping[str, Row]) -> None:
    """Write the cache anew, one line a note; the caller holds the lock."""
    atomic_write(path, _HEADER + _batch(rows[name] for name in sorted(rows)), durable=False)


def set_aside(path: Path) -> Path:
    """Rename a damaged cache, so that it can be looked at; returns its new place."""
    place = path.with_name(path.name + ".damaged")
    if place.is_dir():
        place = path.with_name(f"{path.name}.damaged-{os.urandom(3).hex()}")
    return path.replace(place)
