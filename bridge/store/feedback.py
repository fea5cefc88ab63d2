"""Feedback on memories in memory.db: the last word of each person on a memory.

A withdrawn one keeps its row, so that an older job that is tried again does not bring the earlier one back.
"""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .values import Feedback

_COLUMNS = 'memory_id, "by", verdict, at, query, note'


def of_memory(connection: Connection, memory_id: str, *, withdrawn: bool = False) -> list[Feedback]:
    """The feedback on a memory, the latest first; with ``withdrawn``, also what was withdrawn."""
    from .values import Feedback  # not at the top: a question needs the votes alone

    query = (
        f"SELECT {_COLUMNS} FROM feedback WHERE memory_id = ?"  # noqa: S608 - a constant
        " ORDER BY rtrim(at, 'Z') DESC, \"by\""
    )
    found = (Feedback(*row) for row in connection.execute(query, (memory_id,)))
    return [one for one in found if withdrawn or one.verdict != "withdrawn"]


def of_all(connection: Connection) -> Iterator[Feedback]:
    """All feedback, also what was withdrawn."""
    from .values import Feedback

    return (Feedback(*row) for row in connection.execute(f"SELECT {_COLUMNS} FROM feedback"))  # noqa: S608 - a constant


def votes(connection: Connection, after: int) -> list[tuple[int, int, int]]:
    """Number, helpful and wrong ones of each visible memory with feedback and a number above ``after``, by rising
    number."""
    return connection.execute(
        "SELECT number, sum(verdict = 'helpful'), sum(verdict = 'wrong') FROM feedback"
        " CROSS JOIN memories ON memories.id = feedback.memory_id"
        " WHERE verdict <> 'withdrawn' AND hidden = 0 AND number > ? GROUP BY number ORDER BY number",
        (after,),
    ).fetchall()


def give(connection: Connection, given: Feedback) -> None:
    """Store a feedback on a known memory, unless a later one of the same person is there. Inside a transaction."""
    connection.execute(
        f"INSERT INTO feedback ({_COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?6"  # noqa: S608 - a constant
        " WHERE EXISTS (SELECT 1 FROM memories WHERE id = ?1)"
        ' ON CONFLICT (memory_id, "by") DO UPDATE SET'
        " verdict = excluded.verdict, at = excluded.at, query = excluded.query, note = excluded.note"
        " WHERE rtrim(excluded.at, 'Z') >= rtrim(feedback.at, 'Z')",
        (given.memory_id, given.by, given.verdict, given.at, given.query, given.note),
    )


def clear_words(connection: Connection, given: Feedback) -> None:
    """Delete the question and the note of a feedback. Inside a transaction."""
    clear = 'UPDATE feedback SET query = NULL, note = NULL WHERE memory_id = ? AND "by" = ?'
    connection.execute(clear, (given.memory_id, given.by))


def drop(connection: Connection, given: Feedback) -> None:
    """Delete a feedback. Inside a transaction."""
    connection.execute('DELETE FROM feedback WHERE memory_id = ? AND "by" = ?', (given.memory_id, given.by))
