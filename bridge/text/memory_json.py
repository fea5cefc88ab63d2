"""The export form of a memory as a JSON object. Export files themselves are written by ``bridge/transfer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..memory import GIVEN, ITEM_SECTIONS, LABELS, LISTS, Memory, Metadata, TimeScope
from .sections import scope_text
from .template import summary_text

if TYPE_CHECKING:
    from ..memory_shapes import Labels

INDEX_FIELDS = ("topic", "topic_id", "plan_id", "status", "created_at")


def as_payload(memory: Memory) -> dict[str, Any]:
    """A memory in the export schema's form: ``text``, ``metadata`` and ``index_fields`` (the indexed fields' names).

    ``metadata.type`` is ``conversation_summary``, ``decision_record`` or ``legacy``. Unknown values are null.
    """
    metadata: dict[str, Any] = {
        "type": "conversation_summary" if memory.kind == "summary" else memory.kind,
        "memory_id": memory.id,
        "memory_number": memory.number,
    }
    labels = labels_of(memory.metadata)
    content = memory.content
    if content is None:
        known = {name: value for name, value in labels.items() if name not in GIVEN}
        return {"text": memory.text, "metadata": metadata | known, "index_fields": ["text"]}
    metadata |= {
        "topic": content.topic,
        **labels,
        "context": content.context,
        **{name: list(getattr(content, name)) for name in ITEM_SECTIONS},
        "references": list(content.references.flat),
        **{f"references_{kind}": list(values) for kind, values in content.references._asdict().items()},
        "time_scope": scope_text(content.time_scope),
        "time_scope_bounds": bounds_of(content.time_scope),
    }
    if memory.kind == "decision_record":
        metadata["compaction_source"] = list(memory.sources)
    return {"text": summary_text(memory), "metadata": metadata, "index_fields": list(INDEX_FIELDS)}


def labels_of(metadata: Metadata) -> Labels:
    """The metadata as JSON."""
    values = {name: getattr(metadata, name) for name in LABELS}
    return cast("Labels", values | {name: list(values[name]) for name in LISTS})


def bounds_of(scope: TimeScope) -> dict[str, Any] | None:
    """The bounds of a time scope: ``start``, ``end``, ``turn_count``; None if all are unknown."""
    bounds = {"start": scope.start, "end": scope.end, "turn_count": scope.turn_count}
    return None if set(bounds.values()) == {None} else bounds
