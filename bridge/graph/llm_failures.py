"""What went wrong between cognee and a language model's provider, as an error of the table.

LiteLLM and the clients below it have a hundred exceptions; their statuses and causes are looked at, whatever wraps
them. No message repeats what the provider said: it may hold the key, the question or the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from jobs.errors import JobError

from ..embedding.remote_embedder import retry_after_of, retry_after_seconds

_MOST_CAUSES = 20
_WORD = re.compile(r"[a-z][a-z0-9_.\[\]-]{0,60}")  # an error code or the name of a parameter
_COME_AGAIN = re.compile(r"retry (?:in|after) \d|retryDelay", re.IGNORECASE)  # said of a limit a minute, by Gemini
_NO_CREDIT = re.compile(
    r"insufficient_quota|quota_exceeded|billing hard limit|credit balance is too low|out of credits"
    r"|exceeded your current quota, please check your plan and billing",
    re.IGNORECASE,
)


def as_job_error(error: BaseException, now: datetime, model: str, timeout_seconds: float) -> JobError:
    """The error of the table for one that a call ended in."""
    chain = list(_causes(error))
    for each in chain:
        if isinstance(each, JobError):
            return each
    import httpx

    status = _status(chain)
    if _has(chain, "ConnectTimeout", "ConnectionTimeoutError"):
        return JobError("LLM_UNREACHABLE", "The language model's provider cannot be reached (ConnectTimeout).")
    if _has(chain, "APITimeoutError", "Timeout", "TimeoutError", "ReadTimeout") or status in (408, 504):
        return JobError("LLM_TIMEOUT", f"The language model gave no whole answer within {timeout_seconds:g} seconds.")
    if _has(chain, "InvalidURL", "InvalidUrlClientError", "UnsupportedProtocol"):
        return JobError("LLM_CONFIG", "LLM_ENDPOINT is not an address.")
    for each in chain:
        if isinstance(each, httpx.TransportError):
            return JobError(
                "LLM_UNREACHABLE", f"The language model's provider cannot be reached ({type(each).__name__})."
            )
    if any("LLM Provider NOT provided" in str(each) for each in chain):
        return JobError(
            "LLM_CONFIG",
            f"Nobody knows which provider serves the model {model!r}.",
            remediation="Write LLM_MODEL with its provider: openai/<model> for any server of OpenAI's kind.",
        )
    if _has(chain, "LLMAPIKeyNotSetError"):
        return JobError("LLM_NOT_CONFIGURED")
    if _has(chain, "ValidationError", "JSONDecodeError"):
        return JobError("LLM_FAILED", "The language model's answer is not of the form that was asked for.")
    return _by_status(status, chain, now, model)


def was_not_charged(error: BaseException) -> bool:
    """Whether a call that ended in the error surely cost nothing: nobody was reached, or it was put off.

    httpx's ConnectError is not enough: LiteLLM makes one of a connection that was cut after the request as well.
    """
    chain = list(_causes(error))
    return _status(chain) == 429 or _has(chain, "ClientConnectorError", "ConnectTimeout", "ConnectionTimeoutError")


def _by_status(status: int | None, chain: list[BaseException], now: datetime, model: str) -> JobError:
    said = f"The language model's provider answered {status}{_named(chain)}."
    texts = [_text(each) for each in chain]
    if status == 402 or (any(map(_NO_CREDIT.search, texts)) and not any(map(_COME_AGAIN.search, texts))):
        return JobError(
            "LLM_KEY_REFUSED",
            f"The language model's provider says that there is no credit left for this key ({status}).",
            remediation="Add credit at the provider, or set another LLM_API_KEY and restart the worker; then run:"
            " cognee-memory jobs retry <job_id>.",
        )
    codes = {code for each in chain for code in _codes(each)}
    if _has(chain, "ContextWindowExceededError") or codes & {"context_length_exceeded", "string_above_max_length"}:
        return JobError("LLM_TEXT_REFUSED", f"The text is too long for the language model ({status}).")
    if _has(chain, "ContentPolicyViolationError") or codes & {"content_filter", "content_policy_violation"}:
        return JobError("LLM_TEXT_REFUSED", f"The text is against the rules of the model's provider ({status}).")
    asked = next((found for each in chain if (found := retry_after_of(each))), "")
    pause = retry_after_seconds(asked, now)
    details: dict[str, Any] = {"status": status} if status else {}
    if pause is not None:
        details["retry_after_seconds"] = pause
    match status:
        case 401 | 403:
            return JobError("LLM_KEY_REFUSED", f"The language model's provider refuses the key ({status}).")
        case 429:
            return JobError("RATE_LIMITED", said, details=details)
        case 404:
            return JobError(
                "LLM_CONFIG", f"The provider does not know the model {model!r}, or has nothing at LLM_ENDPOINT (404)."
            )
        case 413:
            return JobError("LLM_TEXT_REFUSED", "The language model's provider refuses this text as too long (413).")
        case 400 | 405 | 422:
            return JobError("LLM_CONFIG", said, details=details)
        case None:
            name = type(chain[0]).__name__
            return JobError("LLM_FAILED", f"The language model could not be asked ({name}).")
    return JobError("LLM_FAILED", said, details=details)


def _status(chain: list[BaseException]) -> int | None:
    return next((s for each in chain if isinstance(s := getattr(each, "status_code", None), int)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it came from, and so on."""
    found: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


def _has(chain: list[BaseException], *names: str) -> bool:
    """Whether one of the errors is of a class of such a name: their classes come from five libraries."""
    return any(kind.__name__ in names for each in chain for kind in type(each).__mro__)


def _text(error: BaseException) -> str:
    return f"{error} {getattr(error, 'body', None)}"


def _named(chain: list[BaseException]) -> str:
    """The provider's own code for the error, and the parameter that it is about: single words, no prose."""
    words = next((found for each in chain if (found := _codes(each))), [])
    return f" ({', '.join(words)})" if words else ""


def _codes(error: BaseException) -> list[str]:
    body = getattr(error, "body", None)
    if not isinstance(body, dict):
        return []
    return [word for name in ("code", "param") if isinstance(word := body.get(name), str) and _WORD.fullmatch(word)]
