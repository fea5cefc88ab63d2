"""Durable, private files."""

from __future__ import annotations

import os
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import files
from jobs.errors import JobError

posix = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@posix
def test_a_file_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    files.write_new(tmp_path / "new", b"x")
    files.replace(tmp_path / "replaced", b"x")
    files.replace_loosely(tmp_path / "loose", b"x")
    assert [mode(tmp_path / name) for name in ("new", "replaced", "loose")] == [0o600] * 3


@posix
def test_a_folder_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700


@posix
def test_a_folder_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir(mode=0o755)
    files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700


def test_missing_parents_are_made(tmp_path: Path) -> None:
    files.make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_replacing_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    files.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == {"file"}


def test_replacing_that_fails_keeps_the_old_file_and_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "sync", full)
    with pytest.raises(OSError, match="No space"):
        files.replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"file"}


def test_a_rename_that_fails_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(OSError):
        files.replace(tmp_path / "folder", b"new")
    assert names(tmp_path) == {"folder"}


def test_content_is_on_the_medium_before_its_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    rename = files.rename
    monkeypatch.setattr(files, "sync", lambda descriptor: steps.append("sync content"))
    monkeypatch.setattr(files, "rename", lambda *paths: (steps.append("rename"), rename(*paths)))
    monkeypatch.setattr(files, "sync_folder", lambda folder: steps.append(f"sync {folder.name}"))
    files.replace(tmp_path / "a", b"x")
    assert steps == ["sync content", "rename", f"sync {tmp_path.name}"]


def test_files_put_in_place_together_share_one_sync_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    files.replace_many((tmp_path / name, name.encode()) for name in "abc")
    assert synced == [tmp_path]
    assert [(tmp_path / name).read_bytes() for name in "abc"] == [b"a", b"b", b"c"]


def test_a_new_file_does_not_overwrite(tmp_path: Path) -> None:
    files.write_new(tmp_path / "file", b"first")
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"first"


@posix
def test_a_new_file_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError):
        files.write_new(tmp_path / "link", b"x")
    assert not (tmp_path / "target").exists()


@posix
def test_replacing_a_link_replaces_the_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"target")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.replace(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"target"
    assert not (tmp_path / "link").is_symlink()


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    files.remove(tmp_path / "none")


def test_git_ignores_a_folder_of_ours(tmp_path: Path) -> None:
    files.ignore_in_git(tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == b"*\n"
    (tmp_path / ".gitignore").write_bytes(b"# mine\n")
    files.ignore_in_git(tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == b"# mine\n"


# --- reading ---


def refused(path: Path, limit: int = 10) -> str:
    with pytest.raises(JobError) as caught:
        files.read_plain(path, limit)
    return caught.value.code


def test_a_plain_file_is_read_with_its_status(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    data, status = files.read_plain(tmp_path / "file", 10)
    assert data == b"0123456789"
    assert status.st_size == 10


def test_a_missing_file_is_told_apart_from_an_unsafe_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.read_plain(tmp_path / "none", 10)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789x")
    assert refused(tmp_path / "file") == "FILE_TOO_LARGE"


def test_a_file_that_grows_over_the_limit_after_the_look_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    fstat = os.fstat

    def fstat_then_grow(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        path.write_bytes(b"0" * 100)
        return found

    monkeypatch.setattr(os, "fstat", fstat_then_grow)
    assert refused(path) == "FILE_TOO_LARGE"


@posix
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    assert refused(tmp_path / "link") == "FILE_UNSAFE"
    assert refused(tmp_path / "dangling") == "FILE_UNSAFE"


@posix
def test_a_second_name_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "second").hardlink_to(tmp_path / "file")
    assert refused(tmp_path / "second") == "FILE_UNSAFE"


@posix
def test_a_pipe_without_a_writer_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == "FILE_UNSAFE"


@posix
def test_folders_sockets_and_devices_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert refused(tmp_path / "socket") == "FILE_UNSAFE"
    assert refused(tmp_path) == "FILE_UNSAFE"
    assert refused(Path("/dev/zero")) == "FILE_UNSAFE"


@posix
def test_a_file_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"x")
    assert files.owned_by_user(tmp_path / "file")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert refused(tmp_path / "file") == "FILE_UNSAFE"
    assert not files.owned_by_user(tmp_path / "file")


@posix
def test_a_file_that_is_replaced_while_it_is_open_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    fstat = os.fstat

    def replace_then_fstat(descriptor: int) -> os.stat_result:
        monkeypatch.setattr(os, "fstat", fstat)
        files.replace(path, b"new")
        return fstat(descriptor)

    monkeypatch.setattr(os, "fstat", replace_then_fstat)
    assert files.read_plain(path, 10)[0] == b"old"
    assert files.read_plain(path, 10)[0] == b"new"


def test_a_reader_never_sees_a_part_while_a_writer_replaces(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [letter.encode() * size for letter, size in (("a", 300_000), ("b", 7), ("c", 90_001))]
    files.replace_loosely(path, contents[0])
    done = threading.Event()

    def write() -> None:
        try:
            for turn in range(300):
                files.replace_loosely(path, contents[turn % 3])
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = 0
    while not done.is_set():
        assert files.read_plain(path, 1_000_000)[0] in contents
        seen += 1
    writer.join()
    assert seen > 0
    assert names(tmp_path) == {"file"}
