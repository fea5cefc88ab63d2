"""Fixtures that unit tests of several modules share."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.layout import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace that may hold memories and holds none yet."""
    found = Workspace(tmp_path / "workspace")
    found.memory.mkdir(mode=0o700, parents=True)
    return found
