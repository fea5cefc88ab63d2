"""What a forgetting removes besides the memories that were named, and what becomes of what was made of them.

Functions over values that the store gives; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jobs import clock
from jobs.errors import JobError

from ..compaction import previews, record_draft
from ..memory import Content, Memory, Status
from ..store import compaction_history, topics
from ..store.applied_jobs import AppliedJob
from ..store.compaction_history import Compaction, Source
from ..store.protocol import Memories
from ..store.rows import Addition

Naming = Callable[[str, Content], str]  # the id of a record of that topic and content

_NOTHING_DONE = " Nothing was forgotten."


# --- what goes ---


@dataclass(frozen=True, slots=True)
class Scope:
    """``ids`` go. ``memories`` are those of them that are there still, hidden ones as well; the others went before."""

    ids: tuple[str, ...]
    memories: tuple[Memory, ...]


def scope(store: Memories, memory_ids: Sequence[str] | None, topic_id: str | None) -> Scope:
    """What is asked for, with the originals of what was converted, and what was converted from an original.

    Raises MEMORY_NOT_FOUND, TOPIC_NOT_FOUND, with the nearest ids.
    """
    if memory_ids is None:
        assert topic_id is not None
        memory_ids = store.ids_about(topic_id)
        if not memory_ids:
            raise topics.not_found(topic_id, store.topic_ids(), so=_NOTHING_DONE)
    ids = dict.fromkeys(memory_ids)
    _require_known(store, list(ids))
    waiting = list(ids)
    while waiting:
        for found in _linked(store, waiting.pop()):
            if found not in ids:
                ids[found] = None
                waiting.append(found)
    there = store.select(list(ids))
    return Scope(tuple(ids), tuple(there[each] for each in ids if each in there))


def _linked(store: Memories, memory_id: str) -> list[str]:
    """What was converted from a memory, and what it was converted from; by id."""
    known = store.known(memory_id)
    original = [known.migrated_from] if known and known.migrated_from is not None else []
    return sorted({*store.conversions_of(memory_id), *original})


def _require_known(store: Memories, ids: Sequence[str]) -> None:
    unknown = store.unknown(ids)
    if not unknown:
        return
    near = topics.nearest(unknown[0], store.ids())
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
    raise JobError(
        "MEMORY_NOT_FOUND",
        f"There is no memory {unknown[0]!r}{more}.{hint}{_NOTHING_DONE}",
        details={"unknown": unknown, "nearest": near},
    )


def topics_that_go(store: Memories, going: Collection[Memory]) -> list[str]:
    """The topics that no other memory has: their ids are made of a title."""
    ids = {memory.id for memory in going}
    found = dict.fromkeys(memory.metadata.topic_id for memory in going)
    return [topic for topic in found if topic is not None and ids.issuperset(store.ids_about(topic))]


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
    store: Memories,
    going: Collection[str],
    naming: Naming,
    embed: record_draft.Embed,
    effect: AppliedJob,
    now: str,
    pulse: record_draft.Pulse = lambda: None,
) -> Changes:
    """What becomes of the records that merged what goes, and of the statuses that these gave. Changes nothing yet."""
    held = store.records()
    records = {memory.id: (memory, is_hidden) for memory, is_hidden in held}
    there = store.select(list({source for memory, _ in held for source in memory.sources}))
    made = Changes()
    new: dict[str, Memory] = {}
    lost = fates(records, there, going)
    staying = {each: memory for each, (memory, is_hidden) in records.items() if not is_hidden}
    for fate in lost:
        staying.pop(fate.record.id, None)
    for fate in lost:
        old = fate.record
        known = _known_sources(store, old, records)
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
            made.revived |= _former(store, [there[each] for each in fate.sources if each not in new], known)
    made_anew = {record.id: record for record in new.values() if record.id not in staying}
    made.additions = [Addition(record, effect.job_id, status_set_at=now) for record in made_anew.values()]
    in_force = (memory for memory in (staying | made_anew).values() if memory.metadata.status == "DecisionRecord")
    for merged in {source for memory in in_force for source in memory.sources}:
        made.revived.pop(merged, None)
    return made


def _known_sources(store: Memories, record: Memory, records: Mapping[str, tuple[Memory, bool]]) -> dict[str, Source]:
    """What the history says of a record's sources, and of those of records that were merged into it."""
    found: dict[str, Source] = {}
    waiting, seen = [record.id], {record.id}
    while waiting:
        last = store.compactions.latest(waiting.pop(0))
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


def _former(store: Memories, memories: Sequence[Memory], known: Mapping[str, Source]) -> dict[str, Status]:
    """The statuses that memories had before a record superseded them, but for those that were set by hand since."""
    found: dict[str, Status] = {}
    for memory in memories:
        former, now = known.get(memory.id), store.known(memory.id)
        set_at = now.status_set_at if now else None
        is_as_it_was_left = former is None or former.status_set_at in (None, set_at)
        if memory.metadata.status == "Superseded" and is_as_it_was_left:
            found[memory.id] = former.status if former else _status_before(memory)
    return found
