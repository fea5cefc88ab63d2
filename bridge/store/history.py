"""The history in memory.db: what was captured from which session, its turns, and where each captured memory comes from
(the tables ``captured_sessions``, ``captured_turns`` and ``captured_memories``); and compactions and restores.

It holds ids, digests, counts, places and paths of transcripts, never texts, so it can still be inspected when all the
memories are gone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from jobs import clock

from .history_digests import without_texts
from .rows import column
from .values import AppliedJob, CapturedSegment, CapturedSession, CaptureSource, Compaction, Restored, Skipped, Source

_SESSION = "tool, session_id, path, version, state, captured_at, segments"
_SOURCE = ", ".join(CaptureSource._fields)

_COLUMNS = (
    "seq, record_id, topic_id, applied_at, job_id, job_sha256, preview_digest, sources, conflicts, narrative_source,"
    " restored_at, restored"
)


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


class CompactionReader:
    """Reads the history through one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def latest(self, record_id: str) -> Compaction | None:
        """The last compaction that made this record."""
        return self._one("record_id = ? ORDER BY seq DESC", record_id)

    def compaction_of_preview(self, preview_digest: str) -> Compaction | None:
        """The compaction that applied a preview and was not undone."""
        return self._one("preview_digest = ? AND restored_at IS NULL ORDER BY seq DESC", preview_digest)

    def of_job(self, effect: AppliedJob, accepted_at: str) -> Compaction | None:
        """The compaction that an earlier attempt of the job made. An earlier job of the same id does not count."""
        made = self._one("job_id = ? AND job_sha256 = ? ORDER BY seq DESC", effect.job_id, effect.job_sha256)
        return made if made and clock.parse(made.applied_at) >= clock.parse(accepted_at) else None

    def restored_by(self, job_id: str, record_id: str, accepted_at: str) -> Compaction | None:
        """The compaction that an earlier attempt of the job undid."""
        where = "restored_by = ? AND record_id = ? ORDER BY restored_at DESC, seq DESC"
        made = self._one(where, job_id, record_id)
        is_its_own = made and made.restored and clock.parse(made.restored.at) >= clock.parse(accepted_at)
        return made if is_its_own else None

    def merged_into(self, memory_id: str) -> list[tuple[str, int]]:
        """Ids and numbers of the visible records that merged this memory, by number. Withdrawn records are hidden."""
        return self._connection.execute(
            "SELECT DISTINCT memories.id, memories.number FROM memories, json_each(memories.sources) AS source"
            " WHERE memories.kind = 'decision_record' AND memories.hidden = 0 AND source.value = ?"
            " ORDER BY memories.number",
            (memory_id,),
        ).fetchall()

    def merged_by_others(self, record_id: str) -> set[str]:
        """The ids of the memories that other records in force have merged."""
        query = (
            "SELECT source.value FROM memories, json_each(memories.sources) AS source"
            " WHERE kind = 'decision_record' AND hidden = 0 AND status = 'DecisionRecord' AND memories.id <> ?"
        )
        return {memory_id for (memory_id,) in self._connection.execute(query, (record_id,))}

    def records(self, topic_id: str | None = None) -> list[str]:
        """The ids of the visible decision records, of one topic or of all, the newest first."""
        query = "SELECT id FROM memories WHERE kind = 'decision_record' AND hidden = 0"
        arguments = [] if topic_id is None else [topic_id]
        query += "" if topic_id is None else " AND topic_id = ?"
        return [found for (found,) in self._connection.execute(query + " ORDER BY number DESC", arguments)]

    def has(self, record_id: str, applied_at: str) -> bool:
        """Whether the compaction that made this record at that time is recorded."""
        query = "SELECT 1 FROM compactions WHERE record_id = ? AND applied_at = ?"
        return self._connection.execute(query, (record_id, applied_at)).fetchone() is not None

    def _one(self, where: str, *arguments: str) -> Compaction | None:
        query = f"SELECT {_COLUMNS} FROM compactions WHERE {where} LIMIT 1"  # noqa: S608 - constants
        row = self._connection.execute(query, arguments).fetchone()
        return None if row is None else _compaction(row)


# --- writing, inside a transaction ---


def record(connection: sqlite3.Connection, made: Compaction) -> int:
    """Record a compaction, inside its transaction. Returns its ``seq``."""
    done = connection.execute(
        "INSERT INTO compactions (record_id, topic_id, applied_at, job_id, job_sha256, preview_digest, sources,"
        " conflicts, narrative_source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            made.record_id, made.topic_id, made.applied_at, made.effect.job_id, made.effect.job_sha256,
            made.preview_digest, json.dumps([source._asdict() for source in made.sources]),
            json.dumps(list(made.conflicts)), made.narrative_source,
        ),
    )  # fmt: skip
    return int(done.lastrowid or 0)


def note_restored(connection: sqlite3.Connection, seq: int, job_id: str, came: Restored) -> None:
    """Record, inside its transaction, that a job undid a compaction."""
    what = {"restored": list(came.restored), "skipped": [each._asdict() for each in came.skipped]}
    connection.execute(
        "UPDATE compactions SET restored_at = ?, restored_by = ?, restored = ? WHERE seq = ?",
        (came.at, job_id, json.dumps(what), seq),
    )


def remove_texts(connection: sqlite3.Connection) -> None:
    """Rewrite the rows that an earlier version imported with texts, as ``without_texts`` gives them."""
    names = ("seq", "job_id", "job_sha256", "preview_digest", "narrative_source", "sources", "conflicts", "restored_by")
    for row in connection.execute(f"SELECT {', '.join(names)} FROM compactions").fetchall():  # noqa: S608 - constants
        before = dict(zip(names, row, strict=True))
        before |= {name: json.loads(before[name]) for name in ("sources", "conflicts")}
        after = without_texts(before)
        if after != before:
            values = [json.dumps(after[name]) if isinstance(after[name], list) else after[name] for name in names[1:]]
            connection.execute(
                f"UPDATE compactions SET {', '.join(f'{name} = ?' for name in names[1:])} WHERE seq = ?",  # noqa: S608 - constants
                (*values, after["seq"]),
            )


def clear_topics(connection: sqlite3.Connection, topic_ids: Iterable[str]) -> None:
    """Delete the ids of forgotten topics from the history, since they derive from a title."""
    connection.executemany("UPDATE compactions SET topic_id = '' WHERE topic_id = ?", [(each,) for each in topic_ids])


def newest(connection: sqlite3.Connection, limit: int, topic_id: str | None) -> list[tuple[Compaction, int | None]]:
    """The last ``limit`` compactions, the newest first, each with the number of its record, or None if that is gone."""
    where, arguments = ("WHERE topic_id = ?", [topic_id]) if topic_id else ("", [])
    query = f"SELECT {_COLUMNS} FROM compactions {where} ORDER BY seq DESC LIMIT ?"  # noqa: S608 - constants
    found = [_compaction(row) for row in connection.execute(query, [*arguments, limit])]
    numbers = _numbers(connection, [made.record_id for made in found])
    return [(made, numbers.get(made.record_id)) for made in found]


def _numbers(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    query = "SELECT id, number FROM memories WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps(ids),)).fetchall())


def _compaction(row: Sequence[Any]) -> Compaction:
    (seq, record_id, topic_id, applied_at, job_id, job_sha256, digest, sources, conflicts, narrative_source,
     restored_at, restored) = row  # fmt: skip
    came = json.loads(restored) if restored else {"restored": [], "skipped": []}
    return Compaction(
        record_id=record_id,
        topic_id=topic_id,
        applied_at=applied_at,
        effect=AppliedJob(job_id, job_sha256),
        preview_digest=digest,
        sources=tuple(Source(**source) for source in json.loads(sources)),
        conflicts=tuple(json.loads(conflicts)),
        narrative_source=narrative_source,
        restored=None
        if restored_at is None
        else Restored(restored_at, tuple(came["restored"]), tuple(Skipped(**each) for each in came["skipped"])),
        seq=seq,
    )
