"""Writes the embedded index: all changes of a run in one commit."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.index.embedded import POINTER, EmbeddedReader, Entry, generation
from ctxcli.index.integrity import damage_told, damaged_file, seal, unreadable
from ctxcli.model.errors import DataError
from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.storage.files import atomic_write

if TYPE_CHECKING:
    from ctxcli.model.prepared import Prepared

_FAILED_WRITE = re.compile(r"io::Error|IoError|in a thread|os error")
_HEAP_BYTES = 64_000_000
_ALWAYS_PURGE = 5_000
"""Up to so many chunks an index is written anew after deletes, which takes well under a second."""
_PURGE_SHARE = 0.2
"""Above that, when this share of all chunks was deleted since it was last written anew."""


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("doc", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("number", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", stored=True, tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field("text", stored=True)
    builder.add_bytes_field("meta", stored=True)
    return builder.build()


def _document(entry: Entry) -> Any:
    import tantivy

    kind, _, rest = entry.key.partition(":")
    document = tantivy.Document()
    document.add_text("key", entry.key)
    document.add_text("kind", kind)
    if kind == "chunk":
        document.add_text("doc", rest.rpartition(":")[0])
    for number in entry.numbers:
        document.add_text("number", number)
    if entry.terms:
        document.add_text("terms", entry.terms)
    document.add_bytes("text", seal(entry.text, entry.key.encode(), entry.terms.encode(), entry.meta))
    document.add_bytes("meta", entry.meta)
    return document


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _record_bytes(record: FileRecord) -> bytes:
    data = asdict(record)
    data["warnings"] = [(w.code, w.message, w.page) for w in record.warnings]
    return _json(data)


@contextmanager
def _write_told(directory: Path) -> Iterator[None]:
    """What the engine raises where the disk takes nothing more, said as that; all else it raises is a bug."""
    try:
        yield
    except ValueError as error:
        if not _FAILED_WRITE.search(str(error)):
            raise
        raise DataError(
            f"the index in {directory} cannot be written: the disk is full or does not take it",
            code="unwritable",
            hint="free some space and run it again; what was indexed before is still there",
        ) from error


class EmbeddedWriter:
    """Changes to one knowledge base; readers see nothing of them before `commit`.

    The caller holds the knowledge base's lock. A writer that is dropped, or killed, changes nothing.
    """

    def __init__(self, directory: Path, settings: IndexSettings) -> None:
        self._directory, self._settings = directory, settings
        self.begun_anew = ""
        """Why an index that was there is not gone on with; "" where it is, or where there was none."""
        directory.mkdir(parents=True, exist_ok=True)
        self._reader = self._current()
        self._records = {record.path: record for record in self._reader.files()} if self._reader else {}
        stats = self._reader.stats if self._reader else {"chunks": 0, "length": 0, "deleted": 0}
        self._totals = _Totals(stats["chunks"], stats["length"], stats["deleted"])
        self._added: dict[str, list[int]] = {}
        self._path = generation(directory) if self._reader else self._next_generation()
        self._writer: Any = None

    def _current(self) -> EmbeddedReader | None:
        """The index to go on with; None where there is none, or where it was built with other settings."""
        if not (self._directory / POINTER).exists():
            self.begun_anew = f"the file {POINTER} is missing" if self._generations() else ""
            return None
        try:
            with damage_told(self._directory):
                damaged = damaged_file(generation(self._directory))
            if damaged:
                raise unreadable(f"the index in {self._directory} is damaged: {damaged} is not as it was written")
            reader = EmbeddedReader(self._directory)
            if reader.settings == self._settings:
                reader.files()
                return reader
            self.begun_anew = "it was built with other settings"
        except DataError as error:
            self.begun_anew = error.message
        return None

    def files(self) -> list[FileRecord]:
        """All files as they stand in the index, with the changes made so far, by path."""
        return sorted(self._records.values(), key=lambda record: record.path)

    def put(self, record: FileRecord, prepared: "Prepared | None") -> None:
        """Add a file or replace the one at `record.path`; None where it could not be read."""
        self.remove([record.path])
        for chunk in prepared.chunks if prepared else ():
            self._add(
                Entry(
                    f"chunk:{record.doc_id}:{chunk.ordinal}",
                    chunk.terms,
                    list(chunk.numbers),
                    chunk.text.encode("utf-8", "surrogatepass"),
                    chunk.meta,
                )
            )
            self._totals.add(chunk.length)
        self._added[record.doc_id] = [chunk.length for chunk in prepared.chunks] if prepared else []
        outline = prepared.outline if prepared else b"[]"
        self._add(Entry(_file_key(record), "", [], outline, _record_bytes(record)))
        self._records[record.path] = record

    def move(self, old_path: str, record: FileRecord) -> None:
        """Keep the chunks of `old_path` under the new record, whose `doc_id` must be the same."""
        old = self._records.pop(old_path)
        outline = self._reader.outline(old.doc_id) if self._reader else b"[]"
        self._delete("key", _file_key(old))
        self._add(Entry(_file_key(record), "", [], outline, _record_bytes(record)))
        self._records[record.path] = record

    def remove(self, paths: Iterable[str]) -> None:
        """Take files out; a path that is not there is no error."""
        for path in paths:
            record = self._records.pop(path, None)
            if record is None:
                continue
            self._delete("key", _file_key(record))
            if record.chunks:
                for length in self._lengths_of(record.doc_id):
                    self._totals.drop(length)
                self._delete("doc", record.doc_id)

    def _lengths_of(self, doc_id: str) -> list[int]:
        if doc_id in self._added:
            return self._added.pop(doc_id)
        return [chunk.length for chunk in self._reader.chunks_of(doc_id)] if self._reader else []

    def commit(self, roots: Iterable[str]) -> int:
        """Make all changes visible at once; returns the number of chunks then held."""
        totals = self._totals
        purge = totals.deleted and (totals.chunks <= _ALWAYS_PURGE or totals.deleted > _PURGE_SHARE * totals.chunks)
        self._finish(roots)
        if purge:
            totals.deleted = 0
            self._rewrite(roots)
        self._sweep()
        return totals.chunks

    def _finish(self, roots: Iterable[str]) -> None:
        stats = {
            "chunks": self._totals.chunks,
            "length": self._totals.length,
            "deleted": self._totals.deleted,
            "files": sum(record.status == "ok" for record in self._records.values()),
            "roots": list(roots),
            "settings": asdict(self._settings),
            "entries": self._totals.chunks + len(self._records) + 1,
            "commit": os.urandom(8).hex(),  # vectors say which commit they belong to
        }
        self._delete("key", "stats")
        self._add(Entry("stats", "", [], b"", _json(stats)))
        with _write_told(self._directory):
            self._writing().commit()
            self._writing().wait_merging_threads()
        self._writer = None
        atomic_write(self._directory / POINTER, self._path.name.encode("ascii") + b"\n")

    def _rewrite(self, roots: Iterable[str]) -> None:
        """Copy what is alive into a new generation, so that no deleted chunk counts in the engine's statistics."""
        reader = EmbeddedReader(self._directory)
        self._path = self._next_generation()
        for entry in reader.entries():
            self._add(entry)
        self._finish(roots)

    def _add(self, entry: Entry) -> None:
        with _write_told(self._directory):
            self._writing().add_document(_document(entry))

    def _delete(self, field: str, term: str) -> None:
        with _write_told(self._directory):
            self._writing().delete_documents_by_term(field, term)

    def _writing(self) -> Any:
        if self._writer is None:
            import tantivy

            self._path.mkdir(parents=True, exist_ok=True)
            self._writer = tantivy.Index(_schema(), str(self._path), reuse=True).writer(_HEAP_BYTES, 1)
        return self._writer

    def _next_generation(self) -> Path:
        numbers = [int(path.name[1:]) for path in self._generations()]
        return self._directory / f"g{max(numbers, default=0) + 1}"

    def _generations(self) -> list[Path]:
        return [path for path in self._directory.glob("g*") if path.name[1:].isdigit()]

    def _sweep(self) -> None:
        """Remove generations that nothing points to any more."""
        import shutil

        for path in self._generations():
            if path != self._path:
                shutil.rmtree(path, ignore_errors=True)


class _Totals:
    """Running counts over all chunks; `deleted` counts those deleted since the index was last written anew."""

    def __init__(self, chunks: int, length: int, deleted: int) -> None:
        self.chunks, self.length, self.deleted = chunks, length, deleted

    def add(self, length: int) -> None:
        self.chunks += 1
        self.length += length

    def drop(self, length: int) -> None:
        self.chunks -= 1
        self.length -= length
        self.deleted += 1


def _file_key(record: FileRecord) -> str:
    return f"file:{record.doc_id}" if record.status == "ok" else f"file:failed:{record.path}"
