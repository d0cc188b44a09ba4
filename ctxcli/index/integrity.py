"""Whether the files of an index are as the engine wrote them.

Reading checks what it touches: the engine knows files that are missing or cut short, and each entry bears a checksum.
Only an index run reads all files through and compares them with the checksums in their footers.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxcli.model.errors import DataError

_FOOTER_MAGIC = 1337
_FOOTER = (".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term", ".del")
_CHECK_BYTES = 4


def unreadable(message: str) -> DataError:
    """The error of an index that cannot be used."""
    return DataError(message, code="index_unreadable", hint="build it anew: ctx kb index --rebuild")


@contextmanager
def damage_told(directory: Path) -> Iterator[None]:
    """Turn what the engine raises on damaged files, its panics too, into DataError."""
    try:
        yield
    except (ValueError, OSError, LookupError, TypeError) as error:
        raise unreadable(f"the index in {directory} is damaged: {_reason(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of the engine's binding, which names it nowhere
            raise
        raise unreadable(f"the index in {directory} is damaged: the engine gave up") from error


@contextmanager
def muffled() -> Iterator[None]:
    """Keep what the engine itself writes on the process's stderr when it gives up: pages of stack."""
    try:
        kept = os.dup(2)
    except OSError:  # there is no stderr
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def seal(text: bytes, *rest: bytes) -> bytes:
    """`text` behind a checksum of itself and of all that is stored beside it."""
    return _checksum(text, rest).to_bytes(_CHECK_BYTES, "little") + text


def unseal(sealed: bytes, *rest: bytes) -> bytes:
    """The text of `seal`; ValueError where it, or what was beside it, is not what it was."""
    text = sealed[_CHECK_BYTES:]
    if len(sealed) < _CHECK_BYTES or int.from_bytes(sealed[:_CHECK_BYTES], "little") != _checksum(text, rest):
        raise ValueError("an entry does not fit its checksum")
    return text


def _checksum(text: bytes, rest: tuple[bytes, ...]) -> int:
    from zlib import crc32

    value = crc32(text)
    for part in rest:
        value = crc32(part, value)
    return value


def damaged_file(generation: Path) -> str:
    """The name of a file of the last commit whose content does not fit its footer, "" if there is none.

    Raises OSError or ValueError where the list of those files cannot be read. What interrupted runs left is no damage.
    """
    import json

    committed = json.loads((generation / "meta.json").read_bytes())["segments"]
    segments = {segment["segment_id"].replace("-", "") for segment in committed}
    for path in sorted(generation.iterdir()):
        if path.name.partition(".")[0] in segments and path.suffix in _FOOTER and not _fits_footer(path):
            return path.name
    return ""


def _fits_footer(path: Path) -> bool:
    """Tantivy ends each file with a JSON footer that holds a CRC-32, its length and a magic number."""
    import json
    from mmap import ACCESS_READ, mmap
    from zlib import crc32

    with path.open("rb") as stream:
        if path.stat().st_size < 8:
            return False
        with mmap(stream.fileno(), 0, access=ACCESS_READ) as content, memoryview(content) as view:
            length, magic = (int.from_bytes(view[at : at + 4 or None], "little") for at in (-8, -4))
            body = len(view) - 8 - length
            if magic != _FOOTER_MAGIC or body < 0:
                return False
            try:
                return crc32(view[:body]) == int(json.loads(bytes(view[body:-8]))["crc"])
            except (ValueError, LookupError, TypeError):
                return False
