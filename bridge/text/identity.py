"""Derives a memory's id from its text, so that the same text is the same memory."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID, uuid5

from jobs.model import canonical_json

from ..memory import Content, Memory, MemoryKind, Metadata
from .conversation import parse_conversation


def content_id(workspace_id: str, memory: Memory) -> str:
    """The id that a memory with this content gets in a workspace: a UUIDv5 (RFC 9562) of workspace, kind, topic and
    content. It does not depend on dates, session, plan and status. An imported memory keeps that of its own workspace.

    Raises ValueError for a workspace id that is not a UUID.
    """
    if memory.content is not None:
        words = canonical_json(memory.content.as_dict())
    else:
        turn = parse_conversation(memory.text)
        words = canonical_json([turn.user_message, turn.assistant_message]) if turn else memory.text
    digest = sha256(words.encode()).hexdigest()
    return str(uuid5(UUID(workspace_id), f"{memory.kind}|{memory.metadata.topic_id or ''}|{digest}"))


def new_memory(
    workspace_id: str, kind: MemoryKind, metadata: Metadata, stored_at: str, content: Content | None = None,
    text: str = "", sources: tuple[str, ...] = (),
) -> Memory:  # fmt: skip
    """A memory under the id of its content, without a number."""
    memory = Memory("", 0, kind, metadata, stored_at, content, text, sources)
    return memory._replace(id=content_id(workspace_id, memory))
