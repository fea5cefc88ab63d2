"""Reading every store whole: memory.db and its index, the model, the knowledge graph against the memories.

It changes nothing, and opens nothing in a way that would mend it: what is found is told with what to do about it.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any

from jobs.diagnostics import Finding, finding
from jobs.errors import JobError
from jobs.lifecycle import Failed, Succeeded

from ..embedding import model_files
from ..forgetting.quotes import strings
from ..graph import earlier_stores, graph_files
from ..graph.open_stores import Stores
from ..memory import Memory
from ..privacy.traces import trace
from ..slices import Slices
from ..store import database, extractions, rows
from ..store.audit import Audit, readable
from . import Outcomes, Progress, Task

log = logging.getLogger(__name__)

_TOGETHER = 500  # memories


def run(tasks: Sequence[Task], stores: Stores, now: datetime, progress: Progress) -> Outcomes:
    return {task.job_id: _one(stores, progress) for task in tasks}


def _one(stores: Stores, progress: Progress) -> Succeeded | Failed:
    began = time.monotonic()
    try:
        connection = database.open_for_reading(stores.workspace)
        if connection is None:
            return Succeeded(_result([], 0, began))
        with closing(connection):
            made = list(_all(stores, connection, progress))
            count = connection.execute("SELECT count(*) FROM memories").fetchone()[0]
    except JobError as error:
        return Failed(error)
    return Succeeded(_result(made, int(count), began))


def _result(made: list[Finding], memories: int, began: float) -> dict[str, Any]:
    return {
        "ok": not any(finding.level == "error" for finding in made),
        "findings": [finding.as_dict() for finding in made],
        "memories": memories,
        "seconds": round(time.monotonic() - began, 3),
    }


def _all(stores: Stores, connection: sqlite3.Connection, progress: Progress) -> Iterator[Finding]:
    """What each part finds. One that cannot be made is a finding, and keeps no other from being made."""
    (held,) = connection.execute("PRAGMA user_version").fetchone()
    audit = Audit(stores.workspace, connection)
    parts: list[tuple[str, Callable[[], Iterator[Finding]]]] = [("memory", audit.whole)]
    if held < database.FORMAT:
        parts.append(("memory", lambda: iter([finding("STORE_OF_OLDER_FORMAT", "store")])))
    else:
        (count,) = connection.execute("SELECT count(*) FROM memories").fetchone()
        slices = Slices(progress, "reading the memories", count)
        parts += [
            ("memory", audit.full_text),
            ("memory", audit.vector_files),
            ("memory", lambda: audit.memories(slices, _looks_secret())),
            ("memory", audit.bookkeeping),
            ("model", lambda: _model(stores)),
            ("memory", lambda: audit.embeddings(stores.embedder)),
            ("graph", lambda: _graph(stores, connection)),
            ("graph", lambda: _texts(stores, connection)),
        ]
    for number, (group, part) in enumerate(parts):
        progress({"done": number, "total": len(parts), "message": f"reading the {group}"})
        try:
            yield from part()
        except JobError as error:
            yield finding(
                "CHECK_NOT_MADE", group, f"{error.code}: {error.message}", remedy=error.remediation, group=group
            )
        except sqlite3.DatabaseError as error:
            damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
            yield finding("STORE_DAMAGED" if damaged else "CHECK_NOT_MADE", "store", f"SQLite says: {error}.")
        except OSError as error:
            yield finding("CHECK_NOT_MADE", group, f"{error.strerror}.", group=group)
        except Exception as error:  # what damage makes of other code; where it came from is in the log
            log.error("a check of the group %s was not made: %s", group, trace(error))
            yield finding("CHECK_NOT_MADE", group, f"It met {type(error).__name__}.", group=group)


def _looks_secret() -> Callable[[str], bool]:
    from ..privacy.redaction import count_secrets  # a tenth of a second, for a library that no other part needs

    def looks(body: str) -> bool:
        """Whether any of a memory's texts, which are a value of JSON, holds a likely secret."""
        try:
            return any(count_secrets(text) for text in strings(json.loads(body)))
        except ValueError:
            return False

    return looks


def _model(stores: Stores) -> Iterator[Finding]:
    if not stores.settings.embedding.is_local:
        return
    try:
        model_files.verify(model_files.model_folder(stores.settings.cache_folder))
    except JobError as error:
        yield finding("MODEL_ABSENT" if error.code == "MODEL_MISSING" else "MODEL_WRONG", "model", error.message)


# --- the graph ---


def _graph(stores: Stores, connection: sqlite3.Connection) -> Iterator[Finding]:
    if database.meta(connection, "graph_embedder") is None or not graph_files.is_whole(stores.workspace):
        return  # there never was one, or its absence is seen at a glance
    hidden = {each for (each,) in connection.execute("SELECT id FROM memories WHERE hidden = 1")}
    there = {each for (each,) in connection.execute("SELECT id FROM memories")}
    forgotten = {each for (each,) in connection.execute("SELECT id FROM tombstones")} - there
    owed = {each for (each,) in connection.execute("SELECT memory_id FROM outbox")}
    try:
        compared = stores.compare_graph(
            memories=_visible(connection),
            superseded=_superseded(connection),
            gone=[*forgotten, *hidden],
            owed=owed,
            found=_found(connection),
        )
    except JobError as error:
        if error.code != "GRAPH_UNAVAILABLE":
            raise
        yield finding("GRAPH_DAMAGED", "graph", error.message)
        return
    for table, why in compared.unreadable.items():
        yield finding("GRAPH_DAMAGED", "vectors", f"The table {table} cannot be read: {why}.")
    if compared.lacking:
        count = len(compared.lacking)
        yield finding("GRAPH_LACKS", "graph", f"In all: {count}.", count=count, memory_ids=compared.lacking)
    if compared.forgotten:
        count = len(compared.forgotten)
        said = f"In all: {count}."
        yield finding("GRAPH_HOLDS_FORGOTTEN", "graph", said, count=count, memory_ids=compared.forgotten)
    if compared.strange:
        yield finding("GRAPH_HOLDS_MORE", "graph", f"In all: {compared.strange}.", count=compared.strange)


def _visible(connection: sqlite3.Connection) -> Iterator[list[Memory]]:
    query = f"SELECT {rows.COLUMNS} FROM memories WHERE number > ? AND hidden = 0 ORDER BY number LIMIT ?"  # noqa: S608 - a constant
    last = 0
    while part := connection.execute(query, (last, _TOGETHER)).fetchall():
        yield [memory for row in part if (memory := readable(row)) is not None]
        last = part[-1][0]


def _superseded(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    query = (
        "SELECT record.id, source.id FROM memories AS record, json_each(record.sources) AS listed"
        " JOIN memories AS source ON source.id = listed.value"
        " WHERE record.kind = 'decision_record' AND record.hidden = 0 AND source.hidden = 0"
    )
    return connection.execute(query).fetchall()


def _found(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The nodes that cognee found in texts of visible memories, with those."""
    ids = [node_id for (node_id,) in connection.execute("SELECT DISTINCT node_id FROM found_nodes")]
    return extractions.memories_with(connection, ids)


def _texts(stores: Stores, connection: sqlite3.Connection) -> Iterator[Finding]:
    ours = [each for (each,) in connection.execute("SELECT data_id FROM cognified")]
    strange = earlier_stores.find(stores.workspace, ours)
    if strange.texts:
        yield finding("TEXTS_STRAY", "texts", f"In all: {len(strange.texts)}.", count=len(strange.texts))
