"""Models that stay loaded between the questions of one process: an agent's server asks many."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ctxcli.model.ports import Embedder, TextRole

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors

_MOST = 3
_Model = TypeVar("_Model")
_models: dict[str, Any] = {}
_lock = Lock()


def kept(fingerprint: str, made: Callable[[], _Model]) -> _Model:
    """The model of that fingerprint which was made before, else a new one; the last three are kept."""
    with _lock:
        found: _Model = _models.pop(fingerprint) if fingerprint in _models else made()
        _models[fingerprint] = found
        if len(_models) > _MOST:
            del _models[next(iter(_models))]
    return found


def kept_embedder(embedder: Embedder) -> Embedder:
    """The embedder of the same weights that is loaded already, else this one; threads take turns with it."""
    return kept(embedder.fingerprint, lambda: _InTurn(embedder))


class _InTurn:
    """An embedder that embeds for one thread at a time: tokenizers and networks need not bear two."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.is_local, self.fingerprint = embedder.name, embedder.is_local, embedder.fingerprint
        self._lock = Lock()

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        with self._lock:
            return self._embedder.embed(texts, role=role)
