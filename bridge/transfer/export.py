"""The writer of exports: all memories and their history as lines of JSON, from one snapshot of the store, line by line.

The lines are a header, the memories by number, the compactions, cognee's extractions, feedback, verdicts, and an end
with the checksum. An export omits what can be computed again: embeddings, indexes and the graph. ``export_file`` reads
an export.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from hashlib import sha256
from typing import Any

from jobs.layout import Workspace

from ..memory import GIVEN
from ..store import similar_ids
from ..store.export_rows import TABLES, ExportRows
from ..store.opening import reader_of
from ..store.values import Addition
from ..text.memory_json import as_payload

FORMAT = "cognee-memory-export"
VERSION = 1
_ABOUT = ("memory_id", "record_id", "older", "newer")  # columns with the memory that a row is about


def write(
    workspace: Workspace,
    program: str | None,
    now: str,
    put: Callable[[bytes], object],
    *,
    only: Collection[str] | None = None,
    topics: Collection[str] | None = None,
) -> dict[str, int]:
    """Pass every line to ``put``. Returns the number of lines by type, without header and end.

    ``program`` is this program's version if it is known, ``now`` the time of the export, ``only`` the ids of the
    memories to export, ``topics`` the topics to export instead of all. Raises JobError: TOPIC_NOT_FOUND for a topic
    without memories, STORE_NEWER, STORE_UNREADABLE, STORE_BUSY; and what ``put`` raises.
    """
    checksum = Checksum()
    with reader_of(workspace).export() as rows:
        if topics is not None:
            only = _of_topics(rows, topics)
        if rows is None:  # nothing was ever stored
            counts = dict.fromkeys(("memory", *TABLES), 0)
            put(checksum.with_line(_header(counts, None, program, now)))
        else:
            counts = rows.counts() if only is None else _counts(rows, only)
            put(checksum.with_line(_header(counts, rows.workspace_id, program, now)))
            for addition in rows.additions():
                if only is None or addition.memory.id in only:
                    put(checksum.with_line(line_of(addition)))
            for kind in TABLES:
                for row in _rows(rows, kind, only):
                    put(checksum.with_line({"type": kind, **row}))
    put(_encoded({"type": "end", "lines": checksum.lines, "sha256": checksum.hexdigest()}))
    return counts


def _of_topics(rows: ExportRows | None, topics: Collection[str]) -> set[str]:
    """The ids of the memories of these topics, superseded and hidden ones included."""
    found = {topic: set[str]() for topic in topics}
    for addition in () if rows is None else rows.additions():
        if (ids := found.get(addition.memory.metadata.topic_id or "")) is not None:
            ids.add(addition.memory.id)
    for topic, ids in found.items():
        if not ids:
            labelled = (each.memory.metadata.topic_id for each in rows.additions()) if rows else ()
            known = sorted(set(filter(None, labelled)))
            raise similar_ids.not_found(topic, known, so=" Nothing was exported.")
    return set().union(*found.values())


def _rows(rows: ExportRows, kind: str, only: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """The rows of a type, of these memories."""
    for row in rows.rows(kind):
        if only is None or all(row[name] in only for name in _ABOUT if name in row):
            yield row


def _counts(rows: ExportRows, only: Collection[str]) -> dict[str, int]:
    return {"memory": len(only)} | {kind: sum(1 for _ in _rows(rows, kind, only)) for kind in TABLES}


class Checksum:
    """The SHA-256 of all lines before the last one.

    Empty lines, and blanks around a line, do not count, since editors change them.
    """

    def __init__(self) -> None:
        self._digest = sha256()
        self.lines = 0

    def add(self, line: bytes) -> None:
        """Include a line that is not empty."""
        self._digest.update(line.strip() + b"\n")
        self.lines += 1

    def with_line(self, line: Mapping[str, Any]) -> bytes:
        """Include a line, and return its bytes."""
        data = _encoded(line)
        self.add(data)
        return data

    def hexdigest(self) -> str:
        """The checksum of the lines so far."""
        return self._digest.hexdigest()


def line_of(addition: Addition) -> dict[str, Any]:
    """The line of a memory: the published form of a memory, with what the store records about it."""
    memory = addition.memory
    payload = as_payload(memory)
    if memory.content is None:
        given = {name: getattr(memory.metadata, name) for name in GIVEN}
        payload["metadata"] |= {name: value for name, value in given.items() if value not in (None, ())}
    return {
        "type": "memory",
        **payload,
        "stored_at": memory.stored_at,
        "status_set_at": addition.status_set_at,
        "hidden": addition.hidden,
        "migrated_from": addition.migrated_from,
    }


# Control characters, which a terminal would obey, and line separators, which some editors treat as line ends.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).translate(_ESCAPED).encode() + b"\n"


def _header(counts: Mapping[str, int], workspace_id: str | None, program: str | None, now: str) -> dict[str, Any]:
    return {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "workspace_id": workspace_id,
        "exported_at": now,
        "program_version": program,
        "counts": counts,
    }
