"""The outbox in memory.db: pending deliveries to the knowledge graph, and the state in which the graph was left."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence

from jobs import steps

from . import database
from .values import Action, GraphLag, OutboxEntry


def lag(connection: sqlite3.Connection) -> GraphLag:
    """What the graph lacks: the entries that it did not refuse; without a graph, all memories that it would have."""
    if database.meta(connection, "graph_embedder") is not None:
        count, since = connection.execute("SELECT count(*), min(added_at) FROM outbox WHERE tries = 0").fetchone()
        return GraphLag(count, since, has_graph=True)
    (count,) = connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()
    oldest = "SELECT stored_at FROM memories WHERE hidden = 0 ORDER BY number LIMIT 1"
    (since,) = connection.execute(oldest).fetchone() or (None,)
    return GraphLag(count, since, has_graph=False)


class Outbox:
    """The outbox, through the one writer's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def enqueue(self, memory_id: str, action: Action, now: str) -> None:
        """Add an entry, inside the transaction of the change that it delivers: none where there is no graph, which gets
        all memories when it is made, and none for a status where another entry of the memory waits, which delivers it.
        A deletion replaces the memory's other entries.
        """
        if action == "delete":
            self._connection.execute("DELETE FROM outbox WHERE memory_id = ?", (memory_id,))
        if self.graph_model() is None:
            return
        waits = "SELECT 1 FROM outbox WHERE memory_id = ? AND tries = 0"
        if action == "status" and self._connection.execute(waits, (memory_id,)).fetchone():
            return
        self._connection.execute(
            "INSERT INTO outbox (memory_id, action, added_at) VALUES (?, ?, ?)", (memory_id, action, now)
        )

    def enqueue_all(self, now: str) -> int:
        """Enqueue every visible memory for a new graph that is open. Returns how many."""
        with database.transaction(self._connection):
            self._forget_graph()
            done = self._connection.execute(
                "INSERT INTO outbox (memory_id, action, added_at)"
                " SELECT id, 'write', ? FROM memories WHERE hidden = 0 ORDER BY number",
                (now,),
            )
            return done.rowcount

    def forget_graph(self) -> None:
        """Record that there is no graph any more: the next opening makes one with all memories."""
        with database.transaction(self._connection):
            self._forget_graph()

    def _forget_graph(self) -> None:
        self._connection.execute("DELETE FROM meta WHERE key = 'graph_embedder'")
        self._connection.execute("DELETE FROM outbox")

    def pending(
        self, limit: int, memory_ids: Sequence[str] | None = None, *, untried: bool = False
    ) -> list[OutboxEntry]:
        """At most ``limit`` entries, oldest first: of these memories if given, and only never rejected ones if
        ``untried``.
        """
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
        """How many entries there are, or how many were never rejected (``untried``)."""
        query = "SELECT count(*) FROM outbox WHERE NOT ? OR tries = 0"
        return int(self._connection.execute(query, (untried,)).fetchone()[0])

    def lag(self) -> GraphLag:
        """What the graph lacks."""
        return lag(self._connection)

    def undelivered_ids(self) -> set[str]:
        """The ids of memories whose first write may be pending, so that the graph may lack them."""
        query = "SELECT DISTINCT memory_id FROM outbox WHERE action = 'write'"
        return {str(memory_id) for (memory_id,) in self._connection.execute(query)}

    def delivered(self, entries: Sequence[OutboxEntry]) -> None:
        """Delete delivered entries, and reset the count of failed openings."""
        with steps.fault_point("outbox.deliver"), database.transaction(self._connection):
            self._connection.executemany("DELETE FROM outbox WHERE seq = ?", [(entry.seq,) for entry in entries])
            self._forget_failure()
            self._survived()

    def rejected(self, entry: OutboxEntry, error: str) -> None:
        """Record that cognee rejected an entry, with the error."""
        with database.transaction(self._connection):
            self._connection.execute(
                "UPDATE outbox SET tries = tries + 1, last_error = ? WHERE seq = ?", (error[:500], entry.seq)
            )

    def note_failure(self, code: str) -> None:
        """Record that the graph was not brought up to date, until it is opened or something is delivered again."""
        with contextlib.suppress(sqlite3.Error), database.transaction(self._connection):
            database.set_meta(self._connection, "graph_failure", code)

    def _forget_failure(self) -> None:
        self._connection.execute("DELETE FROM meta WHERE key = 'graph_failure'")

    # --- the state of the graph ---

    def graph_model(self) -> str | None:
        """The identity of the graph's embedding model; None if there never was a graph, so that its absence is no
        loss.
        """
        return database.meta(self._connection, "graph_embedder")

    def stores_are_ours(self) -> bool:
        """Whether this memory.db made cognee's stores; otherwise stores at that path belong to another program, or to
        a memory.db that was removed.
        """
        return self.graph_model() is not None or database.meta(self._connection, "cognee_is_ours") == "yes"

    def graph_was_closed(self) -> bool:
        """Whether the graph was closed cleanly; otherwise it must be compared with the memories."""
        return database.meta(self._connection, "graph_closed") == "yes"

    def note_opening(self) -> int:
        """Record that an opening begins. Returns how many openings before it, in a row, ended their process before a
        delivery.
        """
        failed = int(database.meta(self._connection, "graph_openings") or 0)
        with database.transaction(self._connection):
            database.set_meta(self._connection, "graph_openings", str(failed + 1))
        return failed

    def note_survived(self) -> None:
        """Record that an opening did not end its process. Raises no error of SQLite: without this record, the graph is
        at worst rebuilt needlessly.
        """
        with contextlib.suppress(sqlite3.Error):
            if database.meta(self._connection, "graph_openings") not in (None, "0"):
                with database.transaction(self._connection):
                    self._survived()

    def _survived(self) -> None:
        database.set_meta(self._connection, "graph_openings", "0")

    def note_opened(self, model: str) -> None:
        """Record that the graph is in use. Rejected entries may be tried again."""
        with database.transaction(self._connection):
            self._connection.execute("UPDATE outbox SET tries = 0")
            self._forget_failure()
            database.set_meta(self._connection, "graph_embedder", model)
            database.set_meta(self._connection, "cognee_is_ours", "yes")
            database.set_meta(self._connection, "graph_closed", "no")

    def note_closed(self) -> None:
        """Record that the graph was closed cleanly."""
        with database.transaction(self._connection):
            database.set_meta(self._connection, "graph_closed", "yes")
            self._survived()
