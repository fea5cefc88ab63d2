"""What goes when memories are forgotten, and what is left of what was made of them. The table ``forgettings``: which
forgettings have begun, and what they still have to see to. It holds ids, digests and names of our own, never texts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from jobs import clock
from jobs.errors import JobError

from ..compaction import previews, record_draft
from ..memory import Content, Memory, Status
from ..store import compaction_history, rows
from ..store.applied_jobs import AppliedJob
from ..store.compaction_history import Compaction, Source
from ..store.rows import Addition
from ..store.topics import nearest

Naming = Callable[[str, Content], str]  # the id of a record of that topic and content


# What of a plan is still to be seen to.
_LEFT = ("jobs", "doomed", "rejected", "parts", "files", "stores", "data_ids")


@dataclass(frozen=True, slots=True)
class Plan:
    """A forgetting that has begun. ``forgotten`` are the ids that were asked for and those that go with them.

    ``jobs`` are ended jobs whose files tell of them; ``doomed`` waiting ones that would bring one back. ``files`` are
    relative to the workspace, and so are ``stores`` of earlier versions, in which ``data_ids`` are texts. ``rejected``
    and ``parts`` are SHA-256 digests of names, since people choose these.
    """

    forgotten: tuple[str, ...]
    records_rebuilt: tuple[tuple[str, str], ...] = ()
    records_removed: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    doomed: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    data_ids: tuple[str, ...] = ()
    files_removed: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def tombstones(self) -> tuple[str, ...]:
        """Every id that must not come back."""
        rebuilt = (old for old, new in self.records_rebuilt if old != new)
        return (*self.forgotten, *rebuilt, *self.records_removed)

    def joined(self, others: Iterable[Plan]) -> Plan:
        """With what other forgettings still have to see to."""
        found = self
        for other in others:
            for name in _LEFT:
                both: dict[str, Any] = {name: tuple(dict.fromkeys((*getattr(found, name), *getattr(other, name))))}
                found = replace(found, **both)
        return found


# --- the table ---


@dataclass(frozen=True, slots=True)
class Begun:
    """A forgetting as it is noted."""

    plan: Plan
    is_done: bool


def note(connection: sqlite3.Connection, effect: AppliedJob, accepted_at: str, plan: Plan, now: str) -> None:
    """Note a forgetting inside the transaction that it is."""
    connection.execute(
        "INSERT OR REPLACE INTO forgettings VALUES (?, ?, ?, ?, NULL, ?)",
        (effect.job_id, effect.job_sha256, accepted_at, now, json.dumps(asdict(plan))),
    )


def note_done(connection: sqlite3.Connection, now: str) -> None:
    """Whatever had begun has left nothing in the stores. What it removed need not be named any more."""
    for rowid, plan in _rows(connection):
        left = replace(plan, files=(), stores=(), data_ids=())
        connection.execute(
            "UPDATE forgettings SET done_at = ?, plan = ? WHERE rowid = ?", (now, json.dumps(asdict(left)), rowid)
        )


def begun(connection: sqlite3.Connection, effect: AppliedJob, accepted_at: str) -> Begun | None:
    """What this job has begun in an earlier attempt; not what a former job of the same id did."""
    row = connection.execute(
        "SELECT plan, done_at IS NOT NULL FROM forgettings WHERE job_id = ? AND job_sha256 = ? AND accepted_at = ?",
        (effect.job_id, effect.job_sha256, accepted_at),
    ).fetchone()
    return None if row is None else Begun(_plan(row[0]), bool(row[1]))


def unfinished(connection: sqlite3.Connection) -> list[Plan]:
    """What forgettings have begun and not ended, of this job or of one that gave up."""
    return [plan for _, plan in _rows(connection)]


def _rows(connection: sqlite3.Connection) -> list[tuple[int, Plan]]:
    found = connection.execute("SELECT rowid, plan FROM forgettings WHERE done_at IS NULL")
    return [(rowid, _plan(text)) for rowid, text in found.fetchall()]


def drop_before(connection: sqlite3.Connection, at: str) -> None:
    """Drop what is over and older than any job that could still ask, inside a transaction."""
    connection.execute("DELETE FROM forgettings WHERE done_at < ?", (at,))


def _plan(text: str) -> Plan:
    given = json.loads(text).items()
    found: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given}
    return Plan(**found | {"records_rebuilt": tuple((old, new) for old, new in found["records_rebuilt"])})


# --- what goes ---


@dataclass(frozen=True, slots=True)
class Scope:
    """``ids`` go. ``memories`` are those of them that are there still, hidden ones as well; the others went before."""

    ids: tuple[str, ...]
    memories: tuple[Memory, ...]


def scope(connection: sqlite3.Connection, memory_ids: Sequence[str] | None, topic_id: str | None) -> Scope:
    """What is asked for, with the originals of what was converted, and what was converted from an original.

    Raises MEMORY_NOT_FOUND, TOPIC_NOT_FOUND, with the nearest ids.
    """
    if memory_ids is None:
        assert topic_id is not None
        query = "SELECT id FROM memories WHERE topic_id = ? ORDER BY number"
        memory_ids = [found for (found,) in connection.execute(query, (topic_id,))]
        if not memory_ids:
            raise _no_topic(connection, topic_id)
    ids = dict.fromkeys(memory_ids)
    _require_known(connection, list(ids))
    linked = (
        "SELECT id FROM memories WHERE migrated_from = :id"
        " UNION SELECT migrated_from FROM memories WHERE id = :id AND migrated_from IS NOT NULL"
    )
    waiting = list(ids)
    while waiting:
        for (found,) in connection.execute(linked, {"id": waiting.pop()}).fetchall():
            if found not in ids:
                ids[found] = None
                waiting.append(found)
    there = select(connection, list(ids))
    return Scope(tuple(ids), tuple(there[each] for each in ids if each in there))


def select(connection: sqlite3.Connection, memory_ids: Sequence[str]) -> dict[str, Memory]:
    """Those of the memories that are there, by id."""
    query = f"SELECT {rows.COLUMNS} FROM memories WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - a constant
    found = (rows.memory_of(row) for row in connection.execute(query, (json.dumps(memory_ids),)))
    return {memory.id: memory for memory in found}


def _require_known(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    known = "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(:ids))"
    gone = "SELECT id FROM tombstones WHERE id IN (SELECT value FROM json_each(:ids))"
    found = {each for (each,) in connection.execute(f"{known} UNION {gone}", {"ids": json.dumps(ids)})}
    unknown = [each for each in ids if each not in found]
    if not unknown:
        return
    others = [each for (each,) in connection.execute("SELECT id FROM memories WHERE hidden = 0 ORDER BY number")]
    near = nearest(unknown[0], others)
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
    raise JobError(
        "MEMORY_NOT_FOUND",
        f"There is no memory {unknown[0]!r}{more}.{hint} Nothing was forgotten.",
        details={"unknown": unknown, "nearest": near},
    )


def _no_topic(connection: sqlite3.Connection, topic_id: str) -> JobError:
    query = "SELECT DISTINCT topic_id FROM memories WHERE topic_id IS NOT NULL AND hidden = 0 ORDER BY topic_id"
    near = nearest(topic_id, [found for (found,) in connection.execute(query)])
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    return JobError(
        "TOPIC_NOT_FOUND", f"There is no topic {topic_id!r}.{hint} Nothing was forgotten.", details={"nearest": near}
    )


def topics_that_go(connection: sqlite3.Connection, going: Collection[Memory]) -> list[str]:
    """The topics that no other memory has: their ids are made of a title."""
    ids = {memory.id for memory in going}
    found = []
    for topic in dict.fromkeys(memory.metadata.topic_id for memory in going):
        others = connection.execute("SELECT id FROM memories WHERE topic_id = ?", (topic,))
        if topic is not None and all(each in ids for (each,) in others):
            found.append(topic)
    return found


# --- what was made of it ---


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a record that merged what goes. ``sources`` is what is left of it, the record itself flattened
    where it goes: fewer than two make no record."""

    record: Memory
    sources: tuple[str, ...]
    is_rebuilt: bool


def fates(records: Mapping[str, tuple[Memory, bool]], there: Collection[str], going: Collection[str]) -> list[Fate]:
    """What becomes of the records, those that others were merged from first; who lost nothing is left out.

    ``records`` are all there are, each with whether it is hidden: a withdrawn one is not made anew. ``there`` are the
    memories of the store.
    """
    looked: dict[str, Fate | None] = {}
    found: list[Fate] = []

    def left_of(memory_id: str) -> tuple[str, ...]:
        fate = fate_of(memory_id)
        if fate is not None:
            return (memory_id,) if fate.is_rebuilt else fate.sources
        return () if memory_id in going or memory_id not in there else (memory_id,)

    def fate_of(memory_id: str) -> Fate | None:
        if memory_id in records and memory_id not in looked:
            looked[memory_id] = None  # a record that comes from itself is a mistake, and no reason to go round
            record, is_hidden = records[memory_id]
            left = tuple(dict.fromkeys(each for source in record.sources for each in left_of(source)))
            goes = memory_id in going
            if goes or any(source in going or looked.get(source) for source in record.sources):
                fate = looked[memory_id] = Fate(record, left, not goes and not is_hidden and len(left) > 1)
                found.append(fate)
        return looked.get(memory_id)

    for memory_id in records:
        fate_of(memory_id)
    return found


@dataclass(slots=True)
class Changes:
    """What a forgetting does to the memories that stay: one transaction's work."""

    additions: list[Addition] = field(default_factory=list)
    rebuilt: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    revived: dict[str, Status] = field(default_factory=dict)
    compactions: list[Compaction] = field(default_factory=list)


def changes(
    connection: sqlite3.Connection,
    going: Collection[str],
    naming: Naming,
    embed: record_draft.Embed,
    effect: AppliedJob,
    now: str,
    pulse: record_draft.Pulse = lambda: None,
) -> Changes:
    """What becomes of the records that merged what goes, and of the statuses that these gave. Changes nothing yet."""
    query = f"SELECT {rows.COLUMNS}, hidden FROM memories WHERE kind = 'decision_record' ORDER BY number"  # noqa: S608 - a constant
    held = [(rows.memory_of(row[:-1]), bool(row[-1])) for row in connection.execute(query)]
    records = {memory.id: (memory, is_hidden) for memory, is_hidden in held}
    there = select(connection, list({source for memory, _ in held for source in memory.sources}))
    made = Changes()
    new: dict[str, Memory] = {}
    lost = fates(records, there, going)
    staying = {each: memory for each, (memory, is_hidden) in records.items() if not is_hidden}
    for fate in lost:
        staying.pop(fate.record.id, None)
    for fate in lost:
        old = fate.record
        known = _known_sources(connection, old, records)
        if fate.is_rebuilt:
            sources = [new.get(each) or there[each] for each in fate.sources]
            record, noted = _rebuilt(old, sources, known, naming, embed, effect, now, pulse)
            made.rebuilt.append((old.id, record.id))
            new[old.id] = staying.get(record.id, record)  # an import may have brought the old one beside its successor
            if record.id not in staying:
                made.compactions.append(noted)
            continue
        if old.id not in going:
            made.removed.append(old.id)
        if old.metadata.status == "DecisionRecord" and not records[old.id][1]:  # it was in force
            for each in fate.sources:
                if each in new:
                    new[each] = replace(new[each], metadata=replace(new[each].metadata, status="DecisionRecord"))
            made.revived |= _former(connection, [there[each] for each in fate.sources if each not in new], known)
    made_anew = {record.id: record for record in new.values() if record.id not in staying}
    made.additions = [Addition(record, effect.job_id, status_set_at=now) for record in made_anew.values()]
    in_force = (memory for memory in (staying | made_anew).values() if memory.metadata.status == "DecisionRecord")
    for merged in {source for memory in in_force for source in memory.sources}:
        made.revived.pop(merged, None)
    return made


def _known_sources(
    connection: sqlite3.Connection, record: Memory, records: Mapping[str, tuple[Memory, bool]]
) -> dict[str, Source]:
    """What the history says of a record's sources, and of those of records that were merged into it."""
    found: dict[str, Source] = {}
    waiting, seen = [record.id], {record.id}
    while waiting:
        last = compaction_history.latest(connection, waiting.pop(0))
        for source in last.sources if last else ():
            found.setdefault(source.memory_id, source)
            if source.memory_id in records and source.memory_id not in seen:
                seen.add(source.memory_id)
                waiting.append(source.memory_id)
    return found


def _rebuilt(
    old: Memory,
    sources: Sequence[Memory],
    known: Mapping[str, Source],
    naming: Naming,
    embed: record_draft.Embed,
    effect: AppliedJob,
    now: str,
    pulse: record_draft.Pulse,
) -> tuple[Memory, Compaction]:
    """The record that the remaining sources make, with the status that the old one had; and its line of history."""
    ordered = sorted(sources, key=lambda memory: (clock.parse(record_draft.date_of(memory)), memory.number, memory.id))
    draft = record_draft.draft(ordered, embed, pulse=pulse)
    topic_id = old.metadata.topic_id or draft.metadata.topic_id or ""
    record = Memory(
        id=naming(topic_id, draft.content),
        number=0,
        kind="decision_record",
        metadata=replace(
            draft.metadata,
            topic_id=topic_id,
            status=old.metadata.status,
            created_at=old.metadata.created_at,
            updated_at=now,
        ),
        stored_at=now,
        content=draft.content,
        sources=tuple(memory.id for memory in draft.sources),
    )
    preview = previews.preview_of(draft, topic_id)
    noted = Compaction(
        record_id=record.id,
        topic_id=topic_id,
        applied_at=now,
        effect=effect,
        preview_digest=preview.digest,
        sources=tuple(_source(memory, digest, known, now) for memory, (_, digest) in
                      zip(draft.sources, preview.sources, strict=True)),
        conflicts=compaction_history.digested(preview.conflicts),
        narrative_source=draft.narrative_source,
    )  # fmt: skip
    return record, noted


def _source(memory: Memory, digest: str, known: Mapping[str, Source], now: str) -> Source:
    """A source as it was before it was merged first."""
    former = known.get(memory.id)
    if former is not None:
        return replace(former, content_sha256=digest)
    # A record of this very transaction, or one of which there is no history: an import.
    return Source(memory.id, digest, _status_before(memory), now if memory.number == 0 else None)


def _status_before(memory: Memory) -> Status:
    """What alone can be merged: active summaries, and records."""
    return "DecisionRecord" if memory.kind == "decision_record" else "Active"


def _former(
    connection: sqlite3.Connection, memories: Sequence[Memory], known: Mapping[str, Source]
) -> dict[str, Status]:
    """The statuses that memories had before a record superseded them, but for those that were set by hand since."""
    found: dict[str, Status] = {}
    for memory in memories:
        (set_at,) = connection.execute("SELECT status_set_at FROM memories WHERE id = ?", (memory.id,)).fetchone()
        former = known.get(memory.id)
        is_as_it_was_left = former is None or former.status_set_at in (None, set_at)
        if memory.metadata.status == "Superseded" and is_as_it_was_left:
            found[memory.id] = former.status if former else _status_before(memory)
    return found
