"""The child's stores with a graph that takes everything at once, without cognee."""

from collections.abc import Sequence
from typing import Any

from fake_embedder import FakeEmbedder

from bridge.embedding.embedder import Embedder
from bridge.graph.graph import Graph
from bridge.graph.open_stores import Stores
from bridge.memory import Memory
from bridge.settings import Settings
from bridge.store.open_store import OpenStore
from bridge.store.values import Extraction
from jobs.errors import JobError
from jobs.layout import Workspace


class FakeCognee:
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

    def write_findings(self, found: Extraction) -> None:
        """There are none."""

    def remove_findings(self, found: Extraction) -> None:
        """There are none."""

    def written_of(self, memory_ids: Sequence[str]) -> Extraction:
        return Extraction()

    def clear_texts(self, memory_ids: Sequence[str]) -> None:
        """There are none."""

    def sync(self) -> None:
        """Nothing is unsynced."""

    def is_broken(self) -> bool:
        return False

    def is_in_place(self) -> bool:
        return True

    def overgrown(self) -> list[str]:
        return []

    def checkpoint(self, bytes_left: int) -> None:
        """There is no log."""

    def close(self) -> bool:
        return True


class FakeGraph(Graph):
    """It opens what it is given."""

    def __init__(self, memory: OpenStore, cognee: Any) -> None:
        super().__init__(memory)
        self.openings = 0
        self._given = cognee

    def _open(self, store: Any) -> Any:
        self.openings += 1
        if store.outbox.graph_model() is None:
            store.outbox.enqueue_all("2026-11-20T12:00:00Z")
        store.outbox.note_opened(self._memory.embedder.identity)
        return self._given

    @property
    def is_editable(self) -> bool:
        return self._memory.store.outbox.graph_model() is not None


class WithFakeGraph(Stores):
    def __init__(
        self,
        workspace: Workspace,
        settings: Settings | None = None,
        *,
        embedder: Embedder | None = None,
        cognee: Any = None,
        loading: Any = lambda is_loading: None,
    ) -> None:
        super().__init__(workspace, settings or Settings(), loading)
        self._embedder = embedder or FakeEmbedder()
        self.fake = cognee or FakeCognee()
        self.graph: FakeGraph = FakeGraph(self, self.fake)
