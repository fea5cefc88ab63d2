"""The demo: no worker stays behind, and what it shows of a hit is what holds."""

import itertools
import subprocess
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import Place, is_running

from bridge.embedding.config import EmbeddingConfig
from bridge.memory import Content, Memory, Metadata
from bridge.search.reader import Reader
from bridge.store.store import Store
from jobs import clock
from jobs.errors import JobError
from worker.terminal import demo


def test_a_worker_that_does_not_start_in_time_is_ended(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.as_ours(monkeypatch)
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        return started[0]

    now = itertools.count(0, 1000)
    monkeypatch.setattr("worker.terminal.demo.subprocess.Popen", noted)
    monkeypatch.setattr("worker.terminal.demo.time.monotonic", lambda: float(next(now)))
    with pytest.raises(JobError, match="WORKER_START_FAILED"):
        demo._start_worker(place.workspace)
    assert not is_running(started[0].pid)


def test_of_a_record_the_demo_shows_the_decision_that_holds_now(place: Place) -> None:
    now = "2026-11-20T12:00:00Z"
    later = "[Later] One push holds 100 events. supersedes One push holds 200 events."
    decisions = ("[Earlier] One push holds 200 events.", "Devices sync hourly.", later)
    metadata = Metadata(topic_id="sync", status="Active", created_at=now, updated_at=now)
    store = Store(place.workspace, FakeEmbedder())
    store.add([(Memory("a", 0, "summary", metadata, now, Content("Sync", "Sizes.", decisions)), None)], now)
    store.close()
    reader = Reader(place.workspace, EmbeddingConfig(cache_dir=place.workspace.root.parent), lambda _: FakeEmbedder())
    question = "How many events may one push hold?"
    answer = reader.answer("retrieve", {"query": question, "relevance_floor": 0}, clock.parse(now))
    assert answer["success"]
    assert demo._best_decision(reader, question, answer["results"][0]) == "One push holds 100 events."
