"""The files in ``rejected/``: listing them with their reasons, and dropping one again.

``spool.reject`` moves files there.
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from . import files, plain_files, spool
from .errors import JobError
from .ids import is_job_id, new_job_id
from .layout import SpoolPaths
from .model import encode

if TYPE_CHECKING:
    from .schema import RejectedFile


def rejections(paths: SpoolPaths, limit: int) -> tuple[list[RejectedFile], int]:
    """The newest ``limit`` rejected files that still exist, newest first, and the number of all of them.

    Each has ``file`` (its name in the inbox), ``kept_as`` (its name in ``rejected/``), ``rejected_at``, ``error`` and
    ``size`` in bytes.
    """
    reasons = _reasons(paths)
    found = (_rejection(paths, reason) for reason in reasons)
    return list(islice(filter(None, found), limit)), len(reasons)


def _reasons(spool_paths: SpoolPaths) -> list[str]:
    """The name of each reason file whose rejected file exists, the newest first."""
    names = {entry.name: entry for entry in plain_files.entries(spool_paths.rejected)}
    reasons = []
    for name, entry in names.items():
        if name.endswith(".reason.json") and f"{name.removesuffix('.reason.json')}.json" in names:
            try:
                reasons.append((entry.stat(follow_symlinks=False).st_mtime_ns, name))
            except FileNotFoundError:
                continue
    return [name for _, name in sorted(reasons, reverse=True)]


def _rejection(spool_paths: SpoolPaths, reason: str) -> RejectedFile | None:
    """The entry of ``rejections`` for a reason file; None if the file is damaged or gone."""
    kept = spool_paths.rejected / f"{reason.removesuffix('.reason.json')}.json"
    try:
        content = json.loads(plain_files.read_own(spool_paths.rejected / reason, spool.RECORD_LIMIT))
        return {
            "file": content["file"],
            "kept_as": kept.name,
            "rejected_at": content["rejected_at"],
            "error": content["error"],
            "size": kept.lstat().st_size,
        }
    except (OSError, ValueError, KeyError, TypeError, JobError):
        return None


def files_of(spool_paths: SpoolPaths, job_id: str) -> list[Path]:
    """The rejected files that were dropped under that job id, the newest first, each followed by its reason file."""
    paths = []
    for reason in _reasons(spool_paths):
        rejection = _rejection(spool_paths, reason) if reason.startswith(job_id[:40]) else None
        if rejection is not None and rejection["file"] == f"{job_id}.json":
            paths += [spool_paths.rejected / rejection["kept_as"], spool_paths.rejected / reason]
    return paths


def kept_file(spool_paths: SpoolPaths, job_id: str) -> str:
    """The name in ``rejected/`` of the newest rejected file of that job. Raises JobError: JOB_NOT_FOUND."""
    found = files_of(spool_paths, job_id)
    if not found:
        raise JobError("JOB_NOT_FOUND", f"The rejected file of job {job_id} is gone.", remediation="Submit it again.")
    return found[0].name


def drop_again(spool_paths: SpoolPaths, kept_as: str) -> str:
    """Put a rejected file into the inbox again, under its former name. Returns the job id.

    A file that git tracks is dropped under a new id, since git tracks the former name. Raises JobError: JOB_NOT_FOUND;
    NAME_INVALID for a file that is not named like a job; JOB_INVALID for one that needs a new id and is no job;
    JOB_ID_CONFLICT while another file waits under that name; FILE_UNSAFE. Raises OSError.
    """
    reason = f"{kept_as.removesuffix('.json')}.reason.json"
    is_file_name = Path(kept_as).name == kept_as and not kept_as.endswith(".reason.json")
    rejection = _rejection(spool_paths, reason) if is_file_name else None
    if rejection is None:
        raise JobError("JOB_NOT_FOUND", f"There is no rejected file {kept_as[:100]!r}.")
    job_id = str(rejection["file"]).removesuffix(".json")
    if not is_job_id(job_id) or rejection["file"] != f"{job_id}.json":
        raise JobError("NAME_INVALID", f"{rejection['file'][:100]!r} does not name a job.")
    if spool_paths.dropped(job_id).exists():
        raise JobError("JOB_ID_CONFLICT", f"A file of that name waits in the inbox: {job_id}.json.")
    kept = spool_paths.rejected / kept_as
    data = plain_files.read_plain(kept, spool.RECORD_LIMIT)[0]
    if rejection["error"]["code"] == "FILE_TRACKED":
        job_id = new_job_id()
        data = _under(job_id, data)
    spool.drop(spool_paths, job_id, data)
    files.remove(kept)  # the drop is durable; a crash before this leaves the job in both folders, which is harmless
    files.remove(spool_paths.rejected / reason)
    return job_id


def _under(job_id: str, data: bytes) -> bytes:
    """A job file under another id. Raises JobError: JOB_INVALID."""
    try:
        job = json.loads(data)
        return encode({**job, "job_id": job_id})
    except (ValueError, TypeError, RecursionError) as error:
        raise JobError("JOB_INVALID", f"The rejected file is no job: {error}.") from error
