"""The embedders behind an endpoint: the OpenAI protocol, Ollama's, and all others that LiteLLM supports.

Requests are sent to the address that cognee would use with the same settings. Errors are mapped to codes by their
remedy; no message contains the key. Retries are the caller's task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jobs import clock
from jobs.errors import JobError

from .config import EmbeddingConfig
from .embedder import Vectors, embed_non_blank, normalised, wrong_dimensions
from .tokens import LocallyCounted

if TYPE_CHECKING:
    import httpx

BATCH_TEXTS = 32  # texts per request: the limit of common self-hosted servers, and cognee's size
CONNECT_SECONDS, READ_TIMEOUT_SECONDS = 10.0, 60.0
_OPENAI = "https://api.openai.com/v1"
_OLLAMA = "http://localhost:11434/api/embed"


class _Remote(LocallyCounted):
    """The common part of embedders behind an endpoint: batches, blank texts, validation of the answer."""

    def __init__(self, config: EmbeddingConfig) -> None:
        self.identity, self.dimensions = config.identity, config.dimensions
        self._config = config

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts' vectors of length 1, shape (n, dimensions).

        Raises JobError: EMBEDDING_CONFIG, EMBEDDING_UNREACHABLE, EMBEDDING_FAILED, RATE_LIMITED.
        """
        return embed_non_blank(texts, self.dimensions, self._embed)

    def _embed(self, texts: list[str]) -> Vectors:
        batches = [texts[start : start + BATCH_TEXTS] for start in range(0, len(texts), BATCH_TEXTS)]
        return np.concatenate([self._checked(self._ask(batch), len(batch)) for batch in batches])

    def _ask(self, texts: list[str]) -> Any:
        """The provider's vectors for one batch, in order, not validated."""
        raise NotImplementedError

    def _checked(self, answer: Any, count: int) -> Vectors:
        try:
            vectors = np.array(answer, np.float64)
        except (TypeError, ValueError):
            vectors = np.empty(0)
        if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
            raise JobError("EMBEDDING_FAILED", f"The provider did not send {count} vectors of numbers.")
        if vectors.shape[1] != self.dimensions:
            raise wrong_dimensions(self._config, vectors.shape[1])
        return normalised(vectors)

    def _failure(self, status: int, complaint: str, retry_after: str = "") -> JobError:
        """The error for an HTTP status. ``complaint`` is the provider's own text, ``retry_after`` the header."""
        if status in (401, 403):  # the provider's text may repeat the key
            return JobError(
                "EMBEDDING_CONFIG",
                f"The embedding provider refused the key ({status}).",
                remediation="Correct EMBEDDING_API_KEY (or LLM_API_KEY, which is used without it).",
            )
        if self._config.api_key:
            complaint = complaint.replace(self._config.api_key, "***")
        message = f"The embedding provider answered {status}: {complaint[:200] or 'no text'}"
        if status == 404:
            remedy = "Correct EMBEDDING_ENDPOINT and EMBEDDING_MODEL."
            return JobError("EMBEDDING_CONFIG", message, remediation=remedy)
        pause = retry_after_seconds(retry_after, clock.now())
        details = {} if pause is None else {"retry_after_seconds": pause}
        if status == 429:  # not waited for here: the job waits in the queue, where it blocks no other
            return JobError("RATE_LIMITED", message, details=details)
        return JobError("EMBEDDING_FAILED", message, details={"status": status} | details)


class HttpEmbedder(_Remote):
    """The OpenAI protocol (``openai``, ``openai_compatible``, ``custom``) and Ollama's, over HTTP.

    Ollama cuts texts that are too long for the model; other servers may reject them.
    """

    def __init__(self, config: EmbeddingConfig) -> None:
        """Raises JobError: EMBEDDING_CONFIG when the settings name no usable endpoint."""
        super().__init__(config)
        self._url = address(config)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        headers = {"Authorization": f"Bearer {self._config.api_key}"} if self._config.api_key else {}
        return httpx.Client(headers=headers, timeout=httpx.Timeout(READ_TIMEOUT_SECONDS, connect=CONNECT_SECONDS))

    def _ask(self, texts: list[str]) -> Any:
        import httpx

        try:
            answer = self._client.post(self._url, json=self._body(texts))
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError) as error:
            raise _unreachable(error) from None
        try:
            content = answer.json()
        except ValueError:
            content = None
        if answer.status_code != 200:
            pause = answer.headers.get("Retry-After", "")
            raise self._failure(answer.status_code, _complaint(content), pause)
        return _vectors(content)

    def _body(self, texts: list[str]) -> dict[str, Any]:
        name, dimensions = self._config.model, self._config.dimensions
        if self._config.provider == "ollama":
            native = {"truncate": True} if "/api/" in self._url else {}
            return {"model": name, "input": texts, "dimensions": dimensions} | native
        if self._config.provider != "openai_compatible":  # there the prefix may be part of the model's name
            name = name.removeprefix("openai/")
        body: dict[str, Any] = {"model": name, "input": texts, "encoding_format": "float"}
        if "text-embedding-3" in name:  # the only models that accept a number of dimensions
            body["dimensions"] = dimensions
        return body


class LiteLLMEmbedder(_Remote):
    """Any other provider that LiteLLM supports. Importing it takes seconds."""

    def _ask(self, texts: list[str]) -> Any:
        import litellm
        import openai

        litellm.DEFAULT_MAX_RETRIES = 0  # retries would sleep here, and max_retries=0 counts as "not given"
        try:
            answer = litellm.embedding(
                model=self._config.model,
                input=texts,
                api_key=self._config.api_key or None,
                api_base=self._config.endpoint or None,
                dimensions=self.dimensions,
                drop_params=True,  # many models have a fixed number of dimensions
                timeout=READ_TIMEOUT_SECONDS,
                max_retries=0,
            )
        except openai.APIConnectionError as error:  # timeouts too
            raise _unreachable(error) from None
        except openai.OpenAIError as error:  # the base of LiteLLM's own exceptions
            raise self._failure(
                int(getattr(error, "status_code", None) or 500), str(error), retry_after_of(error)
            ) from None
        return _vectors(answer.model_dump())


def retry_after_seconds(header: str, now: datetime) -> int | None:
    """The pause in a ``Retry-After`` header (RFC 9110): whole seconds from now, rounded up; None if it is invalid."""
    try:
        if header.strip().isascii() and header.strip().isdigit():
            return int(header)
        until = parsedate_to_datetime(header)
    except ValueError:
        return None
    if until.tzinfo is None:  # "-0000", which HTTP does not send
        until = until.replace(tzinfo=UTC)
    return max(0, math.ceil((until - now).total_seconds()))


def address(config: EmbeddingConfig) -> str:
    """The URL to which cognee would send the request; it completes each provider's endpoint differently.

    Raises JobError: EMBEDDING_CONFIG for an unusable endpoint.
    """
    default = {"openai": _OPENAI, "ollama": _OLLAMA}.get(config.provider, "")
    endpoint = (config.endpoint or default).rstrip("/")
    if endpoint == _OPENAI and not config.api_key:
        raise JobError(
            "EMBEDDING_CONFIG",
            "The provider openai needs a key, and none is set.",
            remediation="Set EMBEDDING_API_KEY.",
        )
    if not endpoint.startswith(("http://", "https://")):
        raise JobError(
            "EMBEDDING_CONFIG",
            f"The provider {config.provider} needs EMBEDDING_ENDPOINT, a URL that starts with http:// or https://.",
            remediation="Set EMBEDDING_ENDPOINT.",
        )
    if config.provider == "ollama":
        return endpoint
    base = endpoint.removesuffix("/embeddings")
    if config.provider == "openai_compatible" and not base.endswith("/v1"):
        base += "/v1"
    return f"{base}/embeddings"


def retry_after_of(error: BaseException) -> str:
    """The ``Retry-After`` header in LiteLLM's error, or an empty text."""
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if headers is not None and headers.get("retry-after"):
            return str(headers["retry-after"])
    return ""


def _unreachable(error: Exception) -> JobError:
    """The error for a failed connection. It names only the class: the text may contain the address with a password."""
    kind = type(error).__name__
    return JobError("EMBEDDING_UNREACHABLE", f"The embedding provider cannot be reached ({kind}).")


def _vectors(content: Any) -> Any:
    """The vectors in an answer of the OpenAI protocol or of Ollama's, in the order of the texts; None if malformed."""
    if not isinstance(content, dict):
        return None
    if "embeddings" in content:
        return content["embeddings"]
    try:
        return [item["embedding"] for item in sorted(content["data"], key=lambda item: item.get("index", 0))]
    except (KeyError, TypeError, AttributeError):
        return None


def _complaint(content: Any) -> str:
    """The provider's error message in an answer, or an empty text."""
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else ""
