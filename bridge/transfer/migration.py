"""What a text of an earlier version becomes: the pure part of migrating.

Plain summaries ("Summary:" with labels) and enriched texts become summaries, and a conversation stays the legacy memory
that it is. What a plain summary does not say of itself is made up by fixed rules, so that migrating again gives the
same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jobs import clock

from ..memory import Content, Memory, Metadata, is_topic_id, slug
from ..text.conversation import parse_conversation
from ..text.identity import content_id
from ..text.references import plan_of
from ..text.template import Enriched, Plain, parse

NOT_OURS = "It is no memory of an earlier version."
A_RECORD = "It is a decision record; those come from compaction or import only."


@dataclass(frozen=True, slots=True)
class Converted:
    """What a text becomes. ``original`` is kept hidden, None where the memory is the text itself."""

    memory: Memory
    original: Memory | None


class Skipped(Exception):
    """Why a text is left alone, in a sentence."""


def convert(text: str, added_at: str | None, asked_at: str, workspace_id: str, now: str) -> Converted:
    """What the text becomes. ``added_at`` is when cognee was given it, and ``asked_at`` when to migrate was asked for.

    Raises Skipped for what is none of ours, METADATA_BROKEN with the line for a block that cannot be read.
    """
    match parse(text):
        case Plain(content):
            known = _generated(content, added_at, asked_at)
        case Enriched(content, metadata, kind="summary") if metadata.status != "DecisionRecord":
            known = _completed(content, metadata, added_at or asked_at)
        case Enriched():
            raise Skipped(A_RECORD)
        case _:
            said = parse_conversation(text)
            if said is None:
                raise Skipped(NOT_OURS)
            metadata = Metadata(created_at=said.timestamp or added_at, importance=said.importance)
            return Converted(_legacy(text, metadata, workspace_id, now), None)
    memory = Memory("", 0, "summary", known, now, content)
    memory = replace(memory, id=content_id(workspace_id, memory))
    return Converted(memory, _legacy(text, Metadata(created_at=added_at), workspace_id, now))


def _legacy(text: str, metadata: Metadata, workspace_id: str, now: str) -> Memory:
    memory = Memory("", 0, "legacy", metadata, now, text=text)
    return replace(memory, id=content_id(workspace_id, memory))


def _generated(content: Content, added_at: str | None, asked_at: str) -> Metadata:
    """The metadata of a summary that has none."""
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
    """The metadata as the text has it, with what the store cannot do without."""
    topic_id = metadata.topic_id or slug(content.topic)
    created = metadata.created_at or at
    return replace(
        metadata,
        topic_id=topic_id if is_topic_id(topic_id) else slug(topic_id),
        status=metadata.status or "Active",
        created_at=created,
        updated_at=metadata.updated_at or created,
    )


def _date(at: str) -> str:
    return clock.parse(at).date().isoformat()
