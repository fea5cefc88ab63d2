"""Migrating, showing that first, and taking it back: over a real store, with old texts, without cognee."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import job_copies
import pytest
from fake_embedder import FakeEmbedder
from fake_graph import WithFakeGraph
from harness import sql
from hypothesis import given, settings, strategies as st
from old_workspace import BROKEN, CONVERSATION, ENRICHED, NOTE, PLAIN, OldWorkspace

from bridge import slices
from bridge.memory import Memory, Metadata
from bridge.operations import Task, migrate
from bridge.search import listing
from bridge.slices import Progress, ignore_progress
from bridge.store import database, values
from bridge.store.opening import reader_of
from bridge.store.store import Store
from bridge.store.values import Addition, AppliedJob, KeptExtraction
from jobs import steps
from jobs.errors import JobError
from jobs.layout import Workspace
from worker.cli import parser
from worker.terminal import output

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
AT, LATER, LATER_STILL = "2026-01-05T12:00:00Z", "2026-01-06T12:00:00Z", "2026-01-07T12:00:00Z"


class Bench:
    """An old workspace, the stores over it, and jobs that are run on them."""

    def __init__(self, root: Path) -> None:
        self.workspace = Workspace(root)
        self.old = OldWorkspace(root, "0.3.4")
        self.embedder = FakeEmbedder()
        self.workspace.memory.mkdir(mode=0o700)
        self.stores = WithFakeGraph(self.workspace, embedder=self.embedder)

    def task(self, job_id: str, **payload: Any) -> Task[Any]:
        return job_copies.task("migrate", payload, job_id, at=AT)

    def run(self, job_id: str, progress: Progress = ignore_progress, **payload: Any) -> dict[str, Any]:
        return dict(migrate.run(self.task(job_id, **payload), self.stores, NOW, progress))

    def fails(self, job_id: str, **payload: Any) -> JobError:
        with pytest.raises(JobError) as raised:
            self.run(job_id, **payload)
        return raised.value

    def restart(self) -> None:
        self.stores.__exit__(None, None, None)
        self.stores = WithFakeGraph(self.workspace, embedder=self.embedder)

    def receipt(self, receipt_id: str) -> dict[str, Any]:
        return json.loads(self.workspace.receipt(receipt_id).read_bytes())

    def contents(self) -> list[tuple[Any, ...]]:
        """All memories but for their numbers, hidden ones as well."""
        query = "SELECT id, kind, hidden, migrated_from, status, topic_id, created_at, body FROM memories ORDER BY id"
        return self.stores.store._connection.execute(query).fetchall()

    def files(self) -> dict[str, bytes]:
        """All files but SQLite's memory of who reads."""
        there = [path for path in self.old.root.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
        return {str(path.relative_to(self.old.root)): path.read_bytes() for path in there}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.stores.__exit__(None, None, None)


COUNTS = ("found", "migrated", "already_migrated", "forgotten", "failed", "skipped", "remaining")


def add(store: Store, *additions: Addition) -> None:
    with store.change(AT) as change:
        change.additions += additions


def counts(result: dict[str, Any]) -> dict[str, int]:
    return {name: result[name] for name in COUNTS if result[name]}


def test_old_texts_become_memories_and_their_originals_are_kept_hidden(bench: Bench) -> None:
    result = bench.run("m")
    assert counts(result) == {"found": 3, "migrated": 3, "skipped": 1}
    assert [(i["memory_type"], i["topic_id"], i["outcome"]) for i in result["items"]] == [
        ("summary", "plan-014-summaries", "migrated"), ("legacy", None, "migrated"),
        ("summary", "ranking-weights", "migrated"), (None, None, "skipped"),
    ]  # fmt: skip
    assert bench.stores.store.count() == 3
    for item, text in zip(result["items"], (PLAIN, None, ENRICHED), strict=False):
        shown = listing.memory(bench.workspace, item["memory_id"])
        assert (shown["memory_number"], shown["hidden"]) == (item["memory_number"], False)
        if text is None:
            assert (shown["summary_text"], shown["migrated_from"]) == (CONVERSATION, None)
            continue
        original = listing.memory(bench.workspace, shown["migrated_from"])
        assert (original["summary_text"], original["hidden"]) == (text, True)
        assert original["migrated_to"] == [item["memory_id"]]
    assert not any(NOTE in row[-1] for row in bench.contents()), "a note is no memory"


def test_a_dry_run_shows_the_same_and_changes_nothing(bench: Bench) -> None:
    before = bench.files()
    shown = bench.run("dry", dry_run=True)
    assert bench.files() == before, "not even a store was made"
    done = bench.run("m")
    assert (shown["dry_run"], shown["receipt"], done["receipt"]) == (True, None, "m")
    unlike = ("memory_id", "memory_number")
    assert counts(shown) == counts(done)
    assert [{n: v for n, v in i.items() if n not in unlike} for i in shown["items"]] == [
        {n: v for n, v in i.items() if n not in unlike} for i in done["items"]
    ]
    before = bench.files()
    assert counts(bench.run("again", dry_run=True)) == {"found": 3, "already_migrated": 3, "skipped": 1}
    assert bench.files() == before


def test_a_rejected_text_takes_nothing_of_the_limit_and_equal_ones_fail_like_it(bench: Bench) -> None:
    bench.old.add(PLAIN, at="2025-11-01 00:00:00", location="file:///copy/" + bench.old.write(PLAIN).name)
    bench.embedder.refused = {"Plan 014": JobError("EMBEDDING_FAILED", "Too long.", details={"status": 400})}
    result = bench.run("m", limit=1)
    assert counts(result) == {"found": 4, "migrated": 1, "failed": 2, "skipped": 1, "remaining": 1}
    assert bench.stores.store.count() == 1
    failed = [item for item in result["items"] if item["outcome"] == "failed"]
    assert {(item["error_code"], item["reason"], item["memory_id"]) for item in failed} == {
        ("EMBEDDING_FAILED", "Too long.", None)
    }
    assert {item["original_id"] for item in bench.receipt("m")["items"] if item["outcome"] == "failed"} == {None}
    assert bench.run("m", limit=1) == result


def test_migrating_again_adds_nothing(bench: Bench) -> None:
    bench.run("m")
    before, seen = bench.contents(), len(bench.embedder.seen)
    assert counts(bench.run("again")) == {"found": 3, "already_migrated": 3, "skipped": 1}
    assert (bench.contents(), len(bench.embedder.seen)) == (before, seen)


def test_the_same_words_twice_are_one_memory(bench: Bench) -> None:
    bench.old.add(PLAIN, at="2025-11-01 00:00:00", location="file:///copy/" + bench.old.write(PLAIN).name)
    bench.old.add(PLAIN.replace("\n- Less", "\n-  Less"))
    result = bench.run("m")
    assert counts(result) == {"found": 5, "migrated": 3, "already_migrated": 2, "skipped": 1}
    (plain,) = [i for i in result["items"] if i["topic_id"] == "plan-014-summaries" and i["outcome"] == "migrated"]
    assert plain["created_at"] == "2025-11-01T00:00:00Z", "the oldest"
    numbers = {i["memory_number"] for i in result["items"] if i["topic_id"] == "plan-014-summaries"}
    assert numbers == {plain["memory_number"]}


def test_what_is_bad_fails_alone_and_first_in_the_list(bench: Bench) -> None:
    bench.old.add(BROKEN)
    bench.old.add("gone").unlink()
    result = bench.run("m")
    assert counts(result) == {"found": 5, "migrated": 3, "failed": 2, "skipped": 1}
    broken, gone = sorted(result["items"][:2], key=lambda item: item["line"] or 99)
    assert (broken["error_code"], broken["line"]) == ("METADATA_BROKEN", 8)
    assert "Bogus" in broken["reason"]
    assert "not in .cognee_data" in gone["reason"]


def test_the_receipt_names_every_text_and_holds_none(bench: Bench) -> None:
    bench.old.add(BROKEN)
    result = bench.run("m")
    path = bench.workspace.receipt("m")
    assert path.stat().st_mode & 0o777 == 0o600
    data, receipt = path.read_text(), bench.receipt("m")
    for word in ("Plan 014", "plan-014", "Ranking", "ranking", "Bogus", "port", "note of mine"):
        assert word not in data
    assert counts(receipt) == counts(result)
    assert sorted(item["outcome"] for item in receipt["items"]) == ["failed", *["migrated"] * 3, "skipped"]
    by_id = {item["memory_id"]: item for item in receipt["items"] if item["memory_id"]}
    for item in result["items"]:
        if item["memory_id"]:
            noted = by_id[item["memory_id"]]
            assert noted["memory_number"] == item["memory_number"]
            assert {name: noted[name] for name in ("store", "data_id", "file")} == item["source"]
            assert len(noted["sha256"]) == 64


def test_a_person_sees_which_text_failed_and_that_it_was_dry(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    path = bench.old.add(BROKEN)
    given = parser("migrate").parse_args(["migrate"])
    output.show(given, {"success": True, "kind": "migrate", "job_id": "d", "result": bench.run("d", dry_run=True)})
    shown = capsys.readouterr().out
    assert path.name in shown
    assert "4 memories of earlier versions: would be 3 migrated, 1 failed." in shown
    assert "Nothing was changed." in shown
    output.show(given, {"success": True, "kind": "migrate", "job_id": "m", "result": bench.run("m")})
    assert "Undo: cognee-memory migrate --undo m" in capsys.readouterr().out
    nothing = dict.fromkeys((*COUNTS, "items_omitted"), 0) | {"dry_run": True, "items": [], "warnings": []}
    output.show(given, {"success": True, "kind": "migrate", "job_id": "n", "result": nothing})
    assert capsys.readouterr().out == "There are no memories of earlier versions.\nNothing was changed.\n"


def test_what_failed_can_be_mended_and_migrated_then(bench: Bench) -> None:
    path = bench.old.add(BROKEN)
    bench.run("m")
    path.write_text(BROKEN.replace("Bogus", "Draft").replace("Ranking weights", "Another"))
    result = bench.run("again")
    assert counts(result) == {"found": 4, "migrated": 1, "already_migrated": 3, "skipped": 1}
    assert result["items"][0]["status"] == "Draft"


def test_a_limit_takes_the_oldest_and_the_next_run_the_rest(bench: Bench) -> None:
    assert counts(bench.run("one", limit=1)) == {"found": 3, "migrated": 1, "skipped": 1, "remaining": 2}
    assert counts(bench.run("one", limit=1)) == {"found": 3, "migrated": 1, "skipped": 1, "remaining": 2}
    assert bench.stores.store.count() == 1
    shown = bench.run("dry", limit=1, dry_run=True)
    assert counts(shown) == {"found": 3, "migrated": 1, "already_migrated": 1, "skipped": 1, "remaining": 1}
    assert counts(bench.run("rest", limit=9)) == {"found": 3, "migrated": 2, "already_migrated": 1, "skipped": 1}


def test_a_long_list_is_cut_and_the_receipt_is_not(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "MAX_ITEMS", 2)
    result = bench.run("m")
    assert (len(result["items"]), result["items_omitted"]) == (2, 2)
    assert len(bench.receipt("m")["items"]) == 4


def test_what_was_forgotten_is_not_brought_back(bench: Bench) -> None:
    store = bench.stores.store
    ids = [item["memory_id"] for item in bench.run("m")["items"] if item["memory_id"]]
    with store.change(AT) as change:
        change.tombstones += ids
        change.dropped += ids
    result = bench.run("again")
    assert counts(result) == {"found": 3, "forgotten": 3, "skipped": 1}
    assert store.count() == 0
    assert counts(bench.run("dry", dry_run=True)) == counts(result)


def test_what_was_imported_under_another_id_is_there_already(bench: Bench) -> None:
    store = bench.stores.store
    text = Memory("11111111-2222-3333-4444-555555555555", 0, "legacy", Metadata(), AT, text=CONVERSATION)
    add(store, Addition(text))
    result = bench.run("m")
    assert counts(result) == {"found": 3, "migrated": 2, "already_migrated": 1, "skipped": 1}
    assert text.id in [item["memory_id"] for item in result["items"]]


def test_a_store_that_cannot_be_read_is_told_of(bench: Bench) -> None:
    bench.old.store.write_bytes(b"no database" * 500)
    result = bench.run("m")
    assert counts(result) == {"found": 3, "migrated": 3, "skipped": 1}
    assert "cannot be read" in result["warnings"][0]


def test_others_are_let_in_between_slices_and_told_how_far_it_is(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(migrate, "_FIRST", 1)
    told: list[tuple[int, int]] = []

    def progress(said: dict[str, Any]) -> None:
        told.append((said["done"], said["total"]))
        bench.stores.__exit__(None, None, None)
        bench.stores._store = None  # another job may close the stores and open them again

    bench.run("m", progress)
    assert told[-1] == (4, 4)
    assert len(told) >= 2


# --- kills ---


class Killed(BaseException):
    """In place of a SIGKILL: nothing catches it."""


def killed_at(number: int) -> Callable[[str], None]:
    arrivals = iter(range(1_000_000))

    def fault(point: str) -> None:
        if next(arrivals) == number:
            raise Killed(point)

    return fault


def test_a_kill_beside_any_step_is_mended_by_the_next_attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_FIRST", 2)
    monkeypatch.setattr(migrate, "_MOST", 2)
    whole = Bench(tmp_path / "whole")
    store_id = "0b9c7f8e-4b1a-4f7e-9a51-0d6c3f0f7a11"

    def settled(bench: Bench) -> None:
        """All workspaces get one id, so that their memories' ids can be compared."""
        assert bench.stores.store.count() == 0, "the store is made"
        sql(bench.workspace.memory_db, "UPDATE meta SET value = ? WHERE key = 'workspace_id'", store_id)

    settled(whole)
    result, receipt, contents = whole.run("m"), whole.receipt("m"), whole.contents()
    undone = (whole.run("u", undo="m"), whole.contents())
    whole.restart()
    for number in range(1000):
        bench = Bench(tmp_path / f"killed-{number}")
        settled(bench)
        kills = 0
        for job, payload in (("m", {}), ("u", {"undo": "m"})):
            monkeypatch.setattr(steps, "_fault", killed_at(number))
            try:
                bench.run(job, **payload)
            except Killed:
                kills += 1
            monkeypatch.setattr(steps, "_fault", None)
            bench.restart()
            if job == "m":
                assert bench.run("m") == result
                assert (bench.receipt("m"), bench.contents()) == (receipt, contents)
            else:
                assert (bench.run("u", undo="m"), bench.contents()) == undone
        bench.stores.__exit__(None, None, None)
        if not kills:
            assert number > 10
            break
    whole.stores.__exit__(None, None, None)


def test_a_migration_that_was_cut_off_for_good_can_be_taken_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_FIRST", 1)
    monkeypatch.setattr(migrate, "_MOST", 1)
    monkeypatch.setattr(steps, "_fault", killed_at(10))
    with suppress(Killed):
        bench.run("m")
    monkeypatch.setattr(steps, "_fault", None)
    bench.restart()
    assert bench.receipt("m")["finished_at"] is None
    count = bench.stores.store.count()
    assert count > 0
    assert bench.run("u", undo="m") == {"receipt": "m", "undone": count, "kept": [], "graph": "follows"}
    assert bench.contents() == []


def test_it_can_be_cancelled_until_all_is_stored_and_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    stood: list[tuple[str, bool]] = []

    def look(point: str) -> None:
        stood.append((point, reader_of(bench.workspace).is_applied(AppliedJob("m", bench.task("m").sha256))))

    assert bench.stores.store
    monkeypatch.setattr(steps, "_fault", look)
    bench.run("m")
    monkeypatch.setattr(steps, "_fault", None)
    assert stood[-1] == ("after:memory.commit", True)
    assert not any(stands for _, stands in stood[:-1])


# --- taking it back ---


def test_undo_leaves_nothing_and_a_later_migration_brings_all_again(bench: Bench) -> None:
    bench.run("m")
    before = bench.contents()
    undone = bench.run("u", undo="m")
    assert undone == {"receipt": "m", "undone": 3, "kept": [], "graph": "follows"}
    assert bench.contents() == []
    assert bench.receipt("m")["undone"]["job_id"] == "u"
    assert bench.run("u2", undo="m") == undone
    assert counts(bench.run("later")) == {"found": 3, "migrated": 3, "skipped": 1}
    assert bench.contents() == before


def test_undo_takes_back_what_cognee_was_given_of_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next migration would find our own texts among cognee's, and take them for old ones."""
    brought = {item["memory_id"] for item in bench.run("m")["items"] if item["memory_id"]}
    taken: list[set[str]] = []
    monkeypatch.setattr(bench.stores.graph, "forget_extractions", lambda ids: taken.append(set(ids)))
    bench.stores.store.outbox.note_opened("model")
    bench.run("u", undo="m")
    bench.run("u2", undo="m")  # as after a crash
    assert taken == [brought, brought]


def test_what_cognee_keeps_of_a_memory_that_was_taken_back_is_no_text_of_an_earlier_version(bench: Bench) -> None:
    turn = bench.run("m")["items"][1]["memory_id"]
    kept = values.data_id_of(turn)
    with bench.stores.store.change(AT) as change:
        change.extractions.append(KeptExtraction(turn, values.Extraction(), "cognify"))
    bench.run("u", undo="m")
    assert kept in migrate._ours(bench.stores.store)


def test_undo_leaves_what_others_brought_and_what_has_become_more(bench: Bench) -> None:
    store = bench.stores.store
    mine = Memory("11111111-2222-3333-4444-555555555555", 0, "legacy", Metadata(), AT, text="Mine.")
    add(store, Addition(mine, "other"))
    plain, turn, enriched = (item["memory_id"] for item in bench.run("m")["items"] if item["memory_id"])
    store.set_status(plain, "Draft", LATER, LATER)
    found = store.get(enriched)
    record = Memory("r", 0, "decision_record", Metadata(status="DecisionRecord"), AT, found.content, "", (enriched,))
    add(store, Addition(record, "compact"))
    result = bench.run("u", undo="m")
    assert (result["undone"], {k["memory_id"] for k in result["kept"]}) == (1, {plain, enriched})
    assert any("merged" in kept["reason"] for kept in result["kept"])
    assert any("status" in kept["reason"] for kept in result["kept"])
    assert store.get(turn) is None
    assert {mine.id, plain, enriched, "r"} <= {row[0] for row in bench.contents()}
    store.set_status(plain, "Active", LATER_STILL, LATER_STILL)  # as the migration had made it
    with store.change(AT) as change:
        change.hidden.append("r")  # withdrawn
    assert bench.run("u2", undo="m") == {"receipt": "m", "undone": 3, "kept": [], "graph": "follows"}
    assert {row[0] for row in bench.contents()} == {mine.id, "r"}


def test_undo_looks_at_decision_records_alone_for_what_was_merged(bench: Bench) -> None:
    steps: list[int] = []
    store = bench.stores.store
    plain = bench.run("m")["items"][0]["memory_id"]
    add(store, *(Addition(Memory(f"l{n}", 0, "legacy", Metadata(), AT, text=f"Text {n}")) for n in range(500)))
    store._connection.set_progress_handler(lambda: steps.append(1), 100)  # of SQLite's instructions
    assert migrate._reasons_to_keep({plain: "Active"}, "m", store) == {}
    store._connection.set_progress_handler(None, 0)
    assert len(steps) < 10


def test_undo_leaves_what_was_stored_anew_by_somebody_else(bench: Bench) -> None:
    plain = bench.run("m")["items"][0]["memory_id"]
    sql(bench.workspace.memory_db, "UPDATE memories SET origin_job = 'other' WHERE id = ?", plain)
    assert [kept["memory_id"] for kept in bench.run("u", undo="m")["kept"]] == [plain]


def test_an_unknown_receipt_is_told_with_the_nearest(bench: Bench) -> None:
    bench.run("migration-1")
    error = bench.fails("u", undo="migration-2")
    assert (error.code, error.details["suggestions"]) == ("RECEIPT_NOT_FOUND", ["migration-1"])
    for strange in ("../memory", "/etc/passwd", "."):
        assert bench.fails("u", undo=strange).code == "RECEIPT_NOT_FOUND"


def test_a_receipt_of_somebody_else_is_not_obeyed(bench: Bench) -> None:
    bench.run("m")
    path = bench.workspace.receipt("m")
    for data in (b"{", b"[]", b'{"format": 99, "receipt": "m"}', b'{"format": 1, "receipt": "other"}'):
        path.write_bytes(data)
        assert bench.fails("u", undo="m").code == "RECEIPT_NOT_FOUND"
    assert bench.stores.store.count() == 3


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["m", "n", "undo-m", "undo-n", "limited"]), max_size=6))
def test_in_any_order_a_memory_is_there_once_or_not(tmp_path_factory: pytest.TempPathFactory, order: list[str]) -> None:
    bench = Bench(tmp_path_factory.mktemp("any"))
    with bench.stores:
        for step in order:
            if step.startswith("undo"):
                if bench.workspace.receipt(step[-1]).exists():
                    bench.run(step, undo=step[-1])
            else:
                bench.run(step, **({"limit": 1} if step == "limited" else {}))
            bodies = [row[-1] for row in bench.contents()]
            assert len(bodies) == len(set(bodies)) <= 5
            linked = {row[3] for row in bench.contents() if row[3]}
            assert linked == {row[0] for row in bench.contents() if row[2]}, "no original without what it became"
    with closing(database.open_for_writing(bench.workspace)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_cognees_stores_stay_ours_when_the_graph_is_to_be_written_anew(bench: Bench) -> None:
    outbox = bench.stores.store.outbox
    assert not outbox.stores_are_ours()
    outbox.note_opened("model")
    outbox.enqueue_all(AT)
    assert outbox.graph_model() is None
    assert outbox.stores_are_ours()
