"""The store of a team's workspace on one machine: memory.db as the replica, Postgres as the truth.

It is the store over memory.db, with two additions. Before an operation reads, ``catch_up`` applies what was changed
elsewhere. And in a pool, each change is committed in Postgres first, inside the transaction of memory.db: if the
process dies between the two commits, memory.db rolls back, and gets the change from Postgres like any other one. On any
other machine, nothing that is shared is changed here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace

from ... import critical
from ...embedding.embedder import Embedder
from ...team.postgres_team import PostgresTeam
from ...team.protocol import Team
from ...team.rows import Author, Described, FeedRow, Position, Registered, require_format
from .. import database, history, vector_files
from ..migrations import FORMAT
from ..store import Prepare, Store
from ..values import Arrivals, Change
from . import position, replica
from .recorder import Recorder
from .replica import IncomingRows
from .shared_tables import MEMORIES, TOMBSTONES

log = logging.getLogger(__name__)


class TeamStore(Store):
    """The open store. Its readers are those of memory.db."""

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder,
        team: Team,
        team_workspace: str,
        author: Author,
        *,
        may_share: bool = False,
        name: str | None = None,
    ) -> None:
        """Open the store as it is. ``catch_up`` then applies what others changed, with what that needs here: so it
        is not done on opening.

        ``team_workspace`` is the id of the team's workspace, of which an empty memory.db becomes a replica. With
        ``may_share``, a memory.db with this id, or without memories, is made known to the team if it is not yet: all
        its memories are shared in one transaction, as ``name`` or by the folder's.

        Raises JobError: as ``Store`` and ``Team``, and TEAM_NOT_SHARED for a workspace that the team
        does not know, and for a memory.db with memories of its own.
        """
        super().__init__(workspace, embedder)
        try:
            self._team = team
            self._author = author
            self._name = name
            self._recorder = Recorder(self._connection, self._vectors_at)
            self._replica = replica.Replica(
                self._connection, self._vectors, self._words, self.outbox, embedder.dimensions
            )
            self._join(team_workspace, may_share=may_share)
        except BaseException:
            self.close()
            raise

    def _join(self, team_workspace: str, *, may_share: bool) -> None:
        """Share this memory.db, or become a replica of the team's workspace, if neither was done before."""
        if position.position(self._connection) is not None:
            return
        found = self._team.registered(team_workspace)
        is_empty = not self.all_ids() and not self.last_number()
        is_own = team_workspace == self.workspace_id
        # Sharing again does nothing in the team: others may have changed the workspace since the first try.
        if (is_own and found is not None and self._sharing() is not None) or (
            (is_own or is_empty) and found is None and may_share
        ):
            self._share(team_workspace)
        elif not is_empty:
            raise JobError("TEAM_NOT_SHARED")
        else:
            with database.transaction(self._connection):
                database.set_meta(self._connection, "workspace_id", team_workspace)
                position.note_position(self._connection, Position(0, ""))

    def _sharing(self) -> str | None:
        """The id of the change that shares, or shared, this memory.db."""
        return database.meta(self._connection, "team_sharing")

    def _share(self, team_workspace: str) -> None:
        """Commit all rows in Postgres, once: the change's id is noted first, so a second try knows of the first. Texts
        that an early version imported into the history are no rows of this one.
        """
        if (change_id := self._sharing()) is None:
            change_id = str(uuid4())
            with database.transaction(self._connection):
                database.set_meta(self._connection, "workspace_id", team_workspace)
                database.set_meta(self._connection, "team_sharing", change_id)
        with database.transaction(self._connection):
            history.remove_texts(self._connection)
        what = Described(
            self.workspace_id,
            self._name or self._workspace.root.name,
            FORMAT,
            self._embedder.identity,
            self._embedder.dimensions,
        )
        with steps.fault_point("team.share"):
            self._team.share(what, change_id, self._recorder.all_rows(), self._author)
        with database.transaction(self._connection):
            position.note_position(self._connection, Position(1, change_id))

    @property
    def position(self) -> Position:
        """The position up to which memory.db has the team's changes."""
        found = position.position(self._connection)
        assert found is not None, "the store has joined the team"
        return found

    # --- reading ---

    def catch_up(self, prepare: Prepare = lambda arrivals: None) -> int:
        """Apply what others changed. Returns how many rows. Raises as ``Team`` and what ``prepare`` raises."""
        with self._team.incoming(self.workspace_id, self.position) as found:
            if found is None:
                raise JobError("TEAM_NOT_SHARED", "The team does not know this workspace.")
            self._require_model(found.registered)
            reached = found.registered.position
            if reached == self.position:
                return 0
            if found.is_all and self.position.seq:
                log.warning("the team does not have the last changes of this copy: it is made again")
            incoming = IncomingRows(self._replica.well_formed(found.rows), self._workspace.memory)
        with incoming:
            here = prepare(self._arrivals(incoming, is_all=found.is_all))
            with critical.critical_section(), steps.fault_point("team.apply"), database.transaction(self._connection):
                count = self._replica.apply(incoming, clock.iso(clock.now()), is_all=found.is_all)
                position.note_position(self._connection, reached)
                if here is not None:
                    self._writer.write(here)
        return count

    def _arrivals(self, incoming: Iterable[FeedRow], *, is_all: bool) -> Arrivals:
        """What the rows do to the memories of this copy. A new copy has none, but perhaps jobs that tell of some."""
        tombstones: dict[str, str] = {}  # id -> when it was forgotten
        memories: set[str] = set()
        for _, row in incoming:
            if row.value is not None and row.table == TOMBSTONES.name:
                tombstones[row.value["id"]] = row.value["forgotten_at"]
            elif row.value is not None and row.table == MEMORIES.name:
                memories.add(row.value["id"])
        forgotten = [each for each, at in tombstones.items() if at != self.forgotten_at(each)]
        if not is_all:
            return Arrivals(tuple(forgotten))
        here = set(self.all_ids())
        again = [each for each in memories - here - tombstones.keys() if self.forgotten_at(each) is not None]
        return Arrivals(tuple(forgotten), tuple(sorted(here - memories - set(forgotten))), tuple(sorted(again)))

    def _require_model(self, found: Registered) -> None:
        require_format(found.format, FORMAT)
        if found.embedder != self._embedder.identity:
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The team's memories were made with {found.embedder}; the settings name {self._embedder.identity}."
                " Nothing was changed.",
            )

    # --- writing ---

    def use_lease(self, number: int | None) -> None:
        """Commit under this lease from now on; with None, changes are only checked for the position."""
        self._author = replace(self._author, lease=number)

    @contextmanager
    def change_here(self, now: str) -> Iterator[Change]:
        """A change of what is not shared, which only memory.db gets."""
        change = Change(now)
        yield change
        with critical.critical_section(), database.transaction(self._connection):
            self._writer.write(change)

    def _before_writing(self) -> None:
        self._recorder.clear()

    def _before_commit(self, change: Change) -> None:
        """Commit the transaction's rows for all. Raises JobError: TEAM_CONFLICT, TEAM_LEASE_LOST, and as ``Team``."""
        if not isinstance(self._team, PostgresTeam):
            raise JobError("TEAM_LEASE_LOST", "Only a pool of the team changes what is shared.")
        jobs = [job.job_id for job in change.applied]
        changed = self._recorder.rows()
        with steps.fault_point("team.commit"):
            reached = self._team.commit(self.workspace_id, self.position, changed, jobs, self._author, FORMAT)
        position.note_position(self._connection, reached)

    def _vectors_at(self, passage_row: int, passage_count: int) -> bytes:
        """The bytes of a memory's vectors, from the file: perhaps rows that this transaction has appended."""
        path = self._vectors.paths[0]
        found = vector_files.open_rows(path, passage_row + passage_count, self._embedder.dimensions)
        if found is None:
            raise JobError("STORE_UNREADABLE", f"{path} has fewer vectors than memory.db says.")
        return replica.vector_bytes(found[passage_row:])
