"""A workspace whose folders are removed, replaced or moved while its worker runs: no success is untrue, no answer is
empty by mistake, and no folder of another origin becomes this user's."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import Place, RealWorker, is_running, until

from bridge import trust
from jobs.layout import Workspace
from jobs.lock import is_held


def text(words: str, topic_id: str) -> dict[str, Any]:
    return {"summary_text": words, "topic_id": topic_id}


def found(place: Place, query: str) -> list[str]:
    answer = place.json("retrieve", query)
    assert answer["success"], answer
    return [hit["summary_text"] for hit in answer["results"]]


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "T"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, RealWorker]]:
    """A worker that has stored a memory, which the graph has too."""
    place = Place(tmp_path_factory.mktemp("idle"))
    with place.worker() as worker:
        assert place.ended(place.submit("ingest", text("The alpha fact is old.", "alpha"))).state == "succeeded"
        assert place.ended(place.submit("ask", {"question": "Which fact is old?"})).state == "succeeded"
        yield place, worker


def test_after_the_memory_is_removed_under_an_idle_worker_a_success_lasts(running: tuple[Place, RealWorker]) -> None:
    place, worker = running
    children = worker.children()
    shutil.rmtree(place.workspace.memory)
    reported = place.json("doctor")
    assert "GRAPH_ORPHANED" in {each["code"] for each in reported["findings"]}
    assert "OLD_STORES" not in {each["code"] for each in reported["findings"]}
    assert place.ended(place.submit("ingest", text("The beta fact is new.", "beta"))).state == "succeeded"
    assert worker.children() == children, "the same process opened the stores again"
    (hit,) = found(place, "beta fact")
    assert "beta" in hit
    assert [each["topic_id"] for each in place.json("memories", "list")["memories"]] == ["beta"]
    assert trust.require_trusted(place.workspace, place.config).owner is not None
    asked = place.ended(place.submit("ask", {"question": "Which fact is old?"}))
    assert asked.state == "succeeded"
    assert "alpha" not in json.dumps(asked.result), "the graph of the removed memory.db answers no more"
    assert not {"OLD_STORES", "GRAPH_ORPHANED"} & {each["code"] for each in place.json("doctor")["findings"]}


def test_a_worker_adopts_no_memory_from_elsewhere(running: tuple[Place, RealWorker], tmp_path: Path) -> None:
    """As by a checkout of a repository that has one."""
    place, _ = running
    before = place.json("memories", "list")["total"]
    memory = place.workspace.memory
    memory.rename(tmp_path / "own")
    memory.mkdir()
    (memory / "memory.db").write_bytes((tmp_path / "own" / "memory.db").read_bytes())
    waiting = place.submit("ingest", text("The gamma fact.", "gamma"))
    record = place.in_state(waiting, "retrying")
    assert record.error is not None
    assert record.error["code"] == "WORKSPACE_NOT_TRUSTED"
    assert sorted(path.name for path in memory.iterdir()) == ["memory.db"], "nothing was written into it"
    shutil.rmtree(memory)
    (tmp_path / "own").rename(memory)
    assert place.ended(waiting).state == "succeeded"
    assert "The gamma fact." in found(place, "gamma fact")[0]
    assert place.json("memories", "list")["total"] == before + 1


def test_after_the_graph_is_removed_under_a_worker_the_next_job_writes_it(running: tuple[Place, RealWorker]) -> None:
    place, _ = running
    assert place.ended(place.submit("ingest", text("The delta fact is new.", "delta"))).state == "succeeded"
    assert place.ended(place.submit("ask", {"question": "Which fact is new?"})).state == "succeeded"
    shutil.rmtree(place.workspace.cognee_system)
    shutil.rmtree(place.workspace.cognee_data)
    assert place.ended(place.submit("ingest", text("The eta fact.", "eta"))).state == "succeeded"
    asked = place.ended(place.submit("ask", {"question": "Which fact is new?"}))
    assert "delta fact" in json.dumps(asked.result), "the memories from before are in it too"
    assert place.cli("status").returncode == 0


def test_a_job_during_which_the_memory_is_removed_runs_again(tmp_path: Path) -> None:
    """Its child is stopped right after the commit, which goes into a file without a name."""
    place = Place(tmp_path, COGNEE_MEMORY_FAULT="hang@after:memory.commit")
    with place.worker() as worker:
        job_id = place.submit("ingest", text("The delta fact.", "delta"))
        place.in_state(job_id, "running")
        (child,) = until(worker.children, "the child is there")
        until(lambda: is_stopped(child), "the change is committed")
        shutil.rmtree(place.workspace.memory)
        os.kill(child, signal.SIGCONT)
        record = place.ended(job_id)
        assert record.state == "succeeded"
        first, last = record.attempts[0], record.attempts[-1]
        assert (first.outcome, first.error_code, last.outcome) == ("waiting", "STORE_REPLACED", "succeeded")
        assert len(found(place, "delta fact")) == 1
        assert place.cli("status").returncode == 0


def test_a_workspace_that_is_moved_under_its_worker_answers_from_its_new_path(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with place.worker() as worker:
        assert place.ended(place.submit("ingest", text("The epsilon fact.", "epsilon"))).state == "succeeded"
        assert len(found(place, "epsilon fact")) == 1  # it starts the server
        until(lambda: place.heartbeat()["http"]["serving"], "the server has loaded the model")
        os.kill(worker.process.pid, signal.SIGSTOP)  # so that it cannot end before it is asked
        former = place.workspace.root
        place.workspace = Workspace(tmp_path / "moved")
        former.rename(place.workspace.root)
        answer = place.asked("POST", "/v1/retrieve", {"query": "epsilon fact"})
        assert (answer.status_code, answer.json()["error_code"]) == (503, "WORKSPACE_MOVED")
        assert len(found(place, "epsilon fact")) == 1
        os.kill(worker.process.pid, signal.SIGCONT)
        done = place.cli("ingest", "--summary", "The zeta fact.", "--topic-id", "zeta", "--wait")
        assert done.returncode == 0, done.stderr
        until(lambda: not is_running(worker.process.pid) or worker.process.poll() is not None, "the former one ended")
        assert not former.exists(), "the former folder was not made again"
        assert len(found(place, "zeta fact")) == 2
        assert place.cli("worker", "stop").returncode == 0
        until(lambda: not is_held(place.spool.lock), "the new one ended")
