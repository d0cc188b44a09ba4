"""Embedding models behind the port `Embedder`; each module is imported when its model is asked for."""

from typing import TYPE_CHECKING

from ctxcli.model.errors import ServiceError

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors


def unit_length(rows: "Vectors") -> "Vectors":
    """The rows scaled to length 1; a row of zeros stays one. ServiceError where a number is none."""
    import numpy as np

    if not np.isfinite(rows).all():
        raise ServiceError(
            "the embedding model gives numbers that are none (NaN or infinite)",
            code="model_broken",
            hint="fetch or export it again, or name another model",
        )
    lengths = np.linalg.norm(np.asarray(rows, dtype=np.float64), axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
