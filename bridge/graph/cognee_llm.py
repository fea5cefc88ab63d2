"""The one door to the language model: cognee's own gateway, and a gate that all its calls go through.

cognee asks through LiteLLM's ``acompletion``. The gate stands in its place: it lets nobody ask who has no meter, notes
each call within the budget before it is sent, bounds its time as a whole, and has nothing below it try again: a
request is a call, and a job that is to wait waits outside.
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
from cognee.infrastructure.llm.config import get_llm_config
from cognee.infrastructure.llm.LLMGateway import LLMGateway
from cognee.infrastructure.llm.structured_output_framework.litellm_native import native_adapter
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
from litellm.llms.ollama.common_utils import OllamaModelInfo
from pydantic import BaseModel

from jobs.errors import JobError

from ..privacy import redaction
from ..slices import SLICE_SECONDS
from ..store.llm_usage import Meter
from . import cognee_process, llm_failures

T = TypeVar("T")
Shape = TypeVar("Shape", bound=BaseModel)

CONNECT_SECONDS = 10.0
_MOST_ANSWERS = 2  # to one question: the first, and one more after an answer that was not of the form
_BYTES_PER_TOKEN = 4  # of English; noted until the provider says how many there were


@dataclass(slots=True)
class _Question:
    """One question of cognee's: it may take several calls until there is an answer of the wanted form."""

    meter: Meter
    answers: int = 0
    estimate: int = 0  # of its last call's tokens


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)
_question: ContextVar[_Question | None] = ContextVar("question", default=None)


async def metered(meter: Meter, work: Awaitable[T]) -> T:
    """Do work of cognee's that asks the language model, at the expense of a job.

    The first error of the provider is raised as it was, whatever cognee made of it; nothing is asked after it.
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
    """The model's answer in a form. Twice a second, while it thinks, ``pause`` is called: others may work in there.

    Raises the errors of ``LLM_…``, and RATE_LIMITED.
    """

    async def begun() -> asyncio.Task[Shape]:
        return asyncio.ensure_future(metered(meter, LLMGateway.acreate_structured_output(user, system, shape)))

    task = cognee_process.run(begun())
    try:
        while not task.done():
            cognee_process.run(asyncio.wait({task}, timeout=SLICE_SECONDS))
            if not task.done():
                pause()
        return task.result()
    finally:
        if task.cancel():
            cognee_process.run(asyncio.wait({task}))


# --- the gate ---


def _gate(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    async def acompletion(*arguments: Any, **options: Any) -> Any:
        question = _question.get()
        if question is None:
            raise JobError("LLM_NOT_CONFIGURED", "cognee wanted to ask a language model on behalf of no job.")
        if question.answers >= _MOST_ANSWERS:
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
            async with asyncio.timeout(seconds):  # of the whole: the client's own is for each byte
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
    """What is asked, without secrets: a memory may be older than the search for them. Instructions stay."""
    return [
        message if message.get("role") == "system" else redaction.redact_value(message)[0] for message in messages or ()
    ]


def _redact_answer(answer: Any) -> None:
    """In place, as it is JSON or prose: what a model says is stored."""
    for choice in getattr(answer, "choices", None) or ():
        message = getattr(choice, "message", None)
        if message is not None and isinstance(said := getattr(message, "content", None), str):
            message.content = redaction.redact(said).text


def _cost_usd(answer: Any) -> float | None:
    """By the price list that LiteLLM brings, for the model of that name; None for one that it does not know."""
    try:
        return float(litellm.completion_cost(completion_response=answer))
    except Exception:  # whatever it meets: a price is no reason for an answer to be lost
        return None


def _counted(send_again: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """LiteLLM's own client sends a request once more where the connection was cut: that is a call as well."""

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
        except Exception as error:
            if meter.failure is None:
                seconds = meter.settings.llm_timeout_seconds
                meter.failure = llm_failures.as_job_error(error, meter.now(), get_llm_config().llm_model, seconds)
            raise meter.failure from None  # the cause's text may hold the key, the question and the answer
        finally:
            _question.reset(token)

    return acreate_structured_output


def _not_looked_up(*_: Any, **__: Any) -> None:
    """LiteLLM would ask Ollama on this machine about the model, wherever the model is."""


async def _refused(*_: Any, **__: Any) -> Any:
    raise JobError("LLM_CONFIG", "Only texts are given to a language model; nothing is transcribed.")


def _estimate(messages: Any) -> int:
    return sum(len(str(message.get("content"))) for message in messages or ()) // _BYTES_PER_TOKEN


litellm.suppress_debug_info = True  # it would print advice
litellm.acompletion = _gate(litellm.acompletion)
litellm.atranscription = _refused
AsyncHTTPHandler.single_connection_post_request = _counted(AsyncHTTPHandler.single_connection_post_request)
OllamaModelInfo.get_model_info = _not_looked_up
_Adapter = native_adapter.NativeLiteLLMAdapter
# Without the decorator that tries again for four minutes.
_Adapter.acreate_structured_output = _one_question(inspect.unwrap(_Adapter.acreate_structured_output))
native_adapter._MAX_VALIDATION_RETRIES = _MOST_ANSWERS
