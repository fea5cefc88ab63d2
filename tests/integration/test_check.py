"""The job ``check`` and the knowledge graph: what it lacks and what it holds too much is seen, nothing is changed by
looking, and the remedy works.

Each case is a copy of one workspace, in a process that has just imported cognee.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cognee_forks import Fork, Forks, task

from bridge.interface.json_schema import schema_of
from bridge.interface.result_shapes import CheckResult
from jobs.layout import Workspace
from jobs.scrub import without_strings

pytestmark = pytest.mark.cognee

NAMES = [f"0000000{n}-0000-4000-8000-00000000000{n}" for n in range(6)]
RECORD = NAMES[5]
SECRET = "AKIA" + "QYLPMN5HFIQR7XYA"  # in two parts, so that no scanner takes it for one


def memory(n: int, **fields: Any) -> dict[str, Any]:
    said = {"id": NAMES[n], "topic_id": f"topic-{n}", "topic": f"Topic {n}", "decisions": [f"Use {n}"], **fields}
    return {**said, "context": f"quokka{n} swims in lake {n}. {fields.get('context', '')}"}


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    forks = Forks(tmp_path_factory.mktemp("check"))
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def whole(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with forks.start() as fork:
        fork.ask("keep", [memory(n, session_id="s1", plan_id="041") for n in range(5)])
        fork.ask("keep", [memory(5, sources=NAMES[:2])])
    copy = tmp_path_factory.mktemp("whole") / "copy"
    shutil.copytree(forks.place.workspace.root, copy)
    return copy


@pytest.fixture
def workspace(forks: Forks, whole: Path) -> Workspace:
    root = forks.place.workspace.root
    shutil.rmtree(root)
    shutil.copytree(whole, root)
    return forks.place.workspace


def findings(fork: Fork, *but: str) -> dict[str, dict[str, Any]]:
    """What the job finds, by code; the model's files are not on every machine that runs the tests."""
    (outcome,) = fork.run("check", task("check", "check", {}))
    result = outcome["result"]
    jsonschema.validate(result, schema_of(CheckResult))
    jsonschema.validate(without_strings(result), schema_of(CheckResult))
    assert "quokka" not in json.dumps(result), "no text of a memory is told"
    return {each["code"]: each for each in result["findings"] if each["group"] != "model" and each["code"] not in but}


def sql(workspace: Workspace, *statements: str) -> None:
    with closing(sqlite3.connect(workspace.memory_db, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def dump(workspace: Workspace) -> list[str]:
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        return list(connection.iterdump())


def zero_a_table(workspace: Workspace) -> None:
    (table,) = workspace.cognee_system.rglob("ConversationSummary_summary_text.lance")
    for path in table.rglob("*.lance"):
        if path.is_file():
            path.write_bytes(b"\0" * path.stat().st_size)


def spoil_the_graph(workspace: Workspace) -> None:
    (path,) = workspace.cognee_system.rglob("cognee_graph_ladybug")
    path.write_bytes(b"\xa5" * 40_000)


def test_what_is_whole_is_found_well_and_is_as_it_was(forks: Forks, workspace: Workspace) -> None:
    with forks.start() as fork:
        graph = fork.ask("graph")
    before = dump(workspace)
    with forks.start() as fork:
        assert findings(fork) == {}
        assert dump(workspace) == before
        assert not workspace.quarantine.exists()
        assert fork.ask("graph") == graph
        assert findings(fork) == {}, "with the graph open as well"


def lose_a_node(fork: Fork) -> None:
    fork.ask("query", "MATCH (n:Node) WHERE n.id = $id DETACH DELETE n", {"id": NAMES[2]})


def lose_an_edge(fork: Fork) -> None:
    query = "MATCH (n:Node)-[e:EDGE]->(m:Node) WHERE n.id = $id AND e.relationship_name = 'supersedes' DELETE e"
    fork.ask("query", query, {"id": RECORD})


def change_a_status(fork: Fork) -> None:
    query = "MATCH (n:Node) WHERE n.id = $id SET n.properties = $text"
    fork.ask("query", query, {"id": NAMES[1], "text": '{"status": "Draft"}'})


OF_THE_GRAPH = {"a node": (lose_a_node, NAMES[2]), "an edge": (lose_an_edge, RECORD),
                "a status": (change_a_status, NAMES[1])}  # fmt: skip


def test_what_the_graph_lacks_is_seen_and_the_remedy_works(forks: Forks, workspace: Workspace) -> None:
    with forks.start() as fork:
        for harm, memory_id in OF_THE_GRAPH.values():
            harm(fork)
            found = findings(fork)
            assert set(found) == {"GRAPH_LACKS"}
            assert memory_id in found["GRAPH_LACKS"]["memory_ids"]
        fork.run("rebuild", task("rebuild", "rebuild", {"what": "graph"}))
        assert findings(fork) == {}


@pytest.mark.parametrize("harm", [zero_a_table, spoil_the_graph])
def test_a_graph_that_cannot_be_read_is_seen_left_alone_and_the_remedy_works(
    forks: Forks, workspace: Workspace, harm: Callable[[Workspace], None]
) -> None:
    harm(workspace)
    with forks.start() as fork:
        assert "GRAPH_DAMAGED" in findings(fork)
        assert not workspace.quarantine.exists()
        fork.run("rebuild", task("rebuild", "rebuild", {"what": "graph"}))
        assert findings(fork) == {}


def holding(workspace: Workspace, word: str) -> list[Path]:
    found = [path for folder in workspace.own_folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in found if word.encode() in path.read_bytes()]


def test_what_is_left_of_a_forgotten_memory_is_seen_and_the_remedies_leave_no_byte_of_it(
    forks: Forks, workspace: Workspace
) -> None:
    with forks.start() as fork:
        fork.ask("forgo", NAMES[4])
        found = findings(fork)
        assert set(found) == {"GRAPH_HOLDS_MORE"}
        assert found["GRAPH_HOLDS_MORE"]["memory_ids"] == []
    sql(workspace, f"INSERT INTO tombstones VALUES ('{NAMES[4]}', '2026-11-01T10:00:00Z')")
    with forks.start() as fork:
        found = findings(fork)
        assert found["GRAPH_HOLDS_FORGOTTEN"]["memory_ids"] == [NAMES[4]]
        assert holding(workspace, "quokka4")
        fork.run("rebuild", task("rebuild", "rebuild", {"what": "graph"}))
        assert findings(fork) == {}
        (outcome,) = fork.run("forget", task("forget", "forget", {"memory_ids": [NAMES[4]]}))
        assert "result" in outcome, outcome
        assert findings(fork) == {}
    assert holding(workspace, "quokka4") == []


def test_a_secret_in_a_memory_is_seen_and_not_told(forks: Forks, workspace: Workspace) -> None:
    extra = "00000009-0000-4000-8000-000000000009"
    with forks.start() as fork:
        fork.ask("keep", [{**memory(1), "id": extra, "context": f"the key is {SECRET} for the bucket"}])
        found = findings(fork)
        assert set(found) == {"SECRETS_STORED"}
        assert found["SECRETS_STORED"]["memory_ids"] == [extra]
        assert SECRET not in json.dumps(found)
