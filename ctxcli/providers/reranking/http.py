"""``http:MODEL``: a service that answers ``/rerank`` as Jina's and Cohere's do (llama.cpp, vLLM, TEI, Xinference)."""

from collections.abc import Sequence
from math import isfinite

from ctxcli.answering.coefficients import probability
from ctxcli.providers import llm_errors
from ctxcli.providers.http import Endpoint, JsonService


class RerankService:
    """A model of a service; keeps its connection between requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._service = JsonService(endpoint)

    @property
    def name(self) -> str:
        """As the user calls it."""
        return f"http:{self._service.endpoint.model}"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The service's scores; where they are no shares they are taken for logits."""
        endpoint = self._service.endpoint
        body = {
            "model": endpoint.model, "query": query, "documents": list(texts), "top_n": len(texts),
            "return_documents": False,
        }  # fmt: skip
        answer = self._service.post("rerank", body)
        try:
            found = {int(one["index"]): float(one["relevance_score"]) for one in answer["results"]}
            if not all(0 <= at < len(texts) for at in found) or not all(map(isfinite, found.values())):
                raise ValueError("their indices are wrong")
        except (KeyError, TypeError, ValueError) as error:
            said = f"a ranking that is none: {error}"
            raise llm_errors.not_understood(endpoint.shown, said, endpoint.key) from None
        if any(not 0 <= score <= 1 for score in found.values()):
            found = {at: probability(score) for at, score in found.items()}
        return [found.get(at, 0.0) for at in range(len(texts))]
