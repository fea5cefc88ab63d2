"""The consequences of a forgetting: which memories it removes, and what becomes of decision records that merged them.

These functions read the store and return values. They write nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from jobs import clock

from ..compaction import previews, record_draft
from ..compaction.contradictions import date_of
from ..memory import Memory, Status
from ..store.values import Addition, AppliedJob, Compaction, Source
from ..text.identity import new_memory

if TYPE_CHECKING:
    from ..store.memories import Memories
    from ..store.store import Store


# --- what is removed ---


class Scope(NamedTuple):
    """What a forgetting removes: ``ids`` are all its ids, ``memories`` those that still exist, hidden ones included."""

    ids: tuple[str, ...]
    memories: tuple[Memory, ...]


def scope(store: Memories, memory_ids: Sequence[str]) -> Scope:
    """The memories, with the originals of converted memories and the conversions of originals."""
    ids = dict.fromkeys(memory_ids)
    waiting = list(ids)
    while waiting:
        for linked in _linked(store, waiting.pop()):
            if linked not in ids:
                ids[linked] = None
                waiting.append(linked)
    existing = store.select(list(ids))
    return Scope(tuple(ids), tuple(existing[each] for each in ids if each in existing))


def _linked(store: Memories, memory_id: str) -> list[str]:
    """The ids of a memory's conversions and of its original, sorted."""
    known = store.known(memory_id)
    original = [known.migrated_from] if known and known.migrated_from is not None else []
    return sorted({*store.conversions_of(memory_id), *original})


def topics_that_go(store: Memories, going: Collection[Memory]) -> list[str]:
    """The ids of topics that only these memories have. They are removed too, since they derive from a title."""
    ids = {memory.id for memory in going}
    topics_of_them = dict.fromkeys(memory.metadata.topic_id for memory in going)
    return [topic for topic in topics_of_them if topic is not None and ids.issuperset(store.ids_about(topic))]


# --- decision records that merged removed memories ---


class Fate(NamedTuple):
    """What becomes of a record that merged a removed memory.

    ``sources`` are the sources that remain, with removed records replaced by their own sources. A record with fewer
    than two is removed, not rebuilt.
    """

    record: Memory
    sources: tuple[str, ...]
    is_rebuilt: bool


def fates(records: Mapping[str, tuple[Memory, bool]], there: Collection[str], going: Collection[str]) -> list[Fate]:
    """What becomes of the records that lost a source, ordered so that a record's sources come before it.

    ``records`` are all records of the store, each with whether it is hidden: a withdrawn one is not rebuilt. ``there``
    are the ids of existing memories, ``going`` those of removed ones.
    """
    looked: dict[str, Fate | None] = {}
    lost: list[Fate] = []

    def left_of(memory_id: str) -> tuple[str, ...]:
        """The memories that remain of one source."""
        fate = fate_of(memory_id)
        if fate is not None:
            return (memory_id,) if fate.is_rebuilt else fate.sources
        return () if memory_id in going or memory_id not in there else (memory_id,)

    def fate_of(memory_id: str) -> Fate | None:
        """The fate of a memory; None if it is no record or lost nothing."""
        if memory_id in records and memory_id not in looked:
            looked[memory_id] = None  # ends the recursion if a damaged record names itself as a source
            record, is_hidden = records[memory_id]
            left = tuple(dict.fromkeys(each for source in record.sources for each in left_of(source)))
            goes = memory_id in going
            if goes or any(source in going or looked.get(source) for source in record.sources):
                fate = looked[memory_id] = Fate(record, left, not goes and not is_hidden and len(left) > 1)
                lost.append(fate)
        return looked.get(memory_id)

    for memory_id in records:
        fate_of(memory_id)
    return lost


@dataclass(slots=True)
class Changes:
    """What a forgetting changes in the memories that stay, for one transaction.

    ``rebuilt`` are pairs of an old and a new record id, ``removed`` the ids of records without enough sources, and
    ``revived`` the former statuses of memories whose record is gone.
    """

    additions: list[Addition] = field(default_factory=list)
    rebuilt: list[tuple[str, str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    revived: dict[str, Status] = field(default_factory=dict)
    compactions: list[Compaction] = field(default_factory=list)


def changes(store: Store, going: Collection[str], effect: AppliedJob, now: str) -> Changes:
    """The changes to the records that merged removed memories, and to the statuses that these records had set. Nothing
    is written yet."""
    held = store.records()
    records = {memory.id: (memory, is_hidden) for memory, is_hidden in held}
    existing = store.select(list({source for memory, _ in held for source in memory.sources}))
    made = Changes()
    new: dict[str, Memory] = {}
    lost = fates(records, existing, going)
    staying = {each: memory for each, (memory, is_hidden) in records.items() if not is_hidden}
    for fate in lost:
        staying.pop(fate.record.id, None)
    for fate in lost:
        old = fate.record
        former = _former_compactions(store, old, records)
        known = _known_sources(former)
        if fate.is_rebuilt:
            sources = [new.get(each) or existing[each] for each in fate.sources]
            record, noted = _rebuilt(old, sources, known, store, effect, now)
            made.rebuilt.append((old.id, record.id))
            new[old.id] = staying.get(record.id, record)  # an import may have added both
            if record.id not in staying:
                made.compactions.append(noted)
            continue
        if old.id not in going:
            made.removed.append(old.id)
        if old.metadata.status == "DecisionRecord" and not records[old.id][1]:  # it was in force
            for each in fate.sources:
                if each in new:
                    new[each] = new[each]._replace(metadata=new[each].metadata._replace(status="DecisionRecord"))
            made.revived |= _former(store, [existing[each] for each in fate.sources if each not in new], known)
    rebuilt = {record.id: record for record in new.values() if record.id not in staying}
    made.additions = [Addition(record, effect.job_id, status_set_at=now) for record in rebuilt.values()]
    in_force = (memory for memory in (staying | rebuilt).values() if memory.metadata.status == "DecisionRecord")
    for merged in {source for memory in in_force for source in memory.sources}:
        made.revived.pop(merged, None)
    return made


def _former_compactions(
    store: Memories, record: Memory, records: Mapping[str, tuple[Memory, bool]]
) -> list[Compaction]:
    """The last compactions of a record and of the records merged into it, the record's own first."""
    found: list[Compaction] = []
    waiting, seen = [record.id], {record.id}
    while waiting:
        last = store.compactions.latest(waiting.pop(0))
        found += [last] if last else []
        merged = [source.memory_id for source in last.sources if source.memory_id in records] if last else []
        waiting += [each for each in merged if each not in seen]
        seen.update(merged)
    return found


def _known_sources(former: Iterable[Compaction]) -> dict[str, Source]:
    """The sources that the history has, by memory id; those of the first compactions win."""
    sources: dict[str, Source] = {}
    for compaction in former:
        for source in compaction.sources:
            sources.setdefault(source.memory_id, source)
    return sources


def _rebuilt(
    old: Memory,
    sources: Sequence[Memory],
    known: Mapping[str, Source],
    store: Store,
    effect: AppliedJob,
    now: str,
) -> tuple[Memory, Compaction]:
    """The record of the remaining sources, with the old record's status, and its entry in the history."""
    ordered = sorted(sources, key=lambda memory: (clock.parse(date_of(memory)), memory.number, memory.id))
    draft = record_draft.draft(ordered, store.embed, known=store.known_pairs([memory.id for memory in sources]))
    topic_id = old.metadata.topic_id or draft.metadata.topic_id or ""
    metadata = draft.metadata._replace(
        topic_id=topic_id, status=old.metadata.status, created_at=old.metadata.created_at, updated_at=now
    )
    merged = tuple(memory.id for memory in draft.sources)
    record = new_memory(store.workspace_id, "decision_record", metadata, now, draft.content, sources=merged)
    preview = previews.preview_of(draft, topic_id)
    digests = zip(draft.sources, preview.sources, strict=True)
    before = [_source(memory, digest, known, now) for memory, (_, digest) in digests]
    return record, previews.compaction_of(preview, record.id, effect, now, before)


def _source(memory: Memory, digest: str, known: Mapping[str, Source], now: str) -> Source:
    """A source as it was before it was first merged."""
    former = known.get(memory.id)
    if former is not None:
        return former._replace(content_sha256=digest)
    # A record of this transaction (it has no number yet), or an imported one without history.
    return Source(memory.id, digest, memory.status_before_merge, now if memory.number == 0 else None)


def _former(store: Memories, memories: Sequence[Memory], known: Mapping[str, Source]) -> dict[str, Status]:
    """The statuses that memories had before a record superseded them, except where the status was set by hand since."""
    statuses: dict[str, Status] = {}
    for memory in memories:
        former, now = known.get(memory.id), store.known(memory.id)
        set_at = now.status_set_at if now else None
        is_as_it_was_left = former is None or former.status_set_at in (None, set_at)
        if memory.metadata.status == "Superseded" and is_as_it_was_left:
            statuses[memory.id] = former.status if former else memory.status_before_merge
    return statuses
