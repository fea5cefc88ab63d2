"""Compares the whole content of cognee's stores with the memories. It changes nothing.

It imports cognee, so only ``cognee_store`` imports it, and ``graph`` when needed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async

from ..memory import Memory
from . import lance
from .cognee_writing import MEMORIES as MODELS, NODES, SHARED_TYPES, SUPERSEDES, TABLES, TYPES, decision_ids, points

_MAX_FORGOTTEN = 5_000  # forgotten memories whose decisions' ids are computed, to find the owner of a node


@dataclass(frozen=True, slots=True)
class Wanted:
    """The expected content of the graph.

    ``superseded``: (record id, source id), both visible. ``gone``: ids of memories of which the graph must hold
    nothing. ``undelivered``: ids of memories with a pending outbox entry, of either kind. ``found``: node id -> ids of
    the visible memories in whose texts cognee found the node.
    """

    memories: Iterable[Sequence[Memory]]
    superseded: Collection[tuple[str, str]]
    gone: Collection[str]
    undelivered: Collection[str]
    found: dict[str, list[str]]


@dataclass(slots=True)
class GraphComparison:
    """The differences.

    ``lacking``: ids of memories that lack a node, edge or vector. ``forgotten``: ids of forgotten memories with nodes
    or vectors left. ``strange``: the number of nodes and vectors that belong to no memory. ``unreadable``: vector
    table -> the error of reading it.
    """

    lacking: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    strange: int = 0
    unreadable: dict[str, Exception] = field(default_factory=dict)


async def compare(wanted: Wanted) -> GraphComparison:
    """Compare the stores with the expected content. Errors of the graph's engine pass."""
    result = GraphComparison()
    expected, rows, types = await find_lacking(wanted, result)
    rows[NODES] = {node for node, kind in types.items() if kind in TYPES}
    _find_leftovers(wanted, rows, expected, types, result)
    return result


async def find_lacking(
    wanted: Wanted, result: GraphComparison
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, str]]:
    """Add the memories that lack something to the result. Returns the allowed content and the content, place -> ids,
    and the types of the nodes. Raises as ``compare``."""
    graph, engine = await get_graph_engine(), await get_vector_engine_async()
    types = dict(await graph.query("MATCH (n:Node) RETURN n.id, n.type"))
    edges = {(source, target): name for source, name, target in await graph.query(_EDGES)}
    held, rows = await _vectors(engine, result)
    held[NODES] = set(types)
    statuses = dict(await graph.query(_STATUSES, {"types": [model.__name__ for model in MODELS.values()]}))
    expected = _lacking(wanted, held, edges, statuses, result)
    lacked = {memory_id for node, ids in wanted.found.items() if node not in types for memory_id in ids}
    result.lacking += sorted(lacked.difference(result.lacking, wanted.undelivered))
    return expected, rows, types


async def _vectors(engine: Any, result: GraphComparison) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Table -> ids of the rows with a vector other than zeros, and table -> ids of all rows."""
    held: dict[str, set[str]] = {}
    rows: dict[str, set[str]] = {}
    for name in await lance.table_names(engine):
        try:
            held[name] = await lance.ids_with_vector(engine, name)
            rows[name] = await lance.row_ids(engine, name)
        except Exception as error:  # the engine raises various classes for a damaged file
            result.unreadable[name] = error
    return held, rows


def _lacking(
    wanted: Wanted,
    held: dict[str, set[str]],
    edges: dict[tuple[str, str], str],
    statuses: dict[str, str],
    result: GraphComparison,
) -> dict[str, set[str]]:
    """Add the memories that lack something to the result. Returns the allowed content: place -> ids."""
    expected: dict[str, set[str]] = defaultdict(set)
    nothing: set[str] = set()
    missing = [pair for pair in wanted.superseded if edges.get(pair) != SUPERSEDES]
    lacking = {record for pair in missing for record in pair[:1] if not set(pair) & set(wanted.undelivered)}
    for part in wanted.memories:
        for memory in part:
            memory_points = list(points(memory))
            for place, point in memory_points:
                expected[place].add(point)
            if memory.id in wanted.undelivered:
                continue
            lost = any(
                point not in held.get(place, nothing)
                for place, point in memory_points
                if place not in result.unreadable
            )
            nodes = [point for place, point in memory_points if place == NODES and point != memory.id]
            unlinked = any((memory.id, point) not in edges for point in nodes)
            differs = statuses.get(memory.id) not in (memory.metadata.status, "", None)
            if lost or unlinked or differs:
                lacking.add(memory.id)
    result.lacking = sorted(lacking)
    return expected


def _find_leftovers(
    wanted: Wanted,
    rows: dict[str, set[str]],
    expected: dict[str, set[str]],
    types: dict[str, str],
    result: GraphComparison,
) -> None:
    """Add what belongs to no memory to the result. Nodes of memories with a pending outbox entry are ignored."""
    ours = {NODES, *TABLES}
    more = {place: rows.get(place, set()) - expected[place] for place in ours}
    pending = set(wanted.undelivered)
    for memory_id in wanted.undelivered:
        pending.update(decision_ids(memory_id))
    strange = {point for ids in more.values() for point in ids} - pending
    if pending:  # a pending entry may still remove an unused topic, plan or session
        strange = {point for point in strange if types.get(point) not in SHARED_TYPES}
    if not strange:
        return
    owner_of = {
        point: memory_id for memory_id in list(wanted.gone)[:_MAX_FORGOTTEN] for point in decision_ids(memory_id)
    }
    owner_of |= {memory_id: memory_id for memory_id in wanted.gone}
    result.forgotten = sorted({owner_of[point] for point in strange if point in owner_of})
    result.strange = sum(1 for point in strange if point not in owner_of)


_EDGES = "MATCH (n:Node)-[e:EDGE]->(m:Node) RETURN n.id, e.relationship_name, m.id"
# The status in the properties' JSON text. Quotation marks inside values are escaped, so they cannot match.
_STATUSES = (
    """MATCH (n:Node) WHERE n.type IN $types RETURN n.id, regexp_extract(n.properties, '"status": "([A-Za-z]+)"', 1)"""
)
