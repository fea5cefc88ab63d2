"""The history of compactions and restores in memory.db.

It holds ids, digests and counts, never texts, so it can still be inspected when all the memories are gone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from jobs import clock
from jobs.ids import is_job_id
from jobs.layout import Workspace
from jobs.scrub import is_plain

from ..memory import Status
from .applied_jobs import AppliedJob
from .database import reading

if TYPE_CHECKING:
    from ..memory_shapes import PastCompaction

KeptBecause = Literal["forgotten", "status_changed", "merged"]

_COLUMNS = (
    "seq, record_id, topic_id, applied_at, job_id, job_sha256, preview_digest, sources, conflicts, narrative_source,"
    " restored_at, restored"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory as it was before the merge, and the time of the status that the compaction gave it.

    ``status_set_at`` is None if that time is not known.
    """

    memory_id: str
    content_sha256: str
    status: Status
    status_set_at: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that a restore left unchanged: it is forgotten, its status was changed since, or another record in force
    has merged it too.
    """

    memory_id: str
    reason: KeptBecause


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore: its time, the ids of restored sources, and the skipped ones."""

    at: str
    restored: tuple[str, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction. ``seq`` is 0 until it is recorded; ``conflicts`` are as ``digested`` returns them."""

    record_id: str
    topic_id: str
    applied_at: str
    effect: AppliedJob
    preview_digest: str
    sources: tuple[Source, ...]
    conflicts: tuple[Mapping[str, Any], ...]
    narrative_source: str
    restored: Restored | None = None
    seq: int = 0


def digested(conflicts: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """A preview's conflicts with SHA-256 digests in place of their texts."""
    return tuple(
        {
            "kind": conflict["kind"],
            "confidence": conflict["confidence"],
            "judged_by": conflict.get("judged_by", "rules"),
            **{side: _digested(conflict[side]) for side in ("earlier", "later")},
        }
        for conflict in conflicts
    )


def _digested(side: Mapping[str, Any]) -> dict[str, str]:
    return {"memory_id": side["memory_id"], "text_sha256": sha256(side["text"].encode()).hexdigest()}


def without_texts(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the history, as an export has it, without anything that a person wrote: a file may have been edited.

    Texts are replaced by their SHA-256. A value is removed if it should be a job id or a time and is not.
    """
    clean = {
        "job_id": _job_id(row["job_id"]),
        "job_sha256": _plain(row["job_sha256"]),
        "preview_digest": _plain(row["preview_digest"]),
        "narrative_source": _plain(row["narrative_source"]),
        "sources": [_plain_source(source) for source in row["sources"]],
        "conflicts": [_plain_conflict(conflict) for conflict in row["conflicts"]],
        "restored_by": None if row.get("restored_by") is None else _job_id(row["restored_by"]),
    }
    return {**row, **clean}


def _plain_source(source: Mapping[str, Any]) -> dict[str, Any]:
    set_at = source.get("status_set_at")
    return {
        **source,
        "content_sha256": _plain(source["content_sha256"]),
        "status_set_at": set_at if set_at is None or _is_time(set_at) else None,
    }


def _plain_conflict(conflict: Mapping[str, Any]) -> dict[str, Any]:
    """A conflict with its known fields only; a side's ``text`` becomes ``text_sha256``."""
    plain: dict[str, Any] = {name: _plain(conflict[name]) for name in ("kind", "judged_by") if name in conflict}
    if isinstance(conflict.get("confidence"), int | float):
        plain["confidence"] = conflict["confidence"]
    for name in ("earlier", "later"):
        side = conflict.get(name)
        if isinstance(side, dict):
            plain[name] = {each: _plain(side[each]) for each in ("memory_id", "text_sha256") if each in side}
            if isinstance(side.get("text"), str):
                plain[name]["text_sha256"] = sha256(side["text"].encode()).hexdigest()
    return plain


def _plain(value: object) -> str:
    """An id, a digest, or one of our own words as it is; the SHA-256 of any other text; "" for any other value."""
    if not isinstance(value, str):
        return ""
    return value if not value or is_plain(value) else sha256(value.encode()).hexdigest()


def _is_time(text: str) -> bool:
    try:
        clock.parse(text)
    except ValueError:
        return False
    return True


def _job_id(value: str) -> str:
    return value if is_job_id(value) else ""


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
            made.preview_digest, json.dumps([asdict(source) for source in made.sources]),
            json.dumps(list(made.conflicts)), made.narrative_source,
        ),
    )  # fmt: skip
    return int(done.lastrowid or 0)


def note_restored(connection: sqlite3.Connection, seq: int, job_id: str, came: Restored) -> None:
    """Record, inside its transaction, that a job undid a compaction."""
    what = {"restored": list(came.restored), "skipped": [asdict(each) for each in came.skipped]}
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


def history(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[PastCompaction]:
    """The last ``limit`` compactions, the newest first, as ``cognee-memory history`` shows them."""
    with reading(workspace) as connection:
        known = "SELECT 1 FROM sqlite_master WHERE name = 'compactions'"  # older formats have no history
        if connection is None or connection.execute(known).fetchone() is None:
            return []
        where, arguments = ("WHERE topic_id = ?", [topic_id]) if topic_id else ("", [])
        query = f"SELECT {_COLUMNS} FROM compactions {where} ORDER BY seq DESC LIMIT ?"  # noqa: S608 - constants
        found = [_compaction(row) for row in connection.execute(query, [*arguments, limit])]
        numbers = _numbers(connection, [made.record_id for made in found])
    return [_shown(made, numbers.get(made.record_id)) for made in found]


def _numbers(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, int]:
    query = "SELECT id, number FROM memories WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps(ids),)).fetchall())


def _shown(made: Compaction, number: int | None) -> PastCompaction:
    came = made.restored
    return {
        "decision_record_id": made.record_id,
        "memory_number": number,
        "topic_id": made.topic_id,
        "applied_at": made.applied_at,
        "job_id": made.effect.job_id,
        "preview_digest": made.preview_digest,
        "superseded": [source.memory_id for source in made.sources],
        "conflicts": [dict(conflict) for conflict in made.conflicts],
        "narrative_source": made.narrative_source,
        "restored_at": came.at if came else None,
        "restored": list(came.restored) if came else [],
        "skipped": [{"memory_id": each.memory_id, "reason": each.reason} for each in came.skipped] if came else [],
    }


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
