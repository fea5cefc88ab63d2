"""The full-text index over the memories' words: which table of memory.db it is, and which errors mean its damage."""

from __future__ import annotations

import re
import sqlite3

from . import database

FIRST_TABLE = "words"
_NAME = re.compile(r"words(_\d+)?")
_GONE = ("no such table", "vtable constructor failed")
_NO_REASON = "SQL logic error"  # FTS5, when a table of its own is gone


def table_in_force(connection: sqlite3.Connection) -> str:
    """The name of the index that memory.db has in force."""
    name = database.meta(connection, "words_table") or FIRST_TABLE
    return name if is_table(name) else FIRST_TABLE


def is_table(name: str) -> bool:
    """Whether a table of this name is such an index, in force or not."""
    return _NAME.fullmatch(name) is not None


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the index is damaged or missing, rather than the disk or the memories."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CORRUPT_VTAB:
        return True
    if getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_ERROR:
        return False
    said = str(error)
    return said == _NO_REASON or (FIRST_TABLE in said and any(gone in said for gone in _GONE))
