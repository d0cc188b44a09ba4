"""Traditional and simplified forms of Chinese terms.

The pairs in ``data/variants.txt`` (line 1 traditional, line 2 simplified, character by character) come
from the character table of OpenCC (Apache-2.0, see ``data/LICENSES.md``).
"""

from functools import cache
from itertools import islice, product

from ctxcli.text.data import read


@cache
def _tables() -> tuple[dict[str, str], dict[str, str]]:
    lines = read("variants.txt").split("\n")
    traditional, simplified = lines[0], lines[1]
    to_traditional: dict[str, str] = {}
    for old, new in zip(traditional, simplified, strict=True):
        to_traditional[new] = to_traditional.get(new, "") + old
    return dict(zip(traditional, simplified, strict=True)), to_traditional


def other_forms(term: str) -> tuple[str, ...]:
    """Return `term` in the other script, most likely form first, at most eight; () if it has none.

    One simplified character can stand for several traditional ones: ``发现`` gives ``發現`` and ``髮現``.
    """
    to_simplified, to_traditional = _tables()
    simplified = "".join([to_simplified.get(char, char) for char in term])
    if simplified != term:
        return (simplified,)
    choices = [to_traditional.get(char, char) + (char if char in to_traditional else "") for char in term]
    forms = ("".join(form) for form in islice(product(*choices), 9))
    return tuple(form for form in forms if form != term)[:8]


def version_forms(term: str) -> tuple[str, ...]:
    """The other ways to write a version: with or without ``v``, with or without a last ``.0``; () if it is none."""
    number = term.removeprefix("v")
    parts = number.split(".")
    if len(parts) < 2 or not all(map(str.isdecimal, parts)):
        return ()
    forms = [f"v{number}", number]
    if len(parts) == 2:
        forms += [f"v{number}.0", f"{number}.0"]
    elif parts[2:] == ["0"]:
        forms.append(f"v{number[:-2]}")
    return tuple(form for form in forms if form != term)


def is_traditional(term: str) -> bool:
    """Whether a character of it is written otherwise in simplified script."""
    to_simplified, _ = _tables()
    return any(char in to_simplified for char in term)
