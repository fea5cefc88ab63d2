"""A memory as a row of memory.db and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jobs import clock

from ..memory import Content, Memory, Metadata, References, TimeScope, dated_at, plan_key
from ..text.sections import normalise_time

COLUMNS = (
    "number, id, kind, status, topic_id, session_id, plan_id, created_at, updated_at, source_created_at,"
    " importance, stored_at, body, sources"
)


def body_of(content: Content | None, text: str) -> str:
    """The words of a memory as JSON text."""
    return json.dumps({"text": text} if content is None else asdict(content), ensure_ascii=False)


def content_of(body: dict[str, Any]) -> Content:
    lists = ("decisions", "rationale", "open_questions", "next_steps")
    references = {name: tuple(items) for name, items in body["references"].items()}
    return Content(
        topic=body["topic"],
        context=body["context"],
        references=References(**references),
        time_scope=TimeScope(**body["time_scope"]),
        **{name: tuple(body[name]) for name in lists},
    )


def memory_of(row: sqlite3.Row | tuple[Any, ...]) -> Memory:
    """The memory of a row selected with ``COLUMNS``. A time that is none, whoever wrote it, counts as not known."""
    (number, memory_id, kind, status, topic_id, session_id, plan_id, created, updated, source, importance,
     stored, body, sources) = row  # fmt: skip
    words = json.loads(body)
    return Memory(
        id=memory_id,
        number=number,
        kind=kind,
        metadata=Metadata(
            topic_id=topic_id,
            session_id=session_id,
            plan_id=plan_id,
            status=status,
            created_at=normalise_time(created or ""),
            updated_at=normalise_time(updated or ""),
            source_created_at=normalise_time(source or ""),
            importance=importance,
        ),
        stored_at=stored,
        content=None if kind == "legacy" else content_of(words),
        text=words["text"] if kind == "legacy" else "",
        sources=tuple(json.loads(sources)),
    )


def readable(row: tuple[Any, ...]) -> Memory | None:
    """The memory of a row, as ``memory_of`` gives it; None for one that cannot be read."""
    try:
        return memory_of(row)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory's vectors lie: its passages' rows, and its whole text's once more."""

    passage_row: int
    passage_count: int
    whole_row: int


def dated(kind: str, created_at: str | None, source_created_at: str | None, stored_at: str) -> float | None:
    """``Memory.dated_at`` in seconds since 1970, from columns. A text that is no time counts as not known."""
    text = dated_at(kind, normalise_time(created_at or ""), normalise_time(source_created_at or ""), stored_at)
    return None if text is None else clock.parse(text).timestamp()


@dataclass(frozen=True, slots=True)
class Addition:
    """A memory on its way into the store, and what the store is to know of it besides.

    A hidden one is kept and not found: it has neither vectors nor words. ``number`` of the memory is kept where it is
    free; 0 takes the next.
    """

    memory: Memory
    origin_job: str | None = None
    hidden: bool = False
    migrated_from: str | None = None
    status_set_at: str | None = None


def insert(connection: sqlite3.Connection, addition: Addition, place: Place) -> None:
    """Add a memory that has its number already."""
    memory = addition.memory
    m = memory.metadata
    connection.execute(
        "INSERT INTO memories (number, id, kind, status, topic_id, session_id, plan_id, plan_key, created_at,"
        " updated_at, source_created_at, importance, stored_at, origin_job, body, sources, passage_row,"
        " passage_count, whole_row, dated, hidden, migrated_from, status_set_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            memory.number, memory.id, memory.kind, m.status, m.topic_id, m.session_id, m.plan_id,
            plan_key(m.plan_id), m.created_at, m.updated_at, m.source_created_at, m.importance,
            memory.stored_at, addition.origin_job, body_of(memory.content, memory.text),
            json.dumps(list(memory.sources)), place.passage_row, place.passage_count, place.whole_row,
            dated(memory.kind, m.created_at, m.source_created_at, memory.stored_at),
            addition.hidden, addition.migrated_from, addition.status_set_at,
        ),
    )  # fmt: skip


def insert_exported(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Add a row of another table as an export has it: columns by name, JSON columns as values."""
    values = {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for name, value in row.items()
        if value is not None
    }
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))  # noqa: S608 - constants


def same_as(connection: sqlite3.Connection, memory: Memory) -> str | None:
    """The id of a memory, not hidden, that has the same kind, topic and words; None if there is none."""
    body = body_of(memory.content, memory.text)
    found = connection.execute(
        # The plus keeps SQLite from putting the words where their length is asked for: the index has only that.
        "SELECT id FROM memories WHERE hidden = 0 AND kind = ? AND topic_id IS ? AND length(body) = length(?)"
        " AND +body = ? LIMIT 1",
        (memory.kind, memory.metadata.topic_id, body, body),
    ).fetchone()
    return None if found is None else str(found[0])
