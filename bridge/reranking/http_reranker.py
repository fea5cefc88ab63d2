"""The reranker behind an endpoint, in the form that Jina, Cohere, vLLM, llama.cpp and Infinity share.

``POST {endpoint}`` with ``{model, query, documents, top_n}`` gives ``{results: [{index, relevance_score}]}``. No
message contains the key or the address.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .config import RerankConfig
from .reranker import RerankError, Scores, probabilities

if TYPE_CHECKING:
    import httpx

# After a failure the endpoint is not asked for this time, so that not every question waits for it.
REST_SECONDS = 30.0
# Servers refuse longer pairs than their model reads, mostly 512 tokens; some of them cut the text themselves.
TEXT_CHARACTERS = 1_500
_ANSWER_BYTES = 4 * 1024 * 1024
_CHECK = "Check COGNEE_MEMORY_RERANK_ENDPOINT, COGNEE_MEMORY_RERANK_MODEL and COGNEE_MEMORY_RERANK_API_KEY."


class HttpReranker:
    """A model behind an endpoint. ``clock``: seconds that never go back."""

    def __init__(self, config: RerankConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self.identity = config.identity
        self._config = config
        self._clock = clock
        self._lock = Lock()
        self._failed: tuple[float, RerankError] | None = None

    def relevance(self, query: str, texts: Sequence[str]) -> Scores:
        """How well each text answers the query, 0..1, shape (n,). Raises RerankError; for REST_SECONDS after a failure
        the same one, without a request."""
        if not texts:
            return np.empty(0)
        with self._lock:
            failed = self._failed
        if failed is not None and self._clock() - failed[0] < REST_SECONDS:
            raise RerankError(failed[1].message, failed[1].remedy)
        try:
            scores = self._checked(_scores(self._ask(query, texts), len(texts)))
        except RerankError as error:
            with self._lock:
                self._failed = self._clock(), error
            raise
        with self._lock:
            self._failed = None
        return scores

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        headers = {"Authorization": f"Bearer {self._config.api_key}"} if self._config.api_key else {}
        return httpx.Client(headers=headers, timeout=self._config.timeout_seconds)

    def _ask(self, query: str, texts: Sequence[str]) -> Any:
        """The JSON of the answer. Raises RerankError."""
        import httpx

        body = {
            "model": self._config.model,
            "query": query,
            "documents": [text[:TEXT_CHARACTERS] for text in texts],
            "top_n": len(texts),
        }
        deadline = self._clock() + self._config.timeout_seconds
        data = bytearray()
        try:
            with self._client.stream("POST", self._config.endpoint, json=body) as answer:
                if answer.status_code != 200:
                    raise RerankError(f"The reranker's endpoint answered {answer.status_code}.", _CHECK)
                for part in answer.iter_bytes():
                    data += part
                    if self._clock() > deadline:
                        raise httpx.ReadTimeout("")
                    if len(data) > _ANSWER_BYTES:
                        raise RerankError("The reranker's endpoint sent too long an answer.", _CHECK)
        except httpx.TimeoutException:
            message = f"The reranker's endpoint did not answer in {self._config.timeout_seconds:g} s."
            raise RerankError(message, "COGNEE_MEMORY_RERANK_TIMEOUT_SECONDS may be higher.") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError) as error:
            # Only the class: the text may contain the address with a password.
            message = f"The reranker's endpoint cannot be reached ({type(error).__name__})."
            raise RerankError(message, _CHECK) from None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            raise RerankError("The reranker's endpoint did not send JSON.", _CHECK) from None

    def _checked(self, scores: Scores) -> Scores:
        if self._config.scores == "logit":
            return probabilities(scores)
        if ((scores < -1e-6) | (scores > 1 + 1e-6)).any():
            remedy = "If it sends logits, as llama.cpp does, set COGNEE_MEMORY_RERANK_SCORES=logit."
            raise RerankError("The reranker's endpoint sent scores outside of 0 to 1.", remedy)
        return np.clip(scores, 0.0, 1.0)


def _scores(content: Any, count: int) -> Scores:
    """The scores in an answer, in the order of the texts. Raises RerankError unless each text has one."""
    found: dict[int, float] = {}
    results = content.get("results") if isinstance(content, dict) else None
    for result in results if isinstance(results, list) else ():
        index, score = (result.get("index"), result.get("relevance_score")) if isinstance(result, dict) else (None, 0)
        if type(index) is int and isinstance(score, int | float) and math.isfinite(score):
            found[index] = float(score)
    if found.keys() != set(range(count)):
        raise RerankError(f"The reranker's endpoint did not send a score for each of {count} texts.", _CHECK)
    return np.array([found[index] for index in range(count)])
