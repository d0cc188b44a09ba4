"""Notes searched: title before tags before text, the files read as they are.

Words are looked for as bytes, which is several times cheaper than as text; what differs in form (full width,
simplified or traditional, capitals beyond ASCII) is looked for in each form.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import compress, groupby
from operator import attrgetter, mul
from typing import Any, NamedTuple

from ctxcli.model.errors import UsageError
from ctxcli.model.note import NoteHit, NoteList
from ctxcli.services.note_filter import NoteFilter
from ctxcli.services.notes import Notebook
from ctxcli.storage import notes as files
from ctxcli.storage.files import reason
from ctxcli.storage.notes_index import Row

_EDGES = " .,;:!?()[]{}<>'`*，。；：！？、（）《》「」【】“”‘’…"
_TITLE, _ALIAS, _TAG = 4.0, 3.0, 2.5
_BODY_HALF = 1.5
_MOST_COUNTED = 3
_MOST_LOOKED_AT = 20
_MOST_PAIRS = 6
_LEAST_PAIRS = 0.4
_SNIPPET = 160


class Word(NamedTuple):
    """A word of the query. `needles` are its forms as bytes in lower case, of which the first is the plain one;
    `heads` are the forms, or its first pair, one of which stands in any folded title that holds the word.

    A word of letters is found where a word begins and has the same `stem`, or begins with the word itself.
    A long run of Chinese is found too where enough of its `pairs` of characters are. `seen` keeps the weights of
    words that texts hold; `whole` is the word as bytes.
    """

    text: str
    needles: tuple[bytes, ...]
    heads: tuple[str, ...]
    stem: str
    pairs: tuple[tuple[bytes, ...], ...]
    seen: dict[bytes, float]
    whole: bytes


def search(notebook: Notebook, query: str, wanted: NoteFilter, *, limit: int = 10) -> NoteList:
    """Find notes, best first; ties newest first. Each has at least one word of the query."""
    words = read_query(query)
    if not words:
        raise UsageError("the query is empty", hint='name what to look for: ctx note search "…"')
    found = notebook.snapshot()
    notebook.tell_problems(found)
    scored = list(_scored(notebook, words, wanted.of(found.rows.values())))
    ranked = _ranked(scored, len(found.rows), limit)
    hits = [NoteHit(notebook.entry(row), round(score, 4), _snippet(notebook, row, words)) for score, row in ranked]
    return NoteList(len(scored), tuple(hits))


def _scored(notebook: Notebook, words: Sequence[Word], rows: Iterable[Row]) -> Iterator[tuple[Row, list[float]]]:
    """The notes that hold any of the words, with the strength of each. Every instruction counts here."""
    folder, known = str(notebook.folder), list(rows)
    has_letters = any(needle != needle.upper() for word in words for needle in word.needles)
    for row, head in zip(known, _heads(known), strict=True):
        try:
            body = files.read_known(folder, row.path, row.size)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                notebook.tell_unreadable(row.path, reason(error))
            body = b""
        start, lowered = row.body, not has_letters
        if row.odd:
            body, start, lowered = _folded(body).lower().encode("utf-8", "replace"), 0, True
        strengths = []
        for word in words:
            count = _count(word, body, start)
            if not count and not lowered:  # most words stand there in small letters: making all small costs more
                body, lowered = body.lower(), True
                count = _count(word, body, start)
            strength = count / (count + _BODY_HALF) if count else 0.0
            for form in word.heads:
                if form in head:
                    strength += _in_head(word, row)
                    break
            strengths.append(strength)
        if any(strengths):
            yield row, strengths


def _heads(rows: Sequence[Row]) -> list[str]:
    """For each note its title, tags and aliases as one text in lower case."""
    heads = ["\n".join((row.title, *row.tags)) for row in rows]
    for at, extra in enumerate(map(attrgetter("extra"), rows)):
        if extra and "aliases" in extra:
            heads[at] += f"\n{extra['aliases']}"
    return [(head if head.isascii() else unicodedata.normalize("NFKC", head)).lower() for head in heads]


def _in_head(word: Word, row: Row) -> float:
    """How strongly a word stands in the title, the tags or the aliases."""
    title, tags = _field(row.title), _field("\n".join(row.tags))
    in_title, in_tags = _count(word, title, 0), _count(word, tags, 0)
    strength = _TAG * min(in_tags, 1.0)
    if in_title:
        return strength + _TITLE * min(in_title, 1.0) * (1 + 0.25 * (len(word.needles[0]) >= len(title)))
    return strength or _ALIAS * min(_count(word, _field(str(row.extra.get("aliases", ""))), 0), 1.0)


def _folded(data: bytes) -> str:
    """The content of a note in one form."""
    from ctxcli.parsing import notes as parsing

    text = parsing.decode(data).text
    return unicodedata.normalize("NFKC", text[parsing.parse(text, "").span.body :])


def _field(text: str) -> bytes:
    """A field of the front matter in one form, as bytes."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower().encode("utf-8", "replace")


def _count(word: Word, text: bytes, start: int) -> float:
    """How often a word stands in a text, at most three times; a beginning of a longer word counts half."""
    for needle in word.needles:
        at = text.find(needle, start)
        if at >= 0:
            weight = _first_weight(word, needle, text, at) if word.stem else 1.0
            if weight:
                return weight * min(text.count(needle, at), _MOST_COUNTED)
    return _pairs(word, text, start) if word.pairs else 0.0


def _pairs(word: Word, text: bytes, start: int) -> float:
    """The share of a run's pairs that stand in a text, halved; 0 for too few."""
    missing = len(word.pairs) - max(2, math.ceil(_LEAST_PAIRS * len(word.pairs)))
    there = 0
    for forms in word.pairs:
        if any(text.find(form, start) >= 0 for form in forms):
            there += 1
        elif (missing := missing - 1) < 0:
            return 0.0
    return 0.5 * there / len(word.pairs)


def _first_weight(word: Word, needle: bytes, text: bytes, at: int) -> float:
    """The weight of the best of the first places; the others are taken to be like it."""
    best, length = 0.0, len(needle)
    for _ in range(_MOST_LOOKED_AT):
        if not at or not _IN_WORD[text[at - 1]]:
            end = at + len(word.whole)
            if text.startswith(word.whole, at) and (end >= len(text) or not _IN_WORD[text[end]]):
                return 1.0
            end = at + length
            if end < len(text) and _IN_WORD[text[end]]:
                found = _WORD.match(text, at)
                whole = found[0] if found else needle
            else:
                whole = needle
            weight = word.seen.get(whole)
            if weight is None:
                weight = word.seen[whole] = _weight(word, whole.decode("utf-8", "replace").lower())
            if weight == 1.0:
                return 1.0
            best = max(best, weight)
        at = text.find(needle, at + length)
        if at < 0:
            break
    return best


_WORD = re.compile(rb"[0-9A-Za-z]+")
_IN_WORD = bytes(code < 0x80 and chr(code).isalnum() for code in range(256))
"""For each byte whether it belongs to a word of ASCII."""


def _weight(word: Word, found: str) -> float:
    """1 for the word itself or one with the same stem, 0.5 for a longer one that begins alike, else 0."""
    if found == word.text or (found.isalpha() and stem_of(found) == word.stem):
        return 1.0
    return 0.5 if found.startswith(word.text) else 0.0


def _ranked(scored: list[tuple[Row, list[float]]], total: int, limit: int) -> list[tuple[float, Row]]:
    """The best notes. Each word weighs by its rarity; a note that lacks words counts for less."""
    counts = [sum(map(bool, column)) for column in zip(*[strengths for _, strengths in scored], strict=True)]
    weights = [math.log(1 + (total - count + 0.5) / (count + 0.5)) + 0.1 if count else 0.0 for count in counts]
    whole = sum(weights)
    scores = []
    for _, strengths in scored:
        score = sum(map(mul, weights, strengths))
        if 0.0 in strengths:
            score *= (sum(compress(weights, strengths)) / whole) ** 2
        scores.append(score)
    least = sorted(scores)[-limit] if 0 < limit < len(scores) else 0.0
    best = [(score, row) for score, (row, _) in zip(scores, scored, strict=True) if score >= least]
    best.sort(key=lambda found: (found[0], found[1].updated_ms, found[1].path), reverse=True)
    return best[: limit or None]


def read_query(query: str) -> list[Word]:
    """The words of a query: ``"quoted text"`` whole, Chinese by runs; function words only if there are no others."""
    found: dict[str, Word] = {}
    for at, part in enumerate(unicodedata.normalize("NFKC", query).split('"')):
        pieces = [part.strip()] if at % 2 else _pieces(part)
        for text in filter(None, pieces):
            if text.lower() not in found:
                found[text.lower()] = _word(text, exact=bool(at % 2))
    return _without_function_words(found)


def _pieces(text: str) -> Iterator[str]:
    """Runs of Chinese and the like, and what stands between blanks otherwise, without marks around it."""
    for word in text.split():
        for is_run, chars in groupby(word, _is_unspaced):
            piece = "".join(chars)
            yield piece if is_run else piece.strip(_EDGES) or (piece if piece == word else "")


def _is_unspaced(char: str) -> bool:
    """Whether a character is of a script without blanks between words."""
    if char < "\u0e01":
        return False
    if char < "\u2e80":
        return char <= "\u0e4e"
    if char < "\ua000":
        return not "\u3000" <= char <= "\u3040" or char in "々〇"
    return "\uac00" <= char <= "\ud7a3" or "\uf900" <= char <= "\ufaff" or char >= "\U00020000"


def _without_function_words(found: dict[str, Word]) -> list[Word]:
    from ctxcli.text.stopwords import ENGLISH

    kept = [word for text, word in found.items() if text not in ENGLISH]
    return kept or list(found.values())


def _word(text: str, *, exact: bool) -> Word:
    lowered = text.lower()
    if lowered.isascii() and lowered.isalpha() and not exact:
        stem = stem_of(lowered) if len(lowered) > 3 else lowered
        length = next((at for at, (a, b) in enumerate(zip(lowered, stem, strict=False)) if a != b), len(stem))
        return _made(lowered, _forms(lowered[: max(length, 3)]), stem=stem)
    if all(map(_is_unspaced, text)) and len(text) > 3 and not exact:
        step = max(1, math.ceil((len(text) - 1) / _MOST_PAIRS))
        return _made(text, _forms(text), pairs=tuple(_forms(text[at : at + 2]) for at in range(0, len(text) - 1, step)))
    return _made(lowered, _forms(text))


def _made(text: str, needles: tuple[bytes, ...], *, stem: str = "", pairs: tuple[tuple[bytes, ...], ...] = ()) -> Word:
    heads = dict.fromkeys(form.decode("utf-8").lower() for forms in (needles, *pairs) for form in forms)
    return Word(text, needles, tuple(heads), stem, pairs, {}, text.encode("utf-8", "replace"))


@cache
def stem_of(word: str) -> str:
    """The stem of an English word."""
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def _forms(text: str) -> tuple[bytes, ...]:
    """The forms of a word as bytes, ASCII in lower case; a text may have capitals beyond ASCII, or other characters."""
    lowered = text.lower()
    forms = [lowered]
    if not lowered.isascii():
        forms += [text, lowered.upper(), lowered.capitalize()]
        if any("\u4e00" <= char <= "\u9fff" for char in lowered):
            from ctxcli.text.variants import other_forms

            forms += other_forms(lowered)
    return tuple(dict.fromkeys(form.encode("utf-8", "replace").lower() for form in forms))


def _snippet(notebook: Notebook, row: Row, words: Sequence[Word]) -> str:
    """The text around the first place where most words stand, matches between ``**``."""
    try:
        data, _ = files.read(notebook.folder, row.path)
    except OSError:
        return ""
    body = (_folded(data) if row.odd else data[row.body :].decode("utf-8", "replace")).strip("\ufeff \r\n")
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
    marked = "".join([*parts, body[at:end]]).replace("****", "")
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
