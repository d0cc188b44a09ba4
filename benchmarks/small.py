"""False answers and false declines of small knowledge bases at the shipped threshold.

    python benchmarks/small.py [en|zh]...

Knowledge bases of 3 neighbouring chunks and of 5, 50 and 500 documents (a fifth of their chunks taken out) are cut
out of the dev sets; questions are answerable there, have lost their passage ("removed"), or are about other documents.
"""

import sys
from collections import Counter

from suites import SETS, knowledge, small_ones, suites

from ctxcli.answering.decision import THRESHOLD
from ctxcli.services.answering import consider
from ctxcli.text.analyzer import Analyzer


def main() -> None:
    """Print a table for each language."""
    if not (SETS / "score.py").exists():
        print(f"no question sets in {SETS}: nothing measured (set CTX_EVAL to a folder that has them)")
        return
    wanted = sys.argv[1:] or ["en", "zh"]
    analyzer = Analyzer()
    for suite in suites():
        if suite.name not in {f"dev-{language}" for language in wanted}:
            continue
        asked: Counter[tuple[str, str]] = Counter()
        shown: Counter[tuple[str, str]] = Counter()
        for small in small_ones(suite):
            base = knowledge(small.documents, analyzer=analyzer)
            for question, kind in small.questions:
                thought = consider(base, question.text)
                asked[small.size, kind] += 1
                shown[small.size, kind] += bool(thought.windows) and thought.score >= THRESHOLD
        print(f"{suite.name}, threshold {THRESHOLD}")
        print(f"{'':14} {'false declines':>16} {'false answers: removed':>24} {'other document':>16}")
        for size in dict.fromkeys(size for size, _ in asked):
            declined = 1 - shown[size, "answerable"] / max(1, asked[size, "answerable"])
            cells = [f"{declined:.3f} of {asked[size, 'answerable']}"]
            for kind in ("removed", "other"):
                count = asked[size, kind]
                cells.append(f"{shown[size, kind] / count:.3f} of {count}" if count else "-")
            print(f"{size:14} {cells[0]:>16} {cells[1]:>24} {cells[2]:>16}", flush=True)


if __name__ == "__main__":
    main()
