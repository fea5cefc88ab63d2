"""What the model lets survive, and that the recorder sees everything or says so."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import PATIENCE

from power_cut import cuts
from power_cut.model import ROOT, Disk, Rules, Tree, tree_of
from power_cut.operations import Kind, NotModelled, Operation
from power_cut.recording import Recording, compile_recorder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the recorder is made for Linux")

ROOT_INODE, FOLDER, FILE, OTHER = 1, 2, 3, 4


def op(kind: Kind, path: str = "", target: str = "", **fields: object) -> Operation:
    return Operation(kind, 0, f"/root/{path}" if path else "", f"/root/{target}" if target else "", **fields)  # type: ignore[arg-type]


def disk_of(*operations: Operation, rules: Rules = "strict") -> Disk:
    return Disk("/root", ROOT_INODE, [Operation("sync all", 0), *operations], rules)


def every_state(disk: Disk) -> list[Tree]:
    """What may be there after the last step, for every subset of the pending steps (each whole or lost)."""
    pending = disk.pending(len(disk.steps))
    found: list[Tree] = []
    for bits in range(2 ** len(pending)):
        survivors = {index: "whole" for place, index in enumerate(pending) if bits >> place & 1}
        tree = disk.tree(len(disk.steps), survivors)  # type: ignore[arg-type]
        if tree not in found:
            found.append(tree)
    return found


CREATED = (op("create", "a", inode=FILE), op("write", inode=FILE, data=b"text"))
SYNCED_FILE, SYNCED_ROOT = op("sync", inode=FILE), op("sync", inode=ROOT_INODE)


def test_without_a_sync_name_and_content_survive_each_for_itself() -> None:
    assert every_state(disk_of(*CREATED)) == [{}, {"a": b""}, {"a": b"text"}]


def test_a_synced_file_has_its_content_wherever_its_name_is() -> None:
    assert every_state(disk_of(*CREATED, SYNCED_FILE)) == [{}, {"a": b"text"}]


def test_a_synced_folder_has_its_names_but_not_their_content() -> None:
    assert every_state(disk_of(*CREATED, SYNCED_ROOT)) == [{"a": b""}, {"a": b"text"}]


def test_with_both_synced_nothing_can_be_lost() -> None:
    assert every_state(disk_of(*CREATED, SYNCED_FILE, SYNCED_ROOT)) == [{"a": b"text"}]


def test_where_a_journal_orders_names_any_sync_keeps_the_earlier_ones() -> None:
    assert every_state(disk_of(*CREATED, SYNCED_FILE, rules="journal")) == [{"a": b"text"}]


def test_what_comes_after_a_sync_is_not_covered_by_it() -> None:
    disk = disk_of(*CREATED, SYNCED_FILE, SYNCED_ROOT, op("write", inode=FILE, offset=2, data=b"XY!"))
    assert every_state(disk) == [{"a": b"text"}, {"a": b"teXY!"}]


def test_a_rename_shows_the_old_file_or_the_new_one_and_loses_neither() -> None:
    disk = disk_of(
        *CREATED, SYNCED_FILE, SYNCED_ROOT,
        op("create", "part", inode=OTHER), op("write", inode=OTHER, data=b"new"), op("sync", inode=OTHER),
        op("rename", "part", "a"),
    )  # fmt: skip
    assert every_state(disk) == [{"a": b"text"}, {"a": b"text", "part": b"new"}, {"a": b"new"}]


def test_a_rename_before_the_content_was_synced_may_show_an_empty_file() -> None:
    disk = disk_of(*CREATED, op("rename", "a", "b"), SYNCED_ROOT)
    assert every_state(disk) == [{"b": b""}, {"b": b"text"}]


def test_a_rename_between_folders_is_durable_once_both_were_synced() -> None:
    moved = (
        op("folder", "in", inode=FOLDER), *CREATED, SYNCED_FILE, SYNCED_ROOT, op("rename", "a", "in/a"),
        op("sync", inode=FOLDER),
    )  # fmt: skip
    assert every_state(disk_of(*moved)) == [{"in": None, "a": b"text"}, {"in": None, "in/a": b"text"}]
    assert every_state(disk_of(*moved, SYNCED_ROOT)) == [{"in": None, "in/a": b"text"}]


def test_what_lies_in_a_folder_is_gone_with_the_folder() -> None:
    disk = disk_of(
        op("folder", "in", inode=FOLDER), op("create", "in/a", inode=FILE), op("write", inode=FILE, data=b"text"),
        SYNCED_FILE, op("sync", inode=FOLDER),
    )  # fmt: skip
    assert every_state(disk) == [{}, {"in": None, "in/a": b"text"}]


def test_a_removal_may_come_back_until_the_folder_is_synced() -> None:
    removed = (*CREATED, SYNCED_FILE, SYNCED_ROOT, op("unlink", "a"))
    assert every_state(disk_of(*removed)) == [{"a": b"text"}, {}]
    assert every_state(disk_of(*removed, SYNCED_ROOT)) == [{}]


def test_the_kernel_may_use_a_number_again() -> None:
    disk = disk_of(
        *CREATED, SYNCED_FILE, SYNCED_ROOT, op("unlink", "a"), op("create", "b", inode=FILE),
        op("write", inode=FILE, data=b"other"), SYNCED_FILE,
    )  # fmt: skip
    assert {"a": b"text", "b": b"other"} in every_state(disk)
    assert disk.last_tree() == {"b": b"other"}


def test_a_length_may_survive_without_its_content() -> None:
    disk = disk_of(*CREATED, SYNCED_ROOT)
    write = next(index for index in disk.pending(len(disk.steps)))
    assert disk.tree(len(disk.steps), {write: "zeros"}) == {"a": bytes(4)}


def test_a_write_may_be_torn_between_its_sectors() -> None:
    data = b"a" * 512 + b"b" * 512 + b"c" * 100
    disk = disk_of(op("create", "a", inode=FILE), SYNCED_ROOT, op("write", inode=FILE, data=data))
    (write,) = disk.pending(len(disk.steps))
    assert disk.tree(len(disk.steps), {write: frozenset({1})}) == {"a": bytes(512) + b"b" * 512 + bytes(100)}


def test_a_file_that_was_made_longer_or_shorter_may_not_have_been() -> None:
    synced = (*CREATED, SYNCED_FILE, SYNCED_ROOT)
    assert every_state(disk_of(*synced, op("truncate", inode=FILE, offset=1))) == [{"a": b"text"}, {"a": b"t"}]
    assert every_state(disk_of(*synced, op("extend", inode=FILE, offset=2))) == [{"a": b"text"}]
    assert every_state(disk_of(*synced, op("extend", inode=FILE, offset=5)))[1] == {"a": b"text\0"}


def test_a_second_name_is_a_name_of_its_own() -> None:
    disk = disk_of(*CREATED, SYNCED_FILE, SYNCED_ROOT, op("link", "a", "b"))
    assert every_state(disk) == [{"a": b"text"}, {"a": b"text", "b": b"text"}]


def test_a_file_whose_beginning_was_not_seen_is_refused() -> None:
    with pytest.raises(NotModelled):
        disk_of(op("write", inode=99, data=b"x"))


def test_the_same_seed_gives_the_same_cuts() -> None:
    disk = disk_of(*CREATED, SYNCED_FILE, *(op("write", inode=FILE, offset=n, data=b"x") for n in range(20)))
    first, second = (list(cuts.some(disk, lambda label: True, random.Random(7), 50)) for _ in range(2))
    assert first == second
    assert len(first) == 50


def test_no_cut_loses_what_lay_there_before() -> None:
    disk = Disk("/root", ROOT_INODE, [*CREATED, Operation("sync all", 0), op("unlink", "a"), SYNCED_ROOT])
    trees = [disk.tree(cut.at, cut.survivors) for cut in cuts.many(disk, lambda label: True, random.Random(1), 1)]
    assert trees
    assert all(tree in ({"a": b"text"}, {}) for tree in trees)
    assert ROOT == 0


# --- the recorder ---


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_recorder(tmp_path_factory.mktemp("recorder"))


@pytest.fixture
def recording(library: Path, tmp_path: Path) -> Iterator[Recording]:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "before").write_bytes(b"was there")
    return Recording(library, tmp_path / "disk", tmp_path / "log")


def run(recording: Recording, program: str) -> None:
    environment = recording.environment(os.environ)
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=recording.root, check=True, timeout=PATIENCE)


PROGRAMS = [
    "open('a', 'w').write('x' * 10); open('a', 'a').write('y'); open('a', 'r+').write('z')",
    "import os; os.makedirs('d/e'); open('d/e/f', 'w').write('x'); os.rename('d/e/f', 'd/g'); os.rmdir('d/e')",
    "import os; open('a', 'w').write('x'); os.link('a', 'b'); os.unlink('a'); os.truncate('b', 5)",
    "import os; d = os.open('b', 66); os.pwrite(d, b'x', 9); os.writev(d, [b'1']); os.posix_fallocate(d, 0, 20)",
    "import shutil; shutil.copy('before', 'after'); shutil.rmtree('.', ignore_errors=True)",
    "import sqlite3; c = sqlite3.connect('m'); c.execute('PRAGMA journal_mode=WAL'); c.execute('VACUUM')",
    "import os; [(open('a', 'w').write(str(n)), os.unlink('a')) for n in range(9)]; open('b', 'w').write('end')",
    "import os; [os.fork() or (open(str(n), 'w').write('x'), os._exit(0)) for n in (1, 2)]; [os.wait(), os.wait()]",
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_recording_ends_where_the_files_do(recording: Recording, program: str) -> None:
    run(recording, program)
    assert recording.disk().last_tree() == tree_of(recording.root)


def test_syncs_are_seen(recording: Recording) -> None:
    run(
        recording,
        "import os; d = os.open('a', 66); os.write(d, b'x'); os.fsync(d); os.fdatasync(d); os.fsync(os.open('.', 0))",
    )
    disk = recording.disk()
    assert [step.label for step in disk.steps][-3:] == ["sync a", "sync a", "sync ."]
    assert disk.pending(len(disk.steps)) == []


UNRECORDED = [
    "import os; os.symlink('before', 'a')",
    "import mmap; f = open('before', 'r+b'); mmap.mmap(f.fileno(), 0)[0] = 1",
    "import ctypes; c = ctypes.CDLL(None); c.fopen.restype = ctypes.c_void_p; c.fopen(b'a', b'w')",
    "import os; os.open('.', os.O_TMPFILE | os.O_WRONLY)",
    "import os; os.rename('before', '../outside')",
]  # fmt: skip


@pytest.mark.parametrize("program", UNRECORDED)
def test_what_cannot_be_recorded_is_reported(recording: Recording, program: str) -> None:
    run(recording, program)
    with pytest.raises(NotModelled):
        recording.disk()


def test_what_happens_elsewhere_is_left_alone(recording: Recording) -> None:
    run(
        recording,
        "import os; os.mkdir('../other'); open('../other/a', 'w').write('x'); os.rename('../other/a', '../b')",
    )
    assert recording.root.with_name("b").read_text() == "x"
    assert not recording.log.exists()
