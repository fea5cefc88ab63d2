"""The knowledge graph: cognee's stores.

Every memory is written as DataPoints under derived ids, so that writing it again changes nothing. cognee's
embedding engine is given our own embedder and its cache: each text is embedded once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.get_graph_engine import _create_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.relational import get_relational_engine
from cognee.infrastructure.databases.relational.create_relational_engine import create_relational_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.databases.vector.create_vector_engine import _create_vector_engine
from cognee.modules.engine.operations.setup import setup
from cognee.modules.graph.models.EdgeType import EdgeType
from cognee.tasks.storage import add_data_points

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory
from ..privacy.masking import trace
from ..slices import SLICE_SECONDS
from ..store.extractions import Extraction
from ..store.llm_usage import Meter
from . import cognee_audit, cognee_cognify, cognee_llm, cognee_process, cognee_search, graph_files, lance
from .cognee_audit import Compared, Wanted
from .cognee_edges import edge_text
from .cognee_embeddings import SharedEmbeddings, give_embeddings
from .cognee_nodes import (
    MEMORIES,
    NODES,
    SHARED,
    SHARED_TYPES,
    SUPERSEDES,
    TYPES,
    ConversationSummary,
    Decision,
    Topic,
    collections,
    data_point,
    decision_ids,
    points,
    supersedes,
)

if TYPE_CHECKING:
    from .cognee_picture import Picture

log = logging.getLogger(__name__)

T = TypeVar("T")

_NO_ROOM_BYTES = 1024 * 1024  # with less than this free, it is the disk that refused
_MANY_VERSIONS = 80  # of a vector table: more are not left to maintenance, which waits for an idle moment
_LARGE_LOG_BYTES = 32 * 1024 * 1024  # of the graph: folded in between two writes

Part = Literal["relational", "graph", "vectors"]


class CogneeStore:
    """cognee's stores of one workspace, in a process that nobody else shares. Not thread-safe."""

    _has_mended: ClassVar = False  # once a process: what does not help once is not repeated

    def __init__(self, workspace: Workspace, embedder: Embedder, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self._workspace = workspace
        self._embeddings = SharedEmbeddings(embedder, embed)
        self._unsynced = lance.LanceSync(graph_files.databases_of(workspace))
        self._opening: Part = "relational"
        self._long: set[asyncio.Task[Any]] = set()
        give_embeddings(self._embeddings)
        LadybugAdapter.checkpoint = _no_checkpoint

    def _run(self, work: Awaitable[T]) -> T:
        return cognee_process.run(work)

    def open(self) -> graph_files.Found:
        """Open the graph; what a former process left of it is made to open first, and what is damaged set aside.

        After "set aside" or "absent" the graph is empty and every memory is owed to it. Raises GRAPH_UNAVAILABLE.
        """
        try:
            found = graph_files.make_ready(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise _unavailable(error) from error
        refused = self._try_to_open()
        return found if refused is None else self._repair(refused, found)

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
        for name in await lance.names(vector):
            await lance.count(vector, name)
        if reading_all:
            await lance.read_all(vector)

    def _repair(self, error: Exception, found: graph_files.Found) -> graph_files.Found:
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
            if not graph_files.quarantine_relational(self._workspace, label):
                raise _unavailable(error) from error
        else:
            graph_files.quarantine(self._workspace, label)
            found = "set aside"
        refused = self._try_to_open()
        if refused is not None:
            self.close()
            raise _unavailable(refused) from refused
        return found

    def _has_no_room(self) -> bool:
        return shutil.disk_usage(self._workspace.root).free < _NO_ROOM_BYTES

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        """Write memories with all their nodes and edges; again is the same as once.

        ``superseded`` are pairs of a record and one of its sources; those become edges of which both are there.
        Raises GRAPH_UNAVAILABLE when the stores are gone, GRAPH_WRITE_FAILED when cognee refuses.
        """
        if memories:
            self._guarded(self._write(memories, superseded))

    async def _write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]]) -> None:
        await self._delete(await _outdated(memories, superseded))
        edges = [supersedes(*pair) for pair in superseded]
        await add_data_points([data_point(memory) for memory in memories], custom_edges=edges)

    def set_status(self, memory: Memory) -> None:
        """Change a node's status without embedding anything."""
        self._guarded(self._set_status(memory))

    def delete(self, memory_ids: Sequence[str]) -> None:
        """Remove memories' nodes, edges and vectors, and what they alone were linked to; again is the same as once.

        Raises as ``write`` does.
        """
        if memory_ids:
            self._guarded(self._delete(memory_ids))

    async def _delete(self, memory_ids: Sequence[str]) -> None:
        if not memory_ids:
            return
        graph, vector = await get_graph_engine(), await get_vector_engine_async()
        own = [*memory_ids, *(decision for memory_id in memory_ids for decision in decision_ids(memory_id))]
        models: list[type[Any]] = [*MEMORIES.values(), Decision]
        for model in models:
            await _delete_vectors(vector, model, own)
        await _delete_nodes(graph, own)
        left = [point for (point,) in await graph.query(_UNLINKED, {"types": SHARED_TYPES})]
        if left:
            for model in SHARED:
                await _delete_vectors(vector, model, left)
            self._unsynced.sync()  # once the nodes are gone, nothing tells any more which vectors were theirs
            await _delete_nodes(graph, left)

    def look_into(self, memory_id: str, text: str, meter: Meter, pause: Callable[[], None]) -> Extraction:
        """Have cognee read a text, and write what it finds, at the expense of a job. ``pause`` as of ``do``.

        Raises what the language model failed with, else as ``do``.
        """
        return self.do(cognee_llm.metered(meter, cognee_cognify.look_into(memory_id, text)), pause)

    def write_findings(self, found: Extraction) -> None:
        """Write what cognee had found in texts, without a language model; again is the same as once."""
        self.do(cognee_cognify.write(found))

    def remove_findings(self, found: Extraction) -> None:
        """Remove nodes and edges that were found in texts, with their vectors; again is the same as once."""
        self.do(cognee_cognify.remove(found))

    def written_of(self, memory_ids: Sequence[str]) -> Extraction:
        """What cognee says it has written of these memories' texts, in looks that were cut off as well."""
        return self.do(cognee_cognify.written(memory_ids))

    def clear_texts(self, memory_ids: Sequence[str]) -> None:
        """Remove what cognee keeps of these memories' texts beside the graph: their files, and every row about them."""
        self.do(cognee_cognify.clear(memory_ids))

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        """The ids of the topics that memories are about. A topic's node may have its name from any of its memories.

        Raises as ``write`` does.
        """
        found: list[str] = []

        async def look() -> None:
            rows = await (await get_graph_engine()).query(_TOPICS, {"ids": list(memory_ids), "type": Topic.__name__})
            found.extend(json.loads(properties)["topic_id"] for (properties,) in rows)

        if memory_ids:
            self._guarded(look())
        return found

    async def _set_status(self, memory: Memory) -> None:
        graph = await get_graph_engine()
        if not await graph.update_node(memory.id, {"status": memory.metadata.status}):
            await add_data_points([data_point(memory)])

    def _guarded(self, work: Awaitable[object]) -> None:
        self._embeddings.failure = None
        try:
            self._run(work)
        except Exception as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> JobError:
        """What an error of cognee's means: a provider's, the disk's, the stores', or the content's own."""
        if self._embeddings.failure is not None:
            return self._embeddings.failure
        log.error("cognee refused a write: %s", trace(error))
        if self._has_no_room():
            return JobError("DISK_FULL")
        gone = graph_files.out_of_reach(self._workspace) or self._try_to_open(reading_all=True)
        if gone is not None:
            return _unavailable(gone)
        return JobError("GRAPH_WRITE_FAILED", f"cognee raised {type(error).__name__} while writing.")

    def do(self, work: Coroutine[Any, Any, T], pause: Callable[[], None] = lambda: None) -> T:
        """Long work of cognee's own over these stores. Twice a second it stands still for ``pause``, in which others
        may use the stores; where they close them, the work is given up with STORE_BUSY. Else raises as ``write`` does.
        """
        self._embeddings.failure = None
        task = self._run(_begun(work))
        self._long.add(task)
        try:
            while not task.done():
                self._run(asyncio.wait({task}, timeout=SLICE_SECONDS))
                if not task.done():
                    pause()
            return task.result()
        except asyncio.CancelledError:
            raise JobError("STORE_BUSY", "The graph was closed while cognee was at work: it is done again.") from None
        except Exception as error:
            if isinstance(error, JobError):
                raise
            raise self._refusal(error) from error
        finally:
            self._give_up(task)

    def _give_up(self, task: asyncio.Task[Any]) -> None:
        self._long.discard(task)
        if not task.done():
            task.cancel()
            self._run(asyncio.wait({task}))

    def sync(self) -> None:
        """Bring what was written to the medium. Ladybug syncs its log by itself, and SQLite its file."""
        self._unsynced.sync()
        self.checkpoint(_LARGE_LOG_BYTES)
        for table in lance.overgrown(graph_files.vectors_of(self._workspace), _MANY_VERSIONS):
            self.compact(table)  # each further write would look through all of them

    def checkpoint(self, log_bytes: int) -> None:
        """Fold the graph's log into it if it is larger than that, where no kill may interfere.

        Raises DISK_FULL, GRAPH_UNAVAILABLE.
        """

        async def fold() -> None:
            await (await get_graph_engine()).query("CHECKPOINT;")

        if graph_files.log_bytes(self._workspace) > log_bytes:
            try:
                with critical.critical_section():
                    self._run(fold())
            except Exception as error:
                log.error("the graph's log was not folded in: %s", trace(error))
                raise (JobError("DISK_FULL") if self._has_no_room() else _unavailable(error)) from error

    def overgrown(self) -> list[str]:
        """The vector tables that have gathered so many files that ``compact`` is due."""
        return lance.overgrown(graph_files.vectors_of(self._workspace))

    def compact(self, table: str) -> None:
        async def work() -> None:
            await lance.compact(await get_vector_engine_async(), table, self._unsynced.sync)

        try:
            self._run(work())
        except Exception as error:  # it stays large, and is whole
            log.error("a vector table was not compacted: %s", trace(error))

    def scrub(self) -> None:
        """Leave nothing in the vectors' files of what was deleted, and no text of an edge that is gone.

        Raises as ``write`` does.
        """

        async def work() -> None:
            graph, vector = await get_graph_engine(), await get_vector_engine_async()
            texts = {edge_text(name, properties) for name, properties in await graph.query(_EDGES)}
            name = "EdgeType_relationship_name"
            unused = await lance.keys(vector, name) - {str(EdgeType.id_for(text)) for text in texts}
            if unused:
                await vector.delete_data_points(name, sorted(unused))
            for name in await lance.names(vector):
                await lance.scrub(vector, name, self._unsynced.sync)

        self._guarded(work())

    # --- looking ---

    def open_as_it_is(self) -> None:
        """Open the graph to look at it, all stores being there: nothing is mended or set aside.

        Raises GRAPH_UNAVAILABLE.
        """
        try:
            graph_files.require_openable(self._workspace)
        except Exception as error:  # the graph's engine raises RuntimeError for everything
            raise _unavailable(error) from error
        refused = self._try_to_open()
        if refused is not None:
            self.close()
            raise _unavailable(refused) from refused

    def compare(self, wanted: Wanted) -> Compared:
        """Everything that is held, compared with what is wanted. Changes nothing. Raises GRAPH_UNAVAILABLE."""
        try:
            return self._run(cognee_audit.compare(wanted))
        except Exception as error:
            raise _unavailable(error) from error

    def memory_count(self) -> int:
        """Memories that have a node and a vector, at most: as their tables say, without a look at the content.

        0 where the tables cannot say it, so that who asks looks closely.
        """

        async def counted() -> int:
            query = "MATCH (n:Node) WHERE n.type IN $types RETURN count(n)"
            types = [model.__name__ for model in MEMORIES.values()]
            ((nodes,),) = await (await get_graph_engine()).query(query, {"types": types})
            vector = await get_vector_engine_async()
            rows = [await lance.count(vector, collections(model)[0]) for model in MEMORIES.values()]
            return min(int(nodes), sum(rows))

        try:
            return self._run(counted())
        except Exception as error:
            log.error("the graph's memories cannot be counted: %s", trace(error))
            return 0

    def missing(self, memories: Iterable[Sequence[Memory]]) -> list[str]:
        """The ids of those memories that lack a node, a vector or a source of theirs, or whose status is another there.

        What turns out damaged is set aside: then all are missing. Raises GRAPH_UNAVAILABLE.
        """
        statuses: dict[str, str] = {}
        superseded: set[tuple[str, str]] = set()

        async def held() -> dict[str, set[str]]:
            self._opening = "graph"
            graph = await get_graph_engine()
            nodes = await graph.query(_OURS, {"types": TYPES})
            found = {NODES: {row[0] for row in nodes}}
            statuses.update(await graph.query(_STATUSES, {"type": ConversationSummary.__name__}))
            superseded.update(await graph.query(_SUPERSEDED, {"name": SUPERSEDES}))
            self._opening = "vectors"
            vector = await get_vector_engine_async()
            return found | {name: await lance.ids(vector, name) for name in await lance.names(vector)}

        try:
            there = self._run(held())
        except Exception as error:
            self._repair(error, "ready")
            there = {}
        nothing: set[str] = set()
        return [
            memory.id
            for part in memories
            for memory in part
            if any(point not in there.get(place, nothing) for place, point in points(memory))
            or statuses.get(memory.id, memory.metadata.status) != memory.metadata.status
            or any(i in there.get(NODES, nothing) and (memory.id, i) not in superseded for i in memory.sources)
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

    def ask(self, question: str, top_k: int, meter: Meter | None) -> cognee_search.Answer:
        """cognee's answer from the graph: in prose at the expense of a job, or without a meter its context alone.

        Raises what the language model failed with, else as ``do``.
        """
        if meter is None:
            return self.do(cognee_search.search(question, top_k, in_prose=False))
        return self.do(cognee_llm.metered(meter, cognee_search.search(question, top_k, in_prose=True)))

    def picture(self, memory_ids: Sequence[str]) -> Picture:
        """The page that shows these memories. Raises as ``write`` does."""
        from . import cognee_picture  # half a second that only a picture needs

        async def work() -> Picture:
            return await cognee_picture.draw(await get_graph_engine(), memory_ids)

        try:
            return self._run(work())
        except Exception as error:
            raise self._refusal(error) from error

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

        for task in list(self._long):
            self._give_up(task)
        with critical.critical_section():
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


async def _outdated(memories: Sequence[Memory], superseded: Sequence[tuple[str, str]]) -> list[str]:
    """Those of the memories that lead to nodes of ours in the graph to which they no longer lead."""
    wanted = {memory.id: {point for place, point in points(memory) if place == NODES} for memory in memories}
    for record, source in superseded:
        wanted.setdefault(record, set()).add(source)
    there = await (await get_graph_engine()).query(
        _LEADS_TO, {"ids": [memory.id for memory in memories], "types": TYPES}
    )
    return sorted({memory_id for memory_id, point in there if point not in wanted[memory_id]})


async def _delete_nodes(graph: Any, ids: Iterable[str]) -> None:
    there = {point for (point,) in await graph.query(_OURS, {"types": TYPES})}
    if gone := sorted(there.intersection(ids)):
        await graph.delete_nodes(gone)


async def _delete_vectors(vector: Any, model: type[Any], ids: Sequence[str]) -> None:
    for name in collections(model):
        there = (await lance.keys(vector, name)).intersection(ids)
        if there:  # else it would be a new version of the table for nothing
            await vector.delete_data_points(name, sorted(there))


_OURS = "MATCH (n:Node) WHERE n.type IN $types RETURN n.id"
_LEADS_TO = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type IN $types RETURN DISTINCT n.id, m.id"
_TOPICS = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type = $type RETURN DISTINCT m.properties"
_UNLINKED = "MATCH (n:Node) WHERE n.type IN $types AND NOT EXISTS {MATCH (n)<-[:EDGE]-(:Node)} RETURN n.id"
_EDGES = "MATCH (:Node)-[e:EDGE]->(:Node) RETURN DISTINCT e.relationship_name, e.properties"
_SUPERSEDED = "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE e.relationship_name = $name RETURN n.id, m.id"
# The status as it stands in the properties' JSON text; a quotation mark inside a value has a backslash before it.
_STATUSES = (
    """MATCH (n:Node) WHERE n.type = $type RETURN n.id, regexp_extract(n.properties, '"status": "([A-Za-z]+)"', 1)"""
)


async def _begun(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Work that goes on whenever the loop runs."""
    return asyncio.ensure_future(work)


async def _no_checkpoint(adapter: Any) -> None:
    """cognee checkpoints inside its writes, where a kill would brick the graph. Its log is synced anyway;
    ``close`` checkpoints in a declared section."""


def _unavailable(error: Exception) -> JobError:
    first_line = (str(error).splitlines() or [""])[0][:200]  # what follows may quote statements and values
    return JobError(
        "GRAPH_UNAVAILABLE",
        f"cognee's knowledge graph cannot be opened: {type(error).__name__}: {first_line}",
    )
