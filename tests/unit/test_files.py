"""Durable, private files, and state files, which are read by one rule."""

import errno
import os
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import masked, raising

from jobs import batch, files, plain_files, state_file
from jobs.errors import JobError

OTHER = 65534  # nobody's user id

root = pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root makes files of others")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and pipes of POSIX")


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    with masked(request.param):
        yield request.param


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


FULL_DISKS = [
    (OSError(errno.ENOSPC, ""), True),
    (OSError(getattr(errno, "EDQUOT", errno.ENOSPC), ""), True),
    (OSError(errno.EACCES, ""), False),
    (ValueError(), False),
]


@pytest.mark.parametrize(("error", "expected"), FULL_DISKS)
def test_a_full_disk_and_a_used_up_quota_are_both_no_space(error: Exception, expected: bool) -> None:
    assert files.is_no_space(error) is expected


def test_files_and_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    files.write_new(tmp_path / "new", b"x")
    files.replace(tmp_path / "replaced", b"x")
    files.replace_without_sync(tmp_path / "loose", b"x")
    assert [mode(tmp_path / name) for name in ("new", "replaced", "loose")] == [0o600] * 3
    files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700


@pytest.mark.parametrize("before", [0o755, 0o000], ids=["others could read it", "nobody may read it"])
def test_a_folder_of_ours_becomes_private(tmp_path: Path, before: int) -> None:
    (tmp_path / "folder").mkdir(mode=before)
    files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700


def test_a_folder_of_ours_that_is_hidden_is_opened_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir(mode=0o000)
    monkeypatch.setattr(os, "open", Reader(os.open, 1))  # root is refused nothing
    files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700


def test_a_link_put_for_a_folder_after_the_look_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir(mode=0o755)
    (tmp_path / "target").mkdir(mode=0o755)
    real = os.open

    def swap_then_open(path: Path, *arguments: int) -> int:
        monkeypatch.setattr(os, "open", real)
        path.rmdir()
        path.symlink_to(tmp_path / "target")
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", swap_then_open)
    with pytest.raises(OSError):
        files.make_folder(tmp_path / "folder")
    assert mode(tmp_path / "target") == 0o755


def kinds(base: Path) -> dict[str, Path]:
    """Entries that are not what they seem."""
    (base / "target").mkdir(mode=0o755)
    (base / "link").symlink_to(base / "target")
    (base / "dangling").symlink_to(base / "none")
    (base / "file").write_bytes(b"x")
    os.mkfifo(base / "pipe")
    return {name: base / name for name in ("link", "dangling", "file", "pipe")}


@pytest.mark.parametrize("name", ["link", "dangling", "file", "pipe"])
def test_what_is_no_real_folder_is_not_taken_for_one(tmp_path: Path, name: str) -> None:
    path = kinds(tmp_path)[name]
    with pytest.raises(JobError, match="FILE_UNSAFE"):
        files.make_folder(path)
    assert mode(tmp_path / "target") == 0o755
    assert not (tmp_path / "none").exists()


def test_a_link_is_followed_where_the_user_may_have_made_it(tmp_path: Path) -> None:
    files.make_folder(kinds(tmp_path)["link"], links=True)
    assert mode(tmp_path / "target") == 0o700


@root
def test_another_users_folder_is_neither_used_nor_changed(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o777)
    os.chown(tmp_path / "theirs", OTHER, OTHER)
    before = mode(tmp_path / "theirs")
    with pytest.raises(JobError, match="another user"):
        files.make_folder(tmp_path / "theirs")
    assert mode(tmp_path / "theirs") == before


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_modes_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int) -> None:
    (tmp_path / "folder").mkdir(mode=0o755)
    monkeypatch.setattr(os, "fchmod", raising(OSError(refusal, os.strerror(refusal))))
    with masked(0o277):
        files.make_folder(tmp_path / "folder")
        files.replace(tmp_path / "folder" / "file", b"x")
    assert (tmp_path / "folder" / "file").read_bytes() == b"x"


def test_replacing_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    files.replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == {"file"}


def test_a_failed_replacing_keeps_the_old_file_without_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")

    monkeypatch.setattr(files, "sync", raising(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        files.replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"file"}


def test_a_rename_that_fails_leaves_no_part(tmp_path: Path) -> None:
    (tmp_path / "folder" / "full").mkdir(parents=True)
    with pytest.raises(OSError):
        files.replace(tmp_path / "folder", b"new")
    assert names(tmp_path) == {"folder"}


def test_content_is_durable_before_its_name_and_that_at_return(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    rename = files.rename
    monkeypatch.setattr(files, "sync", lambda descriptor: steps.append("sync content"))
    monkeypatch.setattr(files, "rename", lambda *paths: (steps.append("rename"), rename(*paths)))
    monkeypatch.setattr(files, "sync_folder", lambda folder: steps.append(f"sync {folder.name}"))
    files.replace(tmp_path / "a", b"x")
    assert steps == ["sync content", "rename", f"sync {tmp_path.name}"]


def test_macs_own_sync_is_used_and_the_common_one_where_a_mount_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    asked: list[str] = []
    answers: list[OSError | None] = [None, OSError(errno.ENOTSUP, ""), OSError(errno.EIO, "")]

    def full_sync(descriptor: int, command: int) -> None:
        asked.append("full")
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", full_sync)
    monkeypatch.setattr(os, "fsync", lambda descriptor: asked.append("common"))
    files.sync(1)
    assert asked == ["full"]
    files.sync(1)
    assert asked == ["full", "full", "common"]
    with pytest.raises(OSError):
        files.sync(1)


@pytest.mark.skipif(sys.platform != "linux", reason="a kernel without that command")
def test_a_kernel_without_macs_sync_is_asked_the_common_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    files.replace(tmp_path / "file", b"x")
    assert (tmp_path / "file").read_bytes() == b"x"


def test_a_mount_without_folder_syncs_is_borne_no_broken_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(code: int) -> Callable[[int], None]:
        return raising(OSError(code, os.strerror(code)))

    monkeypatch.setattr(os, "fsync", answer(errno.EINVAL))
    files.sync_folder(tmp_path)
    for code in (errno.EIO, errno.ENOSPC):
        monkeypatch.setattr(os, "fsync", answer(code))
        with pytest.raises(OSError):
            files.sync_folder(tmp_path)


class Reader:
    """Somebody who has a file open on Windows: the first calls are refused."""

    def __init__(self, action: Callable[..., object], refusals: int) -> None:
        self.action, self.refusals = action, refusals

    def __call__(self, *arguments: object, **options: object) -> object:
        self.refusals -= 1
        if self.refusals >= 0:
            raise PermissionError(errno.EACCES, "used by another process")
        return self.action(*arguments, **options)


@pytest.mark.parametrize("name", ["replace", "unlink"])
def test_on_windows_a_reader_is_waited_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The logic of it; no Windows was there to run it on."""
    pauses: list[float] = []
    monkeypatch.setattr(files, "_WINDOWS", True)
    monkeypatch.setattr(time, "sleep", pauses.append)
    do = files.remove if name == "unlink" else lambda path: files.rename(path, path.with_name("new"))
    for refusals, passes in ((3, True), (99, False)):
        path = tmp_path / "file"
        path.write_bytes(b"x")
        reader = Reader(getattr(Path, name), refusals)
        monkeypatch.setattr(Path, name, lambda *a, reader=reader, **o: reader(*a, **o))
        if passes:
            do(path)
            assert not path.exists()
            assert pauses == sorted(pauses)
            assert len(pauses) == 3
        else:
            with pytest.raises(PermissionError):
                do(path)
            assert 0.5 < sum(pauses) < 5
        monkeypatch.setattr(Path, name, reader.action)


@pytest.mark.parametrize("name", ["replace", "unlink"])
def test_elsewhere_a_refusal_is_final(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("waited"))
    monkeypatch.setattr(Path, name, Reader(getattr(Path, name), 1))
    with pytest.raises(PermissionError):
        files.remove(tmp_path / "a") if name == "unlink" else files.rename(tmp_path / "a", tmp_path / "b")


def test_files_put_in_place_together_share_a_folders_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    batch.replace_many((tmp_path / name, name.encode()) for name in "abc")
    assert synced == [tmp_path]
    assert [(tmp_path / name).read_bytes() for name in "abc"] == [b"a", b"b", b"c"]


def test_an_error_of_one_of_many_files_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "7" / "in its place").mkdir(parents=True)
    with pytest.raises(OSError):
        batch.replace_many((tmp_path / str(number), b"new") for number in range(40))
    assert {path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == {b"new"}
    assert not list(tmp_path.glob(".*"))


def test_a_new_file_does_not_overwrite(tmp_path: Path) -> None:
    files.write_new(tmp_path / "file", b"first")
    with pytest.raises(FileExistsError):
        files.write_new(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"first"


def test_a_new_file_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError):
        files.write_new(tmp_path / "link", b"x")
    assert not (tmp_path / "target").exists()


def test_replacing_a_link_replaces_the_link_and_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"target")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    files.replace(tmp_path / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"target"
    assert not (tmp_path / "link").is_symlink()
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
        plain_files.read_plain(path, limit)
    return caught.value.code


def test_a_plain_file_is_read_with_its_status_and_a_missing_one_is_told_from_an_unsafe_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    data, status = plain_files.read_plain(tmp_path / "file", 10)
    assert data == b"0123456789"
    assert status.st_size == 10
    with pytest.raises(FileNotFoundError):
        plain_files.read_plain(tmp_path / "none", 10)


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789x")
    assert refused(tmp_path / "file") == "FILE_TOO_LARGE"


def test_a_file_that_grows_too_large_after_the_look_is_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    fstat = os.fstat

    def fstat_then_grow(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        path.write_bytes(b"0" * 100)
        return found

    monkeypatch.setattr(os, "fstat", fstat_then_grow)
    assert refused(path) == "FILE_TOO_LARGE"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    assert refused(tmp_path / "link") == "FILE_UNSAFE"
    assert refused(tmp_path / "dangling") == "FILE_UNSAFE"


def test_a_second_name_of_a_file_is_refused_and_that_it_is_only_that_can_be_told(tmp_path: Path) -> None:
    """Who puts a file in place by link and unlink has two names for a moment."""
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "second").hardlink_to(tmp_path / "file")
    with pytest.raises(JobError, match="FILE_UNSAFE") as caught:
        plain_files.read_plain(tmp_path / "second", 10)
    assert caught.value.details == {"names": 2}
    assert plain_files.read_own(tmp_path / "second", 10) == b"x"
    (tmp_path / "file").unlink()
    assert plain_files.read_plain(tmp_path / "second", 10)[0] == b"x"


def test_what_is_no_plain_file_is_not_even_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening alone has effects: it wakes a pipe's writer, and rewinds a tape."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(os, "open", lambda *arguments, **options: pytest.fail("opened"))
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        assert refused(path) == "FILE_UNSAFE"


def swap(path: Path, by: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at a file and its opening, something else comes to lie there."""
    real = os.open

    def swap_then_open(*arguments: object, **options: object) -> int:
        monkeypatch.setattr(os, "open", real)
        path.unlink()
        by(path)
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", swap_then_open)


@pytest.mark.parametrize("read", [plain_files.read_plain, plain_files.read_own])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "folder", "socket", "device"])
def test_what_comes_between_the_look_and_the_opening_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, read: Callable[[Path, int], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    secret, path = tmp_path / "secret", tmp_path / "file"
    secret.write_bytes(b"secret")
    path.write_bytes(b"{}")
    listener = socket.socket(socket.AF_UNIX)
    by: dict[str, Callable[[Path], object]] = {
        "link": lambda path: path.symlink_to(secret),
        "dangling": lambda path: path.symlink_to(tmp_path / "none"),
        "pipe": os.mkfifo,
        "folder": lambda path: path.mkdir(),
        "socket": lambda path: listener.bind(path.name),
        "device": lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5)),
    }
    if kind == "device" and os.getuid() != 0:
        pytest.skip("only root makes devices")
    swap(path, by[kind], monkeypatch)  # type: ignore[arg-type]
    before = descriptors()
    with listener, pytest.raises(JobError, match="FILE_UNSAFE"):
        read(path, 10)
    assert descriptors() <= before


def descriptors() -> int:
    return len(list(Path("/dev/fd").iterdir()))


def test_without_nofollow_a_link_in_between_is_found_out_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no O_NOFOLLOW: there, what was opened must be what was looked at."""
    (tmp_path / "secret").write_bytes(b"secret")
    path = tmp_path / "file"
    path.write_bytes(b"{}")
    monkeypatch.setattr(plain_files, "_NOFOLLOW", 0)
    monkeypatch.setattr(plain_files, "_READ", plain_files._READ & ~os.O_NOFOLLOW)
    assert plain_files.read_plain(path, 10)[0] == b"{}"
    swap(path, lambda path: path.symlink_to(tmp_path / "secret"), monkeypatch)
    with pytest.raises(FileNotFoundError):
        plain_files.read_plain(path, 10)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE])
def test_a_passing_trouble_does_not_condemn_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    (tmp_path / "file").write_bytes(b"{}")

    monkeypatch.setattr(os, "open", raising(OSError(code, os.strerror(code))))
    with pytest.raises(OSError) as caught:
        plain_files.read_plain(tmp_path / "file", 10)
    assert caught.value.errno == code


def test_our_own_file_that_we_may_not_read_is_refused_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"{}")
    monkeypatch.setattr(os, "open", Reader(os.open, 1))
    with pytest.raises(JobError, match="cannot be opened") as caught:
        plain_files.read_plain(tmp_path / "file", 10)
    assert caught.value.code == "FILE_UNSAFE"


def test_a_file_of_another_user_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"more than the limit")
    assert plain_files.is_own_file(tmp_path / "file")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert refused(tmp_path / "file") == "FILE_UNSAFE"
    assert not plain_files.is_own_file(tmp_path / "file")


def test_a_file_replaced_while_it_is_open_is_read_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    files.replace(path, b"old")
    fstat = os.fstat

    def replace_then_fstat(descriptor: int) -> os.stat_result:
        monkeypatch.setattr(os, "fstat", fstat)
        files.replace(path, b"new")
        return fstat(descriptor)

    monkeypatch.setattr(os, "fstat", replace_then_fstat)
    assert plain_files.read_plain(path, 10)[0] == b"old"
    assert plain_files.read_plain(path, 10)[0] == b"new"


def test_a_reader_never_sees_a_part_while_a_writer_replaces(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [letter.encode() * size for letter, size in (("a", 300_000), ("b", 7), ("c", 90_001))]
    files.replace_without_sync(path, contents[0])
    done = threading.Event()

    def write() -> None:
        try:
            for turn in range(300):
                files.replace_without_sync(path, contents[turn % 3])
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = 0
    while not done.is_set():
        assert plain_files.read_plain(path, 1_000_000)[0] in contents
        seen += 1
    writer.join()
    assert seen > 0
    assert names(tmp_path) == {"file"}


@pytest.mark.parametrize("mask", [0o022, 0o277])
def test_missing_parents_are_private_too(tmp_path: Path, mask: int) -> None:
    with masked(mask):
        files.make_folder(tmp_path / "a" / "b" / "c")
    for path in ("a", "a/b", "a/b/c"):
        assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o700, path


# --- state files: whatever stands in their place ---


def read(path: Path) -> str:
    return state_file.read(path, lambda content: str(content["name"].upper()), absent="absent", damaged="damaged")


def test_a_state_file_is_read_in_its_shape_also_under_a_second_hard_link_and_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    assert read(path) == "absent"
    path.write_text('{"name": "worker"}')
    os.link(path, tmp_path / "backup.json")
    assert read(path) == "WORKER"


def _link(path: Path) -> None:
    (path.parent / "elsewhere.json").write_text('{"name": "worker"}')
    path.symlink_to(path.parent / "elsewhere.json")


def _text(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text)


IN_ITS_PLACE = [
    pytest.param(_link, id="link"),
    pytest.param(Path.mkdir, id="folder"),
    pytest.param(os.mkfifo, id="pipe"),
    pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), id="no UTF-8"),
    pytest.param(_text(""), id="empty"),
    pytest.param(_text('{"name": "wor'), id="half written"),
    pytest.param(_text('{"name": "worker", "size": NaN}'), id="NaN"),
    pytest.param(_text('{"name": "worker", "more": ' + "[" * 100_000 + "]" * 100_000 + "}"), id="deep"),
    pytest.param(_text(" " * state_file.LIMIT + '{"name": "worker"}'), id="huge"),
    pytest.param(_text('{"name": "worker", "size": ' + "9" * 5000 + "}"), id="long number"),
    pytest.param(_text('{"name": 1}'), id="another type"),
    pytest.param(_text("{}"), id="without a field"),
    pytest.param(_text("[]"), id="a list"),
    pytest.param(_text("null"), id="null"),
]


@pytest.mark.parametrize("put", IN_ITS_PLACE)
def test_whatever_is_in_place_of_a_state_file_is_damage_only(tmp_path: Path, put: Callable[[Path], Any]) -> None:
    path = tmp_path / "state.json"
    put(path)
    assert read(path) == "damaged"
