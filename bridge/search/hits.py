"""A hit in exactly the retrieval contract's shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..memory import Memory, Metadata
from ..text.template import render, render_record
from .ranking import Factors

if TYPE_CHECKING:
    from ..interface.answer_shapes import RetrievalHit


def summary_text(memory: Memory) -> str:
    """The text to show, rendered from the fields as they are now: a stored one would keep an old status."""
    if memory.content is None:
        return memory.text
    if memory.kind == "decision_record":
        return render_record(memory.content, memory.metadata, memory.sources)
    return render(memory.content, memory.metadata)


def hit(memory: Memory, scored: Factors, text: str, tokens: int) -> RetrievalHit:
    """One entry of ``results``. Structured fields are left out for a legacy memory, metadata is null."""
    m = memory.metadata if memory.content else Metadata(importance=memory.metadata.importance)
    shown: RetrievalHit = {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "summary_text": text,
        "text": text,
        "score": scored.score,
        "final_score": scored.score,
        "relevance_score": scored.score,
        "semantic_score": scored.relevance.semantic_score,
        "vector_score": scored.relevance.vector_score,
        "lexical_score": scored.relevance.lexical_score,
        "recency_multiplier": scored.recency_multiplier,
        "recency_score": scored.recency_multiplier,
        "status_multiplier": scored.status_multiplier,
        "tokens": tokens,
        "topic": (memory.content.topic or None) if memory.content else None,
        "topic_id": m.topic_id or None,
        "plan_id": m.plan_id or None,
        "session_id": m.session_id or None,
        "status": m.status,
        "source_created_at": m.source_created_at,
        "created_at": m.created_at,
        "updated_at": m.updated_at,
        "importance": m.importance,
    }
    if memory.content is not None:
        shown |= {
            "decisions": list(memory.content.decisions),
            "rationale": list(memory.content.rationale),
            "open_questions": list(memory.content.open_questions),
            "next_steps": list(memory.content.next_steps),
            "references": list(memory.content.references.flat),
        }
    if memory.kind == "decision_record":
        shown["compaction_source"] = list(memory.sources)
    return shown
