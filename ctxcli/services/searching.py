"""Plain search: the chunks nearest to a query, by its own words."""

from collections.abc import Sequence

from ctxcli.answering import directed
from ctxcli.model.answer import Hits
from ctxcli.model.stored import NOT_QUOTED
from ctxcli.retrieval import bm25, keyword
from ctxcli.retrieval.bm25 import Match
from ctxcli.services.answering import CANDIDATES, EVERYWHERE, Filters, Knowledge
from ctxcli.text.question import read_question


def search(knowledge: Knowledge, query: str, *, limit: int, mode: str = "bm25", filters: Filters = EVERYWHERE) -> Hits:
    """The `limit` chunks nearest to `query`, best first; mode `bm25` or `keyword`."""
    question = read_question(query, knowledge.analyzer)
    weights = knowledge.weigh(question)
    chunks = knowledge.candidates(weights, limit=max(CANDIDATES, 3 * limit), filters=filters)
    matches = [bm25.match(chunk, weights) for chunk in chunks]
    scores = [keyword.score(match, question) if mode == "keyword" else match.bm25 for match in matches]
    ranked = sorted(zip(scores, matches, strict=True), key=lambda pair: (-round(pair[0], 9), pair[1].chunk.key))
    return Hits(
        query,
        tuple(
            knowledge.passage(match, *best_span(match, match.cover, filters.section), score=score)
            for score, match in ranked[:limit]
            if score > 0
        ),
    )


def best_span(match: Match, worth: Sequence[float], section: str) -> tuple[int, int]:
    """The sentence, item, row or block that is worth most, of `section` if one is asked for.

    A heading only where there is nothing else.
    """
    units = match.chunk.units
    quotable = [at for at, (_, _, kind) in enumerate(units) if kind not in {*NOT_QUOTED, "header_row"}]
    if section:
        inside = directed.units_in(match, (section,))
        quotable = [at for at in quotable if at in inside] or sorted(inside) or quotable
    if not quotable:
        return units[match.best][:2] if units else (0, len(match.chunk.text))
    return units[max(quotable, key=lambda at: (worth[at], -at))][:2]
