"""Questions that name a section or an article go there."""

from collections.abc import Sequence
from dataclasses import replace

from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval.bm25 import HIGHEST, Match, coverage
from ctxcli.retrieval.weights import TermWeights

FOUND = 0.5
"""The least score of a question whose section was found and whose other terms stand there; it rises to 0.9."""
NOT_FOUND = 0.2
"""The highest score of a question that names a section which no document has."""
_RULES = frozenset(
    "规定 規定 规 定 規 say said state contain section articl chapter clause 内容 内 容 讲 说 写".split()
)
"""Terms of questions that ask what a section says."""


def stands_in(chunk: StoredChunk, offset: int, sections: Sequence[str]) -> bool:
    """Whether the text at `offset` stands in one of the sections named, or below it."""
    place = chunk.place(offset, offset)
    above = [heading.casefold() for heading in place.heading_path]
    own = (place.section or "").casefold()
    for name in (section.casefold() for section in sections):
        if own == name or own.startswith(f"{name}."):
            return True
        if any(heading == name or heading.startswith((f"{name} ", f"{name}.")) for heading in above):
            return True
    return False


def units_in(match: Match, sections: Sequence[str]) -> set[int]:
    """The units of a match that stand in one of the sections."""
    return {at for at, (start, _, _) in enumerate(match.chunk.units) if stands_in(match.chunk, start, sections)}


def prefer(matches: Sequence[Match], sections: Sequence[str]) -> list[Match]:
    """The matches with those of the named sections first; they gain the highest score that words can give."""
    lifted = [replace(match, score=match.score + HIGHEST) if units_in(match, sections) else match for match in matches]
    return sorted(lifted, key=lambda match: (-round(match.score, 9), match.chunk.key))


def directed_score(score: float, match: Match, weights: TermWeights, sections: Sequence[str]) -> float:
    """The score of a question whose section was found in `match`; its other terms decide."""
    named = {term for section in sections for term in section.casefold().split()}
    rest = {
        term: weight
        for term, weight in weights.weight.items()
        if term not in _RULES and term not in named and not any(term in name for name in named)
    }
    if not rest:
        return max(score, 0.9)
    others = replace(weights, weight=rest)
    held = match.head.union(*match.units) & rest.keys()
    covered = coverage(frozenset(held), frozenset(), others)
    return max(score, FOUND + (0.9 - FOUND) * covered) if covered >= 0.5 else score


def is_mentioned(matches: Sequence[Match], sections: Sequence[str]) -> bool:
    """Whether the text of one of the matches names the section, as a reference to another document would."""
    texts = ["".join(match.chunk.text.split()).casefold() for match in matches]
    return any("".join(section.split()).casefold() in text for section in sections[-1:] for text in texts)
