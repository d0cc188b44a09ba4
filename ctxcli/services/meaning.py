"""The ways of ranking beside plain words: by meaning, by both, by keywords, and anew by a reranker."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxcli.answering import meaning
from ctxcli.answering.coefficients import probability
from ctxcli.answering.evidence import Values, Windows
from ctxcli.index.embedded import EmbeddedReader
from ctxcli.index.vectors import VectorFile, open_vectors
from ctxcli.model.answer import Hits
from ctxcli.model.errors import DataError, ServiceError
from ctxcli.model.ports import Embedder, Reranker
from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval import bm25, fusion, keyword
from ctxcli.retrieval.bm25 import Match
from ctxcli.retrieval.closeness import Nearness, texts_of
from ctxcli.retrieval.fusion import Fusion, NearMatch
from ctxcli.retrieval.weights import TermWeights
from ctxcli.services.answering import CANDIDATES, Filters, Knowledge, WordRanker, matching_docs
from ctxcli.services.searching import best_span
from ctxcli.settings import BY_MEANING, is_allowed
from ctxcli.text.question import Question, read_question

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors
    from ctxcli.services.answering import Ranker
    from ctxcli.services.workspace import Workspace

NEAREST = 100
"""Chunks that are looked at more closely, sentence by sentence; as many as the engine's candidates are kept."""


@dataclass(frozen=True, slots=True)
class Source:
    """The vectors of a knowledge base and the model that made them."""

    vectors: VectorFile
    embedder: Embedder


class MeaningRanker:
    """By meaning, with the words (`fusion` ``scores`` or ``rrf``) or without them (``vector``)."""

    highest: float = fusion.HIGHEST

    def __init__(self, sources: Mapping[str, Source], *, by: Fusion) -> None:
        self._sources = sources
        self._by = by
        self.name = "hybrid" if by == "scores" else by
        self._asked = ""
        self._queries: dict[str, Vectors] = {}

    def propose(
        self, knowledge: Knowledge, question: Question, weights: TermWeights, *, limit: int, filters: Filters
    ) -> list[StoredChunk]:
        """What the engines propose by words, and what is nearest in meaning."""
        words = [] if self._by == "vector" else knowledge.candidates(weights, limit=limit, filters=filters)
        found = {chunk.key: chunk for chunk in words}
        for kb, source in self._sources.items():
            reader = knowledge.readers[kb]
            assert isinstance(reader, EmbeddedReader)
            new = [key for key in self._nearest(source, reader, question, limit, filters) if key not in found]
            chunks = [chunk for key in new if (chunk := reader.chunk(key)) is not None]
            found.update((chunk.key, chunk) for chunk in knowledge.taken(kb, chunks))
        return list(found.values())

    def _nearest(
        self, source: Source, reader: EmbeddedReader, question: Question, limit: int, filters: Filters
    ) -> list[str]:
        """The nearest chunks, by the mean of the chunk's nearness and its nearest unit's."""
        query, language = self._query(source, question), question.language
        docs = set(matching_docs(reader, filters.doc)) if filters.doc else None
        keys = reader.keys_in(filters.section) if filters.section else None
        roughly = source.vectors.nearest(query, language, limit=max(NEAREST, limit), docs=docs, keys=keys)
        near = source.vectors.nearness(query, language, roughly)
        return sorted(near, key=lambda key: (-round(near[key].both, 6), key))[:limit]

    def _query(self, source: Source, question: Question) -> "Vectors":
        """The vector of the question; that of the last question is kept, for each model."""
        if self._asked != question.text:
            self._asked, self._queries = question.text, {}
        model = source.embedder.fingerprint
        if model not in self._queries:
            self._queries[model] = source.embedder.embed([question.text], role="query")[0]
        return self._queries[model]

    def rank(
        self,
        knowledge: Knowledge,
        question: Question,
        weights: TermWeights,
        chunks: Iterable[StoredChunk],
        *,
        limit: int,
    ) -> Sequence[NearMatch]:
        """By the chosen fusion."""
        held = list(chunks)
        near: dict[str, Nearness] = {}
        for kb, source in self._sources.items():
            keys = [chunk.key for chunk in held if knowledge.kb_of(chunk) == kb]
            if keys:
                near |= source.vectors.nearness(self._query(source, question), question.language, keys)
        return fusion.rank(held, weights, near, by=self._by, language=question.language, limit=limit)

    def values(self, question: Question, weights: TermWeights, matches: Sequence[Match]) -> list[dict[int, float]]:
        """By the sentence model, corrected by nearness."""
        return meaning.sentence_values(question, weights, _near(matches))

    def score(
        self, question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows
    ) -> float:
        """By the decision model, corrected by nearness."""
        return meaning.score(question, weights, _near(matches), values, shown)


def _near(matches: Sequence[Match]) -> list[NearMatch]:
    return [one for one in matches if isinstance(one, NearMatch)]


class KeywordRanker(WordRanker):
    """By the share of the question's terms that a chunk holds; sentences and decision as by words."""

    name = "keyword"

    def rank(
        self,
        knowledge: Knowledge,
        question: Question,
        weights: TermWeights,
        chunks: Iterable[StoredChunk],
        *,
        limit: int,
    ) -> Sequence[Match]:
        """By the keyword score; ties by the score of the words."""
        held = list(chunks)
        ranked = bm25.rank(held, weights, limit=len(held))
        return sorted(ranked, key=lambda one: -round(keyword.score(one, question), 9))[:limit]


class RerankingRanker:
    """As another ranker does, and then the best `top` again by a model that reads question and chunk together."""

    highest: float = 1.0

    def __init__(self, inner: "Ranker", reranker: Reranker, *, top: int) -> None:
        self._inner, self._reranker, self._top = inner, reranker, top
        self.name = f"{inner.name}+rerank"

    def propose(
        self, knowledge: Knowledge, question: Question, weights: TermWeights, *, limit: int, filters: Filters
    ) -> list[StoredChunk]:
        """What the other ranker proposes."""
        return self._inner.propose(knowledge, question, weights, limit=max(limit, self._top), filters=filters)

    def rank(
        self,
        knowledge: Knowledge,
        question: Question,
        weights: TermWeights,
        chunks: Iterable[StoredChunk],
        *,
        limit: int,
    ) -> Sequence[Match]:
        """By the reranker's score, which becomes the match's (0…1); ties as they were."""
        first = self._inner.rank(knowledge, question, weights, chunks, limit=self._top)
        texts = [texts_of(knowledge.title_of(one.chunk), one.chunk)[0] for one in first]
        scores = self._reranker.scores(question.text, texts) if texts else ()
        matches = [replace(one, score=score) for one, score in zip(first, scores, strict=True)]
        return sorted(matches, key=lambda one: -round(one.score, 6))[:limit]

    def values(self, question: Question, weights: TermWeights, matches: Sequence[Match]) -> list[dict[int, float]]:
        """As the other ranker does."""
        return self._inner.values(question, weights, matches)

    def score(
        self, question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows
    ) -> float:
        """Half way, in log odds, between the other ranker's score and that of the best match."""
        if not matches:
            return 0.0
        found = self._inner.score(question, weights, matches, values, shown)
        both = (meaning.logit(found) + meaning.logit(matches[0].score)) / 2
        return probability(both)


def ranker_for(workspace: "Workspace", knowledge: Knowledge, *, mode: str, by: str, rerank: bool) -> "Ranker":
    """The ranker of a mode (of `settings.MODES`) and, for ``hybrid``, a fusion (of `settings.FUSIONS`).

    DataError where the vectors are not there or not those of the index, ServiceError where a model cannot be had.
    """
    from ctxcli.services import models

    ranker: Ranker = WordRanker()
    if mode in BY_MEANING:
        fused: Fusion = "vector" if mode == "vector" else "rrf" if by == "rrf" else "scores"
        ranker = MeaningRanker(_sources(workspace, knowledge), by=fused)
    elif mode == "keyword":
        ranker = KeywordRanker()
    if rerank:
        reranker = models.reranker(workspace.settings, root=workspace.root)
        ranker = RerankingRanker(ranker, reranker, top=workspace.settings.integer("rerank.top"))
    return ranker


def _sources(workspace: "Workspace", knowledge: Knowledge) -> dict[str, Source]:
    from ctxcli.services import models

    made: dict[str, Embedder] = {}
    found = {}
    for name, reader in knowledge.readers.items():
        if not reader.stats.get("chunks"):
            continue  # nothing to embed: the answer is that there are no documents
        folder, chosen = workspace.kb_folder(name), workspace.manifest(name).embed
        vectors = open_vectors(folder, commit=str(reader.stats.get("commit", "")), name=name, model=chosen)
        model = vectors.header.model
        if model not in made:
            made[model] = models.loaded_embedder(workspace.settings, model, root=workspace.root)
        if not made[model].is_local and not is_allowed(workspace.root, f"embed {name}", model):
            raise ServiceError(
                f"{model} is not on this machine and was not asked for by you: the question is not sent",
                code="not_sent",
                hint=f"if you want it: ctx kb index --kb {name} --embed {model}; by words: --mode bm25",
            )
        if made[model].fingerprint != vectors.header.fingerprint:
            raise DataError(
                f"the vectors of {name!r} were made by another {model} than the one that is here now",
                code="vectors_mismatch",
                hint=f"embed the documents again: ctx kb index --kb {name}",
            )
        found[name] = Source(vectors, made[model])
    return found


def search(knowledge: Knowledge, query: str, *, limit: int, filters: Filters) -> Hits:
    """The `limit` chunks that the knowledge's ranker puts first, best first; scores are shares of the highest (0…1)."""
    ranker = knowledge.ranker
    question = read_question(query, knowledge.analyzer)
    weights = knowledge.weigh(question)
    chunks = ranker.propose(knowledge, question, weights, limit=max(CANDIDATES, 3 * limit), filters=filters)
    matches = ranker.rank(knowledge, question, weights, chunks, limit=limit)
    return Hits(
        query,
        tuple(
            knowledge.passage(
                one, *best_span(one, _worth(one), filters.section), score=min(1.0, one.score / ranker.highest)
            )
            for one in matches
        ),
    )


def _worth(match: Match) -> Sequence[float]:
    """What each unit is worth to a query."""
    if not isinstance(match, NearMatch):
        return match.cover
    return [cover + fusion.WEIGHT * match.nearness_of(unit) for unit, cover in enumerate(match.cover)]
