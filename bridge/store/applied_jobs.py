"""Which jobs have had their effect, as memory.db has it: a note in the effect's own transaction.

So a worker can answer truthfully whether a cancellation comes too late. It asks from a process that holds no store.
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
    """The job that has an effect: its id may be used again, its digest then differs."""

    job_id: str
    job_sha256: str


def is_applied(workspace: Workspace, job_id: str, sha256: str) -> bool:
    """Whether the job's effect is committed. Raises STORE_NEWER, STORE_UNREADABLE, STORE_BUSY."""
    connection = database.open_for_reading(workspace)
    if connection is None:
        return False
    with database.failing_clearly(), closing(connection):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'effects'").fetchone() is None:
            return False  # a store of an older format, which no child has opened since
        return is_recorded(connection, AppliedJob(job_id, sha256))


def is_recorded(connection: sqlite3.Connection, effect: AppliedJob) -> bool:
    query = "SELECT 1 FROM effects WHERE job_id = ? AND job_sha256 = ?"
    return connection.execute(query, (effect.job_id, effect.job_sha256)).fetchone() is not None


def record(connection: sqlite3.Connection, effects: Iterable[AppliedJob], at: str) -> None:
    """Note effects inside the transaction that has them."""
    connection.executemany(
        "INSERT OR IGNORE INTO effects VALUES (?, ?, ?)", [(effect.job_id, effect.job_sha256, at) for effect in effects]
    )


def drop_before(connection: sqlite3.Connection, at: str) -> int:
    """Forget notes older than any job that could still ask. Returns how many."""
    with database.transaction(connection):
        return connection.execute("DELETE FROM effects WHERE at < ?", (at,)).rowcount
