"""What a reader keeps of the index between two questions: the catalogue, and the mapped vector files.

A change of the store makes a part of it old; then that part alone is read again. Safe to share among threads.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..embedding.embedder import Vectors
from ..store import database, vector_files
from . import catalogue
from .catalogue import Catalogue

# A memory as it was added, whatever has become of it since.
_Added = tuple[int, str, str, int]
_ADDED = "SELECT number, id, stored_at, passage_row FROM memories"


@dataclass(frozen=True, slots=True)
class Edition:
    """The catalogue as one state of the database has it."""

    version: tuple[str | None, ...]
    """Changes with whatever is not the addition of memories with higher numbers."""
    last: _Added | None
    """The memory with the highest number."""
    count: int
    """All memories that the full-text index holds: without hidden ones."""
    catalogue: Catalogue

    def is_of(self, version: tuple[str | None, ...]) -> bool:
        return self.version == version and version[1] is not None  # an older format has none


class IndexCache:
    """Empty at first. Filled by the questions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edition: Edition | None = None
        self._mapped: dict[Path, tuple[_Inode, Vectors]] = {}

    def edition(self, connection: sqlite3.Connection) -> Edition:
        """The catalogue in the state that the connection's transaction sees."""
        version = (database.meta(connection, "workspace_id"), database.meta(connection, "catalogue_version"))
        last: _Added | None = connection.execute(f"{_ADDED} ORDER BY number DESC LIMIT 1").fetchone()
        with self._lock:
            kept = self._edition
        if kept is not None and kept.is_of(version) and kept.last == last:
            return kept
        if kept is not None and kept.is_of(version) and kept.last is not None and _has(connection, kept.last):
            whole = kept.catalogue.and_then(catalogue.read(connection, kept.last[0]))
        else:
            whole = catalogue.read(connection)
        found = Edition(version, last, _count(connection), whole)
        with self._lock:
            self._edition = found
        return found

    def rows(self, path: Path, row_count: int, dimensions: int, *, swept: bool) -> Vectors | None:
        """The committed rows of a vector file, mapped. What was mapped once is not mapped again until it grows.

        ``swept`` says that all of them will be read.
        """
        inode, size = _inode_and_size(path)
        with self._lock:
            former, kept = self._mapped.get(path, (None, None))
        # A store that was removed and begun anew has files of the same names. To read mapped rows that a file
        # has lost would end the process.
        same_file = former == inode and size >= row_count * dimensions * vector_files.ITEM_BYTES
        if kept is not None and same_file and len(kept) >= row_count and kept.shape[1] == dimensions:
            return kept[:row_count]
        found = vector_files.open_rows(path, row_count, dimensions)
        if found is not None and swept:
            vector_files.read_ahead(found)
        with self._lock:
            if found is None or inode is None:
                self._mapped.pop(path, None)
            else:
                # Files of other generations are let go, so that their space is freed.
                same = {p: m for p, m in self._mapped.items() if p.name.split(".")[0] == path.name.split(".")[0]}
                self._mapped = {**same, path: (inode, np.asarray(found))}
        return found


_Inode = tuple[int, int]


def _inode_and_size(path: Path) -> tuple[_Inode | None, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None, 0
    return (status.st_dev, status.st_ino), status.st_size


def _has(connection: sqlite3.Connection, added: _Added) -> bool:
    """Whether the database goes on from there; one that was restored from a backup may have another memory."""
    found: _Added | None = connection.execute(f"{_ADDED} WHERE number = ?", added[:1]).fetchone()
    return found == added


def _count(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()[0]
    return found
