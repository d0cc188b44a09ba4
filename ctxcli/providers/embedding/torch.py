"""``st:MODEL``: a model of sentence-transformers, by PyTorch. Only what is on this machine is loaded."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcli.model.errors import ServiceError
from ctxcli.model.ports import TextRole
from ctxcli.providers.embedding import unit_length
from ctxcli.providers.extras import needed
from ctxcli.providers.model_folder import ModelOptions, file_in
from ctxcli.providers.weights import fingerprint

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors


_USES = ("modules.json", "1_Pooling/config.json", "sentence_bert_config.json", "tokenizer.json")


class TorchEmbedder:
    """The model of a folder in the form of sentence-transformers; it is loaded at the first text."""

    is_local: bool = True

    def __init__(self, name: str, folder: Path, options: ModelOptions) -> None:
        self.name = name
        self._folder, self._options = folder, options
        self._weights = file_in(folder, "model.safetensors", "pytorch_model.bin")

    @cached_property
    def fingerprint(self) -> str:
        """Made from the weights, what says how they are used, and the prefixes."""
        beside = [path for name in _USES if (path := self._folder / name).is_file()]
        return f"st/{fingerprint(self._weights, *beside)}/{self._options.prefixes}"

    @cached_property
    def _model(self) -> Any:
        library = needed("sentence_transformers", extra="torch", by=f"the model {self.name}")
        try:
            return library.SentenceTransformer(str(self._folder), local_files_only=True, trust_remote_code=False)
        except Exception as error:  # transformers and safetensors raise errors of their own
            raise ServiceError(
                f"{self._folder} cannot be used: {error}", code="model_broken", hint="fetch it again"
            ) from error

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row a text."""
        prefix = self._options.prefix(role)
        found = self._model.encode([prefix + text for text in texts], prompt="", convert_to_numpy=True)
        return unit_length(found)
