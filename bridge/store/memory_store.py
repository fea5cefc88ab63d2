"""The memory store's writer: the truth about memories, in memory.db. Used by the child process alone.

One transaction makes memories visible, whole, notes whose effect that was, and adds to the outbox what is owed to
the knowledge graph.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate

from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

from .. import critical
from ..embedding.embedder import Embedder
from ..forgetting import consequences
from ..memory import Memory, Status
from ..slices import Progress, Slices, ignore_progress
from ..text.passages import passages
from . import applied_jobs, database, full_text, numbering, quarantine, rows, vector_files
from .applied_jobs import AppliedJob
from .embedding_cache import EmbeddingCache
from .full_text import WordIndex
from .llm_usage import LlmUsage
from .outbox import Outbox
from .rows import Addition
from .vector_index import VectorIndex

log = logging.getLogger(__name__)

_CHECKED_QUICKLY = 5_000  # memories whose words are compared with the index, and vectors summed, in half a second
_READERS_PATIENCE_SECONDS = 5.0
_EFFECTS_KEPT = timedelta(days=90)  # longer than any record that a cancellation could name
_USAGE_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows of an id: its number, and the job that brought it."""

    number: int
    origin_job: str | None


class MemoryStore:
    """Opens memory.db under a kernel lock of its own, so that no orphan writes beside a successor."""

    def __init__(self, workspace: Workspace, embedder: Embedder, *, new_model: bool = False) -> None:
        """``new_model`` opens a store of another model, which nothing but ``rebuild_vectors`` may then touch.

        Raises STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH.
        """
        self._lock = Lock(workspace.store_lock)
        if not self._lock.acquire():
            raise JobError("STORE_BUSY")
        try:
            self._workspace = workspace
            self._embedder = embedder
            self._connection = database.open_for_writing(workspace)
        except BaseException:
            self._lock.release()
            raise
        self.outbox = Outbox(self._connection)
        self.llm_usage = LlmUsage(self._connection)
        self.is_rebuilding = False
        self._is_open = False
        self._embeddings = EmbeddingCache(self._connection, embedder)
        self._vectors = VectorIndex(workspace, self._connection, embedder.dimensions)
        self._words = WordIndex(self._connection)
        try:
            self.model_changed = self._check_embedder(new_model)
            if not self.model_changed:
                # What was closed in order and is large is looked at by its size alone: each start waits for it.
                was_closed = database.meta(self._connection, "store_closed") == "yes"
                closely = not was_closed or self.count() <= _CHECKED_QUICKLY
                self._mend_vectors(closely=closely)
                self._mend_words(closely=closely)
            self._note_closed(False)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._is_open:
            with contextlib.suppress(sqlite3.Error):  # then the next opening looks closely
                self._note_closed(True)
        self._connection.close()
        self._lock.release()

    def _note_closed(self, closed: bool) -> None:
        """Note how the store is left, for the next opening: in use, or as it should be."""
        self._is_open = not closed
        value = "yes" if closed else "no"
        if database.meta(self._connection, "store_closed") != value:
            with database.transaction(self._connection):
                database.set_meta(self._connection, "store_closed", value)

    @property
    def workspace_id(self) -> str:
        value = database.meta(self._connection, "workspace_id")
        assert value is not None
        return value

    def _check_embedder(self, new_model: bool) -> bool:
        """Whether the store was made with another model than ours; raises unless that was expected."""
        recorded = database.meta(self._connection, "embedder")
        if recorded is None:
            with database.transaction(self._connection):
                database.set_meta(self._connection, "embedder", self._embedder.identity)
                self._vectors.create()
        elif recorded != self._embedder.identity:
            if new_model:
                return True
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The store was made with {recorded}; the settings name {self._embedder.identity}."
                " Nothing was changed.",
            )
        return False

    def _mend_vectors(self, *, closely: bool = True) -> None:
        """Damaged vector files are set aside and made again from the embeddings in memory.db."""
        if self._vectors.is_of_old:
            log.info("the vector files are made anew for this version")
            self.rebuild_vectors()
            return
        damage = self._vectors.damage(closely=closely)
        if damage is not None:
            label = f"vectors-{clock.iso(clock.now())}"
            kept = quarantine.move(self._workspace, label, self._vectors.paths)
            log.warning("the vector files were %s: set aside in %s, and made again", damage, kept)
            self.rebuild_vectors()

    def _mend_words(self, *, closely: bool) -> None:
        """A full-text index of an older form, or that does not agree with the memories, is made again from them."""
        if self._words.is_of_old:
            log.info("the full-text index is made anew for this version")
            self.rebuild_words()
            return
        if not self._words.is_sound(closely=closely):
            log.warning("the full-text index was damaged: it is made again")
            self.rebuild_words()

    def embed(self, texts: Sequence[str]) -> vector_files.Vectors:
        """Vectors of the texts, each embedded once whoever asks. Shape (n, dimensions)."""
        return self._embeddings.embed(texts)

    # --- memories ---

    def _require_own_model(self) -> None:
        """Vectors of two models must never stand side by side."""
        if self.model_changed:
            raise JobError("EMBEDDER_MISMATCH", "The store waits for its rebuild with another embedding model.")

    def known(self, memory_id: str) -> Known | None:
        row = self._connection.execute("SELECT number, origin_job FROM memories WHERE id = ?", (memory_id,)).fetchone()
        return None if row is None else Known(*row)

    def forgotten_at(self, memory_id: str) -> str | None:
        row = self._connection.execute("SELECT forgotten_at FROM tombstones WHERE id = ?", (memory_id,)).fetchone()
        return None if row is None else str(row[0])

    def was_forgotten_since(self, memory_id: str, accepted_at: str) -> bool:
        """Whether the memory was forgotten after a job was accepted that would bring it back."""
        forgotten = self.forgotten_at(memory_id)
        return forgotten is not None and clock.parse(accepted_at) <= clock.parse(forgotten)

    def get(self, memory_id: str) -> Memory | None:
        row = self._connection.execute(
            f"SELECT {rows.COLUMNS} FROM memories WHERE id = ?",  # noqa: S608 - a constant
            (memory_id,),
        ).fetchone()
        return None if row is None else rows.memory_of(row)

    def same_as(self, memory: Memory) -> str | None:
        """The id of a memory, not hidden, that has the same kind, topic and words; None if there is none."""
        return rows.same_as(self._connection, memory)

    def count(self) -> int:
        """How many memories there are, without hidden ones."""
        return int(self._connection.execute("SELECT count(*) FROM memories WHERE hidden = 0").fetchone()[0])

    def is_hidden(self, memory_id: str) -> bool:
        """Whether the memory is kept and not found: what was converted, or withdrawn."""
        row = self._connection.execute("SELECT hidden FROM memories WHERE id = ?", (memory_id,)).fetchone()
        return row is not None and bool(row[0])

    def after(self, number: int, limit: int) -> list[Memory]:
        """Memories with a higher number, in order, at most ``limit``, without hidden ones."""
        query = f"SELECT {rows.COLUMNS} FROM memories WHERE number > ? AND hidden = 0 ORDER BY number LIMIT ?"  # noqa: S608 - a constant
        return [rows.memory_of(row) for row in self._connection.execute(query, (number, limit))]

    def newest(self, limit: int) -> list[str]:
        """The ids of the memories with the highest numbers, the highest first, without hidden ones."""
        query = "SELECT id FROM memories WHERE hidden = 0 ORDER BY number DESC LIMIT ?"
        return [str(memory_id) for (memory_id,) in self._connection.execute(query, (limit,))]

    def newest_about(self, topic_id: str) -> Memory | None:
        """The memory of a topic that has the highest number, without hidden ones."""
        query = (
            f"SELECT {rows.COLUMNS} FROM memories WHERE topic_id = ? AND hidden = 0"  # noqa: S608 - a constant
            " ORDER BY number DESC LIMIT 1"
        )
        row = self._connection.execute(query, (topic_id,)).fetchone()
        return None if row is None else rows.memory_of(row)

    def superseded(self, memory_ids: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs of a record and one of its sources, either of which is among the memories, without hidden ones."""
        query = (
            "SELECT record.id, source.id FROM memories AS record, json_each(record.sources) AS listed"
            " JOIN memories AS source ON source.id = listed.value"
            " WHERE record.kind = 'decision_record' AND record.hidden = 0 AND source.hidden = 0"
            " AND (record.id IN (SELECT value FROM json_each(:ids))"
            " OR source.id IN (SELECT value FROM json_each(:ids)))"
        )
        return list(self._connection.execute(query, {"ids": json.dumps(list(memory_ids))}))

    @contextmanager
    def changing(self, now: str, noted: Sequence[AppliedJob] = ()) -> Iterator[sqlite3.Connection]:
        """The transaction of an effect: nobody ends the process between its commit and its being answered for.

        ``noted`` are the jobs whose effect it is.
        """
        with critical.critical_section(), steps.fault_point("memory.commit"), database.transaction(self._connection):
            yield self._connection
            applied_jobs.record(self._connection, noted, now)

    @property
    def connection(self) -> sqlite3.Connection:
        """The one writer's, for looking; changes are made in ``changing``."""
        return self._connection

    def add(
        self, memories: Sequence[tuple[Memory, str | None]], now: str, noted: Sequence[AppliedJob] = ()
    ) -> list[Memory]:
        """Add new memories (with the job that brought each) in one transaction; returns them numbered."""
        return self.bring([Addition(replace(memory, number=0), job) for memory, job in memories], now, noted)

    def bring(
        self,
        additions: Sequence[Addition],
        now: str,
        noted: Sequence[AppliedJob] = (),
        together: Callable[[sqlite3.Connection], None] = lambda _: None,
    ) -> list[Memory]:
        """Add new memories in one transaction, at whose beginning ``together`` is called; returns them numbered.

        ``noted`` are the jobs whose effect this is. A hidden memory of the same id comes back, under its number. The
        vectors are on the medium before the transaction that names them.
        """
        self._require_own_model()
        if not additions:
            return []
        parts = [[] if a.hidden else [passage.text for passage in passages(a.memory)] for a in additions]
        matrix = self.embed([text for texts in parts for text in texts])
        sizes = [len(texts) for texts in parts]
        try:
            return self._bring(additions, sizes, matrix, now, noted, together)
        except sqlite3.Error as error:
            if not full_text.is_damage(error) or self.is_rebuilding:
                raise
            log.warning("the full-text index was damaged: it is made again")
            self.rebuild_words()
            return self._bring(additions, sizes, matrix, now, noted, together)

    def _bring(
        self,
        additions: Sequence[Addition],
        sizes: Sequence[int],
        matrix: vector_files.Vectors,
        now: str,
        noted: Sequence[AppliedJob],
        together: Callable[[sqlite3.Connection], None],
    ) -> list[Memory]:
        if not self._vectors.is_there:  # removed under us: rows behind a gap would pass for the whole
            self._mend_vectors()
        before = self._vectors.extents
        row, whole_row = before["passages"].rows, before["wholes"].rows
        starts = [start for start, size in zip([0, *accumulate(sizes)], sizes, strict=False) if size]
        extents = self._vectors.append(matrix, starts)
        added = []
        with self.changing(now, noted) as connection:
            together(connection)
            for addition, size in zip(additions, sizes, strict=True):
                former = self._take_out_hidden(addition.memory.id)
                number = former or numbering.take(connection, addition.memory.number)
                numbered = replace(addition.memory, number=number)
                rows.insert(connection, replace(addition, memory=numbered), rows.Place(row, size, whole_row))
                if not addition.hidden:
                    self._words.add(numbered)
                    self.outbox.enqueue(numbered.id, "write", now)
                    whole_row += 1
                row += size
                added.append(numbered)
            self._vectors.commit(extents)
        return added

    def _take_out_hidden(self, memory_id: str) -> int | None:
        """Make room for a memory that is there and hidden: it comes back under its number, which is returned."""
        (row,) = self._connection.execute(
            "DELETE FROM memories WHERE id = ? AND hidden = 1 RETURNING number", (memory_id,)
        ).fetchall() or [None]
        return None if row is None else int(row[0])

    def hide(self, memory_id: str, now: str) -> None:
        """Keep a memory, and let nobody find it any more; inside ``changing``."""
        self._connection.execute("UPDATE memories SET hidden = 1 WHERE id = ?", (memory_id,))
        self._leave(memory_id, now)

    def drop(self, memory_id: str, now: str) -> None:
        """Remove a memory; inside ``changing``. Its number is not given again."""
        self._leave(memory_id, now)
        self._connection.execute("DELETE FROM memories WHERE id = ?", (memory_id,))

    def _leave(self, memory_id: str, now: str) -> None:
        """Take a memory out of the index, and owe that to the graph instead of what it was owed of it."""
        for (number,) in self._connection.execute("SELECT number FROM memories WHERE id = ?", (memory_id,)).fetchall():
            self._words.remove(number)
        self._connection.execute("DELETE FROM outbox WHERE memory_id = ?", (memory_id,))
        self.outbox.enqueue(memory_id, "delete", now)

    def set_status(
        self, memory_id: str, status: Status, asked_at: str, now: str, noted: AppliedJob | None = None
    ) -> Memory:
        """Change a summary's status; nothing is embedded again. ``noted`` is the job whose effect this is.

        What was asked for before the last change was is past and changes nothing, so a job that is tried again does
        not undo a later one; what was asked for at the same moment counts once. Raises MEMORY_NOT_FOUND,
        ARGUMENT_INVALID.
        """
        found = self.get(memory_id)
        if found is None and self.was_forgotten_since(memory_id, asked_at):
            raise JobError("MEMORY_FORGOTTEN")
        if found is None:
            raise JobError("MEMORY_NOT_FOUND", f"{memory_id!r} is not in the store.")
        if found.kind != "summary":
            what = "a legacy memory, which has no status" if found.kind == "legacy" else "a decision record"
            raise JobError("ARGUMENT_INVALID", f"{memory_id!r} is {what}: only a summary's status can be set.")
        (last,) = self._connection.execute("SELECT status_set_at FROM memories WHERE id = ?", (memory_id,)).fetchone()
        if last is not None and self._is_past(last, asked_at, noted):
            return found
        with self.changing(now, [noted] if noted else []) as connection:
            connection.execute(
                "UPDATE memories SET status = ?, updated_at = ?, status_set_at = ? WHERE id = ?",
                (status, now, asked_at, memory_id),
            )
            self.outbox.enqueue(memory_id, "status", now)
        after = self.get(memory_id)
        assert after is not None
        return after

    def _is_past(self, last: str, asked_at: str, noted: AppliedJob | None) -> bool:
        before, now = clock.parse(last), clock.parse(asked_at)
        return before > now or (before == now and (noted is None or applied_jobs.is_recorded(self._connection, noted)))

    # --- derived data ---

    @contextmanager
    def _rebuilding(self) -> Iterator[None]:
        """One rebuild at a time: another job may run in its pauses, but none that makes the same anew."""
        if self.is_rebuilding:
            raise JobError("STORE_BUSY", "The store is being rebuilt.")
        self.is_rebuilding = True
        try:
            yield
        finally:
            self.is_rebuilding = False

    def rebuild_vectors(self, progress: Progress = ignore_progress) -> int:
        """Write a new generation of the vector file beside the old one and switch to it. Returns its rows.

        Embeddings come from the cache; only what is missing there is embedded again. A new model takes over
        in the same transaction.
        """
        slices = Slices(progress, "making the vector index", self.count())

        def embed(texts: Sequence[str]) -> vector_files.Vectors:
            return self._embeddings.embed(texts, slices.done)

        def take_over() -> None:
            database.set_meta(self._connection, "embedder", self._embedder.identity)

        with self._rebuilding():
            found = self._vectors.rebuild(self.after, embed, slices, take_over)
        self.model_changed = False
        return found

    def rebuild_words(self, progress: Progress = ignore_progress) -> int:
        """Fill a new full-text index and switch to it. Returns how many memories it holds."""
        with self._rebuilding():
            return self._words.rebuild(self.after, Slices(progress, "making the full-text index", self.count()))

    # --- upkeep ---

    def forget_embeddings(self, texts: Iterable[str]) -> None:
        """Remove the embeddings of texts, whoever had them made; inside ``changing``."""
        self._embeddings.drop(texts)

    def scrub(self, progress: Progress = ignore_progress) -> None:
        """Write anew whatever may still hold bytes of what was deleted: both indexes, and memory.db with its log.

        Raises STORE_BUSY where another rebuild is under way, or a reader does not let go of the log.
        """
        try:
            self._words.purge()
        except sqlite3.Error as error:
            if not full_text.is_damage(error):
                raise
            self.rebuild_words(progress)
        self.rebuild_vectors(progress)
        # A page that was divided or merged keeps bytes of deleted rows between those that it has.
        self._connection.execute("VACUUM")
        deadline = time.monotonic() + _READERS_PATIENCE_SECONDS
        while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise JobError("STORE_BUSY", "A reader keeps the log of memory.db from being emptied.")
            time.sleep(0.1)

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the database where no reader is in the way."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError:
            pass  # a reader holds it; the next one does it

    def maintain(self, now: datetime) -> None:
        """Empty the write-ahead log unless a reader is in the way, and forget what no job can ask for any more."""
        self.drop_effects_before(clock.iso(now - _EFFECTS_KEPT))
        with database.transaction(self._connection):
            consequences.drop_before(self._connection, clock.iso(now - _EFFECTS_KEPT))
        self.llm_usage.drop_before(now - _USAGE_KEPT)
        self._connection.execute("PRAGMA busy_timeout = 100")  # a reader is no reason to wait
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {database.PATIENCE_SECONDS * 1000}")

    def drop_effects_before(self, at: str) -> int:
        """Forget which jobs had their effect before then. Returns how many."""
        return applied_jobs.drop_before(self._connection, at)
