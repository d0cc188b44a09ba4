"""An embedder that needs no weights: a text's vector depends on its bytes alone."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ctxcli.model.errors import ServiceError
from ctxcli.model.ports import TextRole


class HashEmbedder:
    """Gives each text a vector of its own, and counts the passages it was asked for; fails after `most` of them."""

    is_local = True

    def __init__(self, name: str = "hash", *, width: int = 8, most: int | None = None) -> None:
        self.name = name
        self.fingerprint = f"{name}/{width}"
        self.passages: list[str] = []
        self._width, self._most = width, most

    def embed(self, texts: Sequence[str], *, role: TextRole) -> NDArray[np.float32]:
        if role == "passage":
            self.passages += texts
            if self._most is not None and len(self.passages) > self._most:
                raise ServiceError("it fails", code="llm_failed", hint="try again")
        rows = np.stack([self._row(text) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def _row(self, text: str) -> NDArray[np.float64]:
        digest = blake2b(f"{self.name}\0{text}".encode(), digest_size=2 * self._width).digest()
        return np.frombuffer(digest, np.uint16).astype(np.float64) - 32768.5
