"""The rows of the team that this copy could not apply: named for people, in memory.db. A later version of such a row is
applied when it comes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from .. import database

_KEY = "team_set_aside"
_MOST = 100


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
