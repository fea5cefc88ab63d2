"""Recovery: repairs every state of the job folder that a crash may leave. Idempotent.

A table decides, by the state of the record, the location of the copy, and whether the dropped file exists. A second
table says which step delivers a committed change to the knowledge graph. ``docs/delivery.md`` shows both.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from bridge.privacy.log_lines import fields
from jobs import clock, files, lifecycle, spool
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.layout import SpoolPaths
from jobs.lifecycle import CRASH_LIMITS, CrashLimits, Interrupted, WorkerDied
from jobs.model import Record
from jobs.parse import parse_copy
from jobs.scrub import keeps_copy

from ..log import of_job
from .ledger import Ledger
from .runnable_jobs import read_executing

log = logging.getLogger(__name__)

RecordIs = Literal["absent", "damaged", "waiting", "running", "ended"]
CopyIs = Literal["absent", "active", "ended"]
Repair = Literal[
    "nothing",  # consistent, or the intake will continue
    "take up",  # a waiting job becomes live
    "end attempt",  # the attempt died with the former worker; the job waits again
    "bring back",  # a replay was interrupted before it moved the copy
    "put away",  # the job ended before its copy was moved
    "drop copy",  # acceptance was interrupted; the dropped file still exists and will be accepted again
    "accept copy",  # acceptance was interrupted, and only the copy exists
    "give up",  # a live record without a copy; the job fails
    "set aside",  # a damaged record without a job; it is quarantined
    "finish pruning",  # the record was removed, but not the copy
]

# The last part of the key is whether the dropped file exists; None where that makes no difference.
REPAIRS: dict[tuple[RecordIs, CopyIs, bool | None], Repair] = {
    ("absent", "absent", True): "nothing",
    ("absent", "active", True): "drop copy",
    ("absent", "active", False): "accept copy",
    ("absent", "ended", None): "finish pruning",
    ("damaged", "absent", None): "set aside",
    ("damaged", "active", None): "accept copy",
    ("damaged", "ended", None): "set aside",
    ("waiting", "active", None): "take up",
    ("waiting", "ended", None): "bring back",
    ("waiting", "absent", None): "give up",
    ("running", "active", None): "end attempt",
    ("running", "ended", None): "bring back",
    ("running", "absent", None): "give up",
    ("ended", "active", None): "put away",
    ("ended", "ended", None): "nothing",
    ("ended", "absent", None): "nothing",
}


@dataclass(frozen=True, slots=True)
class JobFiles:
    """The state of one job's files."""

    job_id: str
    record: Record | None
    record_is: RecordIs
    copy_is: CopyIs
    dropped: bool

    @property
    def repair(self) -> Repair:
        """The repair that the table names."""
        either = REPAIRS.get((self.record_is, self.copy_is, None))
        return either or REPAIRS[self.record_is, self.copy_is, self.dropped]


def recover(
    paths: SpoolPaths, now: datetime, *, worker_died: bool = False, crash_limits: CrashLimits = CRASH_LIMITS
) -> list[Record]:
    """Repair the job folder at the worker's start. Returns the live records, all of them waiting.

    The caller holds the worker's lock. ``worker_died``: the former worker died since the current boot, which is counted
    for the jobs whose own operation ran.
    """
    _remove_parts(paths)
    executing = read_executing(paths) if worker_died else {}
    live = []
    for found in survey(paths):
        ran = found.record is not None and executing.get(found.job_id) == found.record.ticket
        ending = lifecycle.WorkerDied() if ran else lifecycle.Interrupted()
        record = _try_repair(paths, found, now, ending, crash_limits)
        if record is not None:
            live.append(record)
    return live


def reconcile(spool_paths: SpoolPaths, ledger: Ledger, now: datetime) -> None:
    """Repair the job folder while the worker runs: removed records, and jobs that the ledger does not know.

    Without inconsistencies it only lists three folders.
    """
    live = {record.job_id for record in ledger.live()}
    results, active, ended = (
        set(spool.job_ids(folder)) for folder in (spool_paths.results, spool_paths.active, spool_paths.ended)
    )
    lost = live - results
    if lost:
        log.error("recovery: the records of %d live jobs were removed: written again", len(lost))
        ledger.rewrite(lost)
    odd = (active | ended) - live - (ended & results - active)
    for found in _examine(spool_paths, odd, active, ended):
        record = _try_repair(spool_paths, found, now, lifecycle.Interrupted(), CRASH_LIMITS)
        if record is not None and ledger.get(record.job_id) is None:
            ledger.adopt(record)


def survey(spool_paths: SpoolPaths) -> list[JobFiles]:
    """The state of all jobs' files. Read-only."""
    active, ended = set(spool.job_ids(spool_paths.active)), set(spool.job_ids(spool_paths.ended))
    return list(_examine(spool_paths, set(spool.job_ids(spool_paths.results)) | active | ended, active, ended))


def _examine(spool_paths: SpoolPaths, job_ids: set[str], active: set[str], ended: set[str]) -> Iterator[JobFiles]:
    for job_id in sorted(filter(is_job_id, job_ids)):
        record: Record | None = None
        record_is: RecordIs
        try:
            record = spool.read_record(spool_paths, job_id)
        except (ValueError, JobError):
            record_is = "damaged"
        except OSError as error:
            log.error("recovery: the record cannot be read: %s", error, extra=fields(job_id=job_id))
            continue
        else:
            if record is None:
                record_is = "absent"
            elif record.ended:
                record_is = "ended"
            else:
                record_is = "running" if record.state == "running" else "waiting"
        copy_is: CopyIs = "active" if job_id in active else "ended" if job_id in ended else "absent"
        yield JobFiles(job_id, record, record_is, copy_is, spool_paths.dropped(job_id).exists())


def _try_repair(
    spool_paths: SpoolPaths, found: JobFiles, now: datetime, ending: Interrupted | WorkerDied, crash_limits: CrashLimits
) -> Record | None:
    """As ``_apply_repair``, but an OSError, as on a full disk, is logged: it does not stop the other repairs, and
    ``reconcile`` tries again."""
    try:
        return _apply_repair(spool_paths, found, now, ending, crash_limits)
    except OSError as error:
        log.error("recovery: %s failed: %s", found.repair, error, extra=_about(found))
        return None


def _about(found: JobFiles) -> dict[str, Any]:
    return fields(job_id=found.job_id) if found.record is None else of_job(found.record)


def _apply_repair(
    spool_paths: SpoolPaths, found: JobFiles, now: datetime, ending: Interrupted | WorkerDied, crash_limits: CrashLimits
) -> Record | None:
    """Carry out the repair. Returns the record if the job is live afterwards. Raises OSError."""
    if found.repair not in ("nothing", "take up"):
        shown = (found.repair, found.record_is, found.copy_is)
        log.warning("recovery: %s (record %s, copy %s)", *shown, extra=_about(found))
    match found.repair:
        case "nothing":
            pass
        case "take up":
            return found.record
        case "end attempt" | "bring back":
            assert found.record is not None
            record = found.record
            if found.repair == "bring back":
                spool.reopen(spool_paths, found.job_id)
            if record.state == "running":
                record = lifecycle.step(record, ending, now, crash_limits=crash_limits)
                spool.write_records(spool_paths, [record])
            if not record.ended:
                return record
            spool.retire_copy(spool_paths, found.job_id, keep=keeps_copy(record))
        case "put away":
            assert found.record is not None
            spool.retire_copy(spool_paths, found.job_id, keep=keeps_copy(found.record))
        case "drop copy":
            files.remove(spool_paths.copy(found.job_id))
            # Of an earlier job with the same id, whose pruning was interrupted.
            files.remove(spool_paths.ended_copy(found.job_id))
        case "accept copy":
            return _accept_copy(spool_paths, found, now)
        case "give up":
            assert found.record is not None
            error = JobError(
                "JOB_NOT_FOUND", "The worker's copy of the job is gone.", remediation="Submit the job again."
            )
            record = found.record
            if record.state != "running":
                record = lifecycle.step(record, lifecycle.Started(), now)
            spool.write_records(spool_paths, [lifecycle.step(record, lifecycle.Failed(error), now)])
        case "finish pruning":
            files.remove(spool_paths.ended_copy(found.job_id))
        case "set aside":
            if found.copy_is == "ended":  # first, since without its record it would look like interrupted pruning
                _quarantine(spool_paths, spool_paths.ended_copy(found.job_id), now)
            _quarantine(spool_paths, spool_paths.record(found.job_id), now)
    return None


def _quarantine(spool_paths: SpoolPaths, path: Path, now: datetime) -> None:
    error = JobError("JSON_INVALID", "The record was damaged and belongs to no job.")
    spool.reject(spool_paths, path, error, None, clock.iso(now))


def _accept_copy(spool_paths: SpoolPaths, found: JobFiles, now: datetime) -> Record | None:
    job_id = found.job_id
    try:
        job = parse_copy(job_id, spool.read_copy(spool_paths, job_id))
    except JobError as error:
        if found.record_is == "damaged":
            _quarantine(spool_paths, spool_paths.record(job_id), now)
        refused = lifecycle.reject(job_id, error, now)
        spool.reject(spool_paths, spool_paths.copy(job_id), error, refused, clock.iso(now))
        return None
    # Not generation 1: its record is lost, so it may have run. Only the store knows whether its change is committed.
    record = lifecycle.accept(job, now, generation=2)
    spool.write_records(spool_paths, [record])
    return record


def _remove_parts(spool_paths: SpoolPaths) -> None:
    """Remove the unfinished files of the former worker. Those in the inbox belong to clients and are left."""
    for folder in (
        spool_paths.active,
        spool_paths.ended,
        spool_paths.results,
        spool_paths.rejected,
        spool_paths.worker,
    ):
        for part in folder.glob(".*.tmp"):
            if not part.is_dir() or part.is_symlink():  # a folder is not ours, and must not prevent the start
                files.remove(part)
