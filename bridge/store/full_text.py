"""The full-text index over the memories' words: its table in memory.db, its rows, and the errors that mean damage."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from ..pattern import pattern
from . import database
from .catalogue import WINDOW_STEP

if TYPE_CHECKING:
    from ..memory import Memory

FIRST_TABLE = "words"
_NAME = pattern(r"words(_\d+)?")
_GONE = ("no such table", "no such fts5 table", "vtable constructor failed")
_NO_REASON = "SQL logic error"  # FTS5's message when one of its internal tables is missing


def table_in_force(connection: sqlite3.Connection) -> str:
    """The name of the index's table that is in force."""
    name = database.meta(connection, "words_table") or FIRST_TABLE
    return name if is_table(name) else FIRST_TABLE


def is_table(name: str) -> bool:
    """Whether a name is that of an index table, in force or not."""
    return _NAME.fullmatch(name) is not None


def rows_of(memory: Memory) -> list[tuple[int, str, str]]:
    """The rows of a memory: of each window the rowid, the topic and the words, as the index stores them.

    See WINDOW_STEP.
    """
    from ..text.passages import whole_text  # imported here: a query does not need it
    from ..text.terms import index_text
    from ..text.windows import windows

    topic = index_text(memory.content.topic if memory.content else "")
    parts = [index_text(window) for window in windows(whole_text(memory))]
    first = memory.number if len(parts) == 1 else memory.number + WINDOW_STEP
    return [(first + place * WINDOW_STEP, topic, words) for place, words in enumerate(parts)]


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the error means that the index is damaged or missing, not the disk or the memories."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB:
        return True
    if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_ERROR:
        return False
    message = str(error)
    return message == _NO_REASON or (FIRST_TABLE in message and any(gone in message for gone in _GONE))
