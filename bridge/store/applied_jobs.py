"""The jobs whose effects memory.db has committed: each is recorded in the transaction of its effect.

So the worker can tell, through a reader of its own, whether a cancellation is too late.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from . import database
from .values import AppliedJob


def is_recorded(connection: sqlite3.Connection, effect: AppliedJob) -> bool:
    """Whether the job's effect is committed."""
    query = "SELECT 1 FROM effects WHERE job_id = ? AND job_sha256 = ?"
    return connection.execute(query, (effect.job_id, effect.job_sha256)).fetchone() is not None


def record(connection: sqlite3.Connection, effects: Iterable[AppliedJob], at: str) -> None:
    """Record applied jobs, inside the transaction of their effect."""
    connection.executemany(
        "INSERT OR IGNORE INTO effects VALUES (?, ?, ?)", [(effect.job_id, effect.job_sha256, at) for effect in effects]
    )


def drop_before(connection: sqlite3.Connection, at: str) -> int:
    """Delete records older than any job that could still need them. Returns how many."""
    with database.transaction(connection):
        return connection.execute("DELETE FROM effects WHERE at < ?", (at,)).rowcount
