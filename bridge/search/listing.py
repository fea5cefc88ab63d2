"""What is remembered, as lists: memories, one memory whole, topics. Read-only, without cognee and numpy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from sqlite3 import Connection
from typing import TYPE_CHECKING, cast

from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..store import rows
from ..store.database import reading
from .hits import summary_text

if TYPE_CHECKING:
    from ..interface.memory_shapes import CountsOrError, MemoryCounts, MemoryLine, MemoryLineage, MemoryText, Topic

TOPIC_WORTH_COMPACTING = 5


def memories(workspace: Workspace, limit: int, topic_id: str | None = None) -> list[MemoryLine]:
    """The newest memories first: metadata and title."""
    return page(workspace, limit, topic_id=topic_id)[0][:limit]


def page(
    workspace: Workspace,
    limit: int,
    *,
    before: int | None = None,
    topic_id: str | None = None,
    status: str | None = None,
    kind: str | None = None,
) -> tuple[list[MemoryLine], int]:
    """The newest memories first, of numbers below ``before``, and how many there are of any number.

    One more than ``limit`` says that the list goes on.
    """
    wanted = {"topic_id": topic_id, "status": status, "kind": kind}
    given = {name: value for name, value in wanted.items() if value is not None}
    where = " AND ".join(["hidden = 0", *(f"{name} = ?" for name in given)])
    with reading(workspace) as connection:
        if connection is None:
            return [], 0
        total = connection.execute(f"SELECT count(*) FROM memories WHERE {where}", [*given.values()]).fetchone()[0]  # noqa: S608 - constants
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE {where} AND number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608 - constants
        found = connection.execute(query, [*given.values(), 2**63 - 1 if before is None else before, limit + 1])
        return [_line(rows.memory_of(row)) for row in found], total


def _line(memory: Memory) -> MemoryLine:
    metadata = memory.metadata
    return {
        "memory_id": memory.id,
        "memory_number": memory.number,
        "memory_type": memory.kind,
        "title": title(memory),
        "topic_id": metadata.topic_id,
        "session_id": metadata.session_id,
        "plan_id": metadata.plan_id,
        "status": metadata.status,
        "created_at": metadata.created_at,
        "updated_at": metadata.updated_at,
        "source_created_at": metadata.source_created_at,
        "importance": metadata.importance,
        "stored_at": memory.stored_at,
    }


def title(memory: Memory) -> str:
    """The topic, or a legacy text's first line; at most 80 characters."""
    if memory.content is not None:
        return memory.content.topic[:80]
    return next((line.strip() for line in memory.text.splitlines() if line.strip()), "")[:80]


def memory(workspace: Workspace, wanted: str) -> MemoryText:
    """One memory by id or number, with its text. Raises MEMORY_NOT_FOUND."""
    with reading(workspace) as connection:
        number = _number(wanted)
        column = "id" if number is None else "number"
        found = None
        if connection is not None:
            query = f"SELECT {rows.COLUMNS} FROM memories WHERE {column} = ?"  # noqa: S608 - constants
            found = connection.execute(query, (number or wanted,)).fetchone()
        if connection is None or found is None:
            raise JobError("MEMORY_NOT_FOUND", f"There is no memory {wanted!r} in {workspace.root}.")
        whole = rows.memory_of(found)
        return {
            **_line(whole),
            "summary_text": summary_text(whole),
            "sources": list(whole.sources),
            **_lineage(connection, whole.id),
        }


def _lineage(connection: Connection, memory_id: str) -> MemoryLineage:
    """Whether the memory is kept and not found, the original that it was made of, and what was made of it."""
    query = "SELECT hidden, migrated_from FROM memories WHERE id = ?"
    hidden, migrated_from = connection.execute(query, (memory_id,)).fetchone()
    made = connection.execute("SELECT id FROM memories WHERE migrated_from = ? ORDER BY number", (memory_id,))
    return {
        "hidden": bool(hidden),
        "migrated_from": migrated_from,
        "migrated_to": [str(found) for (found,) in made],
    }


def titles(workspace: Workspace, memory_ids: Sequence[str], topic_id: str | None) -> list[str]:
    """Number and title of these memories, or of all of a topic, hidden ones as well, and of what goes along when they
    are forgotten: originals of what was converted, and what became of originals. Unknown ids are left out."""
    with reading(workspace) as connection:
        if connection is None:
            return []
        named = (
            "WITH RECURSIVE named(id) AS ("
            " SELECT id FROM memories WHERE topic_id = ? OR id IN (SELECT value FROM json_each(?))"
            " UNION SELECT linked.id FROM named JOIN memories AS linked ON linked.migrated_from = named.id"
            " OR linked.id = (SELECT migrated_from FROM memories WHERE id = named.id))"
        )
        query = f"{named} SELECT {rows.COLUMNS} FROM memories WHERE id IN named ORDER BY number"  # noqa: S608 - constants
        found = connection.execute(query, (topic_id, json.dumps(list(memory_ids))))
        return [f"#{memory.number} {title(memory)}" for memory in map(rows.memory_of, found)]


def id_of(workspace: Workspace, wanted: str) -> str:
    """The id of the memory that has this number; what is no number is taken for an id. Raises MEMORY_NOT_FOUND."""
    return wanted if _number(wanted) is None else str(memory(workspace, wanted)["memory_id"])


def _number(wanted: str) -> str | None:
    """A memory's number as people write it, 12 or #12; None for what is none."""
    digits = wanted.removeprefix("#")
    return digits if digits.isdigit() else None


def topics(workspace: Workspace) -> list[Topic]:
    """Topics by number of active summaries; five or more are worth compacting.

    ``memories`` counts all of a topic. Size and age are of what a compaction would merge: the active summaries and the
    former record.
    """
    with reading(workspace) as connection:
        if connection is None:
            return []
        found = connection.execute(
            "SELECT topic_id, count(*), total(kind = 'summary' AND status = 'Active'),"
            " total(status = 'DecisionRecord'), total(status = 'Draft'), total(status = 'Superseded'),"
            " total(length(body)) FILTER (WHERE is_source),"
            " min(at) FILTER (WHERE is_source), max(at) FILTER (WHERE is_source)"
            " FROM (SELECT *, coalesce(source_created_at, created_at) AS at,"
            " status IN ('Active', 'DecisionRecord') AS is_source"
            " FROM memories WHERE topic_id IS NOT NULL AND hidden = 0)"
            " GROUP BY topic_id ORDER BY 3 DESC, 1"
        )
        return [
            {
                "topic_id": topic_id,
                "memories": count,
                "active": int(active),
                "decision_records": int(records),
                "drafts": int(drafts),
                "superseded": int(superseded),
                "characters": int(characters),
                "oldest": oldest,
                "newest": newest,
                "worth_compacting": active >= TOPIC_WORTH_COMPACTING,
            }
            for topic_id, count, active, records, drafts, superseded, characters, oldest, newest in found
        ]


def counts(workspace: Workspace) -> MemoryCounts:
    """How many memories there are of each kind, and how many changes the graph is owed."""
    with reading(workspace) as connection:
        if connection is None:
            return {"memories": 0, "graph_lag": 0}
        kinds = dict(
            connection.execute("SELECT kind, count(*) FROM memories WHERE hidden = 0 GROUP BY kind").fetchall()
        )
        lag = connection.execute("SELECT count(*) FROM outbox").fetchone()[0]
        return cast("MemoryCounts", {"memories": sum(kinds.values()), **kinds, "graph_lag": lag})


def counts_or_error(workspace: Workspace) -> CountsOrError:
    """``memory``: ``counts``; or null, and in ``memory_error`` why: a store that cannot be read keeps nobody from
    seeing the queue."""
    try:
        return {"memory": counts(workspace), "memory_error": None}
    except JobError as error:
        return {"memory": None, "memory_error": error.as_dict()}
