"""Fixtures that unit tests of several modules share."""

from pathlib import Path

import pytest
from inbox_door import Door
from shelf import Shelf

from bridge.embedding.config import EmbeddingConfig
from bridge.embedding.embedder import Embedder
from bridge.embedding.factory import create
from jobs import spool
from jobs.layout import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace that may hold memories and jobs, and holds none yet."""
    found = Workspace(tmp_path / "workspace")
    found.memory.mkdir(mode=0o700, parents=True)
    spool.prepare(found.spool)
    return found


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """A spool whose inbox is read."""
    return Door(tmp_path / "spool")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A store of memories for questions, empty."""
    return Shelf(tmp_path)


@pytest.fixture(scope="session")
def embedder(model_cache: Path) -> Embedder:
    """The default model, loaded once."""
    return create(EmbeddingConfig(cache_dir=model_cache))
