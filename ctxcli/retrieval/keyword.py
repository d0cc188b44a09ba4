"""The plain keyword score: how many of the question's terms a chunk holds."""

from ctxcli.retrieval.bm25 import Match
from ctxcli.text.question import Question

TITLE_BONUS = 0.3


def score(match: Match, question: Question) -> float:
    """The share of the question's terms in the chunk, plus 0.3 if title or headings share one (0…1.3).

    Single Chinese characters do not count where the question has bigrams.
    """
    asked = {term for term, weight in question.terms.items() if weight == 1.0} or set(question.terms)
    found = asked & match.head.union(*match.units)
    if not found:
        return 0.0
    return len(found) / len(asked) + (TITLE_BONUS if asked & match.head else 0.0)
