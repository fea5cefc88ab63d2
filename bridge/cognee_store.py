"""The knowledge graph: the only module that imports cognee.

Every memory is written as DataPoints under derived ids, so that writing it again changes nothing. cognee's
embedding engine is given our own embedder and its cache: each text is embedded once.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.get_graph_engine import _create_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.create_vector_engine import _create_vector_engine
from cognee.infrastructure.databases.vector.embeddings.EmbeddingEngine import EmbeddingEngine, EmbeddingResult
from cognee.infrastructure.engine import DataPoint, Edge
from cognee.modules.engine.operations.setup import setup
from cognee.tasks.storage import add_data_points
from pydantic import SkipValidation

from jobs.errors import JobError
from jobs.layout import Workspace

from . import critical, datapoints, graph_files
from .embedder import Embedder
from .memory import Memory
from .traces import LOG_FORMAT, trace
from .vectors import Vectors

log = logging.getLogger(__name__)

# cognee takes over logging at import, with tracebacks that show code and values: take it back.
logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format=LOG_FORMAT, force=True)
logging.getLogger("cognee").setLevel(logging.CRITICAL)
sys.excepthook = sys.__excepthook__

T = TypeVar("T")

_BATCH = 100
_NO_ROOM_BYTES = 1024 * 1024  # with less than this free, it is the disk that refused

# One event loop for the life of the process: cognee keeps locks and connections that belong to it.
_runner = asyncio.Runner()


class _SharedEmbeddings(EmbeddingEngine):  # type: ignore[misc]
    """cognee's embedding engine over our embedder and its cache."""

    def __init__(self, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._embedder = embedder
        self._embed = embed
        self.model = embedder.identity
        self.dimensions = embedder.dimensions
        self.max_completion_tokens = 510

    async def embed_text(self, text: list[str]) -> EmbeddingResult:
        return EmbeddingResult([vector.tolist() for vector in self._embed(text)], tokens=0)

    def get_vector_size(self) -> int:
        return self.dimensions

    def get_batch_size(self) -> int:
        return _BATCH

    async def input_limit(self) -> int | None:
        return self.max_completion_tokens


def _contract(model: type[datapoints._Node]) -> dict[str, Any]:
    """What cognee is to know of a node: the fields to embed, and those that make its id."""
    return {"index_fields": list(model.INDEX_FIELDS), "identity_fields": list(model.IDENTITY_FIELDS)}


class Topic(datapoints.Topic, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Topic)


class Plan(datapoints.Plan, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Plan)


class Session(datapoints.Session, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.Session)


# A link is cognee's pair of an Edge and one node or several.
Link = tuple[Edge, Any] | None


class _Linked(DataPoint):  # type: ignore[misc]
    about: SkipValidation[Link] = None
    of_plan: SkipValidation[Link] = None
    of_session: SkipValidation[Link] = None


class Decision(datapoints.Decision, _Linked):
    metadata: dict[str, Any] = _contract(datapoints.Decision)


class ConversationSummary(datapoints.ConversationSummary, _Linked):
    metadata: dict[str, Any] = _contract(datapoints.ConversationSummary)
    decided: SkipValidation[Link] = None


class DecisionRecord(datapoints.DecisionRecord, _Linked):
    metadata: dict[str, Any] = _contract(datapoints.DecisionRecord)
    decided: SkipValidation[Link] = None


class LegacyMemory(datapoints.LegacyMemory, DataPoint):  # type: ignore[misc]
    metadata: dict[str, Any] = _contract(datapoints.LegacyMemory)


class CogneeStore:
    """cognee's stores of one workspace, in a process that nobody else shares. Not thread-safe."""

    def __init__(self, workspace: Workspace, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._workspace = workspace
        _give_embeddings(_SharedEmbeddings(embedder, embed))
        LadybugAdapter.checkpoint = _no_checkpoint

    def _run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return _runner.run(awaited())

    def open(self) -> graph_files.Found:
        """Open the graph; what a former process left of it is made to open first.

        After "set aside" or "absent" the graph is empty and every memory is owed to it. Raises GRAPH_UNAVAILABLE.
        """
        try:
            found = graph_files.make_ready(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise _unavailable(error) from error
        refused = self._try_to_open()
        if refused is not None:
            self.close()
            raise _unavailable(refused) from refused
        return found

    def _try_to_open(self) -> Exception | None:
        try:
            self._run(self._open())
        except Exception as error:  # cognee's stores raise what their engines raise
            return error
        return None

    async def _open(self) -> None:
        await setup()
        graph = await get_graph_engine()
        await graph.get_graph_counts()
        vector = await get_vector_engine_async()
        for name in await (await vector.get_connection()).table_names():
            await (await vector.get_collection(name)).count_rows()

    def write(self, memories: Sequence[Memory]) -> None:
        """Write memories with all their nodes and edges; again is the same as once.

        Raises GRAPH_UNAVAILABLE when the stores are gone, GRAPH_WRITE_FAILED when cognee refuses.
        """
        if memories:
            self._guarded(add_data_points([data_point(memory) for memory in memories]))

    def set_status(self, memory: Memory) -> None:
        """Change a node's status without embedding anything."""
        self._guarded(self._set_status(memory))

    async def _set_status(self, memory: Memory) -> None:
        graph = await get_graph_engine()
        if not await graph.update_node(memory.id, {"status": memory.metadata.status}):
            await add_data_points([data_point(memory)])

    def _guarded(self, work: Awaitable[object]) -> None:
        try:
            self._run(work)
        except Exception as error:
            log.error("cognee refused a write: %s", trace(error))
            if shutil.disk_usage(self._workspace.root).free < _NO_ROOM_BYTES:
                raise JobError("DISK_FULL") from error
            gone = graph_files.out_of_reach(self._workspace) or self._try_to_open()
            if gone is not None:
                raise _unavailable(gone) from error
            raise JobError("GRAPH_WRITE_FAILED", f"cognee raised {type(error).__name__} while writing.") from error

    def node(self, memory_id: str) -> dict[str, Any] | None:
        """A node's properties as cognee has them."""

        async def get() -> dict[str, Any] | None:
            found: dict[str, Any] | None = await (await get_graph_engine()).get_node(memory_id)
            return found

        return self._run(get())

    def neighbours(self, memory_id: str) -> list[tuple[str, dict[str, Any]]]:
        """The edges of a node: relationship name and the node at the other end."""

        async def get() -> list[tuple[str, dict[str, Any]]]:
            edges = await (await get_graph_engine()).get_edges(memory_id)
            return [(edge[1], edge[2] if edge[0].get("id") == memory_id else edge[0]) for edge in edges]

        return self._run(get())

    def search(self, text: str, collection: str, limit: int) -> list[tuple[str, float]]:
        """cognee's own vector search: node ids and cosine distances, nearest first."""

        async def find() -> list[tuple[str, float]]:
            engine = await get_vector_engine_async()
            found = await engine.search(collection, query_text=text, limit=limit)
            return [(str(result.id), float(result.score)) for result in found]

        return self._run(find())

    def counts(self) -> tuple[int, int]:
        """Nodes and edges in the graph."""

        async def count() -> tuple[int, int]:
            nodes, edges = await (await get_graph_engine()).get_graph_counts()
            return int(nodes), int(edges)

        return self._run(count())

    def close(self) -> None:
        """Checkpoint and close, where no kill may interfere."""

        async def shut() -> None:
            graph = await get_graph_engine()
            if isinstance(graph, LadybugAdapter):
                await graph.query("CHECKPOINT;")
            await graph.close()
            vector = await get_vector_engine_async()
            await vector.close()

        with critical.section():
            try:
                self._run(shut())
            except Exception as error:
                log.error("the graph did not close cleanly: %s", trace(error))
            # cognee would hand out the closed engines again
            _create_graph_engine.cache_clear()
            _create_vector_engine.cache_clear()


def data_point(memory: Memory) -> Any:
    """The DataPoint of a memory, with the nodes that it leads to."""
    if memory.content is None:
        return LegacyMemory(id=memory.id, **datapoints.legacy_from(memory).model_dump())
    links: dict[str, Any] = {}
    for name, node_type, found in (
        ("about", Topic, datapoints.topic_from(memory)),
        ("of_plan", Plan, datapoints.plan_from(memory)),
        ("of_session", Session, datapoints.session_from(memory)),
    ):
        if found is not None:
            links[name] = _link(name, node_type(**found.model_dump()))
    decided = [Decision(**decision.model_dump(), **links) for decision in datapoints.decisions_from(memory)]
    if decided:
        links["decided"] = _link("decided", decided)
    if memory.kind == "decision_record":
        return DecisionRecord(id=memory.id, **datapoints.record_from(memory).model_dump(), **links)
    return ConversationSummary(id=memory.id, **datapoints.summary_from(memory).model_dump(), **links)


def _link(name: str, target: Any) -> Link:
    """An edge whose text is its name. cognee would make one of both nodes' texts, embed it for each edge, and
    keep it in an index where a forgotten memory would live on."""
    return (Edge(relationship_type=name, edge_text=name.replace("_", " ")), target)


async def _no_checkpoint(adapter: Any) -> None:
    """cognee checkpoints inside its writes, where a kill would brick the graph. Its log is synced anyway;
    ``close`` checkpoints in a declared section."""


def _give_embeddings(engine: _SharedEmbeddings) -> None:
    """Hand our engine to the place where cognee makes its vector engine, which keeps one for good."""
    module = sys.modules["cognee.infrastructure.databases.vector.create_vector_engine"]
    module.get_embedding_engine = lambda: engine  # type: ignore[attr-defined]


def _unavailable(error: Exception) -> JobError:
    first_line = (str(error).splitlines() or [""])[0][:200]  # what follows may quote statements and values
    return JobError(
        "GRAPH_UNAVAILABLE",
        f"cognee's knowledge graph cannot be opened: {type(error).__name__}: {first_line}",
    )
