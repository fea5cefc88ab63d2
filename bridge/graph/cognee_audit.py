"""What cognee's stores hold, read whole and compared with the memories. It changes nothing.

Imported by ``cognee_store``, and by ``stores`` where it is needed, since it imports cognee.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async

from ..memory import Memory
from ..privacy.masking import trace
from . import lance
from .cognee_nodes import MEMORIES as MODELS, NODES, SHARED_TYPES, SUPERSEDES, TYPES, collections, decision_ids, points

_MOST_GONE = 5_000  # memories that are gone whose decisions' ids are made, to say whose a node was


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the graph is to have. ``superseded`` are pairs of a record and a source of its that are both visible.

    ``gone`` are the memories of which it may have nothing; ``owed`` those that it was not told of yet, one way or the
    other. ``found`` are the nodes that cognee found in the texts of visible memories.
    """

    memories: Iterable[Sequence[Memory]]
    superseded: Collection[tuple[str, str]]
    gone: Collection[str]
    owed: Collection[str]
    found: dict[str, list[str]]


@dataclass(slots=True)
class Compared:
    """Ids of memories that lack something, and that are gone and have something still; how many nodes and vectors no
    memory has; the vector tables that cannot be read, with why."""

    lacking: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    strange: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)
    nodes: int = 0
    vectors: int = 0


async def compare(wanted: Wanted) -> Compared:
    """Raises what the graph's engine raises."""
    graph, engine = await get_graph_engine(), await get_vector_engine_async()
    types = dict(await graph.query("MATCH (n:Node) RETURN n.id, n.type"))
    edges = {(source, target): name for source, name, target in await graph.query(_EDGES)}
    made = Compared(nodes=len(types))
    held, rows = await _vectors(engine, made)
    held[NODES] = set(types)
    statuses = dict(await graph.query(_STATUSES, {"types": [model.__name__ for model in MODELS.values()]}))
    expected = _lacks(wanted, held, edges, statuses, made)
    lacked = {memory_id for node, ids in wanted.found.items() if node not in types for memory_id in ids}
    made.lacking += sorted(lacked.difference(made.lacking, wanted.owed))
    rows[NODES] = {node for node, kind in types.items() if kind in TYPES}
    _holds_more(wanted, rows, expected, types, made)
    return made


async def _vectors(engine: Any, made: Compared) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """By table, the ids of the rows that have a vector, and those of all rows."""
    held: dict[str, set[str]] = {}
    rows: dict[str, set[str]] = {}
    for name in await lance.names(engine):
        try:
            held[name] = await lance.ids(engine, name)
            rows[name] = await lance.keys(engine, name)
        except Exception as error:  # whatever the engine raises for a damaged file
            made.unreadable[name] = trace(error).splitlines()[0]
        else:
            made.vectors += len(rows[name])
    return held, rows


def _lacks(
    wanted: Wanted,
    held: dict[str, set[str]],
    edges: dict[tuple[str, str], str],
    statuses: dict[str, str],
    made: Compared,
) -> dict[str, set[str]]:
    """Note the memories that lack something. Returns what there may be: ids by place."""
    expected: dict[str, set[str]] = defaultdict(set)
    nothing: set[str] = set()
    missing = [pair for pair in wanted.superseded if edges.get(pair) != SUPERSEDES]
    lacking = {record for pair in missing for record in pair[:1] if not set(pair) & set(wanted.owed)}
    for part in wanted.memories:
        for memory in part:
            there = list(points(memory))
            for place, point in there:
                expected[place].add(point)
            if memory.id in wanted.owed:
                continue
            lost = any(point not in held.get(place, nothing) for place, point in there if place not in made.unreadable)
            nodes = [point for place, point in there if place == NODES and point != memory.id]
            loose = any((memory.id, point) not in edges for point in nodes)
            differs = statuses.get(memory.id) not in (memory.metadata.status, "", None)
            if lost or loose or differs:
                lacking.add(memory.id)
    made.lacking = sorted(lacking)
    return expected


def _holds_more(
    wanted: Wanted, rows: dict[str, set[str]], expected: dict[str, set[str]], types: dict[str, str], made: Compared
) -> None:
    """Note what no memory has. What goes with a memory whose change is still owed need not have gone yet."""
    ours = {NODES, *_TABLES}
    more = {place: rows.get(place, set()) - expected[place] for place in ours}
    pending = set(wanted.owed)
    for memory_id in wanted.owed:
        pending.update(decision_ids(memory_id))
    strange = {point for ids in more.values() for point in ids} - pending
    if pending:  # a topic that nobody has any more goes with the last change
        strange = {point for point in strange if types.get(point) not in SHARED_TYPES}
    if not strange:
        return
    whose = {point: memory_id for memory_id in list(wanted.gone)[:_MOST_GONE] for point in decision_ids(memory_id)}
    whose |= {memory_id: memory_id for memory_id in wanted.gone}
    made.forgotten = sorted({whose[point] for point in strange if point in whose})
    made.strange = sum(1 for point in strange if point not in whose)


_EDGES = "MATCH (n:Node)-[e:EDGE]->(m:Node) RETURN n.id, e.relationship_name, m.id"
# The status as it stands in the properties' JSON text; a quotation mark inside a value has a backslash before it.
_STATUSES = (
    """MATCH (n:Node) WHERE n.type IN $types RETURN n.id, regexp_extract(n.properties, '"status": "([A-Za-z]+)"', 1)"""
)
_TABLES = {table for model in MODELS.values() for table in collections(model)} | {
    "Decision_text",
    "Topic_name",
    "Plan_name",
}
