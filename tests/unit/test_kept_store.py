"""The reader of a process that stays: it keeps memory.db open between questions, and never answers from another one."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_embedder import FakeEmbedder
from harness import sql

from bridge.memory import Content, Memory, Metadata
from bridge.store import migrations
from bridge.store.opening import reader_of
from bridge.store.reader import StoreReader
from bridge.store.store import Store
from jobs.errors import JobError
from jobs.layout import Workspace

STORED = "2026-11-19T12:00:00Z"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace(tmp_path / "workspace")
    found.memory.mkdir(parents=True, mode=0o700)
    add(found, "a")
    return found


def add(workspace: Workspace, memory_id: str) -> None:
    store = Store(workspace, FakeEmbedder(dimensions=64))
    known = Metadata(status="Active", topic_id=memory_id, created_at=STORED)
    store.add([(Memory(memory_id, 0, "summary", known, STORED, Content("Topic", f"Of {memory_id}.")), None)], STORED)
    store.close()


def topics(reader: StoreReader) -> list[str]:
    snapshot: Any = reader.snapshot()
    with closing(snapshot):
        return sorted(snapshot.topic_ids())


def test_a_kept_store_shows_what_was_added_since(workspace: Workspace) -> None:
    reader = reader_of(workspace, stays=True)
    for _ in range(3):
        assert topics(reader) == ["a"]
    add(workspace, "b")
    assert topics(reader) == ["a", "b"]


@pytest.mark.parametrize("in_place", [True, False])
def test_a_store_restored_from_a_copy_is_read_anew(workspace: Workspace, tmp_path: Path, in_place: bool) -> None:
    copy = tmp_path / "copy.db"
    shutil.copyfile(workspace.memory_db, copy)
    add(workspace, "b")
    reader = reader_of(workspace, stays=True)
    for _ in range(3):
        assert topics(reader) == ["a", "b"]
    for end in ("-wal", "-shm"):
        workspace.memory_db.with_name(workspace.memory_db.name + end).unlink(missing_ok=True)
    if in_place:
        shutil.copyfile(copy, workspace.memory_db)
    else:
        copy.replace(workspace.memory_db)
    assert topics(reader) == ["a"]


def test_a_kept_store_that_a_later_program_upgrades_is_refused(workspace: Workspace) -> None:
    reader = reader_of(workspace, stays=True)
    for _ in range(3):
        assert topics(reader) == ["a"]
    sql(workspace.memory_db, f"PRAGMA user_version = {migrations.FORMAT + 1}")
    with pytest.raises(JobError, match="STORE_NEWER"):
        reader.snapshot()


def test_a_kept_store_lets_its_writer_empty_the_log(workspace: Workspace) -> None:
    reader = reader_of(workspace, stays=True)
    for _ in range(3):
        assert topics(reader) == ["a"]
    add(workspace, "b")
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert topics(reader) == ["a", "b"]
