"""The job ``check``, without cognee: memory.db and its index damaged in many ways are seen, and the remedy works."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from fake_graph import WithFakeGraph
from harness import dump
from job_copies import done, outcome, refused

from bridge.interface.json_schema import schema_of
from bridge.interface.result_shapes import CheckResult
from bridge.memory import Content, Memory, Metadata
from jobs.diagnostics import DIAGNOSTICS
from jobs.finding import Finding
from jobs.layout import Workspace
from jobs.scrub import without_strings

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NOW = "2026-11-20T12:00:00Z"
LATER = "2099-01-01T00:00:00Z"
NAMES = [f"0000000{n}-0000-4000-8000-00000000000{n}" for n in range(6)]
SECRET = "AKIA" + "QYLPMN5HFIQR7XYA"  # in two parts, so that no scanner takes it for one


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "workspace")
    workspace.memory.mkdir(mode=0o700, parents=True)
    with WithFakeGraph(workspace) as stores:
        stores.store.add([(memory(n), "job") for n in range(5)], NOW)
        stores.store.add([(memory(5, kind="decision_record", sources=(NAMES[0], NAMES[1])), "job")], NOW)
        stores.graph.deliver_all()
    return workspace


def memory(n: int, kind: Any = "summary", sources: tuple[str, ...] = (), said: str = "") -> Memory:
    content = Content(f"Topic {n}", f"quokka{n} swims in lake {n}. {said}", decisions=(f"Use {n}",))
    status: Any = "DecisionRecord" if kind == "decision_record" else "Active"
    metadata = Metadata(topic_id=f"topic-{n}", status=status, created_at=NOW, updated_at=NOW)
    name = NAMES[0].replace("0", str(n)) if n >= len(NAMES) else NAMES[n]
    return Memory(name, 0, kind, metadata, NOW, content, sources=sources)


def findings(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """What the job finds, by code; the model's files are not on every machine that runs the tests."""
    with WithFakeGraph(workspace) as stores:
        found = done(outcome(stores, "check", {}, at=NOW))
    jsonschema_rs.validate(schema_of(CheckResult), found)
    jsonschema_rs.validate(schema_of(CheckResult), without_strings(found))
    assert "quokka" not in json.dumps(found), "no text of a memory is told"
    return {each["code"]: each for each in found["findings"] if each["group"] != "model"}


def sql(workspace: Workspace, statements: str) -> None:
    with closing(sqlite3.connect(workspace.memory_db, isolation_level=None)) as connection:
        connection.executescript(statements)


def files_of(workspace: Workspace) -> Iterator[tuple[str, bytes]]:
    for path in sorted(workspace.vectors.iterdir()):
        yield path.name, path.read_bytes()


def flip_a_vector(workspace: Workspace) -> None:
    path = next(path for path in workspace.vectors.glob("*.f32") if ".wholes" not in path.name)
    data = bytearray(path.read_bytes())
    data[700] ^= 0x40
    path.write_bytes(data)


def cut_the_vectors(workspace: Workspace) -> None:
    for path in workspace.vectors.glob("*.f32"):
        path.write_bytes(b"")


# The damage, the finding, and the numbers of the memories that it names.
CASES: dict[str, tuple[str | Callable[[Workspace], None], str, *tuple[int, ...]]] = {
    "a word's row gone": ("DELETE FROM words WHERE rowid = 2", "WORDS_DAMAGED", 2),
    "words of nobody": ("INSERT INTO words (rowid, topic, body) VALUES (99, 'a', 'b')", "WORDS_DAMAGED"),
    "words that differ": ("UPDATE words SET body = 'x' WHERE rowid = 3", "WORDS_DAMAGED", 3),
    "the index's own tables": ("DELETE FROM words_data WHERE id > 10", "WORDS_DAMAGED"),
    "no index": ("DROP TABLE words", "WORDS_DAMAGED"),
    "a flipped bit of a vector": (flip_a_vector, "VECTORS_DAMAGED"),
    "vectors cut short": (cut_the_vectors, "VECTORS_LACKING"),
    "rows of another": ("UPDATE memories SET passage_row = 1 WHERE number = 2", "VECTORS_MISPLACED", 2),
    "rows beyond the end": ("UPDATE memories SET whole_row = 99 WHERE number = 2", "VECTORS_MISPLACED", 2),
    "a passage too many": ("UPDATE memories SET passage_count = 9 WHERE number = 1", "VECTORS_MISPLACED", 1),
    "kept embeddings that differ": ("UPDATE embeddings SET vector = zeroblob(64)", "VECTORS_DIFFER"),
    "kept embeddings too short": ("UPDATE embeddings SET vector = zeroblob(60)", "EMBEDDINGS_MISSIZED"),
    "another model": ("UPDATE meta SET value = 'other/16' WHERE key = 'embedder'", "MODEL_CHANGED"),
    "a status that there is not": ("UPDATE memories SET status = 'Great' WHERE number = 1", "MEMORIES_INVALID", 1),
    "a record's status": ("UPDATE memories SET status = 'DecisionRecord' WHERE number = 1", "MEMORIES_INVALID", 1),
    "a body that is no JSON": ("UPDATE memories SET body = '{' WHERE number = 1", "MEMORIES_INVALID", 1),
    "a source that is nowhere": (
        "DELETE FROM memories WHERE number = 1; DELETE FROM words WHERE rowid = 1", "SOURCES_MISSING", 6
    ),
    "forgotten and here": (f"INSERT INTO tombstones VALUES ('{NAMES[3]}', '{LATER}')", "FORGOTTEN_HERE", 4),
    "owed for nobody": (
        f"INSERT INTO outbox (memory_id, action, added_at) VALUES ('nobody', 'write', '{LATER}')", "OUTBOX_INVALID"
    ),
    "an older format": ("PRAGMA user_version = 3", "STORE_OF_OLDER_FORMAT"),
}  # fmt: skip
REBUILT = {"WORDS_DAMAGED", "VECTORS_DAMAGED", "VECTORS_LACKING", "VECTORS_MISPLACED"}  # by the remedy


def test_a_store_that_is_whole_is_found_well(workspace: Workspace) -> None:
    assert findings(workspace) == {}


def test_where_nothing_was_ever_stored_there_is_nothing_to_find(tmp_path: Path) -> None:
    empty = Workspace(tmp_path)
    assert findings(empty) == {}
    assert not empty.memory.exists()


@pytest.mark.parametrize("name", CASES)
def test_damage_is_seen_left_as_it_is_and_the_remedy_works(workspace: Workspace, name: str) -> None:
    harm, code, *numbers = CASES[name]
    sql(workspace, harm) if isinstance(harm, str) else harm(workspace)
    before, files = dump(workspace.memory_db), list(files_of(workspace))
    found = findings(workspace)
    assert code in found, found
    assert {NAMES[number - 1] for number in numbers} <= set(found[code]["memory_ids"])
    assert (dump(workspace.memory_db), list(files_of(workspace))) == (before, files), "looking mends nothing"
    if code in REBUILT:
        assert "rebuild --what index" in found[code]["remedy"]
        with WithFakeGraph(workspace) as stores:
            done(outcome(stores, "rebuild", {"what": "index"}, at=NOW))
        assert findings(workspace) == {}


def test_a_file_that_sqlite_cannot_read_is_the_jobs_error(workspace: Workspace) -> None:
    with WithFakeGraph(workspace) as stores:
        workspace.memory_db.write_bytes(b"no database" * 1000)
        assert refused(outcome(stores, "check", {}, at=NOW)).code == "STORE_UNREADABLE"


def overwrite_root_pages(workspace: Workspace, where: str) -> None:
    """Overwrite the first page of the tables and indexes for which the SQL condition holds."""
    with closing(sqlite3.connect(workspace.memory_db)) as connection:
        query = f"SELECT rootpage FROM sqlite_master WHERE rootpage > 0 AND {where}"
        pages = [page for (page,) in connection.execute(query)]
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(workspace.memory_db.read_bytes())
    assert pages
    for page in pages:
        data[(page - 1) * size : page * size] = b"\xa5" * size
    workspace.memory_db.write_bytes(data)


def test_a_damaged_page_is_seen_and_keeps_no_other_check_from_being_made(workspace: Workspace) -> None:
    overwrite_root_pages(workspace, "name = 'tombstones'")
    flip_a_vector(workspace)
    assert {"STORE_DAMAGED", "VECTORS_DAMAGED"} <= set(findings(workspace))


UNCOUNTABLE = [
    # The indexes too: SQLite counts with the smallest of them.
    (lambda workspace: overwrite_root_pages(workspace, "tbl_name = 'memories'"), "STORE_DAMAGED"),
    (lambda workspace: sql(workspace, "ALTER TABLE memories RENAME TO elsewhere"), "CHECK_NOT_MADE"),
]


@pytest.mark.parametrize(("harm", "code"), UNCOUNTABLE)
def test_uncountable_memories_are_a_finding(workspace: Workspace, harm: Callable[[Workspace], None], code: str) -> None:
    harm(workspace)
    flip_a_vector(workspace)
    with WithFakeGraph(workspace) as stores:
        found = done(outcome(stores, "check", {}, at=NOW))
    assert {code, "VECTORS_DAMAGED"} <= {each["code"] for each in found["findings"]}
    assert (found["ok"], found["memories"]) == (False, 0)


def test_what_was_stored_anew_after_a_forgetting_is_well(workspace: Workspace) -> None:
    sql(workspace, f"INSERT INTO tombstones VALUES ('{NAMES[3]}', '2026-11-19T12:00:00Z')")
    assert findings(workspace) == {}


def test_a_secret_in_a_memory_is_seen_and_not_told(workspace: Workspace) -> None:
    with WithFakeGraph(workspace) as stores:
        added = memory(7, said=f"the key is {SECRET} for the bucket")
        stores.store.add([(added, "job")], NOW)
    found = findings(workspace)
    assert found["SECRETS_STORED"]["memory_ids"] == [added.id]
    assert SECRET not in json.dumps(found)


def test_a_finding_comes_back_from_a_record_as_it_was_and_without_texts_as_in_the_table(workspace: Workspace) -> None:
    flip_a_vector(workspace)
    (found,) = [each for code, each in findings(workspace).items() if code == "VECTORS_DAMAGED"]
    assert Finding.from_dict(found).as_dict() == found
    bare = Finding.from_dict(without_strings(found))
    assert (bare.message, bare.remedy) == (DIAGNOSTICS[bare.code].cause, DIAGNOSTICS[bare.code].remedy)


def test_every_trouble_that_only_the_job_finds_is_shown_here_or_with_cognee() -> None:
    shown = {code for _, code, *_ in CASES.values()} | {"SECRETS_STORED"}
    with_cognee = {"GRAPH_LACKS", "GRAPH_DAMAGED", "GRAPH_HOLDS_MORE", "GRAPH_HOLDS_FORGOTTEN"}
    of_the_command = {"CHECK_FAILED"}
    assert {code for code, it in DIAGNOSTICS.items() if it.deep} - shown - with_cognee - of_the_command == {
        "TEXTS_STRAY"
    }
