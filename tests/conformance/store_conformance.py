"""What every store of memories has to do: each promise as a test.

A store is tested by a subclass of ``StoreConformance`` that overrides ``open_store``. A promise takes a ``Place``
alone, so that ``test_the_suite_finds_the_fault_of_a_broken_store`` can test broken stores as well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import raising

from bridge.memory import Content, Memory, Metadata, References
from bridge.store.store import Store
from bridge.store.values import (
    Addition,
    AppliedJob,
    BegunForgetting,
    CapturedSegment,
    CapturedSession,
    CaptureSource,
    Compaction,
    ExtractedEdge,
    ExtractedNode,
    Extraction,
    Feedback,
    KeptExtraction,
    PairVerdict,
    Plan,
    Restored,
    Source,
    StatusChange,
    data_id_of,
)
from jobs.errors import JobError
from jobs.layout import Workspace

EARLY, NOW, LATER = "2026-11-20T11:00:00Z", "2026-11-20T12:00:00Z", "2026-11-20T13:00:00Z"
JOB, OTHER_JOB = AppliedJob("job", "a" * 64), AppliedJob("other", "b" * 64)
A, B, C, D = (f"00000000-0000-0000-0000-00000000000{digit}" for digit in "abcd")


def summary(memory_id: str, words: str = "", topic_id: str = "topic", number: int = 0) -> Memory:
    content = Content("Topic", words or f"About {memory_id}.", ("Use it.",), references=References(files=("a.py",)))
    known = Metadata(topic_id, "session", "plan-1", "Active", EARLY, EARLY, None, 0.5)
    return Memory(memory_id, number, "summary", known, EARLY, content)


def legacy(memory_id: str, text: str = "") -> Memory:
    return Memory(memory_id, 0, "legacy", Metadata(), EARLY, text=text or f"Text {memory_id}.")


def record(memory_id: str, *sources: str) -> Memory:
    known = Metadata("topic", status="DecisionRecord", created_at=NOW, updated_at=NOW)
    return Memory(memory_id, 0, "decision_record", known, NOW, Content("Topic", "Merged."), "", sources)


def place_of(folder: Path) -> Workspace:
    workspace = Workspace(folder)
    workspace.memory.mkdir(mode=0o700, exist_ok=True)
    return workspace


@dataclass
class Place:
    """A folder with one store, and the embedder that it is opened with."""

    folder: Path
    open_store: Callable[[Path, FakeEmbedder], Store]
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)

    def __post_init__(self) -> None:
        self.store = self.open_store(self.folder, self.embedder)

    def reopen(self) -> Store:
        self.store.close()
        self.store = self.open_store(self.folder, self.embedder)
        return self.store

    def put(self, *memories: Memory, **about: Any) -> list[Memory]:
        with self.store.change(NOW) as change:
            change.additions += (Addition(memory, "job", **about) for memory in memories)
        return change.added

    def do(self, at: str = NOW, **fields: Any) -> None:
        """A change with these fields."""
        with self.store.change(at) as change:
            for name, value in fields.items():
                setattr(change, name, value)

    def pending(self) -> list[tuple[str, str]]:
        return [(entry.memory_id, entry.action) for entry in self.store.outbox.pending(100)]

    def lag(self) -> tuple[int, bool]:
        found = self.store.outbox.lag()
        assert (found.since is None) == (found.changes == 0)
        return found.changes, found.has_graph

    def make_graph(self) -> None:
        self.store.outbox.note_opened("model")

    def deliver(self) -> None:
        self.store.outbox.delivered(self.store.outbox.pending(100))


class StoreConformance:
    """The promises. A subclass gives the store."""

    def open_store(self, folder: Path, embedder: FakeEmbedder) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def place(self, tmp_path: Path) -> Iterator[Place]:
        place = Place(tmp_path, self.open_store)
        yield place
        place.store.close()

    # --- a change ---

    def test_a_memory_comes_back_as_it_was_given(self, place: Place) -> None:
        given = [summary(A), legacy(B), record(C, A)]
        added = place.put(*given)
        assert [memory._replace(number=0) for memory in added] == given
        assert [place.reopen().get(memory.id) for memory in given] == added
        assert list(place.store.select([A, B, D]).values()) == added[:2]
        assert place.store.get(D) is None

    def test_the_last_feedback_of_each_person_is_kept_however_late_an_earlier_one_comes(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        given = [
            Feedback(A, "x", "helpful", NOW, "why?", "It held."), Feedback(A, "y", "wrong", EARLY),
            Feedback(A, "y", "helpful", LATER), Feedback(A, "y", "wrong", NOW),
            Feedback(B, "x", "wrong", EARLY), Feedback(B, "x", "withdrawn", LATER), Feedback(B, "x", "helpful", NOW),
            Feedback(D, "x", "helpful", NOW),
        ]  # fmt: skip
        for one in given:
            place.do(at=LATER, feedback=[one])
        store = place.reopen()
        assert store.feedback(A) == [given[2], given[0]]
        assert (store.feedback(B), store.feedback(D)) == ([], [])
        assert store.feedback(B, withdrawn=True) == [given[5]]

    def test_feedback_can_lose_its_words_and_keep_its_verdict(self, place: Place) -> None:
        place.put(summary(A))
        given = [Feedback(A, "x", "wrong", NOW, "why?", "So."), Feedback(A, "y", "wrong", NOW, None, "Mine.")]
        with place.store.change(NOW) as change:
            for one in given:
                change.feedback.append(one)
        assert list(place.store.all_feedback()) == given
        place.do(at=LATER, feedback_to_clear=given[:1])
        assert place.reopen().feedback(A) == [Feedback(A, "x", "wrong", NOW), given[1]]

    def test_feedback_can_be_dropped_alone(self, place: Place) -> None:
        place.put(summary(A))
        given = [Feedback(A, "x", "wrong", NOW), Feedback(A, "y", "wrong", NOW)]
        with place.store.change(NOW) as change:
            for one in given:
                change.feedback.append(one)
        place.do(at=LATER, feedback_to_drop=given[:1])
        assert list(place.reopen().all_feedback()) == given[1:]

    def test_feedback_goes_with_its_memory(self, place: Place) -> None:
        place.put(summary(A))
        place.do(feedback=[Feedback(A, "x", "helpful", NOW)])
        place.do(at=LATER, dropped=[A])
        place.put(summary(A))
        assert place.store.feedback(A) == []

    def test_the_last_verdict_on_a_pair_is_kept_however_late_an_earlier_one_comes(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        said = [
            PairVerdict(A, "1", B, "2", "both", "So.", "x", LATER, "job-2"),
            PairVerdict(A, "1", B, "2", "newer", None, "y", NOW, "job-1"),
            PairVerdict(A, "1", D, "2", "newer", None, "y", NOW, "job-3"),
        ]
        for one in said:
            place.do(at=LATER, verdicts=[one])
        assert list(place.reopen().all_verdicts()) == said[:1]

    def test_a_verdict_goes_with_either_of_its_memories(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        for gone in (A, B):
            place.do(verdicts=[PairVerdict(A, "1", B, "2", "newer", None, "x", NOW, "job")])
            place.do(at=LATER, dropped=[gone])
            assert list(place.store.all_verdicts()) == []
            place.put(summary(gone))

    def test_a_change_that_fails_changes_nothing(self, place: Place) -> None:
        place.put(summary(A))
        place.deliver()
        before = place.store.get(A), place.store.last_number()
        with pytest.raises(Exception, match=r"(?s).*"), place.store.change(LATER, [JOB]) as change:  # noqa: PT012
            change.statuses += [StatusChange(A, "Superseded", LATER)]
            change.tombstones += [D]
            change.additions += [Addition(summary(B)), Addition(summary(A, "Another of the same id."))]
        for reopened in (False, True):
            store = place.reopen() if reopened else place.store
            assert (store.get(A), store.last_number()) == before
            assert (store.get(B), store.forgotten_at(D), store.outbox.count()) == (None, None, 0)
            assert not store.is_applied(JOB)

    def test_an_exception_while_it_is_gathered_discards_a_change(self, place: Place) -> None:
        with pytest.raises(ZeroDivisionError), place.store.change(NOW, [JOB]) as change:  # noqa: PT012
            change.additions += [Addition(summary(A))]
            raise ZeroDivisionError
        assert (place.store.count(), place.store.outbox.count(), place.store.is_applied(JOB)) == (0, 0, False)

    def test_a_change_is_not_there_before_it_is_complete(self, place: Place) -> None:
        with place.store.change(NOW) as change:
            change.additions += [Addition(summary(A))]
            assert (place.store.get(A), place.store.count()) == (None, 0)
        assert place.store.count() == 1

    def test_a_job_is_applied_with_its_change_and_stays_so(self, place: Place) -> None:
        assert not place.store.is_applied(JOB)
        with place.store.change(NOW, [JOB]) as change:
            change.additions += [Addition(summary(A), JOB.job_id)]
        assert place.reopen().is_applied(JOB)
        assert not place.store.is_applied(AppliedJob(JOB.job_id, "c" * 64)), "the id may be used again"
        with place.store.change(NOW, [OTHER_JOB]):
            pass
        assert place.store.is_applied(OTHER_JOB), "of a change of nothing else as well"

    def test_what_a_store_knows_of_a_memory_beside_its_words(self, place: Place) -> None:
        place.put(legacy(A), hidden=True)
        place.put(summary(B), migrated_from=A, status_set_at=EARLY)
        known = place.store.known(B)
        assert (known.number, known.origin_job, known.hidden) == (2, "job", False)
        assert (known.status, known.status_set_at, known.migrated_from) == ("Active", EARLY, A)
        assert place.store.known(C) is None

    def test_what_a_job_stored_since_a_time_is_known_within_a_second_too(self, place: Place) -> None:
        with place.store.change(NOW, [JOB]) as change:
            change.additions += [Addition(summary(A)._replace(stored_at="2026-11-20T12:00:00.250Z"), JOB.job_id)]
        since = [
            place.store.brought_by(JOB.job_id, f"2026-11-20T12:00:0{each}Z") for each in ("0", "0.250", "0.300", "1")
        ]
        assert since == [[A], [A], [], []]

    def test_a_workspace_keeps_its_id(self, place: Place) -> None:
        before = place.store.workspace_id
        assert place.reopen().workspace_id == before

    def test_two_writers_exclude_each_other(self, place: Place) -> None:
        with pytest.raises(JobError, match="STORE_BUSY"):
            place.open_store(place.folder, place.embedder).close()

    # --- numbers ---

    def test_numbers_are_given_without_a_gap(self, place: Place) -> None:
        assert [memory.number for memory in place.put(summary(A), summary(B))] == [1, 2]
        place.reopen()
        assert [memory.number for memory in place.put(summary(C))] == [3]
        assert [memory.id for memory in place.store.after(1, 10)] == [B, C]
        assert (place.store.ids(), place.store.newest(2)) == ([A, B, C], [C, B])

    def test_a_number_is_never_given_twice(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        place.do(dropped=[B])
        place.reopen()
        assert not place.store.is_free(2)
        assert [memory.number for memory in place.put(summary(C), summary(D, number=2))] == [3, 4]

    def test_a_wanted_number_is_given_where_it_is_free(self, place: Place) -> None:
        assert place.put(summary(A, number=5))[0].number == 5
        assert [place.store.is_free(number) for number in (3, 5, 6)] == [True, False, True]
        assert place.put(summary(B))[0].number == 6
        assert place.put(summary(C, number=3))[0].number == 3, "what was left out can be wanted later"
        assert not place.store.is_free(3)
        assert place.store.last_number() == 6

    # --- statuses ---

    def test_a_changed_status_is_pending_for_the_graph(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A))
        place.deliver()
        place.embedder.seen.clear()
        after = place.store.set_status(A, "Superseded", NOW, LATER, JOB)
        assert place.embedder.seen == []
        assert (after.metadata.status, after.metadata.updated_at) == ("Superseded", LATER)
        assert place.pending() == [(A, "status")]
        assert place.reopen().is_applied(JOB)

    def test_a_status_loses_against_one_that_was_asked_for_later(self, place: Place) -> None:
        place.put(summary(A))
        place.store.set_status(A, "Superseded", LATER, LATER, OTHER_JOB)
        place.deliver()
        assert place.store.set_status(A, "Draft", NOW, LATER, JOB).metadata.status == "Superseded"
        assert (place.pending(), place.store.is_applied(JOB)) == ([], False)

    def test_of_the_same_moment_a_job_sets_a_status_once(self, place: Place) -> None:
        place.put(summary(A))
        place.store.set_status(A, "Draft", NOW, NOW, JOB)
        place.store.set_status(A, "Superseded", NOW, NOW, OTHER_JOB)
        assert place.store.set_status(A, "Draft", NOW, LATER, JOB).metadata.status == "Superseded"

    def test_only_a_summary_that_is_there_gets_a_status(self, place: Place) -> None:
        place.put(legacy(A), record(B, A))
        place.do(tombstones=[C])
        for memory_id, code in (
            (A, "ARGUMENT_INVALID"), (B, "ARGUMENT_INVALID"), (C, "MEMORY_FORGOTTEN"), (D, "MEMORY_NOT_FOUND"),
        ):  # fmt: skip
            with pytest.raises(JobError, match=code):
                place.store.set_status(memory_id, "Draft", EARLY, NOW)

    # --- what leaves ---

    def test_a_hidden_memory_is_kept_and_not_found(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), summary(B))
        place.deliver()
        place.do(hidden=[A])
        store = place.reopen()
        assert store.is_hidden(A)
        assert (store.get(A) is not None, store.all_ids()) == (True, [A, B])
        assert (store.ids(), store.count(), store.newest(5), store.topic_ids()) == ([B], 1, [B], ["topic"])
        assert [memory.id for memory in (*store.after(0, 5), *store.about("topic"))] == [B, B]
        assert (store.ids_about("topic"), store.same_as(summary(C, f"About {A}."))) == ([A, B], None)
        assert place.pending() == [(A, "delete")]

    def test_a_hidden_memory_comes_back_under_its_number(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), summary(B))
        place.do(hidden=[A])
        place.deliver()
        assert place.put(summary(A))[0].number == 1
        assert (place.store.ids(), place.store.is_hidden(A)) == ([A, B], False)
        assert place.pending() == [(A, "write")]

    def test_of_a_dropped_memory_nothing_is_there_and_the_graph_deletes_it(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), summary(B))
        place.do(dropped=[A, C])
        assert (place.store.get(A), place.store.known(A), place.store.all_ids()) == (None, None, [B])
        assert place.pending() == [(B, "write"), (A, "delete"), (C, "delete")], "and nothing else of it"

    def test_a_forgotten_id_comes_back_by_a_later_job_alone(self, place: Place) -> None:
        place.put(summary(A))
        with place.store.change(NOW) as change:
            change.dropped += [A]
            change.tombstones += [A]
        store = place.reopen()
        assert (store.forgotten_at(A), store.unknown([A, B])) == (NOW, [B])
        assert [store.was_forgotten_since(A, at) for at in (EARLY, NOW, LATER)] == [True, True, False]
        place.put(summary(A))
        assert place.store.get(A) is not None

    def test_an_original_is_linked_once(self, place: Place) -> None:
        place.put(legacy(A), legacy(B), hidden=True)
        place.put(summary(C))
        for original in (A, B):
            place.do(originals=[(C, original)])
        assert (place.store.conversions_of(A), place.store.conversions_of(B)) == ([C], [])

    # --- the outbox ---

    def test_what_is_pending_for_the_graph_survives_reopening_in_its_order(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), legacy(B))
        place.put(summary(C), hidden=True)
        place.store.set_status(A, "Draft", NOW, NOW)
        before = place.pending()
        assert before == [(A, "write"), (B, "write")], "nothing of what is hidden, and a memory with its status"
        place.reopen()
        assert place.pending() == before
        assert [entry.memory_id for entry in place.store.outbox.pending(5, [B])] == [B]
        assert place.store.outbox.pending(5, []) == []
        assert place.store.outbox.undelivered_ids() == {A, B}

    def test_what_was_delivered_is_gone_and_what_was_refused_waits(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), summary(B))
        first, second = place.store.outbox.pending(2)
        place.store.outbox.delivered([first])
        place.store.outbox.rejected(second, "GRAPH_WRITE_FAILED")
        outbox = place.reopen().outbox
        assert (outbox.count(), outbox.count(untried=True)) == (1, 0)
        assert [(entry.memory_id, entry.tries) for entry in outbox.pending(5)] == [(B, 1)]
        outbox.note_opened("model")
        assert outbox.count(untried=True) == 1, "a new opening tries again"

    def test_a_new_graph_gets_every_memory_that_is_not_hidden(self, place: Place) -> None:
        place.make_graph()
        place.put(summary(A), summary(B))
        place.put(legacy(C), hidden=True)
        place.deliver()
        assert place.store.outbox.enqueue_all(LATER) == 2
        assert (place.pending(), place.store.outbox.graph_model()) == ([(A, "write"), (B, "write")], None)

    def test_without_a_graph_nothing_waits_for_one_and_with_one_everything_does(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        place.do(dropped=[A])
        place.store.set_status(B, "Draft", NOW, NOW)
        assert (place.pending(), place.lag()) == ([], (1, False))
        place.make_graph()
        place.put(summary(C))
        assert (place.pending(), place.lag()) == ([(C, "write")], (1, True))
        place.store.outbox.forget_graph()
        assert (place.pending(), place.lag()) == ([], (2, False))

    def test_how_the_graph_was_left_is_known(self, place: Place) -> None:
        assert not place.store.outbox.stores_are_ours()
        assert [place.store.outbox.note_opening() for _ in range(2)] == [0, 1]
        place.store.outbox.note_opened("model")
        outbox = place.reopen().outbox
        assert (outbox.graph_model(), outbox.stores_are_ours(), outbox.graph_was_closed()) == ("model", True, False)
        outbox.note_closed()
        assert place.reopen().outbox.graph_was_closed()
        assert place.store.outbox.note_opening() == 0

    def test_an_open_store_is_in_place(self, place: Place) -> None:
        place.put(summary(A))
        assert place.store.is_in_place()
        assert place.reopen().is_in_place()

    # --- words and topics ---

    def test_the_same_words_are_found_under_another_id(self, place: Place) -> None:
        place.put(summary(A, "The same."), legacy(B, "The same."))
        assert place.store.same_as(summary(C, "The same.")) == A
        assert place.store.same_as(summary(C, "The same.", "other")) is None
        assert place.store.same_as(legacy(C, "The same.")) == B

    def test_a_topics_memories_are_told_by_number(self, place: Place) -> None:
        place.put(summary(A), summary(B, topic_id="other"), summary(C), legacy(D))
        store = place.store
        assert [memory.id for memory in store.about("topic")] == store.ids_about("topic") == [A, C]
        newest = store.newest_about("topic")
        assert (newest.id, store.newest_about("none"), store.topic_ids()) == (C, None, ["other", "topic"])

    def test_the_words_of_the_others_are_all_there(self, place: Place) -> None:
        place.put(legacy(A, "red"), legacy(B, "green"))
        place.put(legacy(C, "blue"), hidden=True)
        words = "".join(place.store.words_without({A}))
        assert ["red" in words, "green" in words, "blue" in words] == [False, True, True]

    def test_each_text_is_embedded_once(self, place: Place) -> None:
        first = place.store.embed(["one", "two"])
        place.reopen()
        assert (place.store.embed(["one", "two"]) == first).all()
        assert sorted(place.embedder.seen) == ["one", "two"]
        place.do(texts_to_forget={"one"})
        place.store.embed(["one", "two"])
        assert sorted(place.embedder.seen) == ["one", "one", "two"]

    # --- what was merged ---

    def test_a_compaction_is_found_by_its_record_its_preview_and_its_job(self, place: Place) -> None:
        made = Compaction(C, "topic", NOW, JOB, "digest", (Source(A, "0" * 64, "Active", NOW),), (), "template")
        with place.store.change(NOW, [JOB]) as change:
            change.compactions.append(made)
            change.additions += [Addition(record(C, A))]
        history = place.reopen().compactions
        found = history.latest(C)
        assert found is not None
        assert found._replace(seq=0) == made
        assert found == history.compaction_of_preview("digest") == history.of_job(JOB, EARLY)
        assert (history.of_job(JOB, LATER), history.latest(A)) == (None, None), "a job of before was another"
        assert (history.merged_into(A), history.records(), history.records("other")) == ([(C, 1)], [C], [])
        assert (history.merged_by_others(C), history.merged_by_others(D)) == (set(), {A})
        assert [history.has(C, at) for at in (NOW, LATER)] == [True, False]

    def test_a_compaction_that_was_taken_back_says_so(self, place: Place) -> None:
        made = Compaction(C, "topic", NOW, JOB, "digest", (Source(A, "0" * 64, "Active", NOW),), (), "template")
        place.do(compactions=[made])
        found = place.store.compactions.latest(C)
        place.do(at=LATER, restorations=[(found._replace(restored=Restored(LATER, (A,), ())), "back")])
        history = place.reopen().compactions
        found = history.restored_by("back", C, NOW)
        assert (found.seq, found.restored) == (1, Restored(LATER, (A,), ()))
        assert history.compaction_of_preview("digest") is None
        place.do(at=LATER, restorations=[(made._replace(record_id=D, restored=Restored(LATER, (), ())), "back")])
        assert place.store.compactions.restored_by("back", D, NOW) is not None, "also one that was not recorded before"

    def test_records_are_told_with_whether_they_are_withdrawn(self, place: Place) -> None:
        place.put(record(A, C), record(B, D))
        place.do(hidden=[A])
        assert [(memory.id, hidden) for memory, hidden in place.store.records()] == [(A, True), (B, False)]
        assert place.store.compactions.records() == [B]

    # --- what was forgotten ---

    def test_a_forgetting_is_unfinished_until_all_are_finished(self, place: Place) -> None:
        plan = Plan((A,), (("old", "new"),), jobs=("j",), doomed=("waiting",), files=("a.json",))
        with place.store.change(NOW, [JOB]) as change:
            change.forgettings.append(BegunForgetting(JOB, EARLY, plan))
        forgettings = place.reopen().forgettings
        begun = forgettings.begun(JOB, EARLY)
        assert (begun.plan, begun.is_done, forgettings.unfinished()) == (plan, False, [plan])
        assert forgettings.begun(JOB, NOW) is None, "a later job of the same id is another"
        place.do(at=LATER, finishes_forgettings=True)
        begun = place.reopen().forgettings.begun(JOB, EARLY)
        assert (begun.is_done, begun.plan, place.store.forgettings.unfinished()) == (True, plan._replace(files=()), [])

    # --- what was captured ---

    def test_what_was_captured_from_a_session_is_kept_until_its_memory_is_dropped(self, place: Place) -> None:
        place.put(summary(A), summary(B))
        segments = (CapturedSegment(3, "digest", A), CapturedSegment(1, "other", None))
        session = CapturedSession("codex", "s", "/a.jsonl", "9-1", "kept", NOW, segments)
        source = CaptureSource(A, "codex", "s", "/a.jsonl", "line 1", "line 9", "rules", 0.5,
                               (("context", 0, "line 2"),), NOW, "job")  # fmt: skip
        with place.store.change(NOW) as change:
            change.captured_sessions.append(session)
            change.captured_turns.append(("codex", "s", ["aa", "bb"]))
            change.captured_turns.append(("vscode", "s", ["cc"]))
            change.capture_sources.append(source)
        captures = place.reopen().captures
        assert (captures.turns("codex"), captures.turns("cursor")) == ({"aa": "s", "bb": "s"}, {})
        assert (captures.session("codex", "s"), captures.source(A), captures.source(B)) == (session, source, None)
        assert captures.session("codex", "other") is None
        assert (captures.sessions(), captures.memories_of("codex", "s")) == ([session], [A])
        with place.store.change(LATER) as change:
            change.dropped += [A]
            change.captured_sessions.append(session._replace(state="forgotten"))
        captures = place.reopen().captures
        assert (captures.source(A), captures.memories_of("codex", "s")) == (None, [])
        assert captures.sessions() == [session._replace(state="forgotten")]
        assert captures.turns("codex") == {"aa": "s", "bb": "s"}, "so that a copy does not bring them back"

    # --- what cognee found ---

    def test_what_was_found_in_a_text_is_kept_and_shared_things_are_not_alone(self, place: Place) -> None:
        place.put(legacy(A), legacy(B))
        mine, shared = (ExtractedNode(each, "Entity", ("name",), {"name": each}) for each in (C, D))
        edge = ExtractedEdge(C, D, "knows", {})
        assert place.store.extractions.unread() == [A, B]
        with place.store.change(NOW) as change:
            change.extractions.append(KeptExtraction(A, Extraction((mine, shared), (edge,)), "look"))
            change.extractions.append(KeptExtraction(B, Extraction((shared,)), "look"))
        kept = place.reopen().extractions
        assert (kept.unread(), kept.known([A, B, C]), kept.by_job("look")) == ([], {A, B}, [A, B])
        assert kept.of([A]) == {A: Extraction((mine, shared), (edge,))}
        assert kept.alone(kept.of([A])[A], [A]) == Extraction((mine,), (edge,))
        assert {node: sorted(ids) for node, ids in kept.memories_with([C, D]).items()} == {C: [A], D: [A, B]}
        place.do(extractions_to_drop=[A])
        assert (place.store.extractions.known([A, B]), place.store.extractions.data_ids()) == ({B}, [data_id_of(B)])

    def test_an_imported_extraction_is_written_into_the_graph(self, place: Place) -> None:
        place.make_graph()
        place.put(legacy(A))
        place.deliver()
        row = {"memory_id": A, "data_id": "d", "at": NOW, "found": {"job_id": "j", "nodes": [], "edges": []}}
        place.do(imported_extractions=[row])
        assert place.store.extractions.stored(A) == [row["found"]]
        assert place.pending() == [(A, "write")]

    # --- what a language model was asked ---

    def test_a_call_counts_from_before_it_is_sent_unless_it_is_refused_or_taken_back(self, place: Place) -> None:
        at, usage = datetime(2026, 11, 20, 12, tzinfo=UTC), place.store.llm_usage

        seen: list[tuple[int, int]] = []
        call = usage.begin("job", 50, at, lambda job, day: seen.append((job.calls, day.calls)))
        usage.take_back(usage.begin("other", 50, at, lambda job, day: seen.append((job.calls, day.calls))))
        with pytest.raises(JobError):
            usage.begin("job", 50, at, raising(JobError("LLM_BUDGET_SPENT")))
        usage = place.reopen().llm_usage
        assert (seen, usage.of_job("job").calls, usage.of_job("job").tokens) == ([(0, 0), (0, 1)], 1, 50)
        usage.end(call, 70, 30)
        assert (usage.of_day("2026-11-20").calls, usage.of_day("2026-11-20").tokens) == (1, 100)
