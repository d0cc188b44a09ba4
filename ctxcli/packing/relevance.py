"""How far texts bear on a query: the share of the query's weight that they hold."""

from collections import Counter
from collections.abc import Sequence
from math import fsum

from ctxcli.retrieval.weights import TermWeights, weigh
from ctxcli.text.analyzer import Analyzer
from ctxcli.text.question import Question, read_question


class Relevance:
    """Judges texts by the terms of a query, Chinese and English; `corpus` says how rare the terms are."""

    def __init__(self, query: str, corpus: Sequence[str], analyzer: Analyzer | None = None) -> None:
        self.analyzer = analyzer or Analyzer()
        self.question: Question = read_question(query, self.analyzer)
        bags = [self.analyzer.terms(text).split() for text in corpus]
        frequency = Counter(term for bag in bags for term in set(bag))
        length = sum(map(len, bags))
        self.weights: TermWeights = weigh(self.question, frequency.__getitem__, chunks=len(bags), length=max(1, length))

    def share(self, text: str) -> float:
        """The share of the query's weight that a text holds (0…1)."""
        total = self.weights.total
        if not total:
            return 0.0
        canonical = self.weights.canonical
        held = {canonical[term] for term in self.analyzer.terms(text).split() if term in canonical}
        return min(1.0, fsum(self.weights.weight[term] for term in held) / total)  # whatever the order of the set
