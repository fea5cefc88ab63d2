"""cognee's extraction from raw texts: runs add and cognify, reads what they wrote, and removes it.

Each memory's text is a dataset of its own, so that it can be removed alone. These are coroutines for
``CogneeStore.do``, over the stores that it has opened.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from uuid import UUID

import cognee
from cognee.infrastructure.databases.graph import get_graph_engine
from cognee.infrastructure.databases.relational import get_relational_engine
from cognee.infrastructure.databases.vector import get_vector_engine_async
from cognee.infrastructure.engine import DataPoint
from cognee.modules.data.methods import delete_dataset
from cognee.modules.data.models import Dataset
from cognee.modules.graph.models.EdgeType import EdgeType
from cognee.tasks.ingestion.data_item import DataItem
from cognee.tasks.storage import index_data_points, index_graph_edges
from pydantic import create_model

from ..store.values import ExtractedEdge, ExtractedNode, Extraction, data_id_of
from .cognee_writing import edge_text

READ_AS = "read_as"  # the edge from a memory to the document that cognee read


def _dataset_name(memory_id: str) -> str:
    return f"memory-{memory_id}"


async def extract(memory_id: str, text: str) -> Extraction:
    """Let cognee extract nodes and edges from a text and write them. Returns what was written.

    Raises JobError for a failure of the language model, RuntimeError when cognee recorded nothing.
    """
    _patch_cognify()
    name = _dataset_name(memory_id)
    item = DataItem(data=text, data_id=UUID(data_id_of(memory_id)), literal_text=True)
    await cognee.add(item, dataset_name=name)
    await cognee.cognify(datasets=[name], extractor="llm")  # "auto" would install a model where it sees no key
    extraction = await written([memory_id])
    _revoke_permissions(memory_id)
    document = data_id_of(memory_id)
    if all(node.id != document for node in extraction.nodes):
        raise RuntimeError("cognee has noted nothing of what it wrote")
    properties = {"relationship_name": READ_AS, "edge_text": READ_AS.replace("_", " ")}
    link = Extraction(edges=(ExtractedEdge(memory_id, document, READ_AS, properties),))
    await write(link)
    return Extraction(extraction.nodes, (*extraction.edges, *link.edges))


def _revoke_permissions(memory_id: str) -> None:
    """Remove the permissions of a finished dataset; its content stays.

    Before it adds, cognifies or searches, cognee loads every dataset that its user may use, so its time would grow
    with their number.
    """
    with _database() as connection:
        query = "DELETE FROM acls WHERE dataset_id IN (SELECT id FROM datasets WHERE name = ?)"
        connection.execute(query, (_dataset_name(memory_id),))


def _patch_cognify() -> None:
    """Change four steps of cognify. It takes no text for a source of dlt, whose import takes long. It does not compact
    vector tables: our maintenance does, and syncs before it deletes. It records each text's nodes and edges even if
    another text has them too. And it records them in one place, whether or not the graph was empty at first.

    Raises RuntimeError if cognee has no such step.
    """

    def giving(make: Callable[[], Any]) -> Any:
        async def given(*_: Any, **__: Any) -> Any:
            return make()

        return given

    async def as_it_is(data: Any, *_: Any, **__: Any) -> Any:
        return data, None

    for module, name, replacement in (
        ("api.v1.add.add", "resolve_dlt_sources", as_it_is),
        ("api.v1.cognify.cognify", "compact_vector_store", giving(lambda: None)),
        ("tasks.graph.extract_graph_from_data", "find_existing_edge_identities", giving(set)),
        ("tasks.storage.add_data_points", "mark_graph_provenance_if_empty", giving(bool)),
    ):
        if not hasattr(sys.modules[f"cognee.{module}"], name):
            raise RuntimeError(f"cognee has no {module}.{name} any more")
        setattr(sys.modules[f"cognee.{module}"], name, replacement)


async def written(memory_ids: Sequence[str]) -> Extraction:
    """The nodes and edges that cognee recorded for these texts, also those of interrupted runs."""
    nodes: list[ExtractedNode] = []
    edges: list[ExtractedEdge] = []
    with _database() as connection:
        for memory_id in memory_ids:
            data_id = UUID(data_id_of(memory_id)).hex
            rows = connection.execute(_RECORDED_NODES, (data_id,))
            nodes += (ExtractedNode(_id(i), kind, tuple(json.loads(f)), json.loads(a)) for i, kind, f, a in rows)
            rows = connection.execute(_RECORDED_EDGES, (data_id,))
            edges += (ExtractedEdge(_id(one), _id(other), name, json.loads(a)) for one, other, name, a in rows)
    return Extraction(tuple(nodes), tuple(edges))


@contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """A connection to cognee's own SQLite database; cognee has no API for these tables."""
    with closing(sqlite3.connect(get_relational_engine().engine.url.database, timeout=10)) as connection, connection:
        connection.execute("PRAGMA secure_delete = ON")
        yield connection


def _id(text: str) -> str:
    """An id in the form of the graph; the database omits the hyphens."""
    return str(UUID(text))


async def write(extraction: Extraction) -> None:
    """Write an extraction to the graph again, without the language model; the embeddings come from the cache."""
    graph, vector = await get_graph_engine(), await get_vector_engine_async()
    points = [_point(node) for node in extraction.nodes]
    edges = [(e.source, e.target, e.name, dict(e.properties)) for e in extraction.edges]
    await graph.add_nodes(points)
    await index_data_points(points, vector_engine=vector)
    await graph.add_edges(edges)
    await index_graph_edges(edges, vector_engine=vector)


def _point(node: ExtractedNode) -> Any:
    """A DataPoint with exactly the node's properties, of a class named like its type."""
    metadata = {"index_fields": list(node.index_fields)}
    model = create_model(
        node.type, __base__=DataPoint, __cls_kwargs__={"extra": "allow"}, metadata=(dict[str, Any], metadata)
    )
    return model(**(dict(node.properties) | {"id": UUID(node.id), "metadata": metadata}))


async def remove(extraction: Extraction) -> None:
    """Remove an extraction's nodes and edges, with their vectors. Idempotent."""
    graph, vector = await get_graph_engine(), await get_vector_engine_async()
    texts = {edge_text(edge.name, edge.properties) for edge in extraction.edges}
    by_table: dict[str, list[str]] = {}
    for node in extraction.nodes:
        for field in node.index_fields:
            by_table.setdefault(f"{node.type}_{field}", []).append(node.id)
    for table, ids in by_table.items():
        if await vector.has_collection(table):
            await vector.delete_data_points(table, ids)
    for edge in extraction.edges:
        await graph.query(_DELETE_EDGE, {"source": edge.source, "target": edge.target, "name": edge.name})
    if extraction.nodes:
        await graph.delete_nodes([node.id for node in extraction.nodes])
    gone = texts - await _edge_texts(graph, {edge.name for edge in extraction.edges})
    if gone and await vector.has_collection("EdgeType_relationship_name"):
        await vector.delete_data_points("EdgeType_relationship_name", [str(EdgeType.id_for(text)) for text in gone])


async def _edge_texts(graph: Any, names: set[str]) -> set[str]:
    """The texts of the graph's edges with those names."""
    rows = await graph.query(_EDGES_NAMED, {"names": sorted(names)})
    return {edge_text(name, json.loads(properties or "{}")) for name, properties in rows}


async def clear(memory_ids: Sequence[str]) -> None:
    """Remove what cognee stores of these texts outside the graph: their files, and all rows about them."""
    datasets: list[str] = []
    with _database() as connection:
        for memory_id in memory_ids:
            rows = connection.execute("SELECT id FROM datasets WHERE name = ?", (_dataset_name(memory_id),))
            datasets += (dataset for (dataset,) in rows)
    for dataset in datasets:
        await delete_dataset(Dataset(id=UUID(dataset)))  # this deletes the text's file too
    with _database() as connection:
        for memory_id in memory_ids:
            for table in ("nodes", "edges"):
                connection.execute(f"DELETE FROM {table} WHERE data_id = ?", (UUID(data_id_of(memory_id)).hex,))  # noqa: S608 - a constant
        connection.executemany("DELETE FROM pipeline_runs WHERE dataset_id = ?", [(dataset,) for dataset in datasets])


_RECORDED_NODES = "SELECT slug, type, indexed_fields, attributes FROM nodes WHERE data_id = ? ORDER BY slug"
# An edge's name is its label: in the name column, cognee stores the text of edges named "contains".
_RECORDED_EDGES = (
    "SELECT source_node_id, destination_node_id, label, attributes FROM edges WHERE data_id = ?"
    " ORDER BY source_node_id, destination_node_id, label"
)
_DELETE_EDGE = """
MATCH (a:Node {id: $source})-[r:EDGE]->(b:Node {id: $target}) WHERE r.relationship_name = $name DELETE r
"""
_EDGES_NAMED = (
    "MATCH (:Node)-[r:EDGE]->(:Node) WHERE r.relationship_name IN $names RETURN r.relationship_name, r.properties"
)
