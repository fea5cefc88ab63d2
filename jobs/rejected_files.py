"""Files that could not become jobs: what they are, why, and dropping them anew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from . import files, spool
from .errors import JobError
from .ids import is_job_id
from .layout import SpoolPaths

if TYPE_CHECKING:
    from .schema import RejectedFile


def rejections(paths: SpoolPaths, limit: int) -> tuple[list[RejectedFile], int]:
    """Rejected files that are still kept, the newest first, and how many there are.

    Each has ``file`` (its name in the inbox), ``kept_as`` (its name in ``rejected/``), ``rejected_at``, ``error`` and
    ``size`` in bytes.
    """
    found = sorted(_reasons(paths), reverse=True)
    shown: list[RejectedFile] = []
    for _, reason in found:
        if len(shown) == limit:
            break
        told = _told(paths, reason)
        if told is not None:
            shown.append(told)
    return shown, len(found)


def _reasons(spool_paths: SpoolPaths) -> list[tuple[int, str]]:
    """The reason files whose file is there, each with its time of change in nanoseconds."""
    try:
        with os.scandir(spool_paths.rejected) as entries:
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


def _told(spool_paths: SpoolPaths, reason: str) -> RejectedFile | None:
    kept = spool_paths.rejected / f"{reason.removesuffix('.reason.json')}.json"
    try:
        told = json.loads(files.read_own(spool_paths.rejected / reason, spool.RECORD_LIMIT))
        return {
            "file": told["file"],
            "kept_as": kept.name,
            "rejected_at": told["rejected_at"],
            "error": told["error"],
            "size": kept.lstat().st_size,
        }
    except (OSError, ValueError, KeyError, TypeError, JobError):
        return None


def files_of(spool_paths: SpoolPaths, job_id: str) -> list[Path]:
    """The rejected files that were dropped under that job's id, each followed by its reason."""
    found = []
    for _, reason in _reasons(spool_paths):
        told = _told(spool_paths, reason) if reason.startswith(job_id[:40]) else None
        if told is not None and told["file"] == f"{job_id}.json":
            found += [spool_paths.rejected / told["kept_as"], spool_paths.rejected / reason]
    return found


def kept_file(spool_paths: SpoolPaths, job_id: str) -> str:
    """The name of the newest rejected file of that job. Raises JOB_NOT_FOUND."""
    for _, reason in sorted(_reasons(spool_paths), reverse=True):
        told = _told(spool_paths, reason) if reason.startswith(job_id[:40]) else None
        if told is not None and told["file"] == f"{job_id}.json":
            return str(told["kept_as"])
    raise JobError("JOB_NOT_FOUND", f"The rejected file of job {job_id} is gone.", remediation="Submit it anew.")


def drop_anew(spool_paths: SpoolPaths, kept_as: str) -> str:
    """Put a rejected file into the inbox again, under its former name. Returns the job's id.

    Raises JOB_NOT_FOUND, NAME_INVALID for a file whose name is no job's, JOB_ID_CONFLICT while another one waits under
    that name, FILE_UNSAFE, OSError.
    """
    reason = f"{kept_as.removesuffix('.json')}.reason.json"
    told = (
        _told(spool_paths, reason) if Path(kept_as).name == kept_as and not kept_as.endswith(".reason.json") else None
    )
    if told is None:
        raise JobError("JOB_NOT_FOUND", f"There is no rejected file {kept_as[:100]!r}.")
    job_id = str(told["file"]).removesuffix(".json")
    if not is_job_id(job_id) or told["file"] != f"{job_id}.json":
        raise JobError("NAME_INVALID", f"{told['file'][:100]!r} does not name a job.")
    if spool_paths.dropped(job_id).exists():
        raise JobError("JOB_ID_CONFLICT", f"A file of that name waits in the inbox: {job_id}.json.")
    kept = spool_paths.rejected / kept_as
    spool.drop(spool_paths, job_id, files.read_plain(kept, spool.RECORD_LIMIT)[0])
    files.remove(kept)  # the drop is durable: a crash before this leaves the same job twice, which is no harm
    files.remove(spool_paths.rejected / reason)
    return job_id
