"""What git tracks of the workspace's own folders, judged by real repositories in each form of their index."""

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from harness import git

from bridge import git_index
from bridge.git_index import STALE_LOCK_SECONDS, GitIndex, tracked
from jobs.layout import Workspace


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", ".")
    (folder / "main.py").write_text("x = 1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def add(repository: Path, name: str) -> None:
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    git(repository, "add", "-f", name)


def test_outside_of_a_repository_and_before_its_first_commit_nothing_is_tracked(tmp_path: Path) -> None:
    assert not tracked(Workspace(tmp_path))
    git(tmp_path, "init", "-q", ".")
    assert not tracked(Workspace(tmp_path))


@pytest.mark.parametrize("form", ["2", "3", "4", "split", "sha256"])
def test_a_tracked_job_is_named_in_each_form_of_the_index(tmp_path: Path, form: str) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q", *(["--object-format=sha256"] if form == "sha256" else []), ".")
    for name in (".cognee", ".cognee_", "a.txt", "b/c.txt"):  # version 4 cuts off what the name before begins with
        add(repository, name)
    assert not tracked(Workspace(repository)).paths
    add(repository, ".cognee_jobs/evil-1.json")
    if form == "split":
        git(repository, "update-index", "--split-index")
        add(repository, "d.txt")
    elif form == "3":
        add(repository, "later.txt")
        git(repository, "update-index", "--skip-worktree", "later.txt")  # which only version 3 can say
    elif form == "4":
        git(repository, "update-index", "--index-version", "4")
    assert tracked(Workspace(repository)).paths == {".cognee_jobs/evil-1.json"}
    assert ".cognee_jobs/evil-1.json" in tracked(Workspace(repository))
    assert ".cognee_jobs/mine.json" not in tracked(Workspace(repository))


def test_another_spelling_of_the_folder_counts_since_some_file_systems_ignore_case(repository: Path) -> None:
    add(repository, ".Cognee_Jobs/Evil.json")
    assert ".cognee_jobs/evil.json" in tracked(Workspace(repository))


def test_a_workspace_inside_of_a_repository_sees_its_own_files_alone(repository: Path) -> None:
    add(repository, "app/.cognee_jobs/a.json")
    add(repository, "other/.cognee_jobs/b.json")
    assert tracked(Workspace(repository / "app")).paths == {".cognee_jobs/a.json"}


def test_a_worktree_has_an_index_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    add(tmp_path / "tree", ".cognee_jobs/a.json")
    assert tracked(Workspace(tmp_path / "tree")).paths == {".cognee_jobs/a.json"}
    assert not tracked(Workspace(repository))


def test_an_index_is_read_again_only_when_it_has_changed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question must not take longer in a large repository."""
    add(repository, "a.py")
    reads: list[Path] = []
    read = git_index._read
    monkeypatch.setattr(git_index, "_read", lambda workspace, index: [reads.append(index), read(workspace, index)][1])
    assert not tracked(Workspace(repository))
    assert not tracked(Workspace(repository))
    assert len(reads) == 1
    add(repository, ".cognee_jobs/a.json")
    assert tracked(Workspace(repository))
    assert len(reads) == 2


def test_without_git_a_mention_means_tracked(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file counts as tracked where the index mentions ours."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert shutil.which("git") is None
    assert not tracked(Workspace(repository))
    monkeypatch.undo()
    add(repository, ".cognee_memory/memory.db")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert tracked(Workspace(repository)).unknown
    assert "anything" in tracked(Workspace(repository))
    monkeypatch.undo()
    assert not tracked(Workspace(repository)).unknown, "git is asked again"


def test_nothing_that_the_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    add(repository, ".cognee_jobs/a.json")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "config", "core.hooksPath", str(tmp_path))
    assert tracked(Workspace(repository))
    assert not (tmp_path / "ran").exists()


def test_variables_of_others_change_nothing(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that point at another repository."""
    add(repository, ".cognee_jobs/a.json")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", ".")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert tracked(Workspace(repository)).paths == {".cognee_jobs/a.json"}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_an_index_of_another_user_tracks_nothing_of_ours(repository: Path) -> None:
    (repository / ".git").chmod(0)
    try:
        assert not tracked(Workspace(repository))
    finally:
        (repository / ".git").chmod(0o755)


def test_git_is_writing_while_its_lock_is_there_and_not_old(repository: Path) -> None:
    index = GitIndex(Workspace(repository))
    now = time.time()
    assert not index.is_being_written(now)
    (repository / ".git" / "index.lock").touch()
    assert index.is_being_written(now)
    assert not index.is_being_written(now + STALE_LOCK_SECONDS + 1)


def test_most_indexes_are_read_without_asking_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_index, "_ask", lambda *_: pytest.fail("git was asked"))
    assert not tracked(Workspace(repository))
