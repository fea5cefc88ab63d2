"""Open questions and next steps: those that no later memory has answered or done.

An item is taken for closed if a later memory of its topic has a decision, or a sentence of its context, that fits the
item as well as a good answer fits a question (``relevance`` of ``ranking``). A decision record also closes by its own
decisions, since it merges what was asked before and decided since. Nothing is loaded: the vectors of both are in the
index. What is left out by mistake is worse than what stays, so the bound is high.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal

import numpy as np

from jobs.layout import Workspace

from ..embedding.embedder import Vector
from ..memory import Memory
from ..text.passages import passages
from ..text.query_words import QueryWords
from .catalogue import Filters
from .listing import title
from .ranking import relevance
from .snapshot import Snapshot, open_snapshot

if TYPE_CHECKING:
    from ..memory_shapes import OpenItem

Kind = Literal["question", "next_step"]

# Of 30 answers to an item and 32 other decisions on its subject, written for this, 18 answers and no other reach it.
CLOSES = 0.67


def open_items(workspace: Workspace, topic_id: str | None = None) -> list[OpenItem]:
    """The open questions and next steps of all topics or of one, topic by topic: the topic with the newest item first,
    in it the newest item first.

    Drafts and superseded memories neither have items nor close any. Raises JobError: TOPIC_NOT_FOUND, STORE_NEWER,
    STORE_UNREADABLE, STORE_BUSY.
    """
    snapshot = open_snapshot(workspace)
    if snapshot is None:
        return []
    with closing(snapshot):
        found = snapshot.candidates(Filters(labels={} if topic_id is None else {"topic_id": topic_id}))
        memories = sorted(snapshot.memories(found.number.tolist()), key=_moment)
        topics: dict[str, list[Memory]] = defaultdict(list)
        for memory in memories:
            if memory.content is not None and memory.metadata.topic_id is not None:
                topics[memory.metadata.topic_id].append(memory)
        by_topic = [items for each in topics.values() if (items := _open_in(each, snapshot))]
    by_topic.sort(key=lambda items: (items[0]["date"] or "", items[0]["memory_number"]), reverse=True)
    return [item for items in by_topic for item in items]


def _moment(memory: Memory) -> tuple[str, int]:
    """What makes a memory later than another: its date, then its number."""
    return memory.dated_at or "", memory.number


def _open_in(memories: Sequence[Memory], snapshot: Snapshot) -> list[OpenItem]:
    """The open items of one topic, the newest first; its memories come by rising date."""
    left: list[OpenItem] = []
    statements: list[tuple[str, Vector]] = []  # of what is later
    repeated: set[str] = set()
    for memory in reversed(memories):
        found, vectors = passages(memory), snapshot.passage_vectors(memory.number)
        # Their number differs in an index of another version; then nothing is known to be closed.
        parts = {each.text.strip(): vectors[at] for at, each in enumerate(found)} if len(found) == len(vectors) else {}
        own = _statements(memory, parts)
        if memory.kind == "decision_record":
            statements += own.items()
        items = [item for item in _items(memory) if item["text"].casefold() not in repeated]
        left += [item for item in items if not _is_closed(item["text"], parts.get(item["text"]), statements)]
        repeated.update(item["text"].casefold() for item in items)
        if memory.kind != "decision_record":
            statements += own.items()
    return left


def _items(memory: Memory) -> list[OpenItem]:
    content, topic_id = memory.content, memory.metadata.topic_id
    assert content is not None
    assert topic_id is not None
    texts: list[tuple[Kind, str]] = [("question", text) for text in content.open_questions]
    texts += [("next_step", text) for text in content.next_steps]
    return [
        {
            "kind": kind,
            "text": text.strip(),
            "topic_id": topic_id,
            "title": title(memory),
            "memory_id": memory.id,
            "memory_number": memory.number,
            "date": memory.dated_at,
        }
        for kind, text in texts
        if text.strip()
    ]


def _statements(memory: Memory, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    """The decisions and the sentences of the context that state something."""
    found = [each.text.strip() for each in passages(memory) if each.kind in ("decision", "sentence")]
    return {text: vectors[text] for text in found if text in vectors and not text.endswith(("?", "\uff1f"))}


def _is_closed(item: str, vector: Vector | None, statements: Sequence[tuple[str, Vector]]) -> bool:
    if vector is None or not statements:
        return False
    words = QueryWords(item)
    cosines = (np.stack([each for _, each in statements]) @ vector).tolist()
    return any(
        relevance(cosine, cosine, words.share_in(text)).semantic_score >= CLOSES
        for cosine, (text, _) in zip(cosines, statements, strict=True)
    )
