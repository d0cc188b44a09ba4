"""Questions that name a section or an article go there."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from ctxcli.model.stored import StoredChunk
from ctxcli.retrieval.bm25 import HIGHEST, Match, coverage
from ctxcli.retrieval.weights import TermWeights

FOUND = 0.5
"""The least score of a question whose section was found and whose other terms stand there; it rises to 0.9."""
NOT_FOUND = 0.2
"""The highest score of a question that names a section which no document has."""


def units_in(match: Match, sections: Sequence[str]) -> set[int]:
    """The units of a match that stand in one of the sections, or below it."""
    chunk = match.chunk
    known: dict[int, bool] = {}
    found = set()
    for at, (start, _, _) in enumerate(chunk.units):
        section = chunk.section_of(start)
        if section not in known:
            known[section] = _stands_in(chunk, start, sections)
        if known[section]:
            found.add(at)
    return found


def _stands_in(chunk: StoredChunk, offset: int, sections: Sequence[str]) -> bool:
    from ctxcli.parsing.places import is_within  # on use: its patterns are slow to compile

    place = chunk.place(offset, offset)
    return any(
        is_within(name, number=place.section, heading=place.heading, path=place.heading_path) for name in sections
    )


def prefer(matches: Sequence[Match], sections: Sequence[str]) -> list[Match]:
    """The matches with those of the named sections first; they gain the highest score that words can give."""
    lifted = [replace(match, score=match.score + HIGHEST) if units_in(match, sections) else match for match in matches]
    return sorted(lifted, key=lambda match: (-round(match.score, 9), match.chunk.key))


def directed_score(score: float, match: Match, weights: TermWeights, beside: Collection[str]) -> float:
    """The score of a question whose section was found in `match`; the terms `beside` its name decide."""
    rest = {term: weight for term, weight in weights.weight.items() if term in beside}
    if not rest:
        return max(score, 0.9)
    others = replace(weights, weight=rest)
    held = match.head.union(*match.units) & rest.keys()
    covered = coverage(frozenset(held), frozenset(), others)
    return max(score, FOUND + (0.9 - FOUND) * covered) if covered >= 0.5 else score


def is_mentioned(matches: Sequence[Match], sections: Sequence[str]) -> bool:
    """Whether the text of one of the matches names the section, as a reference to another document would.

    A bare number (``4.2``) says nothing: it may be any number.
    """
    texts = ["".join(match.chunk.text.split()).casefold() for match in matches]
    named = ["".join(section.split()).casefold() for section in sections if not section.isascii() or " " in section]
    return any(name in text for name in named or sections[-1:] for text in texts)
