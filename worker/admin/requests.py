"""Requests to the worker, about jobs or about itself, and their outcome.

A request is a file, so it can be made while no worker runs; the next worker handles it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jobs import client, heartbeat, launch
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record
from jobs.rejected_files import drop_again, kept_file
from jobs.states import IN_INBOX, LIVE, REPLAYABLE

from .job_details import damaged, record_of

if TYPE_CHECKING:
    from .shapes import AskedJob, AskedWorker, Skipped, WorkerStatus

REQUEST_SECONDS = 5.0
# A running job stops within 2 s, or 10 in a critical section.
_SECONDS = {"cancel": 15.0, "retry": REQUEST_SECONDS, "dismiss": REQUEST_SECONDS}

DISMISSED = "dismissed"  # not a record's state: the record was removed

_Request = tuple[Path, int | None]  # the request file, and the generation that it applies to


@dataclass(slots=True)
class Outcome:
    """The outcome of a request about several jobs.

    ``jobs``: those for which the worker was asked, or that needed no request. ``skipped``: the ids of those for which
    the request was not possible or had no effect, each with the reason.
    """

    jobs: list[AskedJob] = field(default_factory=list)
    skipped: list[tuple[str, JobError]] = field(default_factory=list)
    worker_started: bool = False

    def shown_skipped(self) -> list[Skipped]:
        """The answer's ``skipped``."""
        return [
            {"job_id": job_id, "error_code": error.code, "error": error.message, "remediation": error.remediation}
            for job_id, error in self.skipped
        ]


def ask(
    workspace: Workspace, verb: str, job_ids: Sequence[str], seconds: float | None = None, *, start: bool = True
) -> Outcome:
    """Make a request about jobs, one of ``VERBS``, and wait at most ``seconds`` until the worker has handled it.

    ``cancel``: a job that had already ended counts as done; one whose change is committed is skipped with
    CANCEL_TOO_LATE. ``dismiss``: a job that has not ended is skipped with ARGUMENT_INVALID; the ``state`` of a removed
    one is ``dismissed``. ``retry``: unless ``start`` is false, a worker is started if none runs. An id may also be the
    name of a file in ``rejected/``. A rejected job's file is dropped again; if it is rejected again, it is skipped,
    with JOB_ID_CONFLICT when its id belongs to another job. Raises JobError: WORKER_START_FAILED.
    """
    spool_paths = workspace.spool
    outcome = Outcome()
    requests: dict[str, _Request] = {}
    dropped: dict[str, str | None] = {}  # job id -> the digest of its file
    for wanted in dict.fromkeys(job_ids):
        try:
            is_file = verb == "retry" and wanted.endswith(".json")
            record = None if is_file else record_of(spool_paths, wanted)
            if is_file:
                _drop_again(spool_paths, wanted, dropped)
            elif verb == "retry" and record is not None and record.state == "rejected":
                _drop_again(spool_paths, kept_file(spool_paths, wanted), dropped)
            elif verb == "cancel" and record is not None and record.ended:
                outcome.jobs.append({"job_id": wanted, "requested": False, "obeyed": True, "state": record.state})
            else:
                _REQUIRE[verb](spool_paths, wanted, record)
                path: Path = getattr(spool_paths, verb)(wanted)
                requests[wanted] = path, record.generation if record else None
        except (JobError, OSError) as error:
            outcome.skipped.append((wanted, _refusal(wanted, error)))
    client.request_jobs(spool_paths, requests)
    if verb == "retry" and start and (requests or dropped):
        outcome.worker_started = launch.start(workspace, leave_when_idle=True)
    paths = [*(path for path, _ in requests.values()), *map(spool_paths.dropped, dropped)]
    waiting = client.unhandled(spool_paths, paths, _SECONDS[verb] if seconds is None else seconds)
    for job_id, path in zip((*requests, *dropped), paths, strict=True):
        obeyed = path not in waiting
        try:
            state = _state_after(spool_paths, verb, job_id, obeyed, dropped)
            outcome.jobs.append({"job_id": job_id, "requested": True, "obeyed": obeyed, "state": state})
        except JobError as error:
            outcome.skipped.append((job_id, error))
    return outcome


def _drop_again(spool_paths: SpoolPaths, kept_as: str, dropped: dict[str, str | None]) -> None:
    """Drop a rejected file again, and note the digest of its job. Raises as ``drop_again``."""
    digest = client.file_digest(spool_paths.rejected / Path(kept_as).name)  # a running worker takes the file at once
    dropped[drop_again(spool_paths, kept_as)] = digest


def _state_after(
    spool_paths: SpoolPaths, verb: str, job_id: str, obeyed: bool, dropped: Mapping[str, str | None]
) -> str:
    """The job's state after the request. Raises the JobError of a request that had no effect."""
    try:
        record = client.status(spool_paths, job_id)
    except ValueError as error:
        raise damaged(job_id) from error
    except JobError:  # it was removed
        if verb == "dismiss":
            return DISMISSED
        raise
    state = _state(record)
    if record is None:
        return state
    if verb == "cancel" and obeyed and (record.state == "succeeded" or not record.ended):
        raise JobError("CANCEL_TOO_LATE", f"Job {job_id} is {state}: its effect is committed.")
    if verb == "retry" and record.state == "rejected" and record.error is not None:
        raise JobError(record.error["code"], record.error["message"])
    if job_id in dropped and record.job_sha256 not in (None, dropped[job_id]):
        raise JobError("JOB_ID_CONFLICT", f"The id {job_id} belongs to another job, which is {state}.")
    return state


def _require_ended(spool_paths: SpoolPaths, job_id: str, record: Record | None) -> None:
    if record is None or not record.ended:
        raise JobError(
            "ARGUMENT_INVALID",
            f"Job {job_id} is {_state(record)}; only jobs that have ended are removed from the list.",
            remediation=f"End it first: cognee-memory jobs cancel {job_id}.",
        )


def _require_replayable(spool_paths: SpoolPaths, job_id: str, record: Record | None) -> None:
    if record is None or record.state not in REPLAYABLE:
        waits = record is None or record.state in LIVE
        why = "it runs without a request" if waits else "only jobs that failed, expired or were cancelled can run again"
        raise JobError(
            "ARGUMENT_INVALID",
            f"Job {job_id} is {_state(record)}; {why}.",
            remediation=f"See cognee-memory jobs show {job_id}.",
        )
    if not spool_paths.ended_copy(job_id).exists() and not spool_paths.copy(job_id).exists():
        raise JobError(
            "JOB_NOT_FOUND",
            f"The copy of job {job_id} was removed: its time was over, or its memory was forgotten.",
            remediation="Submit it again.",
        )


_REQUIRE: dict[str, Callable[[SpoolPaths, str, Record | None], None]] = {
    "cancel": lambda *_: None, "dismiss": _require_ended, "retry": _require_replayable,
}  # fmt: skip
"""What a request is refused for, by its verb."""


def _state(record: Record | None) -> str:
    return record.state if record is not None else IN_INBOX


def _refusal(job_id: str, error: JobError | OSError) -> JobError:
    if isinstance(error, JobError):
        return error
    return JobError("JOB_NOT_FOUND", f"The file of job {job_id} cannot be read: {error.strerror}.")


def ask_worker(workspace: Workspace, verb: client.ControlVerb) -> AskedWorker:
    """Make a request about no single job, such as pause, and wait at most ``REQUEST_SECONDS`` for it.

    ``obeyed`` is False if no worker has handled it yet; the next one will.
    """
    spool_paths = workspace.spool
    client.request(spool_paths, verb)
    left = client.unhandled(spool_paths, [spool_paths.request(verb)], REQUEST_SECONDS)
    return {"request": verb, "obeyed": not left, "worker": worker_of(workspace)}


def worker_of(workspace: Workspace) -> WorkerStatus:
    """Whether a worker runs, and its heartbeat or that of the last one."""
    return {"alive": launch.is_alive(workspace), "heartbeat": heartbeat.read(workspace.spool)}
