"""Questions that name a section or an article go there."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ctxcli.model.stored import NOT_QUOTED, StoredChunk
from ctxcli.retrieval.bm25 import HIGHEST, Match, coverage
from ctxcli.retrieval.weights import TermWeights

FOUND = 0.5
"""The least score of a question whose section was found and whose other terms stand there; it rises to 0.9."""
NOT_FOUND = 0.2
"""The highest score of a question that names a section which no document has."""
_DOTTED = r"(?:[A-Z]|[0-9]{1,3})(?:\.[0-9]{1,3})+"


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


def units_numbered(match: Match, sections: Sequence[str]) -> set[int]:
    """The units of the paragraphs that begin with the number (``4.2 The deposit …``), or with one below it.

    Contracts number paragraphs so, without headings. One reaches as far as the next number, or the end of its section.
    """
    wanted = next((name for name in sections if re.fullmatch(_DOTTED, name)), "")
    chunk, found, holds, section = match.chunk, set(), False, -2
    for at, (start, _, kind) in enumerate(chunk.units if wanted else ()):
        here = chunk.section_of(start)
        number = re.match(rf"[\s>*_§-]*({_DOTTED})[.)]?(?![\w.,%])", chunk.text[start : start + 40])
        if number:
            holds = f"{number[1]}.".startswith(f"{wanted}.")
        elif here != section:
            holds = False
        section = here
        if holds and kind not in NOT_QUOTED:
            found.add(at)
    return found


def _stands_in(chunk: StoredChunk, offset: int, sections: Sequence[str]) -> bool:
    from ctxcli.parsing.places import is_within  # on use: its patterns are slow to compile

    place = chunk.place(offset, offset)
    return any(
        is_within(name, number=place.section, heading=place.heading, path=place.heading_path) for name in sections
    )


def held_by(matches: Sequence[Match], sections: Sequence[str]) -> Callable[[Match, Sequence[str]], set[int]]:
    """How the units of the named sections are told: by headings, where no match has one by numbered paragraphs."""
    return units_in if any(units_in(match, sections) for match in matches) else units_numbered


def prefer(
    matches: Sequence[Match],
    sections: Sequence[str],
    held: Callable[[Match, Sequence[str]], set[int]] = units_in,
) -> list[Match]:
    """The matches with those of the named sections first; they gain the highest score that words can give."""
    lifted = [replace(match, score=match.score + HIGHEST) if held(match, sections) else match for match in matches]
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
