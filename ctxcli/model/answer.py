"""Answers with their citations, and hits of a search; the values behind `ctx/answer/1` and `ctx/hits/1`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ctxcli.model.chat import Usage

Reason = Literal["no_match", "below_threshold", "unverified", "empty_kb"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A quote and where it stands; `text` is the whole chunk that holds it.

    `score` lies in 0…1 and falls with the rank. `page` and `line_start` are 1-based, None where the
    format has none. `stale` is true when the file has changed since it was indexed.
    """

    kb: str
    doc: str
    title: str
    section: str | None
    heading: str | None
    heading_path: tuple[str, ...]
    anchor: str
    page: int | None
    page_end: int | None
    page_label: str | None
    line_start: int | None
    line_end: int | None
    quote: str
    text: str
    chunk_id: str
    score: float
    doc_sha256: str
    stale: bool = False
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ctx ask` found: cited excerpts, or a refusal with the nearest places.

    `text` holds ``[n]`` after each excerpt, n counting `citations` from 1; None when `reason` says why not.
    `candidate` is what would have been shown, `evidence` the ranked chunks, best first. Where a language model worded
    it, `usage` holds the tokens and `removed_citations` counts those of the model that did not hold.
    """

    question: str
    language: Literal["en", "zh"]
    text: str | None
    reason: Reason | None
    score: float
    threshold: float
    citations: tuple[Passage, ...]
    nearest: tuple[Passage, ...]
    candidate: str | None
    evidence: tuple[Passage, ...]
    elapsed_ms: float
    method: Literal["extractive", "llm"] = "extractive"
    model: str = ""
    usage: "Usage | None" = None
    removed_citations: int = 0

    @property
    def declined(self) -> bool:
        """Whether there is no answer."""
        return self.text is None


@dataclass(frozen=True, slots=True)
class Hits:
    """What `ctx kb search` found, best first."""

    query: str
    passages: tuple[Passage, ...]
