"""The table ``forgettings``: which forgettings have begun, and what they still have to remove.

It holds ids, digests and names of our own, never texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from .applied_jobs import AppliedJob

# What of a plan may still have to be removed.
_LEFT = ("jobs", "jobs_to_cancel", "rejected", "parts", "files", "stores", "data_ids")
_STORED_AS = {"jobs_to_cancel": "doomed"}  # names in the file that differ from ours
_NAMED = {stored: ours for ours, stored in _STORED_AS.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """A forgetting that has begun. ``forgotten`` are the ids that were asked for and those that go with them.

    ``jobs`` are ended jobs whose files quote them; ``jobs_to_cancel`` waiting ones that would bring one back. ``files``
    are relative to the workspace, and so are ``stores`` of earlier versions, in which ``data_ids`` are texts.
    ``rejected`` and ``parts`` are SHA-256 digests of names, since people choose these.
    """

    forgotten: tuple[str, ...]
    records_rebuilt: tuple[tuple[str, str], ...] = ()
    records_removed: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    jobs_to_cancel: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    data_ids: tuple[str, ...] = ()
    files_removed: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def tombstones(self) -> tuple[str, ...]:
        """Every id that must not come back."""
        rebuilt = (old for old, new in self.records_rebuilt if old != new)
        return (*self.forgotten, *rebuilt, *self.records_removed)

    def joined(self, others: Iterable[Plan]) -> Plan:
        """This plan with what other forgettings still have to remove."""
        found = self
        for other in others:
            for name in _LEFT:
                both: dict[str, Any] = {name: tuple(dict.fromkeys((*getattr(found, name), *getattr(other, name))))}
                found = replace(found, **both)
        return found


@dataclass(frozen=True, slots=True)
class Begun:
    """A forgetting as the table has it."""

    plan: Plan
    is_done: bool


class ForgettingReader:
    """Reads the table through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begun(self, job: AppliedJob, accepted_at: str) -> Begun | None:
        """What this job has begun in an earlier attempt; not what a former job of the same id did."""
        row = self._connection.execute(
            "SELECT plan, done_at IS NOT NULL FROM forgettings WHERE job_id = ? AND job_sha256 = ? AND accepted_at = ?",
            (job.job_id, job.job_sha256, accepted_at),
        ).fetchone()
        return None if row is None else Begun(_decoded(row[0]), bool(row[1]))

    def unfinished(self) -> list[Plan]:
        """The forgettings that have begun and not ended, also those of jobs that gave up."""
        return [plan for _, plan in _unfinished(self._connection)]


# --- writing, inside a transaction ---


def begin(connection: sqlite3.Connection, job: AppliedJob, accepted_at: str, plan: Plan, now: str) -> None:
    """Record a forgetting in the transaction that removes its memories."""
    connection.execute(
        "INSERT OR REPLACE INTO forgettings VALUES (?, ?, ?, ?, NULL, ?)",
        (job.job_id, job.job_sha256, accepted_at, now, _encoded(plan)),
    )


def finish_all(connection: sqlite3.Connection, now: str) -> None:
    """Record that no begun forgetting has left anything in the stores. Names of removed files are dropped."""
    for rowid, plan in _unfinished(connection):
        left = replace(plan, files=(), stores=(), data_ids=())
        connection.execute("UPDATE forgettings SET done_at = ?, plan = ? WHERE rowid = ?", (now, _encoded(left), rowid))


def drop_before(connection: sqlite3.Connection, at: str) -> None:
    """Drop ended forgettings that are older than any job that could still ask for them."""
    connection.execute("DELETE FROM forgettings WHERE done_at < ?", (at,))


# --- a plan as JSON ---


def _unfinished(connection: sqlite3.Connection) -> list[tuple[int, Plan]]:
    found = connection.execute("SELECT rowid, plan FROM forgettings WHERE done_at IS NULL")
    return [(rowid, _decoded(text)) for rowid, text in found.fetchall()]


def _encoded(plan: Plan) -> str:
    return json.dumps({_STORED_AS.get(name, name): value for name, value in asdict(plan).items()})


def _decoded(text: str) -> Plan:
    given = {_NAMED.get(name, name): value for name, value in json.loads(text).items()}
    found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return Plan(**found | {"records_rebuilt": tuple((old, new) for old, new in found["records_rebuilt"])})
