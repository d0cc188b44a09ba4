"""Search among very many vectors, exactly with NumPy and with FAISS: time, recall, size, what making the lists costs.

    python benchmarks/nearest.py [--rows 600000] [--width 512] [--like FOLDER] [--keep FOLDER]

With `--like` a folder with a vectors.bin (`.ctx/kb/NAME`) the vectors are sums of two of those there, which makes them
as hard to part as real ones; else they are made up, around topics, which is easier. A twentieth of those there ask.
First question of a new process with files that are not in the page cache, and with such that are; median of 50 others.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import describe

from ctxcli.index.neighbours import FILE, open_neighbours
from ctxcli.index.neighbours_writer import Former, bring, former
from ctxcli.index.vectors import FILE as VECTORS
from ctxcli.index.vectors import Header, VectorFile
from ctxcli.index.vectors_writer import VectorStore
from ctxcli.retrieval.closeness import Scale

ASKED, WANTED, TOGETHER, CHANGED = 51, 100, 20_000, 100
SCALES = {f"{one}-{other}": Scale(0.0, 1.0, True) for one in ("zh", "en") for other in ("zh", "en")}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--like", type=Path)
    parser.add_argument("--keep", type=Path, help="a folder for the files, which then stay")
    parser.add_argument("--ask", choices=["exact", "faiss"], help=argparse.SUPPRESS)
    parser.add_argument("--cold", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        print(json.dumps(ask(arguments.keep, arguments.ask, cold=arguments.cold)))
        return
    print(describe())
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        base = Base(arguments.like, arguments.width)
        np.save(folder / "asked.npy", base.asked)
        base.write(folder, arguments.rows)
        made = seconds(folder, None)
        before = former(folder)
        base.write(folder, arguments.rows, changed=CHANGED)
        updated = seconds(folder, before)
        del before
        report(folder, made, updated)


class Base:
    """What the vectors are made from: rows by language, and those that ask."""

    def __init__(self, like: Path | None, width: int) -> None:
        self._draw = np.random.default_rng(5)
        if like:
            there = VectorFile(like / VECTORS)
            rows = [there.rows, *(there.unit_rows(row) for row in range(there.header.chunks))]
            languages = [there.languages, *(np.full(len(one), there.languages[at]) for at, one in enumerate(rows[1:]))]
            self._rows, self._languages = np.concatenate(rows).astype(np.float32), np.concatenate(languages)
        else:
            topics = self._draw.standard_normal((300, width))
            noise = self._draw.standard_normal((15_000, width))
            self._rows = unit(0.8 * noise + topics[np.arange(15_000) % 300]).astype(np.float32)
            self._languages = (np.arange(15_000) % 300 < 150).astype(np.uint8)
        order = self._draw.permutation(len(self._rows))
        asked, held = order[: len(order) // 20], order[len(order) // 20 :]
        self.asked = unit(self._rows[asked[:ASKED]])
        self._held = [held[self._languages[held] == language] for language in (0, 1)]

    def write(self, folder: Path, count: int, *, changed: int = 0) -> None:
        """A file of `count` vectors; those that come first are others than before."""
        store = VectorStore(folder, "bench")
        chunks: list[tuple[bytes, int]] = []
        for number, (row, language) in enumerate(self._made(count)):
            digest = (number + (count if number < changed else 0)).to_bytes(16, "little")
            if not store.has(digest):
                store.add(digest, row[None])
            chunks.append((digest, language))
        documents = tuple((f"d{at}", "s", min(20, count - at)) for at in range(0, count, 20))
        width = self._rows.shape[1]
        store.write(Header(f"c{changed}", "bench", "bench", width, count, 0, SCALES, documents), chunks)

    def _made(self, count: int) -> Iterator[tuple[Any, int]]:
        draw = np.random.default_rng(6)
        for first in range(0, count, TOGETHER):
            size = min(TOGETHER, count - first)
            language = first // TOGETHER % 2
            one, other = (self._rows[draw.choice(self._held[language], size)] for _ in range(2))
            for row in unit(one + draw.uniform(0.1, 0.9, (size, 1)).astype(np.float32) * other):
                yield row, language


def unit(rows: Any) -> Any:
    """Scaled to length 1."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def seconds(folder: Path, before: Former | None) -> float:
    """How long it takes to bring the lists to the vectors, by the clock."""
    started = time.monotonic()
    assert bring(folder, before, above=0) == "made"
    return time.monotonic() - started


def asked_anew(folder: Path, way: str, *, cold: bool) -> dict[str, Any]:
    """What `ask` finds in a process of its own."""
    command = [sys.executable, __file__, "--keep", folder, "--ask", way, *(["--cold"] if cold else [])]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def ask(folder: Path, way: str, *, cold: bool) -> dict[str, Any]:
    """Seconds of the first question and of each other one, and what was found."""
    queries = np.load(folder / "asked.npy")
    if cold:
        for name in (VECTORS, FILE):
            with (folder / name).open("rb") as stream:
                os.fsync(stream.fileno())
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    times, found = [], []
    started = time.perf_counter()
    vectors = VectorFile(folder / VECTORS)
    if way == "faiss":
        vectors.neighbours = open_neighbours(folder, vectors.header)
        assert vectors.neighbours is not None
    for query in queries:
        found.append(vectors.nearest(query, "en", limit=WANTED))
        times.append(time.perf_counter() - started)
        started = time.perf_counter()
    return {"first": times[0], "other": statistics.median(times[1:]), "found": found}


def report(folder: Path, made: float, updated: float) -> None:
    """Print the table."""
    cold, warm = ({way: asked_anew(folder, way, cold=one) for way in ("exact", "faiss")} for one in (True, False))
    print(f"{'':8}{'first, cold':>14}{'first, cached':>15}{'others':>10}{'file':>10}")
    for way, name in (("exact", VECTORS), ("faiss", FILE)):
        times = (cold[way]["first"], warm[way]["first"], warm[way]["other"])
        shown = "".join(f"{1000 * one:{width}.1f} ms" for one, width in zip(times, (11, 12, 7), strict=True))
        print(f"{way:8}{shown}{(folder / name).stat().st_size / 1e6:7.0f} MB")
    for count in (30, 100):
        pairs = zip(warm["exact"]["found"], warm["faiss"]["found"], strict=True)
        shares = [len(set(true[:count]) & set(found[:count])) / count for true, found in pairs]
        print(f"recall@{count} {statistics.fmean(shares):.3f} (worst question {min(shares):.2f})")
    print(f"made in {made:.0f} s, brought up to date after {CHANGED} changes in {updated:.0f} s")


if __name__ == "__main__":
    main()
