"""What an index run and its worker processes say to each other: pickles with a small head."""

import struct
from dataclasses import dataclass
from typing import BinaryIO

from ctxcli.model.document import Document
from ctxcli.model.prepared import Prepared

_HEAD = struct.Struct(">?Q")

TRANSIENT = frozenset({"unreadable_file", "vanished", "changed"})
"""Reasons that say nothing about the content: what was indexed before is kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """Read `file`, named `name`. Where its digest is in `known`, it need not be prepared.

    `whole` asks for the document itself instead of what an index takes.
    """

    file: str
    name: str
    size: int
    known: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """A file read; `prepared` is None where the digest was known, `document` is set where it was asked for."""

    size: int
    mtime_ns: int
    sha256: str
    prepared: Prepared | None
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A file not read, or not understood; `sha256` is "" where the bytes were not had."""

    code: str
    message: str
    hint: str = ""
    size: int = -1
    mtime_ns: int = -1
    sha256: str = ""


Outcome = Read | Failed


def send(stream: BinaryIO, payload: bytes, *, last: bool = False) -> None:
    """Write one message; `last` says that the sender ends after it."""
    stream.write(_HEAD.pack(last, len(payload)))
    stream.write(payload)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[bytes, bool] | None:
    """Read one message, and whether it is the last; None at the end of the stream, even within a message."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    last, size = _HEAD.unpack(head)
    payload = stream.read(size)
    return (payload, last) if len(payload) == size else None
