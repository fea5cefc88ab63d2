"""Fixtures that unit tests of several modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.layout import Workspace


@pytest.fixture(autouse=True, scope="session")
def _no_cognee() -> Iterator[None]:
    """What loads cognee for a graph that is not cognee's loads nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bridge.graph.open_stores._import_cognee", lambda: None)
        yield


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace that may hold memories and holds none yet."""
    found = Workspace(tmp_path / "workspace")
    found.memory.mkdir(mode=0o700, parents=True)
    return found
