"""Which jobs have had their effect: noted in the effect's own transaction, and read from another process."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from fake_embedder import FakeEmbedder
from harness import sql
from questions import answer_to

from bridge import critical
from bridge.memory import Content, Memory, Metadata
from bridge.settings import Settings
from bridge.store import database, migrations
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.store.values import AppliedJob
from jobs import clock, steps
from jobs.errors import JobError
from jobs.layout import Workspace

NOW = "2026-11-20T12:00:00Z"
LATER = "2026-11-20T13:00:00Z"


def is_applied(workspace: Workspace, job_id: str, sha256: str) -> bool:
    return reader_of(workspace).is_applied(AppliedJob(job_id, sha256))


@pytest.fixture
def store(workspace: Workspace) -> Iterator[Store]:
    store = Store(workspace, FakeEmbedder())
    yield store
    store.close()


def summary(memory_id: str) -> Memory:
    metadata = Metadata(topic_id="t", status="Active", created_at=NOW, updated_at=NOW)
    return Memory(memory_id, 0, "summary", metadata, NOW, Content("Topic", f"What {memory_id} says."))


@pytest.mark.parametrize(("point", "is_there"), [("before", False), ("after", True)])
def test_the_step_lies_around_the_commit(
    workspace: Workspace, store: Store, monkeypatch: pytest.MonkeyPatch, point: str, is_there: bool
) -> None:
    seen: list[bool] = []

    def look(here: str) -> None:
        if here == f"{point}:memory.commit":
            seen.append(is_applied(workspace, "a", "digest"))

    monkeypatch.setattr(steps, "_fault", look)
    store.add([(summary("m"), "a")], NOW, [AppliedJob("a", "digest")])
    assert seen == [is_there]


def test_a_commit_is_a_critical_section(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    entered: list[str] = []
    monkeypatch.setattr(critical, "_entered", lambda: entered.append("in"))
    monkeypatch.setattr(critical, "_left", lambda: entered.append("out"))
    store.add([(summary("m"), "a")], NOW)
    store.set_status("m", "Draft", LATER, LATER)
    store.rebuild_vectors()
    assert entered == ["in", "out"] * 3


def test_effects_are_forgotten_after_their_time(workspace: Workspace, store: Store) -> None:
    store.add([(summary("old"), "a")], NOW, [AppliedJob("a", "digest")])
    store.add([(summary("new"), "b")], LATER, [AppliedJob("b", "digest")])
    assert store.drop_effects_before(LATER) == 1
    assert not is_applied(workspace, "a", "digest")
    assert is_applied(workspace, "b", "digest")


def test_maintenance_keeps_effects_for_90_days(workspace: Workspace, store: Store) -> None:
    store.add([(summary("m"), "a")], NOW, [AppliedJob("a", "digest")])
    store.maintain(clock.parse(NOW) + timedelta(days=89))
    assert is_applied(workspace, "a", "digest")
    store.maintain(clock.parse(NOW) + timedelta(days=91))
    assert not is_applied(workspace, "a", "digest")


def test_maintenance_empties_the_log_and_waits_for_no_reader(workspace: Workspace, store: Store) -> None:
    log = workspace.memory_db.with_name(workspace.memory_db.name + "-wal")
    store.add([(summary("m"), "a")], NOW)
    assert log.stat().st_size > 0
    reader = database.open_for_reading(workspace)
    with closing(reader):
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM memories").fetchall()
        store.add([(summary("n"), "a")], NOW)
        store.maintain(datetime(2026, 11, 21, tzinfo=UTC))
        assert log.stat().st_size > 0
    store.maintain(datetime(2026, 11, 21, tzinfo=UTC))
    assert log.stat().st_size == 0


def as_in_the_first_format(workspace: Workspace) -> None:
    """Take back what the later formats have brought."""
    with closing(sqlite3.connect(workspace.memory_db)) as connection, connection:
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.create_function("new_uuid", 0, lambda: "")
            empty.executescript(migrations.MIGRATIONS[5])
            first = {name for (name,) in empty.execute("SELECT name FROM sqlite_master")}
        query = "SELECT type, name FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY type DESC"
        for kind, name in connection.execute(query).fetchall():  # triggers, tables, indexes
            if name not in first:
                connection.execute(f"DROP {kind} IF EXISTS {name}")
        for column in ("tags", "anchors"):
            connection.execute(f"ALTER TABLE memories DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 5")


def test_a_store_of_the_first_format_is_backed_up_migrated_and_whole(workspace: Workspace) -> None:
    store = Store(workspace, FakeEmbedder())
    store.add([(summary("m"), "a")], NOW)
    store.close()
    as_in_the_first_format(workspace)

    assert not is_applied(workspace, "a", "digest"), "a reader may come before the first writer"
    everything = Settings(relevance_floor=0.0)
    before = answer_to(workspace, FakeEmbedder(), clock.parse(NOW), everything, query="anything")
    store = Store(workspace, FakeEmbedder())
    assert store.get("m") is not None
    assert before["result_count"] == 1
    assert answer_to(workspace, FakeEmbedder(), clock.parse(NOW), everything, query="anything") == before
    store.add([(summary("n"), "b")], NOW, [AppliedJob("b", "digest")])
    store.close()
    assert is_applied(workspace, "b", "digest")
    (backup,) = workspace.memory.glob("memory.format-*.db")
    assert sql(backup, "PRAGMA user_version") == [(5,)]
    assert sql(backup, "SELECT id FROM memories") == [("m",)]
    Store(workspace, FakeEmbedder()).close()  # the checksum that the first opening has noted holds


def test_a_backup_that_the_disk_refuses_leaves_no_part_and_no_migration(workspace: Workspace) -> None:
    store = Store(workspace, FakeEmbedder())
    store.add([(summary(f"m{number}"), "a") for number in range(300)], NOW)
    store.close()
    as_in_the_first_format(workspace)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # beyond, a write fails as on a full disk
    try:
        with pytest.raises(JobError):
            Store(workspace, FakeEmbedder())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(workspace.memory.glob("*format*")) == []
    assert sql(workspace.memory_db, "PRAGMA user_version") == [(5,)]
    Store(workspace, FakeEmbedder()).close()
    (backup,) = workspace.memory.glob("*format*")
    assert backup.stat().st_mode & 0o777 == 0o600
    assert sql(backup, "SELECT count(*) FROM memories") == [(300,)]
