"""What an asker does: submit, status, wait, cancel. Files only; no process is needed to answer.

Any program may do the same by hand: the protocol is in docs/job-protocol.md.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import batch, clock, files, spool
from .errors import JobError
from .ids import is_job_id, new_job_id
from .layout import SpoolPaths
from .lock import is_held
from .model import SCHEMA_VERSION, Record, encode, job_digest

Verb = Literal["pause", "resume", "drain", "prune"]

_FIRST_POLL_SECONDS = 0.005
_LONGEST_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Submitted:
    """A drop that is durable. ``sha256`` is what the record will carry if this job was accepted."""

    job_id: str
    sha256: str


def submit(
    paths: SpoolPaths, kind: str, payload: dict[str, Any], *, job_id: str | None = None, **fields: Any
) -> Submitted:
    """Drop a job; returns when it would survive a power cut. ``fields`` are other fields of the job file.

    Raises JOB_INVALID for an id that is none and for what JSON cannot hold, and JOB_ID_CONFLICT where another job of
    that id waits. Everything else is checked by the worker, whose answer is the record (or the reason in
    ``rejected/``).
    """
    job_id = job_id or new_job_id()
    if not is_job_id(job_id):
        raise JobError("JOB_INVALID", f"{job_id!r} is no job id.")
    job = {
        "schema_version": SCHEMA_VERSION,
        "job_id": job_id,
        "kind": kind,
        "payload": payload,
        "submitted_at": clock.iso(clock.now()),
        **fields,
    }
    try:
        data, digest = encode(job), job_digest(kind, payload)
    except (TypeError, ValueError, RecursionError) as error:
        raise JobError("JOB_INVALID", f"The job cannot be written as JSON: {error}.") from error
    if dropped_digest(paths, job_id) not in (None, digest):  # it would be gone, and its asker was told that it is safe
        raise JobError("JOB_ID_CONFLICT", f"The id {job_id!r} belongs to another job, which waits in the inbox.")
    spool.drop(paths, job_id, data)
    return Submitted(job_id, digest)


def dropped_digest(spool_paths: SpoolPaths, job_id: str) -> str | None:
    """The digest of the job that waits in the inbox under that id; None where there is none, or what is no job."""
    if not is_job_id(job_id):
        return None
    try:
        job = json.loads(files.read_plain(spool_paths.dropped(job_id), spool.RECORD_LIMIT)[0])
        return job_digest(job["kind"], job["payload"])
    except (OSError, JobError, ValueError, LookupError, TypeError, RecursionError):
        return None


def status(spool_paths: SpoolPaths, job_id: str) -> Record | None:
    """The record, read once. None while the dropped file waits for a worker.

    The record of a rejected file does not count while another file waits under its name. Raises
    JOB_NOT_FOUND when there is neither.
    """
    if not is_job_id(job_id):
        raise JobError("JOB_NOT_FOUND", f"{job_id[:80]!r} is no job id.")
    record = spool.read_record(spool_paths, job_id)
    if record is None or record.state == "rejected":
        if spool_paths.dropped(job_id).exists():
            return None
        record = spool.read_record(spool_paths, job_id)  # accepted between the two looks
    if record is None:
        raise JobError("JOB_NOT_FOUND", f"No job {job_id!r} is waiting, and there is no record of it.")
    return record


def wait(
    spool_paths: SpoolPaths,
    job_id: str,
    seconds: float | None = None,
    seen: Callable[[Record | None], None] | None = None,
) -> Record:
    """Poll until the job has ended; ``seen`` is called with each state that was read.

    Raises WAIT_TIMEOUT, WORKER_NOT_RUNNING (nobody would ever end it) or JOB_NOT_FOUND.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    pause, idle_looks = _FIRST_POLL_SECONDS, 0
    while True:
        record = status(spool_paths, job_id)
        if seen is not None:
            seen(record)
        if record is not None and record.ended:
            return record
        if deadline is not None and time.monotonic() >= deadline:
            state = record.state if record else "waiting in the inbox"
            raise JobError(
                "WAIT_TIMEOUT",
                f"Job {job_id} was {state} after {seconds:g} s.",
                remediation=f"The job goes on. Look again: cognee-memory jobs show {job_id}.",
                details={"job_id": job_id},
            )
        # A worker that is being started needs some seconds before it holds the lock.
        idle_looks = 0 if is_held(spool_paths.lock) else idle_looks + 1
        if idle_looks * pause > 10:
            why = f"Job {job_id} is safe, but no worker is there to run it."
            raise JobError("WORKER_NOT_RUNNING", why, details={"job_id": job_id})
        time.sleep(pause)
        pause = min(_LONGEST_POLL_SECONDS, pause * 1.5)


def cancel(spool_paths: SpoolPaths, job_id: str) -> Record | None:
    """Ask for a job not to run. A waiting job ends as cancelled; so does a running one, unless its effect is committed.

    Returns the record as it stands now; a job still in the inbox is cancelled once it is accepted.
    """
    record = status(spool_paths, job_id)
    if record is not None and record.ended:
        return record
    # Which generation a job in the inbox will get, only the worker knows: after a rejection it is not the first.
    _request(spool_paths, spool_paths.cancel(job_id), job_id=job_id, generation=record.generation if record else None)
    return record


def retry(spool_paths: SpoolPaths, record: Record) -> None:
    """Ask for an ended job to run again, as its next generation."""
    _request(spool_paths, spool_paths.retry(record.job_id), job_id=record.job_id, generation=record.generation)


def request_jobs(spool_paths: SpoolPaths, told: Mapping[str, tuple[Path, int | None]]) -> None:
    """Ask about several jobs at once: for each, under its id, the request's file and the generation that is meant."""
    if told:
        files.make_folder(spool_paths.control)
        requests = ((path, _encoded(job_id=job_id, generation=meant)) for job_id, (path, meant) in told.items())
        batch.replace_many(requests)


def request(spool_paths: SpoolPaths, verb: Verb) -> None:
    """Ask the worker for something that is about no single job."""
    _request(spool_paths, spool_paths.request(verb))


def _request(spool_paths: SpoolPaths, path: Path, **fields: Any) -> None:
    files.make_folder(spool_paths.control)
    files.replace(path, _encoded(**fields))


def _encoded(**fields: Any) -> bytes:
    return json.dumps({"requested_at": clock.iso(clock.now()), **fields}).encode()


def is_worked_on(spool_paths: SpoolPaths) -> bool:
    """Whether anybody is there to deal with a request."""
    return is_held(spool_paths.lock)


def obeyed(spool_paths: SpoolPaths, path: Path, seconds: float) -> bool:
    """Wait until the worker has dealt with a request. False when the time is over, or nobody works."""
    deadline = time.monotonic() + seconds
    while path.exists():
        if time.monotonic() >= deadline or not is_held(spool_paths.lock):
            return not path.exists()
        time.sleep(_FIRST_POLL_SECONDS)
    return True
