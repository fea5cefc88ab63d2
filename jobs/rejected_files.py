"""Files that could not become jobs: what they are, why, and dropping them anew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import files, spool
from .errors import JobError
from .ids import is_job_id
from .layout import Spool


def rejections(place: Spool, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Rejected files that are still kept, the newest first, and how many there are.

    Each has ``file`` (its name in the inbox), ``kept_as`` (its name in ``rejected/``), ``rejected_at``, ``error`` and
    ``size`` in bytes.
    """
    found = sorted(_reasons(place), reverse=True)
    shown: list[dict[str, Any]] = []
    for _, reason in found:
        if len(shown) == limit:
            break
        told = _told(place, reason)
        if told is not None:
            shown.append(told)
    return shown, len(found)


def _reasons(place: Spool) -> list[tuple[int, str]]:
    """The reason files whose file is there, each with its time of change in nanoseconds."""
    try:
        with os.scandir(place.rejected) as entries:
            names = {entry.name: entry for entry in entries}
    except FileNotFoundError:
        return []
    found = []
    for name, entry in names.items():
        if name.endswith(".reason.json") and f"{name.removesuffix('.reason.json')}.json" in names:
            try:
                found.append((entry.stat(follow_symlinks=False).st_mtime_ns, name))
            except FileNotFoundError:
                continue
    return found


def _told(place: Spool, reason: str) -> dict[str, Any] | None:
    kept = place.rejected / f"{reason.removesuffix('.reason.json')}.json"
    try:
        told = json.loads(files.read_own(place.rejected / reason, spool.RECORD_LIMIT))
        return {
            "file": told["file"],
            "kept_as": kept.name,
            "rejected_at": told["rejected_at"],
            "error": told["error"],
            "size": kept.lstat().st_size,
        }
    except (OSError, ValueError, KeyError, TypeError, JobError):
        return None


def files_of(place: Spool, job_id: str) -> list[Path]:
    """The rejected files that were dropped under that job's id, each followed by its reason."""
    found = []
    for _, reason in _reasons(place):
        told = _told(place, reason) if reason.startswith(job_id[:40]) else None
        if told is not None and told["file"] == f"{job_id}.json":
            found += [place.rejected / told["kept_as"], place.rejected / reason]
    return found


def kept_file(place: Spool, job_id: str) -> str:
    """The name of the newest rejected file of that job. Raises JOB_NOT_FOUND."""
    for _, reason in sorted(_reasons(place), reverse=True):
        told = _told(place, reason) if reason.startswith(job_id[:40]) else None
        if told is not None and told["file"] == f"{job_id}.json":
            return str(told["kept_as"])
    raise JobError("JOB_NOT_FOUND", f"The rejected file of job {job_id} is gone.", remediation="Submit it anew.")


def drop_anew(place: Spool, kept_as: str) -> str:
    """Put a rejected file into the inbox again, under its former name. Returns the job's id.

    Raises JOB_NOT_FOUND, NAME_INVALID for a file whose name is no job's, JOB_ID_CONFLICT while another one waits under
    that name, FILE_UNSAFE, OSError.
    """
    reason = f"{kept_as.removesuffix('.json')}.reason.json"
    told = _told(place, reason) if Path(kept_as).name == kept_as and not kept_as.endswith(".reason.json") else None
    if told is None:
        raise JobError("JOB_NOT_FOUND", f"There is no rejected file {kept_as[:100]!r}.")
    job_id = str(told["file"]).removesuffix(".json")
    if not is_job_id(job_id) or told["file"] != f"{job_id}.json":
        raise JobError("NAME_INVALID", f"{told['file'][:100]!r} does not name a job.")
    if place.dropped(job_id).exists():
        raise JobError("JOB_ID_CONFLICT", f"A file of that name waits in the inbox: {job_id}.json.")
    kept = place.rejected / kept_as
    spool.drop(place, job_id, files.read_plain(kept, spool.RECORD_LIMIT)[0])
    files.remove(kept)  # the drop is durable: a crash before this leaves the same job twice, which is no harm
    files.remove(place.rejected / reason)
    return job_id
