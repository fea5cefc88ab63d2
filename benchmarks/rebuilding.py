"""Run in a child: rebuild each part of a store that ``synthetic`` filled, and print the seconds as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter

from bridge.graph import cognee_edges
from bridge.graph.open_stores import Stores
from bridge.settings import load
from jobs import clock
from jobs.layout import Workspace

from . import synthetic

STEPS = 5
COMPARED = 100  # edges that are written in cognee's own way, too


def main() -> None:
    spent = {"edges": 0.0}
    last: list[Any] = []

    async def add_edges(adapter: Any, edges: list[Any], **provenance: Any) -> None:
        began = time.perf_counter()
        await cognee_edges.add_edges(adapter, edges, **provenance)
        spent["edges"] += time.perf_counter() - began
        last[:] = [adapter, edges]

    with Stores(Workspace(Path(sys.argv[1])), load()) as stores:
        stores._embedder = synthetic.Turned(load().embedding)
        found: dict[str, Any] = {"steps": []}
        for name, rebuild in (("vectors", stores.store.rebuild_vectors), ("words", stores.store.rebuild_words)):
            began = time.perf_counter()
            rebuild()
            found[name] = time.perf_counter() - began
        assert stores.graph
        LadybugAdapter.add_edges = add_edges
        compared = 0.0
        began = time.perf_counter()
        share = stores.store.count() // STEPS

        def progress(told: dict[str, Any]) -> None:
            nonlocal compared
            if told.get("done", 0) >= share * (len(found["steps"]) + 1):
                before = time.perf_counter()
                ratio = stores.graph.do(_cognees_share(*last))
                compared += time.perf_counter() - before
                found["steps"].append([told["done"], time.perf_counter() - began - compared, spent["edges"], ratio])

        stores.rebuild_graph(clock.iso(clock.now()), progress)
        found["graph"] = time.perf_counter() - began - compared
        found["counts"] = stores.graph.counts()
    print(json.dumps(found))


async def _cognees_share(adapter: Any, edges: list[Any]) -> float:
    """How much longer cognee takes for some of the edges: both ways with edges that are there no more."""
    sample = edges[:COMPARED]
    seconds = []
    for way in (cognee_edges.add_edges, cognee_edges._cognee_add_edges):
        for source, target, name, _ in sample:
            await adapter.query(
                "MATCH (n:Node {id: $source})-[e:EDGE {relationship_name: $name}]->(m:Node {id: $target}) DELETE e",
                {"source": str(source), "target": str(target), "name": name},
            )
        began = time.perf_counter()
        await way(adapter, sample)
        seconds.append(time.perf_counter() - began)
    return seconds[1] / seconds[0]


if __name__ == "__main__":
    main()
