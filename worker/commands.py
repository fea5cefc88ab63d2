"""What each command does: from parsed arguments to an envelope. Nothing is printed here."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

from bridge import answer, listing, trust
from bridge.settings import Settings, load, table
from bridge.submission import payload_of, read_json_argument, submit
from jobs import client, files, launch, spool
from jobs.errors import JobError
from jobs.ids import new_job_id
from jobs.layout import Workspace, find_workspace
from jobs.lock import Lock
from jobs.model import SCHEMA_VERSION, Record, State

from . import questions

Envelope = dict[str, Any]

_CANCEL_SECONDS = 15.0  # a running job stops within 2 s, or 10 in a critical section
_REQUEST_SECONDS = 5.0


def run(given: argparse.Namespace) -> Envelope:
    """Carry a command out. Raises JobError."""
    verb = getattr(given, "verb", None)
    return _COMMANDS[given.command if verb is None else f"{given.command} {verb}"](given)


def _workspace(given: argparse.Namespace) -> Workspace:
    return find_workspace(given.workspace, Path.cwd())


def _open(given: argparse.Namespace) -> tuple[Workspace, Settings]:
    workspace = _workspace(given)
    return workspace, trust.settings_of(workspace)


# --- start and see ---


def demo(given: argparse.Namespace) -> Envelope:
    from .demo import demo as play

    return play(load(), keep=given.keep, quiet=given.json)


def setup(given: argparse.Namespace) -> Envelope:
    from .setup_view import provision_with_bar

    folder = provision_with_bar(load().cache_folder, Path(given.source) if given.source else None)
    return answer.success(model_folder=str(folder))


def settings(given: argparse.Namespace) -> Envelope:
    _, found = _open(given)
    return answer.success(settings=[row.__dict__ for row in table(found)])


def trust_workspace(given: argparse.Namespace) -> Envelope:
    workspace = _workspace(given)
    trust.adopt(workspace, load().config_folder, trusted=True)
    return answer.success(workspace=str(workspace.root), trusted=True)


def status(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    return answer.success(
        workspace=str(workspace.root),
        worker=_worker_status(workspace),
        memory=listing.counts(workspace),
        waiting_in_inbox=len(spool.inbox(workspace.spool)) if workspace.spool.root.is_dir() else 0,
    )


def _worker_status(workspace: Workspace) -> dict[str, Any]:
    alive = launch.is_alive(workspace)
    try:
        heartbeat = json.loads(files.read_plain(workspace.spool.heartbeat, spool.RECORD_LIMIT)[0])
    except (OSError, ValueError, JobError):
        heartbeat = None
    return {"alive": alive, "heartbeat": heartbeat}


# --- the process ---


def worker_run(given: argparse.Namespace) -> Envelope:
    from .daemon import serve

    workspace, found = _open(given)
    serve(workspace, found, foreground=True)
    return answer.success(stopped=True)


def worker_start(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    started = launch.start(workspace)
    return answer.success(started=started, worker=_worker_status(workspace))


def worker_stop(given: argparse.Namespace) -> Envelope:
    """SIGTERM to the process that holds the lock; it finishes what runs. Returns when it has gone."""
    workspace, _ = _open(given)
    told: int | None = None
    while launch.is_alive(workspace):
        heartbeat = _worker_status(workspace)["heartbeat"]  # absent while a worker starts
        if heartbeat is not None and told is None:
            told = int(heartbeat["pid"])
            with contextlib.suppress(ProcessLookupError):
                os.kill(told, signal.SIGTERM)
        elif heartbeat is not None and heartbeat["pid"] != told:
            break  # somebody has started another one since
        time.sleep(0.05)
    if told is None:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}.")
    return answer.success(stopped=True)


def worker_restart(given: argparse.Namespace) -> Envelope:
    if launch.is_alive(_workspace(given)):
        worker_stop(given)
    return worker_start(given)


def worker_status(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    found = _worker_status(workspace)
    if not found["alive"]:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}.")
    return answer.success(worker=found)


def worker_logs(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    path = workspace.spool.log
    lines = path.read_text("utf-8", "replace").splitlines()[-given.lines :] if path.exists() else []
    return answer.success(log=str(path), lines=lines)


# --- jobs ---


def ingest(given: argparse.Namespace) -> Envelope:
    workspace, found = _open(given)
    given.user_message, given.assistant_message = [*given.messages, None, None][:2]
    payload = payload_of(given)
    return _submit(given, workspace, found, "ingest", payload, job_id=given.job_id)


def submit_file(given: argparse.Namespace) -> Envelope:
    from jobs.check import check
    from jobs.payloads import JobFile

    workspace, found = _open(given)
    job = read_json_argument(given.file)
    if job.keys().isdisjoint(("job_id", "jobId")):
        job["job_id"] = new_job_id()
    if job.keys().isdisjoint(("schema_version", "schemaVersion")):
        job["schema_version"] = SCHEMA_VERSION
    fields = check(JobFile, job).model_dump(exclude_none=True, exclude={"schema_version"})
    return _submit(given, workspace, found, fields.pop("kind"), fields.pop("payload"), **fields)


def rebuild(given: argparse.Namespace) -> Envelope:
    workspace, found = _open(given)
    return _submit(given, workspace, found, "rebuild", {"what": given.what})


def set_status(given: argparse.Namespace) -> Envelope:
    workspace, found = _open(given)
    payload = {"memory_id": given.memory_id, "status": given.status}
    return _submit(given, workspace, found, "set_status", payload)


def _submit(
    given: argparse.Namespace,
    workspace: Workspace,
    found: Settings,
    kind: str,
    payload: dict[str, Any],
    **fields: Any,
) -> Envelope:
    fields.setdefault("submitted_by", "cli")
    return submit(
        workspace, found, kind, payload,
        start=not given.no_start, wait=given.wait, wait_seconds=given.timeout, **fields,
    )  # fmt: skip


def jobs_list(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
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


def jobs_show(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    record = client.status(workspace.spool, given.job_id)
    return answer.success(job=record.as_dict() if record else {"job_id": given.job_id, "state": "in the inbox"})


def jobs_wait(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    return answer.success(job=client.wait(workspace.spool, given.job_id, given.timeout).as_dict())


def jobs_cancel(given: argparse.Namespace) -> Envelope:
    """Returns when the worker has dealt with the request: the job is cancelled, or it was too late."""
    workspace, _ = _open(given)
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


def jobs_retry(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    record = client.status(workspace.spool, given.job_id)
    if record is None or record.state not in ("failed", "cancelled", "expired"):
        state = record.state if record else "still in the inbox"
        raise JobError(
            "ARGUMENT_INVALID",
            f"Job {given.job_id} is {state}; only failed, cancelled and expired jobs run again.",
        )
    client.retry(workspace.spool, record)
    started = launch.start(workspace, leave_when_idle=True)
    return answer.success(job_id=record.job_id, requested=True, worker_started=started)


def jobs_pause(given: argparse.Namespace) -> Envelope:
    """Let what runs finish and begin nothing more, until resume; also across restarts of the worker."""
    return _ask_worker(given, "pause")


def jobs_resume(given: argparse.Namespace) -> Envelope:
    return _ask_worker(given, "resume")


def _ask_worker(given: argparse.Namespace, verb: client.Verb) -> Envelope:
    workspace, _ = _open(given)
    place = workspace.spool
    client.request(place, verb)
    obeyed = client.obeyed(place, place.request(verb), _REQUEST_SECONDS)
    return answer.success(request=verb, obeyed=obeyed, worker=_worker_status(workspace))


def jobs_drain(given: argparse.Namespace) -> Envelope:
    """Work off what is due, take nothing more in, and leave. Returns when the worker has gone."""
    workspace, _ = _open(given)
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
    return answer.success(drained=True, worker=_worker_status(workspace))


def jobs_prune(given: argparse.Namespace) -> Envelope:
    """Remove what has ended and is over by the settings; with no worker, here and now."""
    from . import retention

    workspace, found = _open(given)
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


# --- memories ---


def mcp(given: argparse.Namespace) -> Envelope:
    """Serve an agent until it goes; the process ends there."""
    from bridge.mcp_server import serve

    from .version import VERSION

    serve(_workspace(given), VERSION)


def memories_list(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    return answer.success(memories=listing.memories(workspace, given.limit, given.topic_id))


def memories_show(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    return answer.success(memory=listing.memory(workspace, given.memory))


def topics(given: argparse.Namespace) -> Envelope:
    workspace, _ = _open(given)
    return answer.success(topics=listing.topics(workspace))


_COMMANDS: dict[str, Callable[[argparse.Namespace], Envelope]] = {
    "demo": demo,
    "setup": setup,
    "settings": settings,
    "trust": trust_workspace,
    "status": status,
    "worker run": worker_run,
    "worker start": worker_start,
    "worker stop": worker_stop,
    "worker restart": worker_restart,
    "worker status": worker_status,
    "worker logs": worker_logs,
    "ingest": ingest,
    "submit": submit_file,
    "rebuild": rebuild,
    "jobs list": jobs_list,
    "jobs show": jobs_show,
    "jobs wait": jobs_wait,
    "jobs cancel": jobs_cancel,
    "jobs retry": jobs_retry,
    "jobs pause": jobs_pause,
    "jobs resume": jobs_resume,
    "jobs drain": jobs_drain,
    "jobs prune": jobs_prune,
    **questions.COMMANDS,
    "mcp": mcp,
    "memories list": memories_list,
    "memories show": memories_show,
    "memories set-status": set_status,
    "topics": topics,
}
