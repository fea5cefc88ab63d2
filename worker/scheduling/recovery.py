"""What a stop at any moment may have left, and how each of it is mended. Running it twice equals once.

The decision is a table over (record, where the copy lies, whether the dropped file is still there), with a second
one for what the knowledge graph is owed. ``docs/delivery.md`` shows both.
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
from jobs.lifecycle import CAPS, Caps, Interrupted, WorkerDied
from jobs.model import Record
from jobs.parse import parse_copy
from jobs.scrub import keeps_copy

from ..log import of_job
from .ledger import Ledger

log = logging.getLogger(__name__)

RecordIs = Literal["absent", "damaged", "waiting", "running", "ended"]
CopyIs = Literal["absent", "active", "ended"]
Repair = Literal[
    "nothing",  # all is well, or intake goes on by itself
    "take up",  # a waiting job: live again
    "end attempt",  # its attempt died with the former worker: waiting again
    "bring back",  # its replay was cut off before the copy had moved
    "put away",  # it ended before its copy was moved aside
    "drop copy",  # accepting was cut off; the dropped file is still there and is accepted anew
    "accept copy",  # accepting was cut off, and the copy is all there is
    "give up",  # a live record without a copy: say so
    "set aside",  # a damaged record that stands for nothing
    "finish pruning",  # its record was removed, its copy not yet
]

REPAIRS: dict[tuple[RecordIs, CopyIs, bool], Repair] = {
    ("absent", "absent", True): "nothing",
    ("absent", "active", True): "drop copy",
    ("absent", "active", False): "accept copy",
    ("absent", "ended", True): "finish pruning",
    ("absent", "ended", False): "finish pruning",
    ("damaged", "absent", True): "set aside",
    ("damaged", "absent", False): "set aside",
    ("damaged", "active", True): "accept copy",
    ("damaged", "active", False): "accept copy",
    ("damaged", "ended", True): "set aside",
    ("damaged", "ended", False): "set aside",
    ("waiting", "active", True): "take up",
    ("waiting", "active", False): "take up",
    ("waiting", "ended", True): "bring back",
    ("waiting", "ended", False): "bring back",
    ("waiting", "absent", True): "give up",
    ("waiting", "absent", False): "give up",
    ("running", "active", True): "end attempt",
    ("running", "active", False): "end attempt",
    ("running", "ended", True): "bring back",
    ("running", "ended", False): "bring back",
    ("running", "absent", True): "give up",
    ("running", "absent", False): "give up",
    ("ended", "active", True): "put away",
    ("ended", "active", False): "put away",
    ("ended", "ended", True): "nothing",
    ("ended", "ended", False): "nothing",
    ("ended", "absent", True): "nothing",
    ("ended", "absent", False): "nothing",
}


Debt = Literal["its next attempt delivers", "maintenance delivers", "nothing"]

# A job whose memory is committed, by whether the graph is still owed it.
DEBTS: dict[tuple[RecordIs, bool], Debt] = {
    ("waiting", True): "its next attempt delivers",
    ("running", True): "its next attempt delivers",
    ("ended", True): "maintenance delivers",
    ("damaged", True): "maintenance delivers",
    ("absent", True): "maintenance delivers",
    ("waiting", False): "nothing",
    ("running", False): "nothing",
    ("ended", False): "nothing",
    ("damaged", False): "nothing",
    ("absent", False): "nothing",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One job as the files show it."""

    job_id: str
    record: Record | None
    record_is: RecordIs
    copy_is: CopyIs
    dropped: bool

    @property
    def repair(self) -> Repair:
        return REPAIRS[self.record_is, self.copy_is, self.dropped]


def recover(paths: SpoolPaths, now: datetime, *, worker_died: bool = False, caps: Caps = CAPS) -> list[Record]:
    """Mend everything; returns the live records, all of them waiting. Call it with the worker's lock held.

    ``worker_died``: the former worker died, and the machine did not; that is counted.
    """
    _remove_parts(paths)
    ending = lifecycle.WorkerDied() if worker_died else lifecycle.Interrupted()
    live = []
    for found in survey(paths):
        record = _try_repair(paths, found, now, ending, caps)
        if record is not None:
            live.append(record)
    return live


def reconcile(spool_paths: SpoolPaths, ledger: Ledger, now: datetime) -> None:
    """Mend what went wrong with the files while the worker runs: records that were removed, jobs that nobody knows.

    What is well costs no more than the listing of three folders.
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
        record = _try_repair(spool_paths, found, now, lifecycle.Interrupted(), CAPS)
        if record is not None and ledger.get(record.job_id) is None:
            ledger.adopt(record)


def survey(spool_paths: SpoolPaths) -> list[Found]:
    """What the files show, changing nothing."""
    active, ended = set(spool.job_ids(spool_paths.active)), set(spool.job_ids(spool_paths.ended))
    return list(_examine(spool_paths, set(spool.job_ids(spool_paths.results)) | active | ended, active, ended))


def _examine(spool_paths: SpoolPaths, job_ids: set[str], active: set[str], ended: set[str]) -> Iterator[Found]:
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
        yield Found(job_id, record, record_is, copy_is, spool_paths.dropped(job_id).exists())


def _try_repair(
    spool_paths: SpoolPaths, found: Found, now: datetime, ending: Interrupted | WorkerDied, caps: Caps
) -> Record | None:
    """One job that cannot be mended now, for the disk is full or something is in the way, does not stop the others:
    the next tending tries again."""
    try:
        return _apply_repair(spool_paths, found, now, ending, caps)
    except OSError as error:
        log.error("recovery: %s failed: %s", found.repair, error, extra=_about(found))
        return None


def _about(found: Found) -> dict[str, Any]:
    return fields(job_id=found.job_id) if found.record is None else of_job(found.record)


def _apply_repair(
    spool_paths: SpoolPaths, found: Found, now: datetime, ending: Interrupted | WorkerDied, caps: Caps
) -> Record | None:
    """Carry out the repair; returns the record if the job is live."""
    if found.repair not in ("nothing", "take up"):
        shown = (found.repair, found.record_is, found.copy_is)
        log.warning("recovery: %s (record %s, copy %s)", *shown, extra=_about(found))
    match found.repair:
        case "nothing":
            return None
        case "take up":
            return found.record
        case "end attempt" | "bring back":
            assert found.record is not None
            record = found.record
            if found.repair == "bring back":
                spool.reopen(spool_paths, found.job_id)
            if record.state == "running":
                record = lifecycle.step(record, ending, now, caps=caps)
                spool.write_records(spool_paths, [record])
            if record.ended:
                spool.retire_copy(spool_paths, found.job_id, keep=keeps_copy(record))
                return None
            return record
        case "put away":
            assert found.record is not None
            spool.retire_copy(spool_paths, found.job_id, keep=keeps_copy(found.record))
            return None
        case "drop copy":
            files.remove(spool_paths.copy(found.job_id))
            files.remove(
                spool_paths.ended_copy(found.job_id)
            )  # of an earlier job of that name, whose pruning was cut off
            return None
        case "accept copy":
            return _accept_copy(spool_paths, found, now)
        case "give up":
            assert found.record is not None
            error = JobError(
                "JOB_NOT_FOUND", "The worker's copy of the job is gone.", remediation="Submit the job anew."
            )
            record = found.record
            if record.state != "running":
                record = lifecycle.step(record, lifecycle.Started(), now)
            spool.write_records(spool_paths, [lifecycle.step(record, lifecycle.Failed(error), now)])
            return None
        case "finish pruning":
            files.remove(spool_paths.ended_copy(found.job_id))
            return None
        case "set aside":
            if found.copy_is == "ended":  # first: without its record it would be taken for what pruning left
                _quarantine(spool_paths, spool_paths.ended_copy(found.job_id), now)
            _quarantine(spool_paths, spool_paths.record(found.job_id), now)
            return None


def _quarantine(spool_paths: SpoolPaths, path: Path, now: datetime) -> None:
    error = JobError("JSON_INVALID", "The record was damaged and stood for no job.")
    spool.reject(spool_paths, spool.Entry(path, path.stem), error, None, clock.iso(now))


def _accept_copy(spool_paths: SpoolPaths, found: Found, now: datetime) -> Record | None:
    job_id = found.job_id
    try:
        job = parse_copy(job_id, spool.read_copy(spool_paths, job_id, spool.RECORD_LIMIT))
    except JobError as error:
        if found.record_is == "damaged":
            _quarantine(spool_paths, spool_paths.record(job_id), now)
        refused = lifecycle.reject(job_id, error, now)
        spool.reject(spool_paths, spool.Entry(spool_paths.copy(job_id), job_id), error, refused, clock.iso(now))
        return None
    record = lifecycle.accept(job, now)
    spool.write_records(spool_paths, [record])
    return record


def _remove_parts(spool_paths: SpoolPaths) -> None:
    """Unfinished writes of the former worker; other writers' parts in the inbox are theirs."""
    for folder in (
        spool_paths.active,
        spool_paths.ended,
        spool_paths.results,
        spool_paths.rejected,
        spool_paths.worker,
    ):
        for part in folder.glob(".*.tmp"):
            if not part.is_dir() or part.is_symlink():  # a folder is no part of ours, and no reason not to start
                files.remove(part)
