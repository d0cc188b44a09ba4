"""How far texts bear on a query: the share of the query's weight that they hold; and BM25 over a small corpus."""

from collections import Counter
from collections.abc import Sequence

from ctxcli.retrieval.weights import TermWeights, weigh
from ctxcli.text.analyzer import Analyzer
from ctxcli.text.question import Question, read_question

K1, B = 0.9, 0.4


class Relevance:
    """Judges texts by the terms of a query, Chinese and English; `corpus` says how rare the terms are."""

    def __init__(self, query: str, corpus: Sequence[str], analyzer: Analyzer | None = None) -> None:
        self.analyzer = analyzer or Analyzer()
        self.question: Question = read_question(query, self.analyzer)
        self._bags = [Counter(self.analyzer.terms(text).split()) for text in corpus]
        frequency = Counter(term for bag in self._bags for term in bag)
        length = sum(sum(bag.values()) for bag in self._bags)
        self.weights: TermWeights = weigh(
            self.question, frequency.__getitem__, chunks=len(self._bags), length=max(1, length)
        )

    def share(self, text: str) -> float:
        """The share of the query's weight that a text holds (0…1)."""
        total = self.weights.total
        if not total:
            return 0.0
        canonical = self.weights.canonical
        held = {canonical[term] for term in self.analyzer.terms(text).split() if term in canonical}
        return min(1.0, sum(self.weights.weight[term] for term in held) / total)

    def ranked(self, *, k: int) -> list[tuple[int, float]]:
        """The `k` texts of the corpus that bear most on the query, as (index, BM25), best first; ties newest first.

        A text that shares no term is never among them.
        """
        scores = [(at, self._score(bag)) for at, bag in enumerate(self._bags)]
        found = [(at, score) for at, score in scores if score > 0]
        found.sort(key=lambda one: (-round(one[1], 9), -one[0]))
        return found[:k]

    def _score(self, bag: Counter[str]) -> float:
        counts: Counter[str] = Counter()
        for term, canonical in self.weights.canonical.items():
            if bag[term]:
                counts[canonical] += bag[term]
        if not counts:
            return 0.0
        norm = K1 * (1 - B + B * sum(bag.values()) / self.weights.average_length)
        return sum(self.weights.weight[term] * count * (K1 + 1) / (count + norm) for term, count in counts.items())
