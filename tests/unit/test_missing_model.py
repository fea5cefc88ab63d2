"""An embedding model that was chosen and is not here: the first command says so, and no job waits for it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from harness import Place

from bridge.embedding import local_models
from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL, MULTILINGUAL
from bridge.interface.submission import submit
from bridge.search.reader import Reader
from bridge.settings import Settings
from bridge.store import opening
from jobs import lifecycle
from jobs.errors import ERRORS, JobError, Reaction
from jobs.layout import Workspace

TURN = {"conversation": {"user_message": "Which database?", "assistant_message": "PostgreSQL."}}
REMOTE = {"embedding_provider": "openai", "embedding_model": "text-embedding-3-small"}


def chosen(model: LocalModel, folder: Path, **more: Any) -> Settings:
    return Settings(
        cache_dir=folder, config_dir=folder / "config", embedding_provider=model.provider,
        embedding_model=model.model, **more,
    )  # fmt: skip


@pytest.mark.parametrize("model", [MULTILINGUAL, ENGLISH_FULL])
def test_a_job_that_would_store_is_not_submitted(workspace: Workspace, tmp_path: Path, model: LocalModel) -> None:
    with pytest.raises(JobError, match="MODEL_MISSING"):
        submit(workspace, chosen(model, tmp_path), "ingest", TURN, start=False)
    assert not list(workspace.spool.root.glob("*.json"))


def test_a_job_that_stores_nothing_is_submitted(workspace: Workspace, tmp_path: Path) -> None:
    assert submit(workspace, chosen(MULTILINGUAL, tmp_path), "noop", {}, start=False)["success"]


def test_while_the_model_of_the_store_is_here_jobs_are_submitted(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "embedder_of", lambda _: ENGLISH.identity)
    settings = chosen(MULTILINGUAL, tmp_path)
    assert submit(workspace, settings, "ingest", TURN, start=False)["success"]
    monkeypatch.setattr(opening, "embedder_of", lambda _: ENGLISH_FULL.identity)
    with pytest.raises(JobError, match="MODEL_MISSING"):
        opening.require_model(workspace, settings.embedding)


@pytest.mark.parametrize(
    ("more", "remedy"),
    [({}, "EMBEDDING_API_KEY"), ({"embedding_provider": "openai_compatible"}, "EMBEDDING_ENDPOINT")],
)
def test_an_endpoint_without_what_it_needs_is_told(tmp_path: Path, more: dict[str, str], remedy: str) -> None:
    settings = Settings(cache_dir=tmp_path, **{**REMOTE, **more})  # type: ignore[arg-type]
    with pytest.raises(JobError, match="EMBEDDING_CONFIG") as caught:
        local_models.require(settings.embedding)
    assert remedy in caught.value.remediation


def test_an_endpoint_with_a_key_or_of_ones_own_is_not_asked(tmp_path: Path) -> None:
    for more in ({"embedding_api_key": "k"}, {"embedding_endpoint": "http://127.0.0.1:9/v1"}):
        local_models.require(Settings(cache_dir=tmp_path, **REMOTE, **more).embedding)  # type: ignore[arg-type]


@pytest.mark.parametrize("verb", ["retrieve", "context", "explain"])
def test_that_nothing_is_stored_is_no_answer_to_a_question(workspace: Workspace, tmp_path: Path, verb: Any) -> None:
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    embedding = chosen(MULTILINGUAL, tmp_path).embedding
    found: Any = Reader(workspace, embedding).answer(verb, {"query": "database"}, now)
    assert (found["success"], found["error_code"]) == (False, "MODEL_MISSING")
    default = replace(embedding, provider=ENGLISH.provider, model=ENGLISH.model)
    assert Reader(workspace, default).answer(verb, {"query": "database"}, now)["success"]


@pytest.mark.parametrize("code", ["MODEL_MISSING", "MODEL_CORRUPT", "EMBEDDING_CONFIG", "EMBEDDER_MISMATCH"])
def test_no_job_waits_for_what_only_a_person_can_do(code: str) -> None:
    assert ERRORS[code].reaction is Reaction.GIVE_UP
    assert lifecycle.Failed(JobError(code)).error.reaction is Reaction.GIVE_UP


def test_status_says_it_first(tmp_path: Path) -> None:
    model = {"EMBEDDING_PROVIDER": MULTILINGUAL.provider, "EMBEDDING_MODEL": MULTILINGUAL.model}
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(tmp_path / "cache"), **model)
    first = json.loads(place.cli("status", "--json").stdout)["advice"][0]
    assert "Until then no memory is stored. Fetch it: cognee-memory model use multilingual." in first
    assert place.cli("ingest", "a", "b").returncode == 1
