"""Writes memories to cognee's stores and deletes them: nodes, edges and vectors.

It imports cognee, so only ``cognee_store`` imports it. The coroutines let the errors of cognee's engines pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.tasks.storage import add_data_points

from ..memory import Memory
from . import lance
from .cognee_nodes import (
    MEMORIES,
    NODES,
    SHARED,
    SHARED_TYPES,
    TYPES,
    Decision,
    Topic,
    collections,
    data_point,
    decision_ids,
    points,
    supersedes,
)

_OURS = "MATCH (n:Node) WHERE n.type IN $types RETURN n.id"
_LEADS_TO = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type IN $types RETURN DISTINCT n.id, m.id"
_TOPICS = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type = $type RETURN DISTINCT m.properties"
_UNLINKED = "MATCH (n:Node) WHERE n.type IN $types AND NOT EXISTS {MATCH (n)<-[:EDGE]-(:Node)} RETURN n.id"


async def write(memories: Sequence[Memory], superseded: Sequence[tuple[str, str]], sync: Callable[[], object]) -> None:
    """Write memories with all their nodes and edges. Idempotent. ``superseded``: (record id, source id)."""
    await delete(await _outdated(memories, superseded), sync)
    edges = [supersedes(*pair) for pair in superseded]
    await add_data_points([data_point(memory) for memory in memories], custom_edges=edges)


async def set_status(memory: Memory) -> None:
    """Change a node's status without a new embedding."""
    graph = await get_graph_engine()
    if not await graph.update_node(memory.id, {"status": memory.metadata.status}):
        await add_data_points([data_point(memory)])


async def delete(memory_ids: Sequence[str], sync: Callable[[], object]) -> None:
    """Remove memories' nodes, edges and vectors, and the nodes to which only they linked. Idempotent.

    ``sync`` forces the writes so far to the medium.
    """
    if not memory_ids:
        return
    graph, vector = await get_graph_engine(), await get_vector_engine_async()
    own = [*memory_ids, *(decision for memory_id in memory_ids for decision in decision_ids(memory_id))]
    models: list[type[Any]] = [*MEMORIES.values(), Decision]
    for model in models:
        await _delete_vectors(vector, model, own)
    await _delete_nodes(graph, own)
    unlinked = [point for (point,) in await graph.query(_UNLINKED, {"types": SHARED_TYPES})]
    if unlinked:
        for model in SHARED:
            await _delete_vectors(vector, model, unlinked)
        sync()  # without the nodes, their vectors could not be identified any more
        await _delete_nodes(graph, unlinked)


async def topics(memory_ids: Sequence[str]) -> list[str]:
    """The ids of the topics of the memories, from the graph. A topic's node has its name from any of its memories."""
    rows = await (await get_graph_engine()).query(_TOPICS, {"ids": list(memory_ids), "type": Topic.__name__})
    return [json.loads(properties)["topic_id"] for (properties,) in rows]


async def _outdated(memories: Sequence[Memory], superseded: Sequence[tuple[str, str]]) -> list[str]:
    """The ids of the memories that still link in the graph to nodes to which they no longer belong."""
    wanted = {memory.id: {point for table, point in points(memory) if table == NODES} for memory in memories}
    for record, source in superseded:
        wanted.setdefault(record, set()).add(source)
    existing = await (await get_graph_engine()).query(
        _LEADS_TO, {"ids": [memory.id for memory in memories], "types": TYPES}
    )
    return sorted({memory_id for memory_id, point in existing if point not in wanted[memory_id]})


async def _delete_nodes(graph: Any, ids: Iterable[str]) -> None:
    existing = {point for (point,) in await graph.query(_OURS, {"types": TYPES})}
    if gone := sorted(existing.intersection(ids)):
        await graph.delete_nodes(gone)


async def _delete_vectors(vector: Any, model: type[Any], ids: Sequence[str]) -> None:
    for name in collections(model):
        existing = (await lance.row_ids(vector, name)).intersection(ids)
        if existing:  # a deletion of nothing would still make a new version of the table
            await vector.delete_data_points(name, sorted(existing))
