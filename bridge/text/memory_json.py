"""The export form of a memory as a JSON object. Export files themselves are written by ``bridge/transfer``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..memory import Memory, Metadata, TimeScope
from .sections import scope_text
from .template import render, render_record

if TYPE_CHECKING:
    from ..memory_shapes import Labels

INDEX_FIELDS = ("topic", "topic_id", "plan_id", "status", "created_at")


def as_payload(memory: Memory) -> dict[str, Any]:
    """A memory in the export schema's form: ``text``, ``metadata`` and ``index_fields`` (the indexed fields' names).

    ``metadata.type`` is ``conversation_summary``, ``decision_record`` or ``legacy``. Unknown values are null.
    """
    m = memory.metadata
    metadata: dict[str, Any] = {
        "type": "conversation_summary" if memory.kind == "summary" else memory.kind,
        "memory_id": memory.id,
        "memory_number": memory.number,
        "created_at": m.created_at,
        "updated_at": m.updated_at,
        "source_created_at": m.source_created_at,
        "importance": m.importance,
    }
    content = memory.content
    if content is None:
        return {"text": memory.text, "metadata": metadata, "index_fields": ["text"]}
    metadata |= {
        "topic": content.topic,
        "topic_id": m.topic_id,
        "session_id": m.session_id,
        "plan_id": m.plan_id,
        "status": m.status,
        "context": content.context,
        "decisions": list(content.decisions),
        "rationale": list(content.rationale),
        "open_questions": list(content.open_questions),
        "next_steps": list(content.next_steps),
        "references": list(content.references.flat),
        **{f"references_{kind}": list(values) for kind, values in asdict(content.references).items()},
        "time_scope": scope_text(content.time_scope),
        "time_scope_bounds": bounds_of(content.time_scope),
    }
    if memory.kind == "decision_record":
        metadata["compaction_source"] = list(memory.sources)
        text = render_record(content, m, memory.sources)
    else:
        text = render(content, m)
    return {"text": text, "metadata": metadata, "index_fields": list(INDEX_FIELDS)}


def labels_of(metadata: Metadata) -> Labels:
    """The metadata as JSON."""
    return {
        "topic_id": metadata.topic_id,
        "session_id": metadata.session_id,
        "plan_id": metadata.plan_id,
        "status": metadata.status,
        "created_at": metadata.created_at,
        "updated_at": metadata.updated_at,
        "source_created_at": metadata.source_created_at,
        "importance": metadata.importance,
    }


def bounds_of(scope: TimeScope) -> dict[str, Any] | None:
    """The bounds of a time scope: ``start``, ``end``, ``turn_count``; None if all are unknown."""
    bounds = {"start": scope.start, "end": scope.end, "turn_count": scope.turn_count}
    return None if set(bounds.values()) == {None} else bounds
