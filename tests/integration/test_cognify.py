"""cognify and ask through the real cognee and its real client, with a language model that follows a script."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cognee_process import CogneeProcess
from harness import Place, until
from llm_server import Good, Hang, LlmServer, Request, Status, Step

from bridge.store import values
from jobs import clock

pytestmark = pytest.mark.cognee

ATLAS = "Alice said that Postgres replaces Mysql in Atlas."
BOREAS = "Bob said that Redis helps Boreas, and Postgres too."


@pytest.fixture(autouse=True)
def _as_new(model: LlmServer) -> None:
    model.reset()


@pytest.fixture(scope="module")
def process(model: LlmServer, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CogneeProcess]:
    place = Place(tmp_path_factory.mktemp("cognify"), COGNEE_MEMORY_CACHE_DIR=str(model_cache), **model.environment())
    found = CogneeProcess(place)
    yield found
    found.close()


@pytest.fixture(scope="module")
def looked_into(process: CogneeProcess) -> list[str]:
    """Two texts that cognee has looked into: ids of their memories."""
    (outcome,) = process.run("cognify", process.task("cognify", {"texts": [ATLAS, BOREAS]}))
    assert "result" in outcome, outcome
    assert outcome["result"]["looked_into"] == 2
    return [memory["memory_id"] for memory in outcome["result"]["memories"]]


def one(process: CogneeProcess, kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    (outcome,) = process.run(kind, process.task(kind, payload, **fields))
    return outcome


def rows(process: CogneeProcess) -> dict[str, str]:
    """Every row of cognee's own database, by table."""
    path = process.place.workspace.cognee_system / "databases" / "cognee_db"
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: repr(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables}


def entities(process: CogneeProcess) -> set[str]:
    """The names of the things that cognee's own search finds."""
    found = [process.node(node_id) for node_id in process.search("anything", "Entity_name", 100)]
    return {node["name"] for node in found if node is not None}


def test_a_text_becomes_nodes_and_edges_of_the_graph(
    process: CogneeProcess, model: LlmServer, looked_into: list[str]
) -> None:
    assert {"alice", "postgres", "mysql", "atlas", "bob", "redis", "boreas"} <= entities(process)
    ((name, document),) = process.neighbours(looked_into[0])
    assert (name, document["id"]) == ("read_as", values.data_id_of(looked_into[0]))
    assert document["type"] == "TextDocument"
    (chunk,) = [node for name, node in process.neighbours(document["id"]) if name == "is_part_of"]
    assert chunk["text"] == ATLAS
    contained = {node["name"]: node["id"] for name, node in process.neighbours(chunk["id"]) if name == "contains"}
    assert contained.keys() == {"alice", "postgres", "mysql", "atlas"}
    beside = {node["name"] for name, node in process.neighbours(contained["postgres"]) if name == "named_with"}
    assert {"alice", "mysql"} <= beside


def test_the_model_is_given_the_memorys_text_and_nothing_else_of_the_workspace(
    process: CogneeProcess, model: LlmServer
) -> None:
    process.ingest({"summary": {"topic": "Elsewhere", "context": "Nobody asked about Zephyr."}})
    text = "Carol likes Kafka."
    (memory,) = one(process, "cognify", {"texts": [text]})["result"]["memories"]
    assert [request.user.strip() for request in model.requests] == [text] * 2
    assert {request.wants for request in model.requests} == {"KnowledgeGraph", "SummarizedContent"}
    assert {request.headers["authorization"] for request in model.requests} == {"Bearer test-key"}
    assert all("Zephyr" not in json.dumps(request.body) for request in model.requests)
    assert one(process, "cognify", {"texts": [text]})["result"]["before"] == 1
    assert rows(process)["acls"] == "[]"  # else all datasets would be loaded for each further text and question
    assert len(model.requests) == 2
    assert memory["nodes"] > 3


def test_findings_come_back_after_a_rebuild_while_the_model_is_gone(
    process: CogneeProcess, model: LlmServer, looked_into: list[str]
) -> None:
    def graph() -> Any:
        document = values.data_id_of(looked_into[0])
        (chunk,) = [node for name, node in process.neighbours(document) if name == "is_part_of"]
        around = sorted((name, node["id"], node.get("name", "")) for name, node in process.neighbours(chunk["id"]))
        texts = process.search("Postgres replaces Mysql", "EdgeType_relationship_name", 5)
        return process.counts(), entities(process), chunk["text"], around, sorted(texts.items())

    before = graph()
    model.otherwise = Status(500)
    assert "result" in one(process, "rebuild", {"what": "graph"})
    assert graph() == before
    assert model.requests == []


def test_an_answer_rests_on_memories_with_a_model_and_where_it_fails(
    process: CogneeProcess, model: LlmServer, looked_into: list[str]
) -> None:
    answers: list[Step] = [Good("Postgres."), Status(429, retry_after=9)]
    model.then(*answers)
    said = one(process, "ask", {"question": "What replaces Mysql in Atlas?"})["result"]
    assert (said["answer"], said["llm"]) == ("Postgres.", True)
    assert said["memories"][0] == {
        "memory_id": looked_into[0], "memory_number": 1, "memory_type": "legacy", "title": ATLAS, "status": None,
    }  # fmt: skip
    (request,) = model.requests
    assert said["context"] in request.user
    failed = one(process, "ask", {"question": "What replaces Mysql in Atlas?"})["result"]
    assert (failed["answer"], failed["llm"]) == (None, False)
    assert "RATE_LIMITED" in failed["warnings"][0]
    assert (failed["context"], failed["memories"]) == (said["context"], said["memories"])
    assert len(model.requests) == 2


def test_a_provider_that_refuses_ends_the_attempt_and_nothing_is_asked_again(
    process: CogneeProcess, model: LlmServer
) -> None:
    for status, code, retryable in ((429, "RATE_LIMITED", True), (401, "LLM_KEY_REFUSED", False)):
        model.reset()
        model.otherwise = Status(status, retry_after=7 if status == 429 else None)
        error = one(process, "cognify", {"texts": ["Dora wants Elixir.", "Emil wants Fortran."]})["error"]
        assert (error["code"], error["details"]["done"], error["details"]["total"]) == (code, 0, 2)
        assert error["details"].get("retry_after_seconds") == (7 if retryable else None)
        assert len(model.requests) <= 2
    model.reset()
    result = one(process, "cognify", {"texts": ["Dora wants Elixir.", "Emil wants Fortran."]})["result"]
    assert (result["looked_into"], len(model.requests)) == (2, 4)


def test_what_is_forgotten_leaves_the_graph_and_cognees_files_and_rows_and_the_shared_stays(
    process: CogneeProcess, model: LlmServer, looked_into: list[str]
) -> None:
    text = "Gudrun said that Postgres beats Haskell in Ithaca."
    (memory,) = one(process, "cognify", {"texts": [text]})["result"]["memories"]
    raw = {path.name for path in process.place.workspace.cognee_data.iterdir()}
    assert {"gudrun", "haskell", "ithaca", "postgres"} <= entities(process)
    assert "Gudrun" in str(rows(process))
    for _ in range(2):
        process.forget_extractions([memory["memory_id"]])
        assert entities(process) & {"gudrun", "haskell", "ithaca", "postgres"} == {"postgres"}
        assert process.neighbours(memory["memory_id"]) == []
        assert [table for table, content in rows(process).items() if "udrun" in content] == []
        for collection in ("DocumentChunk_text", "TextSummary_text", "EdgeType_relationship_name"):
            assert min(process.search("Gudrun said that Postgres beats Haskell.", collection, 1).values()) > 0.2
        (gone,) = raw - {path.name for path in process.place.workspace.cognee_data.iterdir()}
        assert gone.endswith(".txt")
    assert one(process, "ask", {"question": "Who replaces Mysql?"})["result"]["memories"][0]["memory_number"] == 1


def test_without_a_language_model_the_context_is_given_alone(graph: CogneeProcess) -> None:
    memory = graph.ingest(
        {"summary": {"topic": "Lighthouse keepers", "context": "They keep owls.", "decisions": ["Owls stay."]}}
    )
    said = one(graph, "ask", {"question": "What about the lighthouse keepers and their owls?"})["result"]
    assert (said["answer"], said["llm"]) == (None, False)
    assert "Lighthouse keepers" in said["context"]
    assert memory["memory_id"] in [found["memory_id"] for found in said["memories"]]
    error = one(graph, "cognify", {"texts": ["A raw text about lighthouses."]})["error"]
    assert error["code"] == "LLM_NOT_CONFIGURED"
    assert len(error["details"]["memory_ids"]) == 1


@pytest.mark.timeout(600)
def test_a_kill_a_pause_and_a_spent_budget_lose_nothing_and_pay_for_nothing_twice(
    model: LlmServer, model_cache: Path, tmp_path: Path
) -> None:
    place = Place(
        tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache), COGNEE_MEMORY_LLM_CALLS_PER_JOB="8", **model.environment()
    )

    def asked(text: str) -> int:
        return sum(text in request.user for request in model.requests)

    def script(request: Request) -> Step:
        return Hang() if BOREAS in request.user and asked(BOREAS) <= 2 else Good()

    model.otherwise = script
    with place.worker():
        job = place.submit("cognify", {"texts": [ATLAS, BOREAS]})
        until(lambda: asked(BOREAS) >= 2, "the second text is looked into", seconds=300)

        # Others are let in while the model takes its time.
        ingested = place.ended(place.submit("ingest", {"summary": {"topic": "Between", "context": "Short work."}}))
        assert ingested.state == "succeeded"
        record = place.record(job)
        assert record is not None
        assert record.state == "running"

        os.kill(place.heartbeat()["child"]["pid"], signal.SIGKILL)
        model.release()
        record = place.ended(job, seconds=300)
        assert (record.state, record.crashes) == ("succeeded", 1)
        assert record.result is not None
        assert record.result["looked_into"] == 2
        assert (asked(ATLAS), asked(BOREAS)) == (2, 4)
        assert record.result["calls"] == 6  # with the two that the kill cut off

        model.reset()
        model.then(Status(429, retry_after=3), Status(429, retry_after=3))
        job = place.submit("cognify", {"texts": ["Carol likes Kafka."]}, max_attempts=1)
        record = place.in_state(job, "retrying")
        assert record.error is not None
        assert (record.error["code"], record.errors) == ("RATE_LIMITED", 0)
        assert record.next_attempt_at is not None
        ended_at = record.attempts[-1].finished_at
        assert ended_at is not None
        assert (clock.parse(record.next_attempt_at) - clock.parse(ended_at)).total_seconds() >= 2.9
        assert place.ended(job).state == "succeeded"

        model.reset()
        job = place.submit("cognify", {"texts": ["Dora wants Elixir.", " ".join(["Emil wants Fortran."] * 700)]})
        record = place.in_state(job, "retrying")
        assert record.error is not None
        assert record.error["code"] == "LLM_BUDGET_SPENT"
        assert "COGNEE_MEMORY_LLM_CALLS_PER_JOB" in record.error["message"]
        assert "looked into 1 of them, and that stays" in record.error["message"]
        assert asked("Fortran") == 0
    assert ATLAS not in place.log()
    assert "Fortran" not in place.log()
