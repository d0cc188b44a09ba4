"""Figures over outcomes: hits, answers, refusals, risk against coverage, and the threshold that follows."""

from collections.abc import Iterable, Sequence

from ctxcli.model.evaluation import Outcome

RANKS = (1, 3, 5)


def figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """All figures by name; shares lie in 0…1, None where no question tells.

    hit@k and mrr over the ranked chunks, of documents and places, of the questions where these are known; answer:
    what was chosen is right, shown or not; right: shown and right; both of the questions where that can be told;
    false_declines and false_answers at the threshold;
    auroc: the score of a random answerable question is above that of an unanswerable one.
    """
    known = [one for one in outcomes if one.answerable]
    unknown = [one for one in outcomes if not one.answerable]
    found: dict[str, float | None] = {}
    for name, ranks in (
        ("doc", [one.doc_rank for one in known if one.knows_doc]),
        ("place", [one.place_rank for one in known if one.knows_place]),
    ):
        for k in RANKS:
            found[f"{name}_hit@{k}"] = _share(value is not None and value <= k for value in ranks)
        found[f"{name}_mrr"] = sum(1 / value for value in ranks if value) / len(ranks) if ranks else None
    found["answer"] = _share(one.right for one in known if one.right is not None)
    found["right"] = _share(one.right and not one.declined for one in known if one.right is not None)
    found["false_declines"] = _share(one.declined for one in known)
    found["false_answers"] = _share(not one.declined for one in unknown)
    found["auroc"] = auroc([one.score for one in known], [one.score for one in unknown])
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def _share(flags: Iterable[bool]) -> float | None:
    values = list(flags)
    return sum(values) / len(values) if values else None


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The probability that a positive lies above a negative; equal ones count half."""
    if not positive or not negative:
        return None
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def risk_coverage(outcomes: Sequence[Outcome]) -> tuple[tuple[float, float, float], ...]:
    """(threshold, share answered, share of those that are wrong) for each threshold that changes something.

    Of the questions where it can be told; () where there are none.
    """
    ordered = _told(outcomes)
    curve: list[tuple[float, float, float]] = []
    wrong = 0
    for count, one in enumerate(ordered, 1):
        wrong += not one.right
        if count == len(ordered) or ordered[count].score != one.score:
            curve.append((one.score, count / len(ordered), wrong / count))
    return tuple(curve)


def _told(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of which it can be told whether they are right, highest score first."""
    return sorted((one for one in outcomes if one.right is not None), key=lambda one: -one.score)


def best_threshold(outcomes: Sequence[Outcome]) -> float | None:
    """The threshold with the fewest mistakes: answers that are wrong and right ones that are held back.

    Halfway between the two scores it parts; None where there are no outcomes of both kinds.
    """
    ordered = _told(outcomes)
    total = sum(one.right is True for one in ordered)
    if not total or total == len(ordered):
        return None
    best, mistakes = (ordered[0].score + 1) / 2, total
    shown_wrong, held_back = 0, total
    for count, one in enumerate(ordered, 1):
        shown_wrong += not one.right
        held_back -= one.right is True
        follows = ordered[count].score if count < len(ordered) else 0.0
        if follows != one.score and shown_wrong + held_back < mistakes:
            best, mistakes = (one.score + follows) / 2, shown_wrong + held_back
    return round(best, 4)
