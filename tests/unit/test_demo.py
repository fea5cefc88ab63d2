"""The demo: no worker stays behind, and what it shows of a hit is what holds."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import Place, is_running

from bridge.embedding.config import EmbeddingConfig
from bridge.memory import Content, Memory, Metadata
from bridge.search.reader import Reader
from bridge.settings import load
from bridge.store.store import Store
from jobs import client, clock
from jobs.errors import JobError
from jobs.heartbeat import read
from jobs.layout import SpoolPaths
from worker.terminal import demo


@pytest.mark.filterwarnings("ignore:subprocess")  # the worker outlives what started it
def test_a_demo_that_fails_leaves_neither_a_worker_nor_its_workspace(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place.as_ours(monkeypatch)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pids: list[int] = []

    def failing(paths: SpoolPaths, *_: Any, **__: Any) -> Any:
        heartbeat = read(paths)
        assert heartbeat is not None
        pids.append(heartbeat["pid"])
        raise JobError("DISK_FULL")

    monkeypatch.setattr(client, "submit", failing)
    with pytest.raises(JobError, match="DISK_FULL"):
        demo.demo(load(), keep=False, quiet=True)
    assert not is_running(pids[0])
    assert not list(tmp_path.glob("cognee-memory-demo-*"))


def test_of_a_record_the_demo_shows_the_decision_that_holds_now(place: Place) -> None:
    now = "2026-11-20T12:00:00Z"
    later = "[Later] One push holds 100 events. supersedes One push holds 200 events."
    decisions = ("[Earlier] One push holds 200 events.", "Devices sync hourly.", later)
    metadata = Metadata(topic_id="sync", status="Active", created_at=now, updated_at=now)
    store = Store(place.workspace, FakeEmbedder())
    store.add([(Memory("a", 0, "summary", metadata, now, Content("Sync", "Sizes.", decisions)), None)], now)
    store.close()
    reader = Reader(place.workspace, EmbeddingConfig(cache_dir=place.workspace.root.parent), lambda _: FakeEmbedder())
    asked = {"query": "How many events may one push hold?", "relevance_floor": 0, "best_passages": True}
    answer = reader.answer("retrieve", asked, clock.parse(now))
    assert answer["success"]
    assert demo.best_decision(answer["results"][0]) == "One push holds 100 events."
