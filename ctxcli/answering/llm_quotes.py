"""Where a quote stands in a text, differences of form apart."""

import re
import unicodedata
from collections.abc import Sequence

_DROPPED = frozenset("*_`|\\\"'“”‘’„«»「」『』\u00ad\u200b\u200d\ufeff")
_DASHES = frozenset("‐‑‒–—―−﹣－")
_EDGES = ".,;:!?。，；：！？、…·()（）[]【】<>#-+ "
_GAP = re.compile(r"\s*(?:\[\s*(?:…|\.{3})\s*\]|…+|\.{3,})\s*")
_LEAST = 10
"""What a quote must weigh to say something: a letter 1, a Chinese, Japanese or Korean character 2.5."""
_LONGEST_GAP = 600
"""Characters that an ellipsis may stand for where the quote is shown with what lies between."""


def find_quote(quote: str, text: str, units: Sequence[tuple[int, int]] = ()) -> tuple[int, int] | None:
    """Start and end in `text` of what `quote` quotes, or None.

    White space, quotation and emphasis marks, kinds of dashes, width and case do not count, all else does. Parts left
    out by an ellipsis may stand apart, in order. A quote that is too short to say anything counts only as a whole unit.
    """
    quote = " ".join(quote.split())
    parts = [folded for part in _GAP.split(quote) if (folded := "".join(_folded(part)[0]).strip(_EDGES))]
    if not parts:
        return None
    letters, places = _folded(text)
    whole = "".join(letters)
    spans: list[tuple[int, int]] = []
    at = 0
    for part in parts:
        found = _find(part, whole, at)
        if found < 0:
            return None
        at = found + len(part)
        spans.append((places[found], places[at - 1] + 1))
    if spans[-1][1] - spans[0][0] <= _LONGEST_GAP:
        start, end = spans[0][0], spans[-1][1]
    else:
        start, end = max(spans, key=lambda span: span[1] - span[0])
    start, end = _with_edges(text, start, end)
    if sum(map(weight, parts)) < _LEAST and not _is_unit(text, start, end, units):
        return None
    return start, end


def _find(part: str, whole: str, at: int) -> int:
    """Where a part begins, not within a word or a number, -1 where nowhere."""
    while (found := whole.find(part, at)) >= 0:
        before = whole[found - 1] if found else ""
        after = whole[found + len(part)] if found + len(part) < len(whole) else ""
        if not (_continues(before, part[0]) or _continues(part[-1], after)):
            return found
        at = found + 1
    return -1


def _continues(one: str, other: str) -> bool:
    """Whether a number goes on from one character to the other. Words cannot be told, blanks are gone."""
    return one.isdecimal() and other.isdecimal()


def _folded(text: str) -> tuple[list[str], list[int]]:
    """The characters that count in one form, and the place of each in the text."""
    letters: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char.isspace() or char in _DROPPED:
            continue
        if char.isascii():
            letters.append(char.lower())
            places.append(at)
            continue
        for one in "-" if char in _DASHES else unicodedata.normalize("NFKC", char).casefold():
            letters.append(one)
            places.append(at)
    return letters, places


def weight(text: str) -> float:
    """How much a text says: a letter 1, a Chinese, Japanese or Korean character 2.5."""
    return sum(1.0 if char < "\u2e80" else 2.5 for char in text)


def _with_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """With the mark that ends the sentence."""
    while end < len(text) and text[end] in '.。!！?？”"』」)）':
        end += 1
    return start, end


def _is_unit(text: str, start: int, end: int, units: Sequence[tuple[int, int]]) -> bool:
    return any(text[first:last].strip(_EDGES + "\n|*") == text[start:end].strip(_EDGES + "\n|*")
               for first, last in units)  # fmt: skip
