"""The commands that make a request to the worker: ``jobs cancel``, ``retry``, ``dismiss``, ``pause``, ``resume``,
``drain`` and ``prune``."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.interface import envelope
from bridge.interface.arguments import add_no_start
from jobs import client, files, launch, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.lock import Lock
from jobs.states import VERBS

from ..admin import requests, selection
from ..admin.requests import worker_of
from ..wording import counted
from . import output as terminal
from .command_line import Given, Show, added, option, verb
from .job_table import by_state, filters_of, which_jobs
from .output import Envelope, say, state
from .progress import waiting_status

if TYPE_CHECKING:
    from jobs.schema import JobRow

T = TypeVar("T")

_LOOK_SECONDS = 0.05

_MOST_NAMED = 5


def _many_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job_ids", metavar="JOB_ID", nargs="*", help="job ids, or unique prefixes of them")
    which_jobs(parser)
    parser.add_argument("--yes", action="store_true", help="with filters: do not ask for confirmation")


def _outcome(then: str, done: str) -> Show:
    """Prints the state of each job, or for many jobs the number in each state, and those that were left as they are.

    ``then``: what becomes of a job once a worker handles the request. ``done``: what was done with it.
    """

    def show(answer: Envelope) -> None:
        jobs = [answer] if "job_id" in answer else list(answer["jobs"])
        late = [job for job in jobs if not job["obeyed"]]
        if len(jobs) <= _MOST_NAMED:
            for job in jobs:
                say(state(job["state"]), f" {job['job_id']}")
        else:
            say(*by_state(Counter(job["state"] for job in jobs)))
        if late:
            say(f"The worker has not handled {counted(len(late), 'request')} yet: each {then} as soon as one does.")
        if "jobs" not in answer:
            return
        for refused in answer["skipped"]:
            say(("left ", "bold red"), f"{refused['job_id']}: {refused['error_code']}: {refused['error']}")
        left = f", {len(answer['skipped']):,} left" if answer["skipped"] else ""
        say(f"{counted(len(jobs), 'job')} {done}{left}." if jobs or left else "No job matches.")

    return show


_WHAT = {"cancel": "Cancel", "retry": "Run again", "dismiss": "Remove from the list"}


@verb(
    "jobs cancel",
    "cancel jobs, unless their change is committed",
    ["cancel JOB_ID", "cancel JOB_ID JOB_ID", "cancel --kind cognify --yes"],
    more="With filters instead of ids: all matching jobs that wait or run.",
    needs="asks",
    show=_outcome("is cancelled", "cancelled"),
)
@added(_many_jobs)
@verb(
    "jobs retry",
    "run ended jobs again; the file of a rejected job is dropped again",
    ["retry JOB_ID", "retry --error LLM_NOT_CONFIGURED", "retry --state failed --since 1d --yes"],
    more="With filters instead of ids: all matching jobs that failed, expired or were rejected;"
    " cancelled jobs only with --state cancelled.",
    needs="starts",
    show=_outcome("runs again", "run again"),
)
@added(_many_jobs)
@added(add_no_start)
@verb(
    "jobs dismiss",
    "remove the records of ended jobs early; the changes that the jobs made stay",
    ["dismiss JOB_ID", "dismiss --error TOPIC_NOT_FOUND", "dismiss --state cancelled --yes"],
    more="With filters instead of ids: all matching jobs that failed, expired or were rejected.",
    needs="asks",
    show=_outcome("is removed", "removed from the list"),
)
@added(_many_jobs)
def ask(args: Given) -> Envelope:
    """Cancel jobs, run them again or remove them from the list. Returns when the worker has answered the request, or
    after a while."""
    job_ids = _selected_ids(args, args.place.spool)
    start = not getattr(args, "no_start", False)
    with waiting_status(args.place, "the worker to answer"):
        outcome = requests.ask(args.place, args.verb, job_ids, start=start)
    started = {"worker_started": outcome.worker_started} if args.verb == "retry" else {}
    return _outcome_envelope(args, outcome, **started)


def _selected_ids(args: Given, spool_paths: SpoolPaths) -> list[str]:
    """The job ids of a request: those given, or those that match the filters after the user has confirmed them.

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
    allowed, what = VERBS[args.verb].states, _WHAT[args.verb]
    if wrong := [state for state in filters["states"] if state not in allowed]:
        possible = f"only {', '.join(allowed)} ones"
        raise JobError("ARGUMENT_INVALID", f"{what}: {wrong[0]} jobs cannot be selected, {possible}.")
    rows = selection.job_rows(spool_paths)
    job_ids = selection.selected_for(args.verb, rows, **filters)
    if job_ids and not args.yes:
        known = {row["job_id"]: row for row in rows}
        unconfirmed = f"{counted(len(job_ids), 'job')} would be affected; not confirmed."
        terminal.confirm(args.json, [_line(known[job_id]) for job_id in job_ids], "job", f"{what}?", unconfirmed)
    return job_ids


def _line(job: JobRow) -> str:
    error = f"  {job['error']['code']}" if job["error"] else ""
    return f"{job['job_id']}  {job['kind'] or '-'}  {job['state']}{error}"


def _outcome_envelope(args: Given, outcome: requests.Outcome, **more: bool) -> Envelope:
    """The envelope for one named job, or for several: then each outcome, and a failure if one was refused."""
    if len(args.job_ids) == 1:
        if outcome.skipped:
            raise outcome.skipped[0][1]
        return envelope.success(**outcome.jobs[0], **more)
    answer: dict[str, Any] = {
        "jobs": outcome.jobs,
        "requested": sum(job["requested"] for job in outcome.jobs),
        "skipped": outcome.shown_skipped(),
        **more,
    }
    if outcome.skipped:
        many = counted(len(outcome.skipped), "job")
        of = len(outcome.jobs) + len(outcome.skipped)
        return {**envelope.failure(JobError("PARTLY_REFUSED", f"{many} of {of} refused.")), **answer}
    return envelope.success(**answer)


def requested(answer: Envelope) -> None:
    """Print whether the worker has carried out a control request."""
    if answer["obeyed"]:
        heartbeat = answer["worker"]["heartbeat"] or {}
        say(f"{answer['request']}: done; the worker is ", state(heartbeat.get("state", "starting")))
    else:
        say(f"{answer['request']}: requested; it takes effect as soon as a worker handles the request")


@verb("jobs pause", "finish the running jobs and start no more, until resume", needs="asks", show=requested)
@verb("jobs resume", "start jobs again after a pause", needs="asks", show=requested)
def ask_worker(args: Given) -> Envelope:
    """Pause the queue until ``resume``, also across restarts of the worker; running jobs finish. Or resume it."""
    return envelope.success(**requests.ask_worker(args.place, args.verb))


def drained(answer: Envelope) -> None:
    """Print that the queue is drained."""
    say("drained: the due jobs are finished, and the worker has stopped")


@verb(
    "jobs drain",
    "run the due jobs, accept no more, and let the worker exit",
    ["drain", "drain --timeout 60"],
    needs="worker",
    show=drained,
)
@option("--timeout SECONDS", "maximum time to wait (default: no limit)", type=float)
def drain(args: Given) -> Envelope:
    """Let the worker finish all due jobs, accept no more drops and exit. Returns when it has exited.

    Raises JobError: WORKER_NOT_RUNNING, also when the worker stops before it reads the request; WAIT_TIMEOUT.
    """
    deadline = None if args.timeout is None else time.monotonic() + args.timeout
    with waiting_status(args.place, "the due jobs to be finished"):
        # A starting worker removes the request: it was for its predecessor. So its heartbeat has to be there first.
        pid = _wait_for(lambda: _worker_pid(args.place), args.place, args.timeout, deadline)
        client.request(args.place.spool, "drain")
        request = args.place.spool.request("drain")
        _wait_for(lambda: not request.exists(), args.place, args.timeout, deadline)
        _wait_for(lambda: _has_left(args.place, pid), args.place, args.timeout, deadline)
    return envelope.success(drained=True, worker=worker_of(args.place))


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


def pruned(answer: Envelope) -> None:
    """Print how much was removed."""
    if "pruned" in answer:
        say(f"{counted(answer['pruned'], 'file')} past their retention removed: records, rejected files, old copies.")
    else:
        requested(answer)


@verb("jobs prune", "remove records and rejected files whose retention time is over", show=pruned)
def prune(args: Given) -> Envelope:
    """Remove records and files past their retention. A running worker does it; otherwise this process does."""
    from ..scheduling import retention

    spool_paths = args.place.spool
    if not spool_paths.root.is_dir():
        return envelope.success(pruned=0)
    files.make_folder(spool_paths.worker)
    with Lock(spool_paths.lock) as lock:
        if not lock.acquire():
            return envelope.success(**requests.ask_worker(args.place, "prune"))
        live = {record.job_id for record in spool.records(spool_paths) if not record.ended}
        count = 0
        while gone := retention.prune(args.place, args.settings, lambda job_id: job_id in live, time.time()):
            count += gone
    return envelope.success(pruned=count)
