"""The jobs that store memories and have not done so: what no answer can find yet, although it was accepted or dropped.

It reads the job folder, so it is right without a worker too. Light to import, and two listings where nothing waits.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

from jobs import state_file
from jobs.errors import JobError
from jobs.layout import SpoolPaths, Workspace

from ..interface.question_arguments import snake_case

_MOST = 64  # jobs that are looked at in each folder, so that a flood costs an answer little
_MOST_BYTES = 64 * 1024 * 1024  # of a job's file and of a record, which are read by the worker's limits


def warnings(workspace: Workspace) -> list[str]:
    """The warning of an answer: how many jobs wait. Empty if none does.

    Call it before the store is read: a job that is stored in between is then said to wait, and not left out.
    """
    paths = workspace.spool
    dropped = _names(paths.inbox)  # first, since accepting moves a job from here to there
    ids = list(dict.fromkeys([*dropped, *_names(paths.active)]))
    count = sum(_will_store(workspace, job_id) for job_id in ids[:_MOST]) if ids else 0
    if not count:
        return []
    if len(ids) > _MOST:
        return [f"at least {count} jobs wait: what they store is not found yet"]
    if count == 1:
        return ["1 job waits: what it stores is not found yet"]
    return [f"{count} jobs wait: what they store is not found yet"]


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            jobs = (e.name[:-5] for e in entries if e.name.endswith(".json") and not e.name.startswith("."))
            return list(islice(jobs, _MOST + 1))
    except OSError:
        return []  # nothing was ever dropped here


def _will_store(workspace: Workspace, job_id: str) -> bool:
    """Whether the job stores memories, and they are not in the store."""
    from jobs.kinds import BY_NAME

    job = _job(workspace.spool, job_id)
    kind = BY_NAME.get(str(job.get("kind")))
    if kind is None or not kind.stores:
        return False
    payload = job.get("payload")
    given = {snake_case(name) for name, value in payload.items() if value} if isinstance(payload, dict) else set()
    return given.isdisjoint(kind.stores_nothing_with) and not _is_stored(workspace, job_id)


def _job(paths: SpoolPaths, job_id: str) -> dict[str, Any]:
    """The job's file; empty if it has ended, or is no job."""
    for path in (paths.dropped(job_id), paths.copy(job_id)):  # the copy is there before the dropped file is removed
        if (job := _read(path)) is not None:
            return job
    return {}


def _is_stored(workspace: Workspace, job_id: str) -> bool:
    from ..store.opening import reader_of
    from ..store.values import AppliedJob

    record = _read(workspace.spool.record(job_id))
    if record is None or record.get("state") == "rejected":  # then this is another file under the name
        return False
    if record.get("finished_at") is not None:
        return True  # its copy was not put away yet
    try:
        return reader_of(workspace).is_applied(AppliedJob(job_id, str(record.get("job_sha256"))))
    except JobError:
        return False


def _read(path: Path) -> dict[str, Any] | None:
    return state_file.read(path, state_file.an_object, absent=None, damaged=None, limit=_MOST_BYTES)
