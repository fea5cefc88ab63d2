"""Maps errors of calls to a language model to the error codes of ``jobs/errors``.

LiteLLM and the clients below it have a hundred exception classes, so this looks at HTTP statuses and at all causes of
an error. No message repeats the provider's text, which may contain the key, the question or the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from jobs.errors import JobError

from ..embedding.remote_embedder import retry_after_of, retry_after_seconds

_MAX_CAUSES = 20
_WORD = re.compile(r"[a-z][a-z0-9_.\[\]-]{0,60}")  # an error code or the name of a parameter
_RETRY_LATER = re.compile(r"retry (?:in|after) \d|retryDelay", re.IGNORECASE)  # Gemini's text for a limit per minute
_NO_CREDIT = re.compile(
    r"insufficient_quota|quota_exceeded|billing hard limit|credit balance is too low|out of credits"
    r"|exceeded your current quota, please check your plan and billing",
    re.IGNORECASE,
)


def as_job_error(error: BaseException, now: datetime, model: str, timeout_seconds: float) -> JobError:
    """The JobError for the error in which a call ended: an LLM_… code or RATE_LIMITED. A JobError among its causes is
    returned as it is."""
    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, JobError):
            return cause
    import httpx

    status = _status(chain)
    if _has(chain, "ConnectTimeout", "ConnectionTimeoutError"):
        return JobError("LLM_UNREACHABLE", "The language model's provider cannot be reached (ConnectTimeout).")
    if _has(chain, "APITimeoutError", "Timeout", "TimeoutError", "ReadTimeout") or status in (408, 504):
        return JobError("LLM_TIMEOUT", f"The language model gave no whole answer within {timeout_seconds:g} seconds.")
    if _has(chain, "InvalidURL", "InvalidUrlClientError", "UnsupportedProtocol"):
        return JobError("LLM_CONFIG", "LLM_ENDPOINT is not an address.")
    for cause in chain:
        if isinstance(cause, httpx.TransportError):
            return JobError(
                "LLM_UNREACHABLE", f"The language model's provider cannot be reached ({type(cause).__name__})."
            )
    if any("LLM Provider NOT provided" in str(cause) for cause in chain):
        return JobError(
            "LLM_CONFIG",
            f"It is not known which provider serves the model {model!r}.",
            remediation="Write LLM_MODEL with its provider: openai/<model> for any server of OpenAI's kind.",
        )
    if _has(chain, "LLMAPIKeyNotSetError"):
        return JobError("LLM_NOT_CONFIGURED")
    if _has(chain, "ValidationError", "JSONDecodeError"):
        return JobError("LLM_FAILED", "The language model's answer is not of the form that was asked for.")
    return _by_status(status, chain, now, model)


def was_not_charged(error: BaseException) -> bool:
    """Whether a call that ended in this error certainly cost nothing: no connection was made, or status 429.

    httpx's ConnectError is no proof: LiteLLM also raises it for a connection that was lost after the request.
    """
    chain = list(_causes(error))
    return _status(chain) == 429 or _has(chain, "ClientConnectorError", "ConnectTimeout", "ConnectionTimeoutError")


def _by_status(status: int | None, chain: list[BaseException], now: datetime, model: str) -> JobError:
    message = f"The language model's provider answered {status}{_named(chain)}."
    texts = [_text(cause) for cause in chain]
    if status == 402 or (any(map(_NO_CREDIT.search, texts)) and not any(map(_RETRY_LATER.search, texts))):
        return JobError(
            "LLM_KEY_REFUSED",
            f"The language model's provider says that there is no credit left for this key ({status}).",
            remediation="Add credit at the provider, or set another LLM_API_KEY and restart the worker; then run:"
            " cognee-memory jobs retry <job_id>.",
        )
    codes = {code for cause in chain for code in _codes(cause)}
    if _has(chain, "ContextWindowExceededError") or codes & {"context_length_exceeded", "string_above_max_length"}:
        return JobError("LLM_TEXT_REFUSED", f"The text is too long for the language model ({status}).")
    if _has(chain, "ContentPolicyViolationError") or codes & {"content_filter", "content_policy_violation"}:
        return JobError("LLM_TEXT_REFUSED", f"The text is against the rules of the model's provider ({status}).")
    retry_after = next((header for cause in chain if (header := retry_after_of(cause))), "")
    pause = retry_after_seconds(retry_after, now)
    details: dict[str, Any] = {"status": status} if status else {}
    if pause is not None:
        details["retry_after_seconds"] = pause
    match status:
        case 401 | 403:
            return JobError("LLM_KEY_REFUSED", f"The language model's provider refuses the key ({status}).")
        case 429:
            return JobError("RATE_LIMITED", message, details=details)
        case 404:
            return JobError(
                "LLM_CONFIG", f"The provider does not know the model {model!r}, or has nothing at LLM_ENDPOINT (404)."
            )
        case 413:
            return JobError("LLM_TEXT_REFUSED", "The language model's provider refuses this text as too long (413).")
        case 400 | 405 | 422:
            return JobError("LLM_CONFIG", message, details=details)
        case None:
            name = type(chain[0]).__name__
            return JobError("LLM_FAILED", f"The language model could not be asked ({name}).")
    return JobError("LLM_FAILED", message, details=details)


def _status(chain: list[BaseException]) -> int | None:
    return next((s for cause in chain if isinstance(s := getattr(cause, "status_code", None), int)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and its chain of causes, the error first."""
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__ or cause.__context__


def _has(chain: list[BaseException], *names: str) -> bool:
    """Whether one of the errors has a class with such a name. Names, since the classes come from five libraries."""
    return any(kind.__name__ in names for cause in chain for kind in type(cause).__mro__)


def _text(error: BaseException) -> str:
    return f"{error} {getattr(error, 'body', None)}"


def _named(chain: list[BaseException]) -> str:
    """The provider's own error code and parameter in brackets: single words, no prose."""
    words = next((codes for cause in chain if (codes := _codes(cause))), [])
    return f" ({', '.join(words)})" if words else ""


def _codes(error: BaseException) -> list[str]:
    body = getattr(error, "body", None)
    if not isinstance(body, dict):
        return []
    return [word for name in ("code", "param") if isinstance(word := body.get(name), str) and _WORD.fullmatch(word)]
