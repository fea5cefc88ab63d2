"""Single jobs: the defaults of a new one; in detail, a job's record, the worker's copy of its file, its entry in the
heartbeat while it runs.

And what the jobs of a page are about, read from those copies, which hold no likely secrets, each once.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bridge.search.bounded_cache import BoundedCache
from bridge.text.template import Enriched, Plain, parse
from jobs import client, heartbeat, launch, spool, state_file
from jobs.errors import JobError, advice
from jobs.ids import new_job_id
from jobs.layout import SpoolPaths, Workspace
from jobs.model import SCHEMA_VERSION, Record
from jobs.states import IN_INBOX
from jobs.subjects import subject_of

from ..documents import document

if TYPE_CHECKING:
    from jobs.schema import InFlight, JobRow

    from .shapes import JobDetails, ListedJob


def add_defaults(job: dict[str, Any]) -> None:
    """Add a new ``job_id`` and the present ``schema_version`` where they are absent, in either spelling: a person or a
    program may send a job without them."""
    if job.keys().isdisjoint(("job_id", "jobId")):
        job["job_id"] = new_job_id()
    if job.keys().isdisjoint(("schema_version", "schemaVersion")):
        job["schema_version"] = SCHEMA_VERSION


def job_details(workspace: Workspace, job_id: str, *, in_markdown: bool = False) -> JobDetails:
    """Everything that the files tell about one job, with ``in_markdown`` also its document. Raises as ``record_of``."""
    paths = workspace.spool
    record = record_of(paths, job_id)
    if record is None:
        return {
            "job": {"job_id": job_id, "state": IN_INBOX},
            "subject": None,
            "advice": None,
            "asked": None,
            "in_flight": None,
        }
    runs = record.state == "running" and launch.is_alive(workspace)
    asked = kept_copy(paths, job_id)
    details: JobDetails = {
        "job": record.as_dict(),
        "subject": None if asked is None else about(asked) or None,
        "advice": advice(record.state, record.error["code"]) if record.error else None,
        "asked": asked,
        "in_flight": in_flight(paths, job_id) if runs else None,
    }
    if in_markdown:
        details["markdown"] = document(record.kind, record.result)
    return details


def record_of(spool_paths: SpoolPaths, job_id: str) -> Record | None:
    """As ``client.status``, but a damaged record raises JobError: JOB_NOT_FOUND too, with a message that says so."""
    try:
        return client.status(spool_paths, job_id)
    except ValueError as error:
        raise damaged(job_id) from error


def damaged(job_id: str) -> JobError:
    """The error of a job whose record is there and cannot be read."""
    return JobError(
        "JOB_NOT_FOUND",
        f"The record of job {job_id} is damaged and cannot be read.",
        remediation="See what can be done: cognee-memory doctor.",
        details={"job_id": job_id},
    )


def kept_copy(spool_paths: SpoolPaths, job_id: str) -> dict[str, Any] | None:
    """The content of the worker's copy of a job file; None if it was removed or is damaged."""
    for path in (spool_paths.copy(job_id), spool_paths.ended_copy(job_id)):
        job = state_file.read(path, state_file.an_object, absent=None, damaged=None, limit=spool.RECORD_LIMIT)
        if job is not None and isinstance(job.get("payload"), dict):
            return job
    return None


def about(job: dict[str, Any]) -> str:
    """What a job is about, from the worker's copy of its file; of a summary's text, its topic. Empty if nothing tells
    it."""
    payload = job["payload"]
    text = payload.get("summary_text", payload.get("summaryText"))
    with suppress(JobError):  # a form that another version accepted
        parsed = parse(text) if isinstance(text, str) else None
        if isinstance(parsed, Enriched | Plain):
            payload = {"summary": {"topic": parsed.content.topic}}
    return subject_of(job.get("kind"), payload)


def in_flight(spool_paths: SpoolPaths, job_id: str) -> InFlight | None:
    """The heartbeat's entry of a running job; None when it does not list the job."""
    latest = heartbeat.read(spool_paths)
    running = latest.get("in_flight", ()) if latest is not None else ()
    return next((each for each in running if each["job_id"] == job_id), None)


_Copy = tuple[str, int, int, int]  # job id, modification time in ns, size in bytes, inode

_MOST_BYTES = 1024 * 1024
_ENTRY_BYTES = 400  # of a key with its subject, about


class JobSubjects:
    """The subjects of the jobs of one spool. Threads may share it."""

    def __init__(self, spool_paths: SpoolPaths) -> None:
        self._paths = spool_paths
        self._known: BoundedCache[_Copy, str] = BoundedCache(_MOST_BYTES)

    def listed(self, rows: Iterable[JobRow]) -> list[ListedJob]:
        """The rows, each with what its job is about."""
        return [{**row, "subject": self._subject(row) or None} for row in rows]

    def _subject(self, row: JobRow) -> str:
        copy = None if row["kind"] is None else self._copy(row["job_id"])
        if copy is None:
            return ""
        known = self._known.get(copy)
        if known is None:
            job = kept_copy(self._paths, row["job_id"])
            known = "" if job is None else about(job)
            self._known.put(copy, known, _ENTRY_BYTES)
        return known

    def _copy(self, job_id: str) -> _Copy | None:
        for path in (self._paths.ended_copy(job_id), self._paths.copy(job_id)):
            try:
                status = path.lstat()
            except OSError:
                continue
            return job_id, status.st_mtime_ns, status.st_size, status.st_ino
        return None
