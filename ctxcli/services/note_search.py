"""Notes searched: title before tags before text, the files read as they are.

Words are looked for as bytes, which is several times cheaper than as text; what differs in form (full width,
simplified or traditional, capitals beyond ASCII) is looked for in each form.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ctxcli.model.errors import UsageError
from ctxcli.model.note import NoteHit, NoteList
from ctxcli.services.notes import Notebook, NoteFilter
from ctxcli.storage import notes as files
from ctxcli.storage.files import reason
from ctxcli.storage.notes_index import Row

_HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\u0e01-\u0e4e\U00020000-\U0003ffff"
)
_PIECE = re.compile(rf"\"([^\"]+)\"|([{_HAN}]+)|([^\s\"{_HAN}]+)")
_EDGES = " .,;:!?()[]{}<>'`*，。；：！？、（）《》「」【】“”‘’…"
_TITLE, _TAG = 4.0, 2.5
_BODY_HALF = 1.5
_MOST_COUNTED = 8
_LEAST_PAIRS = 0.4
_SNIPPET = 160


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the query. `needles` are its forms as lower-case bytes, of which the first is the plain one.

    A word of letters is found where a word begins and has the same `stem`, or begins with the word itself.
    A long run of Chinese is found too where enough of its `pairs` of characters are.
    """

    text: str
    needles: tuple[bytes, ...]
    stem: str = ""
    pairs: tuple[tuple[bytes, ...], ...] = ()


def search(notebook: Notebook, query: str, wanted: NoteFilter, *, limit: int = 10) -> NoteList:
    """Find notes, best first; ties newest first. Each has at least one word of the query."""
    words = read_query(query)
    if not words:
        raise UsageError("the query is empty", hint='name what to look for: ctx note search "…"')
    found = notebook.snapshot()
    notebook.tell_problems(found)
    unreadable = {path for path, _ in found.unreadable}
    scored: list[tuple[Row, list[float]]] = []
    for row in found.rows.values():
        if wanted.takes(row):
            strengths = _strengths(words, row, _body(notebook, row) if row.path not in unreadable else b"")
            if any(strengths):
                scored.append((row, strengths))
    ranked = _ranked(words, scored, len(found.rows))
    hits = [
        NoteHit(notebook.entry(row), round(score, 4), _snippet(notebook, row, words))
        for score, row in ranked[: limit or None]
    ]
    return NoteList(len(ranked), tuple(hits))


def _ranked(words: Sequence[Word], scored: list[tuple[Row, list[float]]], total: int) -> list[tuple[float, Row]]:
    """Each word weighs by its rarity; a note that lacks words counts for less."""
    counts = [sum(1 for _, strengths in scored if strengths[at]) for at in range(len(words))]
    weights = [math.log(1 + (total - count + 0.5) / (count + 0.5)) + 0.1 for count in counts]
    whole = sum(weight for weight, count in zip(weights, counts, strict=True) if count) or 1.0
    ranked = []
    for row, strengths in scored:
        had = sum(weight for weight, strength in zip(weights, strengths, strict=True) if strength)
        score = sum(weight * strength for weight, strength in zip(weights, strengths, strict=True))
        ranked.append((score * (had / whole) ** 2, row))
    ranked.sort(key=lambda one: (-one[0], -one[1].updated_ms, one[1].path))
    return ranked


def read_query(query: str) -> list[Word]:
    """The words of a query: ``"quoted text"`` whole, Chinese by runs; function words only if there are no others."""
    folded = unicodedata.normalize("NFKC", query)
    found: dict[str, Word] = {}
    for phrase, run, word in _PIECE.findall(folded):
        text = phrase.strip() or run or word.strip(_EDGES) or word
        if text and text.lower() not in found:
            found[text.lower()] = _word(text, exact=bool(phrase))
    return _without_function_words(found)


def _without_function_words(found: dict[str, Word]) -> list[Word]:
    from ctxcli.text.stopwords import ENGLISH

    kept = [word for text, word in found.items() if text not in ENGLISH]
    return kept or list(found.values())


def _word(text: str, *, exact: bool) -> Word:
    lowered = text.lower()
    if exact:
        return Word(text, _forms(text))
    if lowered.isascii() and lowered.isalpha():
        stem = stem_of(lowered) if len(lowered) > 3 else lowered
        length = next((at for at, (a, b) in enumerate(zip(lowered, stem, strict=False)) if a != b), len(stem))
        return Word(lowered, _forms(lowered[: max(length, 3)]), stem)
    if re.fullmatch(f"[{_HAN}]+", text):
        pairs = tuple(_forms(text[at : at + 2]) for at in range(len(text) - 1)) if len(text) > 3 else ()
        return Word(text, _forms(text), pairs=pairs)
    return Word(lowered, _forms(text))


@cache
def stem_of(word: str) -> str:
    """The stem of an English word."""
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _forms(text: str) -> tuple[bytes, ...]:
    """The forms of a word, each as bytes with ASCII in lower case."""
    lowered = text.lower()
    forms = [lowered]
    if lowered.isascii():
        wide = {ord(char): ord(char) + 0xFEE0 for char in lowered if "!" <= char <= "~"}
        upper = {ord(char): ord(char.upper()) + 0xFEE0 for char in lowered if "!" <= char <= "~"}
        forms += [lowered.translate(wide), lowered.translate(upper)]
    else:
        if re.search("[\u4e00-\u9fff]", lowered):
            from ctxcli.text.variants import other_forms

            forms += other_forms(lowered)
        forms += [text, lowered.upper(), lowered.capitalize()]
        forms += [unicodedata.normalize("NFD", form) for form in forms]
    return tuple(dict.fromkeys(form.encode("utf-8").lower() for form in forms))


def _body(notebook: Notebook, row: Row) -> bytes:
    """The text of a note as lower-case bytes; what went wrong is noted."""
    try:
        data, _ = files.read(notebook.folder, row.path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        notebook.notices.append(f"{notebook.cite(row.path)} cannot be read: {reason(error)}")
        return b""
    if row.encoding:
        from ctxcli.parsing import notes as parsing

        return parsing.decode(data).text.encode("utf-8", "replace").lower()
    return (data[row.body :] if row.body else data).lower()


def _strengths(words: Iterable[Word], row: Row, body: bytes) -> list[float]:
    """How strongly each word stands in a note: 0 where it does not."""
    title = row.title
    if "aliases" in row.extra:
        title = f"{title}\n{row.extra['aliases']}"
    head, tags = title.encode("utf-8", "replace").lower(), "\n".join(row.tags).encode("utf-8", "replace").lower()
    strengths = []
    for word in words:
        in_text = _count(word, body)
        strength = in_text / (in_text + _BODY_HALF) if in_text else 0.0
        if in_title := _count(word, head):
            strength += _TITLE * min(in_title, 1.0) * (1 + 0.25 * (len(word.needles[0]) >= len(head)))
        if tags and (in_tags := _count(word, tags)):
            strength += _TAG * min(in_tags, 1.0)
        strengths.append(strength)
    return strengths


def _count(word: Word, text: bytes) -> float:
    """How often a word stands in a text, at most eight times; a beginning of a longer word counts half."""
    needles = word.needles[:1] if word.stem and text.isascii() else word.needles
    count = 0.0
    for needle in needles:
        at = text.find(needle)
        while at >= 0 and count < _MOST_COUNTED:
            count += _weight(word, text, at) if word.stem else 1.0
            at = text.find(needle, at + len(needle))
    if not count and word.pairs:
        there = sum(any(form in text for form in forms) for forms in word.pairs)
        if there >= max(2, _LEAST_PAIRS * len(word.pairs)):
            return there / len(word.pairs) * 0.5
    return count


_WORD = re.compile(rb"[0-9a-z]+")


def _weight(word: Word, text: bytes, at: int) -> float:
    """1 where a word with the same stem begins at `at`, 0.5 for a longer word that begins alike, else 0."""
    if at and (48 <= text[at - 1] <= 57 or 97 <= text[at - 1] <= 122):
        return 0.0
    whole = _WORD.match(text, at)
    if not whole:
        return 1.0  # full-width letters
    found = whole[0].decode("ascii")
    if found == word.text or (found.isalpha() and stem_of(found) == word.stem):
        return 1.0
    return 0.5 if found.startswith(word.text) else 0.0


def _snippet(notebook: Notebook, row: Row, words: Sequence[Word]) -> str:
    """The text around the first place where most words stand, matches between ``**``."""
    from ctxcli.parsing import notes as parsing

    try:
        data, _ = files.read(notebook.folder, row.path)
    except OSError:
        return ""
    text = parsing.decode(data).text
    body = parsing.content(text, parsing.parse(text, "").span)
    pattern = _pattern(words)
    spots = [found.span() for found, _ in zip(pattern.finditer(body), range(200), strict=False)]
    if not spots:
        return _squeezed(body[:_SNIPPET]) + ("…" if len(body) > _SNIPPET else "")
    return _around(body, spots)


def _around(body: str, spots: list[tuple[int, int]]) -> str:
    def crowd(at: int) -> int:
        inside = [body[a:b].lower() for a, b in spots[at : at + 20] if b <= spots[at][0] + _SNIPPET - 30]
        return len(set(inside))

    first = max(range(len(spots)), key=lambda at: (crowd(at), -at))
    start = max(0, spots[first][0] - 30)
    end = min(len(body), start + _SNIPPET)
    parts, at = [], start
    for a, b in spots[first:]:
        if b > end:
            break
        parts += [body[at:a], "**", body[a:b], "**"]
        at = b
    marked = "".join([*parts, body[at:end]])
    return ("…" if start else "") + _squeezed(marked) + ("…" if end < len(body) else "")


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _pattern(words: Sequence[Word]) -> re.Pattern[str]:
    """What to mark in a text."""
    found: dict[str, None] = {}
    for word in words:
        forms = [needle.decode("utf-8", "replace") for needle in word.needles]
        if word.stem:
            found |= {rf"(?<![0-9A-Za-z]){re.escape(form)}[0-9A-Za-z]*": None for form in forms}
        else:
            found |= {re.escape(form): None for form in sorted(forms, key=len, reverse=True)}
    for word in words:
        found |= {re.escape(form.decode("utf-8", "replace")): None for forms in word.pairs for form in forms}
    return re.compile("|".join(found), re.IGNORECASE)
