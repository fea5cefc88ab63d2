"""The commands ``model …`` where they change nothing, and the setting that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bridge.embedding.local_models import ENGLISH, MULTILINGUAL
from bridge.settings import load
from jobs.layout import Workspace
from worker.cli import main
from worker.terminal import model_command


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
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return found


def test_the_list_names_the_default_model_as_configured(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = run(workspace, capfd, "list")["models"]
    assert [(row["name"], row["configured"]) for row in rows] == [
        ("english", True),
        ("english-full", False),
        ("multilingual", False),
    ]


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


def test_a_trusted_workspace_gets_the_setting_in_its_own_file(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    main(["trust", "--workspace", str(workspace.root)])
    capfd.readouterr()
    done = run(workspace, capfd, "use", "multilingual", "--here")
    assert Path(done["file"]) == workspace.root / ".env"
    assert run(workspace, capfd, "status")["configured"] == MULTILINGUAL.identity
    assert load().embedding.identity == ENGLISH.identity
