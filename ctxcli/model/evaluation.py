"""How well a knowledge base answers questions whose answers are known; the values behind `ctx kb eval`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question and what is known of its answer; what is not known is empty or None.

    `answers` are texts of which one must be shown; `doc` is a path or its end, `lines` are (first, last) from 1.
    """

    id: str
    question: str
    answerable: bool = True
    answers: tuple[str, ...] = ()
    doc: str = ""
    section: str = ""
    page: int | None = None
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question.

    `doc_rank` and `place_rank` are the ranks (from 1) of the first chunk from the right document and at the right
    place, None where there is none among the ranked ones; `knows_doc` and `knows_place` say whether they are known at
    all: the figures leave out the others. `right` says whether what was shown, or
    would have been, holds an accepted answer (or, where none is known, comes from the right place); False where the
    question has no answer, None where it has one and neither answer nor place is known.
    """

    id: str
    answerable: bool
    declined: bool
    score: float
    doc_rank: int | None
    place_rank: int | None
    right: bool | None
    knows_doc: bool = True
    knows_place: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All outcomes and the figures from them; shares lie in 0…1, None where no question tells."""

    threshold: float
    outcomes: tuple[Outcome, ...]
    figures: dict[str, float | None]
    suggested: float | None
    curve: tuple[tuple[float, float, float], ...]
    """Risk against coverage: (threshold, share answered, share of those that are wrong), most careful first."""

    @property
    def untold(self) -> int:
        """The questions of which nobody can say whether they were answered rightly."""
        return sum(one.right is None for one in self.outcomes)

    def document(self) -> dict[str, Any]:
        """`ctx/evaluation/1`."""
        return {
            "schema": "ctx/evaluation/1",
            "questions": len(self.outcomes),
            "untold": self.untold,
            "threshold": self.threshold,
            "figures": self.figures,
            "suggested_threshold": self.suggested,
            "risk_coverage": [
                {"threshold": round(t, 4), "coverage": round(c, 4), "risk": round(r, 4)} for t, c, r in self.curve
            ],
            "outcomes": [_row(outcome) for outcome in self.outcomes],
        }


def _row(outcome: Outcome) -> dict[str, Any]:
    names: Sequence[str] = ("id", "answerable", "declined", "score", "doc_rank", "place_rank", "right")
    return {name: getattr(outcome, name) for name in names}
