"""Writes memories to cognee's stores and deletes them: a memory as cognee's DataPoints with their links, whose fields
are in ``bridge/datapoints``, the places where these are stored, and edges, written in a time that does not grow with
the graph.

cognee merges all edges in one statement, for which its engine scans all nodes for each edge. The statement that would
use the primary key instead sometimes crashes the engine. So this module first queries the existing edges, and then
creates the new ones a few at a time, with each primary key as a parameter of its own. Importing it replaces
``LadybugAdapter.add_edges``.

It imports cognee, so only other ``cognee_*`` modules import it. The coroutines let the errors of cognee's engines pass.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.engine import DataPoint, Edge
from cognee.modules.graph.utils.prepare_edges_for_storage import get_edge_retrieval_text
from cognee.modules.storage.utils import JSONEncoder
from cognee.tasks.storage import add_data_points
from pydantic import SkipValidation

from .. import datapoints
from ..memory import Memory
from . import lance

# A link in cognee's form: an Edge, and one node or several.
Link = tuple[Edge, Any] | None
NODES = ""  # the place that means the graph itself; the other places are vector tables
SUPERSEDES = "supersedes"
_EDGES_PER_STATEMENT = 12  # with more, planning the statement costs what sharing it saves
_EXISTING = (
    "MATCH (source:Node)-[edge:EDGE]->(target:Node) WHERE source.id IN $ids"
    " RETURN source.id, target.id, edge.relationship_name"
)
_cognee_add_edges = LadybugAdapter.add_edges
_OURS = "MATCH (n:Node) WHERE n.type IN $types RETURN n.id"
_LEADS_TO = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type IN $types RETURN DISTINCT n.id, m.id"
_TOPICS = "MATCH (n:Node)-[:EDGE]->(m:Node) WHERE n.id IN $ids AND m.type = $type RETURN DISTINCT m.properties"
_UNLINKED = "MATCH (n:Node) WHERE n.type IN $types AND NOT EXISTS {MATCH (n)<-[:EDGE]-(:Node)} RETURN n.id"


def _contract(model: type[datapoints._Node]) -> dict[str, Any]:
    """A node's metadata for cognee: the fields to embed, and those from which its id is derived."""
    return {"index_fields": list(model.INDEX_FIELDS), "identity_fields": list(model.IDENTITY_FIELDS)}


class Topic(datapoints.Topic, DataPoint):  # type: ignore[misc]
    """``datapoints.Topic`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Topic)


class Plan(datapoints.Plan, DataPoint):  # type: ignore[misc]
    """``datapoints.Plan`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Plan)


class Session(datapoints.Session, DataPoint):  # type: ignore[misc]
    """``datapoints.Session`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Session)


class _Linked(DataPoint):  # type: ignore[misc]
    about: SkipValidation[Link] = None
    of_plan: SkipValidation[Link] = None
    of_session: SkipValidation[Link] = None


class Decision(datapoints.Decision, DataPoint):  # type: ignore[misc]
    """``datapoints.Decision`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.Decision)


class ConversationSummary(datapoints.ConversationSummary, _Linked):
    """``datapoints.ConversationSummary`` as a DataPoint with links."""

    metadata: dict[str, Any] = _contract(datapoints.ConversationSummary)
    decided: SkipValidation[Link] = None


class DecisionRecord(datapoints.DecisionRecord, _Linked):
    """``datapoints.DecisionRecord`` as a DataPoint with links."""

    metadata: dict[str, Any] = _contract(datapoints.DecisionRecord)
    decided: SkipValidation[Link] = None


class LegacyMemory(datapoints.LegacyMemory, DataPoint):  # type: ignore[misc]
    """``datapoints.LegacyMemory`` as a DataPoint."""

    metadata: dict[str, Any] = _contract(datapoints.LegacyMemory)


MEMORIES: dict[str, type[datapoints._Node]] = {
    "summary": ConversationSummary, "decision_record": DecisionRecord, "legacy": LegacyMemory,
}  # fmt: skip


SHARED: list[type[datapoints._Node]] = [Topic, Plan, Session]  # nodes that several memories share

_ALL: list[type[datapoints._Node]] = [*MEMORIES.values(), Decision, *SHARED]
# The node types as cognee names them in its graph.
SHARED_TYPES = [model.__name__ for model in SHARED]
TYPES = [model.__name__ for model in _ALL]


def collections(model: type[datapoints._Node]) -> list[str]:
    """The vector tables of a node type, one per index field, in their order."""
    return [f"{model.__name__}_{field}" for field in model.INDEX_FIELDS]


TABLES = {table for model in _ALL for table in collections(model)}
"""The vector tables of all node types."""


def decision_ids(memory_id: str) -> list[str]:
    """The ids of all decision nodes that a memory can have, whatever its content."""
    return [str(Decision.id_for(f"{memory_id}:{position}")) for position in range(datapoints.MAX_DECISIONS)]


def supersedes(record: str, source: str) -> tuple[str, str, str, dict[str, str]]:
    """The edge from a record to a merged memory, in cognee's form for edges between existing nodes."""
    return (record, source, SUPERSEDES, {"relationship_name": SUPERSEDES, "edge_text": SUPERSEDES})


def points(memory: Memory) -> Iterator[tuple[str, str]]:
    """The (place, id) of everything that the graph stores of a memory; a place is ``NODES`` or a vector table."""
    yield NODES, memory.id
    yield collections(MEMORIES[memory.kind])[0], memory.id
    if memory.content is None:
        return
    nodes: list[tuple[Any, datapoints._Node | None, Any]] = [
        (Decision, decision, decision.decision_id) for decision in datapoints.decisions_from(memory)
    ]
    topic, plan, session = (
        datapoints.topic_from(memory), datapoints.plan_from(memory), datapoints.session_from(memory),
    )  # fmt: skip
    nodes += [
        (Topic, topic, topic and topic.topic_id),
        (Plan, plan, plan and plan.plan_key),
        (Session, session, session and session.session_id),
    ]
    for model, node, identity in nodes:
        if node is not None:
            point = str(model.id_for(identity))
            yield NODES, point
            for field, place in zip(model.INDEX_FIELDS, collections(model), strict=True):
                if str(getattr(node, field)).strip():  # a blank text has a vector of zeros
                    yield place, point


def data_point(memory: Memory) -> Any:
    """The DataPoint of a memory, with the nodes that it links to."""
    if memory.content is None:
        return LegacyMemory(id=memory.id, **datapoints.legacy_from(memory).model_dump())
    links: dict[str, Any] = {}
    for name, node_type, node in (
        ("about", Topic, datapoints.topic_from(memory)),
        ("of_plan", Plan, datapoints.plan_from(memory)),
        ("of_session", Session, datapoints.session_from(memory)),
    ):
        if node is not None:
            links[name] = _link(name, node_type(**node.model_dump()))
    decided = [Decision(**decision.model_dump()) for decision in datapoints.decisions_from(memory)]
    if decided:
        links["decided"] = _link("decided", decided)
    if memory.kind == "decision_record":
        return DecisionRecord(id=memory.id, **datapoints.record_from(memory).model_dump(), **links)
    return ConversationSummary(id=memory.id, **datapoints.summary_from(memory).model_dump(), **links)


def _link(name: str, target: Any) -> Link:
    """A link with an edge whose text is its name. By default, cognee would compose it of both nodes' texts, embed it
    for each edge, and store it in an index that keeps the text of forgotten memories."""
    return (Edge(relationship_type=name, edge_text=name.replace("_", " ")), target)


async def add_edges(
    adapter: Any,
    edges: Sequence[tuple[Any, Any, str, dict[str, Any]]],
    source_ref_key: Any = None,
    pipeline_run_id: str | None = None,
) -> None:
    """The replacement of ``LadybugAdapter.add_edges``. Existing edges are not changed; edges without both end nodes are
    skipped. Edges with a provenance, which cognify writes, are passed to cognee's own method."""
    if source_ref_key is not None:
        await _cognee_add_edges(adapter, edges, source_ref_key, pipeline_run_id)
        return
    wanted = {(str(source), str(target), name): properties for source, target, name, properties in edges}
    if not wanted:
        return
    existing = set(await adapter.query(_EXISTING, {"ids": sorted({source for source, _, _ in wanted})}))
    new = defaultdict(list)
    for (source, target, name), properties in wanted.items():
        if (source, target, name) not in existing:
            new[source].append((target, name, json.dumps(properties, cls=JSONEncoder)))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    for source, links in new.items():
        for start in range(0, len(links), _EDGES_PER_STATEMENT):
            part = links[start : start + _EDGES_PER_STATEMENT]
            if not await _create(adapter, source, part, now) and len(part) > 1:  # an end node is missing
                for link in part:
                    await _create(adapter, source, [link], now)


def edge_text(name: str, properties: Mapping[str, Any]) -> str:
    """The text of an edge that cognee embeds: its own text, else its name."""
    return str(get_edge_retrieval_text(properties.get("edge_text"), name))


async def _create(adapter: Any, source: str, links: Sequence[tuple[str, str, str]], now: str) -> bool:
    """Create all edges from one node, or none. Returns whether all end nodes exist."""
    values = {"source": source, "now": now}
    for index, (target, name, properties) in enumerate(links):
        values |= {f"target{index}": target, f"name{index}": name, f"properties{index}": properties}
    ((created,),) = await adapter.query(_statement(len(links)), values)
    return bool(created)


@cache
def _statement(count: int) -> str:
    targets = "".join(f", (target{i}:Node {{id: $target{i}}})" for i in range(count))
    edges = ", ".join(
        f"(source)-[:EDGE {{relationship_name: $name{i}, properties: $properties{i},"
        f" created_at: TIMESTAMP($now), updated_at: TIMESTAMP($now)}}]->(target{i})"
        for i in range(count)
    )
    return f"MATCH (source:Node {{id: $source}}){targets} CREATE {edges} RETURN count(*)"


LadybugAdapter.add_edges = add_edges


async def write(memories: Sequence[Memory], superseded: Sequence[tuple[str, str]], sync: Callable[[], object]) -> None:
    """Write memories with all their nodes and edges. Idempotent. ``superseded``: (record id, source id)."""
    await delete(await _outdated(memories, superseded), sync)
    edges = [supersedes(*pair) for pair in superseded]
    await add_data_points([data_point(memory) for memory in memories], custom_edges=edges)


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
