"""The store over memory.db, with its one writer. Only the child process opens it.

One transaction commits a change: memories become visible whole, the jobs that are applied by it are recorded, and the
outbox gets what the knowledge graph has to be told.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import accumulate

from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

from .. import critical
from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory, Status
from ..slices import Progress, Slices, ignore_progress
from ..text.passages import passages
from . import applied_jobs, database, forgettings, full_text, quarantine
from .applied_jobs import AppliedJob
from .change import Change, StatusChange
from .change_writer import ChangeWriter
from .embedding_cache import EmbeddingCache
from .llm_usage import LlmUsage
from .memories import MemoryReader
from .outbox import Outbox
from .rows import Addition
from .vector_index import VectorIndex
from .word_index import WordIndex

log = logging.getLogger(__name__)

_CHECKED_QUICKLY = 5_000  # memories whose words are compared with the index, and vectors summed, in half a second
_READERS_PATIENCE_SECONDS = 5.0
_EFFECTS_KEPT = timedelta(days=90)  # longer than any record that a cancellation could name
_USAGE_KEPT = timedelta(days=90)


class MemoryStore(MemoryReader):
    """Opens memory.db under a kernel lock of its own, so that a process that was left over does not write as well."""

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
        super().__init__(self._connection)
        self.outbox = Outbox(self._connection)
        self.llm_usage = LlmUsage(self._connection)
        self.is_rebuilding = False
        self._is_open = False
        self._embeddings = EmbeddingCache(self._connection, embedder)
        self._vectors = VectorIndex(workspace, self._connection, embedder.dimensions)
        self._words = WordIndex(self._connection)
        self._writer = ChangeWriter(self._connection, self._words, self.outbox, self._embeddings.drop)
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

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, each embedded once whoever asks. Shape (n, dimensions)."""
        return self._embeddings.embed(texts)

    def _require_own_model(self) -> None:
        """Vectors of two models must never stand side by side."""
        if self.model_changed:
            raise JobError("EMBEDDER_MISMATCH", "The store waits for its rebuild with another embedding model.")

    # --- writing ---

    @contextmanager
    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> Iterator[Change]:
        """Gather a change, and commit it on leaving: all of it, with the jobs that are applied by it, or nothing.

        An exception in the block discards the change. Its texts are embedded, and their vectors are on the medium,
        before the transaction begins. Raises EMBEDDER_MISMATCH, and what the embedder raises.
        """
        change = Change(now, tuple(applied))
        yield change
        self._commit(change)

    def _commit(self, change: Change) -> None:
        parts: list[list[str]] = []
        if change.additions:
            self._require_own_model()
            parts = [[] if a.hidden else [passage.text for passage in passages(a.memory)] for a in change.additions]
        vectors = self.embed([text for texts in parts for text in texts])  # nothing, without additions
        sizes = [len(texts) for texts in parts]
        try:
            self._apply(change, sizes, vectors)
        except sqlite3.Error as error:
            if not full_text.is_damage(error) or self.is_rebuilding:
                raise
            log.warning("the full-text index was damaged: it is made again")
            self.rebuild_words()
            self._apply(change, sizes, vectors)

    def _apply(self, change: Change, sizes: Sequence[int], vectors: Vectors) -> None:
        if not change.additions:
            with self._transaction(change):
                return
        if not self._vectors.is_there:  # removed under us: rows behind a gap would look complete
            self._mend_vectors()
        before = self._vectors.extents
        starts = [start for start, size in zip([0, *accumulate(sizes)], sizes, strict=False) if size]
        after = self._vectors.append(vectors, starts)
        with self._transaction(change):
            change.added = self._writer.add(change.additions, sizes, before, change.at)
            self._vectors.commit(after)

    @contextmanager
    def _transaction(self, change: Change) -> Iterator[None]:
        """The process must not be ended between the commit and the answer to who asks whether the job is applied."""
        with critical.critical_section(), steps.fault_point("memory.commit"), database.transaction(self._connection):
            self._writer.write(change)
            yield
            applied_jobs.record(self._connection, change.applied, change.at)

    def add(
        self, memories: Sequence[tuple[Memory, str | None]], now: str, applied: Sequence[AppliedJob] = ()
    ) -> list[Memory]:
        """Add new memories, with the job that brought each, as one change; returns them with their numbers."""
        if not memories:
            return []
        with self.change(now, applied) as change:
            change.add(Addition(replace(memory, number=0), job) for memory, job in memories)
        return change.added

    def set_status(
        self, memory_id: str, status: Status, asked_at: str, now: str, applied: AppliedJob | None = None
    ) -> Memory:
        """Change a summary's status, unless a later change was asked for. Returns the memory as it is then.

        A change that was asked for before the last one is past and does nothing, so a job that is tried again does not
        undo a later one; of the same moment, a job counts once. Raises MEMORY_NOT_FOUND, MEMORY_FORGOTTEN,
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
        known = self.known(memory_id)
        if known and known.status_set_at is not None and self._is_past(known.status_set_at, asked_at, applied):
            return found
        with self.change(now, [applied] if applied else []) as change:
            change.set_statuses([StatusChange(memory_id, status, asked_at)])
        after = self.get(memory_id)
        assert after is not None
        return after

    def _is_past(self, last: str, asked_at: str, applied: AppliedJob | None) -> bool:
        before, now = clock.parse(last), clock.parse(asked_at)
        if before != now:
            return before > now
        return applied is None or self.is_applied(applied)

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

        def embed(texts: Sequence[str]) -> Vectors:
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
            forgettings.drop_before(self._connection, clock.iso(now - _EFFECTS_KEPT))
        self.llm_usage.drop_before(now - _USAGE_KEPT)
        self._connection.execute("PRAGMA busy_timeout = 100")  # a reader is no reason to wait
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {database.PATIENCE_SECONDS * 1000}")

    def drop_effects_before(self, at: str) -> int:
        """Forget which jobs had their effect before then. Returns how many."""
        return applied_jobs.drop_before(self._connection, at)
