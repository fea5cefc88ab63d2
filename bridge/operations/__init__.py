"""What a job does, by kind. Operations run in the child process, over its stores, and may be run again:
each leaves the same state however often and wherever it was cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jobs.errors import JobError
from jobs.kinds import BY_NAME, Kind
from jobs.lifecycle import Failed, Succeeded

from ..privacy import redaction

if TYPE_CHECKING:
    from jobs.schema import Redactions

    from ..graph.open_stores import Stores

Outcomes = Mapping[str, Succeeded | Failed]
# Told ``done``, ``total`` and ``message`` at points where the work may be set aside for a while: other jobs may
# run over the same stores before the call returns. Never call it inside a transaction.
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Task:
    """A job as an operation sees it. ``sha256`` is the job's digest: with the id, what its effect is noted under.
    ``redactions`` counts the secrets that were taken out of the payload when the job was accepted, by kind."""

    job_id: str
    sha256: str
    payload: dict[str, Any]
    submitted_at: str | None
    accepted_at: str
    correlation_id: str | None = None
    redactions: dict[str, int] = field(default_factory=dict)

    @property
    def asked_at(self) -> str:
        """The time that stands in for a missing one; never that of an attempt, so that a retry says the same."""
        return self.submitted_at or self.accepted_at


Operation = Callable[[Sequence[Task], "Stores", datetime, Progress], Outcomes]


def operation(kind: Kind) -> Operation:
    """What jobs of the kind do: ``run`` of the module that is named after the kind. It is imported when it is needed.

    Raises KeyError for an unknown kind.
    """
    found: Operation = import_module(f"{__name__}.{BY_NAME[kind].module}").run
    return found


def run(kind: Kind, tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Run jobs of one kind together; each has an outcome of its own.

    Raises JobError where none of them could be tried.
    """
    if BY_NAME[kind].holds_text and stores.settings.redact_secrets:
        tasks = [_redacted(task) for task in tasks]
    outcomes = operation(kind)(tasks, stores, now, progress)
    if not stores.settings.redact_secrets:
        return outcomes
    return {job_id: _quoting_none(outcome) for job_id, outcome in outcomes.items()}


def redactions(stores: Stores, *counts: Mapping[str, int]) -> Redactions | None:
    """What a result tells of secrets that were replaced; None where nobody looks for any."""
    return redaction.total(*counts) if stores.settings.redact_secrets else None


def _redacted(task: Task) -> Task:
    """Once more, after intake: a job may have been accepted by an earlier version, or while this was switched off."""
    payload, counts = redaction.redact_value(task.payload)
    return replace(task, payload=payload, redactions=Counter(task.redactions) + Counter(counts)) if counts else task


def _quoting_none(outcome: Succeeded | Failed) -> Succeeded | Failed:
    """What an error says may quote a line of a file."""
    if isinstance(outcome, Succeeded):
        return outcome
    error = outcome.error
    (message, details), counts = redaction.redact_value([error.message, error.details])
    return Failed(JobError(error.code, message, remediation=error.remediation, details=details)) if counts else outcome
