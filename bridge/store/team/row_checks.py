"""Checks rows that come from a machine of somebody else, before all others get them: a copy must be able to apply them.

A row is inserted into an empty database of the present format, which has the constraints, and read again as a memory.
"""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from threading import Lock

import numpy as np

from jobs import clock
from jobs.errors import JobError

from ...team.rows import SharedRow
from .. import migrations, rows
from .tables import KEY_WIDTHS, MEMORIES, NUMBERED, SEQUENCES, TABLES, quoted

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")
_TABLES = {table.name: table for table in TABLES}


class RowChecks:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrations.bring_up(self._connection, Path(":memory:"))
        self._columns = {table.name: table.columns(self._connection) for table in TABLES}

    def require_valid(self, row: SharedRow, dimensions: int | None) -> None:
        """``dimensions``: of the workspace's vectors, if they are known. Raises JobError: ARGUMENT_INVALID."""
        try:
            if row.table not in KEY_WIDTHS:
                raise ValueError("no such table is shared")
            key = json.loads(row.key)
            if not isinstance(key, list) or len(key) != KEY_WIDTHS[row.table]:
                raise ValueError("its key has another form")
            if row.value is not None:
                self._require_applicable(row, key)
            if row.vectors is not None:
                _require_vectors(row, dimensions)
        except (ValueError, TypeError, KeyError, AttributeError, sqlite3.Error, OverflowError, RecursionError) as error:
            why = str(error) if type(error) is ValueError else type(error).__name__
            raise JobError("ARGUMENT_INVALID", f"A row of {row.table[:40]!r} cannot be applied: {why}.") from None

    def _require_applicable(self, row: SharedRow, key: list[object]) -> None:
        value = row.value or {}
        if row.table == SEQUENCES:
            if key[0] not in NUMBERED or type(value["seq"]) is not int or not 0 <= value["seq"] < 2**62:
                raise ValueError("it is no sequence")
            return
        table = _TABLES[row.table]
        if set(value) != set(self._columns[table.name]):
            raise ValueError("its columns are others")
        if [value[name] for name in table.key] != key:
            raise ValueError("its key is that of another row")
        if table.name == "effects":  # the team's server reads it, when it removes old ones
            if not _TIME.fullmatch(value["at"]):
                raise ValueError("its time cannot be read")
            clock.parse(value["at"])
        inserted = value | dict.fromkeys(table.local, 0)
        names, marks = ", ".join(map(quoted, inserted)), ", ".join("?" * len(inserted))
        with self._lock:
            self._connection.execute("BEGIN")
            try:
                self._connection.execute(
                    f"INSERT INTO {table.name} ({names}) VALUES ({marks})",  # noqa: S608 - names that were checked
                    list(inserted.values()),
                )
                if table == MEMORIES:
                    query = f"SELECT {rows.COLUMNS} FROM memories"  # noqa: S608 - constants
                    rows.memory_of(self._connection.execute(query).fetchone())
            finally:
                self._connection.execute("ROLLBACK")


def _require_vectors(row: SharedRow, dimensions: int | None) -> None:
    if row.table != MEMORIES.name or row.vectors is None:
        raise ValueError("it has no vectors")
    if len(row.vectors) % (4 * (dimensions or 1)):
        raise ValueError("its vectors have another length")
    if not np.isfinite(np.frombuffer(row.vectors, dtype="<f4")).all():
        raise ValueError("its vectors are no numbers")
