"""The usage of the language model in memory.db, by job and UTC day: calls, tokens, and cost where the price is known.

Only numbers are stored. A call is recorded before it is sent, with an estimate of its tokens; the provider's report
corrects it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from . import database
from .values import Call, Spent, day_of


class LlmUsage:
    """The usage, through the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def of_day(self, day: str) -> Spent:
        """The usage of a UTC day such as ``2026-11-20``."""
        return _sum(self._connection, "day = ?", day)

    def of_job(self, job_id: str) -> Spent:
        """The usage of a job in the last 90 days; older days are deleted."""
        return _sum(self._connection, "job_id = ?", job_id)

    def begin(self, job_id: str, estimate: int, now: datetime, require: Callable[[Spent, Spent], None]) -> Call:
        """Record a call that is about to be sent, unless ``require`` raises.

        ``require`` receives the usage of the job and of this day, in the same transaction.
        """
        day = day_of(now)
        with database.failing_clearly(), database.transaction(self._connection):
            require(self.of_job(job_id), self.of_day(day))
            self._add(Call(day, job_id, estimate), Spent(1, estimate))
        return Call(day, job_id, estimate)

    def end(self, call: Call, prompt_tokens: int, completion_tokens: int, cost_usd: float | None = None) -> None:
        """Replace the estimate by the provider's report."""
        with database.failing_clearly(), database.transaction(self._connection):
            self._add(call, Spent(0, prompt_tokens - call.estimate, completion_tokens, cost_usd))

    def take_back(self, call: Call) -> None:
        """Delete a call that was not served."""
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
        """Delete the days before. Returns how many entries."""
        with database.transaction(self._connection):
            return self._connection.execute("DELETE FROM llm_usage WHERE day < ?", (day_of(now),)).rowcount


def today(connection: sqlite3.Connection, now: datetime) -> Spent:
    """The usage of this UTC day, for a reader."""
    return _sum(connection, "day = ?", day_of(now))


def _sum(connection: sqlite3.Connection, where: str, value: str) -> Spent:
    columns = "total(calls), total(prompt_tokens), total(completion_tokens), sum(cost_usd)"
    query = f"SELECT {columns} FROM llm_usage WHERE {where}"  # noqa: S608 - constants
    calls, prompt_tokens, completion_tokens, cost = connection.execute(query, (value,)).fetchone()
    return Spent(int(calls), int(prompt_tokens), int(completion_tokens), cost)
