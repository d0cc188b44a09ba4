"""The vectors of a knowledge base: one file beside the index, mapped into memory, searched exactly.

Where there are very many, `neighbours` proposes rows and only those are looked at.

``vectors.bin`` holds, for one commit of the index and one embedding model, a row for each chunk (32-bit) and one for
each of its quotable units (16-bit). It names both: a file that belongs to another commit or model is refused, never
used in part. Layout, little-endian: magic, length of the header, header (JSON), and from multiples of 64 on the
digests of what was embedded (16 bytes a chunk), the language of each chunk (a byte), the first unit row of each chunk
and an end (u32), chunk rows, unit rows.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcli.index.neighbours import Neighbours, open_neighbours
from ctxcli.model.errors import DataError
from ctxcli.retrieval.closeness import LANGUAGES, Nearness, Scale, Scales, nearness
from ctxcli.storage.manifest import VECTORS
from ctxcli.text.question import Language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctxcli.model.ports import Vectors

FILE = VECTORS
MAGIC = b"ctxvec1\n"
DIGEST_BYTES = 16
_ALIGNED = 64
_LONGEST_HEADER = 256 << 20
_BLOCK_ROWS = 1 << 16
_OFF_LENGTH = 0.01
"""How far the length of a row may be from 1; that of 16-bit rows is off by 0.0005 at most."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of vectors belongs to, and its sizes.

    `commit` is that of the index, `model` the name and `fingerprint` the identity of the embedding model, `scales` what
    its cosines are worth. `documents` lists (document, stamp of what its chunks are made from, number of chunks), in
    the order of the rows.
    """

    commit: str
    model: str
    fingerprint: str
    dimensions: int
    chunks: int
    units: int
    scales: Scales
    documents: tuple[tuple[str, str, int], ...]
    checksum: int = 0

    def encoded(self) -> bytes:
        """As JSON in ASCII."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "scales"}
        data["scales"] = {name: asdict(scale) for name, scale in self.scales.items()}
        return json.dumps(data, separators=(",", ":")).encode("ascii")

    @classmethod
    def decoded(cls, data: bytes) -> "Header":
        """From JSON; ValueError, KeyError or TypeError where it is none."""
        found: dict[str, Any] = json.loads(data)
        found["scales"] = {name: Scale(**scale) for name, scale in found["scales"].items()}
        found["documents"] = tuple((str(doc), str(stamp), int(count)) for doc, stamp, count in found["documents"])
        return cls(**found)


def aligned(size: int) -> int:
    """The next multiple of 64."""
    return -(-size // _ALIGNED) * _ALIGNED


class Places(NamedTuple):
    """Where the sections of a file begin, and where it ends."""

    digests: int
    languages: int
    firsts: int
    rows: int
    units: int
    end: int


def places(header_bytes: int, chunks: int, units: int, dimensions: int) -> Places:
    """The sections of a file of that size."""
    digests = aligned(len(MAGIC) + 4 + header_bytes)
    languages = aligned(digests + DIGEST_BYTES * chunks)
    firsts = aligned(languages + chunks)
    rows = aligned(firsts + 4 * (chunks + 1))
    unit_rows = aligned(rows + 4 * dimensions * chunks)
    return Places(digests, languages, firsts, rows, unit_rows, unit_rows + 2 * dimensions * units)


class VectorFile:
    """An open file of vectors; it stays readable when another takes its place."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._path = path
        self.neighbours: Neighbours | None = None
        """Where there are very many rows: which of them are worth a look."""
        try:
            with path.open("rb") as stream:
                start = stream.read(len(MAGIC) + 4)
                length = int.from_bytes(start[len(MAGIC) :], "little")
                if start[: len(MAGIC)] != MAGIC or not 0 < length < _LONGEST_HEADER:
                    raise ValueError("it does not begin as one")
                self.header = header = Header.decoded(stream.read(length))
                self._places = places(length, header.chunks, header.units, header.dimensions)
                if path.stat().st_size != self._places.end:
                    raise ValueError("its size is wrong")
                self._bytes = np.memmap(stream, dtype=np.uint8, mode="r")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(path, error) from error

    def _view(self, start: int, size: int, kind: str) -> Any:
        return self._bytes[start : start + size].view(kind)

    @cached_property
    def digests(self) -> list[bytes]:
        """What was embedded of each chunk, as a digest."""
        raw = self._view(self._places.digests, DIGEST_BYTES * self.header.chunks, "u1").tobytes()
        return [raw[at : at + DIGEST_BYTES] for at in range(0, len(raw), DIGEST_BYTES)]

    @cached_property
    def languages(self) -> "NDArray[np.uint8]":
        """The language of each chunk, as an index into `LANGUAGES`."""
        found: NDArray[np.uint8] = self._view(self._places.languages, self.header.chunks, "u1")
        return found

    @cached_property
    def _firsts(self) -> "NDArray[np.uint32]":
        found: NDArray[np.uint32] = self._view(self._places.firsts, 4 * (self.header.chunks + 1), "<u4")
        return found

    @cached_property
    def rows(self) -> "Vectors":
        """A row for each chunk."""
        header = self.header
        found: Vectors = self._view(self._places.rows, 4 * header.dimensions * header.chunks, "<f4")
        return found.reshape(header.chunks, header.dimensions)

    def unit_rows(self, row: int) -> "NDArray[np.float16]":
        """The rows of the units of a chunk."""
        width = self.header.dimensions
        first, end = int(self._firsts[row]), int(self._firsts[row + 1])
        if not 0 <= first <= end <= self.header.units:
            raise damaged(self._path, "its units are out of order")
        found: NDArray[np.float16] = self._view(
            self._places.units + 2 * width * first, 2 * width * (end - first), "<f2"
        )
        return found.reshape(end - first, width)

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The first row of each document."""
        found, at = {}, 0
        for doc, _, count in self.header.documents:
            found[doc] = at
            at += count
        return found

    def key(self, row: int) -> str:
        """The id of the chunk of a row."""
        from bisect import bisect_right

        at = bisect_right(self._starts, row) - 1
        return f"{self.header.documents[at][0]}:{row - self._starts[at]}"

    @cached_property
    def _starts(self) -> list[int]:
        return list(self.row_of.values())

    def is_whole(self) -> bool:
        """Whether all rows are as they were written; reads the whole file."""
        from zlib import crc32

        return crc32(self._bytes[self._places.digests :].data) == self.header.checksum

    def nearest(
        self,
        query: "Vectors",
        language: Language,
        *,
        limit: int,
        docs: Collection[str] | None = None,
        keys: Collection[str] | None = None,
    ) -> list[str]:
        """The `limit` chunks nearest in meaning to a query in `language`, best first; ties by row.

        `docs` and `keys` say which may be taken; among those the search is always exact. None that is as far away as
        what is unrelated.
        """
        import numpy as np

        self._check(query)
        rows = self._allowed(docs, keys)
        if rows is None and self.neighbours:
            known = [at for at, other in enumerate(LANGUAGES) if self.header.scales[f"{language}-{other}"].known]
            is_fresh = self.neighbours.is_fresh
            rows = self.neighbours.near(query, known, wanted=limit)
            if rows is not None and is_fresh:
                self._fetch(rows)
        if rows is None:
            rows = np.arange(self.header.chunks)
        near = np.round(self._nearness(query, language, rows), 5)
        if not np.isfinite(near).all():
            raise damaged(self._path, "some numbers are none")
        if len(near) > limit:
            chosen = np.flatnonzero(near >= np.partition(near, len(near) - limit)[len(near) - limit])
        else:
            chosen = np.arange(len(near))
        ranked = chosen[np.argsort(-near[chosen], kind="stable")][:limit]
        self._check_lengths(self.rows[rows[ranked]])
        return [self.key(int(rows[at])) for at in ranked if near[at] > 0]

    def _fetch(self, rows: "NDArray[np.int64]") -> None:
        """Let the system read these rows all at once: one by one takes a second from a disk."""
        import mmap

        mapped: Any = self._bytes.base
        width = 4 * self.header.dimensions
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_WILLNEED"):
            for row in rows.tolist():
                start = (self._places.rows + width * row) // mmap.PAGESIZE * mmap.PAGESIZE
                mapped.madvise(mmap.MADV_WILLNEED, start, min(width + mmap.PAGESIZE, len(mapped) - start))

    def _check_lengths(self, rows: "Vectors") -> None:
        """DataError where rows that are about to be used have not length 1 (or 0, of a text without words)."""
        import numpy as np

        squares = np.einsum("ij,ij->i", rows, rows)
        if not ((abs(squares - 1) < 2 * _OFF_LENGTH) | (squares == 0)).all():
            raise damaged(self._path, "rows have not the length that they were written with")

    def _check(self, query: "Vectors") -> None:
        if self.header.chunks and len(query) != self.header.dimensions:
            raise DataError(
                f"the model gives {len(query)} numbers a text, the vectors have {self.header.dimensions}",
                code="vectors_mismatch",
                hint=f"embed all anew: ctx kb index --kb {self._path.parent.name} --embed none, then with --embed "
                f"{self.header.model}",
            )

    def _allowed(self, docs: Collection[str] | None, keys: Collection[str] | None) -> "NDArray[np.int64] | None":
        """The rows that may be taken, ascending; None for all."""
        import numpy as np

        if docs is None and keys is None:
            return None
        allowed = np.ones(self.header.chunks, dtype=bool)
        if docs is not None:
            for doc, (first, count) in self._spans.items():
                if doc not in docs:
                    allowed[first : first + count] = False
        if keys is not None:
            named = np.zeros(self.header.chunks, dtype=bool)
            named[[self._row(key) for key in keys]] = True
            allowed &= named
        return np.flatnonzero(allowed)

    def _nearness(self, query: "Vectors", language: Language, rows: "NDArray[np.int64]") -> "Vectors":
        """How near the chunks of some rows are, on the scales of their languages."""
        import numpy as np

        cosines, languages = self._cosines(query, rows), self.languages[rows]
        found = np.zeros(len(rows), dtype=np.float32)
        for number, other in enumerate(LANGUAGES):
            scale = self.header.scales[f"{language}-{other}"]
            if scale.known:
                here = languages == number
                found[here] = (cosines[here] - scale.unrelated) / (scale.related - scale.unrelated)
        return found

    def _cosines(self, query: "Vectors", rows: "NDArray[np.int64]") -> "Vectors":
        """The cosine with the chunks of some rows, block by block so that memory stays small."""
        import numpy as np

        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        if 2 * len(rows) < self.header.chunks:
            return np.concatenate(
                [self.rows[rows[at : at + _BLOCK_ROWS]] @ query for at in range(0, len(rows), _BLOCK_ROWS)]
            )
        blocks = range(0, self.header.chunks, _BLOCK_ROWS)
        found: Vectors = np.concatenate([self.rows[at : at + _BLOCK_ROWS] @ query for at in blocks])[rows]
        return found

    def nearness(self, query: "Vectors", language: Language, keys: Iterable[str]) -> dict[str, Nearness]:
        """How near some chunks and their units are; DataError where one has no vector."""
        import numpy as np

        found = {}
        for key in keys:
            row = self._row(key)
            unit_rows = np.asarray(self.unit_rows(row), dtype=np.float32)
            self._check_lengths(self.rows[row : row + 1])
            self._check_lengths(unit_rows)
            units = unit_rows @ query
            if self.languages[row] >= len(LANGUAGES):
                raise damaged(self._path, f"the language of {key} is none")
            other = LANGUAGES[self.languages[row]]
            found[key] = nearness(
                self.header.scales[f"{language}-{other}"],
                float(self.rows[row] @ query),
                units.tolist(),
                foreign=other != language,
            )
        return found

    def _row(self, key: str) -> int:
        doc, _, ordinal = key.rpartition(":")
        first, count = self._spans.get(doc, (0, 0))
        if int(ordinal) >= count:
            raise damaged(self._path, f"it has no {key}")
        return first + int(ordinal)

    @cached_property
    def _spans(self) -> Mapping[str, tuple[int, int]]:
        return {doc: (self.row_of[doc], count) for doc, _, count in self.header.documents}


def damaged(path: Path, why: object) -> DataError:
    """The error of a file that cannot be used."""
    return DataError(
        f"the vectors in {path} are damaged: {why}",
        code="vectors_damaged",
        hint="embed the documents again: ctx kb index",
    )


def open_vectors(folder: Path, *, commit: str, name: str, model: str = "") -> VectorFile:
    """The vectors of the knowledge base `name` in `folder`, which must be those of the index's `commit`.

    `model` is the one that it has chosen, if any.
    """
    path = folder / FILE
    if not path.exists():
        raise DataError(
            f"the knowledge base {name!r} has no vectors",
            code="no_vectors",
            hint=f"make them: ctx kb index --kb {name}{'' if model else ' --embed usem3'}",
        )
    found = VectorFile(path)
    if found.header.commit != commit:
        raise DataError(
            f"the vectors of {name!r} are not those of its index as it is now",
            code="vectors_behind",
            hint=f"bring them up to date: ctx kb index --kb {name}",
        )
    found.neighbours = open_neighbours(folder, found.header)
    return found


def header_of(folder: Path) -> Header | None:
    """The header of the vectors there, None where there are none that can be read."""
    try:
        return VectorFile(folder / FILE).header
    except DataError:
        return None
