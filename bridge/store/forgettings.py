"""The table ``forgettings``: the forgettings that have begun, and what they still have to remove.

It holds ids, digests and names that this program chose, never texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from .applied_jobs import AppliedJob

# The fields of a plan that may still have to be removed: the worker removes the first ones, the child the others.
_LEFT_TO_WORKER = ("jobs", "jobs_to_cancel", "rejected", "parts")
_LEFT = (*_LEFT_TO_WORKER, "files", "stores", "data_ids")
_STORED_AS = {"jobs_to_cancel": "doomed"}  # field -> its name in the stored JSON, where that differs
_NAMED = {stored: ours for ours, stored in _STORED_AS.items()}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a forgetting removes. ``forgotten`` are the requested ids, with originals and conversions.

    ``jobs`` are ended jobs whose files quote the memories; ``jobs_to_cancel`` are waiting ones that would store one
    again. ``files`` are paths relative to the workspace, as are ``stores`` of earlier versions, in which ``data_ids``
    are texts. ``rejected`` and ``parts`` are SHA-256 digests of file names, since people choose these.
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
        """Every id that must not be stored again by an earlier job."""
        rebuilt = (old for old, new in self.records_rebuilt if old != new)
        return (*self.forgotten, *rebuilt, *self.records_removed)

    def joined(self, others: Iterable[Plan]) -> Plan:
        """This plan, with what the other plans still have to remove."""
        plans = [self, *others]
        return replace(self, **{name: _in_any(plans, name) for name in _LEFT})


def _in_any(plans: Iterable[Plan], name: str) -> Any:
    """The values that a field has in any of the plans, each once."""
    return tuple(dict.fromkeys(value for plan in plans for value in getattr(plan, name)))


@dataclass(frozen=True, slots=True)
class Begun:
    """A forgetting in the table; ``is_done`` once the stores hold nothing of it."""

    plan: Plan
    is_done: bool


class ForgettingReader:
    """Reads the table through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def begun(self, job: AppliedJob, accepted_at: str) -> Begun | None:
        """The forgetting that an earlier attempt of the job began. An earlier job of the same id does not count."""
        row = self._connection.execute(
            "SELECT plan, done_at IS NOT NULL FROM forgettings WHERE job_id = ? AND job_sha256 = ? AND accepted_at = ?",
            (job.job_id, job.job_sha256, accepted_at),
        ).fetchone()
        return None if row is None else Begun(_decoded(row[0]), bool(row[1]))

    def unfinished(self) -> list[Plan]:
        """The plans of forgettings that are not done, those of failed jobs included."""
        return [plan for _, plan in _unfinished(self._connection)]


# --- writing, inside a transaction ---


def begin(connection: sqlite3.Connection, job: AppliedJob, accepted_at: str, plan: Plan, now: str) -> None:
    """Record a forgetting in the transaction that removes its memories."""
    connection.execute(
        "INSERT OR REPLACE INTO forgettings VALUES (?, ?, ?, ?, NULL, ?)",
        (job.job_id, job.job_sha256, accepted_at, now, _encoded(plan)),
    )


def finish_all(connection: sqlite3.Connection, now: str) -> None:
    """Record that all begun forgettings are done. The names of removed files are deleted from the plans.

    Each plan gets the jobs' files of all: the worker removes these later, and asks again with any of the jobs.
    """
    unfinished = _unfinished(connection)
    plans = [plan for _, plan in unfinished]
    left_to_worker = {name: _in_any(plans, name) for name in _LEFT_TO_WORKER}
    for rowid, plan in unfinished:
        left = replace(plan, files=(), stores=(), data_ids=(), **left_to_worker)
        connection.execute("UPDATE forgettings SET done_at = ?, plan = ? WHERE rowid = ?", (now, _encoded(left), rowid))


def drop_before(connection: sqlite3.Connection, at: str) -> None:
    """Delete finished forgettings older than any job that could still need them."""
    connection.execute("DELETE FROM forgettings WHERE done_at < ?", (at,))


# --- a plan as JSON ---


def _unfinished(connection: sqlite3.Connection) -> list[tuple[int, Plan]]:
    found = connection.execute("SELECT rowid, plan FROM forgettings WHERE done_at IS NULL")
    return [(rowid, _decoded(text)) for rowid, text in found.fetchall()]


def _encoded(plan: Plan) -> str:
    return json.dumps({_STORED_AS.get(name, name): value for name, value in asdict(plan).items()})


def _decoded(text: str) -> Plan:
    stored = {_NAMED.get(name, name): value for name, value in json.loads(text).items()}
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return Plan(**fields | {"records_rebuilt": tuple((old, new) for old, new in fields["records_rebuilt"])})
