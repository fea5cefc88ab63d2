"""Whether a workspace may be opened: whose it is, what somebody else brought, and a trust that is kept."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import at_once, git, raising

from bridge import trust
from bridge.trust_kept import KeptTrust
from jobs import client, earlier_files, plain_files
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


@pytest.fixture
def ours(workspace: Workspace, config: Path) -> Workspace:
    """A workspace that was adopted."""
    trust.adopt(workspace, config)
    return workspace


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
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED") as caught:
        trust.adopt(workspace, config)
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.settings_of(workspace)
    assert tree(workspace.root) == before
    assert not list(config.rglob("*.json"))
    return caught.value


def folders(workspace: Workspace) -> list[Path]:
    return [workspace.spool.root, workspace.memory, workspace.cognee_system, workspace.cognee_data]


def test_an_adopted_workspace_is_marked_private_and_kept_out_of_git(ours: Workspace, config: Path) -> None:
    found = trust.inspect_trust(ours, config)
    assert found.owner is not None
    assert (found.trusted, found.foreign) == (False, None)
    for folder in folders(ours):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / ".gitignore").read_text() == "*\n"
        assert ours.owner_marker(folder).read_text() == found.owner
        assert ours.owner_marker(folder).stat().st_mode & 0o777 == 0o600


def test_adopting_again_changes_nothing(ours: Workspace, config: Path) -> None:
    before = tree(ours.root), tree(config)
    trust.adopt(ours, config)
    assert (tree(ours.root), tree(config)) == before


def test_a_workspace_that_was_never_used_has_no_owner_and_is_not_foreign(workspace: Workspace, config: Path) -> None:
    assert trust.inspect_trust(workspace, config) == trust.TrustState(None, False, None)
    assert list(workspace.root.iterdir()) == []


def test_looking_at_a_workspace_does_not_change_it(workspace: Workspace, config: Path) -> None:
    client.submit(workspace.spool, "check", {})
    before = tree(workspace.root)
    trust.require_trusted(workspace, config)
    assert tree(workspace.root) == before
    assert not config.exists()


def test_jobs_and_requests_of_before_the_folder_was_ours_stay_listed(workspace: Workspace, config: Path) -> None:
    """A clone can bring them. Whether one may run is the worker's question; the list is there before the mark."""
    job_id = client.submit(workspace.spool, "check", {}).job_id
    client.cancel(workspace.spool, job_id)
    workspace.spool.worker.mkdir()
    (workspace.spool.worker / "start.log").write_text("")
    trust.adopt(workspace, config)
    listed = earlier_files.read(workspace.spool)
    for path in (workspace.spool.dropped(job_id), workspace.spool.cancel(job_id)):
        assert path.is_file()
        assert earlier_files.is_listed(path, listed)
    assert trust.inspect_trust(workspace, config).owner is not None


def test_a_file_dropped_later_under_a_listed_name_is_not_the_listed_one(workspace: Workspace, config: Path) -> None:
    job_id = client.submit(workspace.spool, "check", {}).job_id
    trust.adopt(workspace, config)
    workspace.spool.dropped(job_id).unlink()
    client.submit(workspace.spool, "check", {}, job_id=job_id)
    assert not earlier_files.is_listed(workspace.spool.dropped(job_id), earlier_files.read(workspace.spool))


def test_what_waits_in_a_folder_of_ours_is_not_listed(ours: Workspace, config: Path) -> None:
    client.submit(ours.spool, "check", {})
    trust.adopt(ours, config)
    assert earlier_files.read(ours.spool) == {}


def test_a_job_folder_that_appears_beside_our_memory_is_not_vouched_for(ours: Workspace, config: Path) -> None:
    """It was removed, and a pull brought another one."""
    shutil.rmtree(ours.spool.root)
    job_id = client.submit(ours.spool, "check", {}).job_id
    trust.adopt(ours, config)
    assert earlier_files.is_listed(ours.spool.dropped(job_id), earlier_files.read(ours.spool))


def test_who_trusts_the_workspace_lets_its_waiting_jobs_run(workspace: Workspace, config: Path) -> None:
    client.submit(workspace.spool, "check", {})
    trust.adopt(workspace, config, trusted=True)
    assert earlier_files.read(workspace.spool) == {}


def test_of_many_who_adopt_at_once_one_lists_and_all_agree(workspace: Workspace, config: Path) -> None:
    job_id = client.submit(workspace.spool, "check", {}).job_id
    at_once(lambda _: trust.adopt(workspace, config), range(8))
    assert earlier_files.is_listed(workspace.spool.dropped(job_id), earlier_files.read(workspace.spool))
    assert len({(folder / ".owner").read_bytes() for folder in folders(workspace)}) == 1
    assert len(list((config / "workspaces").glob("*.json"))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("place", ["root", "parent"])
def test_a_folder_that_everybody_may_write_to_is_not_used(tmp_path: Path, config: Path, place: str) -> None:
    """Another user could put other folders in the place of ours while a worker runs."""
    workspace = Workspace(tmp_path / "parent" / "root")
    workspace.root.mkdir(parents=True)
    folder = workspace.root if place == "root" else workspace.root.parent
    folder.chmod(0o777)
    with pytest.raises(JobError, match=f"Everybody may write to {folder}") as caught:
        trust.adopt(workspace, config)
    assert (caught.value.code, "chmod" in caught.value.remediation) == ("WORKSPACE_NOT_TRUSTED", True)
    folder.chmod(0o1777)  # as /tmp is: nobody may rename what belongs to another
    trust.adopt(workspace, config)
    folder.chmod(0o775)  # a group of one's own is usual
    trust.adopt(workspace, config)
    folder.chmod(0o777)
    assert trust.inspect_trust(workspace, config).foreign is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_mount_without_modes_is_used(workspace: Workspace, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are shown as open to everybody."""
    workspace.root.chmod(0o777)
    monkeypatch.setattr(trust, "_is_private", lambda folder: False)
    trust.adopt(workspace, config)
    assert trust.inspect_trust(workspace, config).owner is not None


TRACKED = ["{memory}/memory.db", "{spool}/active/a.json", "{spool}/results/a.json", "{spool}/.owner"]


@pytest.mark.parametrize("name", TRACKED)
def test_a_tracked_store_or_record_closes_even_a_workspace_of_ours(ours: Workspace, config: Path, name: str) -> None:
    """git replaces ignored files at a pull without a question."""
    path = name.format(memory=ours.memory.name, spool=ours.spool.root.name)
    (ours.root / path).touch()
    git(ours.root, "init", "-q", ".")
    git(ours.root, "add", "-f", path)
    with pytest.raises(JobError, match="git tracks") as caught:
        trust.require_trusted(ours, config)
    assert caught.value.code == "WORKSPACE_NOT_TRUSTED"
    assert "git rm -r --cached" in caught.value.remediation
    git(ours.root, "rm", "-rq", "--cached", ".")
    assert trust.require_trusted(ours, config).owner is not None


def test_a_tracked_job_or_ignore_file_closes_nothing(ours: Workspace, config: Path) -> None:
    """Such a job is rejected by itself."""
    client.submit(ours.spool, "check", {})
    git(ours.root, "init", "-q", ".")
    git(ours.root, "add", "-f", f"{ours.spool.root.name}/*.json", f"{ours.spool.root.name}/.gitignore")
    assert trust.require_trusted(ours, config).owner is not None


OURS = [".cognee_jobs", ".cognee_memory", ".cognee_system", ".cognee_data"]
SPOOL = [f".cognee_jobs/{name}" for name in ("active", "ended", "rejected", "results", "control", "worker")]


SOMEBODY_ELSES = [
    *(f"{folder}/job-1.json" for folder in SPOOL[:4]),
    *(f".cognee_jobs/worker/{name}" for name in ("queue.db", "heartbeat.json", "notes.txt")),
    *(f"{folder}/something.db" for folder in OURS[1:]),
    ".cognee_memory",  # a file where a folder belongs
]


@pytest.mark.parametrize("name", SOMEBODY_ELSES)
def test_what_somebody_elses_work_has_left_is_not_opened(workspace: Workspace, config: Path, name: str) -> None:
    """A database made by somebody else is not one to open."""
    path = workspace.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"theirs")
    assert name.partition("/")[0] in refused(workspace, config).message


@pytest.mark.parametrize("name", [*OURS, *SPOOL])
def test_a_link_for_a_folder_is_not_followed(workspace: Workspace, config: Path, tmp_path: Path, name: str) -> None:
    """A clone could make the worker write its files, or clear requests away, in a folder of the user's."""
    target = tmp_path / "precious"
    target.mkdir(mode=0o755)
    path = workspace.root / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(target)
    refused(workspace, config)
    assert (list(target.iterdir()), target.stat().st_mode & 0o777) == ([], 0o755)


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("name", ["control/cancel-a.json", "worker/worker.log", "worker/start.log", "worker/lock"])
def test_a_file_of_the_spool_that_lies_elsewhere_too_is_not_written_to(
    workspace: Workspace, config: Path, tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    path = workspace.spool.root / name
    path.parent.mkdir(parents=True)
    link(path, precious)
    refused(workspace, config)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("place", range(4))
def test_an_empty_folder_is_adopted(workspace: Workspace, config: Path, place: int) -> None:
    folders(workspace)[place].mkdir()
    (folders(workspace)[place] / ".gitignore").write_text("*\n")
    trust.adopt(workspace, config)
    assert trust.inspect_trust(workspace, config).foreign is None


@pytest.mark.parametrize("name", ["active", "ended", "rejected", "results", "control", "worker"])
def test_a_spool_that_has_become_a_link_is_not_opened(ours: Workspace, config: Path, tmp_path: Path, name: str) -> None:
    """A pulled commit can put a link where git ignores a folder; the marker beside it vouches for nothing then."""
    (ours.spool.root / name).rmdir()
    (tmp_path / "precious").mkdir(mode=0o755)
    (ours.spool.root / name).symlink_to(tmp_path / "precious")
    for trusted in (None, True):
        with pytest.raises(JobError) as caught:
            trust.adopt(ours, config, trusted=trusted)
        assert caught.value.code == ("WORKSPACE_NOT_TRUSTED" if trusted is None else "FILE_UNSAFE")
    assert (tmp_path / "precious").stat().st_mode & 0o777 == 0o755
    assert list((tmp_path / "precious").iterdir()) == []


@pytest.mark.parametrize("folder", ["worker", "memory"])
def test_a_written_file_turned_link_closes_our_own(ours: Workspace, config: Path, tmp_path: Path, folder: str) -> None:
    """A file of a workspace of ours that is written to and has become a link."""
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (ours.spool.log if folder == "worker" else ours.memory_db).symlink_to(precious)
    with pytest.raises(JobError, match="is a link"):
        trust.adopt(ours, config)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["", "active", "results", "control", "worker"])
@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root makes folders of others")
def test_anothers_folder_is_not_opened_even_in_a_spool_of_ours(ours: Workspace, config: Path, name: str) -> None:
    os.chown(ours.spool.root / name, 65534, 65534)
    with pytest.raises(JobError, match="belongs to another user"):
        trust.require_trusted(ours, config)


def test_a_folder_that_others_may_enter_is_closed_at_the_start(ours: Workspace, config: Path) -> None:
    opened = [*folders(ours), *ours.spool.folders]
    for folder in opened:
        folder.chmod(0o777)
    trust.adopt(ours, config)
    assert {folder.stat().st_mode & 0o777 for folder in opened} == {0o700}


@pytest.mark.parametrize("marker", ["0" * 32, "not a marker", "", "../../etc/passwd"])
def test_a_marker_that_the_users_list_lacks_opens_nothing(workspace: Workspace, config: Path, marker: str) -> None:
    workspace.spool.results.mkdir(parents=True)
    (workspace.spool.results / "job-1.json").write_text("{}")
    workspace.owner_marker(workspace.spool.root).write_text(marker)
    refused(workspace, config)


def test_a_known_spool_does_not_vouch_for_a_foreign_store(ours: Workspace, config: Path) -> None:
    ours.owner_marker(ours.memory).unlink()
    ours.memory_db.write_bytes(b"theirs")
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.require_trusted(ours, config)


def test_a_moved_workspace_stays_known(ours: Workspace, config: Path, tmp_path: Path) -> None:
    (ours.spool.results / "job-1.json").write_text("{}")
    owner = trust.inspect_trust(ours, config).owner
    ours.root.rename(tmp_path / "renamed")
    assert trust.require_trusted(Workspace(tmp_path / "renamed"), config).owner == owner


def test_on_another_machine_the_question_is_asked_once(ours: Workspace, config: Path, tmp_path: Path) -> None:
    (ours.spool.results / "job-1.json").write_text("{}")
    other = tmp_path / "config of the other machine"
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.adopt(ours, other)
    trust.adopt(ours, other, trusted=True)
    assert trust.require_trusted(ours, other).trusted is True


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


def test_only_a_trusted_workspace_names_providers(workspace: Workspace) -> None:
    workspace.env_file.write_text("LLM_MODEL=theirs\nCOGNEE_MEMORY_MAX_RESULTS=9\n")
    found = trust.settings_of(workspace)
    assert (found.llm_model, found.max_results) == (None, 9)
    trust.adopt(workspace, found.config_folder, trusted=True)
    assert trust.settings_of(workspace).llm_model == "theirs"


def test_a_full_disk_is_no_folders_fault(workspace: Workspace, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust.files, "replace", raising(OSError(errno.ENOSPC, "")))
    with pytest.raises(JobError, match="DISK_FULL"):
        trust.adopt(workspace, config)


@pytest.mark.parametrize("name", ["config", "config/workspaces"])
def test_a_folder_that_cannot_be_written_is_said_and_nothing_is_marked(
    workspace: Workspace, config: Path, name: str
) -> None:
    """A marker that the user's list does not have would close the workspace for good."""
    (config.parent / name).parent.mkdir(exist_ok=True)
    (config.parent / name).write_text("")
    with pytest.raises(JobError, match="CONFIG_UNWRITABLE"):
        trust.adopt(workspace, config)
    assert list(workspace.root.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff"])
def test_a_damaged_entry_knows_the_workspace_without_trust(workspace: Workspace, config: Path, content: bytes) -> None:
    trust.adopt(workspace, config, trusted=True)
    (entry,) = config.rglob("*.json")
    entry.write_bytes(content)
    found = trust.inspect_trust(workspace, config)
    assert (found.trusted, found.foreign) == (False, None)


def test_the_users_list_is_private_and_says_where_the_workspace_was(ours: Workspace, config: Path) -> None:
    (entry,) = config.rglob("*.json")
    assert json.loads(entry.read_text())["first_path"] == str(ours.root)
    assert entry.stat().st_mode & 0o777 == 0o600
    assert entry.parent.stat().st_mode & 0o777 == 0o700


# --- folders that vanish while a worker runs ---


def test_a_removed_folder_is_made_and_marked_again(ours: Workspace, config: Path) -> None:
    owner = trust.inspect_trust(ours, config).owner
    for folder in folders(ours)[1:]:
        shutil.rmtree(folder)
        trust.recreate(ours, config)
        assert ours.owner_marker(folder).read_text() == owner
    assert trust.require_trusted(ours, config).owner == owner


def test_a_folder_that_appeared_from_elsewhere_is_not_made_ones_own(ours: Workspace, config: Path) -> None:
    shutil.rmtree(ours.memory)
    ours.memory.mkdir()
    ours.memory_db.write_bytes(b"theirs")
    before = tree(ours.root)
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        trust.recreate(ours, config)
    assert tree(ours.root) == before


@pytest.mark.parametrize("what", ["workspace", "jobs"])
def test_a_workspace_that_is_gone_is_not_made_again(ours: Workspace, config: Path, what: str) -> None:
    gone = ours.root if what == "workspace" else ours.spool.root
    gone.rename(gone.with_name("moved"))
    with pytest.raises(JobError, match="WORKSPACE_MOVED"):
        trust.recreate(ours, config)
    assert not gone.exists()


def test_a_folder_that_is_no_longer_there_is_no_empty_workspace(ours: Workspace, config: Path) -> None:
    """A program that serves it for long would else say that nothing is known, or make it again."""
    moved = ours.root.rename(ours.root.with_name("moved"))
    for use in (lambda: trust.settings_of(ours), lambda: trust.adopt(ours, config)):
        with pytest.raises(JobError, match="WORKSPACE_MISSING"):
            use()
    assert not ours.root.exists()
    trust.adopt(Workspace(moved), config)


# --- trust kept ---


class Kept:
    """An adopted workspace, and a ``KeptTrust`` that was asked often enough to keep its state."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.config = Workspace(folder / "project"), folder / "config"
        self.workspace.root.mkdir()
        trust.adopt(self.workspace, self.config)
        self._kept = KeptTrust(self.workspace)
        for _ in range(3):
            self.ask()

    def ask(self) -> trust.TrustState:
        return self._kept.require_trusted(self.config)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files whose contents are read."""
    found: list[Path] = []
    read = plain_files.read_plain

    def noting(path: Path, *given: int) -> tuple[bytes, object]:
        found.append(path)
        return read(path, *given)

    monkeypatch.setattr(plain_files, "read_plain", noting)
    return found


def test_no_mark_is_read_again_while_nothing_changes(kept: Kept, reads: list[Path]) -> None:
    before = kept.ask()
    assert kept.ask() == before == trust.require_trusted(kept.workspace, kept.config)
    assert len(reads) == len(kept.workspace.own_folders)  # by the whole check, for comparison
    reads.clear()
    (kept.workspace.spool.root / "job.json").write_text("{}")
    assert kept.ask() == before
    assert not reads


def test_the_decision_to_trust_the_settings_is_seen(kept: Kept) -> None:
    assert not kept.ask().trusted
    trust.adopt(kept.workspace, kept.config, trusted=True)
    assert kept.ask().trusted
    assert kept.ask().trusted


def another_mark(kept: Kept) -> None:
    kept.workspace.owner_marker(kept.workspace.memory).write_text("f" * 32, "ascii")
    (kept.workspace.memory / "memory.db").write_bytes(b"")


def another_folder(kept: Kept) -> None:
    kept.workspace.memory.rename(kept.workspace.root / "away")
    kept.workspace.memory.mkdir()
    (kept.workspace.memory / "memory.db").write_bytes(b"")


def a_link_in_the_place_of_a_folder(kept: Kept) -> None:
    kept.workspace.memory.rename(kept.workspace.root / "away")
    kept.workspace.memory.symlink_to(kept.workspace.root / "away")


def a_link_among_the_files(kept: Kept) -> None:
    (kept.workspace.memory / "memory.db").symlink_to(kept.workspace.root / "other.db")


def a_link_in_the_place_of_a_folder_of_the_spool(kept: Kept) -> None:
    kept.workspace.spool.control.rename(kept.workspace.root / "away")
    kept.workspace.spool.control.symlink_to(kept.workspace.root / "away")


def a_list_without_the_mark(kept: Kept) -> None:
    (kept.workspace.memory / "memory.db").write_bytes(b"")
    for entry in (kept.config / "workspaces").glob("*.json"):
        entry.unlink()


def a_root_that_everybody_may_write_to(kept: Kept) -> None:
    kept.workspace.root.chmod(0o777)


REASONS = [
    another_mark,
    another_folder,
    a_link_in_the_place_of_a_folder,
    a_link_among_the_files,
    a_link_in_the_place_of_a_folder_of_the_spool,
    a_list_without_the_mark,
    a_root_that_everybody_may_write_to,
]


@pytest.mark.parametrize("change", REASONS)
def test_each_reason_to_refuse_is_seen_at_the_next_question(kept: Kept, change: Callable[[Kept], None]) -> None:
    change(kept)
    for _ in range(3):
        with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
            kept.ask()


def test_a_refusal_ends_with_its_reason(kept: Kept) -> None:
    a_root_that_everybody_may_write_to(kept)
    with pytest.raises(JobError, match="WORKSPACE_NOT_TRUSTED"):
        kept.ask()
    kept.workspace.root.chmod(0o755)
    assert kept.ask().owner is not None


def test_folders_with_marks_of_two_workspaces_are_checked_whole_each_time(kept: Kept, reads: list[Path]) -> None:
    """Two entries of the list decide, and only one of them would be looked at."""
    other = "e" * 32
    (kept.config / "workspaces" / f"{other}.json").write_text(json.dumps({"trusted": False}))
    kept.workspace.owner_marker(kept.workspace.memory).write_text(other, "ascii")
    for _ in range(3):
        kept.ask()
    reads.clear()
    assert not kept.ask().trusted
    assert reads
