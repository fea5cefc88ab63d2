"""The store of memories, memory.db, with its one writer. Only the child process opens it; others name its type.

One transaction commits a change: it makes memories visible, records the applied jobs, and enqueues the deliveries to
the knowledge graph. Texts are embedded before it, so it holds its lock only briefly. Times are ISO 8601 text in UTC.
Any method may raise STORE_BUSY, STORE_UNREADABLE or DISK_FULL, as a JobError or as an error that
``database.failing_clearly`` translates.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta

import numpy as np

from jobs import clock, files, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lock import Lock

from .. import critical
from ..embedding.embedder import Embedder, Vectors
from ..memory import Memory, Status
from ..slices import Progress, Slices, ignore_progress
from ..text.passages import passages
from . import database, forgettings, full_text, quarantine, vector_files
from .change_writer import ChangeWriter
from .llm_usage import LlmUsage
from .memories import Memories
from .outbox import Outbox
from .replacements import Replacements
from .values import Addition, AppliedJob, Arrivals, Change, Feedback, StatusChange
from .vector_index import EmbeddingCache, VectorIndex
from .word_index import WordIndex

log = logging.getLogger(__name__)

Prepare = Callable[[Arrivals], Change | None]

_CHECKED_QUICKLY = 5_000  # memories whose words and vector checksums are verified in half a second
_READERS_PATIENCE_SECONDS = 5.0
_EFFECTS_KEPT = timedelta(days=90)  # longer than any job record that can still be cancelled
_USAGE_KEPT = timedelta(days=90)


class Store(Memories):
    """The open store. It holds a kernel lock, so that a leftover process cannot write at the same time."""

    def __init__(self, workspace: Workspace, embedder: Embedder, *, new_model: bool = False) -> None:
        """Open the store, and repair its indexes.

        ``new_model`` allows a store of another embedding model, which only ``rebuild_vectors`` may then change. Raises
        JobError: STORE_BUSY, STORE_NEWER, STORE_UNREADABLE, EMBEDDER_MISMATCH.
        """
        self._lock = Lock(workspace.store_lock)
        if not self._lock.acquire():
            raise JobError("STORE_BUSY")
        try:
            self._workspace = workspace
            self._embedder = embedder
            self._connection = database.open_for_writing(workspace)
            self._identity = files.identity(workspace.memory_db)
        except BaseException:
            self._lock.release()
            raise
        super().__init__(self._connection)
        self.outbox = Outbox(self._connection)
        self.llm_usage = LlmUsage(self._connection)
        self.replacements = Replacements(self._connection)
        self.is_rebuilding = False
        self._is_open = False
        self._embeddings = EmbeddingCache(self._connection, embedder)
        self._vectors = VectorIndex(workspace, self._connection, embedder.dimensions)
        self._words = WordIndex(self._connection)
        self._writer = ChangeWriter(self._connection, self._words, self.outbox, self._embeddings.drop)
        try:
            self.model_changed = self._check_embedder(new_model)
            if not self.model_changed:
                # A large store that was closed cleanly gets only a check by size, since every start waits for it.
                was_closed = database.meta(self._connection, "store_closed") == "yes"
                closely = not was_closed or self.count() <= _CHECKED_QUICKLY
                self._mend_vectors(closely=closely)
                self._mend_words(closely=closely)
            self._note_closed(False)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the store and release its lock."""
        if self._is_open:
            with contextlib.suppress(sqlite3.Error):  # then the next start checks closely
                self._note_closed(True)
        self._connection.close()
        self._lock.release()

    def _note_closed(self, closed: bool) -> None:
        """Record for the next start whether the store was closed cleanly."""
        self._is_open = not closed
        value = "yes" if closed else "no"
        if database.meta(self._connection, "store_closed") != value:
            with database.transaction(self._connection):
                database.set_meta(self._connection, "store_closed", value)

    def _check_embedder(self, new_model: bool) -> bool:
        """Whether the store has another embedding model than the settings.

        Raises JobError: EMBEDDER_MISMATCH in that case, unless ``new_model``.
        """
        recorded = database.meta(self._connection, "embedder")
        if recorded is None:
            with database.transaction(self._connection):
                self._vectors.create(self._embedder)
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
        """Quarantine damaged vector files, and rebuild them from the embeddings in memory.db."""
        damage = self._vectors.damage(closely=closely)
        if damage is not None:
            label = f"vectors-{clock.iso(clock.now())}"
            kept = quarantine.move(self._workspace, label, self._vectors.paths)
            log.warning("the vector files were %s: set aside in %s, and made again", damage, kept)
            self.rebuild_vectors()

    def _mend_words(self, *, closely: bool) -> None:
        """Rebuild the full-text index if its form is outdated or it does not agree with the memories."""
        if self._words.is_of_old:
            log.info("the full-text index is rebuilt for this version")
            self.rebuild_words()
            return
        if not self._words.is_sound(closely=closely):
            log.warning("the full-text index was damaged: it is made again")
            self.rebuild_words()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, shape (n, dimensions), from the cache or newly embedded."""
        return self._embeddings.embed(texts)

    def _require_own_model(self) -> None:
        """Raises JobError: EMBEDDER_CHANGING, since one file must not hold vectors of two models."""
        if self.model_changed:
            raise JobError("EMBEDDER_CHANGING")

    # --- writing ---

    @contextmanager
    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> Iterator[Change]:
        """Collect a change, and commit it on leaving the block: all of it, with its applied jobs, or nothing.

        An exception in the block discards the change. Reads in the block do not see it yet. Texts are embedded, and
        their vectors are synced to the vector files, before the transaction begins.

        An added memory with a number gets that number unless a memory ever had it; otherwise, or with the number 0, it
        gets the next one. No number is used twice. Every memory that is added, hidden, dropped or gets another status
        has an entry in the outbox. Raises JobError: EMBEDDER_CHANGING; and what the embedder raises.
        """
        change = Change(now, tuple(applied))
        yield change
        self._commit(change)

    def _commit(self, change: Change) -> None:
        """Embed and commit; if the full-text index is damaged, rebuild it and commit again."""
        parts: list[list[str]] = []
        if change.additions:
            self._require_own_model()
            parts = [[] if a.hidden else [passage.text for passage in passages(a.memory)] for a in change.additions]
        vectors = self.embed([text for texts in parts for text in texts])  # empty without additions
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
        """Append the vectors, then commit the transaction."""
        if not change.additions:
            with self._transaction(change):
                return
        if not self._vectors.is_there:  # the files were removed: appended rows would hide the gap
            self._mend_vectors()
        before = self._vectors.extents
        after = self._vectors.append(vectors, sizes)
        with self._transaction(change):
            change.added = self._writer.add(change.additions, sizes, before, change.at)
            self._vectors.commit(after)

    @contextmanager
    def _transaction(self, change: Change) -> Iterator[None]:
        """The change's transaction, in a critical section: the process must not be ended between the commit and the
        answer whether the job is applied.
        """
        with critical.critical_section(), steps.fault_point("memory.commit"), database.transaction(self._connection):
            self._before_writing()
            self._writer.write(change)
            yield
            effects = [(job.job_id, job.job_sha256, change.at) for job in change.applied]
            self._connection.executemany("INSERT OR IGNORE INTO effects VALUES (?, ?, ?)", effects)
            self._before_commit(change)

    def _before_writing(self) -> None:
        """A team's store notes from here on what the transaction changes."""

    def _before_commit(self, change: Change) -> None:
        """A team's store commits the change for all machines here; an exception discards it."""

    def add(
        self, memories: Sequence[tuple[Memory, str | None]], now: str, applied: Sequence[AppliedJob] = ()
    ) -> list[Memory]:
        """Add new memories, each with the id of its job, as one change. Returns them with their numbers."""
        if not memories:
            return []
        with self.change(now, applied) as change:
            change.additions += (Addition(memory._replace(number=0), job) for memory, job in memories)
        return change.added

    def set_status(
        self,
        memory_id: str,
        status: Status,
        asked_at: str,
        now: str,
        applied: AppliedJob | None = None,
        said: Feedback | None = None,
    ) -> Memory:
        """Set a summary's status, with feedback on it, unless a later change was requested. Returns the memory as it is
        then.

        A request older than the last one does nothing, so a retried job does not undo a later change; nor does a second
        request of the same job. Raises JobError: MEMORY_NOT_FOUND, MEMORY_FORGOTTEN, ARGUMENT_INVALID.
        """
        memory = self.get(memory_id)
        if memory is None and self.was_forgotten_since(memory_id, asked_at):
            raise JobError("MEMORY_FORGOTTEN")
        if memory is None:
            raise JobError("MEMORY_NOT_FOUND", f"{memory_id!r} is not in the store.")
        if memory.kind != "summary":
            what = "a legacy memory, which has no status" if memory.kind == "legacy" else "a decision record"
            raise JobError("ARGUMENT_INVALID", f"{memory_id!r} is {what}: only a summary's status can be set.")
        known = self.known(memory_id)
        if known and known.status_set_at is not None and self._is_past(known.status_set_at, asked_at, applied):
            return memory
        with self.change(now, [applied] if applied else []) as change:
            change.statuses.append(StatusChange(memory_id, status, asked_at))
            if said is not None:
                change.feedback.append(said)
        after = self.get(memory_id)
        assert after is not None
        return after

    def _is_past(self, last: str, asked_at: str, applied: AppliedJob | None) -> bool:
        """Whether the request is older than the last one, or this job is applied already."""
        before, now = clock.parse(last), clock.parse(asked_at)
        if before != now:
            return before > now
        return applied is None or self.is_applied(applied)

    # --- derived data ---

    @contextmanager
    def _rebuilding(self) -> Iterator[None]:
        """Allow one rebuild at a time, since other jobs may run in its pauses. Raises JobError: STORE_BUSY."""
        if self.is_rebuilding:
            raise JobError("STORE_BUSY", "The store is being rebuilt.")
        self.is_rebuilding = True
        try:
            yield
        finally:
            self.is_rebuilding = False

    def rebuild_vectors(self, progress: Progress = ignore_progress, embedder: Embedder | None = None) -> int:
        """Write a new generation of the vector files and switch to it. Returns the number of passages.

        Embeddings come from the cache; only missing ones are computed. With another ``embedder``, its model takes
        effect in the transaction of the switch; until then, memories are added with the present one. Raises JobError:
        STORE_BUSY during another rebuild.
        """
        target = embedder or self._embedder
        embeddings = EmbeddingCache(self._connection, target)
        slices = Slices(progress, "making the vector index", self.count())
        with self._rebuilding():
            try:
                return self._vectors.rebuild(self.after, embeddings, slices)
            finally:
                # Also if the removal of the former files failed, after the switch.
                if database.meta(self._connection, "embedder") == target.identity:
                    self._embedder, self._embeddings, self.model_changed = target, embeddings, False

    def passage_rows(self) -> Vectors:
        """The committed vectors of all passages, memory-mapped, shape (rows, dimensions)."""
        extent = self._vectors.extents["passages"]
        rows = vector_files.open_rows(self._vectors.paths[0], extent.rows, self._embedder.dimensions)
        return np.empty((0, self._embedder.dimensions), np.float32) if rows is None else rows

    def rebuild_words(self, progress: Progress = ignore_progress) -> int:
        """Fill a new full-text index and switch to it. Returns how many memories it holds.

        Raises JobError: STORE_BUSY during another rebuild.
        """
        with self._rebuilding():
            return self._words.rebuild(self.after, Slices(progress, "making the full-text index", self.count()))

    # --- a team: ``TeamStore`` overrides these ---

    def catch_up(self, prepare: Prepare = lambda arrivals: None) -> int:
        """In a team, apply what other machines changed. Returns the number of rows; 0 without a team.

        Before, ``prepare`` learns what that does to the memories here; its change, of what each machine has of its own,
        is committed together with theirs. If it raises, nothing is applied.

        Raises JobError: TEAM_UNREACHABLE, TEAM_REFUSED, TEAM_NEWER, TEAM_UNUSABLE, TEAM_NOT_SHARED.
        """
        return 0

    def change_here(self, now: str) -> AbstractContextManager[Change]:
        """As ``change``, of what each machine of a team has of its own: begun forgettings, embeddings, deliveries."""
        return self.change(now)

    def use_lease(self, number: int | None) -> None:
        """In a team, commit under the lease of this number from now on: a later lease refuses the change. Without one,
        the lock beside memory.db keeps others out.
        """

    # --- upkeep ---

    def is_in_place(self) -> bool:
        """Whether memory.db and the lock beside it are still the files that this store has open. False after these were
        removed, replaced or moved: then what is written here is lost. Cheap. Raises nothing.
        """
        is_same = self._identity is not None and files.identity(self._workspace.memory_db) == self._identity
        return is_same and self._lock.is_in_place()

    def scrub(self, progress: Progress = ignore_progress) -> None:
        """Rewrite everything that may still hold bytes of deleted rows: both indexes, and memory.db with its log.

        Raises JobError: STORE_BUSY during another rebuild, or while a reader holds the log.
        """
        try:
            self._words.purge()
        except sqlite3.Error as error:
            if not full_text.is_damage(error):
                raise
            self.rebuild_words(progress)
        self.rebuild_vectors(progress)
        # After a split or merge, a page may keep bytes of deleted rows in its free space.
        self._connection.execute("VACUUM")
        deadline = time.monotonic() + _READERS_PATIENCE_SECONDS
        while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise JobError("STORE_BUSY", "A reader keeps the log of memory.db from being emptied.")
            time.sleep(0.1)

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the database, as far as readers allow."""
        try:
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.OperationalError:
            pass  # a reader holds the log; the next checkpoint copies it

    def maintain(self, now: datetime) -> None:
        """Delete records that no job needs any more, and empty the write-ahead log unless a reader holds it."""
        before = clock.iso(now - _EFFECTS_KEPT)
        with database.transaction(self._connection):
            self._connection.execute("DELETE FROM effects WHERE at < ?", (before,))
            forgettings.drop_before(self._connection, before)
        self.llm_usage.drop_before(now - _USAGE_KEPT)
        self._connection.execute("PRAGMA busy_timeout = 100")  # do not wait for readers
        try:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {database.PATIENCE_SECONDS * 1000}")
