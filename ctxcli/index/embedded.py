"""The embedded engine: a Tantivy index in a folder, written in one commit, read by any number of processes.

Everything a reader needs stands in the index itself, so that one commit makes it visible: chunks, file records
and the statistics of the whole (`kind` tells them apart). Keys are raw text: Tantivy ignores deletes by an
unsigned field. A delete leaves its terms in the engine's own document frequencies until segments merge, so
ctx counts frequencies itself where anything was deleted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.model.errors import DataError
from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.model.stored import StoredChunk
from ctxcli.storage.files import atomic_write

if TYPE_CHECKING:
    from ctxcli.model.prepared import Prepared

SCHEMA = 1
_HEAP_BYTES = 64_000_000
_POINTER = "current"
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


def _document(key: str, *, terms: str = "", numbers: Iterable[str] = (), text: bytes = b"", meta: bytes = b"") -> Any:
    """An entry of the index; its key says what it is: ``chunk:DOC:ORDINAL``, ``file:DOC`` or ``stats``."""
    import tantivy

    kind, _, rest = key.partition(":")

    document = tantivy.Document()
    document.add_text("key", key)
    document.add_text("kind", kind)
    if kind == "chunk":
        document.add_text("doc", rest.rpartition(":")[0])
    for number in numbers:
        document.add_text("number", number)
    if terms:
        document.add_text("terms", terms)
    document.add_bytes("text", text)
    document.add_bytes("meta", meta)
    return document


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _record(meta: bytes) -> FileRecord:
    data = json.loads(meta)
    if data["warnings"]:
        from ctxcli.model.document import ParseWarning

        data["warnings"] = tuple(ParseWarning(*warning) for warning in data["warnings"])
    else:
        data["warnings"] = ()
    return FileRecord(**data)


def _record_bytes(record: FileRecord) -> bytes:
    data = asdict(record)
    data["warnings"] = [(w.code, w.message, w.page) for w in record.warnings]
    return _json(data)


def _unreadable(message: str) -> DataError:
    return DataError(message, code="index_unreadable", hint="build it anew: ctx kb index --rebuild")


def _generation(directory: Path) -> Path:
    """The folder that the pointer file names; raises OSError where there is none."""
    name = (directory / _POINTER).read_text("utf-8").strip()
    if not name.startswith("g") or not name[1:].isdigit():
        raise ValueError(f"the file {_POINTER} is damaged")
    return directory / name


def _open(directory: Path) -> Any:
    """Open the current generation; a switch in between is met by trying once more."""
    import tantivy

    for last_try in (False, True):
        try:
            index = tantivy.Index.open(str(_generation(directory)))
            index.config_reader(reload_policy="manual")
            index.reload()
            return index
        except (ValueError, OSError):
            if last_try:
                raise
    raise AssertionError("unreachable")


class EmbeddedReader:
    """A snapshot of one knowledge base; it does not change while it is read."""

    def __init__(self, directory: Path) -> None:
        import tantivy

        try:
            self._index = _open(directory)
        except (ValueError, OSError) as error:
            raise _unreadable(f"the index in {directory} cannot be read: {error}") from error
        self._searcher = self._index.searcher()
        self._tantivy = tantivy
        self._schema = self._index.schema

    @cached_property
    def stats(self) -> dict[str, Any]:
        """``chunks``, ``length`` (terms in all chunks), ``files``, ``roots``, ``settings``, ``deleted``."""
        stored = self._one("stats")
        if stored is None:
            raise _unreadable("the index has no statistics")
        found: dict[str, Any] = json.loads(stored.get_first("meta"))
        return found

    @property
    def settings(self) -> IndexSettings:
        """What the index was built with."""
        return IndexSettings(**self.stats["settings"])

    def document_frequency(self, term: str) -> int:
        """In how many chunks `term` occurs; exact, also after deletes."""
        if self.stats["deleted"]:
            query = self._term("terms", term)
            return int(self._searcher.search(query, limit=1, count=True).count)
        return int(self._searcher.doc_freq("terms", term))

    def candidates(
        self, weights: Mapping[str, float], *, limit: int, section: str = "", docs: Iterable[str] | None = None
    ) -> list[StoredChunk]:
        """The `limit` chunks that the engine's BM25 puts first for weighted terms; ties by key.

        `section` keeps chunks with that section number or one below it, `docs` those of the documents named.
        """
        t = self._tantivy
        should = [
            (t.Occur.Should, t.Query.boost_query(self._term("terms", term), weight)) for term, weight in weights.items()
        ]
        if not should:
            return []
        query = t.Query.boolean_query(should)
        filters = [self._term("number", section.lower())] if section else []
        if docs is not None:
            filters.append(t.Query.term_set_query(self._schema, "doc", list(docs)))
        if filters:
            must = [(t.Occur.Must, t.Query.const_score_query(one, 0.0)) for one in filters]
            query = t.Query.boolean_query([(t.Occur.Must, query), *must])
        hits = self._searcher.search(query, limit=limit, count=False).hits
        return [self._chunk(address) for _, address in hits]

    def chunks_of(self, doc_id: str) -> list[StoredChunk]:
        """All chunks of a document, in order."""
        found = [self._chunk(address) for address in self._addresses("doc", doc_id)]
        return sorted(found, key=lambda chunk: int(chunk.key.rpartition(":")[2]))

    def all_chunks(self) -> Iterator[StoredChunk]:
        """Every chunk, in the engine's order."""
        return (self._chunk(address) for address in self._addresses("kind", "chunk"))

    def chunk(self, key: str) -> StoredChunk | None:
        """The chunk with that id."""
        found = self._addresses("key", f"chunk:{key}")
        return self._chunk(found[0]) if found else None

    def file(self, doc_id: str) -> FileRecord | None:
        """The file that a document's chunks were cut from."""
        stored = self._one(f"file:{doc_id}")
        return _record(stored.get_first("meta")) if stored else None

    def outline(self, doc_id: str) -> bytes:
        """The stored outline of a document (see `ctxcli.model.stored`)."""
        stored = self._one(f"file:{doc_id}")
        return bytes(stored.get_first("text")) if stored else b"[]"

    def files(self) -> list[FileRecord]:
        """All files, by path."""
        stored = (self._searcher.doc(address) for address in self._addresses("kind", "file"))
        return sorted((_record(one.get_first("meta")) for one in stored), key=lambda record: record.path)

    def entries(self) -> Iterator[Any]:
        """Every entry but the statistics, as a document that can be added to another index."""
        for kind in ("chunk", "file"):
            for address in self._addresses("kind", kind):
                stored = self._searcher.doc(address)
                yield _document(
                    stored.get_first("key"),
                    terms=stored.get_first("terms") or "",
                    numbers=stored.get_all("number"),
                    text=stored.get_first("text"),
                    meta=stored.get_first("meta"),
                )

    def _term(self, field: str, value: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, "freq" if field == "terms" else "basic")

    def _addresses(self, field: str, value: str) -> list[Any]:
        limit = max(1, self._searcher.num_docs)
        return [
            address for _, address in self._searcher.search(self._term(field, value), limit=limit, count=False).hits
        ]

    def _one(self, key: str) -> Any:
        found = self._addresses("key", key)
        return self._searcher.doc(found[0]) if found else None

    def _chunk(self, address: Any) -> StoredChunk:
        stored = self._searcher.doc(address)
        key = stored.get_first("key").removeprefix("chunk:")
        text = stored.get_first("text").decode("utf-8", "surrogatepass")
        return StoredChunk(key, text, stored.get_first("terms") or "", stored.get_first("meta"))


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
        self._path = _generation(directory) if self._reader else self._next_generation()
        self._writer: Any = None

    def _current(self) -> EmbeddedReader | None:
        """The index to go on with; None where there is none, or where it was built with other settings."""
        if not (self._directory / _POINTER).exists():
            return None
        try:
            reader = EmbeddedReader(self._directory)
            if reader.settings == self._settings:
                return reader
            self.begun_anew = "it was built with other settings"
        except (DataError, TypeError, KeyError, ValueError) as error:
            self.begun_anew = f"it is damaged ({error})"
        return None

    def files(self) -> list[FileRecord]:
        """All files as they stand in the index, with the changes made so far, by path."""
        return sorted(self._records.values(), key=lambda record: record.path)

    def put(self, record: FileRecord, prepared: "Prepared | None") -> None:
        """Add a file or replace the one at `record.path`; None where it could not be read."""
        self.remove([record.path])
        writer = self._writing()
        for chunk in prepared.chunks if prepared else ():
            writer.add_document(
                _document(
                    f"chunk:{record.doc_id}:{chunk.ordinal}",
                    terms=chunk.terms,
                    numbers=chunk.numbers,
                    text=chunk.text.encode("utf-8", "surrogatepass"),
                    meta=chunk.meta,
                )
            )
            self._totals.add(chunk.length)
        self._added[record.doc_id] = [chunk.length for chunk in prepared.chunks] if prepared else []
        outline = prepared.outline if prepared else b"[]"
        writer.add_document(_document(_file_key(record), text=outline, meta=_record_bytes(record)))
        self._records[record.path] = record

    def move(self, old_path: str, record: FileRecord) -> None:
        """Keep the chunks of `old_path` under the new record, whose `doc_id` must be the same."""
        old = self._records.pop(old_path)
        outline = self._reader.outline(old.doc_id) if self._reader else b"[]"
        writer = self._writing()
        writer.delete_documents_by_term("key", _file_key(old))
        writer.add_document(_document(_file_key(record), text=outline, meta=_record_bytes(record)))
        self._records[record.path] = record

    def remove(self, paths: Iterable[str]) -> None:
        """Take files out; a path that is not there is no error."""
        for path in paths:
            record = self._records.pop(path, None)
            if record is None:
                continue
            writer = self._writing()
            writer.delete_documents_by_term("key", _file_key(record))
            if record.chunks:
                for length in self._lengths_of(record.doc_id):
                    self._totals.drop(length)
                writer.delete_documents_by_term("doc", record.doc_id)

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
        writer = self._writing()
        stats = {
            "chunks": self._totals.chunks,
            "length": self._totals.length,
            "deleted": self._totals.deleted,
            "files": sum(record.status == "ok" for record in self._records.values()),
            "roots": list(roots),
            "settings": asdict(self._settings),
        }
        writer.delete_documents_by_term("key", "stats")
        writer.add_document(_document("stats", meta=_json(stats)))
        writer.commit()
        writer.wait_merging_threads()
        self._writer = None
        atomic_write(self._directory / _POINTER, self._path.name.encode("ascii") + b"\n")

    def _rewrite(self, roots: Iterable[str]) -> None:
        """Copy what is alive into a new generation, so that no deleted chunk counts in the engine's statistics."""
        reader = EmbeddedReader(self._directory)
        self._path = self._next_generation()
        writer = self._writing()
        for entry in reader.entries():
            writer.add_document(entry)
        self._finish(roots)

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


def open_writer(directory: Path, settings: IndexSettings) -> EmbeddedWriter:
    """Open the index in `directory` for writing, or begin a new one.

    An index that is damaged or was built with other `settings` is begun anew: `files` is then empty.
    """
    return EmbeddedWriter(directory, settings)
