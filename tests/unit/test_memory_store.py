"""The memory store: one transaction makes memories visible, whole, with what is owed to the graph."""

import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_embedder import FakeEmbedder
from harness import sql
from questions import answer_to

from bridge import critical, slices
from bridge.embedding.embedder import Vectors
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata
from bridge.settings import Settings
from bridge.store import database, migrations, opening, store as store_module, vector_files
from bridge.store.full_text import table_in_force
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.store.values import AppliedJob
from bridge.text.passages import passages
from jobs import clock, steps
from jobs.errors import JobError, Reaction
from jobs.layout import Workspace

NOW = "2026-11-20T12:00:00Z"


@dataclass
class Place:
    """A workspace, and the embedder that its store is opened with."""

    workspace: Workspace
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)

    @contextmanager
    def opened(self, embedder: FakeEmbedder | None = None, **options: Any) -> Iterator[Store]:
        with closing(Store(self.workspace, embedder or self.embedder, **options)) as store:
            yield store

    @contextmanager
    def having(self, *names: str) -> Iterator[Store]:
        """It is open, and summaries of these names were added."""
        with self.opened() as store:
            add(store, *map(summary, names))
            yield store


@pytest.fixture
def place(workspace: Workspace) -> Place:
    return Place(workspace)


def summary(memory_id: str, topic: str = "Ranking", **fields: Any) -> Memory:
    content = Content(topic, fields.pop("context", f"What {memory_id} says of it."), decisions=(f"Decide {memory_id}",))
    metadata = Metadata(topic_id="ranking", status="Active", created_at=NOW, updated_at=NOW, **fields)
    return Memory(memory_id, 0, "summary", metadata, NOW, content)


def legacy(memory_id: str, text: str = "User asked: a\n\nAssistant answered: b") -> Memory:
    return Memory(memory_id, 0, "legacy", Metadata(importance=0.5), NOW, text=text)


def add(store: Store, *memories: Memory) -> list[Memory]:
    return store.add([(memory, f"job of {memory.id}") for memory in memories], NOW)


def rows_of(workspace: Workspace, table: str) -> list[tuple[Any, ...]]:
    return sql(workspace.memory_db, f"SELECT * FROM {table}")


def mapped_rows(workspace: Workspace, part: vector_files.Part = "passages") -> Vectors:
    """The committed rows of the generation in force."""
    meta = dict(rows_of(workspace, "meta"))
    path = vector_files.path_of(workspace.vectors, int(meta["vector_generation"]), part)
    return vector_files.open_rows(path, int(meta["vector_rows" if part == "passages" else "whole_rows"]), 16)


def test_a_memory_of_the_same_words_is_found_without_a_look_at_all_others(place: Place) -> None:
    steps: list[int] = []
    with place.opened() as store:
        add(store, *(legacy(f"l{length}", "x" * length) for length in range(1, 500)))
        store._connection.set_progress_handler(lambda: steps.append(1), 100)  # of SQLite's instructions
        assert store.same_as(legacy("other", "x" * 300)) == "l300"
        assert store.same_as(legacy("other", "y" * 300)) is None
        store._connection.set_progress_handler(None, 0)
    assert len(steps) < 10


def test_vectors_come_in_the_order_of_the_texts_known_or_new(place: Place) -> None:
    with place.opened() as store:
        store.embed(["b"])
        found = store.embed(["a", "b", "a", "c"])
        assert np.array_equal(found, FakeEmbedder().embed(["a", "b", "a", "c"]))
        assert store.embed([]).shape == (0, 16)


def test_the_passages_of_a_memory_stand_at_its_rows(place: Place) -> None:
    with place.opened() as store:
        add(store, summary("a"), legacy("l"))
        add(store, summary("b"))
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        columns = "id, passage_row, passage_count, whole_row"
        places = connection.execute(f"SELECT {columns} FROM memories ORDER BY number").fetchall()
    mapped, wholes = mapped_rows(place.workspace), mapped_rows(place.workspace, "wholes")
    stored = [summary("a"), legacy("l"), summary("b")]
    for memory, (memory_id, row, count, whole_row) in zip(stored, places, strict=True):
        texts = [passage.text for passage in passages(memory)]
        assert memory.id == memory_id
        assert np.array_equal(mapped[row : row + count], FakeEmbedder().embed(texts))
        assert np.array_equal(wholes[whole_row], mapped[row])


def test_an_aborted_addition_leaves_nothing_and_its_rows_free(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    with place.having("a") as store:
        with monkeypatch.context() as patch:
            patch.setattr(store.outbox, "enqueue", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                add(store, summary("lost", context="Never to be seen. " * 20))
        assert store.get("lost") is None
        assert len(rows_of(place.workspace, "words")) == 1
        (added,) = add(store, summary("b"))
    assert added.number == 2
    texts = [passage.text for memory in (summary("a"), summary("b")) for passage in passages(memory)]
    assert np.array_equal(mapped_rows(place.workspace), FakeEmbedder().embed(texts))


def test_a_kill_between_vectors_and_commit_leaves_the_store_as_it_was(place: Place) -> None:
    """A real process ends itself right before the transaction; what it appended is not committed."""
    with place.opened() as store:
        store.outbox.note_opened("model")
        add(store, summary("a"))
    code = """
import os, sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from fake_embedder import FakeEmbedder
from jobs.layout import Workspace
from bridge.store.store import Store
from bridge.memory import Memory, Metadata
store = Store(Workspace(Path(sys.argv[1])), FakeEmbedder())
store.outbox.enqueue = lambda *_: os._exit(9)
store.add([(Memory("lost", 0, "legacy", Metadata(), "2026-11-20T12:00:00Z", text="gone"), None)], "")
"""
    tests = Path(__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code, str(place.workspace.root), str(tests), str(tests.parent)])
    assert done.returncode == 9
    with place.opened() as store:
        assert store.get("lost") is None
        assert store.outbox.count() == 1
        assert [memory.number for memory in add(store, summary("b"))] == [2]


def everything(workspace: Workspace) -> dict[str, Any]:
    """All that a reader sees, vectors included; without where the rows lie."""
    mapped = mapped_rows(workspace)
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        found = connection.execute(
            "SELECT number, id, status, body, passage_row, passage_count FROM memories ORDER BY number"
        ).fetchall()
        table = table_in_force(connection)
        words = connection.execute(f"SELECT rowid, topic, body FROM {table} ORDER BY rowid").fetchall()
    return {
        "memories": [row[:4] for row in found],
        "vectors": [mapped[row[4] : row[4] + row[5]].tobytes() for row in found],
        "words": words,
    }


def test_a_rebuild_gives_the_same_numbers_statuses_and_vectors_and_embeds_nothing(place: Place) -> None:
    with place.opened() as store:
        add(store, summary("a"), legacy("l"))
        add(store, summary("b"))
        store.set_status("a", "Superseded", NOW, NOW)
        before = everything(place.workspace)
        place.embedder.seen.clear()
        assert store.rebuild_vectors() > 3
        assert store.rebuild_words() == 3
        assert everything(place.workspace) == before
        assert len(list(place.workspace.vectors.iterdir())) == 2
        add(store, summary("c"))
    assert place.embedder.seen == [p.text for p in passages(summary("c")) if p.kind != "topic"]


@pytest.mark.parametrize("part", ["passages", "wholes"])
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_vector_file_lost_while_open_is_made_anew_first(place: Place, damage: str, part: vector_files.Part) -> None:
    with place.having("a", "b") as store:
        path = vector_files.path_of(place.workspace.vectors, 1, part)
        path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:-1])
        add(store, summary("c"))
        assert store._vectors.damage() is None
        assert mapped_rows(place.workspace).any(axis=1).all()


@pytest.mark.parametrize("part", ["passages", "wholes"])
@pytest.mark.parametrize("damage", ["missing", "short", "one bit", "zeros", "longer"])
def test_a_damaged_vector_file_is_set_aside_and_made_again_without_embedding(
    place: Place, damage: str, part: vector_files.Part, caplog: pytest.LogCaptureFixture
) -> None:
    with place.having("a", "b") as store:
        add(store, summary("c"))
        before = everything(place.workspace)
    place.embedder.seen.clear()
    path = vector_files.path_of(place.workspace.vectors, 1, part)
    data = path.read_bytes()
    damaged = {
        "missing": b"", "short": data[:-1], "one bit": data[:-1] + bytes([data[-1] ^ 1]), "zeros": bytes(len(data)),
        "longer": data + b"of an append that was cut off",
    }[damage]  # fmt: skip
    path.unlink() if damage == "missing" else path.write_bytes(damaged)
    with place.opened():
        assert everything(place.workspace) == before
    assert place.embedder.seen == []
    kept = [found.read_bytes() for found in place.workspace.quarantine.rglob(path.name)]
    assert kept == ([damaged] if damage in ("short", "one bit", "zeros") else [])
    assert ("set aside in" in caplog.text) == (damage != "longer")
    with place.opened():
        assert len(list(place.workspace.vectors.iterdir())) == 2


def harmed(workspace: Workspace, *statements: str) -> None:
    with closing(sqlite3.connect(workspace.memory_db)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


WORD_DAMAGES = {
    "blocks of zeros": "UPDATE words_data SET block = zeroblob(length(block)) WHERE id >= 10",
    "blocks gone": "DELETE FROM words_data WHERE id >= 10",
    "texts gone": "DELETE FROM words_content WHERE id = 1",
    "no pages": "DROP TABLE words_idx",
    "no settings": "DROP TABLE words_config",
    "no index": "DROP TABLE words",
}


@pytest.mark.parametrize("damage", WORD_DAMAGES.values(), ids=WORD_DAMAGES)
def test_a_damaged_word_index_is_remade_at_opening(place: Place, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    with place.having("a", "b") as store:
        before = everything(place.workspace)
    harmed(place.workspace, damage)
    with place.opened() as store:
        assert everything(place.workspace) == before
        assert "full-text index was damaged" in caplog.text
        add(store, summary("c"))
        assert len(everything(place.workspace)["words"]) == 3
    caplog.clear()
    with place.opened():
        assert "damaged" not in caplog.text


def left_with_two_memories(place: Place, closes: bool) -> None:
    """The store is closed, or the process of its writer ends."""
    with place.having("a", "b") as store:
        if not closes:
            store._connection.close()
            store._lock.release()
            store._is_open = False


@pytest.mark.parametrize(("closes", "noticed"), [(True, False), (False, True)], ids=["closed", "killed"])
def test_vectors_of_many_memories_are_summed_and_their_index_compared_with_the_texts_after_an_unclean_end_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, closes: bool, noticed: bool
) -> None:
    monkeypatch.setattr(store_module, "_CHECKED_QUICKLY", 1)
    left_with_two_memories(place, closes)
    path = vector_files.path_of(place.workspace.vectors, 1)
    path.write_bytes(b"\x01" + path.read_bytes()[1:])
    harmed(place.workspace, "DELETE FROM words_data WHERE id > 10")
    with place.opened():
        assert ("not as it was written" in caplog.text) == noticed
        assert ("full-text index was damaged" in caplog.text) == noticed
    caplog.clear()
    path = vector_files.path_of(place.workspace.vectors, 2 if noticed else 1)
    path.write_bytes(path.read_bytes()[:-1])
    harmed(place.workspace, f"DELETE FROM {'words' if closes else 'words_2'}_content WHERE id = 1")
    with place.opened():
        assert "missing or short" in caplog.text, "too few are noticed in any case"
        assert "full-text index was damaged" in caplog.text, "the same"


@pytest.mark.parametrize("damage", ["no index", "no settings"])
def test_a_memory_is_stored_though_the_full_text_index_breaks_at_that_moment(place: Place, damage: str) -> None:
    with place.having("a") as store:
        harmed(place.workspace, WORD_DAMAGES[damage])
        assert [memory.number for memory in add(store, summary("b"))] == [2]
        assert [row[0] for row in everything(place.workspace)["words"]] == [1, 2]
        assert mapped_rows(place.workspace).shape[0] == sum(len(passages(summary(name))) for name in "ab")


def test_readers_have_the_old_full_text_index_until_the_new_one_is_whole(place: Place) -> None:
    seen: list[int] = []

    def look(_: dict[str, Any]) -> None:
        with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
            table = table_in_force(connection)
            seen.append(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    with place.opened() as store:
        add(store, *(summary(f"m{number}") for number in range(250)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(slices, "SLICE_SECONDS", 0.0)
            store.rebuild_words(look)
        look({})
    assert seen == [250] * 4
    tables = [row[1] for row in rows_of(place.workspace, "sqlite_master") if str(row[4]).startswith("CREATE VIRTUAL")]
    assert tables == ["words_2"]


def test_a_rebuild_of_words_that_was_cut_off_leaves_nothing_behind(place: Place) -> None:
    with place.having("a") as store:
        before = everything(place.workspace)
        harmed(place.workspace, migrations.WORDS.format(table="words_2"), "INSERT INTO words_2 VALUES ('half', 'of')")
        assert store.rebuild_words() == 1
        assert everything(place.workspace) == before


def test_a_rebuild_that_was_cut_off_does_not_disturb_the_next(place: Place) -> None:
    with place.having("a") as store:
        before = everything(place.workspace)
        following = int(dict(rows_of(place.workspace, "meta"))["vector_generation"]) + 1
        vector_files.path_of(place.workspace.vectors, following).write_bytes(b"half of something" * 1000)
        store.rebuild_vectors()
        assert everything(place.workspace) == before


def test_a_rebuild_that_fails_leaves_no_file_behind(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be what has filled the disk."""
    with place.opened() as store:
        add(store, *(summary(f"m{number}") for number in range(120)))
        before = everything(place.workspace)
        real, calls = vector_files.append, iter(range(100))

        def full(*arguments: Any) -> int:
            if next(calls) == 4:
                raise OSError(28, "No space left on device")
            return real(*arguments)

        monkeypatch.setattr(vector_files, "append", full)
        with pytest.raises(OSError, match="No space"):
            store.rebuild_vectors()
        assert len(list(place.workspace.vectors.iterdir())) == 2
        assert everything(place.workspace) == before


def test_an_empty_store_can_be_rebuilt(place: Place) -> None:
    with place.opened() as store:
        assert (store.rebuild_vectors(), store.rebuild_words()) == (0, 0)
        assert [memory.number for memory in add(store, summary("a"))] == [1]


def test_a_store_of_another_model_is_refused_unchanged(place: Place) -> None:
    with place.having("a"):
        before = everything(place.workspace)
    with pytest.raises(JobError, match="EMBEDDER_MISMATCH") as caught:
        Store(place.workspace, FakeEmbedder(name="other"))
    assert "fake/16" in caught.value.message
    assert "other/16" in caught.value.message
    assert "rebuild --what index" in caught.value.remediation
    assert everything(place.workspace) == before
    with place.opened():
        pass  # the refusal has let go of the lock


def test_after_a_takeover_that_failed_the_store_is_refused_as_before(place: Place) -> None:
    """Else the next job of the same child would write the new model's vectors beside the old one's."""
    with place.having("a"):
        pass
    with Stores(place.workspace, Settings()) as stores:
        stores._embedder = FakeEmbedder(name="other")
        stores._embedder.refused = {"": JobError("EMBEDDING_FAILED")}
        with pytest.raises(JobError, match="EMBEDDING_FAILED"):
            stores.open_store(new_model=True).rebuild_vectors()
        with pytest.raises(JobError, match="EMBEDDER_MISMATCH"):
            _ = stores.store


def test_a_store_of_a_newer_program_is_refused_unchanged(place: Place) -> None:
    with place.having("a"):
        pass
    sql(place.workspace.memory_db, f"PRAGMA user_version = {migrations.FORMAT + 1}")
    before = place.workspace.memory_db.read_bytes()
    with pytest.raises(JobError, match="STORE_NEWER"):
        Store(place.workspace, place.embedder)
    with pytest.raises(JobError, match="STORE_NEWER"):
        database.open_for_reading(place.workspace)
    assert place.workspace.memory_db.read_bytes() == before


@pytest.mark.parametrize("content", [b"this is no database " * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_said_to_be_unreadable(place: Place, content: bytes) -> None:
    place.workspace.memory_db.write_bytes(content)
    with pytest.raises(JobError, match="STORE_UNREADABLE"):
        Store(place.workspace, place.embedder)
    reader = opening.reader_of(place.workspace)
    for read in (
        lambda: database.open_for_reading(place.workspace),
        lambda: reader.is_applied(AppliedJob("a", "digest")),
        lambda: reader.sizes(clock.parse(NOW)),
    ):
        with pytest.raises(JobError, match="STORE_UNREADABLE"):
            read()
    assert place.workspace.memory_db.read_bytes() == content


def test_the_store_is_the_users_alone(place: Place) -> None:
    with place.having("a"):
        for path in place.workspace.memory.rglob("*"):
            assert path.stat().st_mode & 0o077 == 0, path


DISK_FAILURES = [
    (OSError(28, "No space left on device"), "DISK_FULL"),
    (sqlite3.SQLITE_FULL, "DISK_FULL"),
    (sqlite3.SQLITE_BUSY, "STORE_BUSY"),
    (sqlite3.SQLITE_BUSY_SNAPSHOT, "STORE_BUSY"),
    (sqlite3.SQLITE_CORRUPT, "STORE_UNREADABLE"),
    (sqlite3.SQLITE_IOERR_WRITE, "STORE_UNREADABLE"),
]


@pytest.mark.parametrize(("error", "code"), DISK_FAILURES)
def test_a_failure_of_the_disk_is_an_error_that_waits(error: OSError | int, code: str) -> None:
    """It is not the job's fault: its attempts must not be used up."""
    if isinstance(error, int):
        raised: Exception = sqlite3.OperationalError("trouble")
        raised.sqlite_errorcode = error  # type: ignore[attr-defined]
    else:
        raised = error
    with pytest.raises(JobError) as caught, database.failing_clearly():
        raise raised
    assert (caught.value.code, caught.value.reaction) == (code, Reaction.WAIT)


def test_a_transaction_that_a_full_disk_has_ended_says_so_and_the_next_one_goes_on(place: Place) -> None:
    with place.having("a") as store:
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        many = [summary(f"m{number}", context="So much. " * 50) for number in range(100)]
        with pytest.raises(JobError, match="DISK_FULL"), database.failing_clearly():
            add(store, *many)
        assert store.count() == 1
        store._connection.execute(f"PRAGMA max_page_count = {pages + 10_000}")
        add(store, *many)
        assert store.count() == 101


OTHER_ERRORS = [FileNotFoundError(2, "No such file"), sqlite3.IntegrityError("twice"), KeyError("x")]


@pytest.mark.parametrize("error", OTHER_ERRORS)
def test_what_is_no_failure_of_the_disk_stays_what_it_is(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, database.failing_clearly():
        raise error
    assert caught.value is error


def test_a_store_whose_file_was_removed_replaced_or_moved_is_not_in_place(place: Place) -> None:
    with place.opened() as store:
        assert store.is_in_place()
        aside = place.workspace.memory / "aside"
        place.workspace.memory_db.rename(aside)
        assert not store.is_in_place()
        place.workspace.memory_db.write_bytes(aside.read_bytes())
        assert not store.is_in_place(), "a copy is another file"
        aside.replace(place.workspace.memory_db)
        assert store.is_in_place()
        moved = place.workspace.memory.with_name("moved")
        place.workspace.memory.rename(moved)
        assert not store.is_in_place()
        moved.rename(place.workspace.memory)
        place.workspace.store_lock.unlink()
        assert not store.is_in_place(), "a second writer could lock a new file"


def test_vectors_do_not_bring_a_removed_folder_back(place: Place) -> None:
    with place.opened() as store:
        moved = place.workspace.memory.with_name("moved")
        place.workspace.memory.rename(moved)
        with pytest.raises(OSError, match="No such file"):
            add(store, summary("a"))
        assert not place.workspace.memory.exists()
        moved.rename(place.workspace.memory)


# --- effects of jobs, maintenance and migrations ---


LATER = "2026-11-20T13:00:00Z"


def is_applied(workspace: Workspace, job_id: str, sha256: str) -> bool:
    return reader_of(workspace).is_applied(AppliedJob(job_id, sha256))


@pytest.fixture
def store(workspace: Workspace) -> Iterator[Store]:
    store = Store(workspace, FakeEmbedder())
    yield store
    store.close()


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
