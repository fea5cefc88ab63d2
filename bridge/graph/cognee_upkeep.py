"""Maintenance of cognee's stores: checkpoints the log, compacts and scrubs the tables.

It imports cognee, so only ``cognee_store`` imports it. The coroutines let the errors of cognee's engines pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.modules.graph.models.EdgeType import EdgeType

from . import lance
from .cognee_writing import MEMORIES, collections, edge_text

_EDGE_TEXTS = "EdgeType_relationship_name"  # the vector table of edges' texts

_COUNT = "MATCH (n:Node) WHERE n.type IN $types RETURN count(n)"
_EDGES = "MATCH (:Node)-[e:EDGE]->(:Node) RETURN DISTINCT e.relationship_name, e.properties"


async def checkpoint() -> None:
    """Fold the graph's log into its file."""
    await (await get_graph_engine()).query("CHECKPOINT;")


async def compact(table: str, sync: Callable[[], object]) -> None:
    """Rewrite a vector table's many files into one."""
    await lance.compact(await get_vector_engine_async(), table, sync)


async def scrub(sync: Callable[[], object]) -> None:
    """Remove all deleted content from the vector tables' files, and the texts of edges that no longer exist."""
    graph, vector = await get_graph_engine(), await get_vector_engine_async()
    texts = {edge_text(name, json.loads(properties or "{}")) for name, properties in await graph.query(_EDGES)}
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
