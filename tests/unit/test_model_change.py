"""A store of another model than the settings name: it answers and grows with its own until a rebuild has ended."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from job_copies import task
from shelf import summary

from bridge.embedding import factory, local_models
from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.graph.graph import Graph
from bridge.graph.open_stores import Stores
from bridge.operations import rebuild
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.store import open_store, opening
from jobs.errors import ERRORS, JobError, Reaction
from jobs.layout import Workspace

NOW = "2026-11-20T12:00:00Z"
AS_OF = datetime(2026, 11, 20, 12, tzinfo=UTC)
OLD = ENGLISH._replace(name="old", provider="fake-old", model="m", dimensions=16)
NEW = ENGLISH._replace(name="new", provider="fake-new", model="m", dimensions=8)


def config(model: LocalModel, folder: Path) -> EmbeddingConfig:
    return model.config(folder)


class Models:
    """Stands for the models of this machine. ``missing`` are those whose files are not there."""

    def __init__(self) -> None:
        self.missing: set[str] = set()

    def create(self, config: EmbeddingConfig, *, bulk: bool = False) -> Embedder:
        if config.identity in self.missing:
            raise JobError("MODEL_MISSING")
        return FakeEmbedder(config.dimensions, config.identity.rpartition("/")[0])


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    found = Models()
    monkeypatch.setattr(local_models, "LOCAL_MODELS", {model.identity: model for model in (OLD, NEW)})
    monkeypatch.setattr(open_store, "create", found.create)
    return found


def settings(model: LocalModel) -> Settings:
    return Settings(
        embedding_provider=model.provider, embedding_model=model.model, embedding_dimensions=model.dimensions
    )


@pytest.fixture
def old(workspace: Workspace, models: Models) -> Workspace:
    """A workspace whose store was made with the old model."""
    with Stores(workspace, settings(OLD)) as stores:
        stores.store.add([(summary("a", "apples grow on trees"), "job-a")], NOW)
    return workspace


def ask(workspace: Workspace, models: Models, model: LocalModel, query: str) -> dict[str, Any]:
    reader = Reader(workspace, config(model, workspace.root), models.create)
    return dict(reader.answer("retrieve", {"query": query, "max_results": 5, "max_tokens": 2000}, AS_OF))


def warned(answer: dict[str, Any]) -> bool:
    return any("earlier embedding model" in warning for warning in answer["warnings"])


def test_questions_are_answered_by_the_earlier_model_with_a_warning(old: Workspace, models: Models) -> None:
    before, now = ask(old, models, OLD, "apples on trees"), ask(old, models, NEW, "apples on trees")
    assert (now["success"], warned(before), warned(now)) == (True, False, True)
    assert now["results"] == before["results"]
    assert OLD.identity in now["warnings"][0]
    assert NEW.identity in now["warnings"][0]


def test_without_the_earlier_model_it_is_told(old: Workspace, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names both models and the remedy."""
    models.missing.add(OLD.identity)
    monkeypatch.setattr(LocalModel, "is_installed", lambda *_: False)
    answer = ask(old, models, NEW, "apples")
    assert (answer["success"], answer["error_code"]) == (False, "EMBEDDER_MISMATCH")
    with Stores(old, settings(NEW)) as stores, pytest.raises(JobError, match="EMBEDDER_MISMATCH"):
        _ = stores.store
    with pytest.raises(JobError, match="EMBEDDER_MISMATCH"):  # at the first command
        opening.require_model(old, config(NEW, old.root))


def test_without_it_jobs_wait_for_a_rebuild(old: Workspace, models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the earlier model; a worker starts the rebuild by itself."""
    models.missing.add(OLD.identity)
    monkeypatch.setattr(LocalModel, "is_installed", lambda model, _: model.name == "new")
    opening.require_model(old, config(NEW, old.root))
    assert ask(old, models, NEW, "apples")["error_code"] == "EMBEDDER_CHANGING"
    assert ERRORS["EMBEDDER_CHANGING"].reaction is Reaction.WAIT
    with Stores(old, settings(NEW)) as stores:
        with pytest.raises(JobError, match="EMBEDDER_CHANGING"):
            _ = stores.store
        stores.rebuild_vectors()
        stores.store.add([(summary("b", "bees make honey"), "job-b")], NOW)


def test_the_earlier_model_answers_even_if_the_new_one_is_not_installed_yet(old: Workspace, models: Models) -> None:
    models.missing.add(NEW.identity)
    assert ask(old, models, NEW, "apples on trees")["results"]
    with Stores(old, settings(NEW)) as stores:
        stores.store.add([(summary("b", "bees make honey"), "job-b")], NOW)
        with pytest.raises(JobError, match="MODEL_MISSING"):
            stores.rebuild_vectors()
    assert opening.embedder_of(old) == OLD.identity
    assert ask(old, models, NEW, "bees honey")["results"][0]["memory_id"] == "b"


class Pauses:
    """The progress of a rebuild: in each pause, another job adds a memory; ``ends_at`` stops the rebuild there."""

    def __init__(self, stores: Stores, ends_at: int | None = None) -> None:
        self.stores, self.ends_at, self.count = stores, ends_at, 0

    def __call__(self, progress: dict[str, Any]) -> None:
        self.count += 1
        if self.count == self.ends_at:
            raise KeyboardInterrupt
        if self.count == 1:
            assert self.stores.store.embed(["x"]).shape == (1, OLD.dimensions)
            self.stores.store.add([(summary("b", "bees make honey"), "job-b")], NOW)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause after every step of a rebuild."""
    monkeypatch.setattr("bridge.slices.SLICE_SECONDS", 0.0)


def test_a_rebuild_switches_in_one_step_with_what_came_meanwhile(old: Workspace, models: Models, eager: None) -> None:
    with Stores(old, settings(NEW)) as stores:
        assert stores.rebuild_vectors(Pauses(stores)) == 6
        stores.store.add([(summary("c", "cats sleep all day"), "job-c")], NOW)
    assert opening.embedder_of(old) == NEW.identity
    for query, found in (("apples on trees", "a"), ("bees make honey", "b"), ("cats sleep", "c")):
        answer = ask(old, models, NEW, query)
        assert (answer["results"][0]["memory_id"], warned(answer)) == (found, False)


def test_an_interrupted_rebuild_leaves_the_earlier_model_for_now(old: Workspace, models: Models, eager: None) -> None:
    """The next one goes on."""
    with Stores(old, settings(NEW)) as stores, pytest.raises(KeyboardInterrupt):
        stores.rebuild_vectors(Pauses(stores, ends_at=2))
    assert opening.embedder_of(old) == OLD.identity
    answer = ask(old, models, NEW, "bees make honey")
    assert (answer["results"][0]["memory_id"], warned(answer)) == ("b", True)
    with Stores(old, settings(NEW)) as stores:
        assert stores.rebuild_vectors() == 6
    assert not warned(ask(old, models, NEW, "bees make honey"))


@pytest.mark.parametrize("what", ["index", "both"])
def test_a_rebuild_with_another_model_makes_no_graph_where_none_is(
    old: Workspace, models: Models, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(Graph, "rebuild", lambda *_: pytest.fail("a graph is made"))
    with Stores(old, settings(NEW)) as stores:
        result = rebuild.run(task("rebuild", {"what": what}, at=NOW), stores, AS_OF, lambda _: None)
    assert result["what"] == "index"
    assert opening.embedder_of(old) == NEW.identity


def test_only_models_of_this_machine_answer_for_another_one(tmp_path: Path) -> None:
    base = EmbeddingConfig(
        cache_dir=tmp_path, provider="openai", model="m", dimensions=4, endpoint="http://x", api_key="k"
    )
    found = local_models.config_of(MULTILINGUAL.identity, base)
    assert (found.identity, found.endpoint, found.api_key) == (MULTILINGUAL.identity, "", "")
    assert local_models.config_of("openai/other/4", base) is None
    assert factory.earlier("openai/m/4", base) is None
