"""The store over memory.db keeps every promise, and stores with one fault each do not."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from fake_embedder import FakeEmbedder
from store_conformance import Place, StoreConformance, place_of

from bridge.memory import Memory
from bridge.store.store import Store
from bridge.store.values import AppliedJob, Change
from jobs.layout import Workspace


class TestSqliteStore(StoreConformance):
    def open_store(self, folder: Path, embedder: FakeEmbedder) -> Store:
        return Store(place_of(folder), embedder)


# --- the suite bites ---


def after_each_change(statement: str) -> type[Store]:
    """A store that executes this once a change is committed."""

    class Broken(Store):
        def _commit(self, change: Change) -> None:
            super()._commit(change)
            self._connection.execute(statement)

    return Broken


def without(field: str) -> type[Store]:
    """A store that leaves out this part of a change."""

    class Broken(Store):
        def _commit(self, change: Change) -> None:
            setattr(change, field, type(getattr(change, field))())
            super()._commit(change)

    return Broken


class RecordsNoJob(Store):
    @contextmanager
    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> Iterator[Change]:
        with super().change(now) as change:
            yield change


class CommitsInTwoHalves(Store):
    def _commit(self, change: Change) -> None:
        super()._commit(replace(change, additions=[]))
        only_additions = Change(change.at, additions=change.additions)
        super()._commit(only_additions)
        change.added = only_additions.added


class CommitsWhateverHappens(Store):
    @contextmanager
    def change(self, now: str, applied: Sequence[AppliedJob] = ()) -> Iterator[Change]:
        change = Change(now, tuple(applied))
        try:
            yield change
        finally:
            self._commit(change)


class LastWriterWins(Store):
    def _is_past(self, last: str, asked_at: str, applied: AppliedJob | None) -> bool:
        return False


class ForgetsWhichJobSetAStatus(Store):
    def _is_past(self, last: str, asked_at: str, applied: AppliedJob | None) -> bool:
        return super()._is_past(last, asked_at, applied) and last != asked_at


class KeepsEveryFeedbackThatCame(Store):
    def _commit(self, change: Change) -> None:
        for given in change.feedback:
            self._connection.execute(
                'DELETE FROM feedback WHERE memory_id = ? AND "by" = ?', (given.memory_id, given.by)
            )
        super()._commit(change)


class KeepsEveryVerdictThatCame(Store):
    def _commit(self, change: Change) -> None:
        if change.verdicts:
            self._connection.execute("DELETE FROM verdicts")
        super()._commit(change)


class FindsWhatIsHidden(Store):
    def ids(self) -> list[str]:
        return self.all_ids()


class GivesAReturningMemoryANewNumber(Store):
    def _commit(self, change: Change) -> None:
        for addition in change.additions:
            self._connection.execute("DELETE FROM memories WHERE id = ? AND hidden", (addition.memory.id,))
        super()._commit(change)


class LosesTheOutboxWhenClosed(Store):
    def close(self) -> None:
        self._connection.execute("DELETE FROM outbox")
        super().close()


class DeliversInReverse(Store):
    def __init__(self, workspace: Workspace, embedder: FakeEmbedder) -> None:
        super().__init__(workspace, embedder)
        pending = self.outbox.pending
        self.outbox.pending = lambda *args, **more: pending(*args, **more)[::-1]  # type: ignore[method-assign]


class LetsASecondWriterIn(Store):
    def __init__(self, workspace: Workspace, embedder: FakeEmbedder) -> None:
        super().__init__(workspace, embedder)
        self._lock.release()


class ChangesItsId(Store):
    @property
    def workspace_id(self) -> str:
        return str(uuid4())


class KeepsTheSourceOfADroppedMemory(Store):
    def _commit(self, change: Change) -> None:
        sources = [source for each in change.dropped if (source := self.captures.source(each)) is not None]
        super()._commit(change)
        if sources:
            with self.change(change.at) as again:
                again.capture_sources += sources


class IsNeverInPlace(Store):
    def is_in_place(self) -> bool:
        return False


class EmbedsAgain(Store):
    def embed(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]
        return self._embedder.embed(texts)


class LosesALabel(Store):
    def get(self, memory_id: str) -> Memory | None:
        found = super().get(memory_id)
        return None if found is None else found._replace(metadata=found.metadata._replace(importance=None))


HIGHEST = "coalesce((SELECT max(number) FROM memories), 0)"
FAULTS: list[tuple[type[Store], str]] = [
    (RecordsNoJob, "a_job_is_applied_with_its_change_and_stays_so"),
    (CommitsInTwoHalves, "a_change_that_fails_changes_nothing"),
    (CommitsWhateverHappens, "an_exception_while_it_is_gathered_discards_a_change"),
    (
        after_each_change(f"UPDATE sqlite_sequence SET seq = {HIGHEST} WHERE name = 'memories'"),
        "a_number_is_never_given_twice",
    ),
    (
        after_each_change("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'memories'"),
        "numbers_are_given_without_a_gap",
    ),
    (after_each_change("DELETE FROM outbox WHERE action = 'status'"), "a_changed_status_is_pending_for_the_graph"),
    (LastWriterWins, "a_status_loses_against_one_that_was_asked_for_later"),
    (ForgetsWhichJobSetAStatus, "of_the_same_moment_a_job_sets_a_status_once"),
    (KeepsEveryFeedbackThatCame, "the_last_feedback_of_each_person_is_kept_however_late_an_earlier_one_comes"),
    (without("feedback_to_clear"), "feedback_can_lose_its_words_and_keep_its_verdict"),
    (without("feedback_to_drop"), "feedback_can_be_dropped_alone"),
    (after_each_change("DROP TRIGGER IF EXISTS memories_feedback"), "feedback_goes_with_its_memory"),
    (KeepsEveryVerdictThatCame, "the_last_verdict_on_a_pair_is_kept_however_late_an_earlier_one_comes"),
    (after_each_change("DROP TRIGGER IF EXISTS memories_verdicts"), "a_verdict_goes_with_either_of_its_memories"),
    (FindsWhatIsHidden, "a_hidden_memory_is_kept_and_not_found"),
    (GivesAReturningMemoryANewNumber, "a_hidden_memory_comes_back_under_its_number"),
    (without("tombstones"), "a_forgotten_id_comes_back_by_a_later_job_alone"),
    (LosesTheOutboxWhenClosed, "what_is_pending_for_the_graph_survives_reopening_in_its_order"),
    (DeliversInReverse, "what_is_pending_for_the_graph_survives_reopening_in_its_order"),
    (LetsASecondWriterIn, "two_writers_exclude_each_other"),
    (ChangesItsId, "a_workspace_keeps_its_id"),
    (without("compactions"), "a_compaction_is_found_by_its_record_its_preview_and_its_job"),
    (without("finishes_forgettings"), "a_forgetting_is_unfinished_until_all_are_finished"),
    (KeepsTheSourceOfADroppedMemory, "what_was_captured_from_a_session_is_kept_until_its_memory_is_dropped"),
    (EmbedsAgain, "each_text_is_embedded_once"),
    (IsNeverInPlace, "an_open_store_is_in_place"),
    (LosesALabel, "a_memory_comes_back_as_it_was_given"),
]


@pytest.mark.parametrize(
    ("broken", "promise"), FAULTS, ids=[f"{fault.__name__}-{promise}" for fault, promise in FAULTS]
)
def test_the_suite_finds_the_fault_of_a_broken_store(tmp_path: Path, broken: type[Store], promise: str) -> None:
    place = Place(tmp_path, lambda folder, embedder: broken(place_of(folder), embedder))
    try:
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            getattr(StoreConformance(), f"test_{promise}")(place)
    finally:
        place.store.close()
