"""Migration with an old version's stores where ours belong; with the present one's: ``test_cognee_datapoint_api``."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from harness import Place
from old_workspace import BROKEN, PLAIN, OldWorkspace
from pydantic import TypeAdapter

from bridge.graph import earlier_stores
from bridge.interface.result_shapes import MigrateResult

RESULT: TypeAdapter[Any] = TypeAdapter(MigrateResult)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """An old version's workspace, with stores of its engines, and a worker of ours."""
    place = Place(tmp_path_factory.mktemp("old"), adopted=False)
    old = OldWorkspace(place.workspace.root, "0.4.1")
    old.add(BROKEN)
    (old.store.parent / "cognee_graph_kuzu").write_bytes(b"of another engine")
    table = old.store.parent / "cognee.lancedb" / "DocumentChunk_text.lance"
    table.mkdir(parents=True)
    (table / "data").write_bytes(b"of another model")
    assert place.json("migrate", "--dry-run")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    assert place.json("trust")["success"]
    with place.worker():
        yield place


def script(place: Place, *arguments: str) -> tuple[dict[str, Any], str]:
    done = place.python("-m", "bridge.migrate_summaries", "--workspace-path", str(place.workspace.root), *arguments)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["success"] else 1)
    return found, done.stderr


def titles(place: Place) -> list[str]:
    return [memory["title"] for memory in place.json("memories", "list")["memories"]]


def test_an_old_workspace_is_shown_migrated_found_and_taken_back(place: Place) -> None:
    shown, said = script(place, "--dry-run")
    assert "Migrated 3 summaries. Dry run: Y." in said
    assert (shown["result"]["found"], shown["result"]["failed"], shown["result"]["skipped"]) == (4, 1, 1)
    assert titles(place) == []
    assert not place.workspace.receipts.exists()

    done, said = script(place)
    assert "Migrated 3 summaries. Dry run: N." in said
    result = RESULT.validate_python(done["result"])
    assert (result["migrated"], result["failed"], result["receipt"]) == (3, 1, done["job_id"])
    assert sorted(titles(place)) == [
        "Plan 014 Summaries", "Ranking weights", "User asked: Which port does the worker use?",
    ]  # fmt: skip

    hit = place.json("retrieve", "What did we decide about plain text summaries?", "--half-life-days", "90")
    hit = hit["results"][0]
    assert (hit["topic_id"], hit["plan_id"], hit["status"]) == ("plan-014-summaries", "014", "Active")
    hit = place.json("retrieve", "which port does the worker use", "--relevance-floor", "0")["results"]
    assert "8127" in " ".join(each["summary_text"] for each in hit)
    (plain,) = [item for item in result["items"] if item["topic_id"] == "plan-014-summaries"]
    original = place.json("memories", "show", plain["memory_id"])["memory"]["migrated_from"]
    assert place.json("memories", "show", original)["memory"]["summary_text"] == PLAIN
    assert "became" in place.cli("memories", "show", original).stdout

    # As when the present cognee opens stores of its own: what lay there can still be read.
    assert earlier_stores.archive(place.workspace) is not None
    (kept,) = place.workspace.earlier_stores.iterdir()
    assert (kept / "cognee_graph_kuzu").read_bytes() == b"of another engine"
    assert (kept / "cognee.lancedb" / "DocumentChunk_text.lance" / "data").exists()
    again, said = script(place)
    assert "Migrated 0 summaries. Dry run: N." in said
    assert (again["result"]["already_migrated"], again["result"]["failed"]) == (3, 1)
    assert again["result"]["items"][0]["source"]["store"].startswith(".cognee_memory/earlier/")

    undone = place.json("migrate", "--undo", done["job_id"])
    assert undone["result"] == {"receipt": done["job_id"], "undone": 3, "kept": [], "graph": "follows"}
    assert titles(place) == []
    assert "3 migrated, 1 failed" in place.cli("migrate").stdout
    assert len(titles(place)) == 3
