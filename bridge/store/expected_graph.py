"""The content that memory.db requires of the knowledge graph, for comparison with the graph."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from ..memory import Memory
from . import database, rows
from .extractions import ExtractionReader

_TOGETHER = 500  # memories


class ExpectedGraph:
    """Reads through a read-only connection. Ids are ids of memories unless named otherwise. Raises sqlite3.Error."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @property
    def embedder(self) -> str | None:
        """The identity of the graph's embedding model; None if there never was a graph."""
        return database.meta(self._connection, "graph_embedder")

    def memories(self) -> Iterator[list[Memory]]:
        """The visible memories by number, in lists of a few hundred; unreadable ones are left out."""
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE number > ? AND hidden = 0 ORDER BY number LIMIT ?"  # noqa: S608 - a constant
        last = 0
        while part := self._connection.execute(query, (last, _TOGETHER)).fetchall():
            yield [memory for row in part if (memory := rows.readable(row)) is not None]
            last = part[-1][0]

    def superseded(self, memory_ids: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Pairs of a visible decision record and one of its visible sources; with ``memory_ids``, those of which one of
        the two is among them."""
        query = (
            "SELECT record.id, source.id FROM memories AS record, json_each(record.sources) AS listed"
            " JOIN memories AS source ON source.id = listed.value"
            " WHERE record.kind = 'decision_record' AND record.hidden = 0 AND source.hidden = 0"
        )
        if memory_ids is None:
            return self._connection.execute(query).fetchall()
        among = "IN (SELECT value FROM json_each(:ids))"
        query += f" AND (record.id {among} OR source.id {among})"
        return self._connection.execute(query, {"ids": json.dumps(list(memory_ids))}).fetchall()

    def gone(self) -> list[str]:
        """The ids that the graph must not hold: forgotten and hidden memories."""
        query = (
            "SELECT id FROM tombstones WHERE id NOT IN (SELECT id FROM memories)"
            " UNION ALL SELECT id FROM memories WHERE hidden = 1"
        )
        return rows.column(self._connection, query)

    def pending(self) -> set[str]:
        """The ids with a pending outbox entry."""
        return set(rows.column(self._connection, "SELECT memory_id FROM outbox"))

    def extracted(self) -> dict[str, list[str]]:
        """Node id -> ids of the visible memories whose texts it was extracted from."""
        node_ids = rows.column(self._connection, "SELECT DISTINCT node_id FROM found_nodes")
        return ExtractionReader(self._connection).memories_with(node_ids)

    def documents(self) -> set[str]:
        """The ids of our memories' texts among cognee's documents."""
        return set(rows.column(self._connection, "SELECT data_id FROM cognified"))
