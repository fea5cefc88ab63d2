"""What a machine asks of its team, whether it reaches the database itself or through a gateway.

Each method is one transaction. All raise JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER, TEAM_UNUSABLE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from jobs.model import Job, Record

from .copies import Access, Copy, Overview
from .copy_age import Missing
from .leases import Lease
from .rows import Author, Described, FeedRow, Position, Registered, SharedRow
from .shared_jobs import Cancellation, FailedJob, Posted, Report, SharedJob


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a copy lacks. ``rows`` belong to the state of ``registered``, and are read while they are taken. ``is_all``:
    they are all rows of the workspace, since its history does not contain the copy's position.
    """

    registered: Registered
    rows: Iterator[FeedRow]
    is_all: bool


class Turn(NamedTuple):
    """What a worker finds when it looks: the lease, if a job is due that it may run. Otherwise the workspace as
    ``Team.registered`` gives it, and the seconds until a job may be due, as ``leases.due_in``."""

    lease: Lease | None
    registered: Registered | None
    due_seconds: float | None


class Team(Protocol):
    """Thread-safe."""

    # --- memories ---

    def registered(self, workspace_id: str) -> Registered | None:
        """A workspace's position, model and format; None for one that the team does not know."""

    def memory_count(self, workspace_id: str) -> int:
        """The number of a workspace's memories."""

    def missing(self, workspace_id: str, position: Position) -> Missing | None:
        """What a copy at this position lacks, in numbers; None for a workspace that the team does not know."""

    def share(self, what: Described, change_id: str, rows: Iterable[SharedRow], author: Author) -> None:
        """Make a workspace known, with all its rows as its first change, unless it is known already."""

    def incoming(self, workspace_id: str, position: Position) -> AbstractContextManager[Incoming | None]:
        """What a copy at this position lacks; None for a workspace that the team does not know."""

    def commit(
        self,
        workspace_id: str,
        before: Position,
        rows: Iterable[SharedRow],
        jobs: Sequence[str],
        author: Author,
        format_: int,
    ) -> Position:
        """As ``rows.commit``. Raises JobError: TEAM_CONFLICT, TEAM_LEASE_LOST."""

    # --- leases ---

    def look(self, workspace_id: str, node: str, seconds: float) -> Turn:
        """Take the workspace's lease for so many seconds if a job is due, or else say what there is."""

    def take(self, node: str, served: Sequence[str] | None, seconds: float) -> Lease | None:
        """As ``leases.take``."""

    def renew(self, lease: Lease, seconds: float) -> bool:
        """As ``leases.renew``."""

    def release(self, lease: Lease) -> bool:
        """As ``leases.release``."""

    # --- jobs of the lease's holder ---

    def time(self) -> datetime:
        """The server's time."""

    def due(self, lease: Lease, node: str, limit: int) -> list[SharedJob]:
        """As ``shared_jobs.due``."""

    def running(self, lease: Lease) -> list[Record]:
        """As ``shared_jobs.running``."""

    def write(self, lease: Lease, records: Sequence[Record]) -> None:
        """As ``shared_jobs.write``. Raises JobError: TEAM_LEASE_LOST."""

    def cancel_requests(self, lease: Lease) -> list[str]:
        """As ``shared_jobs.cancel_requests``."""

    def is_committed(self, workspace_id: str, record: Record) -> bool:
        """As ``shared_jobs.is_committed``."""

    def forget_texts(self, lease: Lease) -> None:
        """As ``shared_jobs.forget_texts``. Raises JobError: TEAM_LEASE_LOST."""

    # --- jobs of who asks ---

    def post(self, workspace_id: str, node: str, jobs: Sequence[tuple[Job, Record]]) -> dict[str, Posted]:
        """As ``shared_jobs.post``. Raises JobError: TEAM_NOT_SHARED."""

    def reports(self, node: str, workspace_id: str) -> list[Report]:
        """As ``shared_jobs.reports``."""

    def acknowledge(self, node: str, seen: Sequence[Report]) -> None:
        """As ``shared_jobs.acknowledge``."""

    def cancel(self, workspace_id: str, job_id: str) -> Cancellation:
        """As ``shared_jobs.cancel``."""

    # --- copies, and what operators see ---

    def note_copy(
        self, workspace_id: str, node: str, applied_seq: int, version: str, has_removed_all: bool, *, runs_jobs: bool
    ) -> None:
        """As ``copies.note``. A machine that ``runs_jobs`` keeps the graph that it owns; another one lets it go."""

    def remove_copy(self, workspace_id: str, node: str) -> None:
        """As ``copies.remove``."""

    def copies(self, workspace_id: str) -> list[Copy]:
        """As ``copies.of_workspace``."""

    def access(self, workspace_id: str) -> Access | None:
        """As ``copies.access``; None from a gateway that does not know it."""

    def overview(self, workspace_id: str) -> Overview | None:
        """As ``copies.overview``."""

    def failed_jobs(self, workspace_id: str, limit: int) -> list[FailedJob]:
        """As ``shared_jobs.failed``."""

    def dismiss(self, workspace_id: str, job_ids: Sequence[str] | None) -> int:
        """As ``shared_jobs.dismiss``."""

    def workspaces(self, limit: int) -> list[Overview]:
        """As ``copies.all_workspaces``."""

    # --- notices ---

    def tell(self, workspace_id: str) -> None:
        """Tell all who listen that the workspace has changed."""

    def listen(
        self, workspace_id: str, node: str, heard: Callable[[bool], None], is_stopped: Callable[[], bool]
    ) -> None:
        """Call ``heard(True)`` once it listens, and whenever somebody tells of a change, until ``is_stopped``.

        A gateway looks for its machines, so that they need not: ``heard(False)`` says that nothing has changed."""

    def close(self) -> None:
        """Close all connections."""
