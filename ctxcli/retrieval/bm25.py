"""The exact second stage: BM25 and the coverage of the question by a chunk's best sentence.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with Lucene's idf.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval.weights import TermWeights

K1 = 0.9
B = 0.4
SENTENCE = 0.5
"""What the best sentence's coverage adds to the normalised BM25 score (0.25 to 1 measured the same)."""
NEIGHBOURS = 0.3
"""What the coverage by the best three neighbouring units, headings aside, adds."""
DOCUMENT = 0.2
"""What the document adds: the mean score of its three best chunks."""
HEADING = 0.2
"""What the coverage of the question by the heading of the best sentence's section adds."""
HEADING_SHARE = 0.1
"""What the share of that heading's terms that the question asks for adds."""
HIGHEST = (1 + SENTENCE + NEIGHBOURS) * (1 + DOCUMENT) + HEADING + HEADING_SHARE
"""The highest score there can be."""
IN_HEAD = 0.5
"""What a term that stands only in title or headings counts in the coverage of a sentence."""


@dataclass(frozen=True, slots=True)
class Match:
    """A chunk and what of the question is in it.

    `head` holds the question's terms in title and headings, and the words of like meaning that stand for one;
    `units[i]` those of unit i.
    `bm25` is the score as a share of the highest that the question could have (0…1); `cover[i]` is the
    share of the question's weight in unit i, headings at half; `score` is what ranks (0…`HIGHEST`).
    """

    chunk: StoredChunk
    doc_id: str
    head: frozenset[str]
    units: tuple[frozenset[str], ...]
    bm25: float
    cover: tuple[float, ...]
    score: float

    @property
    def best(self) -> int:
        """The unit that covers most of the question, the first of several."""
        return max(range(len(self.cover)), key=self.cover.__getitem__, default=0)


def match(chunk: StoredChunk, weights: TermWeights, *, k1: float = K1, b: float = B) -> Match:
    """Score one chunk for a weighted question."""
    canonical, weight = weights.canonical, weights.weight
    head_line, _, *lines = chunk.terms.split("\n")
    head = [canonical[term] for term in head_line.split(" ") if term in canonical]
    units = [[canonical[term] for term in line.split(" ") if term in canonical] for line in lines]
    counts: dict[str, int] = {}
    for term in head:
        counts[term] = counts.get(term, 0) + 2
    for unit in units:
        for term in unit:
            counts[term] = counts.get(term, 0) + 1
    norm = k1 * (1 - b + b * chunk.length / weights.average_length)
    highest = weights.total * (k1 + 1)
    held = _counted(counts, weights)
    score = sum(weight[term] * count * (k1 + 1) / (count + norm) for term, count in held.items())
    bm25 = score / highest if highest else 0.0
    in_head = frozenset(head)
    sets = tuple(map(frozenset, units))
    cover = tuple(
        coverage(unit, above, weights)
        for unit, above in zip(sets, _above(chunk, in_head, sets, canonical), strict=True)
    )
    doc_id = chunk.key.rpartition(":")[0]
    score = bm25 + SENTENCE * max(cover, default=0.0) + NEIGHBOURS * _best_neighbours(sets, weights)
    return Match(chunk, doc_id, in_head, sets, bm25, cover, score)


def _counted(counts: Mapping[str, int], weights: TermWeights) -> dict[str, float]:
    """How often each term stands in a chunk, words of like meaning counted at their share."""
    found: dict[str, float] = {}
    for form, count in counts.items():
        term, share = weights.related.get(form, (form, 1.0))
        found[term] = found.get(term, 0.0) + share * count
    return found


def asked_heads(chunk: StoredChunk, canonical: Mapping[str, str]) -> dict[int, frozenset[str]]:
    """For each section the question's terms in title and headings above it; {} where the chunk has but one."""
    heads = chunk.heads()
    return {at: frozenset(canonical[term] for term in terms if term in canonical) for at, terms in heads.items()}


def _above(
    chunk: StoredChunk, head: frozenset[str], units: Sequence[frozenset[str]], canonical: Mapping[str, str]
) -> Iterator[frozenset[str]]:
    """For each unit the terms of title and headings above it, and for a row of a table those of its column names."""
    asked = asked_heads(chunk, canonical)
    if not asked and not chunk.has_rows:
        yield from (head for _ in units)
        return
    columns: frozenset[str] = frozenset()
    for terms, (start, _, kind) in zip(units, chunk.units, strict=True):
        columns = terms if kind == "header_row" else columns if kind == "row" else frozenset()
        own = asked[chunk.section_of(start)] if asked else head
        yield own | columns if kind == "row" else own


def _best_neighbours(units: Sequence[frozenset[str]], weights: TermWeights) -> float:
    """The highest share of the question's weight that three units in a row hold (0…1)."""
    runs = {units[at - 1] | unit | units[at + 1] if 0 < at < len(units) - 1 else unit for at, unit in enumerate(units)}
    if len(units) == 2:
        runs.add(units[0] | units[1])
    return max((coverage(run, frozenset(), weights) for run in runs), default=0.0)


def coverage(terms: frozenset[str], head: frozenset[str], weights: TermWeights) -> float:
    """The share of the question's weight that `terms` hold; what only `head` holds counts half (0…1).

    Sums over sets are exact, so that they do not depend on the order in which a process happens to hold a set.
    """
    if not (terms or head) or not weights.total:
        return 0.0
    shares: dict[str, float] = {}
    for forms, factor in ((terms, 1.0), (head, IN_HEAD)):
        for form in forms:
            term, share = weights.related.get(form, (form, 1.0))
            shares[term] = max(shares.get(term, 0.0), factor * share)
    return fsum(weights.weight[term] * share for term, share in shares.items()) / weights.total


def rank(chunks: Iterable[StoredChunk], weights: TermWeights, *, limit: int) -> list[Match]:
    """The `limit` best matches, best first; ties by chunk id, so that runs repeat; none that shares no term.

    On top of `match` a chunk is lifted by its document (its three best chunks) and by the heading above its best unit.
    """
    matches = [one for one in (match(chunk, weights) for chunk in chunks) if one.bm25 > 0]
    of_document: dict[str, list[float]] = {}
    for one in matches:
        of_document.setdefault(one.doc_id, []).append(one.score)
    document = {doc: sum(sorted(scores, reverse=True)[:3]) / 3 for doc, scores in of_document.items()}
    ranked = [
        replace(one, score=one.score + DOCUMENT * document[one.doc_id] + heading_bonus(one, weights)) for one in matches
    ]
    ranked.sort(key=lambda one: (-round(one.score, 9), one.chunk.key))
    return ranked[:limit]


def heading_bonus(one: Match, weights: TermWeights) -> float:
    """What the heading above the best unit adds (0 … `HEADING` + `HEADING_SHARE`)."""
    units = one.chunk.units
    terms = set(one.chunk.heading_terms(units[one.best][0])) if units else set()
    asked = frozenset(weights.canonical[term] for term in terms if term in weights.canonical)
    if not asked:
        return 0.0
    held = fsum(weights.related[form][1] if form in weights.related else 1.0 for form in asked)
    return HEADING * coverage(asked, frozenset(), weights) + HEADING_SHARE * held / len(terms)
