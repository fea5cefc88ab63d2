"""The jobs of shared workspaces: any machine posts them, a pool that holds the workspace's lease runs them, and the
machines on which they were dropped get their records.

A record is stepped by ``jobs.lifecycle`` alone, with the server's clock; this module reads and writes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from jobs import clock, lifecycle
from jobs.errors import SLIPS, JobError
from jobs.kinds import NEEDS_GRAPH, Kind, attaches
from jobs.model import Job, Record, canonical_json, encode
from jobs.parse import parse_job
from jobs.scrub import without_texts

from . import attachments, leases
from .fields import Id, JobId, JsonRecord, Node, Number, PostedJob
from .leases import Lease

if TYPE_CHECKING:
    from .server import Connection

Posted = Literal["posted", "known", "other", "unattached"]
_MOST_REPORTS = 200
MOST_FAILED = 50
"""Of the failed jobs, those that an operator sees at once."""


@dataclass(frozen=True, slots=True)
class SharedJob:
    """A job and its record. ``job`` is as ``Job.as_dict``; None once it has ended and was reported."""

    record: Record
    job: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Report:
    """A record that changed since the machine has seen it. ``version`` is for ``acknowledge``."""

    record: JsonRecord
    version: Number


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed, of any machine: who asked for it last, why it failed and when. Never a text."""

    job_id: str
    kind: str
    asked_by: str
    error_code: str | None
    failed_at: datetime


def now(connection: Connection) -> datetime:
    """The server's time, by which leases and jobs are timed."""
    row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    return row[0]  # type: ignore[no-any-return]


# --- the machines that ask ---


def post(
    connection: Connection,
    workspace_id: Id,
    node: Node,
    jobs: Annotated[Sequence[PostedJob], Field(max_length=256)],
) -> dict[str, Posted]:
    """Post jobs that a machine has accepted, in one transaction. A job that ended and was asked for again is posted
    with its next generation. Posting twice is posting once. None counts as submitted or accepted later than now, so
    that a machine whose clock is ahead is not always the last.

    Returns for each id whether it is "posted", "known" already, that of an "other" job, which is not touched, or
    "unattached": it is posted again once what it needs of its machine's files is attached. Raises JobError:
    TEAM_NOT_SHARED for a workspace that is not known yet.
    """
    told: dict[str, Posted] = {}
    with connection.transaction():
        locked = connection.execute("SELECT 1 FROM workspaces WHERE id = %s FOR NO KEY UPDATE", (workspace_id,))
        if locked.fetchone() is None:
            raise JobError("TEAM_NOT_SHARED", "The team's database does not know this workspace yet.")
        at = now(connection)
        jobs = [_not_in_future(job, record, at) for job, record in jobs]
        for job, record in jobs:
            told[record.job_id] = _post(connection, workspace_id, node, job, record)
            if told[record.job_id] in ("posted", "known"):
                connection.execute(
                    "INSERT INTO job_askers (node, workspace_id, job_id, reported) VALUES (%s, %s, %s, %s)"
                    " ON CONFLICT DO NOTHING",
                    (node, workspace_id, record.job_id, int(told[record.job_id] == "posted")),
                )
        new = [record for _, record in jobs if told[record.job_id] == "posted"]
        if new:
            connection.execute(
                "UPDATE workspaces SET priority = greatest(priority, %s),"
                " due_at = least(coalesce(due_at, 'infinity'), %s::timestamptz) WHERE id = %s",
                (max(record.priority for record in new), min(map(_due_at, new)), workspace_id),
            )
    return told


def submit(connection: Connection, workspace_id: str, kind: Kind, payload: dict[str, Any], job_id: str) -> None:
    """Post a job of the team itself, which no machine asked for."""
    file = {"schema_version": 1, "job_id": job_id, "kind": kind, "payload": payload, "submitted_by": "worker"}
    job = parse_job(job_id, encode(file))
    with connection.transaction():
        post(connection, workspace_id, "", [(job, lifecycle.accept(job, now(connection)))])
        connection.execute("DELETE FROM job_askers WHERE node = '' AND workspace_id = %s", (workspace_id,))


_POST = """
INSERT INTO jobs AS former
    (workspace_id, job_id, job_sha256, kind, needs_graph, asked_by, priority, state, due_at, expires_at, job, record)
VALUES (%s, %s, %s, %s, %s, %s, %s, 'waiting', %s, %s, %s, %s)
ON CONFLICT (workspace_id, job_id) DO UPDATE SET
    asked_by = excluded.asked_by,
    priority = excluded.priority, state = 'waiting', due_at = excluded.due_at, expires_at = excluded.expires_at,
    job = excluded.job, record = excluded.record, version = former.version + 1, is_cancel_requested = false,
    changed_at = clock_timestamp()
"""
_FORMER = """
SELECT job_sha256, state, (record->>'generation')::integer FROM jobs WHERE workspace_id = %s AND job_id = %s
"""


def _post(connection: Connection, workspace_id: str, node: str, job: Job, record: Record) -> Posted:
    if record.state == "running":  # a database that was restored may not have it: then it waits again
        record = replace(record, state="queued")
    former = connection.execute(_FORMER, (workspace_id, record.job_id)).fetchone()
    if former is not None:
        digest, state, generation = former
        if digest != record.job_sha256:
            return "other"
        if state != "ended" or generation >= record.generation:
            return "known"
    if attaches(job.kind, job.payload) and attachments.whole(connection, workspace_id, record.job_id) is None:
        return "unattached"
    values = (
        workspace_id, record.job_id, record.job_sha256, record.kind, record.kind in NEEDS_GRAPH, node,
        record.priority, _due_at(record), record.expires_at, _json(job.as_dict()), _json(record.as_dict()),
    )  # fmt: skip
    connection.execute(_POST, values)
    return "posted"


def _not_in_future(job: Job, record: Record, at: datetime) -> tuple[Job, Record]:
    accepted_at, submitted_at = _not_after(record.accepted_at, at), _not_after(job.submitted_at, at)
    timed = replace(record, accepted_at=accepted_at, submitted_at=_not_after(record.submitted_at, at))
    return replace(job, submitted_at=submitted_at), timed


def _not_after(moment: str | None, at: datetime) -> str | None:
    return clock.iso(at) if moment is not None and clock.parse(moment) > at else moment


def reports(connection: Connection, node: Node, workspace_id: Id) -> list[Report]:
    """The records that changed since this machine has seen them, for its own jobs in the workspace."""
    found = connection.execute(
        "SELECT record, version FROM job_askers JOIN jobs USING (workspace_id, job_id)"
        " WHERE node = %s AND workspace_id = %s AND reported < version ORDER BY seq LIMIT %s",
        (node, workspace_id, _MOST_REPORTS),
    )
    return [Report(Record.from_dict(record), version) for record, version in found]


def acknowledge(
    connection: Connection,
    node: Node,
    workspace_id: Id,
    seen: Annotated[Sequence[Report], Field(max_length=1000)],
) -> None:
    """Note that the machine has these records. Once all machines that asked have its end, a job keeps no text."""
    with connection.transaction():
        for report in seen:
            record, version = report.record, report.version
            which = (node, workspace_id, record.job_id)
            if not record.ended:
                connection.execute(
                    "UPDATE job_askers SET reported = %s WHERE node = %s AND workspace_id = %s AND job_id = %s",
                    (version, *which),
                )
                continue
            connection.execute("DELETE FROM job_askers WHERE node = %s AND workspace_id = %s AND job_id = %s", which)
            connection.execute(
                "UPDATE jobs SET job = NULL, record = %s WHERE workspace_id = %s AND job_id = %s AND version = %s"
                " AND NOT EXISTS (SELECT 1 FROM job_askers WHERE workspace_id = %s AND job_id = %s)",
                (_json(without_texts(record).as_dict()), *which[1:], version, *which[1:]),
            )


Cancellation = Literal["cancelled", "running", "too late", "ended"]


def cancel(connection: Connection, workspace_id: Id, job_id: JobId) -> Cancellation:
    """Cancel a job that waits; one that runs is marked, for the worker that runs it."""
    with connection.transaction():
        connection.execute("SELECT 1 FROM workspaces WHERE id = %s FOR NO KEY UPDATE", (workspace_id,))
        found = connection.execute(
            "SELECT record FROM jobs WHERE workspace_id = %s AND job_id = %s", (workspace_id, job_id)
        ).fetchone()
        record = None if found is None else Record.from_dict(found[0])
        if record is None or record.ended:
            return "ended"
        if is_committed(connection, workspace_id, record):
            return "too late"
        if record.state == "running":
            connection.execute(
                "UPDATE jobs SET is_cancel_requested = true WHERE workspace_id = %s AND job_id = %s",
                (workspace_id, job_id),
            )
            return "running"
        _write(connection, workspace_id, [lifecycle.step(record, lifecycle.Cancelled(), now(connection))])
        return "cancelled"


# --- what operators see ---

_SLIPS = ", ".join(f"'{code}'" for code in sorted(SLIPS))
HAS_FAILED = f"record->>'state' = 'failed' AND coalesce(record->'error'->>'code', '') NOT IN ({_SLIPS})"
_FAILED = f"""
SELECT job_id, kind, asked_by, record->'error'->>'code', changed_at FROM jobs
WHERE workspace_id = %s AND {HAS_FAILED} ORDER BY changed_at DESC, job_id LIMIT %s
"""  # noqa: S608 - constants
_DISMISS = f"""
DELETE FROM jobs WHERE workspace_id = %s AND {HAS_FAILED} AND (%s::text[] IS NULL OR job_id = ANY(%s::text[]))
    AND NOT EXISTS (SELECT 1 FROM job_askers AS a WHERE a.workspace_id = jobs.workspace_id AND a.job_id = jobs.job_id)
"""  # noqa: S608 - constants


def failed(
    connection: Connection, workspace_id: Id, limit: Annotated[int, Field(gt=0, le=MOST_FAILED)]
) -> list[FailedJob]:
    """The workspace's failed jobs, the last one first. Those that run again are left out, and persons' slips."""
    found = connection.execute(_FAILED, (workspace_id, limit))
    return [FailedJob(*row) for row in found]


def dismiss(
    connection: Connection, workspace_id: Id, job_ids: Annotated[Sequence[JobId], Field(max_length=1000)] | None
) -> int:
    """Remove these failed jobs, or all, from what operators see; of the memories nothing changes. One whose end its
    machine does not know yet stays. Returns how many were removed."""
    ids = None if job_ids is None else list(job_ids)
    return connection.execute(_DISMISS, (workspace_id, ids, ids)).rowcount


# --- the worker that holds the lease ---


_DUE = f"""
SELECT record, job FROM jobs JOIN workspaces ON workspaces.id = workspace_id
WHERE workspace_id = %(id)s AND state = 'waiting' AND jobs.due_at <= clock_timestamp() AND {leases.MAY_RUN}
ORDER BY jobs.priority DESC, seq LIMIT %(limit)s
"""  # noqa: S608 - constants


def due(connection: Connection, lease: Lease, node: str, limit: int) -> list[SharedJob]:
    """The workspace's jobs that may start now in the pool ``node``, in their order of starting."""
    found = connection.execute(_DUE, {"id": lease.workspace_id, "node": node, "limit": limit})
    return [SharedJob(Record.from_dict(record), job) for record, job in found]


def running(connection: Connection, lease: Lease) -> list[Record]:
    """The workspace's jobs whose records say that they run: when a lease begins, those of a worker that died."""
    found = connection.execute(
        "SELECT record FROM jobs WHERE workspace_id = %s AND state = 'running' ORDER BY seq", (lease.workspace_id,)
    )
    return [Record.from_dict(record) for (record,) in found]


def write(connection: Connection, lease: Lease, records: Sequence[Record]) -> None:
    """Write the next records of jobs, all or none. Raises JobError: TEAM_LEASE_LOST."""
    with connection.transaction():
        leases.require(connection, lease)
        _write(connection, lease.workspace_id, records)
        if any(record.state == "running" and record.kind in NEEDS_GRAPH for record in records):
            leases.own_graph(connection, lease)


def cancel_requests(connection: Connection, lease: Lease) -> list[str]:
    """The ids of the running jobs that somebody asked to cancel."""
    found = connection.execute(
        "SELECT job_id FROM jobs WHERE workspace_id = %s AND state = 'running' AND is_cancel_requested",
        (lease.workspace_id,),
    )
    return [job_id for (job_id,) in found]


def is_committed(connection: Connection, workspace_id: str, record: Record) -> bool:
    """Whether the job's change is committed."""
    key = canonical_json([record.job_id, record.job_sha256])
    found = connection.execute(
        "SELECT 1 FROM rows WHERE workspace_id = %s AND tbl = 'effects' AND key = %s AND value IS NOT NULL",
        (workspace_id, key),
    ).fetchone()
    return found is not None


def forget_texts(connection: Connection, lease: Lease) -> None:
    """Remove the texts of all jobs of the workspace that have ended. Raises JobError: TEAM_LEASE_LOST."""
    with connection.transaction():
        leases.require(connection, lease)
        found = connection.execute(
            "SELECT record FROM jobs WHERE workspace_id = %s AND state = 'ended'", (lease.workspace_id,)
        ).fetchall()
        for (record,) in found:
            clean = without_texts(Record.from_dict(record))
            connection.execute(
                "UPDATE jobs SET job = NULL, record = %s WHERE workspace_id = %s AND job_id = %s",
                (_json(clean.as_dict()), lease.workspace_id, clean.job_id),
            )


_WRITE = """
UPDATE jobs SET state = given.state, due_at = given.due_at, record = given.record::json, version = version + 1,
    is_cancel_requested = false, changed_at = clock_timestamp()
FROM unnest(%(ids)s::text[], %(states)s::text[], %(due)s::timestamptz[], %(records)s::text[])
    AS given (id, state, due_at, record)
WHERE workspace_id = %(workspace)s AND job_id = given.id
"""


def _write(connection: Connection, workspace_id: str, records: Sequence[Record]) -> None:
    connection.execute(
        _WRITE,
        {
            "workspace": workspace_id,
            "ids": [each.job_id for each in records],
            "states": [_state(each) for each in records],
            "due": [_due_at(each) for each in records],
            "records": [_json(each.as_dict()) for each in records],
        },
    )
    attachments.drop(connection, workspace_id, [each.job_id for each in records if each.ended])


def _state(record: Record) -> str:
    return "ended" if record.ended else "running" if record.state == "running" else "waiting"


def _due_at(record: Record) -> str:
    return record.next_attempt_at or "-infinity"


def _json(value: object) -> str:
    return json.dumps(_storable(value))


def _storable(value: Any) -> Any:
    """With a question mark for what PostgreSQL stores in no text: NUL, and what is no UTF-8 in the name of a file."""
    if isinstance(value, str):
        return value.replace("\0", "?").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_storable(name): _storable(each) for name, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value
