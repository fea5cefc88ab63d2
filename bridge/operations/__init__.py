"""What a job does, by kind. Operations run in the child process, over its stores, and may be run again:
each leaves the same state however often and wherever it was cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

if TYPE_CHECKING:
    from ..stores import Stores

Outcomes = Mapping[str, Succeeded | Failed]
# Told ``done``, ``total`` and ``message`` at points where the work may be set aside for a while: other jobs may
# run over the same stores before the call returns. Never call it inside a transaction.
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Task:
    """A job as an operation sees it. ``sha256`` is the job's digest: with the id, what its effect is noted under."""

    job_id: str
    sha256: str
    payload: dict[str, Any]
    submitted_at: str | None
    accepted_at: str

    @property
    def asked_at(self) -> str:
        """The time that stands in for a missing one; never that of an attempt, so that a retry says the same."""
        return self.submitted_at or self.accepted_at


Operation = Callable[[Sequence[Task], "Stores", datetime, Progress], Outcomes]


def run(kind: str, tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Run jobs of one kind together; each has an outcome of its own.

    Raises JobError where none of them could be tried.
    """
    from . import ask, cognify, compact, forget, graph, import_, ingest, migrate, noop, rebuild, restore, set_status

    operations: dict[str, Operation] = {
        "ask": ask.run,
        "cognify": cognify.run,
        "compact": compact.run,
        "forget": forget.run,
        "graph": graph.run,
        "import": import_.run,
        "ingest": ingest.run,
        "migrate": migrate.run,
        "noop": noop.run,
        "rebuild": rebuild.run,
        "restore": restore.run,
        "set_status": set_status.run,
    }
    if kind not in operations:
        raise JobError("KIND_UNAVAILABLE", f"This version accepts {kind!r} jobs but cannot run them yet.")
    return operations[kind](tasks, stores, now, progress)
