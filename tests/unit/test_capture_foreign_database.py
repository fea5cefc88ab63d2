"""Databases of other tools: read beside their writer, never changed, and an error rather than a wrong answer."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bridge.capture.readers import foreign_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tool.db"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    """The tool, which has its database open in WAL mode."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE said (text)")
        connection.execute("INSERT INTO said VALUES ('one')")
        yield connection


def texts(path: Path) -> list[str]:
    with foreign_database.opened(path, path.parent) as database:
        return [text for (text,) in database.rows("SELECT text FROM said")]


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if not each.name.endswith("-shm")}


def test_what_the_tool_committed_is_read_while_it_writes(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO said VALUES ('two')")
    assert texts(path) == ["one"]
    writer.execute("COMMIT")
    assert texts(path) == ["one", "two"]


def test_the_tool_can_write_while_the_database_is_open(path: Path, writer: sqlite3.Connection) -> None:
    with foreign_database.opened(path, path.parent) as database:
        database.rows("SELECT text FROM said")
        writer.execute("INSERT INTO said VALUES ('two')")
        assert database.rows("SELECT count(*) FROM said") == [(2,)]
        assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0


def test_a_rollback_database_can_be_written_while_it_is_open(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as writer:
        writer.execute("CREATE TABLE said (text)")
        with foreign_database.opened(path, path.parent) as database:
            assert database.rows("SELECT text FROM said") == []
            writer.execute("INSERT INTO said VALUES ('one')")
            assert database.rows("SELECT text FROM said") == [("one",)]


@pytest.mark.parametrize("is_open", [True, False])
def test_nothing_is_written_beside_the_database(path: Path, writer: sqlite3.Connection, is_open: bool) -> None:
    if not is_open:
        writer.close()
    before = contents(path.parent)
    assert texts(path) == ["one"]
    assert contents(path.parent) == before
    assert (path.parent / "tool.db-shm").exists() is is_open


def test_nothing_can_be_written(path: Path, writer: sqlite3.Connection) -> None:
    with foreign_database.opened(path, path.parent) as database, pytest.raises(OSError, match="readonly"):
        database.rows("DELETE FROM said")
    assert writer.execute("SELECT count(*) FROM said").fetchone() == (1,)


def test_a_closed_database_that_the_tool_opens_meanwhile_is_an_error(path: Path, writer: sqlite3.Connection) -> None:
    writer.close()
    with foreign_database.opened(path, path.parent) as database:
        assert database.rows("SELECT text FROM said") == [("one",)]
        with closing(sqlite3.connect(path, isolation_level=None)) as again:
            again.execute("INSERT INTO said VALUES ('two')")
            with pytest.raises(OSError, match="begun to write"):
                database.rows("SELECT text FROM said")


def test_a_log_left_behind_without_an_index_is_an_error(path: Path, writer: sqlite3.Connection, tmp_path: Path) -> None:
    writer.execute("INSERT INTO said VALUES ('two')")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("tool.db", "tool.db-wal"):
        shutil.copy(tmp_path / name, crashed / name)
    with pytest.raises(OSError, match="did not close it"):
        texts(crashed / "tool.db")
    assert sorted(each.name for each in crashed.iterdir()) == ["tool.db", "tool.db-wal"]


def test_a_database_that_the_tool_has_locked_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign_database, "_WAIT", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("CREATE TABLE said (text)")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="locked"):
            texts(path)


@pytest.mark.parametrize("damage", [b"", b"no database at all", b"SQLite format 3\0" + bytes(84) + b"\xff" * 4000])
def test_a_damaged_database_is_an_error(path: Path, damage: bytes) -> None:
    path.write_bytes(damage)
    with pytest.raises(OSError, match="not read"):
        texts(path)


def test_a_truncated_database_is_an_error(path: Path, writer: sqlite3.Connection) -> None:
    writer.executemany("INSERT INTO said VALUES (?)", [("x" * 3000,)] * 50)
    writer.close()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(OSError, match="not read"):
        texts(path)


def test_a_link_to_a_database_elsewhere_is_refused(path: Path, writer: sqlite3.Connection, tmp_path: Path) -> None:
    inner = tmp_path / "tool"
    inner.mkdir()
    (inner / "linked.db").symlink_to(path)
    with pytest.raises(PermissionError, match="outside"):
        texts(inner / "linked.db")


def test_a_log_that_is_a_link_elsewhere_is_refused(path: Path, writer: sqlite3.Connection, tmp_path: Path) -> None:
    writer.close()
    (tmp_path / "secret").write_bytes(b"x")
    inner = tmp_path / "tool"
    inner.mkdir()
    shutil.copy(path, inner / "tool.db")
    (inner / "tool.db-wal").symlink_to(tmp_path / "secret")
    with pytest.raises(PermissionError, match="outside"):
        texts(inner / "tool.db")


def test_text_that_is_not_utf_8_is_read_with_its_bytes_replaced(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("UPDATE said SET text = CAST(x'61ff62' AS TEXT)")
    assert texts(path) == ["a\ufffdb"]


def test_a_view_is_no_table(path: Path, writer: sqlite3.Connection) -> None:
    writer.execute("CREATE VIEW seen AS SELECT text FROM said")
    with foreign_database.opened(path, path.parent) as database:
        assert database.columns("said") == {"text"}
        assert database.columns("seen") == frozenset()


def test_the_path_of_a_database_may_have_any_character(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c%20 d"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "tool.db", isolation_level=None)) as writer:
        writer.execute("CREATE TABLE said (text)")
    assert texts(folder / "tool.db") == []
