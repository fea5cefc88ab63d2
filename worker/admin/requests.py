"""Requests to the worker, about jobs or about itself, and their outcome.

A request is a file, so it can be made while no worker runs; the next worker handles it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs import client, heartbeat, launch, plain_files, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record
from jobs.rejected_files import drop_again, kept_file
from jobs.states import LIVE

from .selection import REPLAYABLE

if TYPE_CHECKING:
    from .shapes import AskedJob, AskedWorker, Skipped, WorkerState

CANCEL_SECONDS = 15.0  # a running job stops within 2 s, or 10 in a critical section
REQUEST_SECONDS = 5.0

DISMISSED = "dismissed"  # not a record's state: the record was removed

_LOOK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job for which the request was not possible, or had no effect."""

    job_id: str
    error: JobError

    def as_dict(self) -> Skipped:
        """The entry of the answer's ``skipped``."""
        return {
            "job_id": self.job_id,
            "error_code": self.error.code,
            "error": self.error.message,
            "remediation": self.error.remediation,
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """A job with a request to the worker (``requested``), or one that needed none.

    ``obeyed`` is False until a worker has handled the request. ``state`` is the job's present state.
    """

    job_id: str
    state: str
    obeyed: bool
    requested: bool = True

    def as_dict(self) -> AskedJob:
        """The entry of the answer's list of jobs."""
        return {"job_id": self.job_id, "requested": self.requested, "obeyed": self.obeyed, "state": self.state}


@dataclass(slots=True)
class Outcome:
    """The outcome of a request about several jobs."""

    asked: list[Asked] = field(default_factory=list)
    skipped: list[Refusal] = field(default_factory=list)
    worker_started: bool = False


def cancel_many(workspace: Workspace, job_ids: Sequence[str], seconds: float = CANCEL_SECONDS) -> Outcome:
    """Request the cancellation of jobs, and wait at most ``seconds`` until the worker has handled it.

    A job that had already ended counts as done. One whose change is committed is skipped with CANCEL_TOO_LATE.
    """
    spool_paths = workspace.spool
    outcome, told = Outcome(), {}
    for job_id in dict.fromkeys(job_ids):
        try:
            record = client.status(spool_paths, job_id)
        except (JobError, ValueError) as error:
            outcome.skipped.append(_refused(job_id, error))
            continue
        if record is not None and record.ended:
            outcome.asked.append(Asked(job_id, record.state, obeyed=True, requested=False))
        else:
            told[job_id] = spool_paths.cancel(job_id), record.generation if record else None
    client.request_jobs(spool_paths, told)
    waiting = _await(spool_paths, (path for path, _ in told.values()), seconds)
    for job_id, (path, _) in told.items():
        record = client.status(spool_paths, job_id)
        state, obeyed = _state(record), path not in waiting
        if obeyed and record is not None and (record.state == "succeeded" or not record.ended):
            late = JobError("CANCEL_TOO_LATE", f"Job {job_id} is {state}: its effect is committed.")
            outcome.skipped.append(Refusal(job_id, late))
        else:
            outcome.asked.append(Asked(job_id, state, obeyed))
    return outcome


def retry_many(
    workspace: Workspace, job_ids: Sequence[str], seconds: float = REQUEST_SECONDS, *, start: bool = True
) -> Outcome:
    """Request another run of ended jobs, start a worker if none runs, and wait at most ``seconds`` for it.

    An id may also be the name of a file in ``rejected/``. A rejected job's file is dropped again; if it is rejected
    again, it is skipped. Raises JobError: WORKER_START_FAILED.
    """
    spool_paths = workspace.spool
    outcome, told, dropped = Outcome(), {}, []
    for wanted in dict.fromkeys(job_ids):
        try:
            if wanted.endswith(".json"):
                dropped.append(drop_again(spool_paths, wanted))
                continue
            record = client.status(spool_paths, wanted)
            if record is not None and record.state == "rejected":
                dropped.append(drop_again(spool_paths, kept_file(spool_paths, wanted)))
            else:
                told[wanted] = spool_paths.retry(wanted), _replayable(spool_paths, wanted, record).generation
        except (JobError, OSError, ValueError) as error:
            outcome.skipped.append(_refused(wanted, error))
    client.request_jobs(spool_paths, told)
    if start and (told or dropped):
        outcome.worker_started = launch.start(workspace, leave_when_idle=True)
    paths = [*(path for path, _ in told.values()), *map(spool_paths.dropped, dropped)]
    waiting = _await(spool_paths, paths, seconds)
    for job_id, path in zip((*told, *dropped), paths, strict=True):
        record = client.status(spool_paths, job_id)
        if record is not None and record.state == "rejected" and record.error is not None:
            outcome.skipped.append(Refusal(job_id, JobError(record.error["code"], record.error["message"])))
        else:
            outcome.asked.append(Asked(job_id, _state(record), path not in waiting))
    return outcome


def dismiss_many(workspace: Workspace, job_ids: Sequence[str], seconds: float = REQUEST_SECONDS) -> Outcome:
    """Request the removal of ended jobs before their retention ends, and wait at most ``seconds`` for it.

    A job that has not ended is skipped with ARGUMENT_INVALID. The ``state`` of a removed job is ``dismissed``.
    """
    spool_paths = workspace.spool
    outcome, told = Outcome(), {}
    for job_id in dict.fromkeys(job_ids):
        try:
            record = client.status(spool_paths, job_id)
            if record is None or not record.ended:
                raise JobError(
                    "ARGUMENT_INVALID",
                    f"Job {job_id} is {_state(record)}; only jobs that have ended are taken off the list.",
                    remediation=f"End it first: cognee-memory jobs cancel {job_id}.",
                )
        except (JobError, ValueError) as error:
            outcome.skipped.append(_refused(job_id, error))
        else:
            told[job_id] = spool_paths.dismiss(job_id), record.generation
    client.request_jobs(spool_paths, told)
    waiting = _await(spool_paths, (path for path, _ in told.values()), seconds)
    for job_id, (path, _) in told.items():
        try:
            state = _state(client.status(spool_paths, job_id))
        except JobError:
            state = DISMISSED
        outcome.asked.append(Asked(job_id, state, path not in waiting))
    return outcome


def _replayable(spool_paths: SpoolPaths, job_id: str, record: Record | None) -> Record:
    if record is None or record.state not in REPLAYABLE:
        waits = record is None or record.state in LIVE
        why = "it runs without being asked" if waits else "only what failed, was cancelled or expired runs again"
        raise JobError(
            "ARGUMENT_INVALID",
            f"Job {job_id} is {_state(record)}; {why}.",
            remediation=f"See cognee-memory jobs show {job_id}.",
        )
    if not spool_paths.ended_copy(job_id).exists() and not spool_paths.copy(job_id).exists():
        raise JobError(
            "JOB_NOT_FOUND",
            f"The copy of job {job_id} was removed: its time was over, or what it told of was forgotten.",
            remediation="Submit it anew.",
        )
    return record


def kept_copy(spool_paths: SpoolPaths, job_id: str) -> dict[str, Any] | None:
    """The content of the worker's copy of a job file; None if it was removed or cannot be read."""
    for path in (spool_paths.copy(job_id), spool_paths.ended_copy(job_id)):
        try:
            job = json.loads(plain_files.read_own(path, spool.RECORD_LIMIT))
        except (OSError, ValueError, RecursionError, JobError):
            continue
        if isinstance(job, dict):
            return job
    return None


def _state(record: Record | None) -> str:
    return record.state if record is not None else "in the inbox"


def _refused(job_id: str, error: Exception) -> Refusal:
    if isinstance(error, JobError):
        return Refusal(job_id, error)
    if isinstance(error, ValueError):
        return Refusal(job_id, JobError("JOB_NOT_FOUND", f"The record of job {job_id} cannot be read."))
    why = error.strerror if isinstance(error, OSError) else type(error).__name__
    return Refusal(job_id, JobError("JOB_NOT_FOUND", f"The file of job {job_id} cannot be read: {why}."))


def _await(spool_paths: SpoolPaths, paths: Iterable[Path], seconds: float) -> set[Path]:
    """Wait until the worker has removed all these files. Returns those left after ``seconds`` or without a worker."""
    deadline = time.monotonic() + seconds
    left = {path for path in paths if path.exists()}
    while left and time.monotonic() < deadline and client.is_worker_running(spool_paths):
        time.sleep(_LOOK_SECONDS)
        left = {path for path in left if path.exists()}
    return {path for path in left if path.exists()}


def ask_worker(workspace: Workspace, verb: client.ControlVerb, seconds: float = REQUEST_SECONDS) -> AskedWorker:
    """Make a request about no single job, such as pause, and wait at most ``seconds`` for it.

    ``obeyed`` is False if no worker has handled it yet; the next one will.
    """
    spool_paths = workspace.spool
    client.request(spool_paths, verb)
    obeyed = client.wait_until_handled(spool_paths, spool_paths.request(verb), seconds)
    return {"request": verb, "obeyed": obeyed, "worker": worker_of(workspace)}


def worker_of(workspace: Workspace) -> WorkerState:
    """Whether a worker runs, and its heartbeat or that of the last one."""
    return {"alive": launch.is_alive(workspace), "heartbeat": heartbeat.read(workspace.spool)}
