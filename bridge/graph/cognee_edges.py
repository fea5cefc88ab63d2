"""Writes edges to cognee's graph in a time that does not grow with the graph.

cognee merges all edges in one statement, for which its engine scans all nodes for each edge. The statement that would
use the primary key instead sometimes crashes the engine. So this module first queries the existing edges, and then
creates the new ones a few at a time, with each primary key as a parameter of its own.

It imports cognee, so only other ``cognee_*`` modules import it. Importing it replaces ``LadybugAdapter.add_edges``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.modules.graph.utils.prepare_edges_for_storage import get_edge_retrieval_text
from cognee.modules.storage.utils import JSONEncoder

_EDGES_PER_STATEMENT = 12  # with more, planning the statement costs what sharing it saves

_EXISTING = (
    "MATCH (source:Node)-[edge:EDGE]->(target:Node) WHERE source.id IN $ids"
    " RETURN source.id, target.id, edge.relationship_name"
)
_cognee_add_edges = LadybugAdapter.add_edges


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
