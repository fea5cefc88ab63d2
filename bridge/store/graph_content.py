"""What memory.db holds of the knowledge graph: the nodes and edges that cognee extracted from texts by a language
model, so that a lost graph can be rebuilt without calling the model again; and the content that the graph must have,
for comparison with it.

Several texts may have the same node or edge. It is removed from the graph with the last visible memory that has it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import Any

from ..memory import Memory
from . import database, rows
from .rows import column
from .values import ExtractedEdge, ExtractedNode, Extraction, data_id_of

_AMONG = "IN (SELECT value FROM json_each(?))"

_TOGETHER = 500  # memories


class ExtractionReader:
    """Reads extractions through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, memory_ids: Sequence[str]) -> dict[str, Extraction]:
        """Memory id -> extraction, for those of the memories that have one."""
        query = f"SELECT memory_id, found FROM cognified WHERE memory_id {_AMONG}"  # noqa: S608 - a constant
        rows = self._connection.execute(query, (json.dumps(list(memory_ids)),))
        return {memory_id: _decoded(found) for memory_id, found in rows}

    def known(self, memory_ids: Sequence[str]) -> set[str]:
        """The ids of those of the memories that have an extraction."""
        query = f"SELECT memory_id FROM cognified WHERE memory_id {_AMONG}"  # noqa: S608 - a constant
        return set(column(self._connection, query, json.dumps(list(memory_ids))))

    def by_job(self, job_id: str) -> list[str]:
        """The ids of the memories from which the job extracted, in any attempt, by number."""
        query = (
            "SELECT memory_id FROM cognified JOIN memories ON id = memory_id"
            " WHERE json_extract(found, '$.job_id') = ? ORDER BY number"
        )
        return column(self._connection, query, job_id)

    def unread(self) -> list[str]:
        """The ids of the visible raw memories without an extraction, by number."""
        query = (
            "SELECT id FROM memories WHERE kind = 'legacy' AND hidden = 0"
            " AND NOT EXISTS (SELECT 1 FROM cognified WHERE memory_id = id) ORDER BY number"
        )
        return column(self._connection, query)

    def alone(self, found: Extraction, memory_ids: Sequence[str]) -> Extraction:
        """The nodes and edges that no visible memory other than these has: they are removed with these memories."""
        others = self._others([node.id for node in found.nodes], set(memory_ids))
        shared = {node_id for ids in others.values() for node_id in ids}
        kept_edges: set[tuple[str, str, str]] = set()
        for one in self.of(sorted(others)).values():
            kept_edges.update(edge.key for edge in one.edges)
        return Extraction(
            tuple(node for node in found.nodes if node.id not in shared),
            tuple(edge for edge in found.edges if edge.key not in kept_edges),
        )

    def memories_with(self, node_ids: Sequence[str]) -> dict[str, list[str]]:
        """Node id -> ids of the visible memories whose texts it was extracted from."""
        memories: dict[str, list[str]] = {}
        for memory_id, ids in self._others(node_ids, set()).items():
            for node_id in ids:
                memories.setdefault(node_id, []).append(memory_id)
        return memories

    def _others(self, node_ids: Sequence[str], apart: set[str]) -> dict[str, set[str]]:
        """Memory id -> which of the nodes it has, for visible memories except ``apart``."""
        nodes: dict[str, set[str]] = {}
        query = (
            "SELECT memory_id, node_id FROM found_nodes JOIN memories ON id = memory_id"  # noqa: S608 - a constant
            f" WHERE hidden = 0 AND node_id {_AMONG}"
        )
        for memory_id, node_id in self._connection.execute(query, (json.dumps(list(node_ids)),)):
            if memory_id not in apart:
                nodes.setdefault(memory_id, set()).add(node_id)
        return nodes

    def data_ids(self) -> list[str]:
        """The ids of all texts among cognee's documents, those of deleted memories included."""
        return column(self._connection, "SELECT data_id FROM cognified")

    def stored(self, memory_id: str) -> list[Any]:
        """The stored JSON value of a memory's extraction, in a list of one; empty if there is none."""
        query = "SELECT found FROM cognified WHERE memory_id = ?"
        return [json.loads(found) for (found,) in self._connection.execute(query, (memory_id,))]


# --- writing, inside a transaction ---


def keep(connection: Connection, memory_id: str, found: Extraction, job_id: str, now: str) -> None:
    """Store an extraction, instead of an earlier one of the memory."""
    connection.execute("DELETE FROM cognified WHERE memory_id = ?", (memory_id,))
    connection.execute(
        "INSERT INTO cognified (memory_id, data_id, at, found) VALUES (?, ?, ?, ?)",
        (memory_id, data_id_of(memory_id), now, _encoded(found, job_id)),
    )


def drop(connection: Connection, memory_ids: Iterable[str]) -> None:
    """Delete the extractions of these memories."""
    connection.executemany("DELETE FROM cognified WHERE memory_id = ?", [(memory_id,) for memory_id in memory_ids])


# --- an extraction as JSON ---


def _encoded(found: Extraction, job_id: str) -> str:
    nodes, edges = [node._asdict() for node in found.nodes], [edge._asdict() for edge in found.edges]
    return json.dumps({"job_id": job_id, "nodes": nodes, "edges": edges}, ensure_ascii=False)


def _decoded(text: str) -> Extraction:
    found = json.loads(text)
    return Extraction(
        tuple(ExtractedNode(n["id"], n["type"], tuple(n["index_fields"]), n["properties"]) for n in found["nodes"]),
        tuple(ExtractedEdge(e["source"], e["target"], e["name"], e["properties"]) for e in found["edges"]),
    )


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
