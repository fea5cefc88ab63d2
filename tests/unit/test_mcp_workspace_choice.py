"""Which folder an MCP server takes for its workspace when no workspace was named."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.errors import JobError
from jobs.layout import Workspace
from worker.mcp.workspace_choice import chosen


@pytest.mark.parametrize("folder", ["home/ana", "home", "."])
def test_the_home_folder_and_what_is_above_it_are_no_project(tmp_path: Path, folder: str) -> None:
    home = tmp_path / "home" / "ana"
    home.mkdir(parents=True)
    found = chosen(Workspace((tmp_path / folder).resolve()), home)
    assert isinstance(found, JobError)
    assert found.code == "WORKSPACE_NOT_CHOSEN"
    assert isinstance(chosen(Workspace(Path("/")), home), JobError)


def test_a_folder_below_or_beside_it_or_in_use_is_taken(tmp_path: Path) -> None:
    home = tmp_path / "home" / "ana"
    (home / "project").mkdir(parents=True)
    for folder in (home / "project", tmp_path / "home" / "anastasia"):
        assert chosen(Workspace(folder), home) == Workspace(folder)
    (home / ".cognee_jobs").mkdir()
    assert chosen(Workspace(home), home) == Workspace(home)
