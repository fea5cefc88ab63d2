"""The client's operations: submit, status, wait, cancel, retry. They use files only; no worker needs to run.

Any program may do the same by hand: the protocol is in docs/job-protocol.md. Starting a worker is ``launch``'s task.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from . import batch, clock, files, plain_files, spool
from .errors import JobError
from .ids import is_job_id, new_job_id
from .layout import SpoolPaths
from .lock import is_held
from .model import SCHEMA_VERSION, Record, encode, job_digest

ControlVerb = Literal["pause", "resume", "drain", "prune"]

_FIRST_POLL_SECONDS = 0.005
_LONGEST_POLL_SECONDS = 0.25
_STARTING_SECONDS = 10.0  # in which a starting worker holds the lock


@dataclass(frozen=True, slots=True)
class Submitted:
    """A durable drop. ``sha256`` is the digest that the record will carry if the worker accepts this job."""

    job_id: str
    sha256: str


def submit(
    paths: SpoolPaths,
    kind: str,
    payload: dict[str, Any],
    *,
    job_id: str | None = None,
    check: Callable[[str, bytes], object] = lambda job_id, data: None,
    **fields: Any,
) -> Submitted:
    """Drop a job; on return the drop survives a power cut. ``fields`` are further fields of the job file. ``check``
    gets its id and the file's content before the drop, and raises what speaks against it.

    Raises JobError: JOB_INVALID for a malformed id and for values that JSON cannot hold, JOB_ID_CONFLICT when another
    job with that id waits in the inbox or was accepted. The worker checks everything else; its answer is the record (or
    the reason in ``rejected/``). Raises JobError: FILE_UNSAFE, and OSError when the drop cannot be written.
    """
    is_own_choice = job_id is not None
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
        why = "a text in it is not valid UTF-8" if isinstance(error, UnicodeError) else error
        raise JobError("JOB_INVALID", f"The job cannot be written as JSON: {why}.") from error
    check(job_id, data)

    def require_free() -> None:
        """Overwriting another drop would lose a job that its client believes to be safe. The worker writes the record
        before it removes the drop."""
        if dropped_digest(paths, job_id) not in (None, digest):
            raise JobError("JOB_ID_CONFLICT", f"The id {job_id!r} belongs to another job, which waits in the inbox.")
        with suppress(ValueError):  # of a damaged record, the worker judges
            record = spool.read_record(paths, job_id)
            if record is not None and record.state != "rejected" and record.job_sha256 != digest:
                said = f"The id {job_id!r} belongs to another job, which is {record.state}."
                raise JobError("JOB_ID_CONFLICT", said)

    spool.drop(paths, job_id, data, require_free if is_own_choice else None)
    return Submitted(job_id, digest)


def dropped_digest(spool_paths: SpoolPaths, job_id: str) -> str | None:
    """The digest of the job that waits in the inbox under that id; None without one, or if its file is not a job."""
    return file_digest(spool_paths.dropped(job_id)) if is_job_id(job_id) else None


def file_digest(path: Path) -> str | None:
    """The digest of the job in a job file; None without a file, or if it is not a job."""
    try:
        job = json.loads(plain_files.read_plain(path, spool.RECORD_LIMIT)[0])
        return job_digest(job["kind"], job["payload"])
    except (OSError, JobError, ValueError, LookupError, TypeError, RecursionError):
        return None


def status(spool_paths: SpoolPaths, job_id: str) -> Record | None:
    """The job's record, read once. None while the dropped file waits for a worker.

    While a new file waits under the name of a rejected one, the record of the rejected file is ignored. Raises
    JobError: JOB_NOT_FOUND when there is neither a record nor a dropped file. Raises ValueError for a damaged record,
    and as ``spool.read_record``.
    """
    if not is_job_id(job_id):
        raise JobError("JOB_NOT_FOUND", f"{job_id[:80]!r} is no job id.")
    record = spool.read_record(spool_paths, job_id)
    if record is None or record.state == "rejected":
        if spool_paths.dropped(job_id).exists():
            return None
        record = spool.read_record(spool_paths, job_id)  # the worker may have accepted it between the two reads
    if record is None:
        raise JobError("JOB_NOT_FOUND", f"No job {job_id!r} is waiting, and there is no record of it.")
    return record


def wait(
    spool_paths: SpoolPaths,
    job_id: str,
    seconds: float | None = None,
    seen: Callable[[Record | None], None] | None = None,
) -> Record:
    """Poll until the job has ended and return its record; ``seen`` is called with each result of ``status``.

    ``seconds`` None waits without a limit. Raises JobError: WAIT_TIMEOUT after ``seconds``, WORKER_NOT_RUNNING when no
    worker has held the lock for about 10 s; and as ``status``.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    pause, without_worker = _FIRST_POLL_SECONDS, 0.0
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
        without_worker = 0.0 if is_held(spool_paths.lock) else without_worker + pause
        if without_worker > _STARTING_SECONDS:
            why = f"Job {job_id} is safe, but no worker is there to run it."
            raise JobError("WORKER_NOT_RUNNING", why, details={"job_id": job_id})
        time.sleep(pause)
        pause = min(_LONGEST_POLL_SECONDS, pause * 1.1)  # so that a tenth of the time is waited too long


def cancel(spool_paths: SpoolPaths, job_id: str) -> Record | None:
    """Request that a job is cancelled. A waiting job ends as cancelled; so does a running one, unless its change to
    the memory is already committed.

    Returns the present record. A job that is still in the inbox (None) is cancelled once the worker accepts it.
    Raises as ``status``, and OSError when the request cannot be written.
    """
    record = status(spool_paths, job_id)
    if record is not None and record.ended:
        return record
    # A job in the inbox has no generation yet: the worker assigns it, and after a rejection it is not 1.
    _request(spool_paths, spool_paths.cancel(job_id), job_id=job_id, generation=record.generation if record else None)
    return record


def retry(spool_paths: SpoolPaths, record: Record) -> None:
    """Request that an ended job runs again, as its next generation. Raises JobError: FILE_UNSAFE, and OSError."""
    _request(spool_paths, spool_paths.retry(record.job_id), job_id=record.job_id, generation=record.generation)


def request_jobs(spool_paths: SpoolPaths, requests: Mapping[str, tuple[Path, int | None]]) -> None:
    """Write requests about several jobs together: job id -> (path of the request file, generation it applies to).

    Raises JobError: FILE_UNSAFE, and OSError.
    """
    if requests:
        _make_control(spool_paths)
        contents = (
            (path, _encoded(job_id=job_id, generation=generation)) for job_id, (path, generation) in requests.items()
        )
        batch.replace_many(contents)


def request(spool_paths: SpoolPaths, verb: ControlVerb) -> None:
    """Request something of the worker that concerns no single job. Raises JobError: FILE_UNSAFE, and OSError."""
    _request(spool_paths, spool_paths.request(verb))


def _request(spool_paths: SpoolPaths, path: Path, **fields: Any) -> None:
    _make_control(spool_paths)
    files.replace(path, _encoded(**fields))


def _make_control(spool_paths: SpoolPaths) -> None:
    spool.make_root(spool_paths)
    files.make_folder(spool_paths.control)


def _encoded(**fields: Any) -> bytes:
    return json.dumps({"requested_at": clock.iso(clock.now()), **fields}).encode()


def unhandled(spool_paths: SpoolPaths, paths: Iterable[Path], seconds: float) -> set[Path]:
    """Wait until the worker has handled the requests at these paths. Returns those left after ``seconds``, or without a
    worker."""
    deadline = time.monotonic() + seconds
    left = {path for path in paths if path.exists()}
    while left and time.monotonic() < deadline and is_held(spool_paths.lock):
        time.sleep(_FIRST_POLL_SECONDS)
        left = {path for path in left if path.exists()}
    return {path for path in left if path.exists()}
