"""A git worktree and the memory of its main checkout."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder
from harness import Place, git
from in_process import InProcess

from bridge import trust
from bridge.memory import Content, Memory, Metadata
from bridge.store.store import Store
from jobs.layout import Workspace
from jobs.worktree import main_checkout
from worker.mcp.server import server_of
from worker.mcp.tools import INSTRUCTIONS
from worker.terminal.worktree_note import worktree_note

NOW = "2026-11-20T12:00:00Z"


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Start")
    return folder


def worktree(main: Path, folder: Path) -> Path:
    git(main, "worktree", "add", "--quiet", "--detach", str(folder))
    return folder


@pytest.fixture
def place(place: Place, tmp_path: Path) -> Place:
    """The main checkout, with one memory."""
    repository(place.workspace.root / "made").rename(tmp_path / "made")
    (tmp_path / "made" / ".git").rename(place.workspace.root / ".git")
    store = Store(place.workspace, FakeEmbedder())
    metadata = Metadata(topic_id="loans", status="Active", created_at=NOW, updated_at=NOW)
    store.add([(Memory("a", 0, "summary", metadata, NOW, Content("Loans", "How long?")), None)], NOW)
    store.close()
    return place


def test_a_worktree_finds_its_main_checkout(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    assert main_checkout(worktree(main, tmp_path / "other")) == main
    assert main_checkout(main) is None
    assert main_checkout(tmp_path) is None


def test_a_worktree_with_relative_paths_finds_it_too(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    other = worktree(main, tmp_path / "other")
    (other / ".git").write_text("gitdir: ../main/.git/worktrees/other\n", "utf-8")
    (main / ".git" / "worktrees" / "other" / "gitdir").write_text("../../../../other/.git\n", "utf-8")
    assert main_checkout(other) == main


def test_a_folder_that_the_main_checkout_does_not_know_finds_nothing(tmp_path: Path) -> None:
    """A copy, whose checkout names another folder; and an archive with an administrative folder of its own."""
    main = repository(tmp_path / "main")
    shutil.copytree(worktree(main, tmp_path / "other"), tmp_path / "copy")
    assert main_checkout(tmp_path / "copy") is None
    forged = tmp_path / "forged"
    admin = forged / "git" / "worktrees" / "x"
    admin.mkdir(parents=True)
    (forged / ".git").write_text(f"gitdir: {admin}\n", "utf-8")
    (admin / "gitdir").write_text(f"{forged / '.git'}\n", "utf-8")
    (admin / "commondir").write_text(f"{main / '.git'}\n", "utf-8")
    assert main_checkout(forged) is None


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"gitdir: \0", b"gitdir: /none/worktrees/x", b"\xff" * 9000])
def test_a_file_that_git_did_not_write_finds_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    assert main_checkout(tmp_path) is None


def test_a_submodule_has_no_main_checkout(tmp_path: Path) -> None:
    inner, outer = repository(tmp_path / "inner"), repository(tmp_path / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "part")
    assert (outer / "part" / ".git").is_file()
    assert main_checkout(outer / "part") is None


def test_the_note_ends_with_the_first_memory_of_the_worktree(place: Place, tmp_path: Path) -> None:
    other = Workspace(worktree(place.workspace.root, tmp_path / "other tree"))
    note = worktree_note(other)
    assert "which has 1 memory." in note
    assert note.endswith(f"--workspace {place.workspace.root}")
    trust.adopt(other, place.config)
    assert worktree_note(other) is None


def test_a_memory_that_is_not_this_users_is_not_mentioned(place: Place, tmp_path: Path) -> None:
    other = Workspace(worktree(place.workspace.root, tmp_path / "other"))
    place.config.rename(tmp_path / "of another user")
    assert worktree_note(other) is None


def test_commands_in_a_worktree_say_where_the_memory_is_beside_their_answer(place: InProcess, tmp_path: Path) -> None:
    other = worktree(place.workspace.root, tmp_path / "other")
    (other / "src").mkdir()
    run = partial(place.within, other / "src")
    listed = run("memories", "list", "--json")
    assert json.loads(listed.stdout)["total"] == 0
    assert f"--workspace {place.workspace.root}" in listed.stderr
    assert "Note: This git worktree" in run("memories", "list").stderr
    assert run("memories", "list", "--workspace", str(other)).stderr == ""
    assert "Note" not in run("settings").stderr
    first = run("ingest", "--no-start", "Why?", "Because.")
    assert (first.returncode, "Note: This git worktree" in first.stderr) == (0, True)
    assert "Note: This git worktree" not in run("memories", "list").stderr


def test_an_agent_in_a_worktree_reads_the_note_in_the_instructions(place: Place) -> None:
    plain, noted = (
        server_of(place.workspace, "1.0", note).instructions for note in (None, "Two memories: --workspace /x")
    )
    assert plain == INSTRUCTIONS
    assert noted.startswith(INSTRUCTIONS)
    assert noted.endswith("Two memories: --workspace /x in the arguments of this server.")
