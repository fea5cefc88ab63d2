"""The child's stores with a graph that takes everything at once: for tests of what is owed to it, without cognee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fake_embedder import FakeEmbedder

from bridge.graph.open_stores import Stores
from bridge.memory import Memory
from bridge.settings import Settings
from jobs.errors import JobError
from jobs.layout import Workspace


class FakeGraph:
    """``told`` is the status of each memory that it has. It refuses once with ``raised``, where that is set."""

    def __init__(self) -> None:
        self.told: dict[str, str | None] = {}
        self.raised: JobError | None = None

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        if self.raised is not None and memories:
            error, self.raised = self.raised, None
            raise error
        self.told |= {memory.id: memory.metadata.status for memory in memories}

    def set_status(self, memory: Memory) -> None:
        self.told[memory.id] = memory.metadata.status

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        return []

    def delete(self, memory_ids: Sequence[str]) -> None:
        for memory_id in memory_ids:
            self.told.pop(memory_id, None)

    def sync(self) -> None:
        """Nothing is unsynced."""

    def is_broken(self) -> bool:
        return False

    def close(self) -> bool:
        return True


class WithFakeGraph(Stores):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, Settings())
        self._embedder = FakeEmbedder()
        self.fake = FakeGraph()

    def _open_graph(self, store: Any) -> Any:
        if store.outbox.graph_model() is None:
            store.outbox.enqueue_all("2026-11-20T12:00:00Z")
        store.outbox.note_opened(self.embedder.identity)
        return self.fake
