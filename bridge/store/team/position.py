"""Up to which change of the team memory.db has the team's rows, and the rows that this copy could not apply: named for
people, and applied when a later version of such a row comes. Both are committed with the rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from jobs.layout import Workspace

from ...team.rows import Position
from .. import database

_KEY = "team_set_aside"
_MOST = 100

_KEYS = ("team_seq", "team_change")


class RowSetAside(NamedTuple):
    """A row of a table, by its key as JSON text, cut, and why it could not be applied; never its columns."""

    table: str
    key: str
    why: str


def rows_set_aside(connection: sqlite3.Connection) -> tuple[RowSetAside, ...]:
    """The rows, the first ones of many."""
    return tuple(RowSetAside(*each) for each in json.loads(database.meta(connection, _KEY) or "[]"))


def note_set_aside(connection: sqlite3.Connection, found: Iterable[RowSetAside]) -> None:
    """Record the rows instead of the former ones, inside the transaction that leaves them out."""
    database.set_meta(connection, _KEY, json.dumps([*found][:_MOST]))


def position(connection: sqlite3.Connection) -> Position | None:
    """The position; None if memory.db never had rows of a team."""
    seq, change = (database.meta(connection, key) for key in _KEYS)
    return None if seq is None or change is None else Position(int(seq), change)


def note_position(connection: sqlite3.Connection, reached: Position) -> None:
    """Record the position, inside the transaction that has its rows."""
    for key, value in zip(_KEYS, reached, strict=True):
        database.set_meta(connection, key, str(value))


class CopyState(NamedTuple):
    """How far a copy is. ``forgettings``: how many forgettings have still left copies of texts on this machine.
    ``set_aside``: the rows that it could not apply."""

    position: Position | None
    forgettings: int
    set_aside: tuple[RowSetAside, ...] = ()

    @property
    def has_removed_all(self) -> bool:
        """Whether nothing is left in it that was forgotten up to its position."""
        return not self.forgettings


def copy_state(workspace: Workspace) -> CopyState:
    """The state of the copy, read beside the writer. Raises as ``database.read_connection``."""
    with database.read_connection(workspace) as connection:
        if connection is None:
            return CopyState(None, 0)
        (count,) = connection.execute("SELECT count(*) FROM forgettings WHERE done_at IS NULL").fetchone()
        return CopyState(position(connection), int(count), rows_set_aside(connection))
