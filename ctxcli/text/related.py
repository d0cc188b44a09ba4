"""Words of like meaning: what a text may say instead of a word of the question.

``data/related.txt`` holds a line a word, in order of code points: the word, then its nearest, nearest first, each with
a digit for how near it is. English words are stems, Chinese ones have two characters, simplified; see
``data/LICENSES.md`` for where the nearness comes from.
"""

from functools import cache

from ctxcli.text.data import read_bytes
from ctxcli.text.variants import is_traditional, other_forms

LEAST = 0.5
"""The nearness of the digit 0; each step up is a twentieth."""


@cache
def _table() -> bytes:
    return read_bytes("related.txt")


def related(term: str) -> tuple[tuple[str, float], ...]:
    """Words near a term and how near each is (0.5…0.95, nearest first); () where the table does not have the term.

    A term in traditional characters gives what its simplified form gives.
    """
    return tuple((word[:-1], LEAST + int(word[-1]) / 20) for word in _entry(term).split())


def is_word(term: str) -> bool:
    """Whether the table has the term, in either Chinese script: a bigram that spans two words it has not."""
    return bool(_entry(term))


@cache
def _entry(term: str) -> str:
    return _line(term) or (_line(other_forms(term)[0]) if is_traditional(term) else "")


def _line(term: str) -> str:
    """What follows a term in the table, found by halving it; the table is not read as a whole."""
    table, wanted = _table(), term.encode()
    low, high = 0, len(table)
    while low < high:
        begin = table.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = table.find(b"\n", begin, high)
        end = high if end < 0 else end
        word, _, rest = table[begin:end].partition(b" ")
        if word == wanted:
            return rest.decode()
        low, high = (end + 1, high) if word < wanted else (low, begin)
    return ""
