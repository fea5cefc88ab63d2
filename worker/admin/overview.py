"""The overview of a workspace: worker, queue, memory, disk, and advice for its operator."""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from bridge.graph import installed
from bridge.search import listing
from bridge.settings import Settings
from bridge.store.opening import copy_state, require_model
from bridge.team import copy_age, last_try
from bridge.trust import files_from_elsewhere
from jobs import clock, heartbeat, record_cache
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.rejected_files import rejections
from jobs.states import LIVE

from ..version import VERSION
from ..wording import counted, size, span
from .models import outdated_model
from .requests import worker_of
from .selection import job_rows, waiting

if TYPE_CHECKING:
    from jobs.schema import JobRow

    from .shapes import Overview, StatusFields, WorkerStatus


_AWAY_SECONDS = 120.0


def overview(workspace: Workspace, settings: Settings) -> Overview:
    """The answer of ``cognee-memory status``, read from files, with or without a worker."""
    now = clock.now()
    paths = workspace.spool
    rows = job_rows(paths)
    status: StatusFields = {
        "workspace": str(workspace.root),
        "version": VERSION,
        "now": clock.iso(now),
        "worker": worker_of(workspace),
        "paused": paths.paused.exists(),
        "jobs": {
            "counts": record_cache.counts(rows),
            "causes": record_cache.causes(rows),
            "oldest_waiting_seconds": oldest_waiting(rows, now),
        },
        "waiting_in_inbox": len(waiting(paths)),
        "rejected_files": rejections(paths, 0)[1],
        **listing.counts_or_error(workspace),
        "graph_installed": installed.is_installed(),
        "disk": {"free_bytes": shutil.disk_usage(workspace.root).free, "min_free_bytes": settings.min_free_bytes},
        "team_copy_at": copy_age.current_at(workspace),
        "team_problem": last_try.error_of(workspace),
    }
    from_elsewhere, left_out, earlier = 0, 0, None
    with suppress(OSError, ValueError):  # the worker reports it when it reads the inbox
        from_elsewhere = len(files_from_elsewhere(workspace, settings.config_folder))
    with suppress(JobError):  # it is the memory_error
        earlier = outdated_model(workspace, settings)
        left_out = 0 if status["team_copy_at"] is None else len(copy_state(workspace).set_aside)
    lines = advice(status, now, from_elsewhere, earlier, left_out)
    try:
        require_model(workspace, settings.embedding)
    except JobError as error:
        lines.insert(0, f"{error.message} Until then no memory is stored. {error.remediation}")
    return {**status, "advice": lines}


def oldest_waiting(rows: list[JobRow], now: datetime) -> float | None:
    """The seconds that the oldest waiting job has waited; None without one. Replayed jobs are left out."""
    waits = (b for b in rows if b["state"] in ("queued", "retrying") and not record_cache.is_waiting_replay(b))
    times = [clock.parse(b["accepted_at"]) for b in waits if b["accepted_at"]]
    return round((now - min(times)).total_seconds(), 1) if times else None


def advice(
    status: StatusFields, now: datetime, from_elsewhere: int = 0, earlier_model: str | None = None, left_out: int = 0
) -> list[str]:
    """The next things to do, most urgent first; empty if there is nothing.

    ``from_elsewhere`` of the files in the inbox will be rejected, since a repository may have brought them.
    ``earlier_model``: the store's embedding model, if it is not the configured one. ``left_out``: how many rows of the
    team the copy here could not apply.
    """
    worker, jobs, disk = status["worker"], status["jobs"], status["disk"]
    live = sum(jobs["counts"].get(state, 0) for state in LIVE)
    waits = live + status["waiting_in_inbox"] - from_elsewhere
    lines = []
    if disk["free_bytes"] < disk["min_free_bytes"]:
        lines.append(f"free some disk space: below {size(disk['min_free_bytes'])} new jobs are rejected")
    if not worker["alive"] and waits:
        wait = "waits" if waits == 1 else "wait"
        lines.append(f"cognee-memory worker start: {counted(waits, 'job')} {wait}, and no worker runs")
    if from_elsewhere:
        came = f"{counted(from_elsewhere, 'file')} in the inbox came with a repository, or before this folder was yours"
        start = "" if worker["alive"] else "cognee-memory worker start, then "
        lines.append(
            f"read .cognee_jobs/*.json: {came}. The worker rejects and keeps such files, and runs none."
            f" To run one: {start}cognee-memory jobs retry JOB_ID"
        )
    if status["paused"]:
        lines.append("cognee-memory jobs resume: the worker is paused, no job starts")
    if silent := _silent_seconds(worker, now):
        lines.append(f"cognee-memory doctor: the worker runs, but has written no heartbeat for {span(silent)}")
    wrong = {name: jobs["counts"].get(name, 0) for name in ("failed", "expired")}
    if sum(wrong.values()):
        numbers = ", ".join(f"{count:,} {name}" for name, count in wrong.items() if count)
        lines.append(f"cognee-memory jobs causes: {numbers}; each cause with its remedy")
    if status["rejected_files"]:
        files = counted(status["rejected_files"], "file")
        lines.append(f"cognee-memory jobs list --state rejected: {files} could not become jobs")
    if earlier_model is not None:
        lines.append(
            f"cognee-memory model status: the memories are still to be embedded with another model than {earlier_model}"
        )
    if (problem := status["team_problem"]) is not None:
        lines.append(f"{problem['message']} {problem['remediation']}")
    elif status["team_copy_at"] is not None:
        away = (now - clock.parse(status["team_copy_at"])).total_seconds()
        if worker["alive"] and away > _AWAY_SECONDS:
            lines.append(f"cognee-memory doctor: the team was last reached {span(away)} ago")
    if left_out:
        lines.append(f"cognee-memory doctor: the copy here leaves out {counted(left_out, 'row')} of the team")
    memory, error = status["memory"], status["memory_error"]
    if memory is not None and memory["uncompared"] and not worker["alive"]:
        few = counted(memory["uncompared"], "memory")
        lines.append(f"cognee-memory worker start: {few} to compare with the others, an outdated one may come first")
    if error is not None:
        lines.append(f"cognee-memory doctor: {error['message']}")
    elif (
        not any(jobs["counts"].values())
        and not waits
        and not from_elsewhere
        and memory is not None
        and not memory["memories"]
    ):
        lines.append('cognee-memory ingest "question" "answer": there is nothing here yet')
    return lines


def _silent_seconds(worker: WorkerStatus, now: datetime) -> float:
    """The age in seconds of a running worker's heartbeat if it is stale; else 0."""
    seconds = heartbeat.age_seconds(worker["heartbeat"], now) if worker["alive"] else None
    return seconds if seconds is not None and seconds > heartbeat.STALE_SECONDS else 0.0
