"""What was asked of the language model, in memory.db, and what may still be: by job and by UTC day, calls and tokens,
and what they cost where the model's price is known.

A call is noted before it is sent, with an estimate of its tokens, and corrected by what the provider reports: so
neither a crash nor a retry spends without limit. Only numbers are kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from jobs.errors import JobError

from ..settings import Settings, variable
from . import database

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, and the tokens of questions and answers; the cost in US dollars of the calls whose price is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be asked. Raised by the settings alone; 0 means nothing."""

    calls_per_job: int
    tokens_per_job: int
    calls_per_day: int
    tokens_per_day: int

    @classmethod
    def of(cls, settings: Settings) -> Budget:
        return cls(
            settings.llm_calls_per_job,
            settings.llm_tokens_per_job,
            settings.llm_calls_per_day,
            settings.llm_tokens_per_day,
        )


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was noted and not yet answered; ``estimate`` tokens stand in for its own."""

    day: str
    job_id: str
    estimate: int


class LlmUsage:
    """Over the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def of_day(self, day: str) -> Spent:
        """What was asked on a day, ``2026-11-20``."""
        return self._sum("day = ?", day)

    def of_job(self, job_id: str) -> Spent:
        """What a job asked, on whatever days."""
        return self._sum("job_id = ?", job_id)

    def _sum(self, where: str, value: str) -> Spent:
        return _sum(self._connection, where, value)

    def begin(self, job_id: str, estimate: int, budget: Budget, now: datetime) -> Call:
        """Note a call that is about to be sent. Raises LLM_BUDGET_SPENT, and notes nothing then."""
        day = _day(now)
        with database.failing_clearly(), database.transaction(self._connection):
            _require(self.of_job(job_id), self.of_day(day), budget, now)
            self._add(Call(day, job_id, estimate), Spent(1, estimate))
        return Call(day, job_id, estimate)

    def require_room(self, job_id: str, calls: int, budget: Budget, now: datetime) -> None:
        """Raises LLM_BUDGET_SPENT unless at least so many calls are left: who needs them all had better not begin."""
        job, day = self.of_job(job_id), self.of_day(_day(now))
        _require(job, day, budget, now)
        for spent, most, name, pause in (
            (job.calls, budget.calls_per_job, "llm_calls_per_job", _HOUR),
            (day.calls, budget.calls_per_day, "llm_calls_per_day", _until_tomorrow(now)),
        ):
            if spent + calls > most:
                raise JobError(
                    "LLM_BUDGET_SPENT",
                    f"The next text takes {calls} calls or more, and of {most} there are {most - spent} left"
                    f" ({variable(name)}).",
                    details={"setting": variable(name), "spent": spent, "most": most, "retry_after_seconds": pause},
                )

    def end(self, call: Call, prompt_tokens: int, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Put what the provider reports in the estimate's place."""
        with database.failing_clearly(), database.transaction(self._connection):
            self._add(call, Spent(0, prompt_tokens - call.estimate, completion_tokens, cost_usd))

    def take_back(self, call: Call) -> None:
        """The call was not served: it counts for nothing."""
        with database.failing_clearly(), database.transaction(self._connection):
            self._add(call, Spent(-1, -call.estimate))

    def _add(self, call: Call, more: Spent) -> None:
        self._connection.execute(
            "INSERT INTO llm_usage VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls,"
            " prompt_tokens = prompt_tokens + excluded.prompt_tokens,"
            " completion_tokens = completion_tokens + excluded.completion_tokens,"
            " cost_usd = coalesce(cost_usd + excluded.cost_usd, cost_usd, excluded.cost_usd)",
            (call.day, call.job_id, more.calls, more.prompt_tokens, more.completion_tokens, more.cost_usd),
        )

    def drop_before(self, now: datetime) -> int:
        """Forget the days before. Returns how many entries those were."""
        with database.transaction(self._connection):
            return self._connection.execute("DELETE FROM llm_usage WHERE day < ?", (_day(now),)).rowcount


def today(connection: sqlite3.Connection, now: datetime) -> Spent:
    """What was asked on this UTC day, for a reader."""
    return _sum(connection, "day = ?", _day(now))


def _sum(connection: sqlite3.Connection, where: str, value: str) -> Spent:
    columns = "total(calls), total(prompt_tokens), total(completion_tokens), sum(cost_usd)"
    query = f"SELECT {columns} FROM llm_usage WHERE {where}"  # noqa: S608 - constants
    calls, prompt_tokens, completion_tokens, cost = connection.execute(query, (value,)).fetchone()
    return Spent(int(calls), int(prompt_tokens), int(completion_tokens), cost)


def _require(job: Spent, day: Spent, budget: Budget, now: datetime) -> None:
    tomorrow = _until_tomorrow(now)
    for spent, most, name, whose, pause in (
        (job.calls, budget.calls_per_job, "llm_calls_per_job", "calls that this job may make", _HOUR),
        (job.tokens, budget.tokens_per_job, "llm_tokens_per_job", "tokens that this job may use", _HOUR),
        (day.calls, budget.calls_per_day, "llm_calls_per_day", "calls of this UTC day", tomorrow),
        (day.tokens, budget.tokens_per_day, "llm_tokens_per_day", "tokens of this UTC day", tomorrow),
    ):
        if spent >= most:
            raise JobError(
                "LLM_BUDGET_SPENT",
                f"{spent} of the {most} {whose} are used up ({variable(name)}).",
                details={"setting": variable(name), "spent": spent, "most": most, "retry_after_seconds": pause},
            )


def _until_tomorrow(now: datetime) -> int:
    """Seconds to the next UTC day."""
    midnight = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    return max(1, round((midnight - now).total_seconds()))


def _day(now: datetime) -> str:
    return now.astimezone(UTC).date().isoformat()


class Meter:
    """What one attempt of a job asks, within the budgets; after the first error of the provider nothing any more."""

    def __init__(self, usage: LlmUsage, settings: Settings, job_id: str, clock: Callable[[], datetime]) -> None:
        self._usage = usage
        self._budget = Budget.of(settings)
        self._job_id = job_id
        self._clock = clock
        self.settings = settings
        self.spent = Spent()
        self.failure: JobError | None = None

    def now(self) -> datetime:
        return self._clock()

    def require_room(self, calls: int) -> None:
        """Raises LLM_BUDGET_SPENT unless at least so many calls are left."""
        self._usage.require_room(self._job_id, calls, self._budget, self._clock())

    def begin(self, estimate: int) -> Call:
        """Note a call. Raises LLM_BUDGET_SPENT, or again what the first failed call raised."""
        if self.failure is not None:
            raise self.failure
        call = self._usage.begin(self._job_id, estimate, self._budget, self._clock())
        self._count(Spent(1, estimate))
        return call

    def end(self, call: Call, prompt_tokens: int | None, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Note what the answer took; the estimate stands where the provider reports nothing."""
        asked = call.estimate if prompt_tokens is None else prompt_tokens
        self._usage.end(call, asked, completion_tokens, cost_usd)
        self._count(Spent(0, asked - call.estimate, completion_tokens, cost_usd))

    def take_back(self, call: Call) -> None:
        """Note that a call was not served: who waits for a provider would else spend a budget by asking for it."""
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
