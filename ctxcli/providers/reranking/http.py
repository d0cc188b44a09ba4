"""``http:MODEL``: a service that answers ``/rerank`` as Jina, Cohere, llama.cpp, vLLM and Xinference do, or as TEI."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from ctxcli.answering.coefficients import probability
from ctxcli.model.errors import ServiceError
from ctxcli.providers.http import Endpoint, JsonService


class RerankService:
    """A model of a service; keeps its connection between requests."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._service = JsonService(endpoint)
        self._takes_texts = False

    @property
    def name(self) -> str:
        """As the user calls it."""
        return f"http:{self._service.endpoint.model}"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The service's scores, 0 where it left one out; where they are no shares they are taken for logits."""
        answer = self._asked(query, list(texts))
        try:
            found = _scores(answer, len(texts))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._service.endpoint.not_understood(f"a ranking that is none: {error}") from None
        if any(not 0 <= score <= 1 for score in found.values()):
            found = {at: probability(score) for at, score in found.items()}
        return [found.get(at, 0.0) for at in range(len(texts))]

    def _asked(self, query: str, texts: list[str]) -> Any:
        """What the service says; one that misses ``texts`` is asked as TEI is, from then on."""
        if not self._takes_texts:
            model = self._service.endpoint.model
            body = {"model": model, "query": query, "documents": texts, "top_n": len(texts), "return_documents": False}
            try:
                return self._service.post("rerank", body)
            except ServiceError as error:
                if error.code != "llm_rejected" or "texts" not in error.message:
                    raise
                self._takes_texts = True
        return self._service.post("rerank", {"query": query, "texts": texts, "truncate": True})


def _scores(answer: Any, count: int) -> dict[int, float]:
    """The score of each text that has one; KeyError, TypeError or ValueError where that is no ranking."""
    if isinstance(answer, Mapping):
        answer = answer["results"] if "results" in answer else answer["data"]
    found = {int(one["index"]): float(one.get("relevance_score", one.get("score"))) for one in answer}
    if not found:
        raise ValueError("it is empty")
    if len(found) != len(answer) or not all(0 <= at < count for at in found):
        raise ValueError("its indices are wrong")
    if not all(map(isfinite, found.values())):
        raise ValueError("a score is no number")
    return found
