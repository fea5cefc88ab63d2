"""The worker's part of a forget job: removes the texts of forgotten memories from jobs' files.

The child cannot do it, since only the worker writes records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Protocol

from jobs import lifecycle
from jobs.errors import JobError
from jobs.layout import SpoolPaths
from jobs.lifecycle import Event
from jobs.model import Record
from jobs.scrub import JOB_FILES, name_digest

from .ledger import Ledger, Tickets


class Apply(Protocol):
    """As ``Ledger.apply``."""

    def __call__(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]: ...


def scrubbed(event: Event, paths: SpoolPaths, ledger: Ledger, apply: Apply) -> Event:
    """Scrub the files that a forget job's result names, and return the outcome without these names.

    An outcome other than success is returned unchanged. Idempotent. Raises OSError.
    """
    if not isinstance(event, lifecycle.Succeeded):
        return event
    result = dict(event.result)
    job_files: dict[str, list[str]] = result.pop(JOB_FILES)
    _end(job_files["doomed"], ledger, apply)
    rejected = [twin for path in _named(paths.rejected, job_files["rejected"]) for twin in _with_reason(path)]
    ledger.scrub([*job_files["jobs"], *job_files["doomed"]], [*rejected, *_named(paths.inbox, job_files["parts"])])
    return lifecycle.Succeeded(result)


def _end(job_ids_to_fail: Collection[str], ledger: Ledger, apply: Apply) -> None:
    """Fail the waiting jobs that would store a forgotten text again."""
    waiting = [
        job_id for job_id in job_ids_to_fail if (record := ledger.get(job_id)) is not None and record.state != "running"
    ]
    started = apply({job_id: lifecycle.Started() for job_id in waiting})
    failure = lifecycle.Failed(JobError("MEMORY_FORGOTTEN"))
    apply({record.job_id: failure for record in started}, {record.job_id: record.ticket for record in started})


def _named(folder: Path, digests: Collection[str]) -> list[Path]:
    """The files in a folder whose names have these digests."""
    wanted = frozenset(digests)
    return [path for path in folder.iterdir() if name_digest(path.name) in wanted] if wanted else []


def _with_reason(path: Path) -> tuple[Path, Path]:
    """The paths of a rejected file and of its reason file, from either of them."""
    stem = path.name.removesuffix(".json").removesuffix(".reason")
    return path.with_name(f"{stem}.json"), path.with_name(f"{stem}.reason.json")
