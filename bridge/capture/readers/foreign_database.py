"""The SQLite database of another tool, read while the tool may be using it, and never changed.

Each question is a read transaction of its own that ends at once, so the tool can write meanwhile. A database in WAL
mode that no tool has open is read as immutable, since SQLite would otherwise create files beside it.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ..session import Findings
from . import transcript_file
from .json_records import OVERSIZED

MAX_VALUE = 16 * 2**20  # bytes of a value; larger ones are outputs of tools and images

_WAIT = 2.0  # seconds for a lock of the tool
_HEADER = 100
_FORMAT = b"SQLite format 3\0"
_WAL = b"\2\2"


class ForeignDatabase:
    """An open database. ``rows`` raises OSError when it is damaged, locked, or replaced meanwhile."""

    def __init__(self, path: Path, connection: sqlite3.Connection, expected: object | None) -> None:
        self._path, self._connection, self._expected = path, connection, expected

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows that answer a query. Texts that are not UTF-8 have their bytes replaced."""
        try:
            found = self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _unreadable(self._path, str(error)) from error
        if self._expected is not None and _status(self._path) != self._expected:
            raise _unreadable(self._path, "its tool has begun to write; it can be read again later")
        return found

    def values(self, query: str, key: str, findings: Findings) -> Iterator[tuple[str, Any]]:
        """Of each row that a query selects as id, size and value: the id and the value. The query's parameters are the
        most bytes of a value and the key. A value above that, which the query gives as NULL, is counted."""
        for row_id, size, value in self.rows(query, (MAX_VALUE, key)):
            if value is not None:
                findings.bytes_read += size
                yield row_id, value
            elif size is not None:
                findings.left_out[OVERSIZED] += 1

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; none if there is no such table."""
        query = "SELECT c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name = ?"
        return frozenset(name for (name,) in self.rows(query, (table,)))


@contextmanager
def opened(path: Path, root: Path) -> Iterator[ForeignDatabase]:
    """A context with the database, open to read. Raises OSError if it is gone, refused or cannot be read."""
    with transcript_file.opened(path, root) as file:
        header = file.read(_HEADER)
    if not header.startswith(_FORMAT):
        raise _unreadable(path, "is no SQLite database")
    path = path.resolve(strict=True)
    log, index = _beside(path, "-wal"), _beside(path, "-shm")
    for other in (log, index, _beside(path, "-journal")):
        if other.exists():
            with transcript_file.opened(other, root):
                pass
    options, expected = "mode=ro", None
    if header[18:20] == _WAL and not (log.exists() and index.exists()):
        if log.exists() and log.stat().st_size:
            raise _unreadable(path, "its tool did not close it; start the tool once")
        options, expected = "mode=ro&immutable=1", _status(path)
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?{options}", uri=True, timeout=_WAIT, check_same_thread=False)
    except sqlite3.Error as error:
        raise _unreadable(path, str(error)) from error
    with closing(connection):
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * MAX_VALUE)
        database = ForeignDatabase(path, connection, expected)
        database.rows("PRAGMA query_only = ON")
        database.rows("PRAGMA trusted_schema = OFF")
        yield database


def json_object(value: Any) -> dict[str, Any] | None:
    """The JSON object that a value is; None if it is none."""
    try:
        found = json.loads(value) if isinstance(value, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _status(path: Path) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for each in (path, _beside(path, "-wal")):
        try:
            status = each.stat()
            found.append((status.st_size, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _unreadable(path: Path, why: str) -> OSError:
    return OSError(errno.EIO, f"not read: {why}", str(path))
