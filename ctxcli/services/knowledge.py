"""Knowledge bases looked into: which there are, their files, chunks and outlines."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli.model.errors import DataError, NotFoundError
from ctxcli.model.index import FileRecord
from ctxcli.model.report import (
    Embedding,
    FileWarning,
    IndexedFile,
    IndexedFiles,
    KnowledgeBase,
    KnowledgeBases,
    Outline,
    OutlineEntry,
    RootInfo,
    ShownChunk,
)
from ctxcli.model.stored import StoredChunk
from ctxcli.services.workspace import DEFAULT_KB, Workspace
from ctxcli.storage.files import identity

if TYPE_CHECKING:
    from ctxcli.index.embedded import EmbeddedReader
    from ctxcli.storage.manifest import Manifest


def list_all(workspace: Workspace) -> KnowledgeBases:
    """All knowledge bases; one that cannot be read says so in its `error`."""
    return KnowledgeBases(tuple(_summary(workspace, name) for name in workspace.kb_names()))


def info(workspace: Workspace, name: str | None = None) -> KnowledgeBase:
    """One knowledge base in numbers."""
    chosen = name or the_only(workspace)
    workspace.manifest(chosen)
    found = _summary(workspace, chosen)
    if found.error:
        raise DataError(found.error, code="index_unreadable", hint=f"ctx kb index --kb {chosen} --rebuild")
    return found


def the_only(workspace: Workspace) -> str:
    """The knowledge base that is meant where none is named: ``default``, or the only one."""
    names = workspace.kb_names()
    if DEFAULT_KB in names:
        return DEFAULT_KB
    if len(names) == 1:
        return names[0]
    if not names:
        raise workspace.no_kb(DEFAULT_KB)
    raise NotFoundError(
        "there are several knowledge bases", code="kb_ambiguous", hint=f"name one with --kb: {', '.join(names)}"
    )


def _summary(workspace: Workspace, name: str) -> KnowledgeBase:
    try:
        current = workspace.manifest(name)
    except DataError as error:
        return KnowledgeBase(name, (), 0, 0, 0, 0, 0, 0, {}, "", None, error.message)
    roots = tuple(
        RootInfo(root.path, root.include, root.exclude, (workspace.root / root.path).exists()) for root in current.roots
    )
    try:
        reader = workspace.reader(name)
        records, analyzer = reader.files(), reader.settings.analyzer
    except DataError as error:
        return KnowledgeBase(name, roots, 0, 0, 0, 0, 0, 0, {}, "", None, error.message)
    good = [record for record in records if record.status == "ok"]
    return KnowledgeBase(
        name=name,
        roots=roots,
        files=len(good),
        failed=len(records) - len(good),
        chunks=sum(record.chunks for record in good),
        pages=sum(record.pages or 0 for record in good),
        warnings=sum(len(record.warnings) for record in good),
        bytes=sum(record.size for record in good),
        formats=dict(sorted(Counter(record.format for record in good).items())),
        analyzer=analyzer,
        updated_at=_updated_at(workspace.kb_folder(name) / current.engine),
        embedding=_embedding(workspace, current, reader) if current.embed else None,
    )


def _embedding(workspace: Workspace, current: "Manifest", reader: "EmbeddedReader") -> Embedding:
    """The vectors; of a model that has made none yet there are none."""
    from ctxcli.index.vectors import header_of

    header = header_of(workspace.kb_folder(current.name))
    if header is None:
        return Embedding(current.embed, 0, 0, False)
    is_current = header.commit == reader.stats.get("commit") and header.model == current.embed
    return Embedding(header.model, header.dimensions, header.chunks, is_current)


def _updated_at(engine: Path) -> str | None:
    """When the index was last committed."""
    try:
        newest = max(path.stat().st_mtime for path in engine.iterdir())
    except (OSError, ValueError):
        return None
    return datetime.fromtimestamp(newest, UTC).astimezone().isoformat(timespec="seconds")


def files(workspace: Workspace, name: str | None = None, *, failed_only: bool = False) -> IndexedFiles:
    """The files of a knowledge base; with `failed_only` those that could not be read."""
    chosen = name or the_only(workspace)
    records = workspace.reader(chosen).files()
    wanted = [record for record in records if not failed_only or record.status == "failed"]
    return IndexedFiles(chosen, len(records), tuple(map(_indexed_file, wanted)))


def _indexed_file(record: FileRecord) -> IndexedFile:
    warnings = tuple(FileWarning(record.path, one.code, one.message, one.page) for one in record.warnings)
    same = {name: getattr(record, name) for name in IndexedFile.__dataclass_fields__ if name != "warnings"}
    return IndexedFile(**same, warnings=warnings)


def show(workspace: Workspace, chunk_id: str, names: Sequence[str] = ()) -> ShownChunk:
    """A chunk by its id, or by a start of it that only one chunk has (with one of ``DOC:ORDINAL``)."""
    for name in names or workspace.kb_names():
        reader = workspace.reader(name)
        chunk = reader.chunk(chunk_id)
        record = reader.file(chunk_id.rpartition(":")[0]) if chunk else None
        if chunk and record:
            return _shown(name, chunk, record)
    return _shown_by_prefix(workspace, chunk_id, names)


def _shown_by_prefix(workspace: Workspace, chunk_id: str, names: Sequence[str]) -> ShownChunk:
    document, _, ordinal = chunk_id.rpartition(":")
    found = [
        (name, record)
        for name in names or workspace.kb_names()
        for record in workspace.reader(name).files()
        if document and ordinal.isdigit() and record.status == "ok" and record.doc_id.startswith(document)
    ]
    if len(found) == 1:
        name, record = found[0]
        chunk = workspace.reader(name).chunk(f"{record.doc_id}:{ordinal}")
        if chunk:
            return _shown(name, chunk, record)
    if len(found) > 1:
        candidates = ", ".join(f"{record.doc_id}:{ordinal} ({record.path})" for _, record in found[:5])
        raise NotFoundError(f"several chunks are meant by {chunk_id!r}", code="chunk_ambiguous", hint=candidates)
    raise NotFoundError(
        f"there is no chunk {chunk_id!r}",
        code="chunk_not_found",
        hint="`ctx kb search QUERY --json` gives them as `chunk_id`",
    )


def _shown(name: str, chunk: StoredChunk, record: FileRecord) -> ShownChunk:
    place = chunk.place(0, len(chunk.text))
    return ShownChunk(
        kb=name,
        chunk_id=chunk.key,
        doc=record.path,
        title=record.title,
        section=place.section,
        heading=place.heading,
        heading_path=place.heading_path,
        page=place.page,
        page_end=place.page_end,
        line_start=place.line_start,
        line_end=place.line_end,
        text=chunk.text,
        doc_sha256=record.sha256,
    )


def outline(workspace: Workspace, doc: str, names: Sequence[str] = ()) -> Outline:
    """The sections of a document, named by its path (or the end of it), its id (or a start of it), or its title."""
    name, record = _document(workspace, doc, names or workspace.kb_names())
    from ctxcli.model.stored import decode_outline

    rows = decode_outline(workspace.reader(name).outline(record.doc_id))
    entries = (
        OutlineEntry(level, number or None, f"{number} {title}".strip(), page, line)
        for level, number, title, page, line in rows
    )
    return Outline(name, record.path, record.title, tuple(entries))


def _document(workspace: Workspace, doc: str, names: Sequence[str]) -> tuple[str, FileRecord]:
    if not names:
        raise workspace.no_kb(DEFAULT_KB)
    wanted = identity(doc.removeprefix("./"))
    here = identity(workspace.cite(Path(doc)))
    records = [(name, record) for name in names for record in workspace.reader(name).files()]
    good = [(name, record) for name, record in records if record.status == "ok"]
    for fits in (
        lambda one: identity(one.path) in (wanted, here) or one.doc_id == wanted,
        lambda one: identity(one.path).endswith("/" + wanted) or one.title == doc,
        lambda one: len(wanted) >= 4 and one.doc_id.startswith(wanted),
    ):
        found = [(name, record) for name, record in good if fits(record)]
        if len(found) == 1:
            return found[0]
        if found:
            paths = ", ".join(record.path for _, record in found[:5])
            raise NotFoundError(f"several documents are meant by {doc!r}", code="doc_ambiguous", hint=paths)
    failed = next((record for _, record in records if identity(record.path) in (wanted, here)), None)
    if failed:
        raise DataError(f"{failed.path} could not be read: {failed.message}", code=failed.code)
    raise NotFoundError(f"there is no document {doc!r}", code="doc_not_found", hint="`ctx kb files` lists them")
