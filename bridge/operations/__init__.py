"""Operations: the work that a job does, one module for each kind of job.

They run in the child process, over its stores. Every operation is idempotent: a job that is cut off and runs again
leaves the same state. This package knows neither the worker nor cognee's API; it reaches cognee through
``bridge/graph``.

This module has what the operations share, and ``run``, which calls them and redacts secrets. In reading order:

``refusals``: what a job is refused for, before it is submitted and when it runs.
``rejected_texts``: stores many items together, so that a rejected text fails alone.
``attachments``: in a team, what a job needs of the files of its machine, there and in the service.
``ingest``: stores summaries and conversations as memories.
``cognify``: stores raw texts as memories and has cognee extract nodes and edges from them.
``compact``: previews or applies the merge of a topic into a decision record.
``restore``: undoes a compaction.
``set_status``: changes a memory's status.
``resolve``: records which of two decisions holds.
``judge``: asks the language model which of two decisions holds.
``feedback``: records whether a memory helped.
``follow``: in a team, applies what other machines changed, and removes what they forgot.
``forget``: deletes memories, and the copies of their texts in the workspace.
``migrate``: imports the memories of earlier versions from cognee's store, previews that, or undoes it.
``receipts``: what a migration or a capture did, for its undoing.
``capture``: makes memories of the sessions of other tools, previews that, or undoes it.
``capture_sources``: the sessions that a capture reads, here or as their machine has attached them.
``captured_session``: the capture of one session.
``captured_memories``: the memories made of its segments, and of its failures, each with its fix once.
``import_``: imports an export file.
``ask``: answers a question from the knowledge graph.
``graph``: draws the knowledge graph as an HTML page.
``rebuild``: rebuilds derived data from memory.db.
``check``: verifies all stores.
``noop``: does nothing, fails or crashes, for tests of the job engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from jobs.errors import JobError
from jobs.kinds import BY_NAME, Kind
from jobs.lifecycle import Failed, Succeeded
from jobs.parse import parse_copy

from ..privacy import redaction
from ..privacy.redaction import Redacted
from ..slices import Progress as Progress  # of all operations
from ..store.values import AppliedJob

if TYPE_CHECKING:
    from jobs.model import Job
    from jobs.schema import Redactions

    from ..graph.open_stores import Stores
    from ..store.store import Store

Outcomes = Mapping[str, Succeeded | Failed]

P = TypeVar("P")


class JobCopy(TypedDict):
    """A job as the worker sends it: its copy, unchanged, and what its record says."""

    job_id: str
    copy: str
    accepted_at: str
    correlation_id: str | None


@dataclass(frozen=True, slots=True)
class Task(Generic[P]):
    """A job as an operation sees it. ``payload`` is the model of its kind in ``jobs.payloads``.

    ``redactions`` counts the secrets that were removed from the payload when the job was accepted, by kind.
    """

    job_id: str
    sha256: str
    payload: P
    submitted_at: str | None
    accepted_at: str
    redactions: dict[str, int] = field(default_factory=dict)

    @property
    def asked_at(self) -> str:
        """The time to use where the payload has none: the same in every attempt, so that a retry gives the same."""
        return self.submitted_at or self.accepted_at

    @property
    def applied(self) -> AppliedJob:
        """The job as memory.db knows it once it is applied."""
        return AppliedJob(self.job_id, self.sha256)

    def note_applied(self, store: Store, now: str) -> None:
        """Record the job as applied: from here on a cancellation is too late."""
        with store.change(now, [self.applied]):
            pass


def run(kind: Kind, copies: Sequence[JobCopy], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    """Run jobs of one kind together. Returns the outcome of each job by job id, without secrets in its errors. A copy
    that does not fit its model fails its own job.

    ``run`` of the kind's module returns the result of a job, or raises its JobError. One that has ``run_all`` instead
    returns the outcomes of all, or raises JobError when none could be tried.
    """
    outcomes: dict[str, Succeeded | Failed] = {}
    tasks = []
    for each in copies:
        try:
            tasks.append(task_of_copy(each, kind, stores))
        except JobError as error:
            outcomes[each["job_id"]] = Failed(error)
    operation = import_module(f"{__name__}.{BY_NAME[kind].module}")
    if tasks and hasattr(operation, "run_all"):
        outcomes |= operation.run_all(tasks, stores, now, progress)
    else:
        for task in tasks:
            try:
                outcomes[task.job_id] = Succeeded(operation.run(task, stores, now, progress))
            except JobError as error:
                outcomes[task.job_id] = Failed(error)
    if not stores.settings.redact_secrets:
        return outcomes
    return {job_id: _quoting_none(outcome) for job_id, outcome in outcomes.items()}


def task_of(job: Job, accepted_at: str) -> Task[Any]:
    """The task of a job."""
    return Task(job.job_id, job.sha256, job.payload, job.submitted_at, accepted_at, job.redactions)


def redactions(stores: Stores, *counts: Mapping[str, int]) -> Redactions | None:
    """The field ``redactions`` of a result: the sum of the counts by kind; None when redaction is switched off."""
    return redaction.total(*counts) if stores.settings.redact_secrets else None


def without_secrets(stores: Stores, text: str) -> Redacted:
    """The text with its secrets replaced, and their number by kind; as it is when redaction is switched off."""
    return redaction.redact(text) if stores.settings.redact_secrets else Redacted(text)


def task_of_copy(given: JobCopy, kind: Kind, stores: Stores) -> Task[Any]:
    """The task of a copy. Intake redacts too, but the job may have been accepted by an earlier version, or while
    redaction was switched off. Raises as ``parse_copy``."""
    job = parse_copy(given["job_id"], given["copy"].encode())
    redacts = BY_NAME[kind].holds_text and stores.settings.redact_secrets
    return task_of(redaction.without_secrets(job) if redacts else job, given["accepted_at"])


def _quoting_none(outcome: Succeeded | Failed) -> Succeeded | Failed:
    """The outcome without secrets: an error's message may quote a line of a file."""
    if isinstance(outcome, Succeeded):
        return outcome
    error = outcome.error
    (message, details), counts = redaction.redact_value([error.message, error.details])
    return Failed(JobError(error.code, message, remediation=error.remediation, details=details)) if counts else outcome
