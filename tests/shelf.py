"""A workspace with memories, and questions to it through the door that every asker takes."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fake_embedder import FakeEmbedder
from questions import answer_to

from bridge.embedding.embedder import Embedder
from bridge.memory import Content, Memory, Metadata
from bridge.search.reader import Verb
from bridge.settings import Settings
from bridge.store.store import Store
from jobs.layout import Workspace

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
STORED = "2026-11-19T12:00:00Z"
EVERYTHING = Settings(relevance_floor=0.0)


def summary(memory_id: str, context: str, status: str = "Active", **other: Any) -> Memory:
    """A memory with a topic of its own; further arguments are fields of its content or of its metadata."""
    fields = {name: other.pop(name) for name in list(other) if name in Content._fields}
    content = Content(**{"topic": f"Topic of {memory_id}", "context": context, **fields})
    known = Metadata(**{"status": status, "topic_id": memory_id, "created_at": STORED, **other})
    return Memory(memory_id, 0, "summary", known, STORED, content)


def add_decisions(store: Store, memory_id: str, decisions: Sequence[str], day: int = 1, **other: Any) -> Memory:
    """Store a summary of that day of October with these decisions; further arguments are fields of its metadata."""
    date = f"2026-10-{day:02d}T12:00:00Z"
    known = Metadata(**{"status": "Active", "created_at": date, **other})
    content = Content("Uploads", f"Of day {day}.", tuple(decisions))
    return store.add([(Memory(memory_id, 0, "summary", known, date, content), None)], date)[0]


def record(memory_id: str, context: str, sources: Sequence[str] = (), **other: Any) -> Memory:
    known = Metadata(**{"status": "DecisionRecord", "topic_id": memory_id, "created_at": STORED, **other})
    content = Content(f"Topic of {memory_id}", context)
    return Memory(memory_id, 0, "decision_record", known, STORED, content, sources=tuple(sources))


def legacy(memory_id: str, text: str, **other: Any) -> Memory:
    return Memory(memory_id, 0, "legacy", Metadata(**other), STORED, text=text)


class Shelf:
    def __init__(self, folder: Path, embedder: Embedder | None = None, settings: Settings = EVERYTHING) -> None:
        self.workspace = Workspace(folder)
        self.embedder = embedder or FakeEmbedder(dimensions=64)
        self.settings = settings

    def add(self, *memories: Memory) -> "Shelf":
        self.workspace.memory.mkdir(mode=0o700, exist_ok=True)
        store = Store(self.workspace, self.embedder)
        store.add([(memory, None) for memory in memories], STORED)
        store.close()
        return self

    def hide(self, memory_id: str) -> None:
        with closing(sqlite3.connect(self.workspace.memory_db)) as connection, connection:
            connection.execute("UPDATE memories SET hidden = 1 WHERE id = ?", (memory_id,))

    def retrieve(self, query: str, **arguments: Any) -> dict[str, Any]:
        return self._ask("retrieve", query=query, **arguments)

    def explain(self, **arguments: Any) -> dict[str, Any]:
        return self._ask("explain", **arguments)

    def context(self, query: str, **arguments: Any) -> dict[str, Any]:
        return self._ask("context", query=query, **arguments)

    def _ask(self, verb: Verb, **arguments: Any) -> dict[str, Any]:
        return answer_to(self.workspace, self.embedder, NOW, self.settings, verb, **arguments)
