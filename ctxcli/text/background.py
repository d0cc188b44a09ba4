"""How often a term occurs in general text, to smooth the frequencies of small knowledge bases."""

import math
from functools import cache

from ctxcli.text.data import read

RARE = 1e-6
"""The share of a term that is not in the table."""


@cache
def _table() -> str:
    return read("background.txt")


def share(term: str) -> float:
    """The share of `term` among all terms of general text (0 < share < 1).

    Counted from dictionaries with word frequencies; see ``data/LICENSES.md``.
    """
    table = _table()
    found = table.find(f"\n{term} ")
    if found < 0:
        return RARE
    begin = found + len(term) + 2
    return math.exp(-int(table[begin : table.index("\n", begin)]) / 10)
