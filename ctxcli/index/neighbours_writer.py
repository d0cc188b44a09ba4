"""Makes the lists of neighbouring chunks with FAISS; after a small change only puts new chunks into the old lists."""

import os
from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

from ctxcli.index.neighbours import FILE, MAGIC, Header, Neighbours, faiss, open_neighbours
from ctxcli.index.vectors import FILE as VECTORS
from ctxcli.index.vectors import VectorFile
from ctxcli.model.errors import DataError
from ctxcli.retrieval.closeness import LANGUAGES
from ctxcli.storage.files import TEMPORARY, processors, reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ctxcli.model.ports import Vectors

_LISTS = 4
"""Lists, as a multiple of the square root of the rows."""
_SAMPLE = 32
"""Rows that a list's centroid is found from, on average."""
_ROUNDS = 6
"""Rounds of k-means."""
_SEED = 1
_BLOCK_ROWS = 1 << 14

Outcome = Literal["not needed", "kept", "made", "no faiss"]


class Former(NamedTuple):
    """Vectors and lists as they were before a run; both stay readable when others take their places."""

    vectors: VectorFile
    neighbours: Neighbours


class _Lists(NamedTuple):
    """A centroid for each list, those of one language together, and the list of each row.

    By language: the number of lists, and of the rows that the centroids were found for.
    """

    centroids: "Vectors"
    of_row: "NDArray[np.int64]"
    counts: tuple[int, ...]
    made_for: tuple[int, ...]
    ranges: "Vectors"


def former(folder: Path) -> Former | None:
    """What is there before a run; None where there is nothing that can be used."""
    if not (folder / FILE).exists():
        return None
    with suppress(DataError):
        vectors = VectorFile(folder / VECTORS)
        neighbours = open_neighbours(folder, vectors.header)
        if neighbours:
            return Former(vectors, neighbours)
    return None


def bring(folder: Path, before: Former | None, *, above: int) -> Outcome:
    """Bring the lists in `folder` to its vectors; there are none for up to `above` chunks, or without FAISS."""
    path, vectors = folder / FILE, VectorFile(folder / VECTORS)
    package = faiss() if vectors.header.chunks > above else None
    if package is None:
        path.unlink(missing_ok=True)
        return "no faiss" if vectors.header.chunks > above else "not needed"
    there = open_neighbours(folder, vectors.header)
    if there and there.is_whole():
        return "kept"
    package.omp_set_num_threads(processors())
    lists = _updated(package, vectors, before) or _made(package, vectors)
    temporary = folder / f"{TEMPORARY}{os.getpid()}-neighbours"
    try:
        with temporary.open("wb") as stream:
            _write(stream, package, vectors, lists)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {reason(error)}", code="unwritable", hint="free the disk or the folder"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
    return "made"


def _rows_of(vectors: VectorFile) -> "list[NDArray[np.intp]]":
    """The rows of each language."""
    import numpy as np

    return [np.flatnonzero(vectors.languages == number) for number in range(len(LANGUAGES))]


def _made(package: Any, vectors: VectorFile) -> _Lists:
    """New lists, by k-means over a sample of the rows of each language; the same sample gives the same lists."""
    import numpy as np

    width, rows = vectors.header.dimensions, _rows_of(vectors)
    counts = tuple(min(len(here), round(_LISTS * len(here) ** 0.5)) for here in rows)
    centroids, samples = [], []
    for here, count in zip(rows, counts, strict=True):
        if count:
            chosen = np.random.default_rng(_SEED).choice(here, min(len(here), _SAMPLE * count), replace=False)
            samples.append(vectors.rows[np.sort(chosen)])
            limits = {"min_points_per_centroid": 1, "max_points_per_centroid": len(chosen)}  # it warns, or takes fewer
            means = package.Kmeans(width, count, niter=_ROUNDS, seed=_SEED, spherical=True, **limits)
            means.train(samples[-1])
            centroids.append(means.centroids)
    quantizer = package.ScalarQuantizer(width, package.ScalarQuantizer.QT_8bit)
    quantizer.train(np.concatenate(samples))
    ranges = package.vector_to_array(quantizer.trained)
    of_row = np.full(vectors.header.chunks, -1, dtype=np.int64)
    lists = _Lists(np.concatenate(centroids), of_row, counts, tuple(map(len, rows)), ranges)
    return _assigned(package, vectors, lists)


def _updated(package: Any, vectors: VectorFile, before: Former | None) -> _Lists | None:
    """The lists that were there, with rows that are gone left out and new ones put in.

    None where there were none of this model, or the rows of a language have become twice or half as many.
    """
    import numpy as np

    model = attrgetter("fingerprint", "dimensions")
    if before is None or model(before.vectors.header) != model(vectors.header):
        return None
    old = before.neighbours
    for here, then in zip(_rows_of(vectors), old.header.made_for, strict=True):
        if not then <= 2 * len(here) <= 4 * then:
            return None
    known = dict(zip(before.vectors.digests, old.list_of_rows().tolist(), strict=True))
    of_row = np.array([known.get(digest, -1) for digest in vectors.digests], dtype=np.int64)
    lists = _Lists(old.centroids, of_row, old.header.lists, old.header.made_for, old.ranges)
    return _assigned(package, vectors, lists)


def _assigned(package: Any, vectors: VectorFile, lists: _Lists) -> _Lists:
    """Put each row that is in no list into the nearest one of its language."""
    import numpy as np

    of_row, first = lists.of_row, 0
    for here, count in zip(_rows_of(vectors), lists.counts, strict=True):
        new = here[of_row[here] < 0]
        if len(new):
            index = package.IndexFlatIP(vectors.header.dimensions)
            index.add(np.ascontiguousarray(lists.centroids[first : first + count], dtype=np.float32))
            for at in range(0, len(new), _BLOCK_ROWS):
                block = new[at : at + _BLOCK_ROWS]
                of_row[block] = first + index.search(vectors.rows[block], 1)[1][:, 0]
        first += count
    return lists


def _write(stream: BinaryIO, package: Any, vectors: VectorFile, lists: _Lists) -> None:
    """Write a whole file, list by list."""
    import numpy as np

    width, count = vectors.header.dimensions, len(lists.centroids)
    quantizer = package.ScalarQuantizer(width, package.ScalarQuantizer.QT_8bit)
    package.copy_array_to_vector(np.ascontiguousarray(lists.ranges, dtype=np.float32), quantizer.trained)
    order = np.argsort(lists.of_row, kind="stable")
    sizes = np.bincount(lists.of_row, minlength=count)
    data, first = 0, 0
    for size in sizes.tolist():
        rows = order[first : first + size]
        first += size
        if size:
            codes = quantizer.compute_codes(vectors.rows[rows]).tobytes()
            data = _put(stream, (codes, rows.astype("<i8").tobytes()), data)
    tail = [sizes.astype("<u8").tobytes(), *(one.astype("<f4").tobytes() for one in (lists.centroids, lists.ranges))]
    mine = vectors.header
    header = Header(
        mine.commit, mine.fingerprint, mine.checksum, width, mine.chunks, lists.counts, lists.made_for,
        data=data, structure=_put(stream, tail, 0),
    ).encoded()  # fmt: skip
    stream.write(header + len(header).to_bytes(4, "little") + MAGIC)


def _put(stream: BinaryIO, parts: Iterable[bytes], checksum: int) -> int:
    """Write and return the checksum, gone on with."""
    from zlib import crc32

    for part in parts:
        stream.write(part)
        checksum = crc32(part, checksum)
    return checksum
