"""Showing what the compaction of a topic would give. The memories stay as they are; the preview is kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded
from jobs.spool import RECORD_LIMIT

from .. import compaction, previews, topics
from ..memory import Memory
from ..stores import Stores
from . import Outcomes, Progress, Task

_MOST_BYTES = RECORD_LIMIT - 1024 * 1024  # of a result: a record has more to say


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(task, stores, now, progress) for task in tasks}


def _one(task: Task, stores: Stores, now: datetime, progress: Progress) -> Succeeded | Failed:
    try:
        if not task.payload.get("preview"):
            raise JobError(
                "KIND_UNAVAILABLE",
                "This version shows what a compaction would give, and cannot apply one yet. Nothing was changed.",
                remediation='See what it would give: send the job with "preview": true and without a preview_digest. To'
                " apply it, update cognee-memory, then run: cognee-memory jobs retry <job_id>.",
            )
        return Succeeded(_preview(task.payload["topic_id"], stores, now, progress))
    except JobError as error:
        return Failed(error)


def _preview(topic_id: str, stores: Stores, now: datetime, progress: Progress) -> dict[str, Any]:
    memories = topics.memories(stores.workspace, topic_id)
    sources = compaction.sources_of(memories)
    if len(sources) < 2:
        raise _nothing(topic_id, memories, sources)
    progress({"done": 0, "total": len(sources), "message": "comparing the topic's memories"})
    made = compaction.draft(sources, stores.store.embed)
    if drafts := sum(memory.metadata.status == "Draft" for memory in memories):
        made = replace(made, warnings=(*made.warnings, f"Left out: {drafts} in draft."))
    preview = previews.preview_of(made, topic_id)
    result = {
        "summaries": [_line(memory, content) for memory, (_, content) in zip(sources, preview.sources, strict=True)],
        "decision_record": dict(preview.record),
        "conflicts": list(preview.conflicts),
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
    return result


def _line(memory: Memory, content_sha256: str) -> dict[str, Any]:
    """What a reader needs to know of a source to decide."""
    m, content = memory.metadata, memory.content
    assert content is not None
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "topic": content.topic,
        "session_id": m.session_id,
        "plan_id": m.plan_id,
        "status": m.status,
        "created_at": m.created_at,
        "source_created_at": m.source_created_at,
        "decisions": list(content.decisions),
        "content_sha256": content_sha256,
    }


def _nothing(topic_id: str, memories: Sequence[Memory], sources: Sequence[Memory]) -> JobError:
    left_out = _left_out(memories)
    what = "one memory" if sources else "no memory"
    return JobError(
        "NOTHING_TO_COMPACT",
        f"The topic {topic_id!r} has {what} to merge, and it takes two."
        + (f" Left out: {left_out}." if left_out else "")
        + " Nothing was changed.",
        details={"sources": [memory.id for memory in sources]},
    )


def _left_out(memories: Sequence[Memory]) -> str:
    """What of a topic is no source, in words."""
    found = Counter(memory.metadata.status for memory in memories)
    words = {"Superseded": "superseded", "Draft": "in draft"}
    return ", ".join(f"{found[status]} {word}" for status, word in words.items() if found[status])  # type: ignore[index]
