"""Maintenance of cognee's stores: finds missing memories, checkpoints the log, compacts and scrubs the tables.

It imports cognee, so only ``cognee_store`` imports it. Coroutines let the errors of cognee's engines pass.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.modules.graph.models.EdgeType import EdgeType

from jobs.errors import JobError
from jobs.layout import Workspace

from .. import critical
from ..memory import Memory
from ..privacy.masking import trace
from . import graph_files, lance
from .cognee_edges import edge_text
from .cognee_nodes import MEMORIES, NODES, SUPERSEDES, TYPES, ConversationSummary, collections, points
from .cognee_opening import Engines, unavailable
from .cognee_process import run

log = logging.getLogger(__name__)

_EDGE_TEXTS = "EdgeType_relationship_name"  # the vector table of edges' texts

_OURS = "MATCH (n:Node) WHERE n.type IN $types RETURN n.id"
_COUNT = "MATCH (n:Node) WHERE n.type IN $types RETURN count(n)"
_EDGES = "MATCH (:Node)-[e:EDGE]->(:Node) RETURN DISTINCT e.relationship_name, e.properties"
_SUPERSEDED = "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE e.relationship_name = $name RETURN n.id, m.id"
# The status in the properties' JSON text. Quotation marks inside values are escaped, so they cannot match.
_STATUSES = (
    """MATCH (n:Node) WHERE n.type = $type RETURN n.id, regexp_extract(n.properties, '"status": "([A-Za-z]+)"', 1)"""
)


def checkpoint(workspace: Workspace, engines: Engines, log_bytes: int) -> None:
    """Checkpoint the graph in a critical section if its log is larger than ``log_bytes``.

    Raises JobError: DISK_FULL, GRAPH_UNAVAILABLE.
    """

    async def fold() -> None:
        await (await get_graph_engine()).query("CHECKPOINT;")

    if graph_files.log_bytes(workspace) > log_bytes:
        try:
            with critical.critical_section():
                run(fold())
        except Exception as error:
            log.error("the graph's log was not folded in: %s", trace(error))
            raise (JobError("DISK_FULL") if engines.has_no_room() else unavailable(error)) from error


def compact(table: str, sync: Callable[[], object]) -> None:
    """Rewrite a vector table's many files into one. A failure is logged; the table then stays large but intact."""

    async def work() -> None:
        await lance.compact(await get_vector_engine_async(), table, sync)

    try:
        run(work())
    except Exception as error:
        log.error("a vector table was not compacted: %s", trace(error))


async def scrub(sync: Callable[[], object]) -> None:
    """Remove all deleted content from the vector tables' files, and the texts of edges that no longer exist."""
    graph, vector = await get_graph_engine(), await get_vector_engine_async()
    texts = {edge_text(name, properties) for name, properties in await graph.query(_EDGES)}
    unused = await lance.row_ids(vector, _EDGE_TEXTS) - {str(EdgeType.id_for(text)) for text in texts}
    if unused:
        await vector.delete_data_points(_EDGE_TEXTS, sorted(unused))
    for name in await lance.table_names(vector):
        await lance.scrub(vector, name, sync)


async def memory_count() -> int:
    """An upper bound of the number of memories with a node and a vector, from the row counts, without reading rows."""
    types = [model.__name__ for model in MEMORIES.values()]
    ((nodes,),) = await (await get_graph_engine()).query(_COUNT, {"types": types})
    vector = await get_vector_engine_async()
    rows = [await lance.count(vector, collections(model)[0]) for model in MEMORIES.values()]
    return min(int(nodes), sum(rows))


def missing(engines: Engines, memories: Iterable[Sequence[Memory]]) -> list[str]:
    """The ids of the memories that lack a node, a vector or an edge to a source in the graph, or have another status.

    A damaged store is quarantined; then all memories are missing. Raises JobError: GRAPH_UNAVAILABLE.
    """
    statuses: dict[str, str] = {}
    superseded: set[tuple[str, str]] = set()

    async def held() -> dict[str, set[str]]:
        engines.part = "graph"
        graph = await get_graph_engine()
        nodes = await graph.query(_OURS, {"types": TYPES})
        ids = {NODES: {row[0] for row in nodes}}
        statuses.update(await graph.query(_STATUSES, {"type": ConversationSummary.__name__}))
        superseded.update(await graph.query(_SUPERSEDED, {"name": SUPERSEDES}))
        engines.part = "vectors"
        vector = await get_vector_engine_async()
        return ids | {name: await lance.ids_with_vector(vector, name) for name in await lance.table_names(vector)}

    try:
        stored = run(held())
    except Exception as error:
        engines.repair(error, "ready")
        stored = {}
    nothing: set[str] = set()
    return [
        memory.id
        for part in memories
        for memory in part
        if any(point not in stored.get(table, nothing) for table, point in points(memory))
        or statuses.get(memory.id, memory.metadata.status) != memory.metadata.status
        or any(i in stored.get(NODES, nothing) and (memory.id, i) not in superseded for i in memory.sources)
    ]
