"""What is remembered, as lists: memories, one memory whole, topics. Read-only, without cognee and numpy."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jobs.errors import JobError
from jobs.layout import Workspace

from . import rows
from .database import reading
from .hits import summary_text
from .memory import Memory

TOPIC_WORTH_COMPACTING = 5


def memories(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[dict[str, Any]]:
    """The newest memories first: metadata and title."""
    with reading(workspace) as connection:
        if connection is None:
            return []
        where, arguments = ("WHERE topic_id = ?", [topic_id]) if topic_id else ("", [])
        query = f"SELECT {rows.COLUMNS} FROM memories {where} ORDER BY number DESC LIMIT ?"  # noqa: S608 - constants
        return [_line(rows.memory_of(row)) for row in connection.execute(query, [*arguments, limit])]


def _line(memory: Memory) -> dict[str, Any]:
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": title(memory),
        **asdict(memory.metadata),
        "stored_at": memory.stored_at,
    }


def title(memory: Memory) -> str:
    """The topic, or a legacy text's first line; at most 80 characters."""
    if memory.content is not None:
        return memory.content.topic[:80]
    return next((line.strip() for line in memory.text.splitlines() if line.strip()), "")[:80]


def memory(workspace: Workspace, wanted: str) -> dict[str, Any]:
    """One memory by id or number, with its text. Raises MEMORY_NOT_FOUND."""
    with reading(workspace) as connection:
        column = "number" if wanted.isdigit() else "id"
        found = None
        if connection is not None:
            query = f"SELECT {rows.COLUMNS} FROM memories WHERE {column} = ?"  # noqa: S608 - constants
            found = connection.execute(query, (wanted,)).fetchone()
        if found is None:
            raise JobError("MEMORY_NOT_FOUND", f"There is no memory {wanted!r} in {workspace.root}.")
        whole = rows.memory_of(found)
        return {**_line(whole), "summary_text": summary_text(whole), "sources": list(whole.sources)}


def topics(workspace: Workspace) -> list[dict[str, Any]]:
    """Topics by number of memories that are not superseded; five or more are worth compacting."""
    with reading(workspace) as connection:
        if connection is None:
            return []
        found = connection.execute(
            "SELECT topic_id, count(*), sum(status = 'Active'), sum(length(body)), min(created_at), max(created_at)"
            " FROM memories WHERE topic_id IS NOT NULL AND hidden = 0 GROUP BY topic_id ORDER BY 3 DESC, 1"
        )
        return [
            {
                "topic_id": topic_id,
                "memories": count,
                "active": active,
                "characters": characters,
                "oldest": oldest,
                "newest": newest,
                "worth_compacting": active >= TOPIC_WORTH_COMPACTING,
            }
            for topic_id, count, active, characters, oldest, newest in found
        ]


def counts(workspace: Workspace) -> dict[str, int]:
    """How many memories there are of each kind, and how many changes the graph is owed."""
    with reading(workspace) as connection:
        if connection is None:
            return {"memories": 0, "graph_lag": 0}
        kinds = dict(connection.execute("SELECT kind, count(*) FROM memories GROUP BY kind").fetchall())
        lag = connection.execute("SELECT count(*) FROM outbox").fetchone()[0]
        return {"memories": sum(kinds.values()), **kinds, "graph_lag": lag}
