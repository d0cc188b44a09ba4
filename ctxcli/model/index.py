"""What an index holds: files and the settings it was built with; and the ports of readers and writers.

This module is on the road of every question: what only indexing needs stands in `ctxcli.model.prepared`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from ctxcli.model.document import ParseWarning
    from ctxcli.model.prepared import Prepared
    from ctxcli.model.stored import StoredChunk

FileStatus = Literal["ok", "failed"]


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file as it was when it was last read.

    `path` is as cited: POSIX, relative to the workspace root, or absolute outside it.
    `root` is the root it was found under (same form). `doc_id` is made from the content
    and is what chunk ids begin with; it stays when a file is renamed. `parser` names the
    parser and its version (``markdown/1``): a change re-indexes the file. A failed file
    has no chunks, a `code` and a `message`, and is tried again in the next run.
    """

    path: str
    root: str
    doc_id: str
    size: int
    mtime_ns: int
    sha256: str
    status: FileStatus
    format: str = ""
    parser: str = ""
    title: str = ""
    title_from_name: bool = False
    chunks: int = 0
    pages: int | None = None
    encoding: str = ""
    code: str = ""
    message: str = ""
    warnings: "tuple[ParseWarning, ...]" = ()


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What an index was built with; a difference means that it must be built anew.

    `analyzer` names the analyzer and its version (``bigrams/3``), `chunker` the chunker's.
    """

    schema: int
    analyzer: str
    chunker: str


class IndexWriter(Protocol):
    """Changes to one knowledge base; nothing is seen by readers before `commit`."""

    def files(self) -> list[FileRecord]:
        """All files of the last commit, by path."""

    def put(self, record: FileRecord, prepared: "Prepared | None") -> None:
        """Add a file or replace the one at `record.path`; None where it could not be read."""

    def move(self, old_path: str, record: FileRecord) -> None:
        """Keep the chunks of `old_path` under the new record."""

    def remove(self, paths: Iterable[str]) -> None:
        """Take files out."""

    def commit(self, roots: Iterable[str]) -> int:
        """Make all changes visible at once; returns the number of chunks then held."""


class IndexReader(Protocol):
    """A snapshot of one knowledge base."""

    @property
    def stats(self) -> Mapping[str, Any]:
        """At least ``chunks`` and ``length`` (the terms in all chunks)."""

    def document_frequency(self, term: str) -> int:
        """In how many chunks `term` occurs; exact, also after deletes."""

    def candidates(
        self, weights: Mapping[str, float], *, limit: int, section: str = "", docs: Iterable[str] | None = None
    ) -> "Sequence[StoredChunk]":
        """About `limit` chunks that may match weighted terms best, of a section or of documents if asked."""

    def all_chunks(self) -> "Iterable[StoredChunk]":
        """Every chunk, in no special order."""

    def chunks_of(self, doc_id: str) -> "Sequence[StoredChunk]":
        """All chunks of a document, in order."""

    def file(self, doc_id: str) -> FileRecord | None:
        """The file that a document's chunks were cut from."""

    def files(self) -> list[FileRecord]:
        """All files, by path."""
