"""``openai:MODEL``: any service that answers ``/embeddings`` as OpenAI's does (Ollama, vLLM, SiliconFlow …)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ctxcli.model.ports import TextRole
from ctxcli.providers.embedding import unit_length
from ctxcli.providers.http import Endpoint, JsonService
from ctxcli.providers.model_folder import ModelOptions

if TYPE_CHECKING:
    from ctxcli.model.ports import Vectors

_BATCH_CHARACTERS = 40_000


class EmbeddingService:
    """A model of a service; keeps its connection between requests. `batch` is the number of texts a request bears."""

    def __init__(
        self, endpoint: Endpoint, *, query_prefix: str = "", passage_prefix: str = "", batch: int = 32
    ) -> None:
        self._service = JsonService(endpoint)
        self._options = ModelOptions(query_prefix=query_prefix, passage_prefix=passage_prefix)
        self._batch = batch

    @property
    def name(self) -> str:
        """As the user calls it."""
        return f"openai:{self._service.endpoint.model}"

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine."""
        return self._service.endpoint.is_local

    @property
    def fingerprint(self) -> str:
        """Made from the name and the prefixes: a service does not show its weights."""
        return f"{self.name}/{self._options.prefixes}"

    def embed(self, texts: Sequence[str], *, role: TextRole) -> "Vectors":
        """One row a text."""
        import numpy as np

        prefixed = [self._options.prefix(role) + text or " " for text in texts]
        rows = [self._rows(batch) for batch in self._batches(prefixed)]
        if len({part.shape[1] for part in rows}) > 1:
            raise self._service.endpoint.not_understood("embeddings that differ in length")
        return unit_length(np.concatenate(rows))

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            if batch and (len(batch) == self._batch or size + len(text) > _BATCH_CHARACTERS):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        yield batch

    def _rows(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        endpoint = self._service.endpoint
        answer = self._service.post("embeddings", {"model": endpoint.model, "input": texts})
        try:
            rows = np.array(_in_order(answer, len(texts)), dtype=np.float32)
            if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
                raise ValueError("no vectors")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise endpoint.not_understood(f"embeddings that are none: {error}") from None
        return rows


def _in_order(answer: Any, count: int) -> list[Any]:
    """The vectors by their index; ValueError where one is missing."""
    if not isinstance(answer, Mapping):
        raise ValueError("a list")
    data = answer["data"]
    if len(data) != count:
        raise ValueError(f"{len(data)} for {count} texts")
    if not all(isinstance(one, Mapping) for one in data):
        raise ValueError("some are no objects")
    rows: dict[int, Any] = {int(one.get("index", at)): one["embedding"] for at, one in enumerate(data)}
    if sorted(rows) != list(range(count)):
        raise ValueError("their indices are wrong")
    return [rows[at] for at in range(count)]
