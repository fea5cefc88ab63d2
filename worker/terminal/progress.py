"""Shows on stderr how far something is while a command waits: a job, from the worker's heartbeat, or the fetching of a
model. Without a terminal there is no progress line."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from bridge.interface.submission import WaitNotices
from jobs import heartbeat
from jobs.layout import Workspace
from jobs.model import Record

from ..admin.job_details import in_flight
from .output import clean, console

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

    from bridge.embedding import installer

_T = TypeVar("_T")

_QUIET_SECONDS = 0.3  # a shorter wait shows no bar
_LOOK_SECONDS = 0.2

_WAITING = {
    "queued": "waits for its turn",
    "retrying": "waits for its next attempt",
    "running": "runs",
}


class Progress:
    """A context manager to call with each record that is read while a command waits.

    It prints why a job waits on any stderr; only a terminal gets the progress line.
    """

    def __init__(self, workspace: Workspace, job_id: str) -> None:
        self._paths = workspace.spool
        self._job_id = job_id
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._next_look = time.monotonic() + _QUIET_SECONDS
        self._notes = WaitNotices(workspace, self._note)
        self._wanted = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, record: Record | None) -> None:
        self._notes(record)
        if not self._wanted or time.monotonic() < self._next_look or (record is not None and record.ended):
            return
        self._next_look = time.monotonic() + _LOOK_SECONDS
        running = in_flight(self._paths, self._job_id) if record is not None and record.state == "running" else None
        progress: Mapping[str, Any] = (running.get("progress") if running is not None else None) or {}
        doing = progress.get("message") or _WAITING["queued" if record is None else record.state]
        kind = record.kind if record is not None and record.kind else "job"
        self._show(clean(f"{kind}: {doing}"), progress.get("done"), progress.get("total"))

    def _show(self, text: str, done: int | None, total: int | None) -> None:
        if self._bar is None or self._task is None:
            self._bar = bar()
            self._task = self._bar.add_task("", total=None, count="")
            self._bar.start()
        count = f"{done or 0:,} of {total:,}" if total else ""
        self._bar.update(self._task, description=text, completed=done or 0, total=total or None, count=count)

    def _note(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(clean(text))
        else:
            print(clean(text), file=sys.stderr)  # noqa: T201


def bar() -> Bar:
    """A progress line with counts and time that disappears at its end; nothing without a terminal."""
    from rich.progress import BarColumn, Progress as Bar, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
    )
    screen = console(stderr=True)
    return Bar(*columns, console=screen, transient=True, disable=not screen.is_terminal)


def with_bar(install: Callable[[installer.Report], _T]) -> _T:
    """What ``install`` returns, which fetches an embedding model; a bar shows what it reports."""
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.DownloadColumn(),
        bars.TransferSpeedColumn(),
        bars.TimeRemainingColumn(),
    )
    screen = console(stderr=True)
    with bars.Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as shown:
        task = shown.add_task("looking", total=None)

        def report(progress: installer.Progress) -> None:
            shown.update(task, description=progress.step, completed=progress.done, total=progress.total or None)

        return install(report)


@contextmanager
def waiting_status(workspace: Workspace, what: str) -> Iterator[None]:
    """A context with a moving line, on a terminal only, that names what the command waits for and which jobs run."""
    if not sys.stderr.isatty():
        yield
        return
    screen = console(stderr=True)
    latest = heartbeat.read(workspace.spool)
    running = [f"{each['kind']} {each['job_id']}" for each in (latest.get("in_flight", ()) if latest else ())]
    more = f" ({', '.join(running[:3])})" if running else ""
    with screen.status(clean(f"waiting for {what}{more}")):
        yield
