"""A kept trust says at every question what a whole check would say, and reads no file while nothing has changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bridge import trust
from bridge.trust_kept import KeptTrust
from jobs import plain_files
from jobs.errors import JobError
from jobs.layout import Workspace


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


@pytest.mark.parametrize(
    "change",
    [
        another_mark,
        another_folder,
        a_link_in_the_place_of_a_folder,
        a_link_among_the_files,
        a_link_in_the_place_of_a_folder_of_the_spool,
        a_list_without_the_mark,
        a_root_that_everybody_may_write_to,
    ],
)
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
