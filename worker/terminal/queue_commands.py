"""The commands of the queue: list, show, wait for, cancel, retry and dismiss jobs; pause, resume, drain and prune."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.interface import envelope
from bridge.interface.submission import require_success
from jobs import client, clock, files, launch, record_cache, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lock import Lock
from jobs.rejected_files import rejections
from jobs.states import VERBS

from ..admin import requests, selection
from ..admin.job_details import damaged, job_details, kept_copy
from ..admin.job_subjects import JobSubjects
from ..admin.requests import worker_of
from ..log import rotated_files
from ..wording import counted
from . import output as terminal
from .output import Envelope
from .process_commands import require_positive, workspace_and_settings
from .progress import Progress, waiting_status

if TYPE_CHECKING:
    from jobs.schema import JobBrief as JobRow, RejectedFile

_MOST_REJECTED = 5  # shown when the command did not ask for rejected files
_LOOK_SECONDS = 0.05

T = TypeVar("T")


# --- listing and showing jobs ---


def list_jobs(args: argparse.Namespace) -> Envelope:
    """A page of jobs, newest first, with the files in the inbox, the rejected files and the causes of failures.

    Raises JobError: ARGUMENT_INVALID when the limit or a filter is wrong.
    """
    workspace, _ = workspace_and_settings(args)
    require_positive(args.limit)
    spool_paths, filters = workspace.spool, filters_of(args)
    rows = matching(spool_paths, filters)
    page = record_cache.page(rows, args.limit, args.after)
    wants_rejected = "rejected" in filters["states"]
    rejected: list[RejectedFile] = []
    total = 0
    if wants_rejected or not any(filters.values()):
        rejected, total = rejections(spool_paths, args.limit if wants_rejected else _MOST_REJECTED)
    return envelope.success(
        jobs=JobSubjects(spool_paths).listed(page.jobs),
        total=page.total,
        next=page.next,
        counts=record_cache.counts(rows),
        causes=record_cache.causes(rows),
        in_inbox=[] if any(filters.values()) else [item["file"] for item in selection.waiting(spool_paths)],
        rejected={"files": rejected, "total": total},
        filtered=any(filters.values()),
    )


def causes(args: argparse.Namespace) -> Envelope:
    """The causes of failures among the jobs that match the filters."""
    workspace, _ = workspace_and_settings(args)
    return envelope.success(causes=record_cache.causes(matching(workspace.spool, filters_of(args))))


def filters_of(args: argparse.Namespace) -> dict[str, Any]:
    """The filters in the form of ``selection.filtered``. Raises JobError: ARGUMENT_INVALID when a value is wrong."""
    return {
        "states": selection.states_of(args.state),
        "kind": selection.kind_of(args.kind),
        "error": selection.error_of(args.error),
        "contains": args.contains,
        "since": selection.moment(args.since, clock.now()),
    }


def matching(spool_paths: SpoolPaths, filters: dict[str, Any]) -> list[JobRow]:
    """The job rows that match the filters."""
    return selection.filtered(selection.job_rows(spool_paths), **filters)


def show(args: argparse.Namespace) -> Envelope:
    """One job: its record, its copy if it is kept, its progress and, with ``--log``, its log lines.

    Raises as ``job_details``.
    """
    workspace, _ = workspace_and_settings(args)
    job_id = selection.resolved(workspace.spool, args.job_id)
    log = {"log": list(log_lines(workspace.spool, job_id))} if args.log else {}
    return envelope.success(**job_details(workspace, job_id), **log)


def log_lines(spool_paths: SpoolPaths, job_id: str) -> Iterator[str]:
    """The lines of the log about a job, the oldest first, including rotated files."""
    for path in (*reversed(rotated_files(spool_paths.log)), spool_paths.log):
        try:
            with path.open(encoding="utf-8", errors="replace") as lines:
                yield from (line.rstrip("\n") for line in lines if job_id in line)
        except OSError:
            continue


def wait(args: argparse.Namespace) -> Envelope:
    """Wait for a job's end; returns its result. Raises the job's JobError unless it succeeded."""
    workspace, _ = workspace_and_settings(args)
    spool_paths = workspace.spool
    job_id = selection.resolved(spool_paths, args.job_id)
    try:
        with Progress(workspace, job_id) as seen:
            record = client.wait(spool_paths, job_id, args.timeout, seen)
    except ValueError as error:
        raise damaged(job_id) from error
    require_success(record)
    return envelope.success(job=record.as_dict(), asked=kept_copy(spool_paths, job_id), in_flight=None)


def watch(args: argparse.Namespace) -> Envelope:
    """Show the queue live until Ctrl-C, or until it is idle."""
    from .watch import watch as look_on

    workspace, _ = workspace_and_settings(args)
    return look_on(workspace, filters_of(args), args.interval, until_idle=args.until_idle, as_json=args.json)


# --- requests to the worker ---


def cancel(args: argparse.Namespace) -> Envelope:
    """Cancel jobs. Returns when the worker has answered the request: each job is cancelled, or it was too late."""
    workspace, _ = workspace_and_settings(args)
    job_ids = _selected_ids(args, workspace.spool, "cancel", "Cancel")
    with waiting_status(workspace, "the worker to end the running jobs"):
        outcome = requests.cancel_many(workspace, job_ids)
    return _outcome_envelope(args, outcome)


def retry(args: argparse.Namespace) -> Envelope:
    """Run failed or rejected jobs again."""
    workspace, _ = workspace_and_settings(args)
    job_ids = _selected_ids(args, workspace.spool, "retry", "Run again")
    outcome = requests.retry_many(workspace, job_ids, start=not args.no_start)
    return _outcome_envelope(args, outcome, worker_started=outcome.worker_started)


def dismiss(args: argparse.Namespace) -> Envelope:
    """Remove ended jobs from the list."""
    workspace, _ = workspace_and_settings(args)
    job_ids = _selected_ids(args, workspace.spool, "dismiss", "Remove from the list")
    return _outcome_envelope(args, requests.dismiss_many(workspace, job_ids))


def _selected_ids(args: argparse.Namespace, spool_paths: SpoolPaths, verb: str, what: str) -> list[str]:
    """The job ids of a request: those given, or those that match the filters after the user has confirmed them.

    ``verb`` is one of ``VERBS``, ``what`` says it to the user.

    Raises JobError: ARGUMENT_INVALID, JOB_NOT_FOUND, NOT_CONFIRMED.
    """
    filters = filters_of(args)
    if bool(args.job_ids) == any(filters.values()):
        raise JobError(
            "ARGUMENT_INVALID",
            "Name jobs, or say which with --state, --kind, --error, --contains or --since; not both.",
            remediation="See cognee-memory jobs list.",
        )
    if args.job_ids:
        return [each if each.endswith(".json") else selection.resolved(spool_paths, each) for each in args.job_ids]
    allowed = VERBS[verb].states
    if wrong := [state for state in filters["states"] if state not in allowed]:
        possible = f"only {', '.join(allowed)} ones"
        raise JobError("ARGUMENT_INVALID", f"{what}: {wrong[0]} jobs cannot be selected, {possible}.")
    rows = selection.job_rows(spool_paths)
    job_ids = selection.selected_for(verb, rows, **filters)
    if job_ids and not args.yes:
        known = {row["job_id"]: row for row in rows}
        unconfirmed = f"{counted(len(job_ids), 'job')} would be affected; not confirmed."
        terminal.confirm(args.json, [_line(known[job_id]) for job_id in job_ids], "job", f"{what}?", unconfirmed)
    return job_ids


def _line(brief: JobRow) -> str:
    error = f"  {brief['error']['code']}" if brief["error"] else ""
    return f"{brief['job_id']}  {brief['kind'] or '-'}  {brief['state']}{error}"


def _outcome_envelope(args: argparse.Namespace, outcome: requests.Outcome, **more: bool) -> Envelope:
    """The envelope for one named job, or for several: then each outcome, and a failure if one was refused."""
    if len(args.job_ids) == 1:
        if outcome.skipped:
            raise outcome.skipped[0].error
        return envelope.success(**outcome.jobs[0].as_dict(), **more)
    answer: dict[str, Any] = {
        "jobs": [job.as_dict() for job in outcome.jobs],
        "requested": sum(job.requested for job in outcome.jobs),
        "skipped": [skipped.as_dict() for skipped in outcome.skipped],
        **more,
    }
    if outcome.skipped:
        many = counted(len(outcome.skipped), "job")
        of = len(outcome.jobs) + len(outcome.skipped)
        return {**envelope.failure(JobError("PARTLY_REFUSED", f"{many} of {of} refused.")), **answer}
    return envelope.success(**answer)


def pause(args: argparse.Namespace) -> Envelope:
    """Pause the queue until ``resume``, also across restarts of the worker. Running jobs finish."""
    return envelope.success(**requests.ask_worker(workspace_and_settings(args)[0], "pause"))


def resume(args: argparse.Namespace) -> Envelope:
    """Resume a paused queue."""
    return envelope.success(**requests.ask_worker(workspace_and_settings(args)[0], "resume"))


def drain(args: argparse.Namespace) -> Envelope:
    """Let the worker finish all due jobs, accept no more drops and exit. Returns when it has exited.

    Raises JobError: WORKER_NOT_RUNNING, also when the worker stops before it reads the request; WAIT_TIMEOUT.
    """
    workspace, _ = workspace_and_settings(args)
    deadline = None if args.timeout is None else time.monotonic() + args.timeout
    with waiting_status(workspace, "the due jobs to be finished"):
        # A starting worker removes the request: it was for its predecessor. So its heartbeat has to be there first.
        pid = _wait_for(lambda: _worker_pid(workspace), workspace, args.timeout, deadline)
        client.request(workspace.spool, "drain")
        request = workspace.spool.request("drain")
        _wait_for(lambda: not request.exists(), workspace, args.timeout, deadline)
        _wait_for(lambda: _has_left(workspace, pid), workspace, args.timeout, deadline)
    return envelope.success(drained=True, worker=worker_of(workspace))


def _worker_pid(workspace: Workspace) -> int | None:
    from ..processes import running_heartbeat  # psutil takes time to import

    heartbeat = running_heartbeat(workspace)
    return None if heartbeat is None else heartbeat["pid"]


def _has_left(workspace: Workspace, pid: int) -> bool:
    """Whether the worker has exited, or another one has taken its place."""
    return not launch.is_alive(workspace) or _worker_pid(workspace) not in (pid, None)


def _wait_for(look: Callable[[], T | None], workspace: Workspace, seconds: float | None, deadline: float | None) -> T:
    """The first true result of ``look``. Raises JobError: WAIT_TIMEOUT, WORKER_NOT_RUNNING when the worker ends."""
    while True:
        is_alive = launch.is_alive(workspace)
        if found := look():
            return found
        if not is_alive:
            raise JobError("WORKER_NOT_RUNNING", f"No worker works on {workspace.root}, so nothing was drained.")
        if deadline is not None and time.monotonic() > deadline:
            raise JobError(
                "WAIT_TIMEOUT",
                f"The worker has not drained after {seconds:g} s; it goes on.",
                remediation="See what it does: cognee-memory worker status.",
            )
        time.sleep(_LOOK_SECONDS)


def prune(args: argparse.Namespace) -> Envelope:
    """Remove records and files past their retention. A running worker does it; otherwise this process does."""
    from ..scheduling import retention

    workspace, settings = workspace_and_settings(args)
    spool_paths = workspace.spool
    if not spool_paths.root.is_dir():
        return envelope.success(pruned=0)
    files.make_folder(spool_paths.worker)
    with Lock(spool_paths.lock) as lock:
        if not lock.acquire():
            return envelope.success(**requests.ask_worker(workspace, "prune"))
        keep = retention.RetentionLimits.from_settings(settings)
        live = {record.job_id for record in spool.records(spool_paths) if not record.ended}
        count = 0
        while gone := retention.prune(workspace, keep, lambda job_id: job_id in live, time.time()):
            count += gone
    return envelope.success(pruned=count)
