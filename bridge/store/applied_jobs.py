"""The jobs whose effects memory.db has committed: each is recorded in the transaction of its effect.

So a worker can tell whether a cancellation is too late. It reads this from a process that has not opened the store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass

from jobs.layout import Workspace

from . import database


@dataclass(frozen=True, slots=True)
class AppliedJob:
    """A job that has an effect. A later job may reuse the id; its digest then differs."""

    job_id: str
    job_sha256: str


def is_applied(workspace: Workspace, job_id: str, sha256: str) -> bool:
    """Whether the job's effect is committed.

    Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
    """
    connection = database.open_for_reading(workspace)
    if connection is None:
        return False
    with database.failing_clearly(), closing(connection):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'effects'").fetchone() is None:
            return False  # an older format, which no child process has upgraded yet
        return is_recorded(connection, AppliedJob(job_id, sha256))


def is_recorded(connection: sqlite3.Connection, effect: AppliedJob) -> bool:
    """Whether the job's effect is committed, through an open connection."""
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
