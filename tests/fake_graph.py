"""The child's stores with a graph that takes everything at once, without cognee; such a graph for whole processes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
from fake_embedder import FakeEmbedder
from pydantic import BaseModel

from bridge.embedding.embedder import Embedder
from bridge.graph.graph import Graph
from bridge.graph.llm_budget import Meter
from bridge.graph.open_stores import Stores
from bridge.memory import Memory
from bridge.settings import Settings
from bridge.store.open_store import OpenStore
from bridge.store.values import Extraction
from jobs.errors import JobError
from jobs.layout import Workspace

# The variables of processes that have ``CogneeStore`` in place of cognee, whose import takes seconds.
WITHOUT_COGNEE = {"PYTHONPATH": os.pathsep.join(str(Path(__file__).parent / name) for name in ("fake_cognee", ""))}


class FakeCognee:
    """``told`` is the status of each memory that it has. It refuses once with ``raised``, where that is set."""

    is_broken = False

    def __init__(self) -> None:
        self.told: dict[str, str | None] = {}
        self.raised: JobError | None = None

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        if self.raised is not None and memories:
            error, self.raised = self.raised, None
            raise error
        self.told |= {memory.id: memory.metadata.status for memory in memories}

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        return []

    def delete(self, memory_ids: Sequence[str]) -> None:
        for memory_id in memory_ids:
            self.told.pop(memory_id, None)

    def _nothing(self, *_: object) -> None:
        """There are no findings and no texts, nothing is unsynced, and there is no log."""

    write_findings = remove_findings = clear_texts = sync = checkpoint = _nothing

    def written_of(self, memory_ids: Sequence[str]) -> Extraction:
        return Extraction()

    def is_in_place(self) -> bool:
        return True

    def overgrown(self) -> list[str]:
        return []

    def close(self) -> bool:
        return True


class CogneeStore(FakeCognee):
    """The graph of a process, which begins empty. A question finds all that it has, and a text names nothing."""

    def __init__(self, workspace: Workspace, *_: object) -> None:
        super().__init__()
        self._file = workspace.cognee_system / "databases" / "fake"

    def open(self) -> bool:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.touch()
        return False

    def extract(self, *_: object) -> Extraction:
        return Extraction()

    def ask(self, question: str, top_k: int) -> SimpleNamespace:
        links = tuple((memory_id, memory_id) for memory_id in self.told)
        return SimpleNamespace(context="what it has", links=links, decisions={})

    def in_prose(self, question: str, *_: object) -> str:
        return f"What it has answers {question}"

    def picture(self, memory_ids: Sequence[str], remarks: Mapping[tuple[str, str], str]) -> SimpleNamespace:
        return SimpleNamespace(page="a page", nodes=len(self.told), edges=0)


def ask(meter: Meter, system: str, user: str, shape: type[BaseModel], **_: object) -> BaseModel:
    """The model's answer, as of ``cognee_llm.ask``."""
    form = {"type": "json_schema", "json_schema": {"name": shape.__name__, "schema": shape.model_json_schema()}}
    said = [{"role": role, "content": text} for role, text in (("system", system), ("user", user))]
    url, asked = f"{meter.settings.llm_endpoint}/chat/completions", {"messages": said, "response_format": form}
    answer = httpx.post(url, json=asked).json()
    return shape.model_validate_json(answer["choices"][0]["message"]["content"])


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
