"""The index cache of a reader: the catalogue, what queries have read, and the mapped vector files, kept between
queries.

After a change of the store only the outdated part is read again. Thread-safe.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, assert_never

import numpy as np

from ..background import Background
from ..embedding.embedder import Vectors
from ..store import vector_files
from ..store.catalogue import AddedAbove
from . import catalogue, standings
from .catalogue import Catalogue
from .known_memories import KnownMemories
from .lexical import KnownWords
from .standings import Standings

if TYPE_CHECKING:
    from ..store.catalogue import Position
    from ..store.reader import StoreSnapshot
    from .coarse_vectors import CoarseRows


# Up to one of so many rows, those that were added since the copy was made are compared in float32 each time.
_UNCOPIED = 16


class Edition(NamedTuple):
    """The catalogue of one state of the store, and what queries have read of this state."""

    position: Position
    catalogue: Catalogue
    memories: KnownMemories
    words: KnownWords
    standings: Standings


class IndexCache:
    """The cached catalogue and vector files. Empty at first; queries fill it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edition: Edition | None = None
        self._mapped: dict[Path, tuple[_Inode, Vectors]] = {}
        self._coarse: CoarseCopy | None = None

    def edition(self, store: StoreSnapshot) -> Edition:
        """The catalogue of the snapshot's state: the cached one, brought up to date."""
        with self._lock:
            kept = self._edition
        current = _read(store) if kept is None else _followed(kept, store)
        if current is not kept:
            with self._lock:
                self._edition = current
        return current

    def rows(self, path: Path, row_count: int, dimensions: int, *, swept: bool) -> Vectors | None:
        """The committed rows of a vector file, memory-mapped, shape (row_count, dimensions); None if it is missing or
        short. The mapping is reused until the file grows or changes.

        ``swept``: all rows will be read, so the file is read ahead.
        """
        inode, size = _inode_and_size(path)
        with self._lock:
            former, kept = self._mapped.get(path, (None, None))
        # A store that was removed and created again has files of the same names. Reading mapped rows beyond the
        # file's end would kill the process.
        same_file = former == inode and size >= row_count * dimensions * vector_files.ITEM_BYTES
        if kept is not None and same_file and len(kept) >= row_count and kept.shape[1] == dimensions:
            return kept[:row_count]
        mapped = vector_files.open_rows(path, row_count, dimensions)
        if mapped is not None and swept:
            vector_files.read_ahead(mapped)
        with self._lock:
            if mapped is None or inode is None:
                self._mapped.pop(path, None)
            else:
                # Files of other generations are released, so that their space is freed.
                same = {p: m for p, m in self._mapped.items() if p.name.split(".")[0] == path.name.split(".")[0]}
                self._mapped = {**same, path: (inode, np.asarray(mapped))}
        return mapped

    def coarse(self, path: Path, rows: Vectors) -> CoarseRows | None:
        """The 8-bit copy of the rows of a file that ``rows`` has mapped, or of the first of them; None without one.

        It is made in the background from the second query on, since a process of one query would not gain from it.
        """
        with self._lock:
            inode, _ = self._mapped.get(path, (None, None))
            if self._coarse is None or self._coarse.file != (path, inode):
                self._coarse = CoarseCopy((path, inode))
                return None
            return self._coarse.of(rows)


class CoarseCopy:
    """The 8-bit copy of one vector file, which grows with the file. Callers take turns."""

    def __init__(self, file: tuple[Path, _Inode | None]) -> None:
        self.file = file
        self._copy: CoarseRows | None = None
        self._making: Background[CoarseRows | None] | None = None
        self._is_refused = False  # because of a damaged row

    def of(self, rows: Vectors) -> CoarseRows | None:
        """The copy so far, at most of these rows. Starts to copy all if much is missing."""
        making, copy = self._making, self._copy
        if making is not None and making.has_ended:
            self._making = None
            if not making.has_failed:
                self._copy = copy = making.result()
            self._is_refused = self._copy is None
        is_behind = copy is None or (len(rows) - len(copy)) * _UNCOPIED > len(rows)
        if self._making is None and not self._is_refused and is_behind:
            from . import coarse_vectors  # not at the top: a process of one query does not need it

            self._making = Background(lambda: coarse_vectors.copied(rows))
        return copy


def _read(store: StoreSnapshot) -> Edition:
    pairs = store.replacements()
    found = standings.read(pairs, store.statements_of_older()) if pairs else Standings()
    return Edition(store.position, catalogue.read(store), KnownMemories(), KnownWords(), found)


def _followed(kept: Edition, store: StoreSnapshot) -> Edition:
    """The edition of the snapshot; reads only what differs from the cached one."""
    changes = store.changes_since(kept.position)
    match changes:
        case "nothing":
            return kept
        case AddedAbove(number):
            # The former memories are as they were. An addition changes the BM25 of all, as does another index.
            added = kept.catalogue.and_then(catalogue.read(store, number))
            return kept._replace(position=store.position, catalogue=added, words=KnownWords())
        case "everything":
            return _read(store)
        case _:
            assert_never(changes)


_Inode = tuple[int, int]


def _inode_and_size(path: Path) -> tuple[_Inode | None, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None, 0
    return (status.st_dev, status.st_ino), status.st_size
