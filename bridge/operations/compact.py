"""compact: previews the merge of a topic into a decision record, or applies a preview.

A job applies the preview that it names, or one that it makes itself. One transaction adds the record and supersedes its
sources, or nothing changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs import clock
from jobs.errors import JobError
from jobs.spool import RECORD_LIMIT

from ..compaction import previews, record_draft
from ..compaction.judgement import judge
from ..compaction.previews import Preview
from ..embedding.embedder import Vectors
from ..graph import llm
from ..memory import Memory
from ..search.standings import DISPUTED
from ..slices import Slices
from ..standing import comparison
from ..store.values import Addition, AppliedJob, Compaction, KnownPair, PairVerdict, Source, StatusChange
from ..text.identity import new_memory
from . import Progress, Task, attachments
from .refusals import require_runnable

if TYPE_CHECKING:
    from jobs.payloads import Compact

    from ..graph.open_stores import Stores
    from ..interface.result_shapes import AppliedCompaction, CompactedMemory, CompactionPreview
    from ..store.store import Store
    from .attachments import Line

_MOST_BYTES = RECORD_LIMIT - 1024 * 1024  # of a result: the job's record has other fields besides
_MOST_NAMED = 5  # memories in a message
_FEW = 64  # memories that are compared at once
_EMBEDDED_TOGETHER = 200  # texts between two points at which other jobs may run


def run(
    task: Task[Compact], stores: Stores, now: datetime, progress: Progress
) -> CompactionPreview | AppliedCompaction:
    """Preview or apply the compaction.

    The payload has ``topic_id`` and either ``preview``, to change nothing, or optionally ``preview_digest``, the
    preview to apply; without a digest also ``keep_both``, the ids of rejected conflicts. The result of a preview has
    the sources, the record, the conflicts, those that were rejected, the warnings and the digest. The result of a
    compaction has the record's id and number, the superseded memories, the conflicts and the warnings.

    A job fails with TOPIC_NOT_FOUND, NOTHING_TO_COMPACT below two sources, TOPIC_TOO_LARGE, CONFLICT_NOT_FOUND for a
    rejected conflict that the topic does not have, PREVIEW_NOT_FOUND or PREVIEW_STALE when the topic changed since the
    preview; then no memory changed. It fails with MEMORY_FORGOTTEN when the record was forgotten since the job was
    accepted. A second run finds the compaction that the first one committed, and gives the same result.
    """
    if task.payload.preview:
        with stores.open_for_reading() as memories:
            require_runnable(task, memories, stores.workspace)
        return _preview(task, stores, now, progress)[1]
    done = stores.store.compactions.of_job(task.applied, task.accepted_at)  # by an earlier attempt
    if done is None:
        _have_preview(task, stores, now, progress)
        require_runnable(task, stores.store, stores.workspace)
        preview = _chosen(task, stores, now, progress)
        done = _apply(preview, task.applied, task.accepted_at, stores.store, clock.iso(now))
    return _result(done, stores)


# --- showing ---


def _preview(
    task: Task[Compact], stores: Stores, now: datetime, progress: Progress
) -> tuple[Preview, CompactionPreview]:
    """A new preview of the topic, stored under its digest, and the result that shows it.

    Raises JobError: CONFLICT_NOT_FOUND, TOPIC_TOO_LARGE.
    """
    topic_id, keep_both = task.payload.topic_id, task.payload.keep_both or ()
    memories = _about(topic_id, stores)
    sources = record_draft.sources_of(memories)
    progress({"done": 0, "total": len(sources), "message": "comparing the topic's memories"})
    slices = Slices(progress, "comparing the topic's memories", len(sources))
    judges = judge(stores, task.job_id, slices.advance)
    known = _known_pairs(sources, stores.store)
    made = record_draft.draft(
        sources, lambda texts: _embed(texts, stores, slices), judges, slices.advance, keep_both, known
    )
    if made.unknown:
        raise _no_conflict(topic_id, made)
    if drafts := sum(memory.metadata.status == "Draft" for memory in memories):
        made = made._replace(warnings=(*made.warnings, f"Left out: {drafts} in draft."))
    preview = previews.preview_of(made, topic_id)
    result: CompactionPreview = {
        "summaries": [_line(memory, content) for memory, (_, content) in zip(sources, preview.sources, strict=True)],
        "decision_record": preview.record,
        "conflicts": list(preview.conflicts),
        "kept_both": list(preview.kept_both),
        "warnings": list(preview.warnings),
        "preview_digest": preview.digest,
    }
    size = len(json.dumps(result, ensure_ascii=False).encode())
    if size > _MOST_BYTES:
        raise JobError(
            "TOPIC_TOO_LARGE",
            f"The preview of the topic {topic_id!r} would have {size:,} bytes; at most {_MOST_BYTES:,} can be shown."
            " Nothing was changed.",
        )
    previews.store(stores.workspace, preview, now)
    return preview, result


def _known_pairs(sources: Sequence[Memory], store: Store) -> list[KnownPair]:
    """What the store knows of the statements of these memories. The last memories, which wait for an idle moment to be
    compared, are compared now, so that the preview is the same before and after. What is less than disputed counts only
    in answers."""
    if len(store.replacements.uncompared(_FEW + 1)) <= _FEW:
        comparison.compare_some(store)
    known = store.known_pairs([memory.id for memory in sources])
    return [pair for pair in known if pair.is_said or pair.probability >= DISPUTED]


def _no_conflict(topic_id: str, made: record_draft.Draft) -> JobError:
    """The error for ids of which the topic has no conflict, with those that it has."""
    known = [conflict.id for conflict in (*made.conflicts, *made.kept_both)]
    has = f"It has {_named(known, {})}" if known else "It has none"
    return JobError(
        "CONFLICT_NOT_FOUND",
        f"The topic {topic_id!r} has no conflict {', '.join(made.unknown[:_MOST_NAMED])}. {has}. Nothing was changed.",
        details={"unknown": list(made.unknown), "conflicts": known},
    )


def _about(topic_id: str, stores: Stores) -> list[Memory]:
    """The topic's memories by number, of any status."""
    with stores.open_for_reading() as memories:
        return memories.about(topic_id)


def _embed(texts: Sequence[str], stores: Stores, slices: Slices) -> Vectors:
    """Vectors of the texts, shape (n, dimensions), embedded in slices so that other jobs can run in between."""
    for start in range(0, len(texts), _EMBEDDED_TOGETHER):
        stores.store.embed(texts[start : start + _EMBEDDED_TOGETHER])
        slices.advance()
    return stores.store.embed(texts)  # all are in the cache now


def _line(memory: Memory, content_sha256: str) -> CompactedMemory:
    """A source as the preview lists it, for the person who decides."""
    m, content = memory.metadata, memory.content
    assert content is not None
    assert memory.kind != "legacy"
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "topic": content.topic,
        "session_id": m.session_id,
        "plan_id": m.plan_id,
        "status": "DecisionRecord" if m.status == "DecisionRecord" else "Active",
        "created_at": m.created_at,
        "source_created_at": m.source_created_at,
        "decisions": list(content.decisions),
        "content_sha256": content_sha256,
    }


# --- applying ---


def _chosen(task: Task[Compact], stores: Stores, now: datetime, progress: Progress) -> Preview:
    """The preview to apply, checked against the topic as it is now.

    Raises JobError: PREVIEW_NOT_FOUND, PREVIEW_STALE, and as ``_preview``.
    """
    digest = task.payload.preview_digest
    if digest is None:
        preview, _ = _preview(task, stores, now, progress)
        _require_current(preview, stores, is_whole=False)
        return preview
    found = previews.load(stores.workspace, digest)
    if found is None:
        raise JobError("PREVIEW_NOT_FOUND", f"There is no preview {digest}. Nothing was changed.")
    _require_current(found, stores, is_whole=True)
    return found


def read_files(task: Task[Compact], stores: Stores, progress: Progress) -> Iterator[Line]:
    """The preview to apply, if this machine has shown it. Raises JobError as ``previews.load``."""
    preview = previews.load(stores.workspace, task.payload.preview_digest or "")
    if preview is not None:
        yield preview.as_dict()


def _have_preview(task: Task[Compact], stores: Stores, now: datetime, progress: Progress) -> None:
    """In a team, have the preview here that a machine has shown: as it is attached; else made again, since equal
    memories give an equal one, unless a language model is asked, which does not say the same twice."""
    digest = task.payload.preview_digest
    if stores.host is None or digest is None or previews.load(stores.workspace, digest) is not None:
        return
    from ..interface.result_shapes import PreviewedRecord

    for line in attachments.lines(task, stores):
        attachments.checked(PreviewedRecord, line.get("decision_record"))
        attached = previews.of_dict(line, digest)
        if attached is not None:
            previews.store(stores.workspace, attached, now)
            return
    if not llm.is_configured(stores.settings):
        with suppress(JobError):
            _preview(task, stores, now, progress)


def _require_current(preview: Preview, stores: Stores, *, is_whole: bool) -> None:
    """Raises JobError: PREVIEW_STALE when a source of the preview is gone or changed, and, if ``is_whole``, when the
    topic has a new source.
    """
    seen = dict(preview.sources)
    memories = {memory.id: memory for memory in _about(preview.topic_id, stores)}
    digests = {memory.id: previews.content_digest(memory) for memory in record_draft.sources_of(memories.values())}
    changes = {
        "added": [each for each in digests if each not in seen] if is_whole else [],
        "removed": [each for each in seen if each not in digests],
        "changed": [each for each in seen if digests.get(each, seen[each]) != seen[each]],
    }
    if not any(changes.values()):
        return
    details: dict[str, Any] = dict(changes)
    former = stores.store.compactions.compaction_of_preview(preview.digest)
    if former is not None:
        message = f"That preview was applied already, and became the record {former.record_id}."
        details["decision_record_id"] = former.record_id
    else:
        numbers = {memory.id: f"#{memory.number}" for memory in memories.values()}
        named = (f"{what} {_named(ids, numbers)}" for what, ids in changes.items() if ids)
        message = f"The topic {preview.topic_id!r} has changed since the preview was made: {'; '.join(named)}."
    raise JobError("PREVIEW_STALE", message, details=details)


def _named(ids: Sequence[str], numbers: Mapping[str, str]) -> str:
    """Ids for a message, at most a few; those of memories with a number by that."""
    more = len(ids) - _MOST_NAMED
    named = ", ".join(numbers.get(each, each) for each in ids[:_MOST_NAMED])
    return f"{named} and {more} more" if more > 0 else named


def _apply(preview: Preview, applied: AppliedJob, asked_at: str, store: Store, now: str) -> Compaction:
    """Commit the compaction in one change. No other job may run between the check of its sources and this.

    Raises JobError: MEMORY_FORGOTTEN when the record was forgotten after the job was accepted, PREVIEW_STALE when the
    topic has this record already.
    """
    record = _record(preview, store.workspace_id, now)
    if store.was_forgotten_since(record.id, asked_at):
        raise JobError("MEMORY_FORGOTTEN")
    if store.known(record.id) is not None and not store.is_hidden(record.id):
        raise JobError("PREVIEW_STALE", f"The topic has that very record already: {record.id}.")
    before = [_source(store, each, digest, asked_at) for each, digest in preview.sources]
    made = previews.compaction_of(preview, record.id, applied, now, before)
    with store.change(now, [applied]) as change:
        change.statuses += (_superseded(source, now) for source in made.sources)
        change.compactions.append(made)
        change.additions.append(Addition(record, applied.job_id))
        for pair in preview.both_hold:
            change.verdicts.append(PairVerdict(*pair, "both", None, "person", asked_at, applied.job_id))
    return made


def _record(preview: Preview, workspace_id: str, now: str) -> Memory:
    """The record of a preview, without a number.

    Raises JobError: PREVIEW_NOT_FOUND for a file that is not a preview of ours, since a matching digest does not prove
    that.
    """
    try:
        content, labels = previews.record_of(preview)
    except (KeyError, TypeError) as error:
        raise JobError("PREVIEW_NOT_FOUND", f"The preview {preview.digest} cannot be read.") from error
    metadata = labels._replace(topic_id=preview.topic_id, created_at=now, updated_at=now)
    sources = tuple(each for each, _ in preview.sources)
    return new_memory(workspace_id, "decision_record", metadata, now, content, sources=sources)


def _source(store: Store, memory: str, digest: str, asked_at: str) -> Source:
    """A source with its present status, and the time of its next status: not before the last request for a status."""
    known = store.known(memory)
    assert known is not None
    assert known.status is not None
    set_at = max(filter(None, (known.status_set_at, asked_at)), key=clock.parse)
    return Source(memory, digest, known.status, set_at)


def _superseded(source: Source, now: str) -> StatusChange:
    return StatusChange(source.memory_id, "Superseded", source.status_set_at or now)


# --- the result ---


def _result(done: Compaction, stores: Stores) -> AppliedCompaction:
    """The result of a compaction. For one of an earlier attempt it is the same, as long as its preview exists.

    Raises JobError: MEMORY_FORGOTTEN when the record was forgotten since.
    """
    record = stores.store.get(done.record_id)
    if record is None:
        raise JobError("MEMORY_FORGOTTEN", "The decision record was forgotten since it was made.")
    merged = [source.memory_id for source in done.sources]
    existing = stores.store.select(merged)
    preview = previews.load(stores.workspace, done.preview_digest)
    preview_gone = ["The preview is gone, and with it the words of its conflicts: cognee-memory history lists them."]
    return {
        "decision_record_id": record.id,
        "memory_number": record.number,
        "topic_id": done.topic_id,
        "superseded": merged,
        "superseded_numbers": {each: existing[each].number for each in merged if each in existing},
        "conflicts": list(preview.conflicts) if preview else [],
        "kept_both": list(preview.kept_both) if preview else [],
        "narrative_source": "llm" if done.narrative_source == "llm" else "template",
        "warnings": list(preview.warnings) if preview else preview_gone,
        "preview_digest": done.preview_digest,
        "applied_at": done.applied_at,
        "graph": "follows",
    }
