"""The file that names the jobs whose own operation runs now, so that a worker's death is counted against no other job.

A job in state ``running`` may still wait for its child process to load. The file is written without a sync: it must
survive a kill of the worker, but after a power cut no death is counted anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobs import files, state_file
from jobs.layout import SpoolPaths
from jobs.model import Record, encode

_MOST_BYTES = 1024 * 1024


class ExecutingJobs:
    """The jobs whose operation runs, in memory and in the file. Not thread-safe."""

    def __init__(self, paths: SpoolPaths) -> None:
        self._path = paths.executing
        self._tickets: dict[str, tuple[int, int]] = {}

    def add(self, records: Iterable[Record]) -> None:
        """Write that the operation of these jobs runs. Raises OSError."""
        self._tickets |= {record.job_id: record.ticket for record in records}
        self._write()

    def remove(self, records: Iterable[Record]) -> None:
        """Write that their operation does not run. Raises OSError."""
        self.forget(records)
        self._write()

    def forget(self, records: Iterable[Record]) -> None:
        """As ``remove``, for attempts that have ended, and without writing: their tickets fit no later attempt."""
        for record in records:
            self._tickets.pop(record.job_id, None)

    def _write(self) -> None:
        files.replace_without_sync(self._path, encode({"schema_version": 1, "tickets": self._tickets}))


def read_executing(paths: SpoolPaths) -> dict[str, tuple[int, int]]:
    """Job id -> ticket (generation and attempt) of the jobs whose operation ran when the worker ended. Empty if the
    file is missing or cannot be read, so that no death is counted in doubt."""
    return state_file.read(paths.executing, _tickets, absent={}, damaged={}, limit=_MOST_BYTES)


def _tickets(content: Any) -> dict[str, tuple[int, int]]:
    found = content["tickets"].items()
    return {str(job_id): (int(generation), int(attempt)) for job_id, (generation, attempt) in found}
