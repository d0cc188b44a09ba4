"""``onnx:FOLDER``: a cross-encoder exported to ONNX, such as bge-reranker-base or ms-marco-MiniLM."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from ctxcli.answering.coefficients import probability
from ctxcli.model.errors import ServiceError
from ctxcli.providers.model_folder import network_files, options_of
from ctxcli.providers.onnx_model import OnnxModel
from ctxcli.providers.weights import fingerprint


class OnnxReranker:
    """The cross-encoder of a folder; it is loaded at the first query."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder

    @cached_property
    def fingerprint(self) -> str:
        """Made from the weights, the tokenizer and the length that is read."""
        return f"rerank/{fingerprint(*network_files(self._folder))}/{self._max_tokens}"

    @cached_property
    def _max_tokens(self) -> int:
        return options_of(self._folder).max_tokens

    @cached_property
    def _model(self) -> OnnxModel:
        return OnnxModel(self._folder, max_tokens=self._max_tokens)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The logit for each pair as a probability; of two classes the second is the right one."""
        return [self._score(query, text) for text in texts]

    def _score(self, query: str, text: str) -> float:
        output, _ = self._model.run(query, text)
        flat = output.reshape(-1)
        if output.ndim > 1 or len(flat) not in (1, 2):
            raise ServiceError(
                f"{self._model.path} is no cross-encoder: it gives {output.shape} for a pair",
                code="model_broken",
                hint="name the folder of a reranker",
            )
        return probability(float(flat[0] if len(flat) == 1 else flat[1] - flat[0]))
