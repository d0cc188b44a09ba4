"""Words and meaning put together: by adding scores, or by ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval import bm25, closeness
from ctxcli.retrieval.bm25 import Match
from ctxcli.retrieval.closeness import Nearness
from ctxcli.retrieval.weights import TermWeights
from ctxcli.text.question import Language

Fusion = Literal["scores", "rrf", "vector"]
"""``scores`` adds them, ``rrf`` adds reciprocal ranks, ``vector`` leaves words aside."""
WEIGHT = 0.4
"""What nearness counts beside the score by words: more finds more in documentation and less elsewhere."""
FOREIGN_WEIGHT: Mapping[Language, float] = {"en": 0.9, "zh": 0.6}
"""The same, by the language of the question, where the chunk is in another: there it stands for the words as well."""
RRF_K = 60
HIGHEST = bm25.HIGHEST + WEIGHT * closeness.HIGHEST


@dataclass(frozen=True, slots=True)
class NearMatch(Match):
    """A match that is also compared by meaning; `words` is the score that the words alone give it."""

    words: float
    near: Nearness

    def nearness_of(self, unit: int) -> float:
        """How near a unit is; one that has no vector is as near as its chunk."""
        quotable = closeness.quotable(self.chunk)
        return self.near.units[quotable.index(unit)] if unit in quotable else self.near.chunk


def rank(
    chunks: Iterable[StoredChunk],
    weights: TermWeights,
    near: Mapping[str, Nearness],
    *,
    by: Fusion,
    language: Language,
    limit: int,
) -> list[NearMatch]:
    """The `limit` best matches, best first; ties by chunk id. None that shares no term and is as far as the unrelated.

    `near` holds all chunks, `language` is the question's. Scores lie in 0…`HIGHEST`.
    """
    held = list(chunks)
    by_words = bm25.rank(held, weights, limit=len(held))
    words = {one.chunk.key: one for one in by_words}
    matches = [_near(words.get(chunk.key), chunk, weights, near[chunk.key]) for chunk in held]
    scores = _fused(by, [one.chunk.key for one in by_words], matches, language)
    found = [replace(one, score=scores[one.chunk.key]) for one in matches if scores[one.chunk.key] > 0]
    found.sort(key=lambda one: (-round(one.score, 6), one.chunk.key))
    return found[:limit]


def _near(found: Match | None, chunk: StoredChunk, weights: TermWeights, near: Nearness) -> NearMatch:
    one = found or bm25.match(chunk, weights)
    words = found.score if found else 0.0
    return NearMatch(one.chunk, one.doc_id, one.head, one.units, one.bm25, one.cover, words, words=words, near=near)


def _fused(by: Fusion, by_words: Sequence[str], matches: Sequence[NearMatch], language: Language) -> dict[str, float]:
    if by == "scores":
        weight = {False: WEIGHT, True: FOREIGN_WEIGHT[language]}
        return {one.chunk.key: one.words + weight[one.near.foreign] * one.near.both for one in matches}
    if by == "vector":
        return {one.chunk.key: one.near.both * HIGHEST / closeness.HIGHEST for one in matches}
    close = [one for one in matches if one.near.both > 0]
    by_meaning = [one.chunk.key for one in sorted(close, key=lambda one: (-round(one.near.both, 6), one.chunk.key))]
    scores = reciprocal_ranks([by_words, by_meaning])
    return {one.chunk.key: scores.get(one.chunk.key, 0.0) * HIGHEST * (RRF_K + 1) / 2 for one in matches}


def reciprocal_ranks(rankings: Iterable[Sequence[str]], *, k: int = RRF_K) -> dict[str, float]:
    """Σ 1/(k + rank) over the rankings that have a key, ranks from 1 (Cormack, Clarke and Buettcher, 2009)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank_, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank_)
    return scores
