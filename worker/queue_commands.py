"""The commands about the queue: seeing jobs, ending and repeating them, and what the worker is asked to do with all."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, get_args

from bridge import answer
from bridge.submission import require_success
from jobs import client, files, launch, spool
from jobs.errors import JobError
from jobs.lock import Lock
from jobs.model import Record, State

from .process_commands import Envelope, opened, worker_of

_CANCEL_SECONDS = 15.0  # a running job stops within 2 s, or 10 in a critical section
_REQUEST_SECONDS = 5.0


def list_jobs(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    if given.state is not None and given.state not in get_args(State):
        raise JobError("ARGUMENT_INVALID", f"There is no state {given.state!r}; one of {', '.join(get_args(State))}.")
    if given.limit < 1:
        raise JobError("ARGUMENT_INVALID", "--limit must be at least 1.")
    found = [r for r in spool.records(workspace.spool) if given.state in (None, r.state)]
    found.sort(key=lambda r: (r.accepted_at or r.finished_at or "", r.job_id), reverse=True)
    return answer.success(jobs=[_brief(record) for record in found[: given.limit]], total=len(found))


def _brief(record: Record) -> dict[str, Any]:
    whole = record.as_dict()
    names = (
        "job_id",
        "kind",
        "state",
        "success",
        "attempt",
        "accepted_at",
        "finished_at",
        "next_attempt_at",
        "elapsed_ms",
        "error",
    )
    return {name: whole[name] for name in names}


def show(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    record = client.status(workspace.spool, given.job_id)
    return answer.success(job=record.as_dict() if record else {"job_id": given.job_id, "state": "in the inbox"})


def wait(given: argparse.Namespace) -> Envelope:
    """Ends as a command that waits for its own job does: with the job's error, unless it succeeded."""
    workspace, _ = opened(given)
    record = client.wait(workspace.spool, given.job_id, given.timeout)
    require_success(record)
    return answer.success(job=record.as_dict())


def cancel(given: argparse.Namespace) -> Envelope:
    """Returns when the worker has dealt with the request: the job is cancelled, or it was too late."""
    workspace, _ = opened(given)
    place = workspace.spool
    record = client.cancel(place, given.job_id)
    if record is not None and record.ended:
        return answer.success(job_id=given.job_id, requested=False, obeyed=True, state=record.state)
    obeyed = client.obeyed(place, place.cancel(given.job_id), _CANCEL_SECONDS)
    record = client.status(place, given.job_id)
    state = record.state if record else "in the inbox"
    if obeyed and record is not None and (record.state == "succeeded" or not record.ended):
        raise JobError("CANCEL_TOO_LATE", f"Job {given.job_id} is {state}: its effect is committed.")
    return answer.success(job_id=given.job_id, requested=True, obeyed=obeyed, state=state)


def retry(given: argparse.Namespace) -> Envelope:
    workspace, _ = opened(given)
    record = client.status(workspace.spool, given.job_id)
    if record is None or record.state not in ("failed", "cancelled", "expired"):
        state = record.state if record else "still in the inbox"
        raise JobError(
            "ARGUMENT_INVALID",
            f"Job {given.job_id} is {state}; only failed, cancelled and expired jobs run again.",
        )
    place = workspace.spool
    if not place.ended_copy(record.job_id).exists() and not place.copy(record.job_id).exists():
        raise JobError(
            "JOB_NOT_FOUND",
            f"The copy of job {record.job_id} was removed: its time was over, or what it told of was forgotten.",
            remediation="Submit it anew.",
        )
    client.retry(place, record)
    started = launch.start(workspace, leave_when_idle=True)
    return answer.success(job_id=record.job_id, requested=True, worker_started=started)


def pause(given: argparse.Namespace) -> Envelope:
    """Let what runs finish and begin nothing more, until resume; also across restarts of the worker."""
    return _ask_worker(given, "pause")


def resume(given: argparse.Namespace) -> Envelope:
    return _ask_worker(given, "resume")


def _ask_worker(given: argparse.Namespace, verb: client.Verb) -> Envelope:
    workspace, _ = opened(given)
    place = workspace.spool
    client.request(place, verb)
    obeyed = client.obeyed(place, place.request(verb), _REQUEST_SECONDS)
    return answer.success(request=verb, obeyed=obeyed, worker=worker_of(workspace))


def drain(given: argparse.Namespace) -> Envelope:
    """Work off what is due, take nothing more in, and leave. Returns when the worker has gone."""
    workspace, _ = opened(given)
    place = workspace.spool
    if not launch.is_alive(workspace):
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}.")
    client.request(place, "drain")
    deadline = None if given.timeout is None else time.monotonic() + given.timeout
    client.obeyed(place, place.request("drain"), _REQUEST_SECONDS)
    while launch.is_alive(workspace) and launch.is_leaving(workspace):
        if deadline is not None and time.monotonic() > deadline:
            raise JobError("WAIT_TIMEOUT", f"The worker still drains after {given.timeout:g} s; it goes on.")
        time.sleep(0.05)
    return answer.success(drained=True, worker=worker_of(workspace))


def prune(given: argparse.Namespace) -> Envelope:
    """Remove what has ended and is over by the settings; with no worker, here and now."""
    from . import retention

    workspace, found = opened(given)
    place = workspace.spool
    if not place.root.is_dir():
        return answer.success(pruned=0)
    files.make_folder(place.worker)
    with Lock(place.lock) as lock:
        if not lock.acquire():
            return _ask_worker(given, "prune")
        keep = retention.Keep(
            found.keep_succeeded_days, found.keep_failed_days, found.keep_ended_jobs, found.keep_rejected_files
        )
        live = {record.job_id for record in spool.records(place) if not record.ended}
        count = 0
        while gone := retention.prune(workspace, keep, lambda job_id: job_id in live, time.time()):
            count += gone
    return answer.success(pruned=count)


COMMANDS: dict[str, Callable[[argparse.Namespace], Envelope]] = {
    "jobs list": list_jobs,
    "jobs show": show,
    "jobs wait": wait,
    "jobs cancel": cancel,
    "jobs retry": retry,
    "jobs pause": pause,
    "jobs resume": resume,
    "jobs drain": drain,
    "jobs prune": prune,
}
