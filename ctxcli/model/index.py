"""What an index holds: files, chunks with their terms, and the settings it was built with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ctxcli.model.document import ParseWarning
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
    warnings: tuple[ParseWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as the index takes it.

    `terms` holds one line for title and headings, then one line a unit; terms are parted
    by blanks. `numbers` are the section numbers in it, with those of all ancestors. `meta` is
    the stored form of its place (`ctxcli.model.stored`), `length` the count of its terms.
    """

    ordinal: int
    text: str
    terms: str
    numbers: tuple[str, ...]
    meta: bytes
    length: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file read, parsed, cut and analysed: all that the index needs of it.

    `outline` is the stored form of its sections. Made in a worker process, so it is picklable.
    """

    format: str
    parser: str
    title: str
    title_from_name: bool
    encoding: str
    pages: int | None
    warnings: tuple[ParseWarning, ...]
    outline: bytes
    chunks: tuple[IndexedChunk, ...]


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What an index was built with; a difference means that it must be built anew.

    `analyzer` names the analyzer and its version (``bigrams/1``), `chunker` the chunker's.
    """

    schema: int
    analyzer: str
    chunker: str


class IndexWriter(Protocol):
    """Changes to one knowledge base; nothing is seen by readers before `commit`."""

    def files(self) -> list[FileRecord]:
        """All files of the last commit, by path."""

    def put(self, record: FileRecord, prepared: Prepared | None) -> None:
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
    ) -> Sequence[StoredChunk]:
        """About `limit` chunks that may match weighted terms best, of a section or of documents if asked."""

    def file(self, doc_id: str) -> FileRecord | None:
        """The file that a document's chunks were cut from."""

    def files(self) -> list[FileRecord]:
        """All files, by path."""
