"""Knowledge that is ranked by meaning too, for the benchmarks; and questions over documents in another language."""

import os
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from suites import Asked, Suite, suites

from ctxcli import settings
from ctxcli.index.embedded import EmbeddedReader, open_writer
from ctxcli.index.vectors import open_vectors
from ctxcli.model.index import FileRecord, IndexSettings
from ctxcli.model.ports import Embedder, TextRole
from ctxcli.model.prepared import Prepared
from ctxcli.retrieval.fusion import Fusion
from ctxcli.services import embedding, models
from ctxcli.services.answering import Knowledge
from ctxcli.services.meaning import MeaningRanker, Source
from ctxcli.text.analyzer import Analyzer

CACHE = os.environ.get("CTX_BENCH_CACHE", "")
"""A file that keeps what was embedded from run to run, if one is named."""
STRANGERS = 150
"""Questions about other documents that are asked of each foreign set."""


class RememberingEmbedder:
    """An embedder that makes no vector twice."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.is_local = inner.is_local
        self.name, self.fingerprint = inner.name, inner.fingerprint
        self._rows: dict[tuple[str, str], Any] = {}
        if CACHE and Path(CACHE).exists():
            self._rows = pickle.loads(Path(CACHE).read_bytes()).get(self.fingerprint, {})

    def embed(self, texts: Sequence[str], *, role: TextRole) -> Any:
        """The rows, made or remembered."""
        import numpy as np

        new = list(dict.fromkeys(text for text in texts if (role, text) not in self._rows))
        if new:
            made = self._inner.embed(new, role=role)
            self._rows.update(((role, text), row) for text, row in zip(new, made, strict=True))
        return np.stack([self._rows[role, text] for text in texts])

    def save(self) -> None:
        """Keep what was made."""
        if CACHE:
            known = pickle.loads(Path(CACHE).read_bytes()) if Path(CACHE).exists() else {}
            Path(CACHE).write_bytes(pickle.dumps({**known, self.fingerprint: self._rows}))


def embedder(name: str) -> RememberingEmbedder:
    """The model of a name, as `ctx kb index --embed` takes it."""
    return RememberingEmbedder(models.embedder(settings.load(None), name, root=Path.cwd()))


def knowledge(
    documents: list[tuple[FileRecord, Prepared]], *, analyzer: Analyzer, model: Embedder, by: Fusion = "scores"
) -> Knowledge:
    """Documents indexed and embedded."""
    folder = Path(tempfile.mkdtemp(prefix="ctx-bench-"))
    writer = open_writer(folder, IndexSettings(1, analyzer.id, "bench"))
    for record, prepared in documents:
        chunks = tuple(chunk._replace(ordinal=ordinal) for ordinal, chunk in enumerate(prepared.chunks))
        writer.put(replace(record, chunks=len(chunks)), replace(prepared, chunks=chunks))
    writer.commit(["bench"])
    reader = EmbeddedReader(folder)
    embedding.embed(folder, reader, model)
    vectors = open_vectors(folder, commit=str(reader.stats["commit"]), name="kb")
    return Knowledge({"kb": reader}, analyzer=analyzer, ranker=MeaningRanker({"kb": Source(vectors, model)}, by=by))


def foreign_suites() -> Iterator[Suite]:
    """The questions of XQuAD that are there in both languages, asked of the documents in the other one.

    To them come questions of the other sets, which are about other documents.
    """
    own = {suite.name: suite for suite in suites() if suite.name.startswith("dev")}
    for asking, held in (("en", "zh"), ("zh", "en")):
        here, there = own[f"dev-{asking}"], own[f"dev-{held}"]
        targets = {_xquad(one): one for one in there.questions if _xquad(one)}
        pairs = [(one, targets[_xquad(one)]) for one in here.questions if _xquad(one) in targets]
        asked = [replace(one, suite=f"{asking} over {held}", doc=to.doc, is_gold=to.is_gold) for one, to in pairs]
        strangers = [one for one in here.questions if not _xquad(one)][:: max(1, len(here.questions) // STRANGERS)]
        asked += [replace(one, suite=f"{asking} over {held}", doc="", is_gold=None) for one in strangers]
        yield Suite(f"{asking} over {held}", there.documents, asked)


def _xquad(asked: Asked) -> str:
    """What the two languages of a question of XQuAD have in common, "" for all others."""
    source, _, name = asked.id.partition(":")
    return name if source.startswith("xquad") else ""
