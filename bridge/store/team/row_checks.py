"""Checks the rows of a workspace that somebody shares, before others get them: a row is let in if a copy of this
version would have written it.

So there is no second list of what a row holds. A row has the form of its table, and its columns the forms that their
names tell. Then the store reads it: what it reads has the types that the store's values declare, and from these the
store's own writer writes the same row again.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from struct import iter_unpack
from threading import Lock
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from jobs import clock
from jobs.errors import JobError
from jobs.ids import is_job_id
from jobs.scrub import WORDS

from ...memory import LISTS, TIMES, Memory, is_topic_id
from ...team.rows import SharedRow
from .. import feedback, graph_content, history, migrations, rows, verdicts
from ..history_digests import without_texts
from ..values import Addition, CapturedSession, CaptureSource, Compaction, Extraction, Feedback, PairVerdict
from .shared_tables import BY_NAME, MEMORIES, SEQUENCES, RowForms, insert, quoted

_JSON = frozenset(["body", "sources", "conflicts", "restored", "found", "segments", "evidence", *LISTS])
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_Value = TypeVar("_Value")


class RowChecks:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        migrations.bring_up(self._connection, Path(":memory:"))
        self._forms = RowForms(self._connection)

    def require_valid(self, row: SharedRow, dimensions: int | None) -> None:
        """``dimensions``: of the workspace's vectors, if they are known. Raises JobError: ARGUMENT_INVALID."""
        try:
            row = self._forms.filled(row)
            self._forms.require(row)
            if row.value is not None and row.table != SEQUENCES:
                _require_forms(row.table, row.value)
                with self._lock:
                    self._require_written(row.table, row.value)
            if row.table == MEMORIES.name and (row.vectors is None) != bool((row.value or {"hidden": True})["hidden"]):
                raise ValueError("vectors come with each visible memory, and with no other one")
            if row.vectors is not None:
                _require_vectors(row.vectors, dimensions or 1)
        except (ValueError, TypeError, LookupError, AttributeError, sqlite3.Error, ArithmeticError) as error:
            why = str(error) if type(error) is ValueError else type(error).__name__
            raise JobError("ARGUMENT_INVALID", f"A row of {row.table[:40]!r} cannot be applied: {why}.") from None
        except RecursionError:
            raise JobError("ARGUMENT_INVALID", f"A row of {row.table[:40]!r} is too deep.") from None

    def _require_written(self, table: str, value: dict[str, Any]) -> None:
        """Read the row as the store does, and compare it with what the store writes from what it has read."""
        with self._trial() as connection:
            local = dict.fromkeys(BY_NAME[table].local, 0)
            insert(connection, table, value | local)
            read, write = _KINDS.get(table, (None, None))
            found = None if read is None else read(connection, value)
        if write is None:
            return
        with self._trial() as connection:
            write(connection, value, found)
            names = ", ".join(map(quoted, value))
            written = connection.execute(f"SELECT {names} FROM {table}").fetchone()  # noqa: S608 - columns of the table
        for (name, given), again in zip(value.items(), written or (), strict=True):
            is_same = json.loads(given) == json.loads(again) if name in _JSON and given is not None else given == again
            if not is_same:
                raise ValueError(f"its {name} is none that is written so")

    @contextmanager
    def _trial(self) -> Iterator[sqlite3.Connection]:
        """An empty database, of which nothing stays."""
        self._connection.execute("BEGIN")
        try:
            yield self._connection
        finally:
            self._connection.execute("ROLLBACK")


# --- forms that the columns' names tell ---


def _require_forms(table: str, value: Mapping[str, Any]) -> None:
    for name, given in value.items():
        if given is not None and not _has_form(table, name, given):
            raise ValueError(f"its {name} has another form")


def _has_form(table: str, name: str, given: Any) -> bool:
    if name in _JSON:
        return _is_json(given)
    if name in ("id", "memory_id", "record_id", "data_id", "migrated_from", "older", "newer"):
        return _is_uuid(given)
    if isinstance(given, str) and "\0" in given:
        return False
    if name == "at" or name.endswith("_at"):  # what an old text said of its own time is shown if it is one
        return (table == "memories" and name in TIMES) or _is_time(given)
    if name in ("job_id", "origin_job", "restored_by"):
        return is_job_id(given) or (table == "compactions" and given == "")  # that of an edited import is left out
    if name in ("older_sha256", "newer_sha256") or (name == "job_sha256" and table == "effects"):
        return _DIGEST.fullmatch(given) is not None
    if name == "topic_id":
        return is_topic_id(given) or (table == "compactions" and given == "")  # that of a forgotten topic
    if name in ("number", "seq", "first", "last"):
        return int(given) >= 1
    if name in ("importance", "confidence", "hidden"):
        return 0 <= given <= 1  # type: ignore[no-any-return]
    if name == "by":
        return 1 <= len(given) <= 256
    return name not in ("tool", "method") or given in WORDS


def _is_uuid(text: str) -> bool:
    return str(UUID(text)) == text


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and clock.parse(text) is not None


def _is_json(text: str) -> bool:
    """Whether a program wrote it: each value once, and no number that JSON has not."""

    def refused(text: str) -> None:
        raise ValueError(f"{text} is no number")

    value = json.loads(text, parse_constant=refused)
    return text in (json.dumps(value), json.dumps(value, ensure_ascii=False))


def _require_vectors(data: bytes, dimensions: int) -> None:
    if not data or len(data) % (4 * dimensions):
        raise ValueError("its vectors have another length")
    if not all(math.hypot(*vector) <= 1.001 for vector in iter_unpack(f"<{dimensions}f", data)):  # nor is NaN
        raise ValueError("its vectors are longer than 1")


# --- what the store reads of a row, and writes again ---


class _Typed(BaseModel, Generic[_Value]):
    model_config = ConfigDict(strict=True, revalidate_instances="always")

    value: _Value


def _memory(connection: sqlite3.Connection, row: Mapping[str, Any]) -> Memory:
    found = rows.memory_of(connection.execute(f"SELECT {rows.COLUMNS} FROM memories").fetchone())  # noqa: S608 - a constant
    _Typed[Memory](value=found)
    m = found.metadata
    if found.content is not None and (m.topic_id is None or m.status is None):
        raise ValueError("it has no topic or no status")
    if any(not _is_uuid(each) for each in found.sources) or (found.sources and found.kind != "decision_record"):
        raise ValueError("its sources are no memories")
    return found


def _write_memory(connection: sqlite3.Connection, row: Mapping[str, Any], found: Memory) -> None:
    place = rows.Place(0, 0, 0)
    rest = Addition(found, row["origin_job"], bool(row["hidden"]), row["migrated_from"], row["status_set_at"])
    rows.insert(connection, rest, place)
    if found.kind == "legacy":
        said = {name: row[name] for name in TIMES}
        marks = ", ".join(f"{name} = ?" for name in said)
        connection.execute(f"UPDATE memories SET {marks}", list(said.values()))  # noqa: S608 - constants


def _compaction(connection: sqlite3.Connection, row: Mapping[str, Any]) -> Compaction:
    found = history.CompactionReader(connection).latest(row["record_id"])
    assert found is not None
    _Typed[Compaction](value=found)
    if any(not _is_uuid(each.memory_id) for each in found.sources):
        raise ValueError("its sources are no memories")
    as_exported = dict(row) | {name: json.loads(row[name]) for name in ("sources", "conflicts")}
    if without_texts(as_exported) != as_exported:
        raise ValueError("it has words")
    return found


def _write_compaction(connection: sqlite3.Connection, row: Mapping[str, Any], found: Compaction) -> None:
    connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('compactions', ?)", (found.seq - 1,))
    seq = history.record(connection, found)
    if found.restored is not None:
        history.note_restored(connection, seq, row["restored_by"], found.restored)


def _extraction(connection: sqlite3.Connection, row: Mapping[str, Any]) -> Extraction:
    found = graph_content.ExtractionReader(connection).of([row["memory_id"]])[row["memory_id"]]
    _Typed[Extraction](value=found)
    stored = json.loads(row["found"])
    job_id = stored.pop("job_id", None)
    if stored.keys() != {"nodes", "edges"} or not (job_id is None or isinstance(job_id, str)):
        raise ValueError("its found has another form")
    return found


def _session(connection: sqlite3.Connection, row: Mapping[str, Any]) -> CapturedSession:
    (found,) = history.CaptureReader(connection).sessions()
    _Typed[CapturedSession](value=found)
    for each in found.segments:
        if not _DIGEST.fullmatch(each.digest) or not (each.memory_id is None or _is_uuid(each.memory_id)):
            raise ValueError("its segments have another form")
    return found


def _source(connection: sqlite3.Connection, row: Mapping[str, Any]) -> CaptureSource:
    found = history.CaptureReader(connection).source(row["memory_id"])
    assert found is not None
    _Typed[CaptureSource](value=found)
    return found


def _turns(connection: sqlite3.Connection, row: Mapping[str, Any]) -> list[str]:
    found = list(history.CaptureReader(connection).turns(row["tool"]))
    if not all(re.fullmatch(r"[ow]?[0-9a-f]{12}", each) for each in found):
        raise ValueError("its digests have another form")
    return str(row["digests"]).split(" ") if found else []


def _feedback(connection: sqlite3.Connection, row: Mapping[str, Any]) -> Feedback:
    (found,) = feedback.of_all(connection)
    _Typed[Feedback](value=found)
    return found


def _verdict(connection: sqlite3.Connection, row: Mapping[str, Any]) -> PairVerdict:
    (found,) = verdicts.of_all(connection)
    _Typed[PairVerdict](value=found)
    return found


def _skipped(connection: sqlite3.Connection, row: Mapping[str, Any]) -> None:
    if row["first"] > row["last"]:
        raise ValueError("it skips nothing")


_Read = Callable[[sqlite3.Connection, Mapping[str, Any]], Any]
_Write = Callable[[sqlite3.Connection, Mapping[str, Any], Any], None]
_KINDS: dict[str, tuple[_Read, _Write | None]] = {
    "memories": (_memory, _write_memory),
    "numbers_skipped": (_skipped, None),
    "compactions": (_compaction, _write_compaction),
    "cognified": (_extraction, None),
    "captured_sessions": (_session, lambda connection, row, found: history.record_session(connection, found)),
    "captured_memories": (_source, lambda connection, row, found: history.record_source(connection, found)),
    "captured_turns": (
        _turns,
        lambda connection, row, found: history.record_turns(connection, row["tool"], row["session_id"], found),
    ),
    "feedback": (_feedback, None),
    "verdicts": (_verdict, None),
}
