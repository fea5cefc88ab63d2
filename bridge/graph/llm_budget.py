"""The budgets for calls to the language model, per job and per UTC day, and the meter of one attempt.

A call is recorded before it is sent, so neither crashes nor retries can spend without limit. The records are in
``store/llm_usage``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..settings import Settings, variable
from ..store.values import Call, Spent, day_of

if TYPE_CHECKING:
    from ..store.llm_usage import LlmUsage

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits, from the settings; 0 allows no calls."""

    calls_per_job: int
    tokens_per_job: int
    calls_per_day: int
    tokens_per_day: int

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        """The budget in the settings."""
        return cls(
            settings.llm_calls_per_job,
            settings.llm_tokens_per_job,
            settings.llm_calls_per_day,
            settings.llm_tokens_per_day,
        )

    def require(self, job: Spent, day: Spent, now: datetime) -> None:
        """Raises JobError: LLM_BUDGET_SPENT when the job's or the day's budget is used up."""
        tomorrow = _until_tomorrow(now)
        for spent, most, name, whose, pause in (
            (job.calls, self.calls_per_job, "llm_calls_per_job", "calls that this job may make", _HOUR),
            (job.tokens, self.tokens_per_job, "llm_tokens_per_job", "tokens that this job may use", _HOUR),
            (day.calls, self.calls_per_day, "llm_calls_per_day", "calls of this UTC day", tomorrow),
            (day.tokens, self.tokens_per_day, "llm_tokens_per_day", "tokens of this UTC day", tomorrow),
        ):
            if spent >= most:
                raise _spent(f"{spent} of the {most} {whose} are used up", name, spent, most, pause)

    def require_room(self, calls: int, job: Spent, day: Spent, now: datetime) -> None:
        """Raises JobError: LLM_BUDGET_SPENT unless at least ``calls`` calls are left, for work that needs them all."""
        self.require(job, day, now)
        for spent, most, name, pause in (
            (job.calls, self.calls_per_job, "llm_calls_per_job", _HOUR),
            (day.calls, self.calls_per_day, "llm_calls_per_day", _until_tomorrow(now)),
        ):
            if spent + calls > most:
                left = f"The next text takes {calls} calls or more, and of {most} there are {most - spent} left"
                raise _spent(left, name, spent, most, pause)


def _spent(what: str, setting: str, spent: int, most: int, pause: int) -> JobError:
    details = {"setting": variable(setting), "spent": spent, "most": most, "retry_after_seconds": pause}
    return JobError("LLM_BUDGET_SPENT", f"{what} ({variable(setting)}).", details=details)


def _until_tomorrow(now: datetime) -> int:
    """Seconds to the next UTC day."""
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    return max(1, round((midnight - now).total_seconds()))


class Meter:
    """Counts the calls of one attempt of a job against the budgets. After the provider's first error, which ``failure``
    keeps, it allows no more calls."""

    def __init__(self, usage: LlmUsage, settings: Settings, job_id: str, clock: Callable[[], datetime]) -> None:
        self._usage = usage
        self._budget = Budget.of(settings)
        self._job_id = job_id
        self._clock = clock
        self.settings = settings
        self.spent = Spent()
        self.failure: JobError | None = None

    def now(self) -> datetime:
        """The current time."""
        return self._clock()

    def require_room(self, calls: int) -> None:
        """Raises JobError: LLM_BUDGET_SPENT unless at least ``calls`` calls are left."""
        now = self._clock()
        self._budget.require_room(calls, self._usage.of_job(self._job_id), self._usage.of_day(day_of(now)), now)

    def begin(self, estimate: int) -> Call:
        """Record a call with its estimated number of tokens.

        Raises JobError: LLM_BUDGET_SPENT, or the error of the first failed call.
        """
        if self.failure is not None:
            raise self.failure
        now = self._clock()
        call = self._usage.begin(self._job_id, estimate, now, lambda job, day: self._budget.require(job, day, now))
        self._count(Spent(1, estimate))
        return call

    def end(self, call: Call, prompt_tokens: int | None, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Record the tokens and the cost of an answer; the estimate is kept if the provider reports no tokens."""
        asked = call.estimate if prompt_tokens is None else prompt_tokens
        self._usage.end(call, asked, completion_tokens, cost_usd)
        self._count(Spent(0, asked - call.estimate, completion_tokens, cost_usd))

    def take_back(self, call: Call) -> None:
        """Remove the record of a call that was not served, so that waiting for a provider costs no budget."""
        self._usage.take_back(call)
        self._count(Spent(-1, -call.estimate))

    def _count(self, more: Spent) -> None:
        spent = self.spent
        known = [cost for cost in (spent.cost_usd, more.cost_usd) if cost is not None]
        self.spent = Spent(
            spent.calls + more.calls,
            spent.prompt_tokens + more.prompt_tokens,
            spent.completion_tokens + more.completion_tokens,
            sum(known) if known else None,
        )
