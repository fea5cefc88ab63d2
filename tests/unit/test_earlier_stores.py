"""What cognee holds of earlier versions: found wherever it lies, read from a copy, and moved out of the way."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from harness import sql
from old_workspace import CONVERSATION, ENRICHED, NOTE, PLAIN, TEXTS, VERSIONS, OldWorkspace

from bridge.graph import earlier_stores, graph_files
from bridge.graph.earlier_stores import Text, UnreadableText
from jobs.layout import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def old(workspace: Workspace) -> OldWorkspace:
    return OldWorkspace(workspace.root, "0.3.4")


def texts(workspace: Workspace) -> list[Text]:
    found = earlier_stores.find(workspace)
    assert found.problems == []
    return found.texts


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("version", VERSIONS)
def test_what_an_old_cognee_was_given_is_read_in_the_order_of_its_age(workspace: Workspace, version: str) -> None:
    OldWorkspace(workspace.root, version)
    found = texts(workspace)
    assert [earlier_stores.read(text) for text in found] == list(TEXTS)
    assert {text.store for text in found} == {".cognee_system/databases/cognee_db"}
    assert all(len(text.data_id) == 36 and text.file.startswith("text_") for text in found)
    assert all((text.added_at or "").startswith("2025-11-17T") for text in found)


def test_reading_changes_nothing_and_leaves_nothing(workspace: Workspace, old: OldWorkspace) -> None:
    with closing(sqlite3.connect(old.store)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE data SET created_at = '2025-12-01 00:00:00' WHERE name = ?", (old.write(NOTE).stem,))
        writer.commit()  # in the log alone, and its writer has it open
        before = snapshot(workspace.root)
        assert texts(workspace)[-1].added_at == "2025-12-01T00:00:00Z"
        assert snapshot(workspace.root) == before


def test_what_a_killed_reader_left_is_removed(workspace: Workspace, old: OldWorkspace) -> None:
    left = workspace.memory / ".old-store"
    left.mkdir(parents=True)
    (left / "cognee_db").write_bytes(b"a part")
    assert len(texts(workspace)) == 4
    assert not left.exists()


def test_stores_that_were_moved_away_are_read_as_well(workspace: Workspace, old: OldWorkspace) -> None:
    moved = earlier_stores.archive(workspace)
    assert moved.parent == workspace.earlier_stores
    assert not graph_files.databases_of(workspace).exists()
    again = workspace.quarantine / "graph-2026"
    again.mkdir(parents=True)
    shutil.copy(moved / "cognee_db", again)
    stores = [text.store for text in texts(workspace)]
    assert len(stores) == 8
    assert set(stores) == {
        f".cognee_memory/earlier/{moved.name}/cognee_db", ".cognee_memory/set-aside/graph-2026/cognee_db",
    }  # fmt: skip


def test_stores_another_program_filled_are_moved_our_new_ones_not(workspace: Workspace, old: OldWorkspace) -> None:
    sql(old.store, "CREATE TABLE alembic_version (version_num VARCHAR)")
    first = earlier_stores.archive(workspace)
    assert earlier_stores.archive(workspace) is None, "there is nothing any more"
    shutil.copytree(first, graph_files.databases_of(workspace))
    assert earlier_stores.archive(workspace) not in (None, first)
    shutil.copytree(first, graph_files.databases_of(workspace))
    sql(old.store, "DELETE FROM data")
    assert earlier_stores.archive(workspace) is None, "a kill after cognee had made it"
    old.store.unlink()
    (old.store.parent / "cognee.lancedb").mkdir()
    assert earlier_stores.archive(workspace) is not None


def test_our_own_memories_texts_are_left_out(workspace: Workspace, old: OldWorkspace) -> None:
    ours = texts(workspace)[1].data_id
    assert ours not in [text.data_id for text in earlier_stores.find(workspace, {ours}).texts]


LOCATIONS = [
    "/somewhere/else/.cognee_data/{name}", "file:///C:/Users/me/My%20project/.cognee_data/{name}",
    "C:\\work\\.cognee_data\\{name}", "{name}",
]  # fmt: skip


@pytest.mark.parametrize("location", LOCATIONS)
def test_a_workspace_may_have_been_moved(workspace: Workspace, old: OldWorkspace, location: str) -> None:
    name = old.write("moved").name
    old.add("moved", location=location.format(name=name))
    assert earlier_stores.read(texts(workspace)[-1]) == "moved"


def test_of_files_of_one_name_the_one_that_was_meant_is_read(workspace: Workspace, old: OldWorkspace) -> None:
    for folder in "ab":
        (old.data / folder).mkdir()
        (old.data / folder / "notes.txt").write_text(folder)
    old.add("?", location="/elsewhere/.cognee_data/b/notes.txt")
    assert earlier_stores.read(texts(workspace)[-1]) == "b"


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(earlier_stores.TEXT_LIMIT + 1)


def a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


HARMS = [
    (Path.unlink, "not in .cognee_data"), (lambda path: path.write_bytes(b"\xff\xfe\x00"), "no text in UTF-8"),
    (huge, "limit"), (a_link, "not in .cognee_data"),
]  # fmt: skip


@pytest.mark.parametrize(("harm", "why"), HARMS, ids=["gone", "binary", "huge", "a link"])
def test_a_text_that_cannot_be_read_says_why(workspace: Workspace, old: OldWorkspace, harm: object, why: str) -> None:
    assert callable(harm)
    harm(old.add("harmed"))
    with pytest.raises(UnreadableText, match=why):
        earlier_stores.read(texts(workspace)[-1])


def test_nothing_outside_the_data_folder_is_read(workspace: Workspace, old: OldWorkspace) -> None:
    secret = workspace.root / "secret.txt"
    secret.write_text("PASSWORD")
    old.add("?", location=secret.as_uri())
    assert texts(workspace)[-1].path is None
    (old.data / "way-out").symlink_to(workspace.root)
    assert texts(workspace)[-1].path is None


def test_a_store_that_cannot_be_read_is_told_and_its_texts_are_found(workspace: Workspace, old: OldWorkspace) -> None:
    old.store.write_bytes(b"no database " * 500)
    (old.data / "picture.png").write_bytes(b"x")
    found = earlier_stores.find(workspace)
    assert len(found.problems) == 1
    assert ".cognee_system/databases/cognee_db" in found.problems[0]
    assert sorted(earlier_stores.read(text) for text in found.texts) == sorted(TEXTS)
    assert {text.store for text in found.texts} == {""}


def test_raw_texts_are_found_beside_a_store_that_holds_but_our_own(workspace: Workspace, old: OldWorkspace) -> None:
    ours = {text.data_id for text in texts(workspace)}
    left = old.write("User asked: Which?\n\nAssistant answered: That one.")
    assert [text.path for text in earlier_stores.find(workspace, ours).texts] == [left]


def test_columns_that_a_version_lacks_are_no_harm(workspace: Workspace, old: OldWorkspace) -> None:
    sql(old.store, "ALTER TABLE data DROP COLUMN created_at")
    sql(old.store, "UPDATE data SET name = name || '.txt'")
    sql(old.store, "ALTER TABLE data DROP COLUMN raw_data_location")
    found = texts(workspace)
    assert sorted(earlier_stores.read(text) for text in found) == sorted((PLAIN, CONVERSATION, ENRICHED, NOTE))
    assert {text.added_at for text in found} == {None}
    sql(old.store, "DROP TABLE data")
    assert {text.store for text in texts(workspace)} == {""}


def test_where_there_is_nothing_nothing_is_found_or_moved(workspace: Workspace) -> None:
    assert earlier_stores.find(workspace) == earlier_stores.EarlierTexts([], [])
    assert earlier_stores.archive(workspace) is None
    assert list(workspace.root.iterdir()) == []
