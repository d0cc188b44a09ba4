"""Why a question got the answer it got, and which stage lost a passage that was expected."""

from collections.abc import Callable, Sequence

from ctxcli.answering import decision
from ctxcli.answering.compose import answer_text
from ctxcli.answering.directed import units_in
from ctxcli.answering.evidence import CHUNKS, Window, would_show
from ctxcli.model.errors import UsageError
from ctxcli.model.explanation import Expected, ExplainedTerm, Explanation
from ctxcli.model.index import FileRecord, IndexReader
from ctxcli.model.stored import StoredChunk
from ctxcli.parsing.places import is_within
from ctxcli.retrieval.bm25 import Match
from ctxcli.retrieval.fusion import NearMatch
from ctxcli.services.answering import CANDIDATES, Consideration, Knowledge, consider, ranked_passages
from ctxcli.storage.doc_glob import doc_matcher

SHOWN_HITS = 5


def explain(knowledge: Knowledge, question: str, *, threshold: float, expect: str = "") -> Explanation:
    """Think a question through and keep what happened.

    `expect` names a document (a path, a name or a glob), with ``#SECTION`` a section of it by number or heading.
    """
    thought = consider(knowledge, question, limit=CANDIDATES)
    features = {}
    if thought.decided:
        values = knowledge.ranker.values(thought.question, thought.weights, thought.decided[:CHUNKS])
        shown = would_show(thought.question, thought.decided, values)
        features = decision.decision_features(thought.question, thought.weights, thought.decided, values, shown)
    return Explanation(
        question=question,
        score=round(thought.score, 4),
        threshold=threshold,
        declined=not thought.windows or thought.score < threshold,
        chunks=knowledge.chunks,
        terms=_terms(thought),
        features={name: round(value, 3) for name, value in features.items()},
        hits=ranked_passages(knowledge, thought)[:SHOWN_HITS],
        answer=answer_text(thought.windows) if thought.windows else None,
        expected=_expected(knowledge, thought, expect, threshold=threshold) if expect else None,
    )


def _terms(thought: Consideration) -> tuple[ExplainedTerm, ...]:
    held = [match.head.union(*match.units) for match in thought.matches[:SHOWN_HITS]]
    return tuple(
        ExplainedTerm(
            term,
            thought.weights.frequency[term],
            round(weight, 2),
            tuple(rank for rank, found in enumerate(held, 1) if term in found),
            _related(thought, term, held),
        )
        for term, weight in thought.weights.weight.items()
    )


def _related(thought: Consideration, term: str, held: Sequence[frozenset[str]]) -> tuple[str, ...]:
    """The words that stand for a term in one of the hits, nearest first."""
    near = [(-share, word) for word, (one, share) in thought.weights.related.items() if one == term]
    return tuple(word for _, word in sorted(near) if any(word in found for found in held))


def _expected(knowledge: Knowledge, thought: Consideration, expect: str, *, threshold: float) -> Expected:
    """How far the expected passage came."""
    doc, _, section = expect.partition("#")
    if not doc:
        raise UsageError(f"--expect {expect}: it names no document", hint="give DOC or DOC#SECTION")
    record, reader = _find(knowledge, doc)
    if record is None or reader is None:
        return Expected(doc, section, "not_indexed", None, "no knowledge base that was asked has this document")
    if record.status == "failed":
        return Expected(record.path, section, "not_parsed", None, f"the file could not be read: {record.message}")
    chunks = [chunk for chunk in reader.chunks_of(record.doc_id) if not section or _has_section(chunk, section)]
    if not chunks:
        why = "the document has no such section; `ctx kb outline` lists those it has"
        return Expected(record.path, section, "not_chunked", None, why)
    return _stage(thought, record.path, section, {chunk.key for chunk in chunks}, chunks, threshold=threshold)


def _stage(
    thought: Consideration, path: str, section: str, keys: set[str], chunks: list[StoredChunk], *, threshold: float
) -> Expected:
    ranked = [(rank, match) for rank, match in enumerate(thought.matches, 1) if match.chunk.key in keys]
    holding = [rank for rank, match in ranked if _holds_terms(match, section)]
    if not holding:
        canonical = thought.weights.canonical
        shared = {canonical[term] for chunk in chunks for term in chunk.terms.split() if term in canonical}
        if ranked or not shared:
            return Expected(path, section, "not_matched", None, "it shares no term with the question: other words")
        why = f"it shares only {', '.join(sorted(shared)[:6])}, and {CANDIDATES} chunks match better"
        return Expected(path, section, "ranked_too_low", None, why)
    rank = holding[0]
    if rank > CHUNKS:
        why = f"the answer is chosen from the best {CHUNKS} chunks"
        return Expected(path, section, "ranked_too_low", rank, why)
    if not any(_is_inside(window, keys, section) for window in thought.windows):
        return Expected(path, section, "not_chosen", rank, "sentences of other places were more likely to answer")
    if thought.score < threshold:
        why = f"it would have been shown, but the score {thought.score:.2f} is below the threshold {threshold:.2f}"
        return Expected(path, section, "below_threshold", rank, why)
    return Expected(path, section, "shown", rank, "it is in the answer")


def _holds_terms(match: Match, section: str) -> bool:
    """Whether the section (the whole chunk where none is asked for) holds a term of the question, or is near to it."""
    inside = units_in(match, (section,)) if section else range(len(match.units))
    if isinstance(match, NearMatch) and any(match.nearness_of(at) > 0 for at in inside):
        return True
    return any(match.units[at] for at in inside) or (not section and bool(match.head))


def _is_inside(window: Window, keys: set[str], section: str) -> bool:
    if window.match.chunk.key not in keys:
        return False
    place = window.match.chunk.place(window.start, window.end)
    return not section or is_within(section, number=place.section, heading=place.heading, path=place.heading_path)


def _find(knowledge: Knowledge, doc: str) -> tuple[FileRecord | None, IndexReader | None]:
    """The document that is meant: by its path, else by the end of it, else by the pattern; one that was read first."""
    fits = doc_matcher(doc)
    held = [(record, reader) for reader in knowledge.readers.values() for record in reader.files()]
    held.sort(key=lambda pair: pair[0].status == "failed")
    tests: tuple[Callable[[str], bool], ...] = (doc.__eq__, lambda path: path.endswith(f"/{doc}"), fits)
    for test in tests:
        for record, reader in held:
            if test(record.path):
                return record, reader
    return None, None


def _has_section(chunk: StoredChunk, section: str) -> bool:
    """Whether a unit of the chunk stands in a section with that number (or below it), or with that heading."""
    places = (chunk.place(start, end) for start, end, _ in chunk.units)
    return any(is_within(section, number=one.section, heading=one.heading, path=one.heading_path) for one in places)
