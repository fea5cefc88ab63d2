"""What memory.db promises its readers; and readers that break a promise are noticed."""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, assert_never

import pytest
from fake_embedder import FakeEmbedder

from bridge.memory import Content, Memory, Metadata, Status
from bridge.store.catalogue import STATUSES, WINDOW_STEP, AddedAbove, CatalogueRow, Changes, FullTextDamaged, Position
from bridge.store.full_text import table_in_force
from bridge.store.opening import reader_of
from bridge.store.reader import StoreReader, StoreSnapshot
from bridge.store.store import Store
from bridge.store.values import Addition, AppliedJob, Compaction, Feedback, GraphLag, Sizes, Spent
from bridge.text.terms import query_terms
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

STORED = "2026-11-19T12:00:00Z"
CREATED = "2026-11-18T12:00:00Z"
SECONDS = {text: clock.parse(text).timestamp() for text in (STORED, CREATED)}


class Written:
    """The store of one workspace, from its writer's side. A method has committed when it returns."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder / "workspace")
        self._backup = folder / "backup"

    def reader(self) -> StoreReader:
        return reader_of(self.workspace)

    @contextmanager
    def store(self) -> Iterator[Store]:
        self.workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(Store(self.workspace, FakeEmbedder())) as store:
            yield store

    def sql(self, statement: str) -> None:
        with closing(sqlite3.connect(self.workspace.memory_db)) as connection, connection:
            connection.execute(statement.format(words=table_in_force(connection)))

    def do(self, **fields: Any) -> None:
        """A change with these fields."""
        with self.store() as store, store.change(STORED) as change:
            for name, value in fields.items():
                setattr(change, name, value)

    def add(self, *memories: Memory) -> None:
        with self.store() as store:
            store.add([(memory, None) for memory in memories], STORED)

    def set_status(self, memory_id: str, status: Status) -> None:
        with self.store() as store:
            store.set_status(memory_id, status, STORED, STORED)

    def apply(self, made: Compaction, record: Memory) -> None:
        """Commit a compaction with its record, as the effect of its job."""
        with self.store() as store, store.change(made.applied_at, [made.effect]) as change:
            change.compactions.append(made)
            change.additions += [Addition(record)]

    def rebuild_vectors(self) -> None:
        with self.store() as store:
            store.rebuild_vectors()

    def back_up(self) -> None:
        self.sql("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(self.workspace.memory, self._backup, dirs_exist_ok=True)

    def restore_backup(self) -> None:
        shutil.rmtree(self.workspace.memory)
        shutil.copytree(self._backup, self.workspace.memory)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def summary(memory_id: str, context: str = "quokka", status: Status = "Active", **metadata: Any) -> Memory:
    known = Metadata(**{"topic_id": "birds", "status": status, "created_at": CREATED, **metadata})
    return Memory(memory_id, 0, "summary", known, STORED, Content(f"Topic of {memory_id}", context))


def compaction(record_id: str, topic_id: str, applied_at: str) -> Compaction:
    job = AppliedJob(f"merges-{record_id}", "a" * 64)
    return Compaction(record_id, topic_id, applied_at, job, "b" * 64, (), (), "template")


def legacy(memory_id: str, text: str) -> Memory:
    return Memory(memory_id, 0, "legacy", Metadata(), STORED, text=text)


@contextmanager
def snapshot_of(written: Written) -> Iterator[StoreSnapshot]:
    found = written.reader().snapshot()
    with closing(found):
        yield found


def changes(written: Written, change: Callable[[], object]) -> Changes:
    """What a snapshot after the change says of a position before it."""
    with snapshot_of(written) as before:
        position = before.position
    change()
    with snapshot_of(written) as after:
        return after.changes_since(position)


def numbers(rows: list[CatalogueRow]) -> list[int]:
    return [row[0] for row in rows]


class LocalIndex:
    """Keeps the catalogue as a reader's index does: by changes alone."""

    def __init__(self, written: Written) -> None:
        self._written = written
        with snapshot_of(written) as snapshot:
            self._position, self.rows = snapshot.position, list(snapshot.catalogue())

    def follow(self) -> list[CatalogueRow]:
        """Bring the index up to date; returns the catalogue read whole from the same snapshot."""
        with snapshot_of(self._written) as snapshot:
            found = snapshot.changes_since(self._position)
            match found:
                case "nothing":
                    pass
                case AddedAbove(number):
                    self.rows += snapshot.catalogue(number)
                case "everything":
                    self.rows = list(snapshot.catalogue())
                case _:
                    assert_never(found)
            self._position = snapshot.position
            return list(snapshot.catalogue())


# --- no store, another format ---


def test_an_absent_store_reads_as_empty(written: Written) -> None:
    reader = written.reader()
    reader.require_readable()
    assert reader.snapshot() is None
    with reader.lists() as lists, reader.export() as export:
        assert lists is None
        assert export is None


def test_a_store_of_a_later_program_is_refused(written: Written) -> None:
    written.add(summary("a"))
    written.sql("PRAGMA user_version = 99")
    reader = written.reader()

    def enter(opened: Any) -> None:
        with opened:
            pass

    for read in (
        reader.require_readable, reader.snapshot, lambda: enter(reader.lists()), lambda: enter(reader.export()),
    ):  # fmt: skip
        with pytest.raises(JobError, match="STORE_NEWER"):
            read()


# --- one state ---


def test_a_snapshot_sees_one_state_whatever_is_written_meanwhile(written: Written) -> None:
    written.add(*(summary(name) for name in "abcd"))

    def all_of(snapshot: StoreSnapshot) -> list[Any]:
        terms = query_terms("quokka")
        return [
            snapshot.position, snapshot.vectors, snapshot.catalogue(), sorted(snapshot.numbers(topic_id="birds")),
            sorted(memory.id for memory in snapshot.memories(range(1, 9))), snapshot.count_having(terms[0]),
            snapshot.bm25(terms, (1.0, 1.0)), sorted(snapshot.having(terms)),
        ]  # fmt: skip

    with snapshot_of(written) as snapshot:
        before = all_of(snapshot)
        written.add(summary("e"))
        written.set_status("a", "Superseded")
        written.do(hidden=["b"])
        written.do(dropped=["c"])
        written.rebuild_vectors()
        assert all_of(snapshot) == before
    with snapshot_of(written) as snapshot:
        assert [now == then for now, then in zip(all_of(snapshot), before, strict=True)] == [False] * len(before)


def test_lists_and_an_export_see_one_state_whatever_is_written_meanwhile(written: Written) -> None:
    written.add(summary("a"), summary("b"))
    with written.reader().lists() as lists, written.reader().export() as export:
        assert (lists.count(), export.counts()["memory"]) == (2, 2)
        written.add(summary("c"))
        written.set_status("a", "Superseded")
        written.do(dropped=["b"])
        assert [(m.id, m.metadata.status) for m in lists.page(9)] == [("b", "Active"), ("a", "Active")]
        assert [addition.memory.id for addition in export.additions()] == ["a", "b"]


# --- positions and changes ---


def test_two_snapshots_of_one_state_have_the_same_position(written: Written) -> None:
    written.add(summary("a"))
    with snapshot_of(written) as one, snapshot_of(written) as other:
        assert one.position == other.position
        assert other.changes_since(one.position) == "nothing"
    assert changes(written, lambda: None) == "nothing"


def test_an_addition_names_just_what_was_added(written: Written) -> None:
    written.add(summary("a"), summary("b"))
    with snapshot_of(written) as before:
        position, last = before.position, max(numbers(list(before.catalogue())))
    written.add(summary("c"))
    written.add(summary("d"), legacy("e", "later"))
    with snapshot_of(written) as after:
        assert after.position != position
        assert after.changes_since(position) == AddedAbove(last)
        added = after.memories(numbers(list(after.catalogue(last))))
        assert sorted(memory.id for memory in added) == ["c", "d", "e"]


OTHER_CHANGES = [
    lambda written: written.set_status("a", "Superseded"),
    lambda written: written.do(hidden=["a"]),
    lambda written: written.do(hidden=["c"]),
    lambda written: written.do(dropped=["a"]),
    lambda written: written.do(dropped=["c"]),
    lambda written: written.rebuild_vectors(),
    lambda written: (written.do(dropped=["c"]), written.add(summary("d"))),
]


@pytest.mark.parametrize(
    "change",
    OTHER_CHANGES,
    ids=["status", "hide", "hide the last", "forget", "forget the last", "rebuild", "forget and add"],
)
def test_any_other_change_is_everything(written: Written, change: Callable[[Written], object]) -> None:
    written.add(*(summary(name) for name in "abc"))
    assert changes(written, lambda: change(written)) == "everything"


def test_a_memory_under_a_free_number_below_the_highest_is_everything(written: Written) -> None:
    written.add(summary("a"))
    assert changes(written, lambda: written.do(additions=[Addition(summary("c")._replace(number=3))])) == AddedAbove(1)
    assert changes(written, lambda: written.do(additions=[Addition(summary("b")._replace(number=2))])) == "everything"


def test_a_restored_backup_is_everything_even_if_it_grows_again(written: Written) -> None:
    written.add(summary("a"))
    written.back_up()
    written.add(summary("b"))
    assert changes(written, written.restore_backup) == "everything"
    written.add(summary("c"))
    assert changes(written, lambda: (written.restore_backup(), written.add(summary("d")))) == "everything"
    written.set_status("a", "Superseded")

    def other_status() -> None:
        written.restore_backup()
        written.set_status("a", "Draft")

    assert changes(written, other_status) == "everything"


def test_an_earlier_snapshot_knows_nothing_of_a_later_position(written: Written) -> None:
    written.add(summary("a"))
    with snapshot_of(written) as earlier:
        written.add(summary("b"))
        with snapshot_of(written) as later:
            assert earlier.changes_since(later.position) == "everything"
            assert later.changes_since(earlier.position) == AddedAbove(1)


def test_a_position_of_another_store_is_everything(written: Written) -> None:
    written.add(summary("a"))
    with snapshot_of(written) as before:
        position = before.position
    shutil.rmtree(written.workspace.memory)
    written.add(summary("a"))
    with snapshot_of(written) as after:
        for of_another in (position, "", "17", "none", '["x"]'):
            assert after.changes_since(of_another) == "everything"  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_follows_is_the_catalogue_read_whole(written: Written, seed: int) -> None:
    dice = random.Random(seed)
    written.add(*(summary(f"first{n}") for n in range(4)))
    index = LocalIndex(written)
    written.back_up()
    alive = [f"first{n}" for n in range(4)]
    for step in range(14):
        name = dice.choice(alive)
        match dice.choice(["add", "add", "add", "status", "hide", "forget", "rebuild", "restore", "nothing"]):
            case "add":
                alive.append(f"m{step}")
                written.add(summary(alive[-1], status=dice.choice(["Active", "Draft"])))
            case "status":
                written.set_status(name, dice.choice(["Active", "Draft", "Superseded"]))
            case "hide" | "forget" as verb if len(alive) > 2:
                alive.remove(name)
                written.do(**{"hidden" if verb == "hide" else "dropped": [name]})
            case "rebuild":
                written.rebuild_vectors()
            case "restore":
                written.restore_backup()
                alive = [f"first{n}" for n in range(4)]
        if dice.random() < 0.7:
            assert index.follow() == index.rows
    assert index.follow() == index.rows


# --- what a snapshot holds ---


def test_the_catalogue_has_the_visible_memories_by_rising_passage_row(written: Written) -> None:
    statuses: tuple[Status, ...] = ("Active", "Superseded", "Draft")
    written.add(*(summary(status, "One. Two. Three.", status) for status in statuses))
    record = Metadata("birds", status="DecisionRecord")
    written.add(Memory("record", 0, "decision_record", record, STORED, Content("Record", "Said."), sources=("x",)))
    written.add(legacy("old", "Text"), summary("hidden"))
    written.do(hidden=["hidden"])
    with snapshot_of(written) as snapshot:
        rows = snapshot.catalogue()
        assert numbers(list(rows)) == [1, 2, 3, 4, 5]
        assert [STATUSES[row[4]] for row in rows] == [*statuses, "DecisionRecord", None]
        assert [bool(row[5]) for row in rows] == [False] * 4 + [True]
        assert [row[6] for row in rows] == [*[SECONDS[CREATED]] * 3, None, SECONDS[STORED]]
        ends = [row[1] + row[2] for row in rows]
        assert [row[1] for row in rows] == [0, *ends[:-1]]
        assert ends[-1] <= snapshot.vectors.passage_rows
        assert sorted(row[3] for row in rows) == list(range(5))
        assert snapshot.catalogue(3) == rows[3:]
        assert snapshot.vectors.embedder is not None
        assert snapshot.vectors.dimensions > 0


def test_feedback_is_counted_by_memory_and_a_change_of_it_is_one_of_the_catalogue(written: Written) -> None:
    written.add(summary("a"), summary("b"), summary("c"), summary("hidden"))
    for given in (
        ("a", "x", "helpful"), ("a", "y", "wrong"), ("a", "z", "helpful"), ("b", "x", "withdrawn"),
        ("c", "x", "wrong"), ("hidden", "x", "wrong"),
    ):  # fmt: skip
        assert changes(written, partial(written.do, feedback=[Feedback(*given, STORED)])) == "everything"
    written.do(hidden=["hidden"])
    with snapshot_of(written) as snapshot:
        assert snapshot.votes() == [(1, (2, 1)), (3, (0, 1))]
        assert snapshot.votes(1) == [(3, (0, 1))]
    with written.reader().lists() as lists:
        assert [(each.by, each.verdict) for each in lists.feedback("a")] == [
            ("x", "helpful"), ("y", "wrong"), ("z", "helpful"),
        ]  # fmt: skip
        assert lists.feedback("b") == []


def test_memories_come_by_number_and_unknown_numbers_are_left_out(written: Written) -> None:
    written.add(summary("a"), legacy("b", "Text"), summary("c"))
    written.do(hidden=["c"])
    with snapshot_of(written) as snapshot:
        found = {memory.number: memory for memory in snapshot.memories([3, 99, 1, *range(100, 1500), 2])}
        assert {number: memory.id for number, memory in found.items()} == {1: "a", 2: "b", 3: "c"}
        assert found[1].content == summary("a").content
        assert found[2].text == "Text"
        assert snapshot.memories([]) == []


def test_numbers_are_those_of_a_topic_and_of_a_plan_however_it_is_written(written: Written) -> None:
    written.add(
        summary("a", topic_id="birds", plan_id="plan-014"), summary("b", topic_id="birds", plan_id="015"),
        summary("c", topic_id="trees", plan_id="014-some-title"), legacy("d", "Text"),
    )  # fmt: skip
    with snapshot_of(written) as snapshot:
        assert sorted(snapshot.numbers()) == [1, 2, 3, 4]
        assert sorted(snapshot.numbers(topic_id="birds")) == [1, 2]
        assert sorted(snapshot.numbers(plan_id="Plan 014")) == [1, 3]
        assert snapshot.numbers(topic_id="trees", plan_id="014") == [3]
        assert snapshot.numbers(topic_id="nobody") == []


def test_topics_and_plans_are_named_once_and_those_of_hidden_memories_not(written: Written) -> None:
    written.add(
        summary("a", topic_id="birds", plan_id="plan-014"), summary("b", topic_id="birds", plan_id="014-title"),
        summary("c", topic_id="trees"), summary("d", topic_id="gone", plan_id="099"), legacy("e", "Text"),
    )  # fmt: skip
    written.do(hidden=["d"])
    with snapshot_of(written) as snapshot:
        assert sorted(snapshot.topic_ids()) == ["birds", "trees"]
        assert snapshot.plan_ids() == ["014-title"]


# --- full text ---


def test_words_are_found_counted_and_weighed(written: Written) -> None:
    written.add(
        summary("a", "quokka quokka"), summary("b", "quokka and numbat"), summary("c", "numbat"),
        *(summary(f"x{n}", "grass") for n in range(8)),
    )  # fmt: skip
    (quokka,), (numbat,), (wombat,) = map(query_terms, ("quokka", "numbat", "wombat"))
    with snapshot_of(written) as snapshot:
        assert [snapshot.count_having(term) for term in (quokka, numbat, wombat)] == [2, 2, 0]
        assert sorted(snapshot.having([quokka, numbat])) == [1, 2, 3]
        assert sorted(snapshot.having([quokka, numbat], among=[3, 2, 9])) == [2, 3]
        assert snapshot.having([wombat]) == snapshot.having([quokka], among=[]) == []
        found = snapshot.bm25([quokka, numbat], (1.0, 1.0))
        scores = dict(found)
        assert [number for number, _ in found] == [1, 2, 3], "by rising number"
        assert scores[2] > scores[1] > 0, "two terms, and more of one"
        assert snapshot.bm25([wombat], (1.0, 1.0)) == []


def test_a_long_memory_has_windows_but_counts_once(written: Written) -> None:
    grass = "grass " * 3_000
    written.add(summary("a", f"quokka {grass} numbat {grass}"), summary("b", "quokka"), summary("c", "numbat"))
    (quokka,), (numbat,), (herb,) = map(query_terms, ("quokka", "numbat", "grass"))
    with snapshot_of(written) as snapshot:
        assert snapshot.more_windows() > 100
        assert [snapshot.count_having(term) for term in (quokka, numbat, herb)] == [2, 2, 1]
        assert sorted(snapshot.having([herb, numbat])) == [1, 3]
        assert snapshot.having([herb], among=[1, 2]) == [1]
        for term in (quokka, numbat):
            windows = [window for window, _ in snapshot.bm25([term], (1.0, 1.0))]
            assert windows == sorted(windows)
            assert [window for window in windows if window < WINDOW_STEP] == [3 if term is numbat else 2]
            assert {window % WINDOW_STEP for window in windows if window >= WINDOW_STEP} == {1}
        ordinary, long = (dict(snapshot.bm25([numbat], (1.0, 1.0), of_long)) for of_long in (1.0, 4.0))
        assert ordinary[3] == long[3]
        assert all(ordinary[window] < long[window] for window in ordinary if window >= WINDOW_STEP)
    written.do(hidden=["a"])
    with snapshot_of(written) as snapshot:
        assert snapshot.more_windows() == 0
        assert snapshot.having([herb]) == []


def test_topic_and_body_have_weights_of_their_own(written: Written) -> None:
    written.add(summary("quokka", "grass"), *(summary(f"x{n}", "grass") for n in range(4)))
    terms = query_terms("quokka")
    with snapshot_of(written) as snapshot:
        ((_, little),), ((_, much),) = (snapshot.bm25(terms, (weight, 1.0)) for weight in (0.5, 2.0))
        assert little < much


def test_a_hidden_or_forgotten_memory_has_no_words(written: Written) -> None:
    written.add(*(summary(name) for name in "abc"))
    written.do(hidden=["a"])
    written.do(dropped=["b"])
    with snapshot_of(written) as snapshot:
        assert snapshot.having(query_terms("quokka")) == [3]


def test_the_vocabulary_has_the_stems_of_a_letter_and_their_spellings(written: Written) -> None:
    written.add(summary("quokka", "Quokkas were seen; the quokka waited."), summary("b", "A quiet day. Quoted."))
    with snapshot_of(written) as snapshot:
        stems = snapshot.stems("q")
        assert stems == sorted(stems)
        assert {"quokka": 1, "quiet": 1, "quot": 1}.items() <= dict(stems).items()
        assert snapshot.words_of("quokka") >= {"quokka", "quokkas"}
        assert "quoted" in snapshot.words_of("quot")
        assert snapshot.stems("z") == []
        assert snapshot.words_of("zebra") == set()


def test_damage_of_the_full_text_is_told_and_leaves_the_memories_readable(written: Written) -> None:
    written.add(summary("a"))
    written.sql("DROP TABLE {words}")
    terms = query_terms("quokka")
    with snapshot_of(written) as snapshot:
        for ask in (
            lambda: snapshot.count_having(terms[0]), lambda: snapshot.bm25(terms, (1.0, 1.0)),
            lambda: snapshot.having(terms), snapshot.more_windows, lambda: snapshot.stems("q"),
        ):  # fmt: skip
            with pytest.raises(FullTextDamaged):
                ask()
        assert [memory.id for memory in snapshot.memories([1])] == ["a"]


# --- lists ---


def test_pages_have_the_newest_first_and_what_was_asked_for(written: Written) -> None:
    written.add(
        summary("a"), summary("b", topic_id="trees"), legacy("c", "Text"), summary("d", status="Draft"),
        summary("e"),
    )  # fmt: skip
    written.do(hidden=["e"])
    with written.reader().lists() as lists:
        assert [memory.id for memory in lists.page(3)] == ["d", "c", "b"]
        assert [memory.id for memory in lists.page(3, before=2)] == ["a"]
        for wanted, ids in (
            ({}, ["d", "c", "b", "a"]), ({"topic_id": "birds"}, ["d", "a"]), ({"status": "Draft"}, ["d"]),
            ({"kind": "legacy"}, ["c"]), ({"topic_id": "trees", "status": "Draft"}, []),
        ):  # fmt: skip
            assert [memory.id for memory in lists.page(9, **wanted)] == ids
            assert lists.count(**wanted) == len(ids)
        assert lists.kinds() == {"summary": 3, "legacy": 1}
        assert lists.graph_lag() == GraphLag(4, STORED, has_graph=False)


def test_an_entry_comes_by_id_or_by_number_with_its_lineage(written: Written) -> None:
    written.add(legacy("original", "Text"), summary("one"), summary("two"), summary("9"))
    written.do(hidden=["original"])
    written.do(originals=[("one", "original")])
    written.do(originals=[("two", "original")])
    with written.reader().lists() as lists:
        original, one = lists.entry("original"), lists.entry(2)
        assert (original.hidden, original.migrated_from, original.migrated_to) == (True, None, ("one", "two"))
        assert (one.memory.id, one.hidden, one.migrated_from, one.migrated_to) == ("one", False, "original", ())
        assert lists.entry("one") == one
        assert lists.entry(9) is None, "an id is no number"
        assert lists.entry("nobody") is None
        for asked in (["two"], ["original", "nobody"]):
            assert [memory.id for memory in lists.related(asked, None)] == ["original", "one", "two"]
        assert [memory.id for memory in lists.related([], "birds")] == ["original", "one", "two", "9"]
        assert lists.related(["nobody"], None) == []


def test_topics_count_what_they_hold_and_measure_what_a_compaction_would_merge(written: Written) -> None:
    later = "2026-11-18T13:00:00Z"
    written.add(
        summary("a"), summary("b", source_created_at=later), summary("c", status="Superseded"),
        summary("d", topic_id="trees", status="Draft"), summary("e"),
    )  # fmt: skip
    written.do(hidden=["e"])
    with written.reader().lists() as lists:
        birds, trees = lists.topics()
    assert (birds.topic_id, birds.memories, birds.active, birds.superseded) == ("birds", 3, 2, 1)
    assert (birds.decision_records, birds.drafts) == (0, 0)
    assert (birds.oldest, birds.newest) == (CREATED, later)
    assert birds.characters > 0
    assert (trees.topic_id, trees.memories, trees.drafts) == ("trees", 1, 1)
    assert (trees.characters, trees.oldest, trees.newest) == (0, None, None)


def test_the_history_has_the_newest_compaction_first_with_the_number_of_its_record(written: Written) -> None:
    times = [f"2026-11-2{day}T12:00:00Z" for day in range(3)]
    made = [compaction(*each) for each in zip("abc", ("birds", "trees", "birds"), times, strict=True)]
    for each in made:
        written.apply(each, summary(each.record_id))
    written.do(dropped=["a"])
    with written.reader().lists() as lists:
        found = [(each.record_id, each.topic_id, number) for each, number in lists.history(10)]
        assert found == [("c", "birds", 3), ("b", "trees", 2), ("a", "birds", None)]
        assert [each.record_id for each, _ in lists.history(2)] == ["c", "b"]
        assert [each.record_id for each, _ in lists.history(10, "birds")] == ["c", "a"]


# --- what the worker asks ---


def test_a_job_is_applied_once_its_effect_is_committed(written: Written) -> None:
    made = compaction("a", "birds", STORED)
    job = made.effect
    assert not written.reader().is_applied(job), "there is no store yet"
    written.add(summary("b"))
    assert not written.reader().is_applied(job)
    written.apply(made, summary("a"))
    assert written.reader().is_applied(job)
    assert not written.reader().is_applied(AppliedJob(job.job_id, "c" * 64)), "another job of the same id"


def test_sizes_count_the_visible_memories_by_kind_and_status(written: Written) -> None:
    now = clock.parse(STORED)
    assert written.reader().sizes(now) == Sizes({}, 0, 0, 0, 0, 0, Spent())
    written.add(summary("a"), summary("b", status="Draft"), summary("c", topic_id="trees"), legacy("d", "Text"))
    written.do(hidden=["c"])
    found = written.reader().sizes(now)
    assert found.memories == {("summary", "Active"): 1, ("summary", "Draft"): 1, ("legacy", "none"): 1}
    assert (found.topics, found.llm_today) == (1, Spent())
    assert min(found.passages, found.database_bytes, found.vector_bytes) > 0


# --- an export ---


def test_an_export_has_every_memory_by_number_and_counts_what_it_gives(written: Written) -> None:
    written.add(legacy("a", "Text"), summary("b"), summary("c"))
    written.do(hidden=["a"])
    written.do(originals=[("b", "a")])
    with written.reader().export() as export:
        assert export.workspace_id
        found = [(each.memory.id, each.hidden, each.migrated_from) for each in export.additions()]
        assert found == [("a", True, None), ("b", False, "a"), ("c", False, None)]
        counts = export.counts()
        assert counts.pop("memory") == 3
        assert counts == {kind: len(list(export.rows(kind))) for kind in counts}


# --- readers that break a promise ---


class _ByLastNumberAlone(StoreSnapshot):
    """Takes whatever happened for an addition, as a counter of rows would."""

    def changes_since(self, position: Position) -> Changes:
        last = int(position.split("[")[-1].split(",")[0])
        return "nothing" if position == self.position else AddedAbove(last)


class _WithoutTransaction(StoreSnapshot):
    """Reads what is there at each moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        connection.execute("COMMIT")


class _Forgetful(StoreReader):
    """Answers what the worker asks as if there were no store."""

    def is_applied(self, job: AppliedJob) -> bool:
        return False

    def sizes(self, now: datetime) -> Sizes:
        return Sizes({}, 0, 0, 0, 0, 0, Spent())


BROKEN: list[tuple[type[StoreSnapshot | StoreReader], Callable[[Written], None]]] = [
    (_ByLastNumberAlone, test_a_restored_backup_is_everything_even_if_it_grows_again),
    (_ByLastNumberAlone, test_a_memory_under_a_free_number_below_the_highest_is_everything),
    (_ByLastNumberAlone, lambda written: test_an_index_that_follows_is_the_catalogue_read_whole(written, 1)),
    (_WithoutTransaction, test_a_snapshot_sees_one_state_whatever_is_written_meanwhile),
    (_Forgetful, test_a_job_is_applied_once_its_effect_is_committed),
    (_Forgetful, test_sizes_count_the_visible_memories_by_kind_and_status),
]


@pytest.mark.parametrize(("broken", "promise"), BROKEN)
def test_the_suite_notices_a_reader_that_breaks_a_promise(
    written: Written, monkeypatch: pytest.MonkeyPatch, broken: Any, promise: Callable[[Written], None]
) -> None:
    if issubclass(broken, StoreSnapshot):
        monkeypatch.setattr("bridge.store.reader.StoreSnapshot", broken)
    else:
        monkeypatch.setattr(written, "reader", lambda: broken(written.workspace))
    with pytest.raises(AssertionError):
        promise(written)
