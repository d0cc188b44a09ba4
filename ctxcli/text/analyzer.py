"""Terms: what the index holds and what a question looks for.

Latin and other spaced words are folded (NFKC, lower case) and stemmed (Snowball English); identifiers,
versions and section numbers (``v2.1``, ``snake_case``, ``2026.4.10``) are kept whole and also taken apart.
Scripts written without blanks (Chinese, Japanese, Korean, Thai …) become single characters and the bigrams
of each unbroken run; nothing is formed across punctuation or across a Latin word.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache

from ctxcli.text.stopwords import ENGLISH

VERSION = "3"
LONGEST_TERM = 64

_BLOCKS = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1100", "\u11ff"), ("\u1780", "\u17ff"), ("\u2e80", "\ua4cf"),
    ("\ua960", "\ua97f"), ("\uac00", "\ud7ff"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip
"""The blocks of scripts without blanks between words, first and last character."""
_UNSPACED = "".join(f"{low}-{high}" for low, high in _BLOCKS)
_JOIN = r"[.\-‐‑/:@+&,](?:(?<!,)|(?<=[0-9],)(?=[0-9]{3}))"
_END_OF_UNIT = "\x1e"
_UNSEEN = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphens and places where a line may or may not end: nobody sees them within a word."""
_SHORT = 200
"""Characters; a shorter text, such as a question, is read without the large patterns, which compile slowly."""


def _token(word: str, *, join: str = _JOIN) -> "re.Pattern[str]":
    return re.compile(rf"{word}++(?:{join}{word}++)*+(?:\+\+|#)?|{_END_OF_UNIT}")


_TOKEN = _token(r"\w")
_LATIN_OR_NOT = re.compile(r"[\x00-\u02ff]+|[^\x00-\u02ff]+")
_PART = re.compile(r"[0-9]+|[^0-9._\-‐‑/:@+&,]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\x1e]*\")?\)")


@cache
def _pattern(name: str) -> "re.Pattern[str]":
    r"""The large patterns, compiled when first needed.

    ascii_token    a token of ASCII text, found in two thirds of the time
    marks          blocks with vowel signs and accents of their own, which ``\w`` does not take in
    marked_token   a token of letters and such marks
    compatibility  characters that NFKC makes into letters or digits of another kind, and marks that it joins
    run            the parts of a word in scripts with and without blanks between words
    """
    marks = (
        "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u06d6-\u06ed\u0711-\u0f8f"
        "\u1037-\u1a7f\u1ab0-\u1aff\u1dc0-\u1dff"
    )
    if name == "ascii_token":
        return _token("[A-Za-z0-9_]", join=_JOIN.replace("‐‑", ""))
    if name == "marks":
        return re.compile(f"[{marks}]")
    if name == "marked_token":
        punctuation = r"\u0964\u0965\u0df4\u0e4f\u0e5a\u0e5b\u104a-\u104f\u17d4-\u17da"
        return _token(rf"(?:\w|(?![{punctuation}])[{marks}])")
    if name == "compatibility":
        return re.compile(
            "[\u00aa\u00b2\u00b3\u00b9\u00ba\u00bc-\u00be\u0132-\u017f\u01c4-\u01f3\u02b0-\u036f\u0591-\u074a"
            "\u0900-\u0f8f\u1100-\u11ff\u1ab0-\u1aff\u1d2c-\u1dff\u2070-\u209c\u20d0-\u218f\u2460-\u24ff\u2e80-\u2fdf"
            "\u3099-\u309f\u30ff\u3131-\u318e\u3192-\u33ff\uf900-\ufaff\ufb00-\ufeff\uff10-\uff19\uff21-\uff3a"
            "\uff41-\uff5a\uff66-\uffdc\U0001d400-\U0001d7ff\U0001f100-\U0001f2ff\U0002f800-\U0002fa1f]"
        )
    return re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def tokens(folded: str) -> list[str]:
    """The words and unbroken runs of a folded text, in order; what joins a word (``v2.1``) stays in it."""
    if folded.isascii():
        return (_TOKEN if len(folded) < _SHORT else _pattern("ascii_token")).findall(folded)
    if len(folded) < _SHORT:
        marked = any("\u0300" <= char < "\u2000" for char in folded)
    else:
        marked = _pattern("marks").search(folded) is not None
    return (_pattern("marked_token") if marked else _TOKEN).findall(folded)


def fold(text: str) -> str:
    """Return `text` with forms of one letter made one (full width, ligatures, NFD), and without what is not seen.

    Case is kept.
    """
    if text.isascii():
        return text
    for char in _UNSEEN:
        if char in text:
            text = text.replace(char, "")
    if len(text) >= _SHORT and not _pattern("compatibility").search(text):
        return text
    return unicodedata.normalize("NFKC", text)


def is_unspaced(term: str) -> bool:
    """Whether a term comes from a script written without blanks (a character, bigram or word of it)."""
    first = term[0]
    return "\u2e80" <= first < "\ua4d0" or (first >= "\u0e00" and any(low <= first <= high for low, high in _BLOCKS))


def _runs(token: str) -> list[str]:
    """A token parted where scripts with and without blanks between words meet."""
    parts = _LATIN_OR_NOT.findall(token)
    if all(part[0] < "\u0300" or (min(part) >= "\u2e80" and max(part) < "\ua4d0") for part in parts):
        return parts
    return _pattern("run").findall(token)


def _bigrams(run: str) -> str:
    if len(run) == 1:
        return run
    return " ".join([*run, *[run[at : at + 2] for at in range(len(run) - 1)]])


def _words(run: str) -> str:
    import jieba  # on use: its dictionary takes a second to load

    jieba.setLogLevel(60)
    return " ".join(word for word in jieba.cut_for_search(run) if word.strip())


RUNS: dict[str, Callable[[str], str]] = {"bigrams": _bigrams, "words": _words}
"""How a run of an unspaced script becomes terms, by the analyzer's name."""


def _without_mark(text: str) -> str:
    return text.replace(_END_OF_UNIT, " ") if _END_OF_UNIT in text else text


class Analyzer(dict[str, str]):
    """Turns text into terms; keeps what it has seen (token → its terms), so one analyzer should serve a whole run.

    `name` is ``bigrams`` (default) or ``words`` (jieba). An index remembers `id` and refuses terms of another.
    """

    def __init__(self, name: str = "bigrams") -> None:
        import Stemmer

        super().__init__()
        self.id = f"{name}/{VERSION}"
        self._run = RUNS[name]
        self._stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord

        self[_END_OF_UNIT] = "\n"

    def terms(self, text: str) -> str:
        """Return the terms of `text` in order, parted by blanks; "" if there are none."""
        return self._terms(_without_mark(text))

    def lines(self, texts: Iterable[str]) -> str:
        """Return the terms of each text on a line of its own; much faster than one call for each."""
        return self._terms(_END_OF_UNIT.join(map(_without_mark, texts))).replace(" \n", "\n").replace("\n ", "\n")

    def _terms(self, text: str) -> str:
        if "](" in text:
            text = _LINK_TARGET.sub("] ", text)
        return " ".join(filter(None, map(self.__getitem__, tokens(fold(text)))))

    def __missing__(self, token: str) -> str:
        if token.isascii():
            plain = token.isalpha() and (token.islower() or token.istitle())  # most words by far
            found = self._plain_term(token.lower()) if plain else " ".join(self._word_terms(token))
        elif min(token) >= "\u2e80" and max(token) < "\ua4d0":  # Chinese or kana alone, by far the most frequent
            return self._run(token)
        else:
            runs = _runs(token)
            if len(runs) == 1 and is_unspaced(token):
                return self._run(token.lower())
            parts = (self._run(run.lower()) if is_unspaced(run) else " ".join(self._word_terms(run)) for run in runs)
            found = " ".join(filter(None, parts))
        if len(token) < LONGEST_TERM and len(self) < 200_000:
            self[token] = found
        return found

    def _plain_term(self, word: str) -> str:
        """The term of a word in lower case, "" for a stop word."""
        return "" if word in ENGLISH else self._stem(word)[:LONGEST_TERM]

    def _word_terms(self, token: str) -> list[str]:
        """The terms of one word or identifier: whole, then its parts; stop words give none."""
        whole = token.lower().strip("_")
        if whole[-1:] in {"#", "+"}:
            bare = whole.rstrip("#+")
            whole = whole if bare in {"c", "f"} else bare
        if whole.isalpha():
            parts = _CAMEL.findall(token) if not (token.islower() or token.isupper() or token.istitle()) else []
            terms = [] if whole in ENGLISH else [self._stem(whole)]
            if len(parts) > 1:
                terms += self._part_terms(parts)
        else:
            whole = whole.replace(",", "").replace("‐", "-").replace("‑", "-")
            parts = [piece for part in _PART.findall(token) for piece in _CAMEL.findall(part) or [part]]
            terms = [whole] if parts else []
            if len(parts) > 1 and not whole.replace(".", "").isdigit():
                terms += self._part_terms(parts)
        return [term[:LONGEST_TERM] for term in terms]

    def _part_terms(self, parts: Iterable[str]) -> list[str]:
        lowered = (part.lower() for part in parts)
        return [self._stem(part) for part in lowered if part not in ENGLISH and (len(part) > 1 or part.isdigit())]
