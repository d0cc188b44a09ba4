"""Embedding models behind the port `Embedder`; each module is imported when its model is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors


def unit_length(rows: "Vectors") -> "Vectors":
    """The rows scaled to length 1; a row of zeros stays one."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)
