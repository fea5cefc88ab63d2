"""Jobs that change memories end without cognee, which their child does not even import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from harness import Place

from jobs.kinds import KINDS


def topic(number: int) -> dict[str, Any]:
    return {
        "topic": "Cache",
        "topic_id": "cache",
        "context": f"Talk {number}.",
        "decisions": [f"Keep {number} entries"],
    }


@pytest.mark.skipif(sys.platform != "linux", reason="/proc names what a process has mapped")
def test_what_jobs_store_is_found_and_their_child_has_not_imported_cognee(tmp_path: Path, model_cache: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    talk = place.workspace.root / "talk.md"
    talk.write_text("# Talk\n\n**User:** Which port?\n\n**Assistant:** We decided to use port 8127 for the worker.\n")

    def done(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        record = place.ended(place.submit(kind, payload))
        assert record.state == "succeeded", record.error
        return record.result or {}

    with place.worker().ready():
        first, second = (done("ingest", {"summary": topic(number)}) for number in (1, 2))
        results = [
            first,
            second,
            done("set_status", {"memory_id": first["memory_id"], "status": "Active"}),
            compacted := done("compact", {"topic_id": "cache"}),
            done("restore", {"decision_record_id": compacted["decision_record_id"]}),
            captured := done("capture", {"file": talk.name}),
            done("capture", {"undo": captured["receipt"]}),
        ]
        assert place.json("retrieve", "how many entries are kept")["results"]
        done("forget", {"memory_ids": [first["memory_id"]]})
        child = place.heartbeat()["child"]["pid"]
        mapped = Path(f"/proc/{child}/maps").read_text("utf-8", "replace")
        status = place.json("status")["memory"]
    assert [result["graph"] for result in results] == ["follows"] * len(results)
    assert (status["has_graph"], status["graph_lag"]) == (False, status["memories"])
    assert not any(library in mapped for library in ("ladybug", "lancedb", "litellm"))
    assert not (place.workspace.cognee_system / "databases").exists()


def test_no_operation_but_those_on_the_graph_imports_cognee(tmp_path: Path) -> None:
    modules = ", ".join(f"bridge.operations.{kind.module}" for kind in KINDS)
    done = Place(tmp_path).python("-c", f"import sys, worker.child.main, {modules}; print(*sys.modules)")
    loaded = done.stdout.split()
    assert "bridge.operations.ingest" in loaded, done.stderr
    assert not [name for name in loaded if name.partition(".")[0] in ("cognee", "lancedb", "ladybug", "litellm")]
