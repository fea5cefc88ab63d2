"""The knowledge graph: cognee's stores.

Every memory is written as DataPoints under derived ids, so that writing it again changes nothing. cognee's
embedding engine is given our own embedder and its cache: each text is embedded once.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.get_graph_engine import _create_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.relational import get_relational_engine
from cognee.infrastructure.databases.relational.create_relational_engine import create_relational_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.create_vector_engine import _create_vector_engine
from cognee.modules.engine.operations.setup import setup
from cognee.tasks.storage import add_data_points

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from . import critical, graph_files, lance_tables
from .cognee_embeddings import SharedEmbeddings, give_embeddings
from .cognee_nodes import MEMORIES, NODES, TYPES, ConversationSummary, collections, data_point, points
from .embedder import Embedder
from .lance_sync import LanceSync
from .memory import Memory
from .traces import LOG_FORMAT, trace
from .vectors import Vectors

log = logging.getLogger(__name__)

# cognee takes over logging at import, with tracebacks that show code and values: take it back.
logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format=LOG_FORMAT, force=True)
logging.getLogger("cognee").setLevel(logging.CRITICAL)
sys.excepthook = sys.__excepthook__

T = TypeVar("T")

_NO_ROOM_BYTES = 1024 * 1024  # with less than this free, it is the disk that refused
_LARGE_LOG_BYTES = 32 * 1024 * 1024  # of the graph: folded in between two writes

Part = Literal["relational", "graph", "vectors"]

# One event loop for the life of the process: cognee keeps locks and connections that belong to it.
_runner = asyncio.Runner()


class CogneeStore:
    """cognee's stores of one workspace, in a process that nobody else shares. Not thread-safe."""

    _has_mended: ClassVar = False  # once a process: what does not help once is not repeated

    def __init__(self, workspace: Workspace, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._workspace = workspace
        self._embeddings = SharedEmbeddings(embedder, embed)
        self._unsynced = LanceSync(graph_files.databases_of(workspace))
        self._opening: Part = "relational"
        give_embeddings(self._embeddings)
        LadybugAdapter.checkpoint = _no_checkpoint

    def _run(self, work: Awaitable[T]) -> T:
        async def awaited() -> T:
            return await work

        return _runner.run(awaited())

    def open(self) -> graph_files.Found:
        """Open the graph; what a former process left of it is made to open first, and what is damaged set aside.

        After "set aside" or "absent" the graph is empty and every memory is owed to it. Raises GRAPH_UNAVAILABLE.
        """
        try:
            found = graph_files.make_ready(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise _unavailable(error) from error
        refused = self._try_to_open()
        return found if refused is None else self._mend(refused, found)

    def _try_to_open(self, *, reading_all: bool = False) -> Exception | None:
        try:
            self._run(self._open(reading_all))
        except Exception as error:  # cognee's stores raise what their engines raise
            return error
        return None

    async def _open(self, reading_all: bool) -> None:
        self._opening = "relational"
        await setup()
        self._opening = "graph"
        graph = await get_graph_engine()
        await graph.query("CALL auto_checkpoint = false;")  # it would come inside a write, in no declared section
        await graph.get_graph_counts()
        self._opening = "vectors"
        vector = await get_vector_engine_async()
        for name in await lance_tables.names(vector):
            await lance_tables.count(vector, name)
        if reading_all:
            await lance_tables.read_all(vector)

    def _mend(self, error: Exception, found: graph_files.Found) -> graph_files.Found:
        """Set aside what is damaged and open again. Raises GRAPH_UNAVAILABLE when damage is not the matter."""
        part = self._opening
        self.close()
        at_fault = graph_files.surroundings_at_fault(error) or graph_files.out_of_reach(self._workspace)
        if at_fault or CogneeStore._has_mended or self._has_no_room():
            raise _unavailable(error) from error
        CogneeStore._has_mended = True
        log.error("the graph cannot be used (%s): %s", part, trace(error))
        label = f"graph-{clock.iso(clock.now())}"
        if part == "relational":
            if not graph_files.set_relational_aside(self._workspace, label):
                raise _unavailable(error) from error
        else:
            graph_files.set_aside(self._workspace, label)
            found = "set aside"
        refused = self._try_to_open()
        if refused is not None:
            self.close()
            raise _unavailable(refused) from refused
        return found

    def _has_no_room(self) -> bool:
        return shutil.disk_usage(self._workspace.root).free < _NO_ROOM_BYTES

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
        self._embeddings.failure = None
        try:
            self._run(work)
        except Exception as error:
            if self._embeddings.failure is not None:
                raise self._embeddings.failure from error
            log.error("cognee refused a write: %s", trace(error))
            if self._has_no_room():
                raise JobError("DISK_FULL") from error
            gone = graph_files.out_of_reach(self._workspace) or self._try_to_open(reading_all=True)
            if gone is not None:
                raise _unavailable(gone) from error
            raise JobError("GRAPH_WRITE_FAILED", f"cognee raised {type(error).__name__} while writing.") from error

    def sync(self) -> None:
        """Bring what was written to the medium. Ladybug syncs its log by itself, and SQLite its file."""
        self._unsynced.sync()
        self.checkpoint(_LARGE_LOG_BYTES)

    def checkpoint(self, log_bytes: int) -> None:
        """Fold the graph's log into it if it is larger than that, where no kill may interfere.

        Raises DISK_FULL, GRAPH_UNAVAILABLE.
        """

        async def fold() -> None:
            await (await get_graph_engine()).query("CHECKPOINT;")

        if graph_files.log_bytes(self._workspace) > log_bytes:
            try:
                with critical.section():
                    self._run(fold())
            except Exception as error:
                log.error("the graph's log was not folded in: %s", trace(error))
                raise (JobError("DISK_FULL") if self._has_no_room() else _unavailable(error)) from error

    def overgrown(self) -> list[str]:
        """The vector tables that have gathered so many files that ``compact`` is due."""
        return lance_tables.overgrown(graph_files.vectors_of(self._workspace))

    def compact(self, table: str) -> None:
        async def work() -> None:
            await lance_tables.compact(await get_vector_engine_async(), table, self._unsynced.sync)

        try:
            self._run(work())
        except Exception as error:  # it stays large, and is whole
            log.error("a vector table was not compacted: %s", trace(error))

    # --- looking ---

    def memory_count(self) -> int:
        """Memories that have a node and a vector, at most: as their tables say, without a look at the content.

        0 where the tables cannot say it, so that who asks looks closely.
        """

        async def counted() -> int:
            query = "MATCH (n:Node) WHERE n.type IN $types RETURN count(n)"
            types = [model.__name__ for model in MEMORIES.values()]
            ((nodes,),) = await (await get_graph_engine()).query(query, {"types": types})
            vector = await get_vector_engine_async()
            rows = [await lance_tables.count(vector, collections(model)[0]) for model in MEMORIES.values()]
            return min(int(nodes), sum(rows))

        try:
            return self._run(counted())
        except Exception as error:
            log.error("the graph's memories cannot be counted: %s", trace(error))
            return 0

    def missing(self, memories: Iterable[Sequence[Memory]]) -> list[str]:
        """The ids of those memories that lack a node or a vector of theirs, or whose status there is another.

        What turns out damaged is set aside: then all are missing. Raises GRAPH_UNAVAILABLE.
        """
        statuses: dict[str, str] = {}

        async def held() -> dict[str, set[str]]:
            self._opening = "graph"
            graph = await get_graph_engine()
            nodes = await graph.query("MATCH (n:Node) WHERE n.type IN $types RETURN n.id", {"types": TYPES})
            found = {NODES: {row[0] for row in nodes}}
            statuses.update(await graph.query(_STATUSES, {"type": ConversationSummary.__name__}))
            self._opening = "vectors"
            vector = await get_vector_engine_async()
            return found | {name: await lance_tables.ids(vector, name) for name in await lance_tables.names(vector)}

        try:
            there = self._run(held())
        except Exception as error:
            self._mend(error, "ready")
            there = {}
        nothing: set[str] = set()
        return [
            memory.id
            for part in memories
            for memory in part
            if any(point not in there.get(place, nothing) for place, point in points(memory))
            or statuses.get(memory.id, memory.metadata.status) != memory.metadata.status
        ]

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

    def close(self) -> bool:
        """Checkpoint and close, where no kill may interfere. Returns whether all went well."""

        async def fold() -> None:
            graph = await get_graph_engine()
            if isinstance(graph, LadybugAdapter):
                await graph.query("CHECKPOINT;")

        async def shut_graph() -> None:
            await (await get_graph_engine()).close()

        async def shut_vectors() -> None:
            await (await get_vector_engine_async()).close()

        async def shut_relational() -> None:
            await get_relational_engine().engine.dispose()

        with critical.section():
            is_clean = True
            # Each whatever becomes of the others: an engine that stays open would hold the files beside the next one.
            for shut in (fold, shut_graph, shut_vectors, shut_relational):
                try:
                    self._run(shut())
                except Exception as error:
                    log.error("the graph did not close cleanly: %s", trace(error))
                    is_clean = False
            # cognee would hand out the closed engines again
            _create_graph_engine.cache_clear()
            _create_vector_engine.cache_clear()
            create_relational_engine.cache_clear()
            return is_clean


# The status as it stands in the properties' JSON text; a quotation mark inside a value has a backslash before it.
_STATUSES = (
    """MATCH (n:Node) WHERE n.type = $type RETURN n.id, regexp_extract(n.properties, '"status": "([A-Za-z]+)"', 1)"""
)


async def _no_checkpoint(adapter: Any) -> None:
    """cognee checkpoints inside its writes, where a kill would brick the graph. Its log is synced anyway;
    ``close`` checkpoints in a declared section."""


def _unavailable(error: Exception) -> JobError:
    first_line = (str(error).splitlines() or [""])[0][:200]  # what follows may quote statements and values
    return JobError(
        "GRAPH_UNAVAILABLE",
        f"cognee's knowledge graph cannot be opened: {type(error).__name__}: {first_line}",
    )
