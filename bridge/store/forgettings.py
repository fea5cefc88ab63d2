"""The table ``forgettings``: the forgettings that have begun, and what they still have to remove.

It holds ids, digests and names that this program chose, never texts.
"""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from .values import LEFT_TO_WORKER, AppliedJob, ForgettingState, Plan, in_any


class ForgettingReader:
    """Reads the table through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begun(self, job: AppliedJob, accepted_at: str) -> ForgettingState | None:
        """The forgetting that an earlier attempt of the job began. An earlier job of the same id does not count."""
        row = self._connection.execute(
            "SELECT plan, done_at IS NOT NULL FROM forgettings WHERE job_id = ? AND job_sha256 = ? AND accepted_at = ?",
            (job.job_id, job.job_sha256, accepted_at),
        ).fetchone()
        return None if row is None else ForgettingState(_decoded(row[0]), bool(row[1]))

    def unfinished(self) -> list[Plan]:
        """The plans of forgettings that are not done, those of failed jobs included."""
        return [plan for _, plan in _unfinished(self._connection)]


# --- writing, inside a transaction ---


def begin(connection: sqlite3.Connection, job: AppliedJob, accepted_at: str, plan: Plan, now: str) -> None:
    """Record a forgetting in the transaction that removes its memories."""
    connection.execute(
        "INSERT OR REPLACE INTO forgettings VALUES (?, ?, ?, ?, NULL, ?)",
        (job.job_id, job.job_sha256, accepted_at, now, json.dumps(plan._asdict())),
    )


def finish_all(connection: sqlite3.Connection, now: str) -> None:
    """Record that all begun forgettings are done. The names of removed files are deleted from the plans.

    Each plan gets the jobs' files of all: the worker removes these later, and asks again with any of the jobs.
    """
    unfinished = _unfinished(connection)
    plans = [plan for _, plan in unfinished]
    left_to_worker = {name: in_any(plans, name) for name in LEFT_TO_WORKER}
    for rowid, plan in unfinished:
        left = plan._replace(files=(), stores=(), data_ids=(), **left_to_worker)
        connection.execute(
            "UPDATE forgettings SET done_at = ?, plan = ? WHERE rowid = ?", (now, json.dumps(left._asdict()), rowid)
        )


def drop_before(connection: sqlite3.Connection, at: str) -> None:
    """Delete finished forgettings older than any job that could still need them."""
    connection.execute("DELETE FROM forgettings WHERE done_at < ?", (at,))


# --- a plan as JSON ---


def _unfinished(connection: sqlite3.Connection) -> list[tuple[int, Plan]]:
    found = connection.execute("SELECT rowid, plan FROM forgettings WHERE done_at IS NULL")
    return [(rowid, _decoded(text)) for rowid, text in found.fetchall()]


def _decoded(text: str) -> Plan:
    stored = json.loads(text)
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return Plan(**fields | {"records_rebuilt": tuple((old, new) for old, new in fields["records_rebuilt"])})
