"""Texts shortened by whole sentences, with a mark of what was left out."""

import re
from collections.abc import Callable, Sequence

from ctxcli.text.question import Language, language_of
from ctxcli.text.sentences import sentence_spans

_ROW = re.compile(r"\n(?=[ \t]*(?:[|\-*+#•]|\d+[.)、]|[ \t]{4}|\t))")
_LEFT_OUT = {"en": ("[{} sentence left out]", "[{} sentences left out]"), "zh": ("[略去 {} 句]", "[略去 {} 句]")}


def sentences(text: str) -> list[str]:
    """The sentences, list items, rows and lines of code of a text, which tile it."""
    found = []
    for start, end in sentence_spans(text):
        at = start
        for row in _ROW.finditer(text, start, end):
            found.append(text[at : row.end()])
            at = row.end()
        found.append(text[at:end])
    return [one for one in found if one]


def compress(
    text: str,
    *,
    room: int,
    count: Callable[[str], int],
    weight: Callable[[str], float],
    language: Language | None = None,
) -> str | None:
    """The sentences of `text` that weigh most, in their order, in at most `room` tokens by `count`.

    Where sentences are left out a mark says how many, in `language`, else in that of the text.
    None where no sentence fits beside its mark.
    """
    parts = sentences(text)
    language = language or language_of(text[:2_000])
    order = sorted(range(len(parts)), key=lambda at: (-_weight(parts[at], weight), at))
    chosen: list[int] = []
    used = 0
    for at in order:
        size = count(parts[at])
        if used + size <= room:
            chosen.append(at)
            used += size
    while chosen:
        found = _joined(parts, sorted(chosen), language)
        if count(found) <= room:
            return found
        chosen.pop()
    return None


def _weight(part: str, weight: Callable[[str], float]) -> float:
    return weight(part) if part.strip() else -1.0


def _joined(parts: Sequence[str], chosen: Sequence[int], language: Language) -> str:
    """The chosen sentences with ``[…]`` for each gap between them, and how many are left out at the end."""
    pieces: list[str] = []
    after = chosen[0]
    for at in chosen:
        if at != after:
            pieces.append("[…] ")
        pieces.append(parts[at])
        after = at + 1
    missing = sum(1 for at, part in enumerate(parts) if part.strip() and at not in chosen)
    text = "".join(pieces).strip()
    if not missing:
        return text
    return f"{text}\n{left_out(missing, language)}"


def left_out(number: int, language: Language) -> str:
    """The mark that says how many sentences are missing."""
    one, more = _LEFT_OUT[language]
    return (one if number == 1 else more).format(number)
