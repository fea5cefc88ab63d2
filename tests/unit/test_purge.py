"""``cognee-memory purge``: it removes what this user's programs made, and nothing else."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from harness import Terminal, held
from test_trust import tree

from bridge import trust
from bridge.interface import envelope
from jobs import client
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.cli import main, parser
from worker.terminal import purge as purge_command


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def workspace(tmp_path: Path, config: Path) -> Workspace:
    made = Workspace(tmp_path / "project")
    made.root.mkdir()
    (made.root / "code.py").write_text("pass\n")
    trust.adopt(made, config)
    made.memory_db.write_bytes(b"12345")
    client.submit(made.spool, "check", {})
    return made


def purge(workspace: Workspace, *arguments: str) -> int:
    return main(["purge", "--workspace", str(workspace.root), *arguments])


def answer(workspace: Workspace, *arguments: str) -> dict[str, Any]:
    given = parser().parse_args(["purge", "--workspace", str(workspace.root), "--json", *arguments])
    try:
        return dict(purge_command.purge(given))
    except JobError as error:
        return dict(envelope.failure(error))


def listed(config: Path) -> list[Path]:
    return list(config.rglob("*.json"))


def test_it_removes_the_four_folders_and_the_entry_and_nothing_else(workspace: Workspace, config: Path) -> None:
    found = answer(workspace, "--yes")
    assert [path.name for path in workspace.root.iterdir()] == ["code.py"]
    assert listed(config) == []
    assert {Path(each["path"]) for each in found["folders"]} == set(workspace.own_folders)
    (memory,) = (each for each in found["folders"] if each["path"] == str(workspace.memory))
    assert (memory["files"], memory["bytes"]) == (3, 5 + 32 + 2)
    assert (found["waiting_jobs"], found["trust_removed"], found["worker_stopped"]) == (1, True, False)
    assert str(config) in {each["path"] for each in found["remains"]}
    again = answer(workspace, "--yes")
    assert (again["success"], again["folders"]) == (True, [])


def test_a_dry_run_shows_it_and_changes_nothing(workspace: Workspace, config: Path) -> None:
    before = tree(workspace.root)
    assert len(answer(workspace, "--dry-run")["folders"]) == 4
    assert tree(workspace.root) == before
    assert len(listed(config)) == 1


@pytest.mark.parametrize("given", ["\n", "no\n", None])
def test_without_a_yes_nothing_goes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    before = tree(workspace.root)
    if given is None:
        assert answer(workspace)["error_code"] == "NOT_CONFIRMED"
    else:
        monkeypatch.setattr("sys.stdin", Terminal(given))
        monkeypatch.setattr("sys.stderr", Terminal())
        assert purge(workspace) == 1
    assert tree(workspace.root) == before


def test_a_person_sees_what_goes_and_says_yes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    monkeypatch.setattr("sys.stderr", shown)
    assert purge(workspace) == 0
    assert ".cognee_memory: 3 files" in shown.getvalue()
    assert "with 1 job that did not run" in shown.getvalue()
    assert not workspace.memory.exists()


def test_links_are_removed_and_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").touch()
    (workspace.cognee_data / "folder").symlink_to(other)
    (workspace.cognee_data / "file").symlink_to(other / "file")
    assert purge(workspace, "--yes") == 0
    assert (other / "file").exists()
    assert not workspace.cognee_data.exists()


def test_a_folder_of_another_origin_is_not_removed(workspace: Workspace) -> None:
    shutil.rmtree(workspace.cognee_data)
    workspace.cognee_data.mkdir()
    (workspace.cognee_data / "theirs").touch()
    before = tree(workspace.root)
    assert answer(workspace, "--yes")["error_code"] == "WORKSPACE_NOT_TRUSTED"
    assert tree(workspace.root) == before
    (workspace.cognee_data / "theirs").unlink()
    assert answer(workspace, "--yes")["kept"] == [str(workspace.cognee_data)]
    assert workspace.cognee_data.is_dir()


def test_an_interrupted_purge_runs_again(workspace: Workspace, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.rmtree

    def refuse(path: str) -> None:
        if Path(path) == workspace.spool.worker:
            raise PermissionError(13, "Permission denied", path)
        real(path)

    monkeypatch.setattr(purge_command.shutil, "rmtree", refuse)
    found = answer(workspace, "--yes")
    assert found["error_code"] == "PURGE_INCOMPLETE"
    assert str(workspace.spool.worker) in found["error"]
    assert not workspace.memory.exists()
    monkeypatch.undo()
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(config))
    assert purge(workspace, "--yes") == 0
    assert not workspace.spool.root.exists()
    assert listed(config) == []


def test_a_copy_of_a_workspace_is_purged_and_the_original_stays_trusted(workspace: Workspace, config: Path) -> None:
    copy = Workspace(workspace.root.with_name("copy"))
    shutil.copytree(workspace.root, copy.root)
    assert answer(copy, "--yes")["trust_removed"] is False
    assert trust.require_trusted(workspace, config).owner is not None
    assert purge(workspace, "--yes") == 0
    assert listed(config) == []


@pytest.mark.parametrize("holder", ["store", "worker"])
def test_what_somebody_holds_is_left_alone(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, holder: str) -> None:
    """A process that holds the worker's lock and is not known as a worker gets no signal either."""
    monkeypatch.setattr(purge_command, "_CHILD_SECONDS", 0.0)
    monkeypatch.setattr("worker.terminal.process_commands._UNKNOWN_HOLDER_SECONDS", 0.0)
    with held(workspace.store_lock if holder == "store" else workspace.spool.lock):
        code = "STORE_BUSY" if holder == "store" else "WORKER_NOT_RUNNING"
        assert answer(workspace, "--yes")["error_code"] == code
        assert workspace.memory_db.exists()
