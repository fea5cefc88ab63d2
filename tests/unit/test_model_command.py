"""The commands ``model …``: the setting that they write, what they add, and what they compare."""

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import cross_encoder
import hub_model
import pytest
from shelf import summary

from bridge import trust
from bridge.embedding.factory import create
from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.search.model_comparison import FOLDER_PREFIX
from bridge.search.reader import Reader
from bridge.settings import load
from bridge.store.store import Store
from bridge.store.values import Addition, Feedback
from jobs.layout import Workspace
from worker.cli import main
from worker.terminal import model_command

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RETAINED = "how long are copies of the data retained"


@pytest.fixture(autouse=True)
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that were to be fetched; none is."""
    found: list[str] = []
    monkeypatch.setattr("bridge.interface.envelope.claim_stdout", lambda: None)
    monkeypatch.setattr("bridge.interface.envelope._claimed", 1)
    monkeypatch.setattr(model_command, "fetch", lambda model, settings, source: found.append(model.name))
    return found


def run(workspace: Workspace, capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["model", *arguments, "--workspace", str(workspace.root), "--json"])
    return json.loads(capfd.readouterr().out)


def test_the_list_names_the_default_model_configured(workspace: Workspace, capfd: pytest.CaptureFixture[str]) -> None:
    rows = run(workspace, capfd, "list")["models"]
    expected = [("english", True), ("english-full", False), ("multilingual", False)]
    assert [(row["name"], row["configured"]) for row in rows] == expected


def test_an_empty_workspace_gets_the_setting_and_no_job(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], fetched: list[str]
) -> None:
    done = run(workspace, capfd, "use", "multilingual")
    assert (done["success"], done["store"], done["job_id"]) == (True, None, None)
    assert (fetched, load().embedding.identity) == (["multilingual"], MULTILINGUAL.identity)
    status = run(workspace, capfd, "status")
    assert (status["configured"], status["store"], status["state"]) == (MULTILINGUAL.identity, None, "ready")
    run(workspace, capfd, "use", "english")
    assert load().embedding.identity == ENGLISH.identity


@pytest.mark.parametrize("arguments", [["use", "nothing"], ["use", "multilingual", "--here"]])
def test_an_unknown_model_and_an_untrusted_workspace_are_refused(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], fetched: list[str], arguments: list[str]
) -> None:
    assert run(workspace, capfd, *arguments)["error_code"] == "ARGUMENT_INVALID"
    assert fetched == []
    assert not (workspace.root / ".env").exists()


def test_a_setting_that_would_not_take_effect_is_refused_by_name(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fetched: list[str]
) -> None:
    monkeypatch.setenv("EMBEDDING_PROVIDER", "ollama")
    refused = run(workspace, capfd, "use", "multilingual")
    assert refused["error_code"] == "ARGUMENT_INVALID"
    assert "EMBEDDING_PROVIDER" in refused["error"]
    assert fetched == []


def test_a_trusted_workspace_has_the_setting_in_a_file(workspace: Workspace, capfd: pytest.CaptureFixture[str]) -> None:
    main(["trust", "--workspace", str(workspace.root)])
    capfd.readouterr()
    done = run(workspace, capfd, "use", "multilingual", "--here")
    assert Path(done["file"]) == workspace.root / ".env"
    assert run(workspace, capfd, "status")["configured"] == MULTILINGUAL.identity
    assert load().embedding.identity == ENGLISH.identity


def test_a_folder_that_was_added_is_listed_and_used_as_the_other_models(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CACHE_DIR", str(tmp_path / "cache"))
    folder = hub_model.make(tmp_path, "e5-small-v2")
    added = run(workspace, capfd, "add", str(folder), "--name", "mine")
    assert (added["model"], added["query_prefix"], added["memories"], added["sentences"]) == ("mine", "query: ", 0, 16)
    row = run(workspace, capfd, "list")["models"][-1]
    assert (row["name"], row["identity"], row["installed"]) == ("mine", added["identity"], True)
    assert run(workspace, capfd, "use", "mine")["identity"] == load().embedding.identity == added["identity"]
    assert Reader(workspace, load().embedding).answer("retrieve", {"query": "x"}, NOW)["success"]
    refused = run(workspace, capfd, "add", str(workspace.root))
    assert (refused["error_code"], "docs/settings.md" in refused["remediation"]) == ("MODEL_UNUSABLE", True)


def test_models_and_a_reranker_are_compared_by_the_memories_that_helped_with_a_question(
    workspace: Workspace, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CACHE_DIR", str(tmp_path / "cache"))
    trust.adopt(workspace, load().config_folder)
    assert run(workspace, capfd, "compare")["error_code"] == "ARGUMENT_INVALID"
    run(workspace, capfd, "add", str(hub_model.make(tmp_path, "toy")))
    texts = ["We keep backups for thirty days.", "The keeper of the lighthouse counts ships.", "Cook lentils for soup."]
    memories = [summary(f"id-{number}", text) for number, text in enumerate(texts)]
    store = Store(workspace, create(load().embedding))
    with store.change("2026-11-20T12:00:00Z") as change:
        change.additions += (Addition(memory, "job") for memory in memories)
    with store.change("2026-11-20T12:00:00Z") as change:
        for memory, query in zip(memories, [RETAINED, "keeper lighthouse", "soup"], strict=True):
            verdict = "wrong" if query == "soup" else "helpful"
            change.feedback.append(Feedback(memory.id, "person", verdict, "2026-11-20T12:00:00Z", query))
    store.close()
    before = workspace.memory_db.read_bytes()
    reranker = cross_encoder.make(tmp_path / "reranker", [*texts, RETAINED])
    found = run(workspace, capfd, "compare", "toy", "--reranker", str(reranker))
    assert sorted(found["questions"]) == [RETAINED, "keeper lighthouse"]
    rows = [(row["model"], row["reranker"] is not None, row["first"]) for row in found["models"]]
    assert [(name, reranked) for name, reranked, _ in rows] == [
        ("english", False), ("english", True), ("toy", False), ("toy", True),
    ]  # fmt: skip
    assert rows[0][2] == 2
    assert all(row["first"] <= row["first_five"] <= 2 for row in found["models"])
    assert workspace.memory_db.read_bytes() == before
    assert list(Path(gettempdir()).glob(f"{FOLDER_PREFIX}*")) == []
    failed = run(workspace, capfd, "compare", "--reranker", str(tmp_path / "none"))
    assert (failed["error_code"], "no model.onnx" in failed["remediation"]) == ("MODEL_UNUSABLE", True)
