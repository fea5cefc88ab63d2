"""Counts and sizes of the store for monitoring, read without cognee and numpy."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from jobs.layout import Workspace

from . import outbox
from .database import meta, read_connection
from .llm_usage import today
from .values import Sizes, Spent

# Every memory has a passage_row of 0 or more; the condition makes SQLite read an index instead of the table.
BY_STATUS = (
    "SELECT kind, coalesce(status, 'none'), count(*) FROM memories"
    " WHERE hidden = 0 AND unlikely(passage_row >= 0) GROUP BY 1, 2"
)


def sizes(workspace: Workspace, now: datetime) -> Sizes:
    """The counts and sizes. Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY."""
    vectors = sum(map(size_of, workspace.vectors.glob("*")))
    database = sum(size_of(workspace.memory_db.with_name(workspace.memory_db.name + end)) for end in ("", "-wal"))
    with read_connection(workspace) as connection:
        if connection is None:
            return Sizes({}, 0, 0, 0, database, vectors, Spent())
        memories = {(kind, status): count for kind, status, count in connection.execute(BY_STATUS)}
        topics = connection.execute("SELECT count(DISTINCT topic_id) FROM memories WHERE hidden = 0").fetchone()[0]
        lag = outbox.lag(connection)
        waiting = lag.changes if lag.has_graph else 0
        passages = int(meta(connection, "vector_rows") or 0)
        return Sizes(memories, topics, passages, waiting, database, vectors, today(connection, now))


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 if it does not exist, or cannot be looked at."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0
