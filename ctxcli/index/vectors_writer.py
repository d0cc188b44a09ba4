"""Makes the file of vectors: keeps what it can, embeds what is new, goes on where it was interrupted.

What is new is appended to ``vectors.part`` as it comes, each record with a checksum, so that a killed run loses at most
one batch. The finished file is written beside the old one and takes its place at once.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ctxcli.index.vectors import DIGEST_BYTES, FILE, MAGIC, Header, VectorFile, places
from ctxcli.model.errors import DataError, ServiceError
from ctxcli.storage.files import TEMPORARY, reason
from ctxcli.storage.manifest import VECTORS_PART

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctxcli.model.ports import Vectors

PART = VECTORS_PART


class ChunkRows(NamedTuple):
    """The vectors of a chunk: its row, and the rows of its units."""

    row: "Vectors"
    units: "NDArray[np.float16]"


class OtherWidthError(ServiceError):
    """A row is not as wide as those before: another model answers to the name."""


def digest_of(texts: Sequence[str]) -> bytes:
    """16 bytes that stand for what is embedded of a chunk."""
    from hashlib import blake2b

    found = blake2b(digest_size=DIGEST_BYTES)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "little") + data)
    return found.digest()


class VectorStore:
    """The vectors that a model has made so far for a knowledge base, by digest of what was embedded.

    All rows are of one width: `add` refuses others (OtherWidthError). With `anew` what is there is left out.
    """

    def __init__(self, folder: Path, fingerprint: str, *, anew: bool = False) -> None:
        self._folder, self._fingerprint = folder, fingerprint
        self._part = folder / PART
        self._new: dict[bytes, tuple[int, int]] = {}
        self._width = 0
        self._old: VectorFile | None = None
        with suppress(DataError):
            old = VectorFile(folder / FILE)
            if old.header.fingerprint == fingerprint and old.is_whole() and not anew:
                self._old = old
        self._stream: BinaryIO | None = None
        self._resume(anew=anew)
        width = self._old.header.dimensions if self._old else 0
        if self._width and width and self._width != width:  # the part was begun when the model had changed
            self._old = None
        self._width = self._width or width
        self._rows = {digest: row for row, digest in enumerate(self._old.digests)} if self._old else {}

    @property
    def old(self) -> Header | None:
        """The header of the file that is there, if it is of this model and whole."""
        return self._old.header if self._old else None

    def units(self, digest: bytes) -> int:
        """How many units' rows a chunk has."""
        return self._new[digest][1] if digest in self._new else len(self._of(digest).units)

    def old_chunks(self) -> dict[tuple[str, str], list[tuple[bytes, int]]]:
        """What was embedded of each document and its languages, by document and stamp."""
        if self._old is None:
            return {}
        chunks, row_of = list(zip(self._old.digests, self._old.languages.tolist(), strict=True)), self._old.row_of
        return {
            (doc, stamp): chunks[row_of[doc] : row_of[doc] + count] for doc, stamp, count in self._old.header.documents
        }

    def has(self, digest: bytes) -> bool:
        """Whether it is embedded already."""
        return digest in self._new or digest in self._rows

    def add(self, digest: bytes, rows: "Vectors") -> None:
        """Keep the rows of a chunk: the first is its own, the others are its units'."""
        from zlib import crc32

        import numpy as np

        if self._width not in (0, rows.shape[1]):
            raise OtherWidthError(
                f"the model gives {rows.shape[1]} numbers a text, and gave {self._width} before",
                code="model_changed",
                hint="see which model answers to that name, and index again",
            )
        count = len(rows) - 1
        data = digest + count.to_bytes(4, "little")
        start = len(data)
        data += np.asarray(rows[0], dtype="<f4").tobytes() + np.asarray(rows[1:], dtype="<f2").tobytes()
        try:
            if self._stream is None:
                self._stream = self._begin(rows.shape[1])
            self._new[digest] = (self._stream.tell() + start, count)
            self._stream.write(data + crc32(data).to_bytes(4, "little"))
        except OSError as error:
            raise _unwritable(self._part, error) from error

    def save(self) -> None:
        """Let what was added last a kill of this process."""
        if self._stream:
            self._stream.flush()

    def close(self) -> None:
        """Close the file that new rows are kept in; it stays."""
        if self._stream:
            self._stream.close()
            self._stream = None

    def _begin(self, width: int) -> BinaryIO:
        stream = self._part.open("ab")
        if not stream.tell():
            name = self._fingerprint.encode("utf-8")
            stream.write(MAGIC + len(name).to_bytes(4, "little") + name + width.to_bytes(4, "little"))
        self._width = width
        return stream

    def _resume(self, *, anew: bool) -> None:
        """Take over what an interrupted run has kept, as far as it is whole; begin anew where it is another model's."""
        try:
            if anew:
                self._part.unlink(missing_ok=True)
            data = self._part.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unwritable(self._part, error) from error
        name = self._fingerprint.encode("utf-8")
        head = MAGIC + len(name).to_bytes(4, "little") + name
        at = 0
        if data.startswith(head) and len(data) >= len(head) + 4:
            at = len(head) + 4
            self._width = int.from_bytes(data[len(head) : at], "little")
            for digest, start, count, end in _records(data, at, self._width):
                self._new[digest] = (start, count)
                at = end
        if at < len(data):
            os.truncate(self._part, at)

    def write(self, header: Header, chunks: Sequence[tuple[bytes, int]]) -> None:
        """Put a file with these chunks (digest, language), all of which are there, in the place of the old one."""
        self.close()
        temporary = self._folder / f"{TEMPORARY}{os.getpid()}-vectors"
        try:
            _fill(temporary, header, chunks, self._of)
            temporary.replace(self._folder / FILE)
            self._part.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self._folder / FILE, error) from error
        finally:
            temporary.unlink(missing_ok=True)

    def _of(self, digest: bytes) -> ChunkRows:
        if digest in self._new:
            start, count = self._new[digest]
            middle = start + 4 * self._width
            end = middle + 2 * self._width * count
            units = self._kept[middle:end].view("<f2").reshape(count, self._width)
            return ChunkRows(self._kept[start:middle].view("<f4"), units)
        assert self._old is not None
        row = self._rows[digest]
        return ChunkRows(self._old.rows[row], self._old.unit_rows(row))

    @cached_property
    def _kept(self) -> "NDArray[np.uint8]":
        """The part file, mapped into memory; nothing is added to it any more."""
        import numpy as np

        return np.memmap(self._part, dtype=np.uint8, mode="r")


def _records(data: bytes, at: int, width: int) -> Iterator[tuple[bytes, int, int, int]]:
    """The whole records from `at` on: digest, where its rows begin, its number of units, where it ends."""
    from zlib import crc32

    while at + DIGEST_BYTES + 4 <= len(data):
        start = at + DIGEST_BYTES + 4
        units = int.from_bytes(data[start - 4 : start], "little")
        end = start + 4 * width + 2 * width * units
        if len(data) < end + 4 or crc32(data[at:end]) != int.from_bytes(data[end : end + 4], "little"):
            return
        yield data[at : at + DIGEST_BYTES], start, units, end + 4
        at = end + 4


def _fill(
    path: Path, header: Header, chunks: Sequence[tuple[bytes, int]], rows_of: Callable[[bytes], ChunkRows]
) -> None:
    """Write a whole file; the checksum of all after the header comes to stand in it."""
    from dataclasses import replace
    from zlib import crc32

    import numpy as np

    header = replace(header, checksum=0xFFFFFFFF)  # as many digits as the true one may have
    encoded = header.encoded()
    at = places(len(encoded), header.chunks, header.units, header.dimensions)
    with path.open("wb") as stream:
        stream.truncate(at.end)
    whole = np.memmap(path, dtype=np.uint8, mode="r+", shape=(at.end,))
    digests = b"".join(digest for digest, _ in chunks)
    whole[at.digests : at.digests + len(digests)] = np.frombuffer(digests, np.uint8)
    whole[at.languages : at.languages + len(chunks)] = [language for _, language in chunks]
    first_units = whole[at.firsts : at.firsts + 4 * (len(chunks) + 1)].view("<u4")
    width, unit = header.dimensions, at.units
    for number, (digest, _) in enumerate(chunks):
        found = rows_of(digest)
        first_units[number + 1] = first_units[number] + len(found.units)
        start = at.rows + 4 * width * number
        whole[start : start + 4 * width].view("<f4")[:] = found.row
        size = 2 * width * len(found.units)
        whole[unit : unit + size].view("<f2")[:] = found.units.reshape(-1)
        unit += size
    encoded = replace(header, checksum=crc32(whole[at.digests :].data)).encoded().ljust(len(encoded))
    begin = MAGIC + len(encoded).to_bytes(4, "little") + encoded
    whole[: len(begin)] = np.frombuffer(begin, np.uint8)
    whole.flush()
    del whole
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path} cannot be written: {reason(error)}", code="unwritable", hint="free the disk or the folder"
    )
