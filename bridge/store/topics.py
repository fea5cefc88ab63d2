"""A topic's memories as memory.db has them, and which topics a mistyped id may have meant. Read-only."""

from __future__ import annotations

from sqlite3 import Connection

from jobs import spelling
from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from . import rows
from .database import reading

_MOST_NEAREST = 3
_NEAR = 0.5  # of difflib's ratio


def memories(workspace: Workspace, topic_id: str) -> list[Memory]:
    """The topic's memories by number, whatever their status; hidden ones are not among them.

    Raises TOPIC_NOT_FOUND, with the nearest ids, where there are none.
    """
    with reading(workspace) as connection:
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE topic_id = ? AND hidden = 0 ORDER BY number"  # noqa: S608 - a constant
        found = [] if connection is None else [rows.memory_of(row) for row in connection.execute(query, (topic_id,))]
        if found:
            return found
        raise _not_found(topic_id, [] if connection is None else _ids(connection))


def _ids(connection: Connection) -> list[str]:
    query = "SELECT DISTINCT topic_id FROM memories WHERE topic_id IS NOT NULL AND hidden = 0 ORDER BY topic_id"
    return [topic_id for (topic_id,) in connection.execute(query)]


def _not_found(topic_id: str, known: list[str]) -> JobError:
    near = nearest(topic_id, known)
    hint = f" The nearest: {', '.join(map(repr, near))}." if near else ""
    return JobError("TOPIC_NOT_FOUND", f"There is no topic {topic_id!r}.{hint}", details={"nearest": near})


def nearest(topic_id: str, known: list[str]) -> list[str]:
    """The known ids that look most like one, the best first: by their letters, then by the words they share."""
    found = spelling.nearest(topic_id, known, _MOST_NEAREST, _NEAR)
    words = set(topic_id.split("-"))
    alike = {other: len(words & set(other.split("-"))) for other in known if other not in found}
    found += sorted((other for other in alike if alike[other]), key=lambda other: (-alike[other], other))
    return found[:_MOST_NEAREST]
