"""Which packets a context holds: scored, without duplicates, greedy into the budget."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ctxcli.model.context import ContextPacket

if TYPE_CHECKING:
    from ctxcli.packing.relevance import Relevance

LEAST_RECENCY = 0.1
DECAY_A_DAY = 0.1
UNSCORED = frozenset({"role", "task", "output"})
FIRST_TYPES = ("blocker", "action")
"""Notes that come before all others and are not dropped for want of relevance."""


class Scored(NamedTuple):
    """A packet with what it is worth; relevance, recency and score lie in 0…1. Quicker to load than a dataclass."""

    packet: ContextPacket
    relevance: float
    recency: float
    score: float


def recency(timestamp: datetime | None, now: datetime) -> float:
    """max(0.1, e^(−0.1 · days)); 1 for what is newer than now or has no time."""
    if timestamp is None:
        return 1.0
    days = max(0.0, (now - timestamp).total_seconds() / 86_400)
    return max(LEAST_RECENCY, math.exp(-DECAY_A_DAY * days))


def scored(
    packets: Iterable[ContextPacket],
    judge: Callable[[str], float],
    *,
    now: datetime,
    relevance_weight: float,
    recency_weight: float,
) -> list[Scored]:
    """Score packets, best first. `judge` gives relevance where none is given; ties by type, source and content."""
    found = []
    for one in packets:
        relevance = one.relevance if one.relevance is not None else judge(one.content)
        fresh = recency(one.timestamp, now)
        found.append(Scored(one, relevance, fresh, relevance_weight * relevance + recency_weight * fresh))
    found.sort(key=lambda row: (-round(row.score, 9), row.packet.type, row.packet.source, row.packet.content))
    return found


def without_duplicates(rows: Sequence[Scored]) -> tuple[list[Scored], list[tuple[Scored, Scored]]]:
    """The packets, each text once; and those left out, each with the one that stands for it.

    A text that another one holds whole, white space apart, is a duplicate too. Of several the best stays; evidence
    before all else, for it can be cited.
    """
    order = sorted(rows, key=lambda row: (row.packet.section != "evidence", -len(row.packet.content)))
    kept: list[tuple[str, Scored]] = []
    out: list[tuple[Scored, Scored]] = []
    gone: set[int] = set()
    exact: dict[str, Scored] = {}
    for row in order:
        bare = "".join(row.packet.content.split())
        other = exact.get(bare) or next((one for text, one in kept if _holds(text, bare)), None)
        if other is not None:
            out.append((row, other))
            gone.add(id(row))
        else:
            exact[bare] = row
            kept.append((bare, row))
    return [row for row in rows if id(row) not in gone], out


def _holds(text: str, part: str) -> bool:
    """Whether a text holds another one that is long enough to be no coincidence."""
    return len(part) >= 24 and part in text


class Judge:
    """Tells how far a text bears on the query; made ready when first asked."""

    def __init__(self, query: str, packets: Sequence[ContextPacket]) -> None:
        self._query, self._packets = query, packets
        self._relevance: Relevance | None = None

    def share(self, text: str) -> float:
        """The share of the query's weight that a text holds (0…1)."""
        if self._relevance is None:
            from ctxcli.packing.relevance import Relevance  # on use: often every relevance is given

            unjudged = [one.content for one in self._packets if one.relevance is None]
            self._relevance = Relevance(self._query, unjudged)
        return self._relevance.share(text)
