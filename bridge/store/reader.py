"""The reader of memory.db, and its snapshot, which is one read transaction.

Times are ISO 8601 text in UTC unless a unit is named. Any method may raise STORE_BUSY or STORE_UNREADABLE, as a
JobError.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

from ..memory import Memory
from ..team import copy_age, last_try
from . import database, feedback, full_text, migrations, replacements, rows
from .catalogue import (
    STATUSES,
    WINDOW_STEP,
    AddedAbove,
    CatalogueRow,
    Changes,
    FullTextDamaged,
    Position,
    Replacement,
    VectorState,
    Votes,
)
from .database import failing_clearly

if TYPE_CHECKING:
    from datetime import datetime

    from ..text.terms import Term
    from .export_rows import ExportRows
    from .memory_lists import MemoryLists
    from .values import AppliedJob, Sizes

_T = TypeVar("_T")
_Seen = tuple[int, ...]

_CODES = " ".join(f"WHEN '{status}' THEN {code}" for code, status in enumerate(STATUSES) if status)
_STATUS_CODE = f"CASE status {_CODES} ELSE {STATUSES.index(None)} END"
# Covered by the index memories_catalogue; the trigger memories_changed lists these columns: both in migrations.py.
_CATALOGUE = f"number, passage_row, passage_count, coalesce(whole_row, -1), {_STATUS_CODE}, kind = 'legacy', dated"
_NUMBER = f"rowid % {WINDOW_STEP}"
_ADDED = "SELECT number, id, stored_at, passage_row FROM memories"
_AT_ONCE = 500  # numbers in one query
_SPELLING_WINDOWS = 20  # in which the spellings of a stem are looked for


class StoreReader:
    """Reads the store of one workspace, from any process, beside the writer, by a new connection for each read. It
    changes nothing. Every method raises STORE_NEWER if a later program wrote the store.

    ``stays``: for a process of many questions, which keeps its snapshots and their connections between them. A kept
    connection is used again only while memory.db and its log are the same files, and the database itself was not
    written: one that was replaced, or restored in place, is opened again. Threads may share it.
    """

    def __init__(self, workspace: Workspace, *, stays: bool = False) -> None:
        self._workspace = workspace
        self._stays = stays
        self._idle: list[tuple[_Seen, StoreSnapshot]] = []

    def snapshot(self) -> StoreSnapshot | None:
        """The present state; None if the store does not exist yet. Raises JobError: STORE_NEWER, STORE_UNREADABLE,
        STORE_BUSY.
        """
        # Seen before it is opened: what replaces the files in between is seen as another one by the next question.
        seen = _seen(self._workspace) if self._stays else None
        kept = self._kept(seen)
        connection = database.open_for_reading(self._workspace) if kept is None else kept.connection
        if connection is None:
            return None
        try:
            if kept is not None and kept.is_still():
                return kept
            if seen is None:
                return StoreSnapshot(connection)
            with failing_clearly():
                migrations.format_of(connection, self._workspace.memory_db)  # a later program may have upgraded it
            return StoreSnapshot(connection, lambda snapshot: self._idle.append((seen, snapshot)))
        except BaseException:
            connection.close()
            raise

    def _kept(self, seen: _Seen | None) -> StoreSnapshot | None:
        while self._idle:
            try:
                of, snapshot = self._idle.pop()
            except IndexError:  # another thread took it
                break
            if of == seen:
                return snapshot
            snapshot.connection.close()
        return None

    def lists(self) -> AbstractContextManager[MemoryLists | None]:
        """Lists of the present state, for the block; None if the store does not exist yet."""
        from .memory_lists import MemoryLists  # imported here: a query does not need it

        self._require_copy()
        return self._state(MemoryLists)

    def export(self) -> AbstractContextManager[ExportRows | None]:
        """The rows of an export, for the block; None if the store does not exist yet."""
        from .export_rows import ExportRows

        self._require_copy()
        return self._state(ExportRows)

    def _require_copy(self) -> None:
        """Raises JobError: TEAM_NO_COPY where a team's workspace is too large for this machine: what is not here must
        not look as if there were nothing. TEAM_REFUSED where the team does not let this machine in any more."""
        last_try.require_let_in(self._workspace, clock.now())
        if copy_age.has_no_copy(self._workspace):
            raise JobError("TEAM_NO_COPY")

    def is_applied(self, job: AppliedJob) -> bool:
        """Whether the job's effect is committed; False without a store."""
        from .memories import Memories

        with database.read_connection(self._workspace) as connection:
            return connection is not None and Memories(connection).is_applied(job)

    def sizes(self, now: datetime) -> Sizes:
        """Counts, and sizes of files, for monitoring; zeros without a store. The usage is that of the UTC day."""
        from .sizes import sizes

        return sizes(self._workspace, now)

    def require_readable(self) -> None:
        """Raises the JobError that prevents reading now. A store that does not exist yet is readable: it is empty."""
        with database.read_connection(self._workspace) as connection:
            if connection is not None:
                connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone()

    @contextmanager
    def _state(self, make: Callable[[sqlite3.Connection], _T]) -> Iterator[_T | None]:
        with database.read_connection(self._workspace) as connection:
            if connection is None:
                yield None
            else:
                connection.execute("BEGIN")  # one state, unaffected by the writer
                yield make(connection)


class StoreSnapshot:
    """One state of the store, unaffected by later commits. It must not be shared among threads, and is closed so that
    the writer can free its space.
    """

    @failing_clearly()
    def __init__(self, connection: sqlite3.Connection, keep: Callable[[StoreSnapshot], None] | None = None) -> None:
        """``keep`` takes it back at the end, with its connection, unless it met damage."""
        self.connection = connection
        self._keep = keep
        connection.execute("BEGIN")
        self._version = _version(connection)
        migrations.show_as_present(connection)
        meta: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        last = connection.execute(f"{_ADDED} ORDER BY number DESC LIMIT 1").fetchone()
        self.vectors = VectorState(
            embedder=meta.get("embedder"),
            generation=int(meta.get("vector_generation", 0)),
            dimensions=int(meta.get("dimensions", 0)),
            passage_rows=int(meta.get("vector_rows", 0)),
            whole_rows=int(meta.get("whole_rows", 0)),
        )
        self._words = full_text.table_in_force(connection)
        self._more_windows: int | None = None
        self.position = _position(meta.get("workspace_id"), meta["catalogue_version"], last, self._words)

    def close(self) -> None:
        """End the read transaction, and close the connection unless it is kept."""
        if self._keep is None:
            self.connection.close()
            return
        try:
            self.connection.execute("ROLLBACK")  # also of what shows an older format as the present one
        except sqlite3.Error:
            self.connection.close()
        else:
            self._keep(self)

    @failing_clearly()
    def is_still(self) -> bool:
        """Take a closed snapshot that was kept up again; False if the store has changed since, or has an older
        format."""
        self.connection.execute("BEGIN")
        if self._version is not None and self._version == _version(self.connection):
            return True
        self.connection.execute("ROLLBACK")
        return False

    @failing_clearly()
    def changes_since(self, position: Position) -> Changes:
        """What changed in the catalogue between that position and this snapshot. A position of another store, or of a
        later state than this one, gives ``everything``.
        """
        if position == self.position:
            return "nothing"
        now = json.loads(self.position)
        try:
            workspace_id, version, last, *_ = json.loads(position)
        except (ValueError, TypeError):  # a position of another kind of store
            return "everything"
        if [workspace_id, version] != now[:2] or last is None:
            return "everything"
        # The last memory at that position still exists, unless an older backup was restored.
        row = self.connection.execute(f"{_ADDED} WHERE number = ?", last[:1]).fetchone()
        return AddedAbove(last[0]) if row is not None and list(row) == last else "everything"

    @failing_clearly()
    def catalogue(self, after: int = 0) -> Sequence[CatalogueRow]:
        """The visible memories with a number above ``after``, by rising passage row."""
        above, arguments = (" AND number > ?", (after,)) if after else ("", ())
        query = f"SELECT {_CATALOGUE} FROM memories WHERE hidden = 0{above} ORDER BY passage_row"  # noqa: S608 - constants
        return self.connection.execute(query, arguments).fetchall()

    @failing_clearly()
    def votes(self, after: int = 0) -> Sequence[tuple[int, Votes]]:
        """Number and feedback of the visible memories that have any and a number above ``after``, by rising number.
        It is a part of the catalogue: a change of it is a change of that.
        """
        return [(number, Votes(*counts)) for number, *counts in feedback.votes(self.connection, after)]

    @failing_clearly()
    def replacements(self) -> list[Replacement]:
        """The statements that newer ones may replace, of visible memories. They are a part of the catalogue."""
        return replacements.found(self.connection)

    @failing_clearly()
    def last_compared(self) -> int:
        """The number of the last memory whose statements were compared with those of others; 0 if none was."""
        return replacements.last_compared(self.connection)

    @failing_clearly()
    def statements_of_older(self) -> list[tuple[int, int]]:
        """Number and passage of each statement of the older memories of ``replacements``, in order."""
        return replacements.statements_of_older(self.connection)

    @failing_clearly()
    def numbers(self, **labels: Any) -> list[int]:
        """The numbers of the memories with these labels, in no order; hidden ones may be included.

        Plan ids are compared as ``memory.plan_key`` returns them.
        """
        where, given = rows.having(labels)
        query = f"SELECT number FROM memories WHERE {where}"  # noqa: S608 - our own columns
        return [number for (number,) in self.connection.execute(query, given)]

    @failing_clearly()
    def topic_ids(self) -> list[str]:
        """The topics of the visible memories, each once."""
        query = "SELECT DISTINCT topic_id FROM memories WHERE topic_id IS NOT NULL AND hidden = 0"
        return [topic_id for (topic_id,) in self.connection.execute(query)]

    @failing_clearly()
    def plan_ids(self) -> list[str]:
        """The plans of the visible memories, each once, as one of its memories writes it."""
        query = "SELECT min(plan_id) FROM memories WHERE plan_key IS NOT NULL AND hidden = 0 GROUP BY plan_key"
        return [plan_id for (plan_id,) in self.connection.execute(query)]

    @failing_clearly()
    def memories(self, numbers: Sequence[int]) -> list[Memory]:
        """Memories by number, in no order, hidden ones included; unknown numbers are left out."""
        found: list[Memory] = []
        for start in range(0, len(numbers), _AT_ONCE):
            part = [int(number) for number in numbers[start : start + _AT_ONCE]]
            found += rows.read(self.connection, f"number IN ({_marks(part)})", *part)
        return found

    # --- full text ---

    def count_having(self, term: Term) -> int:
        """How many memories have the term. Raises FullTextDamaged."""
        counted = f"count(DISTINCT {_NUMBER})" if self.more_windows() else "count(*)"
        ((count,),) = self._matches(counted, [], term.match)
        return int(count)

    def more_windows(self) -> int:
        """How many more windows there are than memories; 0 without a long memory. Raises FullTextDamaged."""
        if self._more_windows is None:
            ((count,),) = self._selected("count(*)", f"rowid >= {2 * WINDOW_STEP}")
            self._more_windows = int(count)
        return self._more_windows

    def bm25(
        self, terms: Sequence[Term], weights: tuple[float, float], of_long: float = 1.0
    ) -> list[tuple[int, float]]:
        """Window and BM25 (higher is better, k1 = 1.2, b = 0.75) of each window with a term, by rising window.

        The statistics are those of windows. ``weights``: how often a word of the topic and of the body counts.
        ``of_long``: how many times as often in a window of a long memory. Raises FullTextDamaged.
        """
        given: tuple[float, ...] = weights
        marks = "?, ?"
        if self.more_windows():
            marks = ", ".join([f"iif(rowid < {WINDOW_STEP}, ?, ?)"] * 2)
            given = tuple(weight * times for weight in weights for times in (1.0, of_long))
        return self._matches(f"rowid, -bm25({self._words}, {marks})", given, _any_of(terms), " ORDER BY rowid")

    def having(self, terms: Sequence[Term], among: Sequence[int] | None = None) -> list[int]:
        """The numbers of the memories with any of the terms, limited to ``among`` if given. Raises FullTextDamaged."""
        number, found = (_NUMBER, f"DISTINCT {_NUMBER}") if self.more_windows() else ("rowid", "rowid")
        end = "" if among is None else f" AND {number} IN ({_marks(among)})"
        return [number for (number,) in self._matches(found, [], _any_of(terms), end, among or ())]

    def stems(self, first: str) -> list[tuple[str, int]]:
        """The stems in the index that begin with this letter (a to z), in order, and how many windows have each.
        Raises FullTextDamaged."""
        self._open_vocabulary()
        query = "SELECT term, doc FROM temp.stems WHERE term >= ? AND term < ?"
        return self._read_words(query, (first, chr(ord(first) + 1)))

    def words_of(self, stem: str) -> set[str]:
        """The words with this stem, in lower case, as some windows spell them. Raises FullTextDamaged."""
        self._open_vocabulary()
        some = "rowid IN (SELECT DISTINCT doc FROM temp.places WHERE term = ? LIMIT ?)"
        found = self._selected("topic || ' ' || body", some, (stem, _SPELLING_WINDOWS))
        spelled = re.compile(rf"\b{re.escape(stem[:-1])}[a-z]*")  # the stemmer changes endings
        return {word for (text,) in found for word in spelled.findall(text)}

    def _open_vocabulary(self) -> None:
        for name, kind in (("stems", "row"), ("places", "instance")):
            self._read_words(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING fts5vocab(main, {self._words}, {kind})"
            )

    def _matches(
        self, columns: str, before: Sequence[float], match: str, end: str = "", behind: Sequence[int] = ()
    ) -> list[Any]:
        return self._selected(columns, f"{self._words} MATCH ?{end}", (*before, match, *behind))

    def _selected(self, columns: str, where: str, values: Sequence[object] = ()) -> list[Any]:
        return self._read_words(f"SELECT {columns} FROM {self._words} WHERE {where}", values)  # noqa: S608 - our name

    @failing_clearly()
    def _read_words(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._keep = None
            if full_text.is_damage(error):
                raise FullTextDamaged(str(error)) from error
            raise


def _version(connection: sqlite3.Connection) -> int | None:
    """What tells a connection that another one has committed since; None in a store of an older format."""
    version, form = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("data_version", "user_version"))
    return int(version) if form == migrations.FORMAT else None


def _seen(workspace: Workspace) -> _Seen | None:
    """What tells memory.db from another one at its path; None if it is not there."""
    path = str(workspace.memory_db)
    try:
        database_file = os.stat(path)  # noqa: PTH116 - a Path takes several times as long
        log = os.stat(f"{path}-wal")  # noqa: PTH116
    except OSError:
        return None
    return (
        database_file.st_dev, database_file.st_ino, database_file.st_size, database_file.st_mtime_ns, log.st_ino,
    )  # fmt: skip


def _position(workspace_id: str | None, version: str, last: tuple[Any, ...] | None, words: str) -> Position:
    """A position: the workspace, the version that changes with everything except additions above, the last memory, and
    the table of the full-text index: a rebuild changes what queries find by words, though no row of the catalogue.
    """
    return Position(json.dumps([workspace_id, version, last, words]))


def _any_of(terms: Sequence[Term]) -> str:
    """A query for any of the terms, in FTS5's language."""
    return " OR ".join(term.match for term in terms)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
