"""Shows the queue live: a screen on a terminal, lines or JSON objects in a pipe. It also follows a growing log."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridge.interface import envelope
from jobs import clock, record_cache
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.record_cache import RecordCache
from jobs.states import ENDS, FAILED, LIVE, State

from ..admin.job_details import JobSubjects
from ..admin.requests import worker_of
from ..admin.selection import filtered, waiting
from ..log import rotated_files
from ..wording import counted
from . import output as terminal
from .job_table import JOB_COLUMNS, JOB_LAYOUT, by_state, rows_of, shown_ids, summary
from .job_views import progress
from .output import Envelope

if TYPE_CHECKING:
    from rich.console import Console, Group

    from jobs.schema import JobRow

    from ..admin.shapes import WorkerStatus

_SHORTEST_PAUSE_SECONDS = 0.1
_NOBODY_SECONDS = 10.0  # a starting worker needs some time
_MOST_CAUSES = 3
_SHORT_ID = 13
_DEFAULT_STATES = ("retrying", *sorted(ENDS))

_Point = tuple[int, State, int]  # generation, state, attempt: a change of these prints a line


def watch(
    workspace: Workspace, filters: Mapping[str, Any], interval: float, *, until_idle: bool, as_json: bool
) -> Envelope:
    """Watch until Ctrl-C, or with ``until_idle`` until no matching job waits or runs. Returns the ended jobs by state.

    With ``until_idle`` the answer is JOBS_FAILED when jobs failed meanwhile. Raises JobError: WORKER_NOT_RUNNING when
    jobs wait and no worker runs.
    """
    began = time.monotonic()
    snapshot = QueueSnapshot(workspace, filters)
    ended: Counter[str] = Counter()
    screen = _Live() if terminal.on_terminal() and not as_json else _Lines(as_json)
    last_alive = began
    try:
        with screen.context:
            while True:
                changes = snapshot.refresh()
                ended.update(job["state"] for job in changes if job["success"] is not None)
                screen.show(snapshot, changes)
                last_alive = time.monotonic() if snapshot.worker["alive"] else last_alive
                if until_idle and snapshot.is_idle:
                    break
                if until_idle and time.monotonic() - last_alive > _NOBODY_SECONDS:
                    raise JobError("WORKER_NOT_RUNNING", "Jobs wait, and no worker runs.")
                time.sleep(max(_SHORTEST_PAUSE_SECONDS, interval))
    except KeyboardInterrupt:
        until_idle = False
    watched = {"ended": dict(ended), "seconds": round(time.monotonic() - began, 1)}
    wrong = sum(ended[state] for state in FAILED)
    if until_idle and wrong:
        error = JobError("JOBS_FAILED", f"{counted(wrong, 'job')} failed meanwhile.")
        return {**envelope.failure(error), **watched}
    return envelope.success(**watched)


class QueueSnapshot:
    """The state of the queue, one scan after the other."""

    def __init__(self, workspace: Workspace, filters: Mapping[str, Any]) -> None:
        self._workspace = workspace
        self._filters = dict(filters)
        self._states = self._filters.pop("states", ())
        self._records = RecordCache(workspace.spool)
        self.subjects = JobSubjects(workspace.spool)
        self._version: int | None = None
        self._points: dict[str, _Point] | None = None
        self.jobs: list[JobRow] = []
        self.worker: WorkerStatus = {"alive": False, "heartbeat": None}
        self.in_inbox = 0  # the number of files that wait in the inbox
        self._has_requests = False

    def refresh(self) -> list[JobRow]:
        """Scan again. Returns the jobs whose state has changed since the last scan, in the order of their changes;
        none at the first scan.

        Requests and the inbox are read before the records: what the worker handles meanwhile is seen twice, never
        missed.
        """
        control = self.paths.control
        self._has_requests = control.is_dir() and any(control.glob("[!.]*.json"))
        self.in_inbox = len(waiting(self.paths))
        self.worker = worker_of(self._workspace)
        version = self._records.refresh()
        if version == self._version:
            return []
        self._version = version
        self.jobs = filtered(self._records.rows(), **self._filters)
        points = {b["job_id"]: (b["generation"], b["state"], b["attempt"]) for b in self.jobs}
        former, self._points = self._points, points
        if former is None:
            return []
        changed = [job for job in self.jobs if former.get(job["job_id"]) != points[job["job_id"]]]
        shown = [job for job in changed if not self._states or job["state"] in self._states]
        return sorted(shown, key=changed_at)

    @property
    def paths(self) -> SpoolPaths:
        """The paths of the job folder."""
        return self._workspace.spool

    @property
    def latest(self) -> list[JobRow]:
        """The jobs in the requested states; by default those that have ended or are retrying, because queued jobs
        are only counted."""
        states = self._states or _DEFAULT_STATES
        return [job for job in self.jobs if job["state"] in states]

    @property
    def is_idle(self) -> bool:
        """Whether, at the last scan, no job waited or ran, the inbox was empty, and no request was unhandled."""
        return not self._has_requests and not self.in_inbox and not any(row["state"] in LIVE for row in self.jobs)


def changed_at(job: JobRow) -> tuple[str, str]:
    """The sort key of a job: the time of its last change, then its id."""
    return job["finished_at"] or job["started_at"] or job["accepted_at"] or "", job["job_id"]


def emit(value: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print one event: a line for people, or one JSON object per line. Raises BrokenPipeError when the reader has
    closed."""
    if as_json:
        envelope.write(envelope.encoded(dict(value)))
    else:
        terminal.say(text)
        sys.stdout.flush()


class _Lines:
    """Prints a line or an object for each change."""

    def __init__(self, as_json: bool) -> None:
        self.context = contextlib.nullcontext()
        self._as_json = as_json
        self._worker: str | None = None

    def show(self, snapshot: QueueSnapshot, changes: Sequence[JobRow]) -> None:
        state = worker_state(snapshot.worker)
        if self._worker is None:
            counts = record_cache.counts(snapshot.jobs)
            words = terminal.plain(by_state(counts))
            emit({"event": "start", "worker": state, "counts": counts}, f"worker {state}; {words or 'no jobs'}",
                 as_json=self._as_json)  # fmt: skip
        elif state != self._worker:
            emit({"event": "worker", "worker": state}, f"worker {state}", as_json=self._as_json)
        self._worker = state
        for job in changes:
            error = f"  {job['error']['code']}" if job["error"] else ""
            text = f"{job['state']:9}  {job['kind'] or '-'}  {job['job_id']}{error}"
            emit({"event": "job", "job": job}, text, as_json=self._as_json)


def worker_state(worker: Mapping[str, Any]) -> str:
    """The state of the worker in one word."""
    if not worker["alive"]:
        return "not running"
    return str((worker["heartbeat"] or {}).get("state", "starting"))


class _Live:
    """A screen that is redrawn after each scan."""

    def __init__(self) -> None:
        from rich.live import Live

        self._console = terminal.console()
        self.context = Live(console=self._console, auto_refresh=False, screen=True, vertical_overflow="crop")

    def show(self, snapshot: QueueSnapshot, changes: Sequence[JobRow]) -> None:
        self.context.update(picture(snapshot, self._console), refresh=True)


def picture(snapshot: QueueSnapshot, screen: Console) -> Group:
    """The worker, the counts, running jobs, causes of failures, and as many jobs as fit the screen."""
    from rich.console import Group

    now = clock.now()
    heartbeat = snapshot.worker["heartbeat"] if snapshot.worker["alive"] else None
    inbox = f", {counted(snapshot.in_inbox, 'file')} in the inbox" if snapshot.in_inbox else ""
    parts: list[Any] = [
        terminal.styled("worker  ", terminal.state(worker_state(snapshot.worker)), "   Ctrl-C ends this, nothing else"),
        terminal.styled("queue   ", *(by_state(record_cache.counts(snapshot.jobs)) or ["empty"]), inbox),
    ]
    running = heartbeat.get("in_flight", []) if heartbeat else []
    if running:
        parts += ["", _running(running)]
    causes = [line for cause in record_cache.causes(snapshot.jobs)[:_MOST_CAUSES] for line in summary(cause)]
    if causes:
        parts += ["", *(terminal.styled(*line) for line in causes)]
    room = screen.height - len(parts) - len(running) - len(causes) // 2 - 4
    page = sorted(snapshot.latest, key=changed_at, reverse=True)[: max(3, room)]
    if page:
        ids = shown_ids([job["job_id"] for job in page], screen.width)
        rows = rows_of(ids, snapshot.subjects.listed(page), now)
        parts += ["", terminal.fitted(screen, JOB_COLUMNS, rows, **JOB_LAYOUT)]
    return Group(*parts)


def _running(running: Sequence[Mapping[str, Any]]) -> Any:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    made = Table.grid("", "", "", "", padding=(0, 1))
    for each in running:
        reported = each["progress"] or {}
        total = reported.get("total")
        bar = ProgressBar(total=total, completed=reported.get("done") or 0, width=16) if total else ""
        more = f" and {each['jobs'] - 1:,} more" if each["jobs"] > 1 else ""
        what = f"{each['kind']} {each['job_id'][:_SHORT_ID]}{more}"
        made.add_row("running", terminal.clean(what), bar, terminal.clean(progress(each)))
    return made


class Tail:
    """Reads new lines at the end of a log, also after the log was rotated."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None
        self._rest = b""
        try:
            self._file, self._at = _identity(path.stat()), path.stat().st_size
        except FileNotFoundError:
            self._at = 0

    def new_lines(self) -> Iterator[str]:
        """The complete lines written since the last call, first those of files that were rotated since."""
        for path, identity in self._unread():
            try:
                with path.open("rb") as log:
                    status = os.fstat(log.fileno())
                    if _identity(status) != identity:
                        return  # rotated just now: the next call continues
                    if identity != self._file or status.st_size < self._at:  # the next file, or one that was cut
                        self._file, self._at, self._rest = identity, 0, b""
                    log.seek(self._at)
                    data = log.read()
            except FileNotFoundError:
                return
            self._at += len(data)
            *whole, self._rest = (self._rest + data).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace")

    def _unread(self) -> list[tuple[Path, tuple[int, int]]]:
        """The files that may have unread lines, with their identities, oldest first: from the one that was read last
        to the present one. Only the present one if the one that was read last was removed."""
        newer: list[tuple[Path, tuple[int, int]]] = []
        for path in (self._path, *rotated_files(self._path)):
            with contextlib.suppress(FileNotFoundError):
                newer.insert(0, (path, _identity(path.stat())))
                if newer[0][1] == self._file:
                    return newer
        return [each for each in newer if each[0] == self._path]


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
