"""The reader of a process that stays: it keeps memory.db open between questions, and never answers from another one."""

import shutil
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from harness import sql
from shelf import Shelf, summary

from bridge.store import migrations
from bridge.store.opening import reader_of
from bridge.store.reader import StoreReader
from jobs.errors import JobError
from jobs.layout import Workspace


@pytest.fixture
def workspace(shelf: Shelf) -> Workspace:
    return shelf.add(summary("a", "Of a.")).workspace


def topics(reader: StoreReader) -> list[str]:
    snapshot: Any = reader.snapshot()
    with closing(snapshot):
        return sorted(snapshot.topic_ids())


@pytest.mark.parametrize("in_place", [True, False])
def test_a_store_restored_from_a_copy_is_read_anew(workspace: Workspace, shelf: Shelf, in_place: bool) -> None:
    copy = workspace.root / "copy.db"
    shutil.copyfile(workspace.memory_db, copy)
    shelf.add(summary("b", "Of b."))
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


def test_a_kept_store_lets_its_writer_empty_the_log_and_shows_what_was_added_since(
    workspace: Workspace, shelf: Shelf
) -> None:
    reader = reader_of(workspace, stays=True)
    for _ in range(3):
        assert topics(reader) == ["a"]
    shelf.add(summary("b", "Of b."))
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert topics(reader) == ["a", "b"]
