"""The numbers of memories. No number is used twice, not even after its memory was forgotten."""

from __future__ import annotations

import sqlite3

from ..memory import MAX_KEPT


def take(connection: sqlite3.Connection, wanted: int = 0) -> int:
    """The wanted number if no memory ever had it, else the next one; inside the transaction that adds the memory.

    Numbers that a wanted number skips stay free.
    """
    highest = last(connection)
    if wanted > highest:
        if wanted > highest + 1:
            connection.execute("INSERT INTO numbers_skipped VALUES (?, ?)", (highest + 1, wanted - 1))
        return wanted
    return wanted if wanted > 0 and _was_skipped(connection, wanted) else highest + 1


def is_free(connection: sqlite3.Connection, number: int) -> bool:
    """Whether no memory ever had the number, so that a memory can get it."""
    if number > MAX_KEPT:
        return False
    query = "SELECT 1 FROM numbers_skipped WHERE first <= ? AND last >= ?"
    return number > last(connection) or connection.execute(query, (number, number)).fetchone() is not None


def last(connection: sqlite3.Connection) -> int:
    """The highest number ever used; 0 before the first."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'memories'").fetchone()
    return 0 if row is None else int(row[0])


def _was_skipped(connection: sqlite3.Connection, number: int) -> bool:
    """Whether the number was skipped before; if so, it counts as used from now on."""
    query = "SELECT first, last FROM numbers_skipped WHERE first <= ? AND last >= ?"
    row = connection.execute(query, (number, number)).fetchone()
    if row is None:
        return False
    first, last = row
    connection.execute("DELETE FROM numbers_skipped WHERE first = ?", (first,))
    rest = [part for part in ((first, number - 1), (number + 1, last)) if part[0] <= part[1]]
    connection.executemany("INSERT INTO numbers_skipped VALUES (?, ?)", rest)
    return True
