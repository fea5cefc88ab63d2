"""A memory's id: derived from its words, so that the same words are the same memory."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from uuid import UUID, uuid5

from jobs.model import canonical_json

from ..memory import Memory, MemoryKind
from .conversation import parse_conversation


def content_id(workspace_id: str, memory: Memory) -> str:
    """The id that a memory of these words gets in a workspace. An imported one has the id of its own workspace."""
    if memory.content is not None:
        words = canonical_json(asdict(memory.content))
    else:
        said = parse_conversation(memory.text)
        words = canonical_json([said.user_message, said.assistant_message]) if said else memory.text
    return memory_id(workspace_id, memory.kind, memory.metadata.topic_id, words)


def memory_id(workspace_id: str, kind: MemoryKind, topic_id: str | None, words: str) -> str:
    """uuid5 of workspace, kind, topic and content; dates, session, plan and status do not count."""
    digest = sha256(words.encode()).hexdigest()
    return str(uuid5(UUID(workspace_id), f"{kind}|{topic_id or ''}|{digest}"))
