"""The writer of changes: the only module that turns a ``Change`` into SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from ..memory import Memory
from . import feedback, forgettings, graph_content, history, rows, verdicts
from .memories import last_number
from .outbox import Outbox
from .values import Addition, Change, StatusChange
from .vector_index import Extents
from .word_index import WordIndex


class ChangeWriter:
    """Writes changes through the one writer's connection, inside the change's transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        words: WordIndex,
        outbox: Outbox,
        forget_embeddings: Callable[[Iterable[str]], None],
    ) -> None:
        self._connection = connection
        self._words = words
        self._outbox = outbox
        self._forget_embeddings = forget_embeddings

    def write(self, change: Change) -> None:
        """Write a change except for its additions, which need their vectors."""
        self._memories(change)
        self._history(change)
        self._extractions(change)
        for session in change.captured_sessions:
            history.record_session(self._connection, session)
        for tool, session_id, digests in change.captured_turns:
            history.record_turns(self._connection, tool, session_id, digests)
        for source in change.capture_sources:
            history.record_source(self._connection, source)
        for given in change.feedback:
            feedback.give(self._connection, given)
        for given in change.feedback_to_clear:
            feedback.clear_words(self._connection, given)
        for given in change.feedback_to_drop:
            feedback.drop(self._connection, given)
        for verdict in change.verdicts:
            verdicts.give(self._connection, verdict)
        for verdict in change.verdicts_to_clear:
            verdicts.clear_words(self._connection, verdict)

    def _memories(self, change: Change) -> None:
        at = change.at
        if change.tombstones:
            tombstones = [(memory_id, at) for memory_id in change.tombstones]
            self._connection.executemany("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", tombstones)
        self._set_statuses(change.statuses, at)
        for memory_id, original in change.originals:
            link = "UPDATE memories SET migrated_from = ? WHERE id = ? AND migrated_from IS NULL"
            self._connection.execute(link, (original, memory_id))
        for memory_id in change.dropped:
            self._take_out(memory_id, at)
            self._connection.execute("DELETE FROM memories WHERE id = ?", (memory_id,))
        history.drop_sources(self._connection, change.dropped)
        for memory_id in change.hidden:
            self._connection.execute("UPDATE memories SET hidden = 1 WHERE id = ?", (memory_id,))
            self._take_out(memory_id, at)
        if change.texts_to_forget:
            self._forget_embeddings(change.texts_to_forget)

    def _set_statuses(self, statuses: Sequence[StatusChange], at: str) -> None:
        for new in statuses:
            self._connection.execute(
                "UPDATE memories SET status = ?, updated_at = ?, status_set_at = ? WHERE id = ?",
                (new.status, new.updated_at or at, new.set_at, new.memory_id),
            )
            self._outbox.enqueue(new.memory_id, "status", at)

    def _take_out(self, memory_id: str, at: str) -> None:
        """Remove a memory from the full-text index, and replace its pending outbox entries by a deletion."""
        for (number,) in self._connection.execute("SELECT number FROM memories WHERE id = ?", (memory_id,)).fetchall():
            self._words.remove(number)
        self._outbox.enqueue(memory_id, "delete", at)

    def _history(self, change: Change) -> None:
        for made in change.compactions:
            history.record(self._connection, made)
        for restored, job_id in change.restorations:
            assert restored.restored is not None
            seq = restored.seq or history.record(self._connection, restored)
            history.note_restored(self._connection, seq, job_id, restored.restored)
        if change.topics_to_clear:
            history.clear_topics(self._connection, change.topics_to_clear)
        for row in change.imported_compactions:
            rows.insert_row(self._connection, "compactions", row)
        if change.forgettings:
            history.remove_texts(self._connection)
        for begun in change.forgettings:
            forgettings.begin(self._connection, begun.job, begun.accepted_at, begun.plan, change.at)
        if change.finishes_forgettings:
            forgettings.finish_all(self._connection, change.at)

    def _extractions(self, change: Change) -> None:
        if change.extractions_to_drop:
            graph_content.drop(self._connection, change.extractions_to_drop)
        for kept in change.extractions:
            graph_content.keep(self._connection, kept.memory_id, kept.found, kept.job_id, change.at)
        for row in change.imported_extractions:
            rows.insert_row(self._connection, "cognified", row)
            self._outbox.enqueue(row["memory_id"], "write", change.at)

    def add(self, additions: Sequence[Addition], sizes: Sequence[int], before: Extents, at: str) -> list[Memory]:
        """Add memories whose vectors start after the rows of ``before``. Returns them with their numbers.

        ``sizes`` has the number of passages of each.
        """
        row, whole_row = before["passages"].rows, before["wholes"].rows
        added = []
        for addition, size in zip(additions, sizes, strict=True):
            former = self._make_room(addition.memory.id)
            number = former or self._take_number(addition.memory.number)
            numbered = addition.memory._replace(number=number)
            rows.insert(self._connection, addition._replace(memory=numbered), rows.Place(row, size, whole_row))
            if not addition.hidden:
                self._words.add(numbered)
                self._outbox.enqueue(numbered.id, "write", at)
                whole_row += 1
            row += size
            added.append(numbered)
        return added

    def _take_number(self, wanted: int) -> int:
        """The wanted number if no memory ever had it, else the next one. Numbers that a wanted one skips stay free."""
        highest = last_number(self._connection)
        if wanted > highest:
            if wanted > highest + 1:
                self._connection.execute("INSERT INTO numbers_skipped VALUES (?, ?)", (highest + 1, wanted - 1))
            return wanted
        return wanted if wanted > 0 and self._was_skipped(wanted) else highest + 1

    def _was_skipped(self, number: int) -> bool:
        """Whether the number was skipped before; if so, it counts as used from now on."""
        query = "DELETE FROM numbers_skipped WHERE first <= ? AND last >= ? RETURNING first, last"
        (row,) = self._connection.execute(query, (number, number)).fetchall() or [None]
        if row is None:
            return False
        rest = [part for part in ((row[0], number - 1), (number + 1, row[1])) if part[0] <= part[1]]
        self._connection.executemany("INSERT INTO numbers_skipped VALUES (?, ?)", rest)
        return True

    def _make_room(self, memory_id: str) -> int | None:
        """Delete a hidden memory of this id. Returns its number for the new one, or None."""
        (row,) = self._connection.execute(
            "DELETE FROM memories WHERE id = ? AND hidden = 1 RETURNING number", (memory_id,)
        ).fetchall() or [None]
        return None if row is None else int(row[0])
