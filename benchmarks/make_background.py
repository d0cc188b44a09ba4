"""Make `ctxcli/text/data/background.txt`: how often common terms occur in general text.

    python benchmarks/make_background.py frequency_dictionary_en_82_765.txt

English: word counts of the package symspellpy (MIT), stemmed by ctx's analyzer, 6,000 most frequent stems.
Chinese: words and counts of jieba's dictionary (MIT); characters and bigrams inside words, and bigrams across
word ends as chance would have them; 22,000 most frequent. Each line is a term and -10 ln(share of all terms).
"""

import math
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path

from ctxcli.text.analyzer import Analyzer, is_unspaced

TARGET = Path(__file__).parent.parent / "ctxcli" / "text" / "data" / "background.txt"


def english(path: Path, analyzer: Analyzer) -> Counter[str]:
    """Counts of stems; stop words are left out."""
    counts: Counter[str] = Counter()
    for line in path.read_text("utf-8-sig").splitlines():
        word, _, count = line.partition(" ")
        for term in analyzer.terms(word).split()[:1]:
            counts[term] += int(count)
    return counts


def chinese() -> Counter[str]:
    """Counts of characters and bigrams."""
    counts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    words = 0
    for line in files("jieba").joinpath("dict.txt").read_text("utf-8").splitlines():
        word, count_text, *_ = line.split(" ")
        if not is_unspaced(word):
            continue
        count = int(count_text)
        for term in (*word, *map("".join, zip(word, word[1:], strict=False))):
            counts[term] += count
        first[word[0]] += count
        last[word[-1]] += count
        words += count
    for before, left in last.most_common(600):
        for after, right in first.most_common(600):
            counts[before + after] += round(left * right / words)
    return counts


def rows(counts: Counter[str], size: int) -> list[str]:
    """The `size` most frequent terms with their codes, by term."""
    total = sum(counts.values())
    return sorted(f"{term} {round(-10 * math.log(count / total))}" for term, count in counts.most_common(size))


def main() -> None:
    """Write the table."""
    analyzer = Analyzer()
    lines = rows(english(Path(sys.argv[1]), analyzer), 6_000) + rows(chinese(), 22_000)
    TARGET.write_text("\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} terms, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
