"""What the services report about knowledge bases, as values; `document` makes the JSON of each."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Files of one run. `moved` files kept their chunks under a new path; all others fit one count each."""

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    skipped: int = 0
    moved: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or folder that could not be read, and why; `code` is a stable name of the reason."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class FileWarning:
    """Something wrong with a file that was read all the same; `page` is 1-based."""

    path: str
    code: str
    message: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the run did that was not asked for, such as building an index anew."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class EmbeddingRun:
    """Chunks that were `embedded` in a run, and those whose vectors were `kept`.

    `unknown_languages` (``zh``, ``en``) are those of the documents that the model does not understand.
    """

    model: str
    dimensions: int
    embedded: int
    kept: int
    unknown_languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vectors of a knowledge base; `current` says whether they belong to the index as it is now."""

    model: str
    dimensions: int
    chunks: int
    current: bool


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one index run did. `root` is the first of `roots`; `chunks` is what the knowledge base now holds."""

    SCHEMA: ClassVar[str] = "ctx/index-report/1"

    kb: str
    root: str
    roots: tuple[str, ...]
    files: FileCounts
    chunks: int
    elapsed_s: float
    failures: tuple[Failure, ...] = ()
    warnings: tuple[FileWarning, ...] = ()
    notices: tuple[Notice, ...] = ()
    embedding: EmbeddingRun | None = None


@dataclass(frozen=True, slots=True)
class IndexPreview:
    """What an index run would do; paths in order. `changed` files differ in size or time, perhaps not in content."""

    SCHEMA: ClassVar[str] = "ctx/index-preview/1"

    kb: str
    roots: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    retried: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: int
    failures: tuple[Failure, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class RootInfo:
    """A folder or file that a knowledge base is made from, with the patterns that choose files below it."""

    path: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    present: bool = True


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A knowledge base in numbers. `error` says why it cannot be read, else it is ""."""

    SCHEMA: ClassVar[str] = "ctx/kb/1"

    name: str
    roots: tuple[RootInfo, ...]
    files: int
    failed: int
    chunks: int
    pages: int
    warnings: int
    bytes: int
    formats: Mapping[str, int]
    analyzer: str
    updated_at: str | None
    error: str = ""
    embedding: Embedding | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeBases:
    """All knowledge bases of a workspace, by name."""

    SCHEMA: ClassVar[str] = "ctx/kbs/1"

    knowledge_bases: tuple[KnowledgeBase, ...]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file of a knowledge base as it was when it was read."""

    path: str
    root: str
    doc_id: str
    status: str
    format: str
    title: str
    size: int
    pages: int | None
    chunks: int
    encoding: str
    parser: str
    sha256: str
    code: str
    message: str
    warnings: tuple[FileWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexedFiles:
    """Files of a knowledge base, by path."""

    SCHEMA: ClassVar[str] = "ctx/files/1"

    kb: str
    total: int
    files: tuple[IndexedFile, ...]


@dataclass(frozen=True, slots=True)
class ShownChunk:
    """A chunk with its text and its place."""

    SCHEMA: ClassVar[str] = "ctx/chunk/1"

    kb: str
    chunk_id: str
    doc: str
    title: str
    section: str | None
    heading: str | None
    heading_path: tuple[str, ...]
    page: int | None
    page_end: int | None
    line_start: int | None
    line_end: int | None
    text: str
    doc_sha256: str


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A section of a document; `line` and `page` are 1-based, null where the format has none."""

    level: int
    section: str | None
    heading: str
    page: int | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a document, in order."""

    SCHEMA: ClassVar[str] = "ctx/outline/1"

    kb: str
    doc: str
    title: str
    sections: tuple[OutlineEntry, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """A knowledge base, or one root of it, that was taken out; the documents stay where they are."""

    SCHEMA: ClassVar[str] = "ctx/kb-removal/1"

    kb: str
    root: str | None
    files: int


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """A workspace at a glance; `facts` and `artifacts` are None where their file is damaged, as `problems` says."""

    SCHEMA: ClassVar[str] = "ctx/status/1"

    workspace: str
    trusted: bool
    knowledge_bases: tuple[KnowledgeBase, ...]
    notes: int
    facts: int | None = 0
    artifacts: int | None = 0
    sessions: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `status` is ok, warning or problem. `fixed` tells what was mended."""

    name: str
    status: str
    message: str
    hint: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What `ctx doctor` found."""

    SCHEMA: ClassVar[str] = "ctx/doctor/1"

    ok: bool
    checks: tuple[Check, ...]


def document(value: Any) -> dict[str, Any]:
    """The JSON document of a report value: its schema, then its fields in order; a mapping is taken as it is."""
    if isinstance(value, Mapping):
        return dict(value)
    found: dict[str, Any] = _plain(value)
    return {"schema": value.SCHEMA, **found}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return value
