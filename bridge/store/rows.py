"""A memory as a row of memory.db, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from jobs import clock

from ..memory import Content, Memory, Metadata, References, TimeScope, dated_at, plan_key
from ..text.sections import normalise_time

if TYPE_CHECKING:
    from .values import Addition

COLUMNS = (
    "number, id, kind, status, topic_id, session_id, plan_id, created_at, updated_at, source_created_at,"
    " importance, stored_at, body, sources"
)


def body_of(content: Content | None, text: str) -> str:
    """The content or text of a memory as JSON text."""
    return json.dumps({"text": text} if content is None else asdict(content), ensure_ascii=False)


def content_of(body: dict[str, Any]) -> Content:
    """The content of a decoded body."""
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
    """The memory of a row selected with ``COLUMNS``. A text that is no time counts as unknown."""
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
    """The memory of a row as ``memory_of`` returns it; None if the row cannot be read."""
    try:
        return memory_of(row)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a memory's vectors: the first row and number of its passages, and the row of its whole text."""

    passage_row: int
    passage_count: int
    whole_row: int


def dated(kind: str, created_at: str | None, source_created_at: str | None, stored_at: str) -> float | None:
    """``Memory.dated_at`` in seconds since 1970, from columns. A text that is no time counts as unknown."""
    text = dated_at(kind, normalise_time(created_at or ""), normalise_time(source_created_at or ""), stored_at)
    return None if text is None else clock.parse(text).timestamp()


def insert(connection: sqlite3.Connection, addition: Addition, place: Place) -> None:
    """Insert a memory that has its number."""
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
    """Insert a row of another table as an export has it: columns by name, JSON columns as values."""
    values = {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
        for name, value in row.items()
        if value is not None
    }
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))  # noqa: S608 - constants


def same_as(connection: sqlite3.Connection, memory: Memory) -> str | None:
    """The id of a visible memory with the same kind, topic and text, or None."""
    body = body_of(memory.content, memory.text)
    found = connection.execute(
        # The plus prevents SQLite from comparing the text in the index, which has only its length.
        "SELECT id FROM memories WHERE hidden = 0 AND kind = ? AND topic_id IS ? AND length(body) = length(?)"
        " AND +body = ? LIMIT 1",
        (memory.kind, memory.metadata.topic_id, body, body),
    ).fetchone()
    return None if found is None else str(found[0])
