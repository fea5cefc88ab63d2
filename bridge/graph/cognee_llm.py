"""The gate for all calls to the language model, by cognee and by us.

cognee calls LiteLLM's ``acompletion``, which this module replaces. The gate rejects calls without a meter, counts each
call against the budget before it is sent, limits its total time, redacts secrets, and disables all retries below it.
So one request is one counted call, and a job that has to wait does so in the queue. Budgets are in
``store/llm_usage``.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import litellm
from cognee.infrastructure.llm import openai_type_cache
from cognee.infrastructure.llm.config import get_llm_config
from cognee.infrastructure.llm.LLMGateway import LLMGateway
from cognee.infrastructure.llm.structured_output_framework.litellm_native import native_adapter
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
from litellm.llms.ollama.common_utils import OllamaModelInfo
from pydantic import BaseModel

from jobs.errors import JobError

from ..privacy import redaction
from . import cognee_process, llm_failures
from .llm_budget import Meter

openai_type_cache.install()  # what cognee does at its own import, when OpenAI's client is not there yet

T = TypeVar("T")
Shape = TypeVar("Shape", bound=BaseModel)

CONNECT_SECONDS = 10.0
_MAX_ANSWERS = 2  # per question: the first, and one more after an answer of the wrong form
_BYTES_PER_TOKEN = 4  # in English; used until the provider reports the number of tokens


@dataclass(slots=True)
class _Question:
    """One question. It may take several calls to get an answer of the requested form."""

    meter: Meter
    answers: int = 0
    estimate: int = 0  # tokens of its last call


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)
_question: ContextVar[_Question | None] = ContextVar("question", default=None)


async def metered(meter: Meter, work: Awaitable[T]) -> T:
    """Run cognee's work with a job's meter, so that it may call the language model.

    Raises the provider's first error as a JobError, whatever cognee wrapped it into. There are no further calls after
    that error.
    """
    token = _meter.set(meter)
    try:
        return await work
    except Exception as error:
        if meter.failure is not None and error is not meter.failure:
            raise meter.failure from error
        raise
    finally:
        _meter.reset(token)


def ask(meter: Meter, system: str, user: str, shape: type[Shape], pause: Callable[[], None] = lambda: None) -> Shape:
    """The model's answer, in the form ``shape``. While it waits, it calls ``pause`` twice a second; other jobs may run
    in there.

    Raises JobError: LLM_… codes, and RATE_LIMITED.
    """

    answer = metered(meter, LLMGateway.acreate_structured_output(user, system, shape))
    task: asyncio.Task[Shape] = cognee_process.start(answer)
    return cognee_process.result_of(task, pause)


# --- the gate ---


def _gate(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def acompletion(*arguments: Any, **options: Any) -> Any:
        question = _question.get()
        if question is None:
            raise JobError("LLM_NOT_CONFIGURED", "cognee wanted to ask a language model on behalf of no job.")
        if question.answers >= _MAX_ANSWERS:
            raise JobError("LLM_FAILED", "The language model's answer is not of the form that was asked for, twice.")
        meter, seconds = question.meter, question.meter.settings.llm_timeout_seconds
        redacts = meter.settings.redact_secrets
        if redacts and "messages" in options:
            options["messages"] = _without_secrets(options["messages"])
        question.estimate = _estimate(options.get("messages"))
        call = meter.begin(question.estimate)
        options |= {
            "max_retries": 0,
            "num_retries": 0,
            "timeout": httpx.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
        }
        try:
            async with asyncio.timeout(seconds):  # for the whole call; the client's own timeout restarts with each byte
                answer = await send(*arguments, **options)
        except Exception as error:
            if llm_failures.was_not_charged(error):
                meter.take_back(call)
            raise
        question.answers += 1
        usage = getattr(answer, "usage", None)
        tokens = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None) or 0
        meter.end(call, *tokens, _cost_usd(answer))
        if redacts:
            _redact_answer(answer)
        return answer

    return acompletion


def _without_secrets(messages: Any) -> Any:
    """The messages without secrets, since a memory may be older than redaction. System messages are not changed."""
    return [
        message if message.get("role") == "system" else redaction.redact_value(message)[0] for message in messages or ()
    ]


def _redact_answer(answer: Any) -> None:
    """Redact the model's answer in place, whether JSON or prose, since answers are stored."""
    for choice in getattr(answer, "choices", None) or ():
        message = getattr(choice, "message", None)
        if message is not None and isinstance(text := getattr(message, "content", None), str):
            message.content = redaction.redact(text).text


def _cost_usd(answer: Any) -> float | None:
    """The cost by LiteLLM's price list; None for a model that it does not list."""
    try:
        return float(litellm.completion_cost(completion_response=answer))
    except Exception:  # any failure: a missing price must not lose the answer
        return None


def _counted(send_again: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Counts the request that LiteLLM's own client sends again after a lost connection, since it is a call too."""

    async def single_connection_post_request(*arguments: Any, **options: Any) -> Any:
        if question := _question.get():
            question.meter.begin(question.estimate)
        return await send_again(*arguments, **options)

    return single_connection_post_request


def _one_question(asked: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def acreate_structured_output(*arguments: Any, **options: Any) -> Any:
        meter = _meter.get()
        if meter is None:
            raise JobError("LLM_NOT_CONFIGURED", "cognee wanted to ask a language model on behalf of no job.")
        token = _question.set(_Question(meter))
        try:
            return await asked(*arguments, **options)
        except Exception as error:  # cognee and the clients below it raise many classes
            if meter.failure is None:
                seconds = meter.settings.llm_timeout_seconds
                meter.failure = llm_failures.as_job_error(error, meter.now(), get_llm_config().llm_model, seconds)
            raise meter.failure from None  # the cause's text may contain the key, the question and the answer
        finally:
            _question.reset(token)

    return acreate_structured_output


def _not_looked_up(*_: Any, **__: Any) -> None:
    """Replaces LiteLLM's query to the local Ollama about the model, which may run elsewhere."""


async def _refused(*_: Any, **__: Any) -> Any:
    raise JobError("LLM_CONFIG", "Only texts are given to a language model; nothing is transcribed.")


def _estimate(messages: Any) -> int:
    return sum(len(str(message.get("content"))) for message in messages or ()) // _BYTES_PER_TOKEN


litellm.suppress_debug_info = True  # LiteLLM would print advice
litellm.acompletion = _gate(litellm.acompletion)
litellm.atranscription = _refused
AsyncHTTPHandler.single_connection_post_request = _counted(AsyncHTTPHandler.single_connection_post_request)
OllamaModelInfo.get_model_info = _not_looked_up
_Adapter = native_adapter.NativeLiteLLMAdapter
# Without the decorator that retries for four minutes.
_Adapter.acreate_structured_output = _one_question(inspect.unwrap(_Adapter.acreate_structured_output))
native_adapter._MAX_VALIDATION_RETRIES = _MAX_ANSWERS
