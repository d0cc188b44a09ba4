"""Files for an index, made from their text."""

from hashlib import sha256

from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.model.prepared import Prepared
from ctxcli.services.prepare import prepare

SETTINGS = IndexSettings(schema=2, analyzer="bigrams/1", chunker="chunks/1")


def made(path: str, text: str) -> tuple[FileRecord, Prepared]:
    """A Markdown file as an index run would put it."""
    data = text.encode()
    prepared = prepare(data, name=path.rpartition("/")[2])
    digest = sha256(data).hexdigest()
    doc_id = sha256(f"{path}\0{digest}".encode()).hexdigest()[:16]
    record = FileRecord(
        path, "docs", doc_id, len(data), 1, digest, "ok", "markdown", "markdown/1", prepared.title, False,
        len(prepared.chunks),
    )  # fmt: skip
    return record, prepared


def failed(path: str) -> FileRecord:
    """A file that could not be read."""
    return FileRecord(path, "docs", "", 3, 1, "ab" * 32, "failed", code="encrypted", message="it is encrypted")
