"""The store of a team's workspace on one machine: memory.db as the replica, Postgres as the truth.

It is the store over memory.db, with two additions. Before an operation reads, ``catch_up`` applies what other machines
changed. And each change is committed in Postgres first, inside the transaction of memory.db: if the process dies between
the two commits, memory.db rolls back, and gets the change from Postgres like any other one.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace

from ... import critical
from ...embedding.embedder import Embedder
from .. import applied_jobs, database, vector_files
from ..change import Change
from ..sqlite_store import SqliteStore
from . import feed, replica
from .feed import Author, Position
from .recorder import Recorder
from .server import Server

log = logging.getLogger(__name__)


class TeamStore(SqliteStore):
    """The open store. Its readers are those of memory.db."""

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder,
        server: Server,
        *,
        team_workspace: str | None = None,
        author: Author | None = None,
    ) -> None:
        """Open the store, and apply what Postgres has.

        ``team_workspace`` is the id of the team's workspace that an empty memory.db becomes a replica of; without it,
        an empty workspace is new in the team. Raises JobError: as ``SqliteStore``, TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER, TEAM_UNUSABLE, TEAM_NOT_SHARED
        for a workspace with memories that were never shared.
        """
        super().__init__(workspace, embedder)
        try:
            self._server = server
            self._author = author or Author(socket.gethostname())
            self._recorder = Recorder(self._connection, self._vectors_at)
            self._replica = replica.Replica(
                self._connection, self._vectors, self._words, self.outbox, embedder.dimensions
            )
            self._join(team_workspace)
            self.catch_up()
        except BaseException:
            self.close()
            raise

    def _join(self, team_workspace: str | None) -> None:
        """Become a replica of the team's workspace, or make an empty workspace known to the team."""
        if replica.position(self._connection) is not None:
            return
        if self.all_ids() or self.last_number():
            raise JobError("TEAM_NOT_SHARED")
        if team_workspace is None:
            with self._server.connection() as connection:
                feed.register(connection, self.workspace_id, self._embedder.identity, self._embedder.dimensions)
        with database.transaction(self._connection):
            if team_workspace is not None:
                database.set_meta(self._connection, "workspace_id", team_workspace)
            replica.note_position(self._connection, Position(0, ""))

    @property
    def position(self) -> Position:
        """The position up to which memory.db has the team's changes."""
        found = replica.position(self._connection)
        assert found is not None, "the store has joined the team"
        return found

    # --- reading ---

    def catch_up(self) -> int:
        """Apply what others changed. Returns how many rows. Raises as the constructor does."""
        with self._server.snapshot() as connection:
            found = feed.registered(connection, self.workspace_id)
            if found is None:
                raise JobError("TEAM_NOT_SHARED", "The team's database does not know this workspace.")
            self._require_model(found)
            if found.position == self.position:
                return 0
            is_all = not feed.has(connection, self.workspace_id, self.position)
            if is_all:
                log.warning("the team's database does not have the last changes of this copy: it is made again")
            rows = feed.rows_after(connection, self.workspace_id, 0 if is_all else self.position.seq)
            with critical.critical_section(), steps.fault_point("team.apply"), database.transaction(self._connection):
                count = self._replica.apply(rows, clock.iso(clock.now()), is_all=is_all)
                replica.note_position(self._connection, found.position)
        return count

    def _require_model(self, found: feed.Registered) -> None:
        if found.embedder != self._embedder.identity:
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The team's memories were made with {found.embedder}; the settings name {self._embedder.identity}."
                " Nothing was changed.",
            )

    # --- writing ---

    @contextmanager
    def _transaction(self, change: Change) -> Iterator[None]:
        """The change's transaction: committed in Postgres, then here."""
        with critical.critical_section(), steps.fault_point("memory.commit"), database.transaction(self._connection):
            self._recorder.clear()
            self._writer.write(change)
            yield
            applied_jobs.record(self._connection, change.applied, change.at)
            self._commit_for_all(change.applied)

    def _commit_for_all(self, applied: Sequence[applied_jobs.AppliedJob]) -> None:
        """Commit the transaction's rows in Postgres. Raises JobError: TEAM_CONFLICT, and as ``Server.connection``."""
        with self._server.connection() as connection, steps.fault_point("team.commit"):
            reached = feed.commit(
                connection, self.workspace_id, self.position, self._recorder.rows(), applied, self._author
            )
        replica.note_position(self._connection, reached)

    def _vectors_at(self, passage_row: int, passage_count: int) -> bytes:
        """The bytes of a memory's vectors, from the file: perhaps rows that this transaction has appended."""
        path = self._vectors.paths[0]
        found = vector_files.open_rows(path, passage_row + passage_count, self._embedder.dimensions)
        if found is None:
            raise JobError("STORE_UNREADABLE", f"{path} has fewer vectors than memory.db says.")
        return replica.vector_bytes(found[passage_row:])
