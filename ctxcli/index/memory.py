"""An index in memory, for documents that are asked once and not kept."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ctxcli.model.index import FileRecord
from ctxcli.model.prepared import Prepared
from ctxcli.model.stored import StoredChunk


class MemoryIndex:
    """Holds a few documents; every chunk that shares a term with a question is a candidate."""

    def __init__(self, documents: Iterable[tuple[FileRecord, Prepared]]) -> None:
        self._records: dict[str, FileRecord] = {}
        self._chunks: list[StoredChunk] = []
        self._terms: list[frozenset[str]] = []
        self._numbers: list[frozenset[str]] = []
        for record, prepared in documents:
            self._records[record.doc_id] = record
            for chunk in prepared.chunks:
                key = f"{record.doc_id}:{chunk.ordinal}"
                self._chunks.append(StoredChunk(key, chunk.text, chunk.terms, chunk.meta))
                self._terms.append(frozenset(chunk.terms.split()))
                self._numbers.append(frozenset(chunk.numbers))
        self._frequencies = Counter(term for terms in self._terms for term in terms)

    @property
    def stats(self) -> Mapping[str, Any]:
        """``chunks`` and ``length``."""
        return {"chunks": len(self._chunks), "length": sum(chunk.length for chunk in self._chunks)}

    def document_frequency(self, term: str) -> int:
        """In how many chunks `term` occurs."""
        return self._frequencies[term]

    def candidates(
        self, weights: Mapping[str, float], *, limit: int, section: str = "", docs: Iterable[str] | None = None
    ) -> Sequence[StoredChunk]:
        """All chunks that share a term, whatever `limit` says, in order."""
        wanted = None if docs is None else frozenset(docs)
        return [
            chunk
            for chunk, terms, numbers in zip(self._chunks, self._terms, self._numbers, strict=True)
            if not terms.isdisjoint(weights)
            and (not section or section.lower() in numbers)
            and (wanted is None or chunk.key.rpartition(":")[0] in wanted)
        ]

    def all_chunks(self) -> Sequence[StoredChunk]:
        """Every chunk, in order."""
        return self._chunks

    def chunks_of(self, doc_id: str) -> Sequence[StoredChunk]:
        """All chunks of a document, in order."""
        return [chunk for chunk in self._chunks if chunk.key.rpartition(":")[0] == doc_id]

    def file(self, doc_id: str) -> FileRecord | None:
        """The file that a document's chunks were cut from."""
        return self._records.get(doc_id)

    def files(self) -> list[FileRecord]:
        """All files, by path."""
        return sorted(self._records.values(), key=lambda record: record.path)
