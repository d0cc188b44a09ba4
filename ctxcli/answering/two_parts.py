"""Questions that ask two things: an excerpt for each."""

from collections.abc import Mapping, Sequence

from ctxcli.answering.evidence import Window, choose
from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

LEAST = 2
"""Terms that a part must have to be asked by itself; single Chinese characters at their weight."""

Part = tuple[Sequence[Window], Sequence[Match], Sequence[Mapping[int, float]]]
"""What would be shown for one part by itself, and the chunks and values that it was chosen from."""


def says_enough(question: Question) -> bool:
    """Whether a part of a question can be asked by itself."""
    return sum(question.terms.values()) >= LEAST


def excerpts_for_both(whole: Sequence[Window], parts: Sequence[Part], *, limit: int) -> tuple[Window, ...]:
    """The best excerpt of each part, within `limit` characters together; `whole` where it has both, or they are one."""
    best = [found for part in parts for found in _within(part, limit // 2)]
    if len(best) < len(parts) or _meet(*best) or sum(one.size for one in best) > limit:
        return tuple(whole)
    if all(any(_meet(one, shown) for shown in whole) for one in best):
        return tuple(whole)
    return tuple(best)


def _within(part: Part, limit: int) -> tuple[Window, ...]:
    windows, matches, values = part
    if windows and windows[0].size <= limit:
        return (windows[0],)
    return choose(matches, values, limit=limit)[:1]


def _meet(one: Window, other: Window) -> bool:
    return one.match.chunk.key == other.match.chunk.key and one.start < other.end and other.start < one.end
