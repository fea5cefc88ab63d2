"""The outbox in memory.db: what the knowledge graph has not been told yet, and how the graph was left."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from jobs import steps
from jobs.layout import Workspace

from . import database

Action = Literal["write", "status", "delete"]


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """An entry of the outbox."""

    seq: int
    memory_id: str
    action: Action
    tries: int


def forgive_opening(workspace: Workspace) -> None:
    """The process ends because it was told to, not because of what it read: the opening does not count.

    For any thread: it has a connection of its own, and gives up rather than wait for a writer.
    """
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{workspace.memory_db.as_uri()}?mode=rw", uri=True, timeout=0.2)
        with contextlib.closing(connection), connection:
            connection.execute("UPDATE meta SET value = '0' WHERE key = 'graph_openings'")


def lag(workspace: Workspace) -> int:
    """How many entries a store has, read without being its writer. Raises STORE_NEWER, STORE_UNREADABLE, STORE_BUSY."""
    with database.reading(workspace) as connection:
        return 0 if connection is None else Outbox(connection).count()


class Outbox:
    """Over the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def enqueue(self, memory_id: str, action: Action, now: str) -> None:
        """Add an entry, inside the transaction of what it is owed for."""
        self._connection.execute(
            "INSERT INTO outbox (memory_id, action, added_at) VALUES (?, ?, ?)", (memory_id, action, now)
        )

    def discard(self, memory_ids: Sequence[str]) -> None:
        """What there never was a graph to hold need not be deleted from one; inside a transaction."""
        self._connection.executemany("DELETE FROM outbox WHERE memory_id = ?", [(each,) for each in memory_ids])

    def enqueue_missing(self, memory_ids: Sequence[str], now: str) -> None:
        """What the graph was found to have lost, perhaps nothing, is to be written once more."""
        if not memory_ids and not self.lacked():
            return
        with database.transaction(self._connection):
            database.set_meta(self._connection, "graph_lacked", next(iter(memory_ids), ""))
            for memory_id in memory_ids:
                self.enqueue(memory_id, "write", now)

    def enqueue_all(self, now: str) -> int:
        """Put every memory into the outbox: the graph is to be written anew, and none is missed. Returns how many."""
        with database.transaction(self._connection):
            self._connection.execute("DELETE FROM meta WHERE key IN ('graph_embedder', 'graph_lacked')")
            self._connection.execute("DELETE FROM outbox")
            done = self._connection.execute(
                "INSERT INTO outbox (memory_id, action, added_at)"
                " SELECT id, 'write', ? FROM memories WHERE hidden = 0 ORDER BY number",
                (now,),
            )
            return done.rowcount

    def pending(
        self, limit: int, memory_ids: Sequence[str] | None = None, *, untried: bool = False
    ) -> list[OutboxEntry]:
        """What the graph is owed, oldest first: of the given memories, or what was never refused yet."""
        query, arguments = "SELECT seq, memory_id, action, tries FROM outbox WHERE 1", list[object]()
        if memory_ids is not None:
            query += f" AND memory_id IN ({', '.join('?' * len(memory_ids))})"
            arguments += memory_ids
        if untried:
            query += " AND tries = 0"
        return [
            OutboxEntry(*row) for row in self._connection.execute(query + " ORDER BY seq LIMIT ?", (*arguments, limit))
        ]

    def count(self, *, untried: bool = False) -> int:
        """How many entries there are, or how many that were never refused."""
        query = "SELECT count(*) FROM outbox WHERE NOT ? OR tries = 0"
        return int(self._connection.execute(query, (untried,)).fetchone()[0])

    def untold(self) -> set[str]:
        """The memories that the graph need not have yet."""
        query = "SELECT DISTINCT memory_id FROM outbox WHERE action = 'write'"
        return {str(memory_id) for (memory_id,) in self._connection.execute(query)}

    def paid(self, entries: Sequence[OutboxEntry]) -> None:
        with steps.fault_point("outbox.pay"), database.transaction(self._connection):
            self._connection.executemany("DELETE FROM outbox WHERE seq = ?", [(entry.seq,) for entry in entries])
            self._survived()

    def not_paid(self, entry: OutboxEntry, error: str) -> None:
        with database.transaction(self._connection):
            self._connection.execute(
                "UPDATE outbox SET tries = tries + 1, last_error = ? WHERE seq = ?", (error[:500], entry.seq)
            )

    # --- the graph that it is for ---

    def graph_model(self) -> str | None:
        """Whose vectors the graph has; None when there never was one, so that its absence is no loss."""
        return database.meta(self._connection, "graph_embedder")

    def stores_are_ours(self) -> bool:
        """Whether cognee's stores were opened by us before: else what lies in their place is another's."""
        return self.graph_model() is not None or database.meta(self._connection, "cognee_is_ours") == "yes"

    def graph_was_closed(self) -> bool:
        """Whether the graph's last user closed it: else what it lacks is to be looked for."""
        return database.meta(self._connection, "graph_closed") == "yes"

    def note_opening(self) -> int:
        """An opening begins. Returns how many before it, in a row, have ended their process before it paid anything."""
        died = int(database.meta(self._connection, "graph_openings") or 0)
        with database.transaction(self._connection):
            database.set_meta(self._connection, "graph_openings", str(died + 1))
        return died

    def note_survived(self) -> None:
        """Whatever came of the opening, it did not end its process. Raises nothing of SQLite's: at worst the graph is
        written again without need."""
        with contextlib.suppress(sqlite3.Error):
            if database.meta(self._connection, "graph_openings") not in (None, "0"):
                with database.transaction(self._connection):
                    self._survived()

    def _survived(self) -> None:
        database.set_meta(self._connection, "graph_openings", "0")

    def lacked(self) -> str | None:
        """One of the memories that the graph lacked when it was last compared; it was written again since."""
        return database.meta(self._connection, "graph_lacked")

    def note_opened(self, model: str) -> None:
        """The graph is in use, and what it refused before may be tried once more."""
        with database.transaction(self._connection):
            self._connection.execute("UPDATE outbox SET tries = 0")
            database.set_meta(self._connection, "graph_embedder", model)
            database.set_meta(self._connection, "cognee_is_ours", "yes")
            database.set_meta(self._connection, "graph_closed", "no")

    def note_closed(self) -> None:
        with database.transaction(self._connection):
            database.set_meta(self._connection, "graph_closed", "yes")
            self._survived()
