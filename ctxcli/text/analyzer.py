"""Terms: what the index holds and what a question looks for.

Latin and other spaced words are folded (NFKC, lower case) and stemmed (Snowball English); identifiers,
versions and section numbers (``v2.1``, ``snake_case``, ``2026.4.10``) are kept whole and also taken apart.
Scripts written without blanks (Chinese, Japanese, Korean, Thai …) become single characters and the bigrams
of each unbroken run; nothing is formed across punctuation or across a Latin word.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

from ctxcli.text.stopwords import ENGLISH

VERSION = "1"
LONGEST_TERM = 64

_MARKED = (  # letters and marks of scripts that part words by blanks, without their punctuation
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02c1\u0300-\u037d\u037f-\u0386\u0388-\u0559\u0560-\u0588"
    "\u0591-\u05bd\u05bf\u05c1-\u05f2\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u0df3"
    "\u0f00\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u10a0-\u10fa\u10fc-\u135f\u1369-\u166c\u166f-\u177f"
    "\u1810-\u1cbf\u1cd0-\u1fff\u2c00-\u2dff\ua4d0-\ua4fd\ua500-\uabea\ufb00-\ufd3d\ufd50-\ufdfb\ufe20-\ufe2f\ufe70-\ufefc"
    "\U00010000-\U0001cfff\U0001e000-\U0001efff"
)
UNSPACED = (
    "\u0e01-\u0e4e\u0e80-\u0ede\u1000-\u104f\u1100-\u11ff\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua000-\ua48c\ua960-\ua97c\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Inside a character class: scripts without blanks between words."""

_WORD = f"[0-9A-Za-z_{_MARKED}]"
_JOIN = r"(?:[._\-‐‑/:@+&]|(?<=[0-9]),(?=[0-9]{3}))"
_END_OF_UNIT = "\x1e"
TOKEN = re.compile(rf"[{UNSPACED}]+|(?:[CF]#|[Cc]\+\+|{_WORD}+(?:{_JOIN}{_WORD}+)*)|{_END_OF_UNIT}")
"""A run of an unspaced script, or a word with what is joined to it."""

_FIRST_UNSPACED = "\u0e00"
_PARTS = re.compile(rf"[0-9]+|[{_MARKED}A-Za-z]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_CJK_RUN = re.compile(f"[{UNSPACED}]")


def fold(text: str) -> str:
    """Return `text` with compatibility forms made one (full width, ligatures, NFD); case is kept."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _bigrams(run: str) -> str:
    if len(run) == 1:
        return run
    return f"{' '.join(run)} {' '.join(map(str.__add__, run, run[1:]))}"


def _words(run: str) -> str:
    import jieba  # on use: its dictionary takes a second to load

    jieba.setLogLevel(60)
    return " ".join(word for word in jieba.cut_for_search(run) if word.strip())


RUNS: dict[str, Callable[[str], str]] = {"bigrams": _bigrams, "words": _words}
"""How a run of an unspaced script becomes terms, by the analyzer's name."""


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
        if "](" in text:
            text = _LINK_TARGET.sub("] ", text)
        return " ".join(filter(None, map(self.__getitem__, TOKEN.findall(fold(text)))))

    def lines(self, texts: Iterable[str]) -> str:
        """Return the terms of each text on a line of its own; much faster than one call for each."""
        plain = (text.replace(_END_OF_UNIT, " ") if _END_OF_UNIT in text else text for text in texts)
        return self.terms(_END_OF_UNIT.join(plain)).replace(" \n", "\n").replace("\n ", "\n")

    def __missing__(self, token: str) -> str:
        if "\u2e80" <= token[0] < "\ua4d0" or (token[0] >= _FIRST_UNSPACED and _CJK_RUN.match(token)):
            return self._run(token.lower())
        found = " ".join(self.token_terms(token))
        if len(self) < 200_000:
            self[token] = found
        return found

    def token_terms(self, token: str) -> list[str]:
        """The terms of one word or identifier: whole, then its parts; stop words give none."""
        whole = token.lower().strip("_")
        if whole.isalpha():
            parts = _CAMEL.findall(token) if not (token.islower() or token.isupper() or token.istitle()) else ()
            terms = [] if whole in ENGLISH else [self._stem(whole)]
            if len(parts) > 1:
                terms += self._part_terms(parts)
        else:
            whole = whole.replace(",", "").replace("‐", "-").replace("‑", "-")
            parts = [piece for part in _PARTS.findall(token) for piece in _CAMEL.findall(part) or [part]]
            terms = [whole] if whole else []
            if len(parts) > 1 and not whole.replace(".", "").isdigit():
                terms += self._part_terms(parts)
        return [term[:LONGEST_TERM] for term in terms]

    def _part_terms(self, parts: Iterable[str]) -> list[str]:
        lowered = (part.lower() for part in parts)
        return [self._stem(part) for part in lowered if part not in ENGLISH and (len(part) > 1 or part.isdigit())]


def is_unspaced(term: str) -> bool:
    """Whether a term comes from a script written without blanks (a character, bigram or word of it)."""
    return term[0] >= _FIRST_UNSPACED and _CJK_RUN.match(term) is not None
