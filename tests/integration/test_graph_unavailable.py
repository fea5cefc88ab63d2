"""cognee broken: memories are stored and found, what needs the graph waits with a clear error, and all is made good by
itself.

One workspace goes through it all, in the order of the tests: each start of cognee costs seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ladybug
import pytest
from harness import PROJECT, Place, RealWorker, until

from jobs.model import Record

pytestmark = pytest.mark.cognee


@dataclass
class Story:
    """The workspace and its worker."""

    place: Place
    worker: RealWorker

    @property
    def graph_file(self) -> Path:
        return self.place.workspace.cognee_system / "databases" / "cognee_graph_ladybug"

    def ingest(self, topic: str) -> None:
        summary = {"topic": topic, "context": f"All about {topic}."}
        record = self.place.ended(self.place.submit("ingest", {"summary": summary}), 90)
        assert record.state == "succeeded", (record, self.place.log_end())

    def ask(self) -> str:
        return self.place.submit("ask", {"question": "What is it all about?"})

    def waiting(self, job_id: str, repeats: int = 1) -> Record:
        """The record once the job has waited so often for the graph, and waits again."""

        def look() -> Record | None:
            record = self.place.record(job_id)
            assert record is None or not record.ended, record
            if record is None or record.state != "retrying" or record.attempts[-1].repeats < repeats:
                return None
            return record

        return until(look, f"{job_id} waits")

    def succeeded(self, job_id: str) -> Record:
        record = self.place.ended(job_id, 90)
        assert record.state == "succeeded", (record, self.place.log_end())
        return record

    def found(self, question: str) -> list[str]:
        done = self.place.python(str(PROJECT / "bridge" / "retrieve.py"), str(self.place.workspace.root), question)
        return [hit["topic"] for hit in json.loads(done.stdout)["results"]]

    def lag(self) -> int:
        lag: int = self.place.json("status")["memory"]["graph_lag"]
        return lag

    def restart(self) -> None:
        self.worker = self.place.worker().ready()


@pytest.fixture(scope="module")
def story(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    place = Place(tmp_path_factory.mktemp("broken"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    story = Story(place, place.worker().ready())
    yield story
    story.worker.__exit__()


def test_while_the_graph_cannot_be_used_a_memory_is_stored_and_who_asks_the_graph_waits_uncounted(story: Story) -> None:
    folder = story.graph_file.parent
    folder.mkdir(parents=True, exist_ok=True)
    folder.rmdir()
    folder.write_text("in the way of the folder")
    story.ingest("Broken folders")
    job_id = story.ask()
    record = story.waiting(job_id)
    assert record.error is not None
    assert (record.error["code"], record.error["retryable"]) == ("GRAPH_UNAVAILABLE", True)
    assert "stored and retrievable" in record.error["remediation"]
    assert (record.attempts[-1].outcome, record.errors, record.crashes) == ("waiting", 0, 0)
    assert story.found("broken folders") == ["Broken folders"]
    assert story.lag() == 1

    folder.unlink()
    record = story.succeeded(job_id)
    assert (record.error, "Broken folders" in str(record.result), story.lag()) == (None, True, 0)


def test_a_graph_that_somebody_else_holds_is_waited_for_and_not_touched(story: Story) -> None:
    assert story.worker.stop() == 0
    story.worker.__exit__()

    before = story.graph_file.read_bytes()
    holder = ladybug.Database(str(story.graph_file))
    connection = ladybug.Connection(holder)
    try:
        story.restart()
        story.ingest("Held by another")
        job_id = story.ask()
        record = story.waiting(job_id)
        assert record.error is not None
        assert record.error["code"] == "GRAPH_UNAVAILABLE"
        assert set(story.found("held by another")) >= {"Held by another"}
        assert story.graph_file.read_bytes()[:4096] == before[:4096]
        assert not list(story.place.workspace.quarantine.glob("graph-2*"))
    finally:
        connection.close()
        holder.close()
    assert "Held by another" in str(story.succeeded(job_id).result)
    assert story.lag() == 0, "every memory is in the graph"
