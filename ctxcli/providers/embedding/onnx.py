"""``onnx:FOLDER``: a transformer exported to ONNX, such as bge-small-zh-v1.5, multilingual-e5-small or MiniLM."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ctxcli.model.errors import ServiceError
from ctxcli.model.ports import TextRole
from ctxcli.providers.embedding import unit_length
from ctxcli.providers.model_folder import ModelOptions, network_files
from ctxcli.providers.onnx_model import OnnxModel
from ctxcli.providers.weights import fingerprint

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors


class OnnxEmbedder:
    """The model of a folder; it is loaded at the first text."""

    is_local: bool = True

    def __init__(self, name: str, folder: Path, options: ModelOptions) -> None:
        self.name = name
        self._folder, self._options = folder, options

    @cached_property
    def fingerprint(self) -> str:
        """Made from the weights, the tokenizer and how the model is used."""
        used = self._options
        return f"onnx/{fingerprint(*network_files(self._folder))}/{used.pooling}/{used.max_tokens}/{used.prefixes}"

    @cached_property
    def _model(self) -> OnnxModel:
        return OnnxModel(self._folder, max_tokens=self._options.max_tokens)

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row a text, pooled over its tokens as the model wants it."""
        import numpy as np

        prefix = self._options.prefix(role)
        return unit_length(np.stack([self._pooled(prefix + text) for text in texts]))

    def _pooled(self, text: str) -> "Vectors":
        import numpy as np

        output, tokens = self._model.run(text)
        if output.ndim == 1 and len(output) > 1:  # the network pools by itself
            return output
        if output.ndim != 2 or not tokens:  # one number is the mark of a reranker
            raise ServiceError(
                f"{self._model.path} gives no vectors", code="model_broken", hint="name the folder of an encoder"
            )
        pooled = output[0] if self._options.pooling == "cls" else output[:tokens].mean(axis=0)
        return np.asarray(pooled, dtype=np.float32)
