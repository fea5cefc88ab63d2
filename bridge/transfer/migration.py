"""The conversion of texts of earlier versions to memories: the pure part of a migration.

Plain summaries ("Summary:" with labels) and enriched texts become summaries; a conversation stays a legacy memory.
Fixed rules fill in the metadata that a plain summary lacks, so that a second migration gives the same memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobs import clock

from ..memory import Content, Memory, Metadata, is_topic_id, slug
from ..text.conversation import parse_conversation
from ..text.identity import new_memory
from ..text.references import plan_of
from ..text.template import Enriched, Plain, parse

NOT_OURS = "It is no memory of an earlier version."
A_RECORD = "It is a decision record; those come from compaction or import only."


@dataclass(frozen=True, slots=True)
class Converted:
    """The memory that a text becomes. ``original`` is the text as a hidden memory; None if the memory is the text
    itself.
    """

    memory: Memory
    original: Memory | None


class Skipped(Exception):
    """Raised for a text that is not converted; its message is the reason, as a sentence."""


def convert(text: str, added_at: str | None, asked_at: str, workspace_id: str, now: str) -> Converted:
    """The memory that a text becomes. All times are ISO 8601 text.

    ``added_at`` is when cognee received the text, if known; ``asked_at`` is when the migration was requested. Raises
    Skipped for a text that is no memory of an earlier version, and JobError: METADATA_BROKEN, with the line, for a
    metadata block that cannot be read.
    """
    match parse(text):
        case Plain(content):
            known = _generated(content, added_at, asked_at)
        case Enriched(content, metadata, kind="summary") if metadata.status != "DecisionRecord":
            known = _completed(content, metadata, added_at or asked_at)
        case Enriched():
            raise Skipped(A_RECORD)
        case _:
            conversation = parse_conversation(text)
            if conversation is None:
                raise Skipped(NOT_OURS)
            metadata = Metadata(created_at=conversation.timestamp or added_at, importance=conversation.importance)
            return Converted(new_memory(workspace_id, "legacy", metadata, now, text=text), None)
    original = new_memory(workspace_id, "legacy", Metadata(created_at=added_at), now, text=text)
    return Converted(new_memory(workspace_id, "summary", known, now, content), original)


def _generated(content: Content, added_at: str | None, asked_at: str) -> Metadata:
    """Metadata for a summary without any."""
    inferred = content.time_scope.start or added_at
    return Metadata(
        topic_id=slug(content.topic),
        session_id=f"{_date(inferred)}-session-1" if inferred else f"migrated-{_date(asked_at)}",
        plan_id=plan_of(content.references),
        status="Active",
        created_at=added_at or asked_at,
        updated_at=added_at or asked_at,
    )


def _completed(content: Content, metadata: Metadata, at: str) -> Metadata:
    """The text's metadata, with defaults for what the store requires."""
    topic_id = metadata.topic_id or slug(content.topic)
    created = metadata.created_at or at
    return metadata._replace(
        topic_id=topic_id if is_topic_id(topic_id) else slug(topic_id),
        status=metadata.status or "Active",
        created_at=created,
        updated_at=metadata.updated_at or created,
    )


def _date(at: str) -> str:
    return clock.parse(at).date().isoformat()
