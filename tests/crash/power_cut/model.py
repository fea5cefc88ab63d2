"""What a disk may hold after a power cut.

A name (created, renamed, removed, linked) is durable once its folder was synced afterwards; content and length are
durable once the file was. Everything else that was done before the cut survives or not, each operation for
itself, in whatever combination; a rename is one thing. What survives of a write may also be only its length, or some
of its sectors: blocks that were never written read as zeros.
"""

import math
import shutil
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .operations import Kind, NotModelled, Operation

SECTOR = 512
ROOT = 0

Fate = Literal["whole", "zeros"] | frozenset[int]  # of a write also: its sectors that survive
Survivors = Mapping[int, Fate]
Rules = Literal["strict", "journal"]


@dataclass(frozen=True, slots=True)
class Names:
    """Changes of folders that happen together: (folder, name, the file or folder that it names from then on).

    ``content`` is what a renamed file held.
    """

    changes: tuple[tuple[int, str, int | None], ...]
    what: Kind
    path: str
    target: str = ""
    content: bytes = b""

    @property
    def label(self) -> str:
        return f"{self.what} {self.path}" + (f" to {self.target}" if self.target else "")


@dataclass(frozen=True, slots=True)
class Write:
    file: int
    offset: int
    data: bytes
    label: str


@dataclass(frozen=True, slots=True)
class Length:
    """``at_least`` leaves a longer file as it is."""

    file: int
    length: int
    at_least: bool
    label: str


@dataclass(frozen=True, slots=True)
class Sync:
    """``node`` None: everything."""

    node: int | None
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    label: str


Step = Names | Write | Length | Sync | Mark
Tree = dict[str, bytes | None]  # relative path: content, or None for a folder


class Disk:
    """A history of operations below one folder, with the moment at which each became durable.

    Files and folders are numbered as they come; the kernel's numbers are used only to find them.
    """

    def __init__(self, root: str, root_inode: int, operations: Iterable[Operation], rules: Rules = "strict") -> None:
        self._prefix = root
        self._rules = rules
        self._folders: dict[int, dict[str, int]] = {ROOT: {}}
        self._content: dict[int, bytearray] = {}
        self._by_inode: dict[int, int] = {root_inode: ROOT}
        self._count = 1
        self._last_name: dict[int, str] = {ROOT: "."}
        self.steps: list[Step] = [self._step(operation) for operation in operations]
        self.durable_at: list[float] = self._durability()

    # --- the history ---

    def _step(self, operation: Operation) -> Step:
        match operation.kind:
            case "create" | "folder":
                return self._make(operation)
            case "rename" | "link" | "unlink":
                return self._name(operation)
            case "write":
                file = self._node(operation)
                step = Write(file, operation.offset, operation.data, self._label(operation, file))
                _apply_write(self._content[file], step, "whole")
                return step
            case "truncate" | "extend":
                file = self._node(operation)
                length = Length(file, operation.offset, operation.kind == "extend", self._label(operation, file))
                _apply_length(self._content[file], length)
                return length
            case "sync":
                node = self._node(operation)
                return Sync(node, self._label(operation, node))
            case "sync all":
                return Sync(None, "sync all")
            case "mark":
                return Mark(operation.path)

    def _label(self, operation: Operation, node: int) -> str:
        return f"{operation.kind} {self._last_name[node]}"

    def _node(self, operation: Operation) -> int:
        try:
            return self._by_inode[operation.inode]
        except KeyError:
            raise NotModelled(f"{operation.kind} of a file whose beginning was not recorded") from None

    def _place(self, path: str) -> tuple[int, str]:
        """The folder that a path's last part lies in, and that part."""
        *parents, name = self._relative(path).split("/")
        folder = ROOT
        for part in parents:
            folder = self._folders[folder][part]
        return folder, name

    def _relative(self, path: str) -> str:
        parts = [part for part in path.removeprefix(self._prefix).split("/") if part not in ("", ".")]
        if ".." in parts or not path.startswith(self._prefix) or not parts:
            raise NotModelled(f"the path {path}")
        return "/".join(parts)

    def _make(self, operation: Operation) -> Names:
        folder, name = self._place(operation.path)
        node = self._count
        self._count += 1
        self._by_inode[operation.inode] = node
        self._last_name[node] = self._relative(operation.path)
        if operation.kind == "folder":
            self._folders[node] = {}
        else:
            self._content[node] = bytearray()
        return self._named(Names(((folder, name, node),), operation.kind, self._last_name[node]))

    def _name(self, operation: Operation) -> Names:
        folder, name = self._place(operation.path)
        path = self._relative(operation.path)
        if operation.kind == "unlink":
            return self._named(Names(((folder, name, None),), "unlink", path))
        node = self._folders[folder][name]
        target = self._relative(operation.target)
        there, new_name = self._place(operation.target)
        self._last_name[node] = target
        changes: tuple[tuple[int, str, int | None], ...] = ((there, new_name, node),)
        if operation.kind == "rename":
            changes = ((folder, name, None), *changes)
        return self._named(Names(changes, operation.kind, path, target, bytes(self._content.get(node, b""))))

    def _named(self, step: Names) -> Names:
        _apply_names(self._folders, step)
        return step

    def _durability(self) -> list[float]:
        """For each step the index of the sync that made it durable; infinity where none did."""
        syncs: dict[int | None, list[int]] = {None: []}
        every: list[int] = []
        for index, step in enumerate(self.steps):
            if isinstance(step, Sync):
                syncs.setdefault(step.node, []).append(index)
                every.append(index)

        def after(index: int, node: int) -> float:
            moments = every if self._rules == "journal" and node in self._folders else syncs.get(node, [])
            return min(_next(moments, index), _next(syncs[None], index))

        found: list[float] = []
        for index, step in enumerate(self.steps):
            match step:
                case Names():
                    found.append(max(after(index, folder) for folder, _, _ in step.changes))
                case Write() | Length():
                    found.append(after(index, step.file))
                case _:
                    found.append(index)
        return found

    # --- a cut ---

    def pending(self, cut: int) -> list[int]:
        """The steps before the cut that may be lost: those not durable when ``cut`` steps were done."""
        return [index for index in range(cut) if self.durable_at[index] >= cut]

    def tree(self, cut: int, survivors: Survivors) -> Tree:
        """What lies there when the power was cut after ``cut`` steps and these of the pending ones survived."""
        folders: dict[int, dict[str, int]] = {node: {} for node in self._folders}
        kept = [(i, "whole" if self.durable_at[i] < cut else survivors.get(i)) for i in range(cut)]
        for index, fate in kept:
            step = self.steps[index]
            if fate is not None and isinstance(step, Names):
                _apply_names(folders, step)
        paths = dict(_walk(folders, ROOT, ""))
        content = {node: bytearray() for node in paths.values() if node not in folders}
        for index, fate in kept:
            step = self.steps[index]
            if fate is None or not isinstance(step, Write | Length) or step.file not in content:
                continue
            if isinstance(step, Write):
                _apply_write(content[step.file], step, fate)
            else:
                _apply_length(content[step.file], step)
        return {path: bytes(content[node]) if node in content else None for path, node in paths.items()}

    def last_tree(self) -> Tree:
        """Without a cut: what the processes saw at the end."""
        paths = _walk(self._folders, ROOT, "")
        return {path: None if node in self._folders else bytes(self._content[node]) for path, node in paths}


def _next(moments: Sequence[int], index: int) -> float:
    place = bisect_right(moments, index)
    return moments[place] if place < len(moments) else math.inf


def _apply_names(folders: dict[int, dict[str, int]], step: Names) -> None:
    for folder, name, node in step.changes:
        if node is None:
            folders[folder].pop(name, None)
        else:
            folders[folder][name] = node


def _apply_write(content: bytearray, step: Write, fate: object) -> None:
    end = step.offset + len(step.data)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if fate == "whole":
        content[step.offset : end] = step.data
    elif isinstance(fate, frozenset):
        for sector in fate:
            first, last = max(step.offset, sector * SECTOR), min(end, (sector + 1) * SECTOR)
            if first < last:
                content[first:last] = step.data[first - step.offset : last - step.offset]


def _apply_length(content: bytearray, step: Length) -> None:
    if len(content) < step.length:
        content.extend(bytes(step.length - len(content)))
    elif not step.at_least:
        del content[step.length :]


def _walk(folders: Mapping[int, Mapping[str, int]], folder: int, path: str) -> Iterator[tuple[str, int]]:
    """The paths that can be reached, each folder before what lies in it."""
    for name, node in folders[folder].items():
        yield path + name, node
        if node in folders:
            yield from _walk(folders, node, f"{path}{name}/")


def sectors(step: Write) -> range:
    """The sectors of its file that a write touches."""
    return range(step.offset // SECTOR, -(-(step.offset + len(step.data)) // SECTOR))


def lay_out(tree: Tree, folder: Path) -> None:
    """Make the folder hold the tree and nothing else; private, as everything of ours is."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    for path, data in tree.items():
        if data is None:
            (folder / path).mkdir(mode=0o700)
        else:
            (folder / path).write_bytes(data)
            (folder / path).chmod(0o600)


def tree_of(folder: Path) -> Tree:
    """What a folder holds; SQLite's shared memory left out, as the recorder leaves it out."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
        if not path.name.endswith("-shm")
    }
