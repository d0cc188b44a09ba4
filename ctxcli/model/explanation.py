"""Why a passage was found or not; the value behind `ctx kb explain`."""

from dataclasses import dataclass
from typing import Any, Literal

from ctxcli.model.answer import Passage

Stage = Literal[
    "not_indexed",
    "not_parsed",
    "not_chunked",
    "not_matched",
    "ranked_too_low",
    "not_chosen",
    "below_threshold",
    "shown",
]
"""Where the way of a passage into the answer ended.

not_indexed      no knowledge base has the document
not_parsed       the document could not be read
not_chunked      the document has no such section
not_matched      the passage shares no term with the question
ranked_too_low   other chunks were ranked above it, so that the answer was not chosen from it
not_chosen       it was among the best chunks, but other sentences were expected to answer
below_threshold  it is the answer that would have been shown, but the score was too low
shown            it is in the answer
"""


@dataclass(frozen=True, slots=True)
class ExplainedTerm:
    """A term of the question: in how many chunks it occurs, what it weighs, in which hits (ranks from 1) it is.

    `related` are the words of like meaning that stand for it in a hit, each once.
    """

    term: str
    chunks: int
    weight: float
    hits: tuple[int, ...]
    related: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """The passage that was expected: how far it came (`stage`), its `rank` if it had one, and the reason in words."""

    doc: str
    section: str
    stage: Stage
    rank: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened to a question. `features` are the inputs of `ctxcli.answering.decision` by name."""

    question: str
    score: float
    threshold: float
    declined: bool
    chunks: int
    terms: tuple[ExplainedTerm, ...]
    features: dict[str, float]
    hits: tuple[Passage, ...]
    answer: str | None
    expected: Expected | None

    def document(self) -> dict[str, Any]:
        """`ctx/explanation/1`."""
        hits = [
            {"rank": rank, "doc": hit.doc, "section": hit.section, "heading": hit.heading, "page": hit.page,
             "line_start": hit.line_start, "score": hit.score, "quote": hit.quote}
            for rank, hit in enumerate(self.hits, 1)
        ]  # fmt: skip
        return {
            "schema": "ctx/explanation/1",
            "question": self.question,
            "declined": self.declined,
            "score": self.score,
            "threshold": self.threshold,
            "chunks": self.chunks,
            "terms": [
                {
                    "term": one.term,
                    "chunks": one.chunks,
                    "weight": one.weight,
                    "hits": list(one.hits),
                    "related": list(one.related),
                }
                for one in self.terms
            ],
            "features": self.features,
            "hits": hits,
            "candidate": self.answer,
            "expected": None
            if self.expected is None
            else {
                "doc": self.expected.doc,
                "section": self.expected.section or None,
                "stage": self.expected.stage,
                "rank": self.expected.rank,
                "why": self.expected.why,
            },
        }
