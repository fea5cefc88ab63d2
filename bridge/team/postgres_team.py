"""The team's database, reached directly: by pools of workers, and by gateways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from jobs.errors import JobError

from . import attachments, leases, notices, rows, shared_jobs
from .protocol import Call, Incoming, P, R, Team
from .rows import Author, Described, Position, SharedRow

if TYPE_CHECKING:
    from .server import PersonsConnections, Server


class PostgresTeam(Team):
    """``Team`` over a server's connections, with all that a pool needs, which runs the jobs."""

    def __init__(self, server: Server | PersonsConnections) -> None:
        self._server = server

    def run(self, call: Call[P, R], *arguments: P.args, **named: P.kwargs) -> R:
        with self._server.connection() as connection:
            return call.function(connection, *arguments, **named)

    def share(self, what: Described, change_id: str, all_rows: Iterable[SharedRow], author: Author) -> None:
        with self._server.connection() as connection:
            rows.share(connection, what, change_id, all_rows, author)

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

    def attachment(self, workspace_id: str, job_id: str) -> Iterator[bytes]:
        """The parts of what is attached to a job, as they were sent. Raises JobError: TEAM_UNUSABLE unless they are
        whole."""
        with self._server.connection() as connection:
            digest, parts = attachments.whole(connection, workspace_id, job_id) or ("", 0)
        found = sha256()
        for number in range(parts):
            with self._server.connection() as connection:
                part = attachments.part(connection, workspace_id, job_id, digest, number)
            found.update(part)
            yield part
        if found.hexdigest() != digest:
            raise JobError("TEAM_UNUSABLE", "What was attached to the job is not whole.")

    def close(self) -> None:
        self._server.close()

    # --- a workspace whose jobs run here ---

    commit = Call(rows.commit)
    submit = Call(shared_jobs.submit)
    keep_receipt = Call(attachments.keep_receipt)
    receipts = Call(attachments.receipts)
    receipt = Call(attachments.receipt)

    # --- a pool of workers, for all workspaces ---

    tell = Call(notices.send)
    renew = Call(leases.renew)
    release = Call(leases.release)
    due = Call(shared_jobs.due)
    running = Call(shared_jobs.running)
    write = Call(shared_jobs.write)
    cancel_requests = Call(shared_jobs.cancel_requests)
    is_committed = Call(shared_jobs.is_committed)
    forget_texts = Call(shared_jobs.forget_texts)
    take = Call(leases.take)
    due_in = Call(leases.due_in)
    keep_graphs = Call(leases.keep_graphs)
    positions = Call(rows.positions)

    def listen_to_all(self, wake: Callable[[], None], is_stopped: Callable[[], bool]) -> None:
        """Call ``wake`` at once, and whenever somebody tells of a change of any workspace, until ``is_stopped``."""
        with self._server.connection_of_its_own() as connection:
            notices.listen(connection, wake, lambda workspace_id: wake(), is_stopped)  # what was before is not noticed
