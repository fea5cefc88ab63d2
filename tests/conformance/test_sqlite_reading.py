"""memory.db keeps what a store promises its readers; and the suite notices readers that do not."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from fake_embedder import FakeEmbedder
from reading_conformance import STORED, ReadingConformance, Written

from bridge.memory import Memory, Status
from bridge.store import database
from bridge.store.catalogue import AddedAbove, Changes, Position
from bridge.store.full_text import table_in_force
from bridge.store.opening import reader_of
from bridge.store.reader import StoreReader, StoreSnapshot
from bridge.store.store import Store
from bridge.store.values import Addition, AppliedJob, Compaction, Feedback, Sizes, Spent
from jobs.layout import Workspace


class WrittenSqlite:
    """See ``reading_conformance.Written``."""

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder / "workspace")
        self._backup = folder / "backup"

    def reader(self) -> StoreReader:
        return reader_of(self.workspace)

    @contextmanager
    def _store(self) -> Iterator[Store]:
        self.workspace.memory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(Store(self.workspace, FakeEmbedder())) as store:
            yield store

    def _sql(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.workspace.memory_db)) as connection, connection:
            for statement in statements:
                connection.execute(statement.format(words=table_in_force(connection)))

    def add(self, *memories: Memory) -> None:
        with self._store() as store:
            store.add([(memory, None) for memory in memories], STORED)

    def add_at(self, number: int, memory: Memory) -> None:
        with self._store() as store, store.change(STORED) as change:
            change.additions.append(Addition(memory._replace(number=number)))

    def set_status(self, memory_id: str, status: Status) -> None:
        with self._store() as store:
            store.set_status(memory_id, status, STORED, STORED)

    def give(self, feedback: Feedback) -> None:
        with self._store() as store, store.change(feedback.at) as change:
            change.feedback.append(feedback)

    def hide(self, memory_id: str) -> None:
        with self._store() as store, store.change(STORED) as change:
            change.hidden.append(memory_id)

    def link(self, memory_id: str, original_id: str) -> None:
        with self._store() as store, store.change(STORED) as change:
            change.originals.append((memory_id, original_id))

    def forget(self, memory_id: str) -> None:
        with self._store() as store, store.change(STORED) as change:
            change.dropped.append(memory_id)

    def apply(self, made: Compaction, record: Memory) -> None:
        with self._store() as store, store.change(made.applied_at, [made.effect]) as change:
            change.compactions.append(made)
            change.additions.append(Addition(record))

    def rebuild_vectors(self) -> None:
        with self._store() as store:
            store.rebuild_vectors()

    def back_up(self) -> None:
        self._sql("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(self.workspace.memory, self._backup, dirs_exist_ok=True)

    def restore_backup(self) -> None:
        shutil.rmtree(self.workspace.memory)
        shutil.copytree(self._backup, self.workspace.memory)

    def start_over(self) -> None:
        shutil.rmtree(self.workspace.memory)

    def damage_full_text(self) -> None:
        self._sql("DROP TABLE {words}")

    def write_by_later_program(self) -> None:
        self._sql("PRAGMA user_version = 99")


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return WrittenSqlite(tmp_path)


class TestSqliteReading(ReadingConformance):
    pass


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


class _Broken(WrittenSqlite):
    def __init__(self, folder: Path, snapshot: type[StoreSnapshot]) -> None:
        super().__init__(folder)
        self._snapshot = snapshot

    def reader(self) -> StoreReader:
        return _BrokenReader(self.workspace, self._snapshot)


class _BrokenReader(StoreReader):
    def __init__(self, workspace: Workspace, snapshot: type[StoreSnapshot]) -> None:
        super().__init__(workspace)
        self._of = workspace
        self._broken = snapshot

    def snapshot(self) -> StoreSnapshot | None:
        connection = database.open_for_reading(self._of)
        return None if connection is None else self._broken(connection)


def test_the_suite_notices_a_reader_that_takes_every_change_for_an_addition(tmp_path: Path) -> None:
    suite = ReadingConformance()
    for number, fails in enumerate(
        (
            suite.test_a_restored_backup_is_everything_even_if_it_grows_again,
            suite.test_a_memory_under_a_free_number_below_the_highest_is_everything,
            lambda written: suite.test_an_index_that_follows_is_the_catalogue_read_whole(written, 1),
        )
    ):
        with pytest.raises(AssertionError):
            fails(_Broken(tmp_path / str(number), _ByLastNumberAlone))


def test_the_suite_notices_a_reader_without_a_transaction(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        ReadingConformance().test_a_snapshot_sees_one_state_whatever_is_written_meanwhile(
            _Broken(tmp_path, _WithoutTransaction)
        )


class _Forgetful(StoreReader):
    """Answers what the worker asks as if there were no store."""

    def is_applied(self, job: AppliedJob) -> bool:
        return False

    def sizes(self, now: datetime) -> Sizes:
        return Sizes({}, 0, 0, 0, 0, 0, Spent())


class _OfForgetful(WrittenSqlite):
    def reader(self) -> StoreReader:
        return _Forgetful(self.workspace)


def test_the_suite_notices_a_reader_that_does_not_know_the_applied_jobs_and_sizes(tmp_path: Path) -> None:
    suite = ReadingConformance()
    for number, fails in enumerate(
        (
            suite.test_a_job_is_applied_once_its_effect_is_committed,
            suite.test_sizes_count_the_visible_memories_by_kind_and_status,
        )
    ):
        with pytest.raises(AssertionError):
            fails(_OfForgetful(tmp_path / str(number)))
