"""What a person asks about the queue, whichever way: which jobs are meant, asking the worker, and what became of it.

The command line and HTTP both come here. Everything goes by files, so it works beside any worker and without one.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from jobs import client, clock, files, launch, record_cache, spool
from jobs.errors import ERRORS, JobError
from jobs.ids import is_job_id
from jobs.kinds import KIND_NAMES
from jobs.layout import SpoolPaths, Workspace
from jobs.model import Record
from jobs.rejected_files import drop_again, kept_file, rejections as rejections
from jobs.states import State

if TYPE_CHECKING:
    from jobs.schema import Heartbeat, JobBrief as JobRow

    from .shapes import AskedJob, AskedWorker, InboxFile, Skipped, WorkerState

CANCEL_SECONDS = 15.0  # a running job stops within 2 s, or 10 in a critical section
REQUEST_SECONDS = 5.0

LIVE = ("queued", "running", "retrying")
REPLAYABLE = ("failed", "expired", "cancelled")
# What "run again all that …" means where no state is named: nobody has said of these that they must not run.
GONE_WRONG = ("failed", "expired", "rejected")
DISMISSED = "dismissed"  # no state of a record: it has gone

_LOOK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Refusal:
    """A job that could not be asked about, or did not do as it was asked."""

    job_id: str
    error: JobError

    def as_dict(self) -> Skipped:
        return {
            "job_id": self.job_id,
            "error_code": self.error.code,
            "error": self.error.message,
            "remediation": self.error.remediation,
        }


@dataclass(frozen=True, slots=True)
class Asked:
    """A job for which the worker was asked (``requested``), or for which there was no need.

    ``obeyed`` is false as long as no worker has read the request. ``state`` is the job's now.
    """

    job_id: str
    state: str
    obeyed: bool
    requested: bool = True

    def as_dict(self) -> AskedJob:
        return {"job_id": self.job_id, "requested": self.requested, "obeyed": self.obeyed, "state": self.state}


@dataclass(slots=True)
class Outcome:
    """What became of a request about several jobs."""

    asked: list[Asked] = field(default_factory=list)
    skipped: list[Refusal] = field(default_factory=list)
    worker_started: bool = False


# --- which jobs are meant ---


def states_of(text: str | None) -> tuple[str, ...]:
    """The states in a text like ``failed,expired``. Raises ARGUMENT_INVALID."""
    words = [word.strip() for word in (text or "").split(",")]
    return tuple(_known("state", word, get_args(State)) for word in words if word)


def kind_of(text: str | None) -> str | None:
    """Raises ARGUMENT_INVALID for what is no kind of job."""
    return None if text is None else _known("kind", text, KIND_NAMES)


def error_of(text: str | None) -> str | None:
    """An error's code, in whichever case. Raises ARGUMENT_INVALID for one that is not in the table."""
    return None if text is None else _known("error", text.strip().upper(), ERRORS)


def _known(what: str, word: str, known: Iterable[str]) -> str:
    names = list(known)
    if word in names:
        return word
    near = get_close_matches(word, names, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "One of: " + ", ".join(names) + "."
    raise JobError("ARGUMENT_INVALID", f"There is no {what} {word[:80]!r}. {hint}")


_SPANS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def moment(text: str | None, now: datetime) -> str | None:
    """A time as a record has it: of ``2h`` or ``3d`` that long ago, or an ISO time or date. Raises ARGUMENT_INVALID."""
    if text is None:
        return None
    span = re.fullmatch(r"(\d{1,6})\s*(s|min|m|h|d|w)", text.strip())
    try:
        if span is not None:
            return clock.iso(now - timedelta(seconds=int(span[1]) * _SPANS[span[2]]))
        given = datetime.fromisoformat(text.strip())
        return clock.iso(given.astimezone(UTC))
    except (ValueError, OverflowError):
        raise JobError(
            "ARGUMENT_INVALID", f"{text[:80]!r} is no time. Write 90min, 2h or 3d, or 2026-11-20T12:00."
        ) from None


def resolved(spool_paths: SpoolPaths, wanted: str) -> str:
    """The id of the job that is meant: given whole, or by a beginning that no other has.

    Raises ARGUMENT_INVALID for a beginning of several, JOB_NOT_FOUND with what is near for one of none.
    """
    if is_job_id(wanted) and (spool_paths.record(wanted).exists() or spool_paths.dropped(wanted).exists()):
        return wanted
    ids = known_ids(spool_paths)
    found = sorted(job_id for job_id in ids if job_id.startswith(wanted)) if wanted else []
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise JobError(
            "ARGUMENT_INVALID",
            f"{wanted!r} begins the ids of {len(found)} jobs: {shown}.",
            remediation="Give more of the id.",
            details={"job_ids": found[:20]},
        )
    near = get_close_matches(wanted, sorted(ids), n=3, cutoff=0.8) if len(ids) <= 10_000 else []
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise JobError("JOB_NOT_FOUND", f"No job {wanted[:80]!r} is waiting, and there is no record of it.{hint}")


def known_ids(spool_paths: SpoolPaths) -> set[str]:
    """The ids of all jobs that have a record or wait in the inbox."""
    return {
        *spool.job_ids(spool_paths.results),
        *(job_id for job_id in spool.job_ids(spool_paths.inbox) if is_job_id(job_id)),
    }


def selected(
    found: Iterable[JobRow],
    default: Sequence[str],
    *,
    states: Sequence[str] = (),
    kind: str | None = None,
    error: str | None = None,
    contains: str | None = None,
    since: str | None = None,
) -> list[str]:
    """The ids of the jobs that match, the oldest first; without ``states``, those in the default ones.

    ``since`` leaves out what came, or ended, before that time.
    """
    matching = fitting(found, states=states or default, kind=kind, error=error, contains=contains, since=since)
    return [brief["job_id"] for brief in sorted(matching, key=record_cache.sort_key)]


def fitting(found: Iterable[JobRow], *, since: str | None = None, **filters: Any) -> list[JobRow]:
    """``briefs.matching``, without what came and ended before ``since``."""
    matching = record_cache.matching(found, **filters)
    return matching if since is None else [brief for brief in matching if last_change(brief) >= since]


def last_change(brief: JobRow) -> str:
    """When the job ended, or came."""
    return str(brief["finished_at"] or brief["accepted_at"] or "")


# --- asking ---


def cancel_many(workspace: Workspace, job_ids: Sequence[str], seconds: float = CANCEL_SECONDS) -> Outcome:
    """Ask for jobs not to run, and wait for so long at most until the worker has dealt with it.

    A job that has ended before is no refusal. One whose effect is committed is (CANCEL_TOO_LATE).
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
    """Run ended jobs again, and see to it that a worker lives. A rejected job's file is dropped anew.

    In place of an id, the name of a file in ``rejected/`` will do. Waits for so long at most until the worker has
    dealt with it; a file that is rejected once more is a refusal. Raises WORKER_START_FAILED.
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
    """Take ended jobs off the list before their time, and wait for so long at most until the worker has done so.

    A job that has not ended is a refusal. The ``state`` of one that has gone is ``dismissed``.
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
    """The worker's copy of a job file; None where its time is over."""
    for path in (spool_paths.copy(job_id), spool_paths.ended_copy(job_id)):
        try:
            found = json.loads(files.read_own(path, spool.RECORD_LIMIT))
        except (OSError, ValueError, RecursionError, JobError):
            continue
        if isinstance(found, dict):
            return found
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
    """Wait until the worker has taken all these files. Returns those that are left when the time is over or nobody
    works."""
    deadline = time.monotonic() + seconds
    left = {path for path in paths if path.exists()}
    while left and time.monotonic() < deadline and client.is_worker_running(spool_paths):
        time.sleep(_LOOK_SECONDS)
        left = {path for path in left if path.exists()}
    return {path for path in left if path.exists()}


def ask_worker(workspace: Workspace, verb: client.Verb, seconds: float = REQUEST_SECONDS) -> AskedWorker:
    """Ask for what is about no single job. ``obeyed`` is false where no worker has read it yet: the next one will."""
    spool_paths = workspace.spool
    client.request(spool_paths, verb)
    obeyed = client.wait_until_handled(spool_paths, spool_paths.request(verb), seconds)
    return {"request": verb, "obeyed": obeyed, "worker": worker_of(workspace)}


def worker_of(workspace: Workspace) -> WorkerState:
    """Whether a worker lives, and what it, or the last one, said of itself."""
    alive = launch.is_alive(workspace)
    try:
        heartbeat: Any = json.loads(files.read_plain(workspace.spool.heartbeat, spool.RECORD_LIMIT)[0])
    except (OSError, ValueError, JobError):
        heartbeat = None
    return {"alive": alive, "heartbeat": cast("Heartbeat", heartbeat) if isinstance(heartbeat, dict) else None}


# --- what waits to become a job ---


def waiting(spool_paths: SpoolPaths) -> list[InboxFile]:
    """What lies in the inbox, the oldest first: ``file``, and ``at``, its time of change in seconds since the epoch."""
    if not spool_paths.root.is_dir():
        return []
    found: list[InboxFile] = []
    for entry in spool.inbox(spool_paths):
        try:
            found.append({"file": entry.path.name, "at": entry.path.lstat().st_mtime})
        except FileNotFoundError:
            continue
    return sorted(found, key=lambda item: item["at"])
