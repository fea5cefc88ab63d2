"""The rebuild that a worker drops by itself."""

import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_embedder import FakeEmbedder

from bridge import trust
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.settings import load
from bridge.store.store import Store
from jobs.layout import Workspace
from worker.inbox.own_job import Reembedding


class Ledger:
    """The live jobs."""

    def __init__(self) -> None:
        self.jobs: list[Any] = []

    def live(self) -> list[Any]:
        return self.jobs


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    found = {ENGLISH.name, MULTILINGUAL.name}
    monkeypatch.setattr(LocalModel, "is_installed", lambda model, cache_dir: model.name in found)
    return found


@pytest.fixture(autouse=True)
def adopted(workspace: Workspace) -> None:
    trust.adopt(workspace, load().config_folder)


def store_of(workspace: Workspace, identity: str) -> None:
    embedder = FakeEmbedder(384)
    embedder.identity = identity
    Store(workspace, embedder).close()


def watch(workspace: Workspace, model: LocalModel | None, ledger: Ledger | None = None) -> Reembedding:
    embedding = {"embedding_provider": "openai"}
    if model is not None:
        embedding = {"embedding_provider": model.provider, "embedding_model": model.model}
    settings = load().changed(**embedding)
    return Reembedding(workspace, settings, ledger or Ledger())  # type: ignore[arg-type]


def dropped(workspace: Workspace) -> list[dict[str, Any]]:
    return [json.loads(Path(path).read_bytes()) for path in workspace.spool.inbox.glob("*.json")]


def later(seconds: float) -> float:
    return time.monotonic() + seconds


def test_a_store_of_an_earlier_model_gets_one_rebuild_of_index_and_graph(workspace: Workspace) -> None:
    store_of(workspace, ENGLISH.identity)
    found = watch(workspace, MULTILINGUAL)
    for seconds in (0, 31, 62):
        found.scan(later(seconds))
    (job,) = dropped(workspace)
    assert (job["kind"], job["payload"]) == ("rebuild", {"what": "index"})
    found.scan(later(4000))  # it has failed, since the store is still the same and no job is left
    assert len(dropped(workspace)) == 2


def test_no_rebuild_is_dropped_beside_another_one(workspace: Workspace) -> None:
    store_of(workspace, ENGLISH.identity)
    ledger = Ledger()
    ledger.jobs = [SimpleNamespace(kind="rebuild")]
    found = watch(workspace, MULTILINGUAL, ledger)
    found.scan(later(0))
    assert dropped(workspace) == []
    ledger.jobs = [SimpleNamespace(kind="ingest")]
    found.scan(later(31))
    assert len(dropped(workspace)) == 1


NOTHING_TO_DO = [
    (MULTILINGUAL.identity, MULTILINGUAL),
    (None, MULTILINGUAL),
    ("openai/m/384", MULTILINGUAL),  # it cannot answer meanwhile: a person decides
    (ENGLISH.identity, None),  # it may cost money
]


@pytest.mark.parametrize(("recorded", "configured"), NOTHING_TO_DO)
def test_nothing_is_dropped_in_vain(workspace: Workspace, recorded: str | None, configured: LocalModel | None) -> None:
    """Where nothing is to do, or a person decides."""
    if recorded is not None:
        store_of(workspace, recorded)
    watch(workspace, configured).scan(later(0))
    assert dropped(workspace) == []


def test_a_store_from_elsewhere_is_not_even_opened(workspace: Workspace) -> None:
    store_of(workspace, ENGLISH.identity)
    database = (workspace.memory / "memory.db").read_bytes()
    shutil.rmtree(workspace.memory)
    workspace.memory.mkdir()
    (workspace.memory / "memory.db").write_bytes(database)
    watch(workspace, MULTILINGUAL).scan(later(0))
    assert dropped(workspace) == []
    assert [path.name for path in workspace.memory.iterdir()] == ["memory.db"], "reading would create files beside it"


def test_a_model_that_is_not_installed_is_waited_for(workspace: Workspace, installed: set[str]) -> None:
    store_of(workspace, ENGLISH.identity)
    installed.discard(MULTILINGUAL.name)
    found = watch(workspace, MULTILINGUAL)
    found.scan(later(0))
    assert dropped(workspace) == []
    installed.add(MULTILINGUAL.name)
    found.scan(later(31))
    assert len(dropped(workspace)) == 1
