"""What a forgetting asks of the worker, who alone writes records: jobs' files lose the texts of what was forgotten."""

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
    """Steps records, as the ledger does."""

    def __call__(self, events: Mapping[str, Event], tickets: Tickets | None = None) -> list[Record]: ...


def scrubbed(event: Event, paths: SpoolPaths, ledger: Ledger, apply: Apply) -> Event:
    """The outcome of a forgetting, once what it asks for is done; again is the same as once. Raises OSError."""
    if not isinstance(event, lifecycle.Succeeded):
        return event
    result = dict(event.result)
    asked: dict[str, list[str]] = result.pop(JOB_FILES)
    _end(asked["doomed"], ledger, apply)
    rejected = [twin for path in _named(paths.rejected, asked["rejected"]) for twin in _with_reason(path)]
    ledger.scrub([*asked["jobs"], *asked["doomed"]], [*rejected, *_named(paths.inbox, asked["parts"])])
    return lifecycle.Succeeded(result)


def _end(doomed: Collection[str], ledger: Ledger, apply: Apply) -> None:
    """End waiting jobs that would bring back what was forgotten."""
    waiting = [each for each in doomed if (record := ledger.get(each)) is not None and record.state != "running"]
    started = apply({each: lifecycle.Started() for each in waiting})
    failure = lifecycle.Failed(JobError("MEMORY_FORGOTTEN"))
    apply({record.job_id: failure for record in started}, {record.job_id: record.ticket for record in started})


def _named(folder: Path, digests: Collection[str]) -> list[Path]:
    """The files in a folder whose names have these digests."""
    wanted = frozenset(digests)
    return [path for path in folder.iterdir() if name_digest(path.name) in wanted] if wanted else []


def _with_reason(path: Path) -> tuple[Path, Path]:
    """A rejected file and the reason beside it, whichever is given."""
    stem = path.name.removesuffix(".json").removesuffix(".reason")
    return path.with_name(f"{stem}.json"), path.with_name(f"{stem}.reason.json")
