"""Lists of chunks that lie near each other, for FAISS: so that of a great many vectors only a few are looked at.

``vectors.faiss`` belongs to one ``vectors.bin`` and names it; beside another it is passed over. It only says which rows
are worth a look: what they are worth is computed from the vectors themselves. Nothing in it is left to FAISS to
interpret, which would trust it: its structure bears a checksum, and the rows that it names are checked.

Layout, little-endian: the lists one after the other, from the first byte on since FAISS maps files so (of each list
first its codes, a byte a dimension and row, then its row numbers, i64); the size of each list (u64), the centroids of
the lists (f32), the ranges of the codes (f32, twice the dimensions); a header (JSON), its length (u32), magic. The
lists of one language lie together, in the order of `LANGUAGES`: what a cosine is worth depends on the language.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import finalize

from ctxcli.model.errors import DataError
from ctxcli.retrieval.closeness import LANGUAGES
from ctxcli.storage.manifest import NEIGHBOURS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctxcli.index.vectors import Header as Owner
    from ctxcli.model.ports import Vectors

FILE = NEIGHBOURS
MAGIC = b"ctxnear1"
_ROW_BYTES = 8
_LEAST_LISTS, _SHARE_OF_LISTS = 128, 8
"""An eighth of the lists of a language, and at least 128, are looked into: those with the nearest centroids."""
_TIMES = 2
"""Rows that are proposed, as a multiple of those wanted, since codes of 8 bits are a little wrong."""
_LONGEST_HEADER = 1 << 16
_READ_AT_ONCE = 1 << 24


@dataclass(frozen=True, slots=True)
class Header:
    """Which vectors the lists belong to; of each language the number of its lists, and of the rows they were made for.

    `vectors` is the checksum of the vectors, `data` and `structure` those of the lists and of what comes after them.
    """

    commit: str
    fingerprint: str
    vectors: int
    dimensions: int
    rows: int
    lists: tuple[int, ...]
    made_for: tuple[int, ...]
    data: int = 0
    structure: int = 0

    def encoded(self) -> bytes:
        """As JSON in ASCII."""
        return json.dumps(asdict(self), separators=(",", ":")).encode("ascii")

    def belongs_to(self, vectors: "Owner") -> bool:
        """Whether the lists are those of these vectors."""
        mine = (self.commit, self.fingerprint, self.vectors, self.dimensions, self.rows)
        return mine == (vectors.commit, vectors.fingerprint, vectors.checksum, vectors.dimensions, vectors.chunks)


def faiss() -> Any:
    """The package, None where it is not installed or maps no files (Windows). It takes a tenth of a second to load."""
    try:
        package = import_module("faiss")
    except ImportError:
        return None
    return package if hasattr(package, "OnDiskInvertedLists") and hasattr(os, "pread") else None


class Neighbours:
    """An open file of lists; it stays readable when another takes its place. DataError where it is damaged."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        self._mapped: tuple[Any, ...] = ()
        self.is_fresh = True
        """Whether nothing has been asked yet."""
        try:
            self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            finalize(self, os.close, self._file)
            self.header, tail = _read_tail(self._file)
            count, width = sum(self.header.lists), self.header.dimensions
            self.sizes = np.frombuffer(tail, "<u8", count)
            self.centroids = np.frombuffer(tail, "<f4", count * width, 8 * count).reshape(count, width)
            self.ranges = np.frombuffer(tail, "<f4", 2 * width, 8 * count + 4 * count * width)
            if sum(self.sizes.tolist()) != self.header.rows:
                raise ValueError("its lists have another length")
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(path, error) from error

    def near(self, query: "Vectors", languages: Sequence[int], *, wanted: int) -> "NDArray[np.int64] | None":
        """The rows of some languages (of `LANGUAGES`) that may be among the `wanted` nearest, ascending.

        None where FAISS is not installed or the lists name rows that there are none of.
        """
        import numpy as np

        package = faiss()
        mapped = self._map(package) if package else ()
        if not mapped:
            return None
        index = mapped[0]
        found = [np.zeros(0, dtype=np.int64)]
        query = np.ascontiguousarray(query, dtype=np.float32)
        package.omp_set_num_threads(1)
        for language in languages:
            first, end = self.span(language)
            scores = self.centroids[first:end] @ query
            lists = np.argsort(-scores, kind="stable")[: _looked_into(len(scores))]
            number = min(_TIMES * wanted, int(self.sizes[first + lists].sum()))
            if number:
                looked = np.full((2, 1, index.nprobe), -1.0)  # of as many as of the other language; -1 is passed over
                self._fetch(first + lists)
                looked[0, 0, : len(lists)], looked[1, 0, : len(lists)] = first + lists, scores[lists]
                rows = index.search_preassigned(query[None], number, *looked)[1][0]
                found.append(rows[rows != -1])
        self.is_fresh = False
        rows = np.unique(np.concatenate(found))
        return None if len(rows) and not 0 <= rows[0] <= rows[-1] < self.header.rows else rows

    def _fetch(self, lists: "NDArray[np.int64]") -> None:
        """At the first question let the system read the lists all at once: one by one takes a second from a disk."""
        if self.is_fresh and hasattr(os, "posix_fadvise"):
            ends = self._ends
            for one in lists.tolist():
                os.posix_fadvise(self._file, ends[one], ends[one + 1] - ends[one], os.POSIX_FADV_WILLNEED)

    def span(self, language: int) -> tuple[int, int]:
        """The lists of a language: the first one, and the end."""
        ends = (0, *accumulate(self.header.lists))
        return ends[language], ends[language + 1]

    def _map(self, package: Any) -> tuple[Any, ...]:
        """The index of FAISS over the lists as they lie in the file, and what it points to; () where that fails."""
        if self._mapped:
            return self._mapped
        import numpy as np

        width = self.header.dimensions
        lists = package.OnDiskInvertedLists()
        lists.nlist, lists.code_size, lists.read_only = len(self.sizes), width, True
        lists.prefetch_nthread = 0
        lists.filename, lists.totsize = f"/dev/fd/{self._file}", os.fstat(self._file).st_size
        lists.lists.resize(len(self.sizes))
        sizes = np.ascontiguousarray(self.sizes, dtype=np.uint64)
        lists.set_all_lists_sizes(package.swig_ptr(sizes))
        quantizer = package.IndexFlatIP(width)
        kind, metric = package.ScalarQuantizer.QT_8bit, package.METRIC_INNER_PRODUCT
        index = package.IndexIVFScalarQuantizer(quantizer, width, len(self.sizes), kind, metric, False)
        package.copy_array_to_vector(np.ascontiguousarray(self.ranges, dtype=np.float32), index.sq.trained)
        index.is_trained, index.ntotal = True, self.header.rows
        try:
            lists.do_mmap()
        except RuntimeError:
            return ()
        index.replace_invlists(lists, False)
        index.nprobe = max(map(_looked_into, self.header.lists))
        self._mapped = index, lists, quantizer
        return self._mapped

    def list_of_rows(self) -> "NDArray[np.int64]":
        """The list that each row is in, -1 for a row that is in none; reads the whole file."""
        import numpy as np

        found = np.full(self.header.rows, -1, dtype=np.int64)
        for number, (start, end) in enumerate(self._spans()):
            rows = np.frombuffer(os.pread(self._file, end - start, start), "<i8")
            found[rows[(rows >= 0) & (rows < len(found))]] = number
        return found

    @cached_property
    def _ends(self) -> list[int]:
        """Where the lists end, behind the beginning of the first."""
        width = self.header.dimensions + _ROW_BYTES
        return list(accumulate((width * size for size in self.sizes.tolist()), initial=0))

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Where the row numbers of each list lie."""
        for (start, end), size in zip(pairwise(self._ends), self.sizes.tolist(), strict=True):
            yield start + self.header.dimensions * size, end

    def is_whole(self) -> bool:
        """Whether the lists are as they were written; reads the whole file."""
        from zlib import crc32

        value, at, end = 0, 0, _data_bytes(self.header)
        while at < end:
            data = os.pread(self._file, min(_READ_AT_ONCE, end - at), at)
            if not data:
                return False
            value, at = crc32(data, value), at + len(data)
        return value == self.header.data


def _looked_into(lists: int) -> int:
    return max(_LEAST_LISTS, lists // _SHARE_OF_LISTS)


def _data_bytes(header: Header) -> int:
    return (header.dimensions + _ROW_BYTES) * header.rows


def _read_tail(descriptor: int) -> tuple[Header, bytes]:
    """The header, and the structure: sizes, centroids, ranges. ValueError and such where they are not as written."""
    from zlib import crc32

    size = os.fstat(descriptor).st_size
    begin = len(MAGIC) + 4
    last = os.pread(descriptor, begin, max(0, size - begin))
    length = int.from_bytes(last[:4], "little")
    if last[4:] != MAGIC or not 0 < length < min(_LONGEST_HEADER, size):
        raise ValueError("it does not end as one")
    found = json.loads(os.pread(descriptor, length, size - begin - length))
    header = Header(**{**found, **{name: tuple(map(int, found[name])) for name in ("lists", "made_for")}})
    start, count = _data_bytes(header), sum(header.lists)
    structure = (8 + 4 * header.dimensions) * count + 8 * header.dimensions
    fits = len(header.lists) == len(LANGUAGES) and min(header.rows, header.dimensions, *header.lists) >= 0
    if not fits or start + structure != size - begin - length:
        raise ValueError("its size is wrong")
    tail = os.pread(descriptor, structure, start)
    if crc32(tail) != header.structure:
        raise ValueError("it is not as it was written")
    return header, tail


def damaged(path: Path, why: object) -> DataError:
    """The error of a file that cannot be used."""
    return DataError(f"{path} is damaged: {why}", code="neighbours_damaged", hint="make it anew: ctx kb index")


def open_neighbours(folder: Path, vectors: "Owner") -> Neighbours | None:
    """The lists of these vectors; None where there are none, or none that belong to them and can be read."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        found = Neighbours(path)
    except DataError:
        return None
    return found if found.header.belongs_to(vectors) else None
