"""How often a term occurs in general text, to smooth the frequencies of small knowledge bases."""

import math
from collections.abc import Collection
from functools import cache

from ctxcli.text.data import read

RARE = 1e-6
"""The share of a term that is not in the table."""
_FEW = 100
"""Terms; for more the whole table is read."""


@cache
def _table() -> str:
    return read("background.txt")


@cache
def _all() -> dict[str, float]:
    """The whole table, for texts of many terms."""
    rows = (row.split(" ") for row in _table().split("\n") if row)
    return {term: math.exp(-int(code) / 10) for term, code in rows}


def shares(terms: Collection[str]) -> dict[str, float]:
    """The share of each term among all terms of general text (0 < share < 1).

    Counted from dictionaries with word frequencies; see ``data/LICENSES.md``.
    """
    if len(terms) > _FEW:
        return {term: _all().get(term, RARE) for term in terms}
    return {term: share(term) for term in terms}


def share(term: str) -> float:
    """The share of one term; it searches the text of the table, which for a few is cheaper than reading all of it."""
    table = _table()
    found = table.find(f"\n{term} ")
    if found < 0:
        return RARE
    begin = found + len(term) + 2
    return math.exp(-int(table[begin : table.index("\n", begin)]) / 10)
