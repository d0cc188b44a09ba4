"""Cosines made comparable: what is unrelated is 0 and what answers is about 1, whatever the model and the language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from ctxcli.model.stored import NOT_QUOTED, StoredChunk
from ctxcli.text.question import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LOWEST, HIGHEST = -1.0, 3.0
"""Bounds of a closeness."""
_APART = 1.5
"""Standard deviations of unrelated pairs that related ones must lie above, or the model knows nothing here."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The mean cosine of pairs that have nothing to do with each other, and of questions with their answers.

    `known` says whether the model tells them apart; where it does not, every closeness is 0.
    """

    unrelated: float
    related: float
    known: bool

    def closeness(self, cosine: float) -> float:
        """The cosine on this scale (`LOWEST` … `HIGHEST`)."""
        if not self.known:
            return 0.0
        return min(HIGHEST, max(LOWEST, (cosine - self.unrelated) / (self.related - self.unrelated)))


def scale_of(cosines: Sequence[Sequence[float]]) -> Scale:
    """The scale from a square of cosines: `cosines[i][i]` is related, all others are not."""
    related = fmean(row[at] for at, row in enumerate(cosines))
    others = [cosine for at, row in enumerate(cosines) for other, cosine in enumerate(row) if other != at]
    unrelated, spread = fmean(others), pstdev(others)
    return Scale(round(unrelated, 4), round(related, 4), related - unrelated > max(_APART * spread, 1e-3))


Scales = Mapping[str, Scale]
"""By the languages of question and passage: ``zh-zh``, ``zh-en`` …"""


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a chunk is to a question: as a whole, and each of its quotable units.

    `foreign` says that it is written in another language than the question.
    """

    chunk: float
    units: tuple[float, ...]
    foreign: bool

    @property
    def unit(self) -> float:
        """That of the nearest unit."""
        return max(self.units, default=self.chunk)

    @property
    def both(self) -> float:
        """The mean of the chunk's and its nearest unit's, which ranks better than either."""
        return (self.chunk + self.unit) / 2


def nearness(scale: Scale, chunk: float, units: Sequence[float], *, foreign: bool) -> Nearness:
    """The nearness from the cosines of a chunk and its units."""
    return Nearness(scale.closeness(chunk), tuple(map(scale.closeness, units)), foreign)


def quotable(chunk: StoredChunk) -> list[int]:
    """The units of a chunk that have vectors of their own: all but headings and what is about the document."""
    return [at for at, (_, _, kind) in enumerate(chunk.units) if kind not in NOT_QUOTED]


def texts_of(title: str, chunk: StoredChunk) -> list[str]:
    """What is embedded of a chunk: the whole with title and headings, then each quotable unit."""
    heads = [title]
    for start, _, _ in chunk.units:
        heads += [heading for heading in chunk.path_of(start) if heading not in heads]
    units = chunk.units
    return ["\n".join([*heads, chunk.text]), *(chunk.text[units[at][0] : units[at][1]] for at in quotable(chunk))]
