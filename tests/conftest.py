"""Fixtures that tests of several kinds share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from bridge.provision import provision


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """A cache folder that holds the real embedding model; downloaded once a machine."""
    chosen = os.environ.get("COGNEE_MEMORY_MODEL_CACHE")
    cache_dir = Path(chosen) if chosen else user_cache_path("cognee-memory", appauthor=False)
    provision(cache_dir)
    return cache_dir


@pytest.fixture(autouse=True)
def _settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings and markers of the user who runs it."""
    for name in list(os.environ):
        if name.startswith(("COGNEE_MEMORY_", "LLM_", "EMBEDDING_")) and name != "COGNEE_MEMORY_MODEL_CACHE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
