"""A memory as a row of memory.db, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs import clock

from ..memory import ITEM_SECTIONS, LABELS, LISTS, TIMES, Content, Memory, Metadata, References, TimeScope, dated_at
from ..text.sections import normalise_time

if TYPE_CHECKING:
    from .values import Addition

COLUMNS = f"number, id, kind, stored_at, body, sources, {', '.join(LABELS)}"

_KEYS = {name: label.key for name, label in LABELS.items() if label.key}


def having(labels: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The SQL condition for memories with these labels (None: any), and its values. Of a list they have all."""
    conditions: list[str] = []
    values: list[Any] = []
    for name, value in labels.items():
        column, key = _KEYS.get(name, (name, str))
        if name in LISTS:
            has = f"EXISTS (SELECT 1 FROM json_each({name}) WHERE value = ?)"  # noqa: S608 - our own column
            conditions += [f"{name} <> '[]'", *[has] * len(value)] if value else []
            values += value or []
        elif value is not None:
            conditions.append(f"{column} = ?")
            values.append(key(value))
    return " AND ".join(conditions) or "1", values


def body_of(content: Content | None, text: str) -> str:
    """The content or text of a memory as JSON text."""
    return json.dumps({"text": text} if content is None else content.as_dict(), ensure_ascii=False)


def content_of(body: dict[str, Any]) -> Content:
    """The content of a decoded body."""
    references = {name: tuple(items) for name, items in body["references"].items()}
    return Content(
        topic=body["topic"],
        context=body["context"],
        references=References(**references),
        time_scope=TimeScope(**body["time_scope"]),
        **{name: tuple(body[name]) for name in ITEM_SECTIONS},
    )


def read(connection: sqlite3.Connection, where: str, *values: object) -> list[Memory]:
    """The memories that fulfil a condition."""
    query = f"SELECT {COLUMNS} FROM memories WHERE {where}"  # noqa: S608 - constants
    return [memory_of(row) for row in connection.execute(query, values)]


def column(connection: sqlite3.Connection, query: str, *values: object) -> list[Any]:
    """What a query of one column gives."""
    return [value for (value,) in connection.execute(query, values)]


def memory_of(row: sqlite3.Row | tuple[Any, ...]) -> Memory:
    """The memory of a row selected with ``COLUMNS``. A text that is no time counts as unknown."""
    number, memory_id, kind, stored_at, body, sources, *values = row
    labels = dict(zip(LABELS, values, strict=True))
    words = json.loads(body)
    return Memory(
        id=memory_id,
        number=number,
        kind=kind,
        metadata=Metadata(
            **labels
            | {name: normalise_time(labels[name] or "") for name in TIMES}
            | {name: tuple(json.loads(labels[name])) for name in LISTS}
        ),
        stored_at=stored_at,
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


class Place(NamedTuple):
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
    labels = {name: getattr(memory.metadata, name) for name in LABELS}
    row = {
        "number": memory.number,
        "id": memory.id,
        "kind": memory.kind,
        **{name: value for name, value in labels.items() if value != ()},
        **{column: key(labels[name]) for name, (column, key) in _KEYS.items()},
        "stored_at": memory.stored_at,
        "origin_job": addition.origin_job,
        "body": body_of(memory.content, memory.text),
        "sources": list(memory.sources),
        "dated": dated(memory.kind, labels["created_at"], labels["source_created_at"], memory.stored_at),
        "hidden": addition.hidden,
        "migrated_from": addition.migrated_from,
        "status_set_at": addition.status_set_at,
    }
    insert_row(connection, "memories", row | place._asdict())


def insert_row(connection: sqlite3.Connection, table: str, row: Mapping[str, Any]) -> None:
    """Insert a row, as an export has those of other tables: columns by name, JSON columns as values."""
    values = {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value
        for name, value in row.items()
        if value is not None
    }
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", list(values.values()))  # noqa: S608 - constants
