"""Lists of memories and topics from memory.db, for people."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from ..memory import Memory
from . import compaction_history, feedback, outbox, replacements, rows
from .capture_history import CaptureReader
from .protocol_reading import Entry, Replacement, TopicRow
from .values import CapturedSession, CaptureSource, Compaction, Feedback, GraphLag

_HIGHEST = 2**63 - 1


class SqliteLists:
    """Lists, in a read transaction. See ``protocol_reading.MemoryLists``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        **labels: Any,
    ) -> list[Memory]:
        """At most ``limit`` visible memories with these labels and numbers below ``before``, the highest first."""
        where, given = rows.having(labels)
        chosen = f"WHERE hidden = 0 AND {where} AND number < ? ORDER BY number DESC LIMIT ?"
        query = f"SELECT {rows.COLUMNS} FROM memories {chosen}"  # noqa: S608 - constants
        return self._memories(query, *given, _HIGHEST if before is None else before, limit)

    def count(self, **labels: Any) -> int:
        """How many memories ``page`` could return without a limit."""
        where, given = rows.having(labels)
        query = f"SELECT count(*) FROM memories WHERE hidden = 0 AND {where}"  # noqa: S608 - constants
        return int(self._connection.execute(query, given).fetchone()[0])

    def entry(self, wanted: str | int) -> Entry | None:
        """A memory by id (text) or by number, hidden ones included, or None."""
        column = "number" if isinstance(wanted, int) else "id"
        query = f"SELECT hidden, migrated_from, {rows.COLUMNS} FROM memories WHERE {column} = ?"  # noqa: S608 - constants
        result = self._connection.execute(query, (wanted,)).fetchone()
        if result is None:
            return None
        hidden, migrated_from, *row = result
        memory = rows.memory_of(tuple(row))
        conversions = self._connection.execute(
            "SELECT id FROM memories WHERE migrated_from = ? ORDER BY number", (memory.id,)
        )
        return Entry(memory, bool(hidden), migrated_from, tuple(str(each) for (each,) in conversions))

    def feedback(self, memory_id: str) -> list[Feedback]:
        """The feedback on a memory that was not withdrawn, the latest first."""
        return feedback.of_memory(self._connection, memory_id)

    def replacements(self) -> list[Replacement]:
        """The statements that newer ones may replace, of visible memories."""
        return replacements.found(self._connection)

    def unsaid(self) -> list[Replacement]:
        """The pairs on which nobody was asked yet, the most probable first."""
        return replacements.unsaid(self._connection)

    def mentioning(self, letters: str) -> list[Memory]:
        """The visible memories with these letters, in small ones, in their text, by rising number."""
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE hidden = 0 AND instr(lower(body), ?) ORDER BY number"  # noqa: S608
        return self._memories(query, letters)

    def related(self, memory_ids: Sequence[str], topic_id: str | None) -> list[Memory]:
        """These memories and those of the topic, with originals and conversions, hidden ones included, by rising
        number.
        """
        named = (
            "WITH RECURSIVE named(id) AS ("
            " SELECT id FROM memories WHERE topic_id = ? OR id IN (SELECT value FROM json_each(?))"
            " UNION SELECT linked.id FROM named JOIN memories AS linked ON linked.migrated_from = named.id"
            " OR linked.id = (SELECT migrated_from FROM memories WHERE id = named.id))"
        )
        query = f"{named} SELECT {rows.COLUMNS} FROM memories WHERE id IN named ORDER BY number"  # noqa: S608 - constants
        return self._memories(query, topic_id, json.dumps(list(memory_ids)))

    def topics(self) -> list[TopicRow]:
        """All topics, by falling number of active summaries, then by id."""
        query = (
            "SELECT topic_id, count(*), total(kind = 'summary' AND status = 'Active'),"
            " total(status = 'DecisionRecord'), total(status = 'Draft'), total(status = 'Superseded'),"
            " total(length(body)) FILTER (WHERE is_source),"
            " min(at) FILTER (WHERE is_source), max(at) FILTER (WHERE is_source)"
            " FROM (SELECT *, coalesce(source_created_at, created_at) AS at,"
            " status IN ('Active', 'DecisionRecord') AS is_source"
            " FROM memories WHERE topic_id IS NOT NULL AND hidden = 0)"
            " GROUP BY topic_id ORDER BY 3 DESC, 1"
        )
        return [
            TopicRow(topic_id, count, int(active), int(records), int(drafts), int(superseded), int(size), *times)
            for topic_id, count, active, records, drafts, superseded, size, *times in self._connection.execute(query)
        ]

    def kinds(self) -> dict[str, int]:
        """Kind -> number of visible memories."""
        query = "SELECT kind, count(*) FROM memories WHERE hidden = 0 GROUP BY kind"
        return dict(self._connection.execute(query).fetchall())

    def history(self, limit: int, topic_id: str | None = None) -> list[tuple[Compaction, int | None]]:
        """The last ``limit`` compactions, the newest first, each with its record's number or None."""
        return compaction_history.newest(self._connection, limit, topic_id)

    def captured_sessions(self) -> list[CapturedSession]:
        """What was captured from the sessions of other tools, the last captured first."""
        return CaptureReader(self._connection).sessions()

    def captured_memories(self, tool: str, session_id: str) -> list[str]:
        """The ids of the memories that were captured from a session and still exist."""
        return CaptureReader(self._connection).memories_of(tool, session_id)

    def capture_source(self, memory_id: str) -> CaptureSource | None:
        """Where a captured memory comes from; None for any other memory."""
        return CaptureReader(self._connection).source(memory_id)

    def graph_lag(self) -> GraphLag:
        """What the knowledge graph lacks."""
        return outbox.lag(self._connection)

    def _memories(self, query: str, *arguments: object) -> list[Memory]:
        return [rows.memory_of(row) for row in self._connection.execute(query, arguments)]
