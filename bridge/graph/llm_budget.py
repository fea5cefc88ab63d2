"""The budgets for calls to the language model, per job and per UTC day, and the meter of one attempt.

A call is recorded before it is sent, so neither crashes nor retries can spend without limit. The records are in
``store/llm_usage``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from jobs.errors import JobError

from ..settings import Settings, variable
from ..store.values import Call, Spent, day_of

if TYPE_CHECKING:
    from ..store.llm_usage import LlmUsage

_HOUR = 3600


def require(settings: Settings, job: Spent, day: Spent, now: datetime, calls: int = 0) -> None:
    """Raises JobError: LLM_BUDGET_SPENT when the job's or the day's budget is used up, or has less than ``calls`` calls
    left, for work that needs them all. A limit of 0 allows no calls."""
    tomorrow = _until_tomorrow(now)
    for spent, name, whose, pause in (
        (job.calls, "llm_calls_per_job", "calls that this job may make", _HOUR),
        (job.tokens, "llm_tokens_per_job", "tokens that this job may use", _HOUR),
        (day.calls, "llm_calls_per_day", "calls of this UTC day", tomorrow),
        (day.tokens, "llm_tokens_per_day", "tokens of this UTC day", tomorrow),
    ):
        most = getattr(settings, name)
        if spent >= most:
            raise _spent(f"{spent} of the {most} {whose} are used up", name, spent, most, pause)
        if whose.startswith("calls") and spent + calls > most:
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
        require(self.settings, self._usage.of_job(self._job_id), self._usage.of_day(day_of(now)), now, calls)

    def begin(self, estimate: int) -> Call:
        """Record a call with its estimated number of tokens.

        Raises JobError: LLM_BUDGET_SPENT, or the error of the first failed call.
        """
        if self.failure is not None:
            raise self.failure
        now = self._clock()
        call = self._usage.begin(self._job_id, estimate, now, lambda job, day: require(self.settings, job, day, now))
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
