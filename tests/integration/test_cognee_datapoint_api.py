"""What the DataPoint API of the installed cognee does: each name states a fact that the design rests on.

The real cognee, unmodified, with its embedded stores and real embeddings, offline. It configures itself from
the environment when imported, so the bodies run in one child process with the environment written below, and
report here. `docs/cognee-api.md` says which assumption each fact confirms or replaces.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

import pytest

pytestmark = pytest.mark.cognee

SETTINGS = {
    "TELEMETRY_DISABLED": "1",
    "COGNEE_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_OFFLINE": "1",
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "COGNEE_LOG_FILE": "false",
    "COGNEE_LOG_SEARCH_HISTORY": "false",
    "LOG_LEVEL": "ERROR",
    "ENABLE_BACKEND_ACCESS_CONTROL": "false",
    "CACHING": "false",
    "GRAPH_DATABASE_SUBPROCESS_ENABLED": "false",
    "VECTOR_DB_SUBPROCESS_ENABLED": "false",
    "EMBEDDING_PROVIDER": "fastembed",
    "EMBEDDING_MODEL": "sentence-transformers/all-MiniLM-L6-v2",
    "EMBEDDING_DIMENSIONS": "384",
}
LONG_AGO = 1_700_000_000_000  # milliseconds, November 2023

Fact = Callable[["Lab"], Awaitable[None]]
FACTS: dict[str, Fact] = {}


def fact(body: Fact) -> Callable[[CogneeProcess], None]:
    """Make a test of a coroutine that runs inside the process which holds cognee."""
    name = body.__name__
    FACTS[name] = body

    def test(cognee_process: CogneeProcess) -> None:
        cognee_process.check(name)

    test.__name__ = test.__qualname__ = name
    return test


class CogneeProcess:
    """The child, as the tests see it: a name goes in, a failure or nothing comes back."""

    def __init__(self, process: subprocess.Popen[str], errors: Path) -> None:
        self.process, self.errors = process, errors

    def check(self, name: str) -> None:
        asked, answers = self.process.stdin, self.process.stdout
        assert asked is not None
        assert answers is not None
        with suppress(BrokenPipeError):
            asked.write(name + "\n")
            asked.flush()
        try:
            answer = answers.readline()
        except BaseException:  # a timeout: the next answer would be taken for that of another fact
            self.process.kill()
            raise
        if not answer:
            pytest.fail("the process ended: " + self.errors.read_text()[-4000:], pytrace=False)
        failure = json.loads(answer)
        if failure:
            pytest.fail(failure, pytrace=False)


@pytest.fixture(scope="module")
def cognee_process(tmp_path_factory: pytest.TempPathFactory, full_weights: Path) -> Iterator[CogneeProcess]:
    from hub_cache import lay_out  # not at the top: the child cannot import it

    root = tmp_path_factory.mktemp("cognee")
    for name in ("home", "tmp", "project"):
        (root / name).mkdir()
    (root / "project" / ".env").write_text("LLM_API_KEY=of-the-project\nEMBEDDING_MODEL=of-the-project\n")
    (root / "empty.env").touch()
    environment = SETTINGS | {
        "PATH": os.environ["PATH"],
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "SYSTEM_ROOT_DIRECTORY": str(root / "system"),
        "DATA_ROOT_DIRECTORY": str(root / "data"),
        "CACHE_ROOT_DIRECTORY": str(root / "system" / "cache"),
        "COGNEE_ENV_FILE": str(root / "empty.env"),
        "HF_HUB_CACHE": str(lay_out(full_weights, root / "hub")),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    errors = root / "stderr.txt"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            [sys.executable, __file__, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
            cwd=root / "project",
        ) as process,
    ):
        try:
            yield CogneeProcess(process, errors)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=240)  # it runs as a program too, without the harness
        finally:
            process.kill()


class Lab:
    """What a fact may use: cognee, its two stores, models of our shape, and a record of what was embedded."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.graph_file = root / "system" / "databases" / "cognee_graph_ladybug"
        self.lookups: list[str] = []
        self.embedded: list[str] = []
        self.embedding_fails = False
        sys.addaudithook(self._note_network)

    def _note_network(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
            self.lookups.append(f"{event} {arguments}")

    async def open(self) -> None:
        import cognee
        from cognee.infrastructure.databases.graph import get_graph_engine
        from cognee.infrastructure.databases.vector import get_vector_engine_async
        from cognee.infrastructure.databases.vector.embeddings import get_embedding_engine
        from cognee.modules.engine.operations.setup import setup
        from cognee.tasks.storage import add_data_points

        await setup()
        self.cognee, self.add = cognee, add_data_points
        self.graph, self.vectors = await get_graph_engine(), await get_vector_engine_async()
        self.embeddings = get_embedding_engine()
        self.models = models()
        real = type(self.embeddings).embed_text

        async def watched(engine: Any, text: list[str]) -> Any:
            if self.embedding_fails:
                raise RuntimeError("no embeddings today")
            self.embedded.extend(text)
            return await real(engine, text)

        type(self.embeddings).embed_text = watched

    async def node(self, point: Any) -> dict[str, Any] | None:
        return await self.graph.get_node(str(point.id))

    async def edges(self, point: Any) -> set[tuple[str, str]]:
        """(relation, id of the other end) of each edge that begins here."""
        found = await self.graph.get_edges(str(point.id))
        return {(relation, end["id"]) for start, relation, end in found if start["id"] == str(point.id)}

    async def rows(self, collection: str, point: Any = None) -> list[dict[str, Any]]:
        connection = await self.vectors.get_connection()
        if collection not in await connection.table_names():
            return []
        rows = await (await connection.open_table(collection)).query().to_list()
        return [row for row in rows if point is None or row["id"] == str(point.id)]

    async def texts(self, collection: str) -> list[str]:
        return [row["payload"]["text"] for row in await self.rows(collection)]

    async def files_holding(self, text: str) -> set[str]:
        """First folder or file, below the stores' folder, of each file that holds this text.

        Another process looks: to read the graph's file in this one would drop its lock (see below).
        """
        stores = self.root / "system" / "databases"
        script = (
            "import pathlib, sys; root, text = pathlib.Path(sys.argv[1]), sys.argv[2].encode()\n"
            "for path in root.rglob('*'):\n"
            "    if path.is_file() and text in path.read_bytes(): print(path.relative_to(root).parts[0])"
        )
        found = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, str(stores), text, stdout=asyncio.subprocess.PIPE
        )
        names, _ = await found.communicate()
        return set(names.decode().split())


def models() -> SimpleNamespace:
    from cognee.infrastructure.engine import DataPoint, Edge

    class Topic(DataPoint):
        name: str
        metadata: dict = {"index_fields": ["name"], "identity_fields": ["name"]}

    class Decision(DataPoint):
        text: str
        metadata: dict = {"index_fields": ["text"]}

    class Summary(DataPoint):
        summary_text: str
        topic_id: str = "storage"
        plan_id: str | None = None
        status: str = "Active"
        source_created_at: str | None = None
        next_steps: list[str] = []
        in_topic: Topic | None = None
        decided: Any = None
        metadata: dict = {"index_fields": ["summary_text", "plan_id"]}

    class ListIndexed(DataPoint):
        decisions: list[str]
        metadata: dict = {"index_fields": ["decisions"]}

    return SimpleNamespace(
        DataPoint=DataPoint,
        Edge=Edge,
        Topic=Topic,
        Decision=Decision,
        Summary=Summary,
        ListIndexed=ListIndexed,
    )


# --- writing and reading ---------------------------------------------------------------------------------


@fact
async def test_a_custom_model_is_stored_as_a_node_with_all_its_plain_fields(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="We keep jobs in files", plan_id="014", next_steps=["a", "b"])
    await lab.add([point])
    node = await lab.node(point)
    assert node is not None
    assert (node["type"], node["status"], node["plan_id"]) == ("Summary", "Active", "014")
    assert node["next_steps"] == ["a", "b"]
    assert node["summary_text"] == "We keep jobs in files"


@fact
async def test_each_index_field_is_embedded_into_a_collection_of_its_own(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="Two fields are indexed", plan_id="plan-two")
    await lab.add([point])
    (text,) = await lab.rows("Summary_summary_text", point)
    (plan,) = await lab.rows("Summary_plan_id", point)
    assert text["payload"]["text"] == "Two fields are indexed"
    assert plan["payload"]["text"] == "plan-two"
    assert await lab.rows("Summary_status") == []


@fact
async def test_an_index_field_that_is_none_is_left_out_of_its_collection(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="No plan here", plan_id=None)
    await lab.add([point])
    assert await lab.rows("Summary_plan_id", point) == []


@fact
async def test_an_index_field_that_is_empty_is_stored_with_a_vector_of_zeros(lab: Lab) -> None:
    point = lab.models.Decision(text="")
    await lab.add([point])
    (row,) = await lab.rows("Decision_text", point)
    assert set(row["vector"]) == {0.0}


@fact
async def test_a_list_valued_index_field_raises_and_leaves_a_node_without_a_vector(lab: Lab) -> None:
    point = lab.models.ListIndexed(decisions=["one", "two"])
    with pytest.raises(ValueError, match="valid string"):
        await lab.add([point])
    assert await lab.node(point) is not None
    assert await lab.rows("ListIndexed_decisions") == []


@fact
async def test_a_nested_point_becomes_a_node_and_an_edge_named_after_its_field(lab: Lab) -> None:
    topic, decision = lab.models.Topic(name="Nesting"), lab.models.Decision(text="Use edges")
    point = lab.models.Summary(summary_text="Nested", in_topic=topic, decided=[decision])
    await lab.add([point])
    assert await lab.edges(point) == {("in_topic", str(topic.id)), ("decided", str(decision.id))}
    node = await lab.node(point)
    assert node is not None
    assert not {"in_topic", "decided"} & set(node)
    assert await lab.node(decision) is not None


@fact
async def test_an_edge_copies_80_characters_of_each_ends_first_index_field_and_embeds_them(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="secret " * 20, in_topic=lab.models.Topic(name="Edge text"))
    await lab.add([point])
    copied = ("secret " * 20)[:80] + " in topic Edge text."
    assert copied in await lab.texts("EdgeType_relationship_name")
    assert copied in lab.embedded


@fact
async def test_an_explicit_edge_text_keeps_the_contents_out_of_the_edge_collection(lab: Lab) -> None:
    edge = lab.models.Edge(relationship_type="decided", edge_text="decided")
    chosen = [lab.models.Decision(text=f"quiet decision {number}") for number in range(3)]
    point = lab.models.Summary(summary_text="A quiet summary", decided=(edge, chosen))
    before = len(lab.embedded)
    await lab.add([point])
    assert await lab.edges(point) == {("decided", str(decision.id)) for decision in chosen}
    assert not [text for text in await lab.texts("EdgeType_relationship_name") if "quiet" in text]
    assert sorted(lab.embedded[before:]) == sorted(
        ["A quiet summary", *(decision.text for decision in chosen), "decided"]
    )


# --- searching -------------------------------------------------------------------------------------------


@fact
async def test_the_score_of_a_vector_search_is_the_cosine_distance(lab: Lab) -> None:
    import numpy

    point = lab.models.Decision(text="PostgreSQL holds the orders")
    await lab.add([point])
    question = "which database holds the orders?"
    found = await lab.vectors.search("Decision_text", query_text=question, limit=1)
    asked, stored = [numpy.array(v) for v in await lab.embeddings.embed_text([question, point.text])]
    similarity = asked @ stored / numpy.linalg.norm(asked) / numpy.linalg.norm(stored)
    assert found[0].id == point.id
    assert found[0].score == pytest.approx(1 - similarity, abs=1e-6)


@fact
async def test_the_payload_of_a_hit_holds_the_indexed_text_and_none_of_the_nodes_properties(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="Payloads are thin", source_created_at="2025-01-01T00:00:00Z")
    await lab.add([point])
    (hit,) = await lab.vectors.search(
        "Summary_summary_text", query_text="Payloads are thin", limit=1, include_payload=True
    )
    own = set(lab.models.Summary.model_fields) - set(lab.models.DataPoint.model_fields)
    assert hit.payload["text"] == "Payloads are thin"
    assert hit.payload["type"] == "IndexSchema"
    assert not own & set(hit.payload)


@fact
async def test_timestamps_survive_add_search_and_get_node(lab: Lab) -> None:
    written = lab.models.Summary(
        summary_text="Times are kept by the node",
        created_at=LONG_AGO,
        updated_at=LONG_AGO + 1,
        source_created_at="2023-11-14T22:13:20.250Z",
    )
    await lab.add([written])
    (hit,) = await lab.vectors.search("Summary_summary_text", query_text=written.summary_text, limit=1)
    node = await lab.graph.get_node(str(hit.id))
    assert node["created_at"] == LONG_AGO
    assert node["updated_at"] == LONG_AGO + 1
    assert node["source_created_at"] == "2023-11-14T22:13:20.250Z"


@fact
async def test_created_at_in_a_payload_is_when_it_was_indexed_not_the_nodes(lab: Lab) -> None:
    began = time.time() * 1000 - 1
    point = lab.models.Decision(text="Indexed long after it was decided", created_at=LONG_AGO)
    await lab.add([point])
    (row,) = await lab.rows("Decision_text", point)
    assert row["payload"]["created_at"] > began


@fact
async def test_a_datetime_field_comes_back_as_text(lab: Lab) -> None:
    from datetime import UTC, datetime

    class OptionalTimestamp(lab.models.DataPoint):
        created_at: datetime

    point = OptionalTimestamp(created_at=datetime(2025, 1, 1, tzinfo=UTC))
    await lab.add([point])
    node = await lab.node(point)
    assert node is not None
    assert node["created_at"] == "2025-01-01T00:00:00+00:00"


@fact
async def test_a_node_property_cannot_be_filtered_on(lab: Lab) -> None:
    await lab.add([lab.models.Summary(summary_text="Filter me", status="Superseded")])
    with pytest.raises(RuntimeError, match="Cannot find property status"):
        await lab.graph.get_filtered_graph_data([{"status": ["Superseded"]}])


@fact
async def test_a_text_over_510_tokens_is_embedded_in_parts_and_averaged_not_truncated(lab: Lab) -> None:
    import numpy

    text = " ".join(f"word{number} about databases" for number in range(300))
    assert await lab.embeddings.input_limit() == 510
    pooled = numpy.array((await lab.embeddings.embed_text([text]))[0])
    truncated = next(iter(lab.embeddings.embedding_model.embed([text])))
    assert numpy.linalg.norm(truncated) == pytest.approx(1, abs=1e-5)
    assert numpy.linalg.norm(pooled) < 0.999
    assert pooled @ truncated / numpy.linalg.norm(pooled) < 0.99


# --- the same id again -----------------------------------------------------------------------------------


@fact
async def test_the_same_id_written_twice_is_one_node_and_one_vector(lab: Lab) -> None:
    point = lab.models.Decision(text="Written twice")
    before = await lab.graph.get_graph_counts()
    await lab.add([point])
    await lab.add([point])
    nodes, edges = await lab.graph.get_graph_counts()
    assert (nodes, edges) == (before[0] + 1, before[1])
    assert len(await lab.rows("Decision_text", point)) == 1


@fact
async def test_the_same_id_again_replaces_every_property_and_embeds_again(lab: Lab) -> None:
    first = lab.models.Summary(summary_text="Replaced whole", created_at=LONG_AGO, next_steps=["a"])
    await lab.add([first])
    before = len(lab.embedded)
    await lab.add([lab.models.Summary(id=first.id, summary_text="Replaced whole")])
    node = await lab.node(first)
    assert node is not None
    assert node["created_at"] > LONG_AGO
    assert node["next_steps"] == []
    assert lab.embedded[before:] == ["Replaced whole"]


@fact
async def test_the_same_id_again_keeps_the_edges_of_the_earlier_write(lab: Lab) -> None:
    kept, dropped = lab.models.Decision(text="kept"), lab.models.Decision(text="dropped")
    first = lab.models.Summary(summary_text="Edges stay", decided=[kept, dropped])
    await lab.add([first])
    await lab.add([lab.models.Summary(id=first.id, summary_text="Edges stay", decided=[kept])])
    assert ("decided", str(dropped.id)) in await lab.edges(first)


@fact
async def test_identity_fields_give_a_uuid5_that_ignores_case_spaces_and_apostrophes(lab: Lab) -> None:
    topic = lab.models.Topic(name="Don't Panic")
    assert topic.id == uuid5(NAMESPACE_OID, "Topic:dont_panic")
    assert topic.id == lab.models.Topic(name="dont_panic").id
    assert lab.models.Decision(text="x").id != lab.models.Decision(text="x").id


# --- changing --------------------------------------------------------------------------------------------


@fact
async def test_update_node_changes_a_status_without_embedding_and_touches_nothing_else(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="To be superseded", created_at=LONG_AGO, updated_at=LONG_AGO)
    await lab.add([point])
    before, counted = await lab.node(point), len(lab.embedded)
    assert before is not None
    assert await lab.graph.update_node(str(point.id), {"status": "Superseded"})
    assert await lab.node(point) == before | {"status": "Superseded"}
    assert len(lab.embedded) == counted


@fact
async def test_update_node_of_an_unknown_id_is_false(lab: Lab) -> None:
    assert await lab.graph.update_node(str(uuid4()), {"status": "Superseded"}) is False


@fact
async def test_update_node_leaves_the_indexed_text_as_it_was(lab: Lab) -> None:
    point = lab.models.Decision(text="The old wording")
    await lab.add([point])
    await lab.graph.update_node(str(point.id), {"text": "The new wording"})
    (row,) = await lab.rows("Decision_text", point)
    assert row["payload"]["text"] == "The old wording"


@fact
async def test_update_payload_keeps_the_vector_and_refuses_unknown_fields(lab: Lab) -> None:
    point = lab.models.Decision(text="Payload before")
    await lab.add([point])
    (before,), counted = await lab.rows("Decision_text", point), len(lab.embedded)
    await lab.vectors.update_payload("Decision_text", {str(point.id): {"text": "Payload after"}})
    (after,) = await lab.rows("Decision_text", point)
    assert after["payload"]["text"] == "Payload after"
    assert after["vector"] == before["vector"]
    assert len(lab.embedded) == counted
    with pytest.raises(ValueError, match="status"):
        await lab.vectors.update_payload("Decision_text", {str(point.id): {"status": "Superseded"}})


# --- deleting --------------------------------------------------------------------------------------------


@fact
async def test_deleting_a_node_removes_its_edges_and_leaves_its_vectors(lab: Lab) -> None:
    topic = lab.models.Topic(name="Deletion")
    point = lab.models.Summary(summary_text="Half deleted", in_topic=topic)
    await lab.add([point])
    await lab.graph.delete_nodes([str(point.id)])
    assert await lab.node(point) is None
    assert await lab.graph.get_edges(str(topic.id)) == []
    assert len(await lab.rows("Summary_summary_text", point)) == 1


@fact
async def test_deleting_node_and_vectors_leaves_the_edge_text_until_it_is_deleted_by_its_derived_id(
    lab: Lab,
) -> None:
    from cognee.modules.graph.models.EdgeType import EdgeType

    point = lab.models.Summary(summary_text="Persistent edge", in_topic=lab.models.Topic(name="Leftovers"))
    await lab.add([point])
    await lab.graph.delete_nodes([str(point.id)])
    await lab.vectors.delete_data_points("Summary_summary_text", [point.id])
    copied, collection = "Persistent edge in topic Leftovers.", "EdgeType_relationship_name"
    assert await lab.rows("Summary_summary_text", point) == []
    assert copied in await lab.texts(collection)
    await lab.vectors.delete_data_points(collection, [EdgeType.id_for(copied)])
    assert copied not in await lab.texts(collection)


@fact
async def test_deleted_text_is_still_in_the_files_of_both_stores(lab: Lab) -> None:
    point = lab.models.Decision(text="xylophone-quartz-4711")
    await lab.add([point])
    await lab.graph.delete_nodes([str(point.id)])
    await lab.vectors.delete_data_points("Decision_text", [point.id])
    await lab.graph.checkpoint()
    assert await lab.rows("Decision_text", point) == []
    left = await lab.files_holding(point.text)
    assert left >= {"cognee.lancedb", "cognee_graph_ladybug"}


# --- order and locks -------------------------------------------------------------------------------------


@fact
async def test_the_graph_checkpoints_by_itself_unless_its_connection_is_told_not_to(lab: Lab) -> None:
    async def setting() -> object:
        ((found,),) = await lab.graph.query("CALL current_setting('auto_checkpoint') RETURN *")
        return found

    assert await setting() == "True"
    await lab.graph.query("CALL auto_checkpoint = false;")
    assert await setting() == "False"
    await lab.graph.query("CALL auto_checkpoint = true;")


@fact
async def test_a_table_counts_rows_whose_files_are_gone(lab: Lab) -> None:
    class Lost(lab.models.DataPoint):
        text: str
        metadata: dict = {"index_fields": ["text"]}

    await lab.add([Lost(text="soon gone")])
    for path in lab.root.rglob("Lost_text.lance/data/*.lance"):
        path.unlink()
    connection = await lab.vectors.get_connection()
    table = await connection.open_table("Lost_text")
    assert await table.count_rows() == 1
    with pytest.raises(RuntimeError, match="Not found"):
        await table.query().to_list()
    await connection.drop_table("Lost_text")  # else every search over all of them would meet it


@fact
async def test_the_graph_is_written_before_the_vectors_and_writing_again_mends_it(lab: Lab) -> None:
    point = lab.models.Decision(text="Interrupted between the stores")
    lab.embedding_fails = True
    try:
        with pytest.raises(RuntimeError, match="no embeddings today"):
            await lab.add([point])
    finally:
        lab.embedding_fails = False
    assert await lab.node(point) is not None
    assert await lab.rows("Decision_text", point) == []
    await lab.add([point])
    assert len(await lab.rows("Decision_text", point)) == 1


async def open_elsewhere(path: Path, *, read_only: bool) -> str:
    """What a second process says that opens this graph and counts its nodes."""
    script = (
        f"import ladybug; database = ladybug.Database({str(path)!r}, read_only={read_only})\n"
        "print('nodes', ladybug.Connection(database).execute('MATCH (n) RETURN count(*)').get_next()[0])"
    )
    second = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await second.communicate()
    return said.decode()


@fact
async def test_a_second_process_cannot_open_the_graph_to_write(lab: Lab) -> None:
    await lab.add([lab.models.Decision(text="This process holds the graph")])
    assert "Could not set lock on file" in await open_elsewhere(lab.graph_file, read_only=False)


@fact
async def test_a_second_process_can_open_the_graph_read_only_which_cognee_never_does(lab: Lab) -> None:
    await lab.add([lab.models.Decision(text="This process still holds the graph")])
    nodes, _ = await lab.graph.get_graph_counts()
    assert f"nodes {nodes}" in await open_elsewhere(lab.graph_file, read_only=True)


@fact
async def test_the_lock_is_lost_when_its_holder_closes_any_other_descriptor_of_the_file(lab: Lab) -> None:
    import ladybug

    graph = lab.root / "graph"
    with ladybug.Database(str(graph)):
        assert "Could not set lock on file" in await open_elsewhere(graph, read_only=False)
        await asyncio.to_thread(graph.read_bytes)
        assert "nodes 0" in await open_elsewhere(graph, read_only=False)


HOLDER = """
import ladybug, sys
connection = ladybug.Connection(ladybug.Database(sys.argv[1]))
connection.execute("CREATE NODE TABLE Kept(id STRING PRIMARY KEY)")
print("holding", flush=True)
sys.stdin.read()
"""


@fact
async def test_cognee_deletes_the_log_of_a_graph_in_use_if_the_path_has_the_letters_wal(lab: Lab) -> None:
    from cognee.infrastructure.databases.graph.ladybug.adapter import LadybugAdapter

    graph = lab.root / "wallet" / "graph"
    await asyncio.to_thread(graph.parent.mkdir)
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        str(graph),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"holding\n"
        log = graph.with_name("graph.wal")
        assert log.exists()
        # The refusal names the path, and cognee takes any message with "wal" in it for a damaged log.
        with pytest.raises(RuntimeError, match="Could not set lock on file"):
            LadybugAdapter(str(graph))
        assert not log.exists()
    finally:
        await holder.communicate(b"")


# --- cognee.add and cognee.search ------------------------------------------------------------------------


@fact
async def test_cognee_add_refuses_a_datapoint(lab: Lab) -> None:
    from cognee.modules.ingestion.exceptions import IngestionError

    with pytest.raises(IngestionError, match="Data type not supported"):
        await lab.cognee.add(data=[lab.models.Decision(text="not this way")], dataset_name="refused")


@fact
async def test_cognee_add_stores_a_text_as_a_file_without_a_language_model(lab: Lab) -> None:
    counted = len(lab.embedded)
    done = await lab.cognee.add(data=["A plain note, kept as it is"], dataset_name="texts")
    assert done.status == "PipelineRunCompleted"
    stored = await asyncio.to_thread(lambda: [p.read_text() for p in (lab.root / "data").rglob("*.txt")])
    assert "A plain note, kept as it is" in stored
    assert len(lab.embedded) == counted


@fact
async def test_cognee_search_for_chunks_does_not_see_datapoints(lab: Lab) -> None:
    await lab.add([lab.models.Decision(text="Chunks come from documents alone")])
    with pytest.raises(Exception, match="No data found in the system"):
        await lab.cognee.search("documents", query_type=lab.cognee.SearchType.CHUNKS)


@fact
async def test_cognee_search_without_a_model_gives_prose_of_texts_and_edges_not_properties(lab: Lab) -> None:
    topic = lab.models.Topic(name="Vineyards")
    point = lab.models.Summary(summary_text="Grapes ripen in autumn", plan_id="777", in_topic=topic)
    await lab.add([point])
    (context,) = await lab.cognee.search(
        "When do grapes ripen in vineyards?",
        query_type=lab.cognee.SearchType.GRAPH_COMPLETION,
        only_context=True,
    )
    assert isinstance(context, str)
    assert "Grapes ripen in autumn in topic Vineyards." in context
    assert "Active" not in context
    assert "777" not in context
    assert str(point.id) not in context


@fact
async def test_a_node_without_name_or_text_is_nameless_in_the_context_of_a_search(lab: Lab) -> None:
    edge = lab.models.Edge(edge_text="tells of glaciers")
    told = lab.models.Decision(text="Glaciers retreat uphill")
    await lab.add([lab.models.Summary(summary_text="Moraines mark the way", decided=(edge, [told]))])
    (context,) = await lab.cognee.search(
        "tells of glaciers", query_type=lab.cognee.SearchType.GRAPH_COMPLETION, only_context=True
    )
    assert "Glaciers retreat uphill" in context
    assert "Moraines" not in context
    assert "Node: \n__node_content_start__\nNone" in context


@fact
async def test_an_answer_in_prose_needs_a_language_model(lab: Lab) -> None:
    await lab.add([lab.models.Summary(summary_text="Answers cost", in_topic=lab.models.Topic(name="Models"))])
    with pytest.raises(Exception, match="LLM API key is not set"):
        await lab.cognee.search("What costs?", query_type=lab.cognee.SearchType.GRAPH_COMPLETION)


@fact
async def test_cognee_stores_every_query_unless_told_not_to(lab: Lab) -> None:
    from cognee.modules.search.operations import log_query  # noqa: F401 - loads the module below

    history = sys.modules["cognee.modules.search.operations.log_query"]

    async def ask(question: str) -> set[str]:
        await lab.cognee.search(question, query_type=lab.cognee.SearchType.GRAPH_COMPLETION, only_context=True)
        return await lab.files_holding(question)

    await lab.add([lab.models.Summary(summary_text="History", in_topic=lab.models.Topic(name="Queries"))])
    assert await ask("an unrecorded question") == set()
    history._LOG_ENABLED = True  # what COGNEE_LOG_SEARCH_HISTORY defaults to
    try:
        assert await ask("a recorded question") == {"cognee_db"}
    finally:
        history._LOG_ENABLED = False


# --- the surroundings ------------------------------------------------------------------------------------


@fact
async def test_nothing_is_looked_up_or_connected_to_from_import_to_search(lab: Lab) -> None:
    point = lab.models.Summary(summary_text="Offline", in_topic=lab.models.Topic(name="Network"))
    await lab.add([point])
    await lab.vectors.search("Summary_summary_text", query_text="Offline", limit=1)
    await lab.cognee.add(data=["Offline as well"], dataset_name="texts")
    assert lab.lookups == []


@fact
async def test_outside_the_roots_only_empty_folders_of_the_graph_engine_appear(lab: Lab) -> None:
    await lab.add([lab.models.Decision(text="Where are files written?")])

    def written() -> tuple[set[str], list[Path], set[str]]:
        home = lab.root / "home"
        return (
            {path.name for path in home.iterdir()},
            [path for folder in (home, lab.root / "tmp") for path in folder.rglob("*") if path.is_file()],
            {path.name for path in (lab.root / "project").iterdir()},
        )

    assert await asyncio.to_thread(written) == ({".lbdb"}, [], {".env"})
    assert not (lab.root / "system" / "logs").exists()


@fact
async def test_setting_up_prints_to_stdout(lab: Lab) -> None:
    printed = await asyncio.to_thread((lab.root / "stdout.txt").read_text)
    assert "table already exists, skipping creation" in printed


@fact
async def test_a_dotenv_of_the_project_would_override_us_unless_another_file_is_named(lab: Lab) -> None:
    from cognee.shared.env_file import resolve_env_file

    assert "LLM_API_KEY" not in os.environ
    assert os.environ["EMBEDDING_MODEL"] == SETTINGS["EMBEDDING_MODEL"]
    named = os.environ.pop("COGNEE_ENV_FILE")
    try:
        assert resolve_env_file() == str(lab.root / "project" / ".env")
        os.environ["COGNEE_ENV_FILE"] = os.devnull
        with pytest.raises(FileNotFoundError, match="does not name a file"):
            resolve_env_file()
    finally:
        os.environ["COGNEE_ENV_FILE"] = named


# --- the process that holds cognee -----------------------------------------------------------------------


async def serve(root: Path) -> None:
    """Read names of facts, run each, answer with a traceback or null, one JSON line each."""
    answers = os.fdopen(os.dup(1), "w")
    kept = os.open(root / "stdout.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(kept, 1)  # what libraries print must not mix with the answers
    lab = Lab(root)
    await lab.open()
    sys.stdout.flush()
    while name := (await asyncio.to_thread(sys.stdin.readline)).strip():
        failure = None
        try:
            await FACTS[name](lab)
        except (Exception, pytest.fail.Exception) as error:
            shown = traceback.TracebackException.from_exception(error, capture_locals=True, limit=-4)
            failure = "".join(shown.format())
        answers.write(json.dumps(failure) + "\n")
        answers.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
