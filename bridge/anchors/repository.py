"""The commit and the branch that are checked out in a workspace, and which of two commits came first, read from git's
files.

A repository may come from anybody: git is not run, since its configuration can name programs; files are read up to a
limit, and none that lies outside of the repository. Only what is certain is said. The formats: git's
Documentation/gitformat-pack (version 2 of an index) and gitformat-loose. An object that another repository lends is not
found.
"""

from __future__ import annotations

import heapq
import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from jobs import plain_files
from jobs.errors import JobError
from jobs.worktree import own_folder

from .anchor import Commit
from .budget import Budget

_COMMIT_BYTES = 256 * 1024  # of a commit
_USUAL_BYTES = 2048
_MOST_PACKS = 64
_MOST_DELTAS = 60  # in a row; git makes 50
_CLOCKS_APART = 86_400.0  # seconds by which the clock of an author may be wrong
_COMMIT, _OFFSET_DELTA, _NAMED_DELTA = 1, 6, 7
_HEADS = re.compile(rb"(?:parent ([0-9a-f]{40,64})\n)|(?:^committer .* (\d+) [+-]\d{4}$)", re.MULTILINE)
_BROKEN = (OSError, ValueError, IndexError, struct.error, zlib.error, JobError)

_MOST_BYTES = 4096  # of HEAD or a reference
_MOST_PACKED = 16 * 1024 * 1024  # of packed-refs
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = "refs/heads/"


class _Commit(NamedTuple):
    parents: list[bytes]
    time: int


@dataclass(frozen=True, slots=True)
class _Pack:
    index: mmap.mmap
    path: Path

    def offset(self, wanted: bytes) -> int | None:
        """Where the object begins in the pack; None if it is not there. Raises ``_BROKEN`` for a damaged index."""
        names, count = 8 + 256 * 4, struct.unpack_from(">L", self.index, 8 + 255 * 4)[0]
        low = struct.unpack_from(">L", self.index, 8 + 4 * (wanted[0] - 1))[0] if wanted[0] else 0
        high = end = struct.unpack_from(">L", self.index, 8 + 4 * wanted[0])[0]
        width = len(wanted)
        while low < high:
            middle = (low + high) // 2
            if self.index[names + middle * width : names + (middle + 1) * width] < wanted:
                low = middle + 1
            else:
                high = middle
        if low >= end or self.index[names + low * width : names + (low + 1) * width] != wanted:
            return None
        offsets = names + count * (width + 4)
        found: int = struct.unpack_from(">L", self.index, offsets + 4 * low)[0]
        if found & 0x80000000:
            found = struct.unpack_from(">Q", self.index, offsets + 4 * count + 8 * (found & 0x7FFFFFFF))[0]
        return found


class Objects:
    """The objects below ``folder``. Damage counts as absence."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packs: dict[Path, mmap.mmap] = {}

    def has(self, commit_id: str) -> bool:
        """Whether the object is there."""
        if os.path.lexists(self._path(commit_id)):
            return True
        return next(self._places(bytes.fromhex(commit_id)), None) is not None

    def is_before(self, earlier: str, later: str, budget: Budget) -> bool:
        """Whether ``later`` came from ``earlier``, as far as that is found within the budget."""
        first, last = bytes.fromhex(earlier), bytes.fromhex(later)
        begin, end = self._commit(first), self._commit(last)
        if begin is None or end is None:
            return False
        waiting, seen = [(-end.time, last, end)], {last}
        while waiting and not budget.is_spent:
            when, found, commit = heapq.heappop(waiting)
            if found == first:
                return True
            if -when < begin.time - _CLOCKS_APART:
                return False
            for parent in commit.parents:
                if parent == first:
                    return True
                if parent not in seen and (read := self._commit(parent)) is not None:
                    seen.add(parent)
                    heapq.heappush(waiting, (-read.time, parent, read))
        return False

    def _commit(self, commit_id: bytes) -> _Commit | None:
        data = self._loose(commit_id) or self._packed(commit_id)
        if data is None:
            return None
        heads = _HEADS.findall(data.partition(b"\n\n")[0])
        times = [int(when) for _, when in heads if when]
        return _Commit([bytes.fromhex(parent.decode()) for parent, _ in heads if parent], times[0] if times else 0)

    def _path(self, commit_id: str) -> str:
        return f"{self._folder}/{commit_id[:2]}/{commit_id[2:]}"

    def _loose(self, commit_id: bytes) -> bytes | None:
        path = self._path(commit_id.hex())
        if not os.path.lexists(path):
            return None
        try:
            data = plain_files.read_own(Path(path), _COMMIT_BYTES)
            kind, _, content = zlib.decompressobj().decompress(data, _COMMIT_BYTES).partition(b"\0")
        except _BROKEN:
            return None
        return content if kind.startswith(b"commit ") else None

    def _packed(self, commit_id: bytes) -> bytes | None:
        for pack, offset in self._places(commit_id):
            try:
                return self._entry(pack, offset, 0)
            except _BROKEN:
                continue
        return None

    def _places(self, commit_id: bytes) -> Iterator[tuple[_Pack, int]]:
        for pack in self._indexes:
            try:
                offset = pack.offset(commit_id)
            except _BROKEN:
                continue
            if offset is not None:
                yield pack, offset

    @cached_property
    def _indexes(self) -> list[_Pack]:
        """The packs, the largest first."""
        found = []
        try:
            with os.scandir(self._folder / "pack") as entries:
                paths = [Path(entry.path) for entry in entries if entry.name.endswith(".idx")]
        except OSError:
            return []
        for path in paths[:_MOST_PACKS]:
            try:
                index = _mapped(path)
            except _BROKEN:
                continue
            if index[:8] == b"\xfftOc\0\0\0\2":
                found.append(_Pack(index, path.with_suffix(".pack")))
        return sorted(found, key=lambda pack: len(pack.index), reverse=True)

    def _entry(self, pack: _Pack, offset: int, deltas: int) -> bytes:
        """The content of a commit in a pack. Raises ``_BROKEN``, ValueError for another object."""
        data = self._packs.get(pack.path) or self._packs.setdefault(pack.path, _mapped(pack.path))
        at, byte = offset + 1, data[offset]
        kind = byte >> 4 & 7
        while byte & 0x80:
            at, byte = at + 1, data[at]
        base = b""
        if kind == _OFFSET_DELTA:
            byte, at = data[at], at + 1
            back = byte & 0x7F
            while byte & 0x80:
                byte, at = data[at], at + 1
                back = (back + 1 << 7) | byte & 0x7F
            base = self._entry(pack, _positive(offset - back, deltas), deltas + 1)
        elif kind == _NAMED_DELTA:
            named, at = data[at : at + 20], at + 20
            base = self._entry(pack, _positive(pack.offset(named) or 0, deltas), deltas + 1)
        elif kind != _COMMIT:
            raise ValueError("no commit")
        unpacked = zlib.decompressobj()
        content = unpacked.decompress(data[at : at + _USUAL_BYTES], _COMMIT_BYTES)
        if not unpacked.eof:
            content += unpacked.decompress(data[at + _USUAL_BYTES : at + _COMMIT_BYTES], _COMMIT_BYTES)
        return _applied(content, base) if base else content


def _mapped(path: Path) -> mmap.mmap:
    descriptor = plain_files.open_plain(path)
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def _positive(offset: int, deltas: int) -> int:
    if offset <= 0 or deltas >= _MOST_DELTAS:
        raise ValueError("no base")
    return offset


def _applied(delta: bytes, base: bytes) -> bytes:
    """The content that a delta makes of its base. Raises ``_BROKEN``."""
    at = 0
    for _ in range(2):  # the sizes of base and result
        while delta[at] & 0x80:
            at += 1
        at += 1
    made = bytearray()
    while at < len(delta):
        order, at = delta[at], at + 1
        if order & 0x80:
            numbers = [0, 0]
            for bit in range(7):
                if order >> bit & 1:
                    numbers[bit >= 4] |= delta[at] << 8 * (bit if bit < 4 else bit - 4)
                    at += 1
            start, size = numbers
            made += base[start : start + (size or 0x10000)]
        else:
            made += delta[at : at + order]
            at += order
        if not order or len(made) > _COMMIT_BYTES:
            raise ValueError("a broken delta")
    return bytes(made)


class Repository(NamedTuple):
    """``own``: the folder with HEAD; of a linked worktree another one than ``shared``, where references and objects
    are. ``root``: the folder that is checked out."""

    root: Path
    own: Path
    shared: Path

    def commit(self) -> Commit | None:
        """What is checked out; None before the first commit, or if it cannot be read."""
        head = _text(self.own / "HEAD", self.own)
        if not head.startswith("ref: "):
            return Commit(head, "") if _ID.fullmatch(head) else None
        reference = head.removeprefix("ref: ")
        found = self._reference(reference)
        return None if found is None else Commit(found, reference.removeprefix(_BRANCH))

    def has_branch(self, branch: str) -> bool:
        """Whether the branch exists."""
        return self._reference(_BRANCH + branch) is not None

    def _reference(self, name: str) -> str | None:
        if not name.startswith("refs/") or ".." in name.split("/"):
            return None
        found = _text(self.shared / name, self.shared)
        if not found:
            packed = _text(self.shared / "packed-refs", self.shared, _MOST_PACKED)
            found = next((line[: -len(name) - 1] for line in packed.splitlines() if line.endswith(f" {name}")), "")
        return found if _ID.fullmatch(found) else None

    @property
    def objects(self) -> Objects:
        """The commits."""
        return Objects(self.shared / "objects")


def repository_of(folder: Path) -> Repository | None:
    """The innermost repository around a folder; None if there is none, or one of a form that is not read here, such as
    a submodule's."""
    for root in (folder, *folder.parents):
        git = root / ".git"
        try:
            status = git.lstat()
        except OSError:
            continue
        if plain_files.is_real_folder(status):
            return Repository(root, git, git)
        own = own_folder(root)
        return None if own is None else Repository(root, own, own.parent.parent)
    return None


def _text(path: Path, inside: Path, limit: int = _MOST_BYTES) -> str:
    """The text of a file of git, without white space at its ends; empty if it cannot be read."""
    try:
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(inside)):
            return ""
        return plain_files.read_own(path, limit).decode("utf-8", "replace").strip()
    except (OSError, ValueError, JobError):
        return ""
