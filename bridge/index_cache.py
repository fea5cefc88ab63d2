"""What a reader keeps of the index between two questions: the catalogue, and the mapped vector files.

A change of the store makes a part of it old; then that part alone is read again. Safe to share among threads.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import catalogue, database, vectors
from .catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Edition:
    """The catalogue as one state of the database has it."""

    version: tuple[str | None, ...]
    """Changes with whatever is not the addition of memories with higher numbers."""
    last_number: int
    count: int
    """All memories, hidden ones included."""
    catalogue: Catalogue


class IndexCache:
    """Empty at first. Filled by the questions."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edition: Edition | None = None
        self._mapped: dict[Path, tuple[_Inode, vectors.Vectors]] = {}

    def edition(self, connection: sqlite3.Connection) -> Edition:
        """The catalogue in the state that the connection's transaction sees."""
        version = (database.meta(connection, "workspace_id"), database.meta(connection, "catalogue_version"))
        last: int = connection.execute("SELECT coalesce(max(number), 0) FROM memories").fetchone()[0]
        with self._lock:
            kept = self._edition
        if kept is None or kept.version != version or version[1] is None or kept.last_number > last:
            found = Edition(version, last, _count(connection), catalogue.read(connection))
        elif kept.last_number < last:
            whole = kept.catalogue.and_then(catalogue.read(connection, kept.last_number))
            found = Edition(version, last, _count(connection), whole)
        else:
            return kept
        with self._lock:
            self._edition = found
        return found

    def rows(self, path: Path, row_count: int, dimensions: int, *, swept: bool) -> vectors.Vectors | None:
        """The committed rows of a vector file, mapped. What was mapped once is not mapped again until it grows.

        ``swept`` says that all of them will be read.
        """
        inode = _inode(path)
        with self._lock:
            former, kept = self._mapped.get(path, (None, None))
        # A store that was removed and begun anew has files of the same names.
        same_file = former is not None and former == inode
        if kept is not None and same_file and len(kept) >= row_count and kept.shape[1] == dimensions:
            return kept[:row_count]
        found = vectors.open_rows(path, row_count, dimensions)
        if found is not None and swept:
            vectors.read_ahead(found)
        with self._lock:
            if found is None or inode is None:
                self._mapped.pop(path, None)
            else:
                # Files of other generations are let go, so that their space is freed.
                same = {p: m for p, m in self._mapped.items() if p.name.split(".")[0] == path.name.split(".")[0]}
                self._mapped = {**same, path: (inode, np.asarray(found))}
        return found


_Inode = tuple[int, int]


def _inode(path: Path) -> _Inode | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _count(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
    return found
