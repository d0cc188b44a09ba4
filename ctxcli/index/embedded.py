"""The embedded engine: a Tantivy index in a folder, written in one commit, read by any number of processes.

Everything a reader needs stands in the index itself, so that one commit makes it visible: chunks, file records
and the statistics of the whole (`kind` tells them apart). Keys are raw text: Tantivy ignores deletes by an
unsigned field. A delete leaves its terms in the engine's own document frequencies until segments merge, so
ctx counts frequencies itself where anything was deleted.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcli.index.integrity import damage_told, muffled, unseal
from ctxcli.model.errors import BusyError
from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.model.stored import StoredChunk

if TYPE_CHECKING:
    from ctxcli.index.embedded_writer import EmbeddedWriter

SCHEMA = 2
POINTER = "current"
"""The file that names the folder of the generation in use."""
_TRIES = 20
"""Generations that may come and go while a reader opens one."""
_NO_LOCK = "Failed to acquire Lockfile"
"""How the engine says that it could not lock its list of segments, for which it needs a file that it can write."""


class Entry(NamedTuple):
    """What is stored under a key: ``chunk:DOC:ORDINAL``, ``file:DOC`` or ``stats``."""

    key: str
    terms: str
    numbers: list[str]
    text: bytes
    meta: bytes


def _record(meta: bytes) -> FileRecord:
    data = json.loads(meta)
    if data["warnings"]:
        from ctxcli.model.document import ParseWarning

        data["warnings"] = tuple(ParseWarning(*warning) for warning in data["warnings"])
    else:
        data["warnings"] = ()
    return FileRecord(**data)


def generation(directory: Path) -> Path:
    """The folder that the pointer file names; raises OSError where there is none."""
    name = (directory / POINTER).read_text("utf-8").strip()
    if not name.startswith("g") or not name[1:].isdigit():
        raise ValueError(f"the file {POINTER} is damaged")
    return directory / name


def _open(directory: Path) -> tuple[Any, Any]:
    """Open the current generation; the second value has to live as long as the first.

    One that is swept away meanwhile fails to open, or opens without its file of positions, which the engine passes over
    in silence. The pointer moves before anything is swept: where it has moved, the next generation is opened.
    """
    for tries_left in range(_TRIES - 1, -1, -1):
        folder = generation(directory)
        try:
            opened = _open_generation(folder)
        except (ValueError, OSError):
            if not tries_left or folder == generation(directory):
                raise
            continue
        if folder == generation(directory) or not tries_left:
            return opened
    raise AssertionError("unreachable")


def _open_generation(folder: Path) -> tuple[Any, Any]:
    """Open a generation. Where the engine cannot write its lock, it opens links to the files in a folder of our own."""
    try:
        return _open_folder(folder), None
    except (ValueError, OSError) as error:
        if _NO_LOCK not in str(error):
            raise
        if "LockBusy" in str(error):
            raise BusyError("the index is locked by others all the time", code="locked", hint="try again") from error
    from tempfile import TemporaryDirectory

    links = TemporaryDirectory(prefix="ctx-")
    for file in folder.resolve().iterdir():
        if file.suffix != ".lock":
            Path(links.name, file.name).symlink_to(file)
    return _open_folder(Path(links.name)), links


def _open_folder(folder: Path) -> Any:
    import tantivy

    index = tantivy.Index.open(str(folder))
    index.config_reader(reload_policy="manual")
    return index


class EmbeddedReader:
    """A snapshot of one knowledge base; it does not change while it is read."""

    def __init__(self, directory: Path) -> None:
        import tantivy

        self._directory = directory
        with damage_told(directory), muffled():
            self._index, self._links = _open(directory)
            self._searcher = self._index.searcher()
        self._tantivy = tantivy
        self._schema = self._index.schema

    @cached_property
    def stats(self) -> dict[str, Any]:
        """``chunks``, ``length`` (terms), ``files``, ``roots``, ``settings``, ``deleted`` (chunks) and ``entries``."""
        with damage_told(self._directory):
            stored = self._one("stats")
            if stored is None:
                raise ValueError("there are no statistics")
            found: dict[str, Any] = json.loads(stored.meta)
            if found["entries"] != self._searcher.num_docs:
                raise ValueError(f"{found['entries']} entries were written, {self._searcher.num_docs} are there")
        return found

    @property
    def settings(self) -> IndexSettings:
        """What the index was built with."""
        with damage_told(self._directory):
            return IndexSettings(**self.stats["settings"])

    def document_frequency(self, term: str) -> int:
        """In how many chunks `term` occurs; exact, also after deletes."""
        with damage_told(self._directory):
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
        with damage_told(self._directory):
            hits = self._searcher.search(query, limit=limit, count=False).hits
            return [self._chunk(address) for _, address in hits]

    def chunks_of(self, doc_id: str) -> list[StoredChunk]:
        """All chunks of a document, in order."""
        with damage_told(self._directory):
            found = [self._chunk(address) for address in self._addresses("doc", doc_id)]
            return sorted(found, key=lambda chunk: int(chunk.key.rpartition(":")[2]))

    def all_chunks(self) -> Iterator[StoredChunk]:
        """Every chunk, in the engine's order."""
        with damage_told(self._directory):
            for address in self._addresses("kind", "chunk"):
                yield self._chunk(address)

    def chunk(self, key: str) -> StoredChunk | None:
        """The chunk with that id."""
        with damage_told(self._directory):
            found = self._addresses("key", f"chunk:{key}")
            return self._chunk(found[0]) if found else None

    def keys_in(self, section: str) -> list[str]:
        """The chunks with that section number or one below it."""
        with damage_told(self._directory):
            found = (self._entry(address).key for address in self._addresses("number", section.lower()))
            return [key.removeprefix("chunk:") for key in found]

    def file(self, doc_id: str) -> FileRecord | None:
        """The file that a document's chunks were cut from."""
        with damage_told(self._directory):
            stored = self._one(f"file:{doc_id}")
            if stored is None and self._addresses("doc", doc_id):
                raise ValueError(f"the document {doc_id} has chunks but no record")
            return _record(stored.meta) if stored else None

    def outline(self, doc_id: str) -> bytes:
        """The stored outline of a document (see `ctxcli.model.stored`)."""
        with damage_told(self._directory):
            stored = self._one(f"file:{doc_id}")
            return stored.text if stored else b"[]"

    def files(self) -> list[FileRecord]:
        """All files, by path."""
        with damage_told(self._directory):
            records = [_record(self._entry(address).meta) for address in self._addresses("kind", "file")]
            return sorted(records, key=lambda record: record.path)

    def entries(self) -> Iterator[Entry]:
        """Every entry but the statistics."""
        with damage_told(self._directory):
            for kind in ("chunk", "file"):
                for address in self._addresses("kind", kind):
                    yield self._entry(address, with_numbers=True)

    def _term(self, field: str, value: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, "freq" if field == "terms" else "basic")

    def _addresses(self, field: str, value: str) -> list[Any]:
        limit = max(1, self._searcher.num_docs)
        return [
            address for _, address in self._searcher.search(self._term(field, value), limit=limit, count=False).hits
        ]

    def _one(self, key: str) -> Entry | None:
        found = self._addresses("key", key)
        return self._entry(found[0]) if found else None

    def _entry(self, address: Any, *, with_numbers: bool = False) -> Entry:
        stored = self._searcher.doc(address)
        key, terms, meta = stored.get_first("key"), stored.get_first("terms") or "", stored.get_first("meta")
        text = unseal(stored.get_first("text"), key.encode(), terms.encode(), meta)
        return Entry(key, terms, stored.get_all("number") if with_numbers else [], text, meta)

    def _chunk(self, address: Any) -> StoredChunk:
        entry = self._entry(address)
        text = entry.text.decode("utf-8", "surrogatepass")
        return StoredChunk(entry.key.removeprefix("chunk:"), text, entry.terms, entry.meta)


def open_writer(directory: Path, settings: IndexSettings) -> "EmbeddedWriter":
    """Open the index in `directory` for writing, or begin a new one.

    An index that is damaged or was built with other `settings` is begun anew: `files` is then empty.
    """
    from ctxcli.index.embedded_writer import EmbeddedWriter

    return EmbeddedWriter(directory, settings)
