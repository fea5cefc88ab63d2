"""Lists of memories and topics from memory.db, for people."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..memory import Memory
from . import feedback, history, outbox, replacements, rows
from .catalogue import Replacement
from .history import CaptureReader
from .values import Compaction, Feedback, GraphLag

_HIGHEST = 2**63 - 1


class Entry(NamedTuple):
    """A memory, whether it is hidden, the id of its original, and the ids of its conversions, by number."""

    memory: Memory
    hidden: bool
    migrated_from: str | None
    migrated_to: tuple[str, ...]


class TopicRow(NamedTuple):
    """A topic's counts. ``memories`` counts all visible ones.

    ``characters`` (of JSON text) and the times cover only what a compaction would merge: active summaries and the
    record in force. A time is None if no such memory has one.
    """

    topic_id: str
    memories: int
    active: int
    decision_records: int
    drafts: int
    superseded: int
    characters: int
    oldest: str | None
    newest: str | None


class MemoryLists:
    """Lists of one state of the store. Hidden memories are left out unless a method says otherwise."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.captures = CaptureReader(connection)

    def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        **labels: Any,
    ) -> list[Memory]:
        """At most ``limit`` memories with these labels and numbers below ``before``, the highest number first."""
        where, given = rows.having(labels)
        chosen = f"hidden = 0 AND {where} AND number < ? ORDER BY number DESC LIMIT ?"
        return rows.read(self._connection, chosen, *given, _HIGHEST if before is None else before, limit)

    def count(self, **labels: Any) -> int:
        """How many memories ``page`` could return without a limit."""
        where, given = rows.having(labels)
        query = f"SELECT count(*) FROM memories WHERE hidden = 0 AND {where}"  # noqa: S608 - constants
        return int(self._connection.execute(query, given).fetchone()[0])

    def anchored(self) -> list[Memory]:
        """The memories with anchors that are not superseded, the highest number first."""
        chosen = "hidden = 0 AND anchors <> '[]' AND status IS NOT 'Superseded' ORDER BY number DESC"
        return rows.read(self._connection, chosen)

    def entry(self, wanted: str | int) -> Entry | None:
        """A memory by id (text) or by number, hidden ones included, or None."""
        column = "number" if isinstance(wanted, int) else "id"
        query = f"SELECT hidden, migrated_from, {rows.COLUMNS} FROM memories WHERE {column} = ?"  # noqa: S608 - constants
        result = self._connection.execute(query, (wanted,)).fetchone()
        if result is None:
            return None
        hidden, migrated_from, *row = result
        memory, made = rows.memory_of(tuple(row)), "SELECT id FROM memories WHERE migrated_from = ? ORDER BY number"
        return Entry(memory, bool(hidden), migrated_from, tuple(rows.column(self._connection, made, memory.id)))

    def memory(self, number: int) -> Memory | None:
        """The memory with this number; None if there is none."""
        return next(iter(self.memories([number])), None)

    def memories(self, numbers: Iterable[int]) -> list[Memory]:
        """Those with these numbers, by number; unknown numbers are left out."""
        chosen = "number IN (SELECT value FROM json_each(?)) ORDER BY number"
        return rows.read(self._connection, chosen, json.dumps(list(numbers)))

    def feedback(self, memory_id: str) -> list[Feedback]:
        """The feedback on a memory, hidden or not, that was not withdrawn; the latest first."""
        return feedback.of_memory(self._connection, memory_id)

    def replacements(self, least: float = 0.0) -> list[Replacement]:
        """As ``StoreSnapshot.replacements``, from the probability ``least`` on."""
        return replacements.found(self._connection, least)

    def uncompared(self) -> int:
        """How many visible memories were not compared with the others yet."""
        return replacements.uncompared(self._connection)

    def unsaid(self) -> list[Replacement]:
        """The pairs on which nobody was asked yet, the most probable first."""
        return replacements.unsaid(self._connection)

    def mentioning(self, letters: str) -> list[Memory]:
        """The visible memories with these letters, in small ones, in their text, by rising number."""
        return rows.read(self._connection, "hidden = 0 AND instr(lower(body), ?) ORDER BY number", letters)

    def related(self, memory_ids: Sequence[str], topic_id: str | None) -> list[Memory]:
        """These memories and those of the topic, with originals and conversions, hidden ones included, by rising
        number. Unknown ids are left out.
        """
        named = (
            "id IN (WITH RECURSIVE named(id) AS ("
            " SELECT id FROM memories WHERE topic_id = ? OR id IN (SELECT value FROM json_each(?))"
            " UNION SELECT linked.id FROM named JOIN memories AS linked ON linked.migrated_from = named.id"
            " OR linked.id = (SELECT migrated_from FROM memories WHERE id = named.id))"
            " SELECT id FROM named) ORDER BY number"
        )
        return rows.read(self._connection, named, topic_id, json.dumps(list(memory_ids)))

    def topics(self) -> list[TopicRow]:
        """All topics, by falling number of active summaries, then by id."""
        query = (
            "SELECT topic_id, count(*), count(*) FILTER (WHERE kind = 'summary' AND status = 'Active'),"
            " count(*) FILTER (WHERE status = 'DecisionRecord'), count(*) FILTER (WHERE status = 'Draft'),"
            " count(*) FILTER (WHERE status = 'Superseded'), coalesce(sum(length(body)) FILTER (WHERE is_source), 0),"
            " min(at) FILTER (WHERE is_source), max(at) FILTER (WHERE is_source)"
            " FROM (SELECT *, coalesce(source_created_at, created_at) AS at,"
            " status IN ('Active', 'DecisionRecord') AS is_source"
            " FROM memories WHERE topic_id IS NOT NULL AND hidden = 0)"
            " GROUP BY topic_id ORDER BY 3 DESC, 1"
        )
        return [TopicRow(*row) for row in self._connection.execute(query)]

    def kinds(self) -> dict[str, int]:
        """How many memories there are of each kind. A kind without memories has no entry."""
        query = "SELECT kind, count(*) FROM memories WHERE hidden = 0 GROUP BY kind"
        return dict(self._connection.execute(query).fetchall())

    def history(self, limit: int, topic_id: str | None = None) -> list[tuple[Compaction, int | None]]:
        """The last ``limit`` compactions of a topic or of all, the newest first, each with its record's number; None if
        there is no such memory any more.
        """
        return history.newest(self._connection, limit, topic_id)

    def graph_lag(self) -> GraphLag:
        """What the knowledge graph lacks."""
        return outbox.lag(self._connection)
