"""Brings the vectors of a knowledge base to its index: embeds only what is new, goes on with interrupted work."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ctxcli.index.embedded import EmbeddedReader
from ctxcli.index.vectors import Header
from ctxcli.index.vectors_writer import OtherWidthError, VectorStore, digest_of
from ctxcli.model.index import FileRecord
from ctxcli.model.ports import Embedder
from ctxcli.model.report import EmbeddingRun
from ctxcli.retrieval.closeness import LANGUAGES, Scales, scale_of, texts_of
from ctxcli.text.question import language_of

_TOGETHER = 16
"""Chunks that are embedded, and kept, in one go."""
Watcher = Callable[[int, int], None]
"""Is told how many of how many chunks are embedded."""


class _Document(NamedTuple):
    """A document and its chunks: digest of what is embedded, language (an index into `LANGUAGES`)."""

    id: str
    stamp: str
    chunks: Sequence[tuple[bytes, int]]


def embed(
    folder: Path, reader: EmbeddedReader, embedder: Embedder, *, watch: Watcher = lambda done, total: None
) -> EmbeddingRun:
    """Make the vectors in `folder` those of the index that `reader` shows, by `embedder`.

    ServiceError where the model fails; what was embedded by then is kept for the next run. Where rows come in another
    width than before, a service has changed the model behind the name: then all is embedded anew. The caller holds the
    lock.
    """
    try:
        return _embed(folder, reader, embedder, watch)
    except OtherWidthError:
        return _embed(folder, reader, embedder, watch, anew=True)


def _embed(
    folder: Path, reader: EmbeddedReader, embedder: Embedder, watch: Watcher, *, anew: bool = False
) -> EmbeddingRun:
    commit = str(reader.stats.get("commit", ""))
    with closing(VectorStore(folder, embedder.fingerprint, anew=anew)) as store:
        old = store.old
        documents = list(_documents(reader, store))
        chunks = [chunk for document in documents for chunk in document.chunks]
        digests = [digest for digest, _ in chunks]
        new = {digest for digest in digests if not store.has(digest)}
        scales = old.scales if old else measure(embedder)
        width = _embed_new(reader, store, embedder, documents, new, watch)
        header = Header(
            commit=commit,
            model=embedder.name,
            fingerprint=embedder.fingerprint,
            dimensions=width or (old.dimensions if old else 0),
            chunks=len(digests),
            units=sum(map(store.units, digests)),
            scales=scales,
            documents=tuple((one.id, one.stamp, len(one.chunks)) for one in documents),
        )
        if old is None or replace(old, checksum=0) != header:
            store.write(header, chunks)
    unknown = tuple(
        language
        for number, language in enumerate(LANGUAGES)
        if not scales[f"{language}-{language}"].known and any(other == number for _, other in chunks)
    )
    kept = sum(digest not in new for digest in digests)
    return EmbeddingRun(embedder.name, header.dimensions, len(new), kept, unknown)


def measure(embedder: Embedder) -> Scales:
    """What the model's cosines are worth, by the languages of question and passage."""
    from ctxcli.retrieval.pairs import PAIRS

    columns = list(zip(*PAIRS, strict=True))
    questions = {"zh": columns[0], "en": columns[2]}
    passages = {"zh": columns[1], "en": columns[3]}
    asked = {language: embedder.embed(texts, role="query") for language, texts in questions.items()}
    held = {language: embedder.embed(texts, role="passage") for language, texts in passages.items()}
    return {f"{one}-{other}": scale_of((asked[one] @ held[other].T).tolist()) for one in asked for other in held}


def _documents(reader: EmbeddedReader, store: VectorStore) -> Iterator[_Document]:
    """All documents with chunks, by path; of those that are as they were, no chunk is read."""
    known = store.old_chunks()
    for record in reader.files():
        if record.status != "ok" or not record.chunks:
            continue
        stamp = _stamp(record, reader.settings.chunker)
        chunks = known.get((record.doc_id, stamp))
        if chunks is None:
            found = _texts(reader, record)
            chunks = [(digest_of(texts), LANGUAGES.index(language_of(texts[0]))) for texts in found]
        yield _Document(record.doc_id, stamp, chunks)


def _stamp(record: FileRecord, chunker: str) -> str:
    """Stands for all that the texts of a document's chunks are made from."""
    parts = (record.doc_id, record.title, record.parser, chunker, str(record.chunks))
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _texts(reader: EmbeddedReader, record: FileRecord) -> list[list[str]]:
    return [texts_of(record.title, chunk) for chunk in reader.chunks_of(record.doc_id)]


def _embed_new(
    reader: EmbeddedReader,
    store: VectorStore,
    embedder: Embedder,
    documents: Sequence[_Document],
    new: set[bytes],
    watch: Watcher,
) -> int:
    """Embed what is new, in the order of the documents; returns the width of a row, 0 where nothing was new."""
    done, width = 0, 0
    wanted = _wanted(reader, documents, set(new))
    while batch := list(islice(wanted, _TOGETHER)):
        rows = embedder.embed([text for _, texts in batch for text in texts], role="passage")
        width = rows.shape[1]
        at = 0
        for digest, texts in batch:
            store.add(digest, rows[at : at + len(texts)])
            at += len(texts)
        store.save()
        done += len(batch)
        watch(done, len(new))
    return width


def _wanted(
    reader: EmbeddedReader, documents: Sequence[_Document], left: set[bytes]
) -> Iterator[tuple[bytes, list[str]]]:
    records = {record.doc_id: record for record in reader.files()}
    for document in documents:
        if left.isdisjoint(digest for digest, _ in document.chunks):
            continue
        for (digest, _), texts in zip(document.chunks, _texts(reader, records[document.id]), strict=True):
            if digest in left:
                left.discard(digest)
                yield digest, texts
