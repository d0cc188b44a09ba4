"""A writer in memory, and workers that behave badly."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ctxcli.model.index import FileRecord
from ctxcli.model.prepared import Prepared

ROOT = Path(__file__).parents[3]


class MemoryWriter:
    """Keeps what it is given; `log` tells what was done to it."""

    def __init__(self, records: Iterable[FileRecord] = ()) -> None:
        self.records = {record.path: record for record in records}
        self.chunks: dict[str, list[str]] = {record.path: ["kept"] for record in self.records.values()}
        self.log: list[str] = []
        self.roots: list[str] = []

    def files(self) -> list[FileRecord]:
        return [self.records[path] for path in sorted(self.records)]

    def put(self, record: FileRecord, prepared: Prepared | None) -> None:
        self.log.append(f"put {record.path}")
        self.records[record.path] = record
        self.chunks[record.path] = [chunk.text for chunk in prepared.chunks] if prepared else []

    def move(self, old_path: str, record: FileRecord) -> None:
        self.log.append(f"move {old_path} {record.path}")
        assert self.records[old_path].doc_id == record.doc_id
        del self.records[old_path]
        assert record.path not in self.records
        self.records[record.path] = record
        self.chunks[record.path] = self.chunks.pop(old_path)

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.log.append(f"remove {path}")
            self.records.pop(path, None)
            self.chunks.pop(path, None)

    def commit(self, roots: Iterable[str]) -> int:
        self.roots = list(roots)
        return sum(map(len, self.chunks.values()))


def same_files(one: Iterable[FileRecord], other: Iterable[FileRecord]) -> bool:
    """Whether two lists of records differ in nothing but times and the endings of ids of equal content."""

    def plain(records: Iterable[FileRecord]) -> list[FileRecord]:
        return [replace(record, mtime_ns=0, doc_id=record.doc_id[:16]) for record in records]

    return plain(one) == plain(other)


def bad_worker(body: str, *, memory: int = 0) -> list[str]:
    """The command of a worker that runs `body` on each job (`job.name` tells which) before it is read."""
    code = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from ctxcli.services.ingest import worker
real = worker.handle
def handle(job, **limits):
{chr(10).join("    " + line for line in body.splitlines())}
    return real(job, **limits)
worker.handle = handle
worker.main()
"""
    return [sys.executable, "-c", code, str(memory), str(1 << 30), "bigrams"]
