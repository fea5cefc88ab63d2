"""The tables ``captured_sessions``, ``captured_turns`` and ``captured_memories``: what was captured from which session,
its turns, and where each captured memory comes from.

They hold ids, digests, places and paths of transcripts, never texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any

from .rows import column
from .values import CapturedSegment, CapturedSession, CaptureSource

_SESSION = "tool, session_id, path, version, state, captured_at, segments"
_SOURCE = ", ".join(CaptureSource._fields)


class CaptureReader:
    """Reads the tables through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def session(self, tool: str, session_id: str) -> CapturedSession | None:
        """What was captured from a session; None if nothing was yet."""
        query = f"SELECT {_SESSION} FROM captured_sessions WHERE tool = ? AND session_id = ?"  # noqa: S608 - a constant
        row = self._connection.execute(query, (tool, session_id)).fetchone()
        return None if row is None else _session(row)

    def sessions(self) -> list[CapturedSession]:
        """All sessions, the last captured first."""
        query = f"SELECT {_SESSION} FROM captured_sessions ORDER BY captured_at DESC, tool, session_id"  # noqa: S608 - a constant
        return [_session(row) for row in self._connection.execute(query)]

    def source(self, memory_id: str) -> CaptureSource | None:
        """Where a captured memory comes from; None for any other memory."""
        query = f"SELECT {_SOURCE} FROM captured_memories WHERE memory_id = ?"  # noqa: S608 - a constant
        row = self._connection.execute(query, (memory_id,)).fetchone()
        return None if row is None else _source(row)

    def turns(self, tool: str) -> dict[str, str]:
        """Digest -> session id, of the turns of all captured sessions of the tool, forgotten ones included."""
        query = "SELECT session_id, digests FROM captured_turns WHERE tool = ?"
        return {
            digest: session_id
            for session_id, digests in self._connection.execute(query, (tool,))
            for digest in digests.split()
        }

    def memories_of(self, tool: str, session_id: str) -> list[str]:
        """The ids of all memories that were captured from a session and still exist, superseded ones included."""
        query = (
            "SELECT memory_id FROM captured_memories JOIN memories ON id = memory_id"
            " WHERE tool = ? AND captured_memories.session_id = ? ORDER BY number"
        )
        return column(self._connection, query, tool, session_id)

    def notes_of(self, tool: str, session_id: str) -> list[str]:
        """The ids of the memories that somebody stored during a session, by number; superseded ones are left out."""
        query = (
            "SELECT id FROM memories WHERE session_id IN (?, ?) AND status IS NOT 'Superseded'"
            " AND id NOT IN (SELECT memory_id FROM captured_memories) ORDER BY number"
        )
        return column(self._connection, query, f"{tool}/{session_id}", session_id)


# --- writing, inside a transaction ---


def record_session(connection: sqlite3.Connection, session: CapturedSession) -> None:
    """Record what is captured from a session, instead of what was recorded before."""
    segments = [[each.turns, each.digest, each.memory_id] for each in session.segments]
    values = (*session[:-1], json.dumps(segments))
    connection.execute("INSERT OR REPLACE INTO captured_sessions VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def record_turns(connection: sqlite3.Connection, tool: str, session_id: str, digests: Iterable[str]) -> None:
    """Record of which turns a captured session consists, instead of what was recorded before."""
    values = (tool, session_id, " ".join(digests))
    connection.execute("INSERT OR REPLACE INTO captured_turns VALUES (?, ?, ?)", values)


def record_source(connection: sqlite3.Connection, source: CaptureSource) -> None:
    """Record where a memory comes from. The first source stays: a resumed session repeats what another one said."""
    values = source._asdict() | {"evidence": json.dumps(source.evidence)}
    insert = "INSERT OR IGNORE INTO captured_memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    connection.execute(insert, tuple(values.values()))


def drop_sources(connection: sqlite3.Connection, memory_ids: Iterable[str]) -> None:
    """Delete where these memories come from."""
    connection.executemany("DELETE FROM captured_memories WHERE memory_id = ?", [(each,) for each in memory_ids])


def _session(row: tuple[Any, ...]) -> CapturedSession:
    session = CapturedSession(*row)
    return session._replace(segments=tuple(CapturedSegment(*each) for each in json.loads(row[-1])))


def _source(row: tuple[Any, ...]) -> CaptureSource:
    source = CaptureSource(*row)
    evidence: Any = source.evidence  # as stored: JSON text
    places = tuple((section, index, place) for section, index, place in json.loads(evidence))
    return source._replace(evidence=places)
