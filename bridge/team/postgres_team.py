"""The team's database, reached directly: by workers on hosts of the team, and by the gateway."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from jobs.model import Job, Record

from . import copies, leases, notices, rows, shared_jobs
from .copies import Access, Copy, Overview
from .copy_age import Missing
from .leases import Lease
from .protocol import Incoming, Turn
from .rows import Author, Described, Position, Registered, SharedRow
from .server import Connections
from .shared_jobs import Cancellation, FailedJob, Posted, Report, SharedJob

_LISTEN_SECONDS = 1.0


class PostgresTeam:
    """``Team`` over a server's connections."""

    def __init__(self, server: Connections) -> None:
        self._server = server

    # --- memories ---

    def registered(self, workspace_id: str) -> Registered | None:
        with self._server.connection() as connection:
            return rows.registered(connection, workspace_id)

    def memory_count(self, workspace_id: str) -> int:
        with self._server.connection() as connection:
            return rows.memory_count(connection, workspace_id)

    def missing(self, workspace_id: str, position: Position) -> Missing | None:
        with self._server.connection() as connection:
            return rows.missing(connection, workspace_id, position)

    def share(self, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author) -> None:
        with self._server.connection() as connection, connection.transaction():
            if rows.registered(connection, what.workspace_id) is None:
                rows.register(connection, what)
                start = Position(0, "")
                rows.commit(connection, what.workspace_id, start, all_rows, [], author, what.format, change_id)

    @contextmanager
    def incoming(self, workspace_id: str, position: Position) -> Iterator[Incoming | None]:
        with self._server.snapshot() as connection:
            found = rows.registered(connection, workspace_id)
            if found is None:
                yield None
                return
            is_all = not rows.has(connection, workspace_id, position)
            after = rows.rows_after(connection, workspace_id, 0 if is_all else position.seq)
            yield Incoming(found, iter(()) if found.position == position else after, is_all)

    def commit(
        self,
        workspace_id: str,
        before: Position,
        changed: Iterable[SharedRow],
        jobs: Sequence[str],
        author: Author,
        format_: int,
    ) -> Position:
        with self._server.connection() as connection:
            return rows.commit(connection, workspace_id, before, changed, jobs, author, format_)

    # --- leases ---

    def look(self, workspace_id: str, node: str, seconds: float) -> Turn:
        with self._server.connection() as connection:
            lease = leases.take(connection, node, [workspace_id], seconds)
            if lease is not None:
                return Turn(lease, None, None)
            return Turn(
                None, rows.registered(connection, workspace_id), leases.due_in(connection, node, [workspace_id])
            )

    def take(self, node: str, served: Sequence[str] | None, seconds: float) -> Lease | None:
        with self._server.connection() as connection:
            return leases.take(connection, node, served, seconds)

    def renew(self, lease: Lease, seconds: float) -> bool:
        with self._server.connection() as connection:
            return leases.renew(connection, lease, seconds)

    def release(self, lease: Lease) -> bool:
        with self._server.connection() as connection:
            return leases.release(connection, lease)

    # --- jobs of the lease's holder ---

    def time(self) -> datetime:
        with self._server.connection() as connection:
            return shared_jobs.now(connection)

    def due(self, lease: Lease, node: str, limit: int) -> list[SharedJob]:
        with self._server.connection() as connection:
            return shared_jobs.due(connection, lease, node, limit)

    def running(self, lease: Lease) -> list[Record]:
        with self._server.connection() as connection:
            return shared_jobs.running(connection, lease)

    def write(self, lease: Lease, records: Sequence[Record]) -> None:
        with self._server.connection() as connection:
            shared_jobs.write(connection, lease, records)

    def cancel_requests(self, lease: Lease) -> list[str]:
        with self._server.connection() as connection:
            return shared_jobs.cancel_requests(connection, lease)

    def is_committed(self, workspace_id: str, record: Record) -> bool:
        with self._server.connection() as connection:
            return shared_jobs.is_committed(connection, workspace_id, record)

    def forget_texts(self, lease: Lease) -> None:
        with self._server.connection() as connection:
            shared_jobs.forget_texts(connection, lease)

    # --- jobs of who asks ---

    def post(self, workspace_id: str, node: str, jobs: Sequence[tuple[Job, Record]]) -> dict[str, Posted]:
        with self._server.connection() as connection:
            return shared_jobs.post(connection, workspace_id, node, jobs)

    def reports(self, node: str, workspace_id: str) -> list[Report]:
        with self._server.connection() as connection:
            return shared_jobs.reports(connection, node, workspace_id)

    def acknowledge(self, node: str, seen: Sequence[Report]) -> None:
        with self._server.connection() as connection:
            shared_jobs.acknowledge(connection, node, seen)

    def cancel(self, workspace_id: str, job_id: str) -> Cancellation:
        with self._server.connection() as connection:
            return shared_jobs.cancel(connection, workspace_id, job_id)

    # --- copies, and what operators see ---

    def note_copy(
        self, workspace_id: str, node: str, applied_seq: int, version: str, has_removed_all: bool, *, runs_jobs: bool
    ) -> None:
        with self._server.connection() as connection:
            copies.note(connection, workspace_id, node, applied_seq, version, has_removed_all)
            leases.keep_graphs(connection, node, workspace_id, keeps=runs_jobs)

    def remove_copy(self, workspace_id: str, node: str) -> None:
        with self._server.connection() as connection:
            copies.remove(connection, workspace_id, node)

    def copies(self, workspace_id: str) -> list[Copy]:
        with self._server.connection() as connection:
            return copies.of_workspace(connection, workspace_id)

    def access(self, workspace_id: str) -> Access | None:
        with self._server.connection() as connection:
            return copies.access(connection, workspace_id)

    def overview(self, workspace_id: str) -> Overview | None:
        with self._server.connection() as connection:
            return copies.overview(connection, workspace_id)

    def failed_jobs(self, workspace_id: str, limit: int) -> list[FailedJob]:
        with self._server.connection() as connection:
            return shared_jobs.failed(connection, workspace_id, limit)

    def dismiss(self, workspace_id: str, job_ids: Sequence[str] | None) -> int:
        with self._server.connection() as connection:
            return shared_jobs.dismiss(connection, workspace_id, job_ids)

    def workspaces(self, limit: int) -> list[Overview]:
        with self._server.connection() as connection:
            return copies.all_workspaces(connection, limit)

    # --- notices ---

    def tell(self, workspace_id: str) -> None:
        with self._server.connection() as connection:
            notices.send(connection, workspace_id)

    def listen(
        self, workspace_id: str, node: str, heard: Callable[[bool], None], is_stopped: Callable[[], bool]
    ) -> None:
        with self._server.connection_of_its_own() as connection:
            notices.listen(connection)
            heard(True)  # what happened before is not noticed
            while not is_stopped():
                if workspace_id in set(notices.received(connection, _LISTEN_SECONDS)):
                    heard(True)

    # --- a pool of workers, for all workspaces ---

    def take_any(self, node: str, seconds: float, *, embedder: str, format_: int) -> Lease | None:
        """As ``leases.take``, of any workspace."""
        with self._server.connection() as connection:
            return leases.take(connection, node, None, seconds, embedder=embedder, format_=format_)

    def due_in_any(self, node: str, *, embedder: str, format_: int) -> float | None:
        """As ``leases.due_in``, of any workspace."""
        with self._server.connection() as connection:
            return leases.due_in(connection, node, embedder=embedder, format_=format_)

    def positions(self, workspace_ids: Sequence[str]) -> dict[str, Position]:
        """As ``rows.positions``."""
        with self._server.connection() as connection:
            return rows.positions(connection, workspace_ids)

    def keep_graphs(self, node: str, *, keeps: bool = True) -> None:
        """As ``leases.keep_graphs``."""
        with self._server.connection() as connection:
            leases.keep_graphs(connection, node, keeps=keeps)

    def listen_to_all(self, wake: Callable[[], None], is_stopped: Callable[[], bool]) -> None:
        """Call ``wake`` at once, and whenever somebody tells of a change of any workspace, until ``is_stopped``."""
        with self._server.connection_of_its_own() as connection:
            notices.listen(connection)
            wake()
            while not is_stopped():
                if list(notices.received(connection, _LISTEN_SECONDS)):
                    wake()

    def close(self) -> None:
        self._server.close()
