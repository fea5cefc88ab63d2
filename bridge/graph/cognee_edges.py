"""Writing edges of cognee's graph in a time that does not grow with the graph.

cognee merges them in one statement, for which its engine looks at every node for each edge; and the statement that
would use the primary key for that crashes the engine at times. So what is there already is asked for first, and what
is new is created a few edges at a time, by primary keys that the statement is given one by one.

Imported by ``cognee_store`` alone, since it imports cognee.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter
from cognee.modules.graph.utils.prepare_edges_for_storage import get_edge_retrieval_text
from cognee.modules.storage.utils import JSONEncoder

_TOGETHER = 12  # edges of one statement: with more, planning it costs what sharing it saves

_THERE = (
    "MATCH (source:Node)-[edge:EDGE]->(target:Node) WHERE source.id IN $ids"
    " RETURN source.id, target.id, edge.relationship_name"
)
_cognees_own = LadybugAdapter.add_edges


async def add_edges(
    adapter: Any,
    edges: Sequence[tuple[Any, Any, str, dict[str, Any]]],
    source_ref_key: Any = None,
    pipeline_run_id: str | None = None,
) -> None:
    """In place of ``LadybugAdapter.add_edges``: an edge that is there stays as it is, and one whose ends are not both
    there is left out. Edges with a provenance, which cognify writes, go cognee's way."""
    if source_ref_key is not None:
        await _cognees_own(adapter, edges, source_ref_key, pipeline_run_id)
        return
    wanted = {(str(source), str(target), name): properties for source, target, name, properties in edges}
    if not wanted:
        return
    there = set(await adapter.query(_THERE, {"ids": sorted({source for source, _, _ in wanted})}))
    new = defaultdict(list)
    for (source, target, name), properties in wanted.items():
        if (source, target, name) not in there:
            new[source].append((target, name, json.dumps(properties, cls=JSONEncoder)))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    for source, links in new.items():
        for start in range(0, len(links), _TOGETHER):
            part = links[start : start + _TOGETHER]
            if not await _create(adapter, source, part, now) and len(part) > 1:  # one of their ends is not there
                for link in part:
                    await _create(adapter, source, [link], now)


def edge_text(name: str, properties: str | None) -> str:
    """What cognee embeds of an edge: its text, else its name."""
    found: str = get_edge_retrieval_text(json.loads(properties or "{}").get("edge_text"), name)
    return found


async def _create(adapter: Any, source: str, links: Sequence[tuple[str, str, str]], now: str) -> bool:
    """Create edges from one node, all or none. Returns whether their ends are there."""
    values = {"source": source, "now": now}
    for place, (target, name, properties) in enumerate(links):
        values |= {f"target{place}": target, f"name{place}": name, f"properties{place}": properties}
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
