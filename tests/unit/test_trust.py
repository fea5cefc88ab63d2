"""Whether a workspace's folders are this user's own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge import trust
from jobs import client
from jobs.errors import JobError
from jobs.layout import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    root.mkdir()
    return Workspace(root)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder: names, kinds, contents, modes."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


def refused(workspace: Workspace, config: Path) -> JobError:
    """Neither looking nor adopting is allowed, and nothing is changed by trying."""
    before = tree(workspace.root)
    with pytest.raises(JobError) as caught:
        trust.adopt(workspace, config)
    assert caught.value.code == "WORKSPACE_NOT_TRUSTED"
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.settings_of(workspace)
    assert tree(workspace.root) == before
    assert not list(config.rglob("*.json"))
    return caught.value


def folders(workspace: Workspace) -> list[Path]:
    return [workspace.spool.root, workspace.memory, workspace.cognee_system, workspace.cognee_data]


def test_an_adopted_workspace_is_marked_private_and_kept_out_of_git(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config)
    found = trust.inspect_trust(workspace, config)
    assert found.owner is not None
    assert (found.trusted, found.foreign) == (False, None)
    for folder in folders(workspace):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / ".gitignore").read_text() == "*\n"
        assert workspace.owner_marker(folder).read_text() == found.owner
        assert workspace.owner_marker(folder).stat().st_mode & 0o777 == 0o600


def test_adopting_again_changes_nothing(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config)
    before = tree(workspace.root), tree(config)
    trust.adopt(workspace, config)
    assert (tree(workspace.root), tree(config)) == before


def test_a_workspace_that_was_never_used_has_no_owner_and_is_not_foreign(workspace: Workspace, config: Path) -> None:
    assert trust.inspect_trust(workspace, config) == trust.TrustState(None, False, None)
    assert list(workspace.root.iterdir()) == []


def test_looking_at_a_workspace_does_not_change_it(workspace: Workspace, config: Path) -> None:
    client.submit(workspace.spool, "check", {})
    before = tree(workspace.root)
    trust.require_trusted(workspace, config)
    assert tree(workspace.root) == before
    assert not config.exists()


def test_an_inbox_with_waiting_jobs_is_adopted_and_the_jobs_stay(workspace: Workspace, config: Path) -> None:
    """Dropping before the first start of a worker is normal."""
    job_id = client.submit(workspace.spool, "check", {}).job_id
    trust.adopt(workspace, config)
    assert workspace.spool.dropped(job_id).is_file()
    assert trust.inspect_trust(workspace, config).owner is not None


def test_what_asking_and_starting_leave_behind_does_not_hinder_adoption(workspace: Workspace, config: Path) -> None:
    job_id = client.submit(workspace.spool, "check", {}).job_id
    client.cancel(workspace.spool, job_id)
    workspace.spool.worker.mkdir()
    (workspace.spool.worker / "start.log").write_text("")
    trust.adopt(workspace, config)
    assert workspace.spool.cancel(job_id).is_file()


@pytest.mark.parametrize("name", ["active", "ended", "rejected", "results"])
def test_a_spool_with_traces_of_work_is_not_opened(workspace: Workspace, config: Path, name: str) -> None:
    folder = workspace.spool.root / name
    folder.mkdir(parents=True)
    (folder / "job-1.json").write_text("{}")
    assert workspace.spool.root.name in refused(workspace, config).message


@pytest.mark.parametrize("place", range(1, 4))
def test_a_store_of_somebody_else_is_not_opened(workspace: Workspace, config: Path, place: int) -> None:
    folder = folders(workspace)[place]
    folder.mkdir()
    (folder / "something.db").write_bytes(b"theirs")
    assert folder.name in refused(workspace, config).message


@pytest.mark.parametrize("place", range(4))
def test_an_empty_folder_is_adopted(workspace: Workspace, config: Path, place: int) -> None:
    folders(workspace)[place].mkdir()
    (folders(workspace)[place] / ".gitignore").write_text("*\n")
    trust.adopt(workspace, config)
    assert trust.inspect_trust(workspace, config).foreign is None


@pytest.mark.parametrize("place", range(4))
def test_a_folder_that_is_a_link_is_not_opened(workspace: Workspace, config: Path, tmp_path: Path, place: int) -> None:
    target = tmp_path / "elsewhere"
    target.mkdir()
    folders(workspace)[place].symlink_to(target)
    refused(workspace, config)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", ["active", "ended", "rejected", "results", "control", "worker"])
def test_a_link_inside_the_spool_is_not_followed(workspace: Workspace, config: Path, tmp_path: Path, name: str) -> None:
    """A clone could make the worker write its files, or clear requests away, in a folder of the user's."""
    target = tmp_path / "precious"
    target.mkdir()
    workspace.spool.root.mkdir()
    (workspace.spool.root / name).symlink_to(target)
    refused(workspace, config)
    assert target.stat().st_mode & 0o777 != 0o700


@pytest.mark.parametrize("name", ["control/cancel-a.json", "worker/worker.log", "worker/start.log"])
def test_a_file_of_the_spool_that_is_a_link_is_not_followed(
    workspace: Workspace, config: Path, tmp_path: Path, name: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    path = workspace.spool.root / name
    path.parent.mkdir(parents=True)
    path.symlink_to(precious)
    refused(workspace, config)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["active", "ended", "rejected", "results", "control", "worker"])
def test_a_spool_of_ours_whose_folder_has_become_a_link_is_not_opened(
    workspace: Workspace, config: Path, tmp_path: Path, name: str
) -> None:
    """A pulled commit can put a link where git ignores a folder; the marker beside it vouches for nothing then."""
    trust.adopt(workspace, config)
    (workspace.spool.root / name).rmdir()
    (tmp_path / "precious").mkdir(mode=0o755)
    (workspace.spool.root / name).symlink_to(tmp_path / "precious")
    for trusted in (None, True):
        with pytest.raises(JobError) as caught:
            trust.adopt(workspace, config, trusted=trusted)
        assert caught.value.code == ("WORKSPACE_NOT_TRUSTED" if trusted is None else "FILE_UNSAFE")
    assert (tmp_path / "precious").stat().st_mode & 0o777 == 0o755
    assert list((tmp_path / "precious").iterdir()) == []


@pytest.mark.parametrize("folder", ["worker", "memory"])
def test_a_file_that_is_written_to_and_has_become_a_link_closes_even_a_workspace_of_ours(
    workspace: Workspace, config: Path, tmp_path: Path, folder: str
) -> None:
    trust.adopt(workspace, config)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (workspace.spool.log if folder == "worker" else workspace.memory_db).symlink_to(precious)
    with pytest.raises(JobError, match="is a link"):
        trust.adopt(workspace, config)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["", "active", "results", "control", "worker"])
@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root makes folders of others")
def test_a_folder_of_another_user_is_not_opened_even_in_a_spool_of_ours(
    workspace: Workspace, config: Path, name: str
) -> None:
    trust.adopt(workspace, config)
    os.chown(workspace.spool.root / name, 65534, 65534)
    with pytest.raises(JobError, match="belongs to another user"):
        trust.require_trusted(workspace, config)


def test_a_folder_that_others_may_enter_is_closed_at_the_start(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config)
    opened = [*folders(workspace), *workspace.spool.folders]
    for folder in opened:
        folder.chmod(0o777)
    trust.adopt(workspace, config)
    assert {folder.stat().st_mode & 0o777 for folder in opened} == {0o700}


@pytest.mark.parametrize("name", ["worker/queue.db", "worker/heartbeat.json", "worker/notes.txt"])
def test_a_workers_own_files_are_traces_of_work(workspace: Workspace, config: Path, name: str) -> None:
    """A database made by somebody else is not one to open."""
    path = workspace.spool.root / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"theirs")
    refused(workspace, config)


@pytest.mark.parametrize("name", ["control/cancel-a.json", "worker/worker.log", "worker/lock"])
def test_a_file_of_the_spool_with_a_second_name_elsewhere_is_not_written_to(
    workspace: Workspace, config: Path, tmp_path: Path, name: str
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    path = workspace.spool.root / name
    path.parent.mkdir(parents=True)
    path.hardlink_to(precious)
    refused(workspace, config)
    assert precious.read_text() == "mine"


def test_a_file_where_a_folder_belongs_is_not_opened(workspace: Workspace, config: Path) -> None:
    workspace.memory.write_text("a file")
    refused(workspace, config)


@pytest.mark.parametrize("marker", ["0" * 32, "not a marker", "", "../../etc/passwd"])
def test_a_marker_that_the_users_list_does_not_have_opens_nothing(
    workspace: Workspace, config: Path, marker: str
) -> None:
    workspace.spool.results.mkdir(parents=True)
    (workspace.spool.results / "job-1.json").write_text("{}")
    workspace.owner_marker(workspace.spool.root).write_text(marker)
    refused(workspace, config)


def test_a_known_spool_does_not_vouch_for_a_foreign_store(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config)
    workspace.owner_marker(workspace.memory).unlink()
    workspace.memory_db.write_bytes(b"theirs")
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.require_trusted(workspace, config)


def test_a_moved_workspace_stays_known(workspace: Workspace, config: Path, tmp_path: Path) -> None:
    trust.adopt(workspace, config)
    (workspace.spool.results / "job-1.json").write_text("{}")
    owner = trust.inspect_trust(workspace, config).owner
    workspace.root.rename(tmp_path / "renamed")
    assert trust.require_trusted(Workspace(tmp_path / "renamed"), config).owner == owner


def test_on_another_machine_the_question_is_asked_once(workspace: Workspace, config: Path, tmp_path: Path) -> None:
    trust.adopt(workspace, config)
    (workspace.spool.results / "job-1.json").write_text("{}")
    other = tmp_path / "config of the other machine"
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.adopt(workspace, other)
    trust.adopt(workspace, other, trusted=True)
    assert trust.require_trusted(workspace, other).trusted is True


def test_trusting_opens_what_somebody_else_made_and_keeps_it(workspace: Workspace, config: Path) -> None:
    workspace.spool.results.mkdir(parents=True)
    (workspace.spool.results / "job-1.json").write_text("{}")
    trust.adopt(workspace, config, trusted=True)
    found = trust.require_trusted(workspace, config)
    assert (found.trusted, found.foreign) == (True, None)
    assert (workspace.spool.results / "job-1.json").read_text() == "{}"


def test_starting_a_worker_later_does_not_take_the_trust_away(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config, trusted=True)
    trust.adopt(workspace, config)
    assert trust.require_trusted(workspace, config).trusted is True


def test_only_a_trusted_workspace_names_providers(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.env_file.write_text("LLM_MODEL=theirs\nCOGNEE_MEMORY_MAX_RESULTS=9\n")
    found = trust.settings_of(workspace)
    assert (found.llm_model, found.max_results) == (None, 9)
    trust.adopt(workspace, found.config_folder, trusted=True)
    assert trust.settings_of(workspace).llm_model == "theirs"


def test_an_argument_wins_over_the_workspaces_settings(workspace: Workspace) -> None:
    workspace.env_file.write_text("COGNEE_MEMORY_MAX_RESULTS=9\n")
    assert trust.settings_of(workspace, {"max_results": 2}).max_results == 2


def _a_file(config: Path) -> None:
    config.write_text("")


def _a_file_inside(config: Path) -> None:
    config.mkdir()
    (config / "workspaces").write_text("")


@pytest.mark.parametrize("break_it", [_a_file, _a_file_inside])
def test_a_configuration_folder_that_cannot_be_written_is_said_and_nothing_is_marked(
    workspace: Workspace, config: Path, break_it: Callable[[Path], None]
) -> None:
    """A marker that the user's list does not have would close the workspace for good."""
    break_it(config)
    with pytest.raises(JobError) as caught:
        trust.adopt(workspace, config)
    assert caught.value.code == "CONFIG_UNWRITABLE"
    assert list(workspace.root.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff"])
def test_a_damaged_entry_of_the_users_list_knows_the_workspace_and_does_not_trust_it(
    workspace: Workspace, config: Path, content: bytes
) -> None:
    trust.adopt(workspace, config, trusted=True)
    (entry,) = config.rglob("*.json")
    entry.write_bytes(content)
    found = trust.inspect_trust(workspace, config)
    assert (found.trusted, found.foreign) == (False, None)


def test_the_users_list_is_private_and_says_where_the_workspace_was(workspace: Workspace, config: Path) -> None:
    trust.adopt(workspace, config)
    (entry,) = config.rglob("*.json")
    assert json.loads(entry.read_text())["first_path"] == str(workspace.root)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700
