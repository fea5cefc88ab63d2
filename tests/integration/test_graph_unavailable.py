"""cognee broken: memories are stored and found, what needs the graph waits with a clear error, and all is made good by
itself. What a child does then with the graph's files: ``test_graph``."""

import json
from pathlib import Path

import pytest
from harness import PROJECT, Place

from jobs.model import Record

pytestmark = pytest.mark.cognee


def test_without_the_graph_a_memory_is_stored_and_its_askers_wait_uncounted(model_cache: Path, tmp_path: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache))

    def succeeded(job_id: str) -> Record:
        record = place.ended(job_id, 90)
        assert record.state == "succeeded", (record, place.log_end())
        return record

    def lag() -> int:
        found: int = place.json("status")["memory"]["graph_lag"]
        return found

    folder = place.workspace.cognee_system / "databases"
    with place.worker():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.write_text("in the way of the folder")
        summary = {"topic": "Broken folders", "context": "All about broken folders."}
        succeeded(place.submit("ingest", {"summary": summary}))
        job_id = place.submit("ask", {"question": "What is it all about?"})
        record = place.in_state(job_id, "retrying")
        assert record.error is not None
        assert (record.error["code"], record.error["retryable"]) == ("GRAPH_UNAVAILABLE", True)
        assert "stored and retrievable" in record.error["remediation"]
        assert (record.attempts[-1].outcome, record.errors, record.crashes) == ("waiting", 0, 0)
        done = place.python(str(PROJECT / "bridge" / "retrieve.py"), str(place.workspace.root), "broken folders")
        assert [hit["topic"] for hit in json.loads(done.stdout)["results"]] == ["Broken folders"]
        assert lag() == 1

        folder.unlink()
        record = succeeded(job_id)
        assert (record.error, "Broken folders" in str(record.result), lag()) == (None, True, 0)
