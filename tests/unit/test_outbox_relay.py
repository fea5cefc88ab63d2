"""Paying the outbox and making derived data anew, in slices between which other jobs run over the same stores."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import fake_graph
import pytest
from fake_embedder import FakeEmbedder
from harness import raising
from old_workspace import TEXTS, OldWorkspace

from bridge import slices
from bridge.graph import earlier_stores, graph_files
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.settings import Settings
from bridge.slices import next_batch_size
from bridge.store import database, mounts, opening
from bridge.store.values import Extraction
from bridge.text.passages import passages
from jobs import steps
from jobs.errors import JobError
from jobs.layout import Workspace

NOW = "2026-11-20T12:00:00Z"
BAD_MEMORY = JobError("GRAPH_WRITE_FAILED")


def summary(memory_id: str) -> Memory:
    metadata = Metadata(topic_id="t", status="Active", created_at=NOW, updated_at=NOW)
    return Memory(memory_id, 0, "summary", metadata, NOW, Content(f"Topic {memory_id}", f"What {memory_id} says."))


class FakeCognee(fake_graph.FakeCognee):
    """Takes what it is told, but for what it refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []  # type: ignore[assignment]
        self.writes: list[int] = []
        self.superseded: list[tuple[str, str]] = []
        self.refused: dict[str, JobError] = {}
        self.raised: JobError | None = None
        self.closed = 0

    def write(self, memories: Sequence[Memory], superseded: Sequence[tuple[str, str]] = ()) -> None:
        if not memories:
            return
        if self.raised is not None:
            raise self.raised
        for memory in memories:
            if memory.id in self.refused:
                raise self.refused[memory.id]
        self.told += [memory.id for memory in memories]
        self.writes.append(len(memories))
        self.superseded += superseded

    def topics(self, memory_ids: Sequence[str]) -> list[str]:
        return ["t"] if memory_ids else []

    def delete(self, memory_ids: Sequence[str]) -> None:
        self.told += [f"-{memory_id}" for memory_id in memory_ids]

    def write_findings(self, found: Extraction) -> None:
        self.told += [f"found {node.id}" for node in found.nodes]

    def remove_findings(self, found: Extraction) -> None:
        self.told += [f"-found {node.id}" for node in found.nodes]

    def close(self) -> bool:
        self.closed += 1
        return True


class WithFakeGraph(fake_graph.WithFakeGraph):
    def __init__(self, workspace: Workspace) -> None:
        self.noted: list[bool] = []
        super().__init__(workspace, cognee=FakeCognee(), loading=self.noted.append)


@pytest.fixture
def stores(workspace: Workspace) -> Iterator[WithFakeGraph]:
    with WithFakeGraph(workspace) as found:
        yield found


@pytest.fixture
def every_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point at which work may be set aside is the end of a slice."""
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)


def add(stores: Stores, *ids: str) -> None:
    stores.store.add([(summary(memory_id), None) for memory_id in ids], NOW)


def test_what_a_job_names_is_delivered_and_the_rest_waits(stores: WithFakeGraph) -> None:
    add(stores, "a", "b", "c")
    assert stores.graph.deliver(["c"]) == {}
    assert stores.fake.told == ["c"]
    assert stores.graph.lag() == 2


def test_without_a_graph_nothing_piles_up_and_the_first_one_gets_all(stores: WithFakeGraph) -> None:
    add(stores, "a", "b", "c")
    with stores.store.change(NOW) as change:
        change.dropped.append("b")
    stores.store.set_status("a", "Superseded", NOW, NOW)
    assert (stores.store.outbox.count(), stores.graph.lag()) == (0, 2)
    assert stores.graph.openings == 0
    stores.graph.deliver_all()
    assert stores.fake.told == ["a", "c"]
    assert (stores.store.outbox.count(), stores.graph.lag()) == (0, 0)


def test_a_status_that_changes_often_waits_once_and_not_beside_its_memory(stores: WithFakeGraph) -> None:
    add(stores, "a")
    stores.graph.deliver_all()
    add(stores, "b")
    for hour, status in enumerate(("Draft", "Active", "Superseded"), 3):
        for memory_id in ("a", "b"):
            stores.store.set_status(memory_id, status, f"2026-11-20T1{hour}:30:00Z", NOW)
    assert [(entry.memory_id, entry.action) for entry in stores.store.outbox.pending(10)] == [
        ("b", "write"), ("a", "status"),
    ]  # fmt: skip
    stores.graph.deliver_all()
    assert stores.fake.told == ["a", "b", "a"]


def test_a_failure_to_deliver_is_noted_until_something_is_delivered(stores: WithFakeGraph) -> None:
    def noted() -> str | None:
        return database.meta(stores.store._connection, "graph_failure")

    add(stores, "a")
    stores.fake.raised = JobError("GRAPH_UNAVAILABLE")
    with pytest.raises(JobError, match="GRAPH_UNAVAILABLE"):
        stores.graph.deliver_all(seconds=1.0)
    assert noted() == "GRAPH_UNAVAILABLE"
    stores.fake.raised = None
    stores.graph.deliver_all()
    assert noted() is None


def test_on_a_mount_that_harms_stores_nothing_is_opened(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mounts, "describe", lambda path: mounts.classify("/mnt/share", "nfs4"))
    with pytest.raises(JobError, match="STORE_MOUNT_UNSAFE"):
        add(stores, "a")
    assert not stores.workspace.memory_db.exists()


def test_without_a_job_a_slice_is_delivered_at_a_time(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100_000, 2))
    add(stores, *(f"m{number}" for number in range(60)))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    stores.graph.deliver_all(seconds=3.0)
    assert 0 < len(stores.fake.told) < 60
    assert stores.graph.lag() == 60 - len(stores.fake.told)


@pytest.mark.parametrize("left", ["cognee.lancedb", "cognee_graph_ladybug", "cognee_graph_ladybug.wal"])
def test_of_a_graph_without_its_vectors_nothing_stays_and_the_other_way_round(tmp_path: Path, left: str) -> None:
    """All is written anew and nothing is deleted then: what was owed to be deleted would stay in what is left."""
    workspace = Workspace(tmp_path)
    databases = graph_files.databases_of(workspace)
    databases.mkdir(parents=True)
    workspace.memory.mkdir()
    assert not graph_files.require_whole_or_absent(workspace)
    (databases / left).mkdir() if left.endswith("lancedb") else (databases / left).touch()
    with pytest.raises(graph_files.GraphDamaged):
        graph_files.require_whole_or_absent(workspace)
    graph_files.quarantine(workspace, "graph-1")
    assert list(databases.iterdir()) == []
    assert [path.name for path in workspace.quarantine.glob("graph-*/*")] == [left]


@pytest.mark.parametrize("error", [BAD_MEMORY, JobError("EMBEDDING_FAILED", details={"status": 400})], ids=repr)
def test_one_bad_memory_fails_alone(stores: WithFakeGraph, error: JobError) -> None:
    """Also where it is the provider that refuses its text."""
    add(stores, "a", "bad", "b")
    stores.fake.refused = {"bad": error}
    assert stores.graph.deliver(["a", "bad"]) == {"bad": error}
    stores.graph.deliver_all()
    assert stores.fake.told == ["a", "b"]
    assert stores.store.outbox.count() == 1


def test_nobody_is_asked_to_pay_again_and_again_what_the_graph_refuses(stores: WithFakeGraph) -> None:
    add(stores, "a", "bad")
    stores.fake.refused = {"bad": BAD_MEMORY}
    stores.graph.deliver_all()
    assert stores.graph.lag() == 0
    stores.store.outbox.note_opened("m")
    assert stores.graph.lag() == 1


@pytest.mark.parametrize(("code", "closes"), [("GRAPH_UNAVAILABLE", 1), ("DISK_FULL", 1), ("RATE_LIMITED", 0)])
def test_what_is_no_fault_of_a_memory_is_raised_at_once(stores: WithFakeGraph, code: str, closes: int) -> None:
    add(stores, "a", "b")
    stores.fake.raised = JobError(code)
    with pytest.raises(JobError, match=code):
        stores.graph.deliver(["a", "b"])
    assert stores.fake.closed == closes
    assert [entry.tries for entry in stores.store.outbox.pending(10)] == [0, 0]


def test_a_debt_is_deleted_after_its_writing_is_synced(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    add(stores, "a")
    passed: list[str] = []
    monkeypatch.setattr(steps, "_fault", passed.append)
    stores.graph.deliver(["a"])
    assert [step.partition(":")[2] for step in passed if step.startswith("after:")] == [
        "graph.open", "graph.write", "graph.sync", "outbox.deliver",
    ]  # fmt: skip


def test_before_a_memory_leaves_the_graph_its_topic_is_named_after_one_that_stays(stores: WithFakeGraph) -> None:
    add(stores, "a", "b", "c")
    stores.graph.deliver_all()
    stores.fake.told.clear()
    with stores.store.change(NOW) as change:
        change.dropped.append("b")
        change.hidden.append("c")
    stores.graph.deliver_all()
    assert stores.fake.told == ["a", "-b", "-c"]


def test_the_graph_is_told_which_record_supersedes_which_whenever_either_is_written(stores: WithFakeGraph) -> None:
    add(stores, "a", "b")
    record = summary("r")._replace(kind="decision_record", sources=("a", "b", "gone"))
    with stores.store.change(NOW) as change:
        change.hidden.append("b")
    stores.store.add([(record, None)], NOW)
    stores.graph.deliver_all()
    assert stores.fake.superseded == [("r", "a")]
    stores.store.outbox.enqueue("a", "write", NOW)
    stores.graph.deliver_all()
    assert stores.fake.superseded == [("r", "a")] * 2


@pytest.mark.usefixtures("every_slice")
def test_all_is_paid_in_slices_in_which_other_jobs_may_close_the_graph_and_add(stores: WithFakeGraph) -> None:
    add(stores, *(f"m{number:03d}" for number in range(300)))
    said: list[dict[str, Any]] = []

    def progress(message: dict[str, Any]) -> None:
        said.append(message)
        if len(said) == 1:
            add(stores, "new")
            stores.graph.deliver(["new"])
        stores.graph.close()

    stores.graph.deliver_all(progress)
    assert stores.graph.lag() == 0
    assert sorted(stores.fake.told) == sorted({*(f"m{number:03d}" for number in range(300)), "new"})
    assert stores.graph.openings > 2
    assert said[-1]["done"] <= said[-1]["total"]


@pytest.mark.usefixtures("every_slice")
def test_a_graph_is_rebuilt_in_slices_and_once_at_a_time(stores: WithFakeGraph) -> None:
    add(stores, *(f"m{number:02d}" for number in range(30)))
    stores.graph.deliver_all()
    stores.fake.told.clear()
    refused: list[str] = []

    def progress(_: dict[str, Any]) -> None:
        with pytest.raises(JobError) as caught:
            stores.graph.rebuild(NOW)
        refused.append(caught.value.code)
        if len(refused) == 1:
            add(stores, "new")

    assert stores.graph.rebuild(NOW, progress) == 31
    assert len(stores.fake.told) == 31
    assert set(refused) == {"STORE_BUSY"}
    assert max(stores.fake.writes) <= 100


@pytest.mark.usefixtures("every_slice")
@pytest.mark.parametrize("what", ["rebuild_vectors", "rebuild_words"])
def test_what_comes_in_during_a_rebuild_is_in_what_it_made(stores: WithFakeGraph, what: str) -> None:
    add(stores, *(f"m{number:03d}" for number in range(120)))
    said: list[dict[str, Any]] = []

    def progress(message: dict[str, Any]) -> None:
        said.append(message)
        if len(said) <= 2:
            add(stores, f"new {len(said)}")
            stores.store.set_status("m000", "Draft", NOW, NOW)
        with pytest.raises(JobError, match="STORE_BUSY"):
            stores.store.rebuild_vectors()

    getattr(stores.store, what)(progress)
    assert len(said) >= 3
    assert stores.store.count() == 122
    assert stores.store._vectors.damage() is None
    assert stores.store._words.is_sound()
    add(stores, "afterwards")
    assert stores.store._words.is_sound()
    assert stores.store._vectors.damage() is None
    rows = stores.store._connection.execute("SELECT sum(passage_count) FROM memories").fetchone()[0]
    assert stores.store._vectors.extents["passages"].rows == rows == sum(
        len(passages(summary(memory.id))) for memory in stores.store.after(0, 1000)
    )  # fmt: skip


@pytest.mark.usefixtures("every_slice")
def test_while_another_model_takes_over_nothing_else_touches_the_store(stores: WithFakeGraph) -> None:
    add(stores, "a")
    stores.store.close()
    stores._store = None
    stores._embedder = FakeEmbedder(dimensions=8, name="other")
    refused: list[str] = []

    def progress(_: dict[str, Any]) -> None:
        with pytest.raises(JobError) as caught:
            add(stores, "b")
        refused.append(caught.value.code)

    stores.open_store(new_model=True).rebuild_vectors(progress)
    assert set(refused) == {"EMBEDDER_CHANGING"}
    add(stores, "b")
    assert stores.store.count() == 2


@pytest.mark.usefixtures("every_slice")
def test_embedding_anew_stands_still_now_and_then_and_keeps_what_it_has(stores: WithFakeGraph) -> None:
    add(stores, *(f"m{number:03d}" for number in range(40)))
    stores.store._connection.execute("DELETE FROM embeddings")
    kept: list[int] = []

    def progress(_: dict[str, Any]) -> None:
        kept.append(stores.store._connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])

    stores.store.rebuild_vectors(progress)
    assert kept[0] == 32
    assert kept == sorted(kept)


def test_loading_is_told_around_the_slow_starts(stores: WithFakeGraph) -> None:
    add(stores, "a")
    assert stores.noted == [True, False], "the store, which may have to mend what it finds"
    stores.graph.deliver(["a"])
    assert stores.noted == [True, False] * 2


@pytest.mark.parametrize(
    ("size", "seconds", "following"),
    [(10, 0.5, 10), (10, 1.0, 5), (10, 0.01, 20), (80, 0.1, 100), (1, 9.0, 1), (5, 0.0, 10)],
)
def test_a_portion_grows_and_shrinks_towards_a_slice(size: int, seconds: float, following: int) -> None:
    assert next_batch_size(size, seconds, 100) == following


class OpenableCognee(FakeCognee):
    def open(self) -> bool:
        return True

    def memory_count(self) -> int:
        return 1000

    def missing(self, *_: object) -> list[str]:
        return []


class Openable(Stores):
    """Stores that open their graph as in earnest, but for what cognee does; ``aside`` tells what was set aside."""

    def __init__(self, workspace: Workspace, patch: pytest.MonkeyPatch) -> None:
        super().__init__(workspace, Settings())
        self._embedder = FakeEmbedder()
        self.fake: Any = OpenableCognee()
        self.aside: list[str] = []
        module = ModuleType("bridge.graph.cognee_store")
        module.CogneeStore = lambda *_: self.fake  # type: ignore[attr-defined]
        patch.setitem(sys.modules, module.__name__, module)
        patch.setattr(graph_files, "quarantine", lambda _, label: self.aside.append(label))


@pytest.fixture
def openable(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Openable]:
    with Openable(workspace, monkeypatch) as found:
        yield found


def test_a_graph_whose_opening_fails_at_its_end_is_closed(openable: Openable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next opening would have the same files open twice."""

    with monkeypatch.context() as patch:
        patch.setattr(openable.store.outbox, "note_opened", raising(JobError("DISK_FULL")))
        with pytest.raises(JobError, match="DISK_FULL"):
            _ = openable.graph.open()
    assert openable.fake.closed == 1
    assert openable.graph.open() is openable.fake


def test_a_graph_that_ends_its_process_twice_as_it_is_opened_is_set_aside(openable: Openable) -> None:
    """A damaged page may end who reads it; every job would end as POISON."""
    openable.store.add([(summary("a"), None)], NOW)
    openable.graph.deliver(["a"])

    def opened() -> int:
        """Open the graph in what is a new process for it. Returns how often it was set aside so far."""
        openable.graph._cognee = None
        assert openable.graph.open() is openable.fake
        return len(openable.aside)

    assert [opened(), opened(), opened()] == [0, 0, 1]
    assert openable.graph.lag() == 1
    openable.graph.deliver(["a"])
    assert [opened(), opened()] == [1, 1]
    openable.graph.close()
    assert [opened(), opened()] == [1, 1]
    openable.graph.close(cleanly=False)
    assert [opened(), opened()] == [1, 1]


def test_stores_of_another_program_are_moved_before_the_first_opening(openable: Openable, workspace: Workspace) -> None:
    theirs = OldWorkspace(workspace.root, "0.4.1").store
    assert openable.graph.open() is openable.fake
    assert (theirs.exists(), len(earlier_stores.find(workspace).texts)) == (False, len(TEXTS))
    assert openable.aside == [], "they are not ours, and not damaged"


def test_a_graph_of_another_model_is_set_aside_and_made_again_when_it_is_opened(openable: Openable) -> None:
    openable.store.add([(summary("a"), None), (summary("b"), None)], NOW)
    openable.graph.deliver_all()
    openable.graph.close()
    openable.store.outbox.note_opened("of another model")
    openable.fake.told.clear()
    openable.graph.deliver_all()
    assert (len(openable.aside), openable.fake.told) == (1, ["a", "b"])
    assert openable.store.outbox.graph_model() == openable.embedder.identity


def test_an_opening_told_to_end_does_not_count(openable: Openable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two jobs that were cancelled, or took too long, would have a healthy graph written anew."""
    openable.store.add([(summary("a"), None)], NOW)
    openable.graph.deliver(["a"])
    monkeypatch.setattr(graph_files, "quarantine", lambda _, label: pytest.fail("set aside"))
    for _ in range(5):
        openable.graph._cognee = None
        assert openable.graph.open()
        opening.forgive_opening(openable.workspace)


def test_where_there_is_no_store_there_is_nothing_to_forgive(tmp_path: Path) -> None:
    opening.forgive_opening(Workspace(tmp_path))
    assert not Workspace(tmp_path).memory_db.exists()


def test_a_graph_that_lacks_a_row_is_made_again_once(openable: Openable) -> None:
    """Else every opening would write the same once more, to no end."""
    openable.store.add([(summary("a"), None), (summary("b"), None)], NOW)
    openable.graph.deliver(["a", "b"])
    openable.fake.told.clear()
    openable.fake.missing = lambda *_: ["a"]
    openable.graph.close(cleanly=False)
    openable.fake.open = iter([True, False, True]).__next__  # what was set aside is not there
    openable.graph.deliver_all()
    assert (len(openable.aside), sorted(openable.fake.told)) == (1, ["a", "b"])
    openable.graph.close(cleanly=False)
    with pytest.raises(JobError, match=r"GRAPH_UNAVAILABLE: .* It lacks 1 of 2 memories"):
        openable.graph.open()
    assert (len(openable.aside), openable.graph._cognee) == (1, None)


def test_a_graph_is_made_again_whenever_it_is_damaged_after_it_was_closed_well(openable: Openable) -> None:
    openable.store.add([(summary("a"), None)], NOW)
    for times in (1, 2):
        openable.fake.open = Mock(side_effect=[graph_files.GraphDamaged("torn"), False])
        openable.graph.deliver_all()
        assert len(openable.aside) == times
        openable.graph.close()


def test_an_opening_with_an_error_did_not_end_its_process(openable: Openable, monkeypatch: pytest.MonkeyPatch) -> None:
    openable.store.add([(summary("a"), None)], NOW)

    with monkeypatch.context() as patch:
        patch.setattr(openable.fake, "open", raising(JobError("GRAPH_UNAVAILABLE")))
        for _ in range(3):
            with pytest.raises(JobError, match="GRAPH_UNAVAILABLE"):
                _ = openable.graph.open()
    assert openable.store.outbox.note_opening() == 0


def test_a_cut_off_rebuild_knows_whose_vectors_lie_there(openable: Openable, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of the model, what was not set aside yet must not be taken for the new one's."""
    openable.store.add([(summary("a"), None)], NOW)
    openable.graph.deliver(["a"])

    monkeypatch.setattr(graph_files, "quarantine", raising(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        openable.graph.rebuild(NOW)
    assert openable.store.outbox.graph_model() == openable.embedder.identity


def test_a_graph_without_checkpoint_halts_no_maintenance(openable: Openable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert openable.graph.open() is openable.fake
    maintained: list[Any] = []
    monkeypatch.setattr(type(openable.store), "maintain", lambda _, now: maintained.append(now))
    openable.fake.overgrown = list

    openable.fake.checkpoint = raising(JobError("GRAPH_UNAVAILABLE"))
    with pytest.raises(JobError, match="GRAPH_UNAVAILABLE"):
        openable.maintain()
    assert len(maintained) == 1
    assert (openable.fake.closed, openable.store.outbox.graph_was_closed()) == (1, False)


def test_maintenance_opens_nothing(stores: WithFakeGraph) -> None:
    stores.maintain()
    assert (stores._store, stores.graph._cognee) == (None, None)
