"""``cognee-memory doctor`` beside real processes: a worker that lives, one that was killed, jobs that wait for one."""

import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_graph import WithFakeGraph
from harness import Place, until

from bridge.memory import Content, Memory, Metadata
from jobs.lock import is_held

NOW = "2026-11-20T12:00:00Z"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """With a memory that was embedded by another model than the one that is configured."""
    place = Place(tmp_path_factory.mktemp("doctor"))
    with WithFakeGraph(place.workspace) as stores:
        content = Content("Geese", "They fly.", decisions=("Use geese",))
        stores.store.add([(Memory("m" * 8, 0, "summary", Metadata(status="Active"), NOW, content), None)], NOW)
    yield place
    place.cli("worker", "stop")


def doctor(place: Place, *options: str) -> tuple[dict[str, Any], int]:
    """The envelope and the exit status. The machine that runs the tests may be short of this or that."""
    done = place.cli("doctor", *options, "--json")
    return json.loads(done.stdout), done.returncode


def codes(found: dict[str, Any]) -> set[str]:
    return {each["code"] for each in found["findings"] if each["group"] not in ("machine", "settings", "installation")}


def test_jobs_that_wait_get_a_worker_and_the_deep_look_is_merged(place: Place, tmp_path: Path) -> None:
    job_id = place.submit("noop", {})
    found, _ = doctor(place)
    assert "JOBS_WITHOUT_WORKER" in codes(found)
    found, _ = doctor(place, "--fix")
    assert [each["message"] for each in found["fixed"]] == ["A worker was started."]
    place.ended(job_id)
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection, connection:
        connection.execute("DELETE FROM words")
    out = tmp_path / "out.zip"
    found, status = doctor(place, "--deep", "--bundle", str(out))
    assert codes(found) - {"OK"} == {"WORDS_DAMAGED", "WORDS_LACKING", "MODEL_CHANGED"}, "and nothing of its worker"
    assert place.heartbeat()["http"]["server"] is None, "looking started no server"
    assert (found["deep"], status) == (True, 1)
    assert len([each for each in found["findings"] if each["code"] == "MODEL_CHANGED"]) == 1
    with zipfile.ZipFile(out) as archive:
        assert "WORDS_DAMAGED" in archive.read("report.txt").decode()
    shown = place.cli("doctor")
    assert "✗ MODEL_CHANGED" in shown.stdout
    assert shown.stderr.startswith("PROBLEMS_FOUND: ")


def test_without_a_worker_the_deep_look_says_so(place: Place) -> None:
    place.cli("worker", "stop")
    until(lambda: not is_held(place.spool.lock), "the worker has left")
    found, status = doctor(place, "--deep", "--no-start")
    assert (status, "CHECK_FAILED" in codes(found)) == (1, True)
    assert not is_held(place.spool.lock)
    assert not list(place.spool.inbox.glob("*.json")), "no job is left waiting for nobody"
