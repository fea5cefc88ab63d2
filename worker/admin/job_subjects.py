"""What the jobs of a page are about, read from the worker's copies of their files, which hold no likely secrets.

Only the copies of the jobs that are shown are read, each once; a copy that was removed, as when a memory is forgotten,
says nothing any more. Where a payload tells it is in ``jobs/kinds``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bridge.search.bounded_cache import BoundedCache
from jobs.layout import SpoolPaths

from .job_details import about, kept_copy

if TYPE_CHECKING:
    from jobs.schema import JobRow

    from .shapes import ListedJob

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
