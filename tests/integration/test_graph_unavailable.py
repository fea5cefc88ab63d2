"""cognee broken: memories are stored and found, what needs the graph waits with a clear error, and all is made good by
itself.

One workspace goes through it all, in the order of the tests: each start of cognee costs seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import ladybug
import pytest
from cognee_process import CogneeProcess
from harness import PROJECT, Place, RealWorker, until

from jobs.model import Record

pytestmark = pytest.mark.cognee


@dataclass
class Story:
    """The workspace, its worker, and the memories that were stored so far."""

    place: Place
    worker: RealWorker
    memory_ids: list[str] = field(default_factory=list)

    @property
    def graph_file(self) -> Path:
        return self.place.workspace.cognee_system / "databases" / "cognee_graph_ladybug"

    def ingest(self, topic: str) -> None:
        summary = {"topic": topic, "context": f"All about {topic}."}
        record = self.place.ended(self.place.submit("ingest", {"summary": summary}), 90)
        assert record.state == "succeeded", (record, self.place.log_end())
        assert record.result is not None
        self.memory_ids.append(record.result["memory_id"])

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
    assert record.error is None
    assert story.lag() == 0


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
    story.succeeded(job_id)


@pytest.fixture(scope="module")
def afterwards(story: Story) -> Iterator[CogneeProcess]:
    """cognee over the same workspace, once the worker has left it."""
    assert story.worker.stop() == 0
    story.worker.__exit__()
    graph = CogneeProcess(story.place)
    yield graph
    graph.close()


def test_at_the_end_every_memory_is_in_the_graph(story: Story, afterwards: CogneeProcess) -> None:
    topics = []
    for memory_id in story.memory_ids:
        node = afterwards.node(memory_id)
        assert node is not None, memory_id
        topics.append(node["topic"])
        assert [name for name, _ in afterwards.neighbours(memory_id)] == ["about"]
    assert topics == ["Broken folders", "Held by another"]


def test_a_rebuild_in_a_process_that_has_the_graph_open_gives_the_same_graph(
    story: Story, afterwards: CogneeProcess
) -> None:
    def picture() -> tuple[object, ...]:
        nodes = [afterwards.node(memory_id) for memory_id in story.memory_ids]
        return nodes, afterwards.counts(), afterwards.search("folders", "Topic_name")

    before = picture()
    for _ in range(2):
        (outcome,) = afterwards.run("rebuild", afterwards.task("rebuild", {"what": "both"}))
        assert "result" in outcome, outcome
        assert (outcome["result"]["memories"], outcome["result"]["graph_memories"]) == (2, 2)
        assert picture() == before
    assert afterwards.ingest({"summary_text": "A loose line after the rebuild"})["memory_number"] == 3
    assert afterwards.lag() == 0
