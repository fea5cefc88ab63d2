"""An export: all memories as lines of JSON, and what was done with them. It is read in one snapshot, line by line.

A header, then the memories by number, then compactions and what cognee found, then a line with the checksum. What
can be computed again is left out: embeddings, indexes, the graph. ``export_file`` reads one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from jobs.layout import Workspace

from ..store import database, rows
from ..store.rows import Addition
from ..text.memory_json import as_payload

FORMAT = "cognee-memory-export"
VERSION = 1

# the other tables that go along: in which order, and which of their columns hold JSON
TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "compaction": ("compactions ORDER BY seq", ("sources", "conflicts", "restored")),
    "cognified": ("cognified ORDER BY memory_id", ("found",)),
}
_OWN = ("seq",)  # columns that mean nothing elsewhere


def write(workspace: Workspace, program: str, now: str, put: Callable[[bytes], object]) -> dict[str, int]:
    """Give every line to ``put``. Returns how many there are of each type. ``program`` is our version.

    Raises STORE_NEWER, STORE_UNREADABLE, STORE_BUSY, and what ``put`` raises.
    """
    checksum = Checksum()
    with database.reading(workspace) as connection:
        if connection is None:  # nothing was ever stored
            counts = dict.fromkeys(("memory", *TABLES), 0)
            put(checksum.with_line(_header(counts, None, program, now)))
        else:
            connection.execute("BEGIN")  # one snapshot, whatever the worker does meanwhile
            there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            tables = {kind: query for kind, (query, _) in TABLES.items() if query.split()[0] in there}
            counts = _counts(connection, tables)
            put(checksum.with_line(_header(counts, database.meta(connection, "workspace_id"), program, now)))
            for addition in _memories(connection):
                put(checksum.with_line(line_of(addition)))
            for kind, query in tables.items():
                for line in _rows(connection, kind, query):
                    put(checksum.with_line(line))
    put(_encoded({"type": "end", "lines": checksum.lines, "sha256": checksum.hexdigest()}))
    return counts


class Checksum:
    """Of the lines before the last one. Empty lines, and blanks around a line, do not count: editors change these."""

    def __init__(self) -> None:
        self._digest = sha256()
        self.lines = 0

    def add(self, line: bytes) -> None:
        self._digest.update(line.strip() + b"\n")
        self.lines += 1

    def with_line(self, line: Mapping[str, Any]) -> bytes:
        data = _encoded(line)
        self.add(data)
        return data

    def hexdigest(self) -> str:
        return self._digest.hexdigest()


def line_of(addition: Addition) -> dict[str, Any]:
    """A memory's line: the schema's form for exports, and what the store knows of it besides."""
    memory = addition.memory
    payload = as_payload(memory)
    if memory.content is None:
        m = memory.metadata
        labels = {"topic_id": m.topic_id, "session_id": m.session_id, "plan_id": m.plan_id, "status": m.status}
        payload["metadata"] |= {name: value for name, value in labels.items() if value is not None}
    return {
        "type": "memory",
        **payload,
        "stored_at": memory.stored_at,
        "status_set_at": addition.status_set_at,
        "hidden": addition.hidden,
        "migrated_from": addition.migrated_from,
    }


# What a terminal would obey, and what some editors take for the end of a line: written as JSON writes line feeds.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).translate(_ESCAPED).encode() + b"\n"


def _header(counts: Mapping[str, int], workspace_id: str | None, program: str, now: str) -> dict[str, Any]:
    return {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "workspace_id": workspace_id,
        "exported_at": now,
        "program_version": program,
        "counts": counts,
    }


def _counts(connection: sqlite3.Connection, tables: Mapping[str, str]) -> dict[str, int]:
    def count(query: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {query}").fetchone()[0])  # noqa: S608 - constants

    return {"memory": count("memories"), **{kind: count(tables[kind]) if kind in tables else 0 for kind in TABLES}}


def _memories(connection: sqlite3.Connection) -> Iterator[Addition]:
    there = {row[1] for row in connection.execute("PRAGMA table_info(memories)")}
    linked = "migrated_from" if "migrated_from" in there else "NULL"  # no child has opened the store since an update
    query = f"SELECT hidden, {linked}, status_set_at, {rows.COLUMNS} FROM memories ORDER BY number"  # noqa: S608
    for hidden, migrated_from, status_set_at, *row in connection.execute(query):
        memory = rows.memory_of(tuple(row))
        yield Addition(memory, hidden=bool(hidden), migrated_from=migrated_from, status_set_at=status_set_at)


def _rows(connection: sqlite3.Connection, kind: str, query: str) -> Iterator[dict[str, Any]]:
    found = connection.execute(f"SELECT * FROM {query}")  # noqa: S608 - a constant
    names = [column[0] for column in found.description]
    as_json = TABLES[kind][1]
    for row in found:
        values = {
            name: json.loads(value) if name in as_json and value is not None else value
            for name, value in zip(names, row, strict=True)
            if name not in _OWN
        }
        yield {"type": kind, **values}
