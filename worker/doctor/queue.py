"""Checks the queue: jobs that wait too long, failures with their causes, and consistency of records, copies and
requests."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.settings import Settings
from bridge.team import copy_age
from bridge.trust import files_from_elsewhere
from jobs import clock, record_cache, spool
from jobs.errors import BROUGHT, JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace
from jobs.lock import is_held
from jobs.states import LIVE

from ..wording import counted, of_all, span
from .entries import modified_at, shortened_list

if TYPE_CHECKING:
    from jobs.schema import JobRow

_STUCK = timedelta(minutes=5)
_LONG_RETRYING = timedelta(hours=1)
_NOT_TAKEN = timedelta(minutes=1)
_LARGE_SHARE = 0.8
_LOCK_WAIT_MS = 500  # on the queue file


def latest(known: list[JobRow]) -> str | None:
    """The latest time in the records, None without records."""
    times = (at for row in known for at in (row["accepted_at"], row["finished_at"]))
    return max((at for at in times if at), default=None)


class Facts:
    """The state of the queue. ``inbox`` and ``requests`` are the ages of the files there; ``from_elsewhere`` are the
    names of those files of the inbox that will not run, for where they come from. ``inbox`` leaves these out."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        now: datetime,
        heartbeat: dict[str, Any] | None,
        rows: list[JobRow],
    ) -> None:
        """Read the facts. Raises OSError."""
        paths = workspace.spool
        self.settings = settings
        self.now = now
        self.rows = rows
        self.worker = is_held(paths.lock)
        self.runs = bool(heartbeat and heartbeat.get("in_flight"))
        self.paused = paths.paused.exists()
        self.leaving = heartbeat is not None and heartbeat["state"] in ("draining", "exiting")
        self.follows_team = copy_age.read(workspace) is not None  # then a missing worker is a finding about the team
        self.from_elsewhere = files_from_elsewhere(workspace, settings.config_folder)
        waiting = spool.inbox(paths) if paths.root.is_dir() else []
        self.inbox = _ages((path for path in waiting if path.name not in self.from_elsewhere), now)
        self.requests = _ages(_files(paths.control), now)
        self.rejected = sum(1 for path in _files(paths.rejected) if path.name.endswith(".reason.json"))
        by_id = {row["job_id"]: row for row in rows}
        active = set(spool.job_ids(paths.active))
        live = {job_id for job_id, row in by_id.items() if not _has_ended(row)}
        # The files change while they are read, so only what a second read confirms counts.
        self.damaged = [i for i in spool.job_ids(paths.results) if i not in by_id and _is_damaged(paths, i)]
        self.copies_alone = [
            i for i in active - by_id.keys() if paths.copy(i).exists() and not paths.record(i).exists()
        ]
        self.without_copy = [i for i in live - active if not _has_copy_or_end(paths, i)]
        self.queue_file = _queue_problem(paths.queue_db)


def _has_ended(row: JobRow) -> bool:
    return row["state"] not in LIVE


def _is_damaged(place: Any, job_id: str) -> bool:
    try:
        spool.read_record(place, job_id)
    except (ValueError, JobError):
        return True
    return False


def _has_copy_or_end(place: Any, job_id: str) -> bool:
    """Whether a job has a copy, or has ended since the first read."""
    if place.copy(job_id).exists():
        return True
    try:
        record = spool.read_record(place, job_id)
    except (ValueError, JobError):
        return True
    return record is None or record.ended or place.copy(job_id).exists()


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith(".")]
    except FileNotFoundError:
        return []


def _ages(paths: Iterable[Path], now: datetime) -> list[timedelta]:
    """The ages of files, without those that the worker has accepted meanwhile."""
    return [now - at for path in paths if (at := modified_at(path)) is not None]


def _queue_problem(path: Path) -> str | None:
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_LOCK_WAIT_MS / 1000)) as queue:
            problem: str = queue.execute("PRAGMA quick_check(1)").fetchone()[0]
            return None if problem == "ok" else problem
    except sqlite3.OperationalError as error:
        busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        return None if busy or not os.access(path.parent, os.W_OK) else str(error)
    except sqlite3.DatabaseError as error:
        return str(error)


# --- the checks ---


def waiting(facts: Facts) -> Iterator[Finding]:
    """Findings about jobs, drops and requests that wait too long, and about a missing worker."""
    queued = [b for b in facts.rows if b["state"] == "queued" and not record_cache.is_waiting_replay(b)]
    live = [row for row in facts.rows if not _has_ended(row)]
    ages = [_age_of(row, facts.now) for row in queued if _is_due(row, facts.now)]
    waits = len(live) + len(facts.inbox)
    if not facts.worker:
        if waits:
            message = f"In the queue {len(live)}, in the inbox {len(facts.inbox)}."
            yield finding("JOBS_WITHOUT_WORKER", "worker", message, count=waits)
        elif not facts.follows_team:
            yield finding("WORKER_ABSENT", "worker")
        return
    if not facts.paused and not facts.runs and ages and max(ages) > _STUCK:
        yield finding("QUEUE_STUCK", "queue", _waiting("job", ages), count=len(ages))
    old = [age for age in facts.inbox if age > _NOT_TAKEN]
    if old and not facts.leaving:  # it accepts no more drops; the next worker does
        yield finding("INBOX_NOT_TAKEN", "inbox", _waiting("file", old), count=len(old))
    old = [age for age in facts.requests if age > _NOT_TAKEN]
    if old:
        yield finding("REQUESTS_NOT_OBEYED", "control", _waiting("request", old), count=len(old))


def _waiting(noun: str, ages: list[timedelta]) -> str:
    return f"{counted(len(ages), noun)}, the oldest for {span(max(ages).total_seconds())}."


def _is_due(row: JobRow, now: datetime) -> bool:
    return row["next_attempt_at"] is None or clock.parse(row["next_attempt_at"]) <= now


def failed_jobs(facts: Facts) -> Iterator[Finding]:
    """Findings about failed, rejected and retrying jobs, one for each cause."""
    for cause in record_cache.causes(facts.rows):
        message = f"{cause['count']} with {cause['code']}; the newest is {cause['newest_job_id']}: {cause['message']}"
        remedy = of_all(cause["remediation"], cause)
        rejected = "JOBS_FROM_ELSEWHERE" if cause["code"] in BROUGHT else "JOBS_REJECTED"
        code = {"failed": "JOBS_FAILED", "rejected": rejected}.get(cause["state"])
        if code is not None:
            yield finding(code, cause["code"], message, remedy=remedy, count=cause["count"])
    retrying = [(b["error"], _age_of(b, facts.now)) for b in facts.rows if b["state"] == "retrying" and b["error"]]
    for code in sorted({error["code"] for error, _ in retrying}):
        old = [(error, age) for error, age in retrying if error["code"] == code and age > _LONG_RETRYING]
        if code == "CHILD_START_FAILED":
            errors = [error for error, _ in retrying if error["code"] == code]
            yield finding("CHILD_NOT_STARTING", "child", errors[0]["message"], count=len(errors))
        elif old:
            error = old[0][0]
            longest = span(max(age for _, age in old).total_seconds())
            message = f"{len(old)} with {code}, one for {longest}: {error['message']}"
            yield finding("JOBS_RETRYING", code, message, remedy=error["remediation"], count=len(old))
    unnamed = facts.rejected - sum(1 for row in facts.rows if row["state"] == "rejected")
    if unnamed > 0:
        message = f"{counted(unnamed, 'file')} without a record."
        yield finding("JOBS_REJECTED", "rejected", message, count=unnamed)


def _age_of(row: JobRow, now: datetime) -> timedelta:
    return now - clock.parse(row["accepted_at"]) if row["accepted_at"] else timedelta()


def provenance(facts: Facts) -> Iterator[Finding]:
    """A finding about files in the inbox that a worker will reject for where they come from."""
    if facts.from_elsewhere:
        message = f"{counted(len(facts.from_elsewhere), 'file')} in the inbox, which a worker will reject and keep."
        yield finding("JOBS_FROM_ELSEWHERE", "inbox", message, count=len(facts.from_elsewhere))


def capacity(facts: Facts) -> Iterator[Finding]:
    """Findings about a large backlog and too many records."""
    live = sum(1 for row in facts.rows if not _has_ended(row))
    ended = len(facts.rows) - live
    most_live, most_ended = facts.settings.max_active_jobs, facts.settings.keep_ended_jobs
    if most_live and live > _LARGE_SHARE * most_live:
        yield finding("BACKLOG_LARGE", "queue", f"{live:,} of {most_live:,}.", count=live)
    if ended > most_ended:
        yield finding("RECORDS_MANY", "results", f"{ended:,}; {most_ended:,} is the limit.", count=ended)


def consistency_findings(facts: Facts) -> Iterator[Finding]:
    """Findings about damaged records, copies without a record, and a damaged queue file."""
    if facts.damaged:
        yield finding("RECORDS_DAMAGED", "results", f"{shortened_list(facts.damaged)}.", count=len(facts.damaged))
    if not facts.worker or facts.copies_alone:
        lone = sorted({*facts.copies_alone, *facts.without_copy})
        if lone:
            yield finding("COPIES_ALONE", "active", f"{shortened_list(lone)}.", count=len(lone))
    if facts.queue_file is not None:
        yield finding("QUEUE_FILE_DAMAGED", "queue", f"SQLite says: {facts.queue_file}.")


CHECKS = (waiting, failed_jobs, provenance, capacity, consistency_findings)
