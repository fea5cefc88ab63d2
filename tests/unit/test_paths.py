"""Files that a job names: inside the workspace, by a way without a link, or not at all."""

import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from jobs import paths
from jobs.errors import JobError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")

OTHER = 65534  # nobody's user id


@pytest.fixture(params=["walk", "look twice"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace beside a secret, by either way: the second is for systems that cannot open inside a folder."""
    monkeypatch.setattr(paths, "_CAN_WALK", request.param == "walk")
    found = tmp_path / "workspace"
    (found / "docs" / "deep").mkdir(parents=True)
    (found / "docs" / "notes.md").write_bytes(b"notes")
    (found / "docs" / "deep" / "more.md").write_bytes(b"more")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_bytes(b"secret")
    return found


def code(root: Path, text: str) -> str:
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(JobError) as caught:
        paths.read_inside(root, text, 100)
    assert len(list(Path("/dev/fd").iterdir())) == before, "a descriptor was left open"
    return caught.value.code


@pytest.mark.parametrize("text", ["docs/notes.md", "./docs/notes.md", "docs//notes.md", "docs/./notes.md"])
def test_a_file_of_the_workspace_is_read(root: Path, text: str) -> None:
    assert paths.read_inside(root, text, 5) == b"notes"
    with paths.open_inside(root, "docs/deep/more.md") as file:
        assert file.read() == b"more"


def test_an_absolute_path_is_one_like_any_other_if_it_lies_inside(root: Path) -> None:
    assert paths.read_inside(root, str(root / "docs" / "notes.md"), 5) == b"notes"
    assert code(root, str(root)) == "ARGUMENT_INVALID"
    assert code(root, str(root.parent / "workspace-2" / "a")) == "ARGUMENT_INVALID"


def test_a_workspace_that_is_itself_reached_by_a_link_is_no_matter(root: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(root)
    assert paths.read_inside(tmp_path / "linked", "docs/notes.md", 5) == b"notes"


REFUSED_PATHS = [
    "../secret/key", "docs/../../secret/key", "docs/../docs/notes.md", "..", "/etc/passwd", "/", "", ".",
    "docs/notes.md\0", "\0", "none", "docs/none", "none/notes.md", "docs/notes.md/inside", "a" * 300, "a/" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED_PATHS)
def test_a_path_that_leads_out_or_nowhere_is_refused(root: Path, text: str) -> None:
    assert code(root, text) == "ARGUMENT_INVALID"


def test_who_names_a_file_that_is_not_there_is_told_to_put_it_there(root: Path) -> None:
    with pytest.raises(JobError, match="There is no file at") as refused:
        paths.open_inside(root, "lost.jsonl")
    assert "Put the file there" in refused.value.remediation


@pytest.mark.parametrize("folder", [".git", ".GIT", ".cognee_memory", ".cognee_jobs", ".Cognee_System", "docs/.git"])
def test_our_own_folders_and_gits_are_closed(root: Path, folder: str) -> None:
    (root / folder).mkdir()
    (root / folder / "config").write_bytes(b"x")
    assert code(root, f"{folder}/config") == "ARGUMENT_INVALID"


def test_another_name_of_a_closed_folder_opens_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``GIT~1`` on Windows, other Unicode on a Mac: the same folder. Here, a listing that knows it by another name."""
    (root / "GIT~1").mkdir()
    (root / "GIT~1" / "config").write_bytes(b"x")
    assert paths.read_inside(root, "GIT~1/config", 5) == b"x"
    status = (root / "GIT~1").stat()
    monkeypatch.setattr(paths, "_private_folders", lambda root: {(status.st_dev, status.st_ino)})
    assert code(root, "GIT~1/config") == "ARGUMENT_INVALID"


def test_what_is_closed_is_known_by_what_it_is(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".cognee_data").mkdir()
    expected = {(s.st_dev, s.st_ino) for s in ((root / n).stat() for n in (".git", ".cognee_data"))}
    assert paths._private_folders(root) == expected


@pytest.mark.parametrize("to", ["../../secret/key", "notes.md", "none"])
def test_a_link_at_the_end_is_not_followed_wherever_it_leads(root: Path, to: str) -> None:
    (root / "docs" / "link").symlink_to(to)
    assert code(root, "docs/link") == "FILE_UNSAFE"


@pytest.mark.parametrize("to", ["../secret", "docs", ".git", "none"])
def test_a_link_in_the_middle_is_not_followed_wherever_it_leads(root: Path, to: str) -> None:
    (root / ".git").mkdir()
    (root / "link").symlink_to(to)
    assert code(root, "link/key") == "FILE_UNSAFE"
    assert code(root, "link/notes.md") == "FILE_UNSAFE"


def test_folders_pipes_sockets_and_devices_are_no_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "docs")
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert code(root, "docs/socket") == "FILE_UNSAFE"
    assert code(root, "docs/pipe") == "FILE_UNSAFE"
    assert code(root, "docs/deep") == "FILE_UNSAFE"
    assert code(Path("/dev"), "zero") == "FILE_UNSAFE"
    assert code(root, "docs/pipe/inside") in ("ARGUMENT_INVALID", "FILE_UNSAFE")


@pytest.mark.skipif(sys.platform != "win32" and os.getuid() != 0, reason="only root makes files of others")
def test_another_users_file_is_not_read(root: Path) -> None:
    os.chown(root / "docs" / "notes.md", OTHER, OTHER)
    assert code(root, "docs/notes.md") == "FILE_UNSAFE"


def test_a_file_over_the_limit_is_not_taken(root: Path) -> None:
    with pytest.raises(JobError, match="FILE_TOO_LARGE"):
        paths.read_inside(root, "docs/notes.md", 4)


def test_whoever_swaps_folders_and_links_while_we_read_never_gets_the_secret_out(root: Path, tmp_path: Path) -> None:
    """The folder on the way becomes a link to another with a file of that name, and back, all the time."""
    (tmp_path / "secret" / "notes.md").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    done = threading.Event()
    swaps = [0]

    def swap() -> None:
        while not done.is_set():
            for source, target in (("docs", "kept"), ("link", "docs"), ("docs", "link"), ("kept", "docs")):
                (root / source).rename(root / target)
            swaps[0] += 1

    swapper = threading.Thread(target=swap)
    swapper.start()
    read, codes = 0, Counter[str]()
    try:
        while read + codes.total() < 3000 or swaps[0] < 100:
            try:
                assert paths.read_inside(root, "docs/notes.md", 100) == b"notes"
                read += 1
            except JobError as error:
                codes[error.code] += 1
    finally:
        done.set()
        swapper.join()
    assert read
    assert set(codes)
    assert set(codes) <= {"FILE_UNSAFE", "ARGUMENT_INVALID"}


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parents[2] / "secret" / "key")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("swap", [_link, _pipe])
def test_a_file_that_is_swapped_between_the_look_and_the_opening_is_not_read(
    root: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path], None]
) -> None:
    real = os.open

    def swap_then_open(path: str | Path, *arguments: int, **options: int | None) -> int:
        if Path(path).name == "notes.md":
            monkeypatch.setattr(os, "open", real)
            swap(root / "docs" / "notes.md")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", swap_then_open)
    assert code(root, "docs/notes.md") == "FILE_UNSAFE"


def test_a_folder_swapped_at_opening_is_found(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is swapped for that moment alone."""
    (tmp_path / "secret" / "notes.md").write_bytes(b"secret")
    real = os.open

    def open_elsewhere(path: str | Path, *arguments: int, **options: int | None) -> int:
        if Path(path).name != "notes.md":
            return real(path, *arguments, **options)
        (root / "docs").rename(root / "kept")
        (root / "docs").symlink_to(tmp_path / "secret")
        try:
            return real(path, *arguments, **options)
        finally:
            (root / "docs").unlink()
            (root / "kept").rename(root / "docs")

    monkeypatch.setattr(os, "open", open_elsewhere)
    if paths._CAN_WALK:
        assert paths.read_inside(root, "docs/notes.md", 100) == b"notes", "an open folder needs no name"
    else:
        assert code(root, "docs/notes.md") == "FILE_UNSAFE"
