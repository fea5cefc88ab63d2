"""Running real processes under the recorder, and reading what it wrote."""

import ctypes
import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .model import Disk, Rules, tree_of
from .operations import Kind, NotModelled, Operation

_HEADER = struct.Struct("=IIQQIIQ")

_KINDS: dict[str, Kind] = {
    "C": "create", "T": "truncate", "E": "extend", "W": "write", "R": "rename", "U": "unlink", "M": "folder",
    "L": "link", "S": "sync", "Y": "sync all", "A": "mark",
}  # fmt: skip


def compile_recorder(folder: Path) -> Path:
    """The recorder as a shared library."""
    library = folder / "recorder.so"
    source = Path(__file__).with_name("recorder.c")
    options = ["-shared", "-fPIC", "-O1", "-U_FORTIFY_SOURCE", "-Wall", "-Werror"]
    subprocess.run(["cc", *options, "-o", str(library), str(source), "-ldl"], check=True)
    return library


class Recording:
    """What happens to the files below ``root``, as processes with this environment do it."""

    def __init__(self, library: Path, root: Path, log: Path) -> None:
        self.root = root.resolve()
        self.log = log
        self._library = library
        self.begin()

    def begin(self) -> None:
        """What lies below the root now is taken for durable, before anything that is in the log."""
        self._before = [*_present(self.root), Operation("sync all", 0)]

    def mark(self, text: str) -> None:
        """Note what a recorded process has promised to us, at this point of the order."""
        path = text.encode()
        with self.log.open("ab", buffering=0) as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.write(_HEADER.pack(ord("A"), os.getpid(), 0, 0, len(path), 0, 0) + path)

    def environment(self, base: Mapping[str, str], *, trap: bool = False) -> dict[str, str]:
        """With ``trap`` also for libraries that call the kernel by themselves; the process may start no program."""
        own = {"LD_PRELOAD": str(self._library), "POWER_CUT_ROOT": str(self.root), "POWER_CUT_LOG": str(self.log)}
        return {**base, **own, "POWER_CUT_TRAP": str(int(trap))}

    def operations(self) -> list[Operation]:
        """What was there, and the log so far. Raises NotModelled."""
        return [*self._before, *(read(self.log.read_bytes()) if self.log.exists() else ())]

    @contextmanager
    def between_operations(self) -> Iterator[None]:
        """While no recorded process is inside an operation: only then may one be killed, or what it did last could
        be missing in the log."""
        with self.log.open("ab", buffering=0) as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            yield

    def disk(self, rules: Rules = "strict") -> Disk:
        """The history so far, which has to end where the files are now. Raises NotModelled."""
        disk = Disk(str(self.root), self.root.stat().st_ino, self.operations(), rules)
        seen, there = disk.last_tree(), tree_of(self.root)
        other = sorted(path for path in {*seen, *there} if seen.get(path, b"absent") != there.get(path, b"absent"))
        if other:
            raise NotModelled(f"something was done to {other} that is not in the log")
        return disk


def _present(root: Path) -> Iterator[Operation]:
    for path in sorted(root.rglob("*")):
        if path.name.endswith("-shm"):
            continue  # as the recorder leaves it out
        inode = path.stat().st_ino
        yield Operation("folder" if path.is_dir() else "create", 0, str(path), inode=inode)
        if path.is_file():
            yield Operation("write", 0, inode=inode, data=path.read_bytes())


def read(log: bytes) -> Iterator[Operation]:
    """The operations of a log, in their order. Raises NotModelled."""
    at = 0
    while at < len(log):
        kind, process, inode, offset, path, target, data = _HEADER.unpack_from(log, at)
        at += _HEADER.size
        texts = []
        for length in (path, target):
            texts.append(log[at : at + length].decode("utf-8", "surrogateescape"))
            at += length
        if chr(kind) not in _KINDS:
            raise NotModelled(f"process {process}: {texts[0]}")
        yield Operation(_KINDS[chr(kind)], process, texts[0], texts[1], inode, offset, log[at : at + data])
        at += data


def mark(text: str) -> None:
    """Inside a recorded program: note what was promised, at this point of the order. Elsewhere: nothing."""
    found = getattr(ctypes.CDLL(None), "power_cut_mark", None)
    if found is not None:
        found(text.encode())
