"""Answer a question from knowledge bases, or decline."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ctxcli.answering import decision, directed, evidence
from ctxcli.answering.blocks import whole_block
from ctxcli.answering.compose import answer_text
from ctxcli.answering.conflict import conflict
from ctxcli.answering.evidence import Values, Windows
from ctxcli.answering.two_parts import excerpts_for_both, says_enough
from ctxcli.model.answer import Answer, Passage, Reason
from ctxcli.model.index import FileRecord, IndexReader
from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval import bm25
from ctxcli.retrieval.bm25 import Match
from ctxcli.retrieval.weights import TermWeights, weigh
from ctxcli.text.analyzer import Analyzer
from ctxcli.text.question import CHARACTER_WEIGHT, Question, read_question
from ctxcli.text.question_parts import parts_of
from ctxcli.text.related import related

CANDIDATES = 30
"""How many chunks the engine proposes; more changed no figure."""
EVIDENCE = 10
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Filters:
    """What a search is confined to: a section number (and those below it), documents by glob."""

    section: str = ""
    doc: str = ""


EVERYWHERE = Filters()


if TYPE_CHECKING:
    from ctxcli.model.calibration import ScoreScale

    class Ranker(Protocol):
        """The way chunks are found and judged: which are looked at, in which order, and what speaks for an answer."""

        @property
        def name(self) -> str:
            """What a threshold is fitted to: ``bm25``, ``hybrid`` …"""

        def propose(
            self, knowledge: "Knowledge", question: Question, weights: TermWeights, *, limit: int, filters: Filters
        ) -> list[StoredChunk]:
            """Chunks that may answer, about `limit`."""

        def rank(
            self,
            knowledge: "Knowledge",
            question: Question,
            weights: TermWeights,
            chunks: Iterable[StoredChunk],
            *,
            limit: int,
        ) -> Sequence[Match]:
            """The `limit` best of them, best first."""

        def values(self, question: Question, weights: TermWeights, matches: Sequence[Match]) -> list[dict[int, float]]:
            """For each match the probability, by unit, that the unit answers."""

        def score(
            self, question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows
        ) -> float:
            """The probability that the question is answered (0…1); `shown` are the excerpts that it would have."""

        @property
        def highest(self) -> float:
            """The highest score that a match can have."""


class WordRanker:
    """By the words that question and chunk share; `ctxcli.services.meaning` has the other ways."""

    name: str = "bm25"
    highest: float = bm25.HIGHEST

    def propose(
        self, knowledge: "Knowledge", question: Question, weights: TermWeights, *, limit: int, filters: Filters
    ) -> list[StoredChunk]:
        """What the engines propose."""
        return knowledge.candidates(weights, limit=limit, filters=filters)

    def rank(
        self,
        knowledge: "Knowledge",
        question: Question,
        weights: TermWeights,
        chunks: Iterable[StoredChunk],
        *,
        limit: int,
    ) -> Sequence[Match]:
        """By BM25 and coverage."""
        return bm25.rank(chunks, weights, limit=limit)

    def values(self, question: Question, weights: TermWeights, matches: Sequence[Match]) -> list[dict[int, float]]:
        """By the sentence model."""
        return evidence.sentence_values(question, weights, matches)

    def score(
        self, question: Question, weights: TermWeights, matches: Sequence[Match], values: Values, shown: Windows
    ) -> float:
        """By the decision model."""
        return decision.score(question, weights, matches, values, shown)


class Knowledge:
    """Several knowledge bases asked as one: frequencies are summed, candidates put together."""

    def __init__(
        self, readers: Mapping[str, IndexReader], *, analyzer: Analyzer, ranker: "Ranker | None" = None
    ) -> None:
        self._readers = readers
        self.analyzer = analyzer
        self.ranker: Ranker = ranker or WordRanker()
        self.scale: ScoreScale | None = None
        """What the scores of answers mean here, where that was fitted."""
        self._kb_of: dict[str, str] = {}
        self._files: dict[str, FileRecord] = {}

    @property
    def readers(self) -> Mapping[str, IndexReader]:
        """The knowledge bases by name."""
        return self._readers

    @property
    def chunks(self) -> int:
        """The chunks in all knowledge bases."""
        return sum(reader.stats["chunks"] for reader in self._readers.values())

    def weigh(self, question: Question, *, with_related: bool = False) -> TermWeights:
        """The question's terms as these knowledge bases know them, with words of like meaning if asked."""
        readers = self._readers.values()
        return weigh(
            question,
            lambda term: sum(reader.document_frequency(term) for reader in readers),
            chunks=self.chunks,
            length=sum(reader.stats["length"] for reader in readers),
            related=related if with_related else None,
        )

    def candidates(self, weights: TermWeights, *, limit: int, filters: Filters) -> list[StoredChunk]:
        """The chunks that the engines propose, each once."""
        forms = {form: _boost(term) for form, term in weights.canonical.items() if weights.frequency.get(term)}
        forms |= {form: _boost(term) * share for form, (term, share) in weights.related.items()}
        found: list[StoredChunk] = []
        for name, reader in self._readers.items():
            docs = matching_docs(reader, filters.doc) if filters.doc else None
            found += self.taken(name, reader.candidates(forms, limit=limit, section=filters.section, docs=docs))
        return found

    def taken(self, kb: str, chunks: Iterable[StoredChunk]) -> list[StoredChunk]:
        """Those chunks that no other knowledge base has given before."""
        return [chunk for chunk in chunks if self._kb_of.setdefault(chunk.key, kb) == kb]

    def kb_of(self, chunk: StoredChunk) -> str:
        """The knowledge base that has given a chunk."""
        return self._kb_of[chunk.key]

    def title_of(self, chunk: StoredChunk) -> str:
        """The title of a chunk's document."""
        return self._file(self._kb_of[chunk.key], chunk.key.rpartition(":")[0]).title

    def passage(self, match: Match, start: int, end: int, score: float) -> Passage:
        """A slice of a match as a citation."""
        chunk = match.chunk
        kb = self._kb_of[chunk.key]
        record = self._file(kb, match.doc_id)
        place = chunk.place(start, end)
        return Passage(
            kb=kb,
            doc=record.path,
            title=record.title,
            section=place.section,
            heading=place.heading,
            heading_path=place.heading_path,
            anchor=place.anchor,
            page=place.page,
            page_end=place.page_end,
            page_label=place.page_label,
            line_start=place.line_start,
            line_end=place.line_end,
            quote=chunk.text[start:end],
            text=chunk.text,
            chunk_id=chunk.key,
            score=round(score, 4),
            doc_sha256=record.sha256,
        )

    def record_of(self, passage: Passage) -> FileRecord:
        """The file that a passage was cut from, as it was indexed."""
        return self._file(passage.kb, passage.chunk_id.rpartition(":")[0])

    def _file(self, kb: str, doc_id: str) -> FileRecord:
        key = f"{kb}/{doc_id}"
        if key not in self._files:
            record = self._readers[kb].file(doc_id)
            assert record is not None, f"chunk of an unknown document {doc_id}"
            self._files[key] = record
        return self._files[key]


def _boost(term: str) -> float:
    return CHARACTER_WEIGHT if len(term) == 1 and not term.isascii() else 1.0


def matching_docs(reader: IndexReader, glob: str) -> list[str]:
    """The documents whose path fits."""
    from ctxcli.storage.doc_glob import doc_matcher

    fits = doc_matcher(glob)
    return [record.doc_id for record in reader.files() if record.status == "ok" and fits(record.path)]


@dataclass(frozen=True, slots=True)
class Consideration:
    """A question thought through: everything that an answer, a refusal or an explanation is made from.

    `decided` are the chunks that the score is made from; `values` holds for the best matches the probability, by unit,
    that the unit answers; `windows` are the excerpts that would be shown, best first; `disagree` says that they
    contradict each other.
    """

    question: Question
    weights: TermWeights
    matches: Sequence[Match]
    decided: Sequence[Match]
    values: Sequence[dict[int, float]]
    windows: Sequence[evidence.Window]
    disagree: bool
    score: float


def consider(knowledge: Knowledge, text: str, *, limit: int = EVIDENCE) -> Consideration:
    """Rank the chunks, choose the excerpts and score the question; `limit` is the number of chunks kept."""
    thought = _considered(knowledge, text, limit=limit)
    parts = parts_of(text, thought.question.language)
    if parts and all(says_enough(read_question(part, knowledge.analyzer)) for part in parts):
        thought = _of_both(thought, [_considered(knowledge, part, limit=limit) for part in parts])
    return replace(thought, score=knowledge.scale.of(thought.score)) if knowledge.scale else thought


def _of_both(thought: Consideration, parts: Sequence[Consideration]) -> Consideration:
    """The answer to a question of two parts, where each would be answered by itself; else the thought as it is."""
    score = min(part.score for part in parts)
    if score < decision.THRESHOLD:
        return thought
    found = [(part.windows, part.matches[: evidence.CHUNKS], part.values[: evidence.CHUNKS]) for part in parts]
    windows = excerpts_for_both(thought.windows, found, limit=evidence.LIMIT[thought.question.language])
    same = windows == tuple(thought.windows)
    return replace(thought, windows=windows, disagree=same and thought.disagree, score=max(score, thought.score))


def _considered(knowledge: Knowledge, text: str, *, limit: int) -> Consideration:
    question = read_question(text, knowledge.analyzer)
    weights = knowledge.weigh(question, with_related=True)
    if question.sections:
        return _consider_section(knowledge, question, weights, limit=limit)
    ranker = knowledge.ranker
    chunks = ranker.propose(knowledge, question, weights, limit=CANDIDATES, filters=EVERYWHERE)
    ranked = ranker.rank(knowledge, question, weights, chunks, limit=max(limit, EVIDENCE))
    decided = ranked[:EVIDENCE]  # the score is the same however many chunks are kept
    values = ranker.values(question, weights, ranked[: evidence.CHUNKS])
    shown = evidence.would_show(question, ranked, values)
    score = ranker.score(question, weights, decided, values, shown)
    kept = shown if limit >= evidence.CHUNKS else ()
    return _chosen(Consideration(question, weights, ranked[:limit], decided, values[:limit], kept, False, score))


def _consider_section(knowledge: Knowledge, question: Question, weights: TermWeights, *, limit: int) -> Consideration:
    """A question that names a section is answered from it; where no document has it, hardly at all."""
    sections, ranker = question.sections, knowledge.ranker
    chunks: dict[str, StoredChunk] = {}
    for name in ("", *sections):
        found = ranker.propose(knowledge, question, weights, limit=CANDIDATES, filters=Filters(section=name))
        chunks.update((chunk.key, chunk) for chunk in found)
    ranked = ranker.rank(knowledge, question, weights, chunks.values(), limit=len(chunks))
    held = directed.held_by(ranked, sections)
    matches = directed.prefer(ranked, sections, held)[:limit]
    values = ranker.values(question, weights, matches)
    best = ranker.values(question, weights, ranked[: evidence.CHUNKS])
    score = ranker.score(question, weights, ranked, best, evidence.would_show(question, ranked, best))
    inside = [held(match, sections) for match in matches]
    if not any(inside):
        if not directed.is_mentioned(matches[: evidence.CHUNKS], sections):
            score = min(score, directed.NOT_FOUND)
        return _chosen(Consideration(question, weights, matches, ranked, values, (), False, score))
    score = directed.directed_score(score, matches[0], weights, question.beside)
    kept = [
        {unit: value for unit, value in found.items() if unit in units}
        for found, units in zip(values, inside, strict=True)
    ]
    return _chosen(Consideration(question, weights, matches, ranked, kept, (), False, score))


def _chosen(thought: Consideration) -> Consideration:
    """The same with the excerpts that are shown; those it has are what its values alone would show."""
    question, best, likely = thought.question, thought.matches[: evidence.CHUNKS], thought.values[: evidence.CHUNKS]
    against = conflict(question, best, likely)
    likely = evidence.with_dated_headings(question, thought.weights, best[: len(likely)], likely)
    is_chosen = thought.windows and likely == thought.values[: evidence.CHUNKS]
    excerpts = thought.windows if is_chosen else evidence.would_show(question, best, likely)
    windows = against or whole_block(question, excerpts, best, likely)
    values = dict(zip(map(id, best), likely, strict=False))
    shown = [evidence.without_idle_ends(one, values[id(one.match)]) if one in excerpts else one for one in windows]
    return replace(thought, windows=tuple(shown), disagree=bool(against))


def ask(
    knowledge: Knowledge,
    text: str,
    *,
    threshold: float = decision.THRESHOLD,
    limit: int = EVIDENCE,
    with_evidence: bool = False,
    is_stale: Callable[[Passage], bool] = lambda passage: False,
) -> Answer:
    """Answer `text` by at most two cited excerpts, or decline.

    Declines when the score lies below `threshold` (0…1), when nothing matches and when there is nothing to search.
    `limit` is the number of ranked chunks, kept as evidence if asked; `is_stale` says whether a cited file has changed.
    """
    began = time.perf_counter()
    thought = consider(knowledge, text, limit=limit)
    reason = reason_of(knowledge, thought, threshold)
    shown = candidate(thought)
    cited = () if reason else tuple(_cited(knowledge, thought))
    ranked = ranked_passages(knowledge, thought) if with_evidence or reason else ()
    return Answer(
        question=text,
        language=thought.question.language,
        text=None if reason else shown,
        reason=reason,
        score=round(thought.score, 4),
        threshold=threshold,
        citations=tuple(replace(passage, stale=is_stale(passage)) for passage in cited),
        nearest=nearest(ranked) if reason else (),
        candidate=shown,
        evidence=ranked if with_evidence else (),
        elapsed_ms=round((time.perf_counter() - began) * 1000, 1),
    )


def candidate(thought: Consideration) -> str | None:
    """The excerpts that would be shown, numbered; None where there are none."""
    return answer_text(thought.windows) if thought.windows else None


def ranked_passages(knowledge: Knowledge, thought: Consideration) -> tuple[Passage, ...]:
    """The ranked chunks, each cited by the sentences of it that most likely answer."""
    size = evidence.LIMIT[thought.question.language]
    values = list(thought.values)
    if len(values) < len(thought.matches):
        values += knowledge.ranker.values(thought.question, thought.weights, thought.matches)[len(values) :]
    return tuple(
        knowledge.passage(
            match, *evidence.best_span(match, found, limit=size), score=min(1.0, match.score / knowledge.ranker.highest)
        )
        for match, found in zip(thought.matches, values, strict=True)
    )


def reason_of(knowledge: Knowledge, thought: Consideration, threshold: float) -> Reason | None:
    """Why the question is declined, None where it is answered."""
    if not knowledge.chunks:
        return "empty_kb"
    if not thought.windows:
        return "no_match"
    return "below_threshold" if thought.score < threshold else None


def _cited(knowledge: Knowledge, thought: Consideration) -> Iterable[Passage]:
    best = thought.windows[0].match.score
    for window in thought.windows:
        text = window.text
        start = window.start + len(text) - len(text.lstrip())
        end = window.end - len(text) + len(text.rstrip())
        score = thought.score * min(1.0, window.match.score / best)
        yield replace(knowledge.passage(window.match, start, end, score), conflict=thought.disagree)


def nearest(ranked: Sequence[Passage]) -> tuple[Passage, ...]:
    """The best place of each section, at most three."""
    places: dict[tuple[str, tuple[str, ...]], Passage] = {}
    for passage in ranked:
        places.setdefault((passage.doc, passage.heading_path), passage)
    return tuple(places.values())[:NEAREST]
