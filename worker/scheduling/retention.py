"""Retention: removes ended jobs, rejected files, quarantined stores and imported copies after their time.

The limits, in days and numbers, are settings.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from bridge.settings import Settings
from jobs import files, plain_files, spool
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace
from jobs.states import State

log = logging.getLogger(__name__)

_DAY = 86_400.0
_HOUR_SECONDS = 3600.0
_MOST_EXCESS = 250  # things that end or are rejected between two prunings at the limits, which a flood exceeds so much
_TOGETHER = 1000


def expired_jobs(
    found: Iterable[tuple[float, str]], settings: Settings, now: float, state: Callable[[str], State | None]
) -> Iterator[str]:
    """The ids of the ended jobs to remove, oldest first. ``found``: their ends in seconds since 1970, and their ids.

    ``state`` returns the final state of a job; None keeps it. It is called only for jobs that the limits may concern.
    """
    oldest_first = sorted(found)
    too_many = max(0, len(oldest_first) - settings.keep_ended_jobs)
    for number, (ended_at, job_id) in enumerate(oldest_first):
        days = (now - ended_at) / _DAY
        if number >= too_many and days <= min(settings.keep_succeeded_days, settings.keep_failed_days):
            return  # all others are younger
        ended_as = state(job_id)
        longest = settings.keep_succeeded_days if ended_as == "succeeded" else settings.keep_failed_days
        if ended_as is not None and (number < too_many or days > longest):
            yield job_id


class Timetable:
    """When a worker prunes: at its start, every hour, and when 250 things more have ended or been rejected than there
    was room for.

    All times are in seconds of one monotonic clock.
    """

    def __init__(self) -> None:
        self._next = 0.0
        self._added = 0
        self._room = 0

    def is_due(self, now: float, added: int) -> bool:
        """Whether to prune. ``added``: how many things have ended or been rejected since the worker's start."""
        return now >= self._next or added - self._added >= self._room + _MOST_EXCESS

    def begun(self, now: float, added: int) -> None:
        """A pruning begins now."""
        self._next, self._added, self._room = now + _HOUR_SECONDS, added, 0

    def ended(self, room: int) -> None:
        """The pruning has removed everything that exceeded the limits, which leave so much ``room``."""
        self._room = room

    def ask(self) -> None:
        """Prune as soon as possible."""
        self._next = 0.0


def prune_all(
    workspace: Workspace, settings: Settings, is_live: Callable[[str], bool], now: float, seconds: float
) -> int | None:
    """Call ``prune`` until nothing exceeds the limits, and begin no further call after so many seconds.

    Returns how many jobs or rejected files can be added before one of the limits is reached; None if time was up.
    """
    until = time.monotonic() + seconds
    while prune(workspace, settings, is_live, now):
        if time.monotonic() >= until:
            return None
    folders = (workspace.spool.results, workspace.spool.rejected)
    jobs, rejected = (sum(1 for _ in plain_files.entries(folder)) for folder in folders)
    return max(0, min(settings.keep_ended_jobs - jobs, settings.keep_rejected_files - rejected // 2))


def prune(
    workspace: Workspace, settings: Settings, is_live: Callable[[str], bool], now: float, at_most: int = _TOGETHER
) -> int:
    """Remove what exceeds the limits. Returns the number of removed things.

    ``at_most`` limits the jobs, and the rejected files with their reasons, of one call; call it until it returns 0.
    ``now``: seconds since 1970.
    """
    spool_paths = workspace.spool
    expired = expired_jobs(_ended(spool_paths, is_live), settings, now, lambda job_id: _end_of(spool_paths, job_id))
    jobs = list(islice(expired, at_most))
    spool.prune(spool_paths, jobs)
    rejected = _remove_all(_rejected(spool_paths, settings, now)[:at_most])
    set_aside = _remove_all(_older(workspace.quarantine, settings.keep_failed_days, now))
    imports = _remove_all(_imported(workspace, settings, is_live, now))
    if jobs or rejected or set_aside or imports:
        log.info("pruned: %d jobs, %d rejected files, %d stores, %d imports", len(jobs), rejected, set_aside, imports)
    return len(jobs) + rejected + set_aside + imports


def _ended(spool_paths: SpoolPaths, is_live: Callable[[str], bool]) -> list[tuple[float, str]]:
    """The modification times of the records of jobs that are not live, with the job ids."""
    return [
        (at, path.stem)
        for path, at in _by_time(spool_paths.results)
        if path.suffix == ".json" and not path.name.startswith(".") and not is_live(path.stem)
    ]


def _end_of(spool_paths: SpoolPaths, job_id: str) -> State | None:
    if spool_paths.copy(job_id).exists():
        return None  # recovery must move the copy first: without its record it would be accepted as a new job
    try:
        record = spool.read_record(spool_paths, job_id)
    except (OSError, ValueError, JobError):
        return None
    return record.state if record is not None and record.ended else None


def _rejected(spool_paths: SpoolPaths, settings: Settings, now: float) -> list[Path]:
    """The rejected files that exceed the limits, each with its reason file."""
    by_age = sorted(_by_time(spool_paths.rejected), key=lambda pair: pair[1])
    reasons = [pair for pair in by_age if pair[0].name.endswith(".reason.json")]
    too_many = max(0, len(reasons) - settings.keep_rejected_files)
    expired: list[Path] = []
    for number, (reason, at) in enumerate(reasons):
        if number < too_many or (now - at) / _DAY > settings.keep_failed_days:
            kept = reason.with_name(reason.name.removesuffix(".reason.json") + ".json")
            expired += [path for path in (kept, reason) if os.path.lexists(path)]
    return expired


def _imported(workspace: Workspace, settings: Settings, is_live: Callable[[str], bool], now: float) -> list[Path]:
    """The copies of succeeded imports, and those that are too old. A failed import keeps its copy for a retry."""
    return [
        path
        for path, at in _by_time(workspace.imports)
        if not is_live(job_id := path.stem.partition("+")[0])
        and ((now - at) / _DAY > settings.keep_failed_days or _end_of(workspace.spool, job_id) == "succeeded")
    ]


def _older(folder: Path, days: float, now: float) -> list[Path]:
    return [path for path, at in _by_time(folder) if (now - at) / _DAY > days]


def _by_time(folder: Path) -> Sequence[tuple[Path, float]]:
    """The entries of a folder with their modification times, unsorted; empty without the folder."""
    times = []
    for entry in plain_files.entries(folder):
        with contextlib.suppress(FileNotFoundError):  # it has just been removed
            times.append((Path(entry.path), entry.stat(follow_symlinks=False).st_mtime))
    return times


def _remove_all(paths: Sequence[Path]) -> int:
    """Remove files, links and folders. Returns the number of removed ones; failures are logged and skipped."""
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                files.remove(path)
    left = [path for path in paths if os.path.lexists(path)]
    if left:
        log.warning("%d things in %s cannot be removed", len(left), left[0].parent)
    return len(paths) - len(left)
