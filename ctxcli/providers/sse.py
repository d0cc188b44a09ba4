"""Server-sent events read from bytes as they come."""

import codecs
from collections.abc import Iterable, Iterator

MOST_BYTES = 4 << 20
"""An event that is larger is an error: nothing that a chat model says is."""


class EventTooLargeError(ValueError):
    """A line or an event does not end."""


def events(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, in order; comments, names and ids are passed over.

    Lines end in LF, CRLF or CR and nowhere else (JSON may hold U+2028 as it is). Characters and line ends may be cut
    anywhere between two pieces. What stands at the end without an empty line counts too.
    """
    data: list[str] = []
    size = 0
    for line in _lines(pieces):
        if not line:
            if data:
                yield "\n".join(data)
            data, size = [], 0
        elif line.startswith(b"data:"):
            size += len(line)
            if size > MOST_BYTES:
                raise EventTooLargeError
            data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
    if data:
        yield "\n".join(data)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []  # what has come of a line that has not ended
    size = 0
    after_cr = is_behind = False
    for piece in pieces:
        if not piece:
            continue
        if not is_behind:
            piece, is_behind = piece.removeprefix(codecs.BOM_UTF8), True  # noqa: PLW2901
        if after_cr and piece.startswith(b"\n"):
            piece = piece[1:]  # noqa: PLW2901 - the second half of a CRLF
        after_cr = piece.endswith(b"\r")
        if size + len(piece) > MOST_BYTES:
            raise EventTooLargeError
        *whole, rest = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if whole:
            yield b"".join((*begun, whole[0]))
            yield from whole[1:]
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
    if size:
        yield b"".join(begun)
