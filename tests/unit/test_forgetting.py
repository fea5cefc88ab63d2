"""Forgetting over a real store and a job folder: what goes, what becomes of the rest, and that no byte stays."""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import fake_graph
import pytest
from fake_embedder import FakeEmbedder
from harness import raising, sql
from job_copies import done, outcome, refused
from old_workspace import BROKEN

from bridge.compaction.contradictions import Conflict, conflict_id
from bridge.compaction.record_draft import Rules
from bridge.graph import graph_files, installed
from bridge.graph.graph import Graph
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata, slug
from bridge.settings import Settings
from bridge.store.full_text import table_in_force
from bridge.store.open_store import OpenStore
from bridge.store.outbox import Outbox
from bridge.store.values import Addition
from bridge.text.identity import content_id
from bridge.transfer import export
from jobs import clock, lifecycle, spool
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded
from jobs.model import Job, job_digest
from jobs.scrub import JOB_FILES, name_digest

AT = "2026-11-20T12:00:00Z"
LATER = "2026-11-20T13:00:00Z"
METADATA = Metadata()
SECRET = "quokkazebra"  # a word that nothing but the forgotten memory says


class RecordedGraph(fake_graph.FakeGraph):
    """It says what was removed from cognee's stores."""

    def __init__(self, memory: OpenStore, cognee: Any) -> None:
        super().__init__(memory, cognee)
        self.scrubbed: list[str] = []

    def forget_extractions(self, memory_ids: Sequence[str]) -> None:
        self.scrubbed.append("findings")

    def scrub(self) -> None:
        self.scrubbed.append("graph")


class WithFakeGraph(fake_graph.WithFakeGraph):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.graph: RecordedGraph = RecordedGraph(self, self.fake)


@pytest.fixture
def stores(workspace: Workspace) -> Iterator[WithFakeGraph]:
    with WithFakeGraph(workspace) as found:
        yield found


def do(
    stores: Stores, kind: str, payload: dict[str, Any], job_id: str = "job", at: str = AT, accepted_at: str = ""
) -> Succeeded | Failed:
    return outcome(stores, kind, payload, job_id, at=accepted_at or at, now=clock.parse(at))


def remember(stores: Stores, context: str, *decisions: str, topic: str = "Storage", at: str = AT) -> str:
    summary = {"topic": topic, "context": context, "decisions": list(decisions)}
    return str(done(do(stores, "ingest", {"summary": summary}, slug(f"ingest-{context[:8]}"), at))["memory_id"])


def forgotten(stores: Stores, at: str = LATER, job_id: str = "forget", **payload: Any) -> dict[str, Any]:
    return done(do(stores, "forget", payload, job_id, at))


def compacted(stores: Stores, topic_id: str = "storage", at: str = AT) -> str:
    return str(done(do(stores, "compact", {"topic_id": topic_id}, slug(f"compact-{at}"), at))["decision_record_id"])


def statuses(stores: Stores) -> dict[str, str | None]:
    found = stores.store._connection.execute("SELECT id, status FROM memories WHERE hidden = 0")
    return dict(found.fetchall())


def ended(workspace: Workspace, job_id: str, kind: str, payload: dict[str, Any], **outcome: Any) -> None:
    """A job that ended, with its record and its copy."""
    job = Job(job_id, kind, payload, payload, job_digest(kind, payload))  # type: ignore[arg-type]
    record = lifecycle.accept(job, clock.parse(AT))
    spool.accept(workspace.spool, [(job, record)])
    if "result" in outcome or "error" in outcome:
        started = lifecycle.step(record, lifecycle.Started(), clock.parse(AT))
        event = Succeeded(outcome["result"]) if "result" in outcome else Failed(outcome["error"])
        spool.write_records(workspace.spool, [lifecycle.step(started, event, clock.parse(AT))])
        spool.retire_copy(workspace.spool, job_id)


def holds(workspace: Workspace, *words: str) -> list[str]:
    """The files that hold one of the words, in whatever form; memory.db and its log as they lie on the disk."""
    found = []
    for path in workspace.root.rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        for word in words:
            forms = (word.encode(), word.encode("utf-16-le"), word.encode("utf-16-be"))
            if any(form.lower() in data for form in forms):
                found.append(path.relative_to(workspace.root).as_posix())
    return found


def test_no_byte_of_a_forgotten_memory_stays_in_the_store(stores: WithFakeGraph) -> None:
    kept = [remember(stores, f"Number {n} is about lakes and rivers of the north.") for n in range(120)]
    gone = remember(stores, f"The {SECRET} lives on an island.", f"Feed the {SECRET} twice a day.")
    assert holds(stores.workspace, SECRET)
    vectors = {path.name for path in stores.workspace.vectors.iterdir()}
    assert forgotten(stores, memory_ids=[gone])["forgotten"] == [gone]
    assert holds(stores.workspace, SECRET) == []
    assert stores.store.count() == len(kept)
    assert stores.store.get(gone) is None
    key = gone.encode()
    assert key in stores.workspace.memory_db.read_bytes(), "its id stays, so that it stays away"
    assert vectors.isdisjoint(path.name for path in stores.workspace.vectors.iterdir()), "a new generation"


def test_a_damaged_index_of_words_is_made_again_in_passing(stores: WithFakeGraph) -> None:
    kept, gone = remember(stores, "Lakes are deep."), remember(stores, f"The {SECRET} lives.")
    table = table_in_force(stores.store._connection)
    stores.store._connection.execute("CREATE VIRTUAL TABLE words_9 USING fts5 (topic, body)")
    stores.store._connection.execute("INSERT INTO words_9 VALUES ('left by a rebuild', ?)", (SECRET,))
    stores.store._connection.execute(f"DROP TABLE {table}_data")
    forgotten(stores, memory_ids=[gone])
    assert holds(stores.workspace, SECRET) == []
    assert statuses(stores) == {kept: "Active"}


def test_what_is_forgotten_stays_away_from_earlier_jobs_and_comes_anew_with_later_ones(stores: WithFakeGraph) -> None:
    summary = {"topic": "Storage", "context": f"The {SECRET} sleeps."}
    gone = done(do(stores, "ingest", {"summary": summary}))["memory_id"]
    forgotten(stores, memory_ids=[gone])
    assert (
        refused(do(stores, "ingest", {"summary": summary}, "again", LATER, accepted_at=AT)).code == "MEMORY_FORGOTTEN"
    )
    status = {"memory_id": gone, "status": "Draft"}
    assert refused(do(stores, "set_status", status, "s", LATER, accepted_at=AT)).code == "MEMORY_FORGOTTEN"
    after = done(do(stores, "ingest", {"summary": summary}, "new", "2026-11-20T14:00:00Z"))
    assert (after["memory_id"], after["duplicate"]) == (gone, False)
    assert after["memory_number"] == 2, "a number is never given twice"


def test_it_is_all_or_nothing_and_the_nearest_are_named(stores: WithFakeGraph) -> None:
    known = remember(stores, "Lakes.")
    wrong = known[:-1] + ("0" if known[-1] != "0" else "1")
    error = refused(do(stores, "forget", {"memory_ids": [known, wrong]}))
    assert (error.code, error.details["nearest"], error.details["unknown"]) == ("MEMORY_NOT_FOUND", [known], [wrong])
    assert stores.store.get(known) is not None
    error = refused(do(stores, "forget", {"topic_id": "storrage"}))
    assert (error.code, error.details["nearest"]) == ("TOPIC_NOT_FOUND", ["storage"])


def test_forgetting_again_is_fine(stores: WithFakeGraph) -> None:
    gone = remember(stores, f"The {SECRET}.")
    other = remember(stores, "Lakes.")
    first = forgotten(stores, memory_ids=[gone])
    assert forgotten(stores, memory_ids=[gone]) == first, "the same job once more"
    assert forgotten(stores, job_id="another", memory_ids=[gone, other])["forgotten"] == [gone, other]
    assert stores.store.count() == 0


def test_the_graph_is_told_and_scrubbed_only_where_there_is_one(stores: WithFakeGraph) -> None:
    with_graph = remember(stores, "Lakes.")
    stores.graph.deliver_all()
    assert with_graph in stores.fake.told
    forgotten(stores, memory_ids=[with_graph])
    assert stores.fake.told.keys() == set()
    assert stores.graph.scrubbed == ["findings", "graph"]
    assert stores.graph.lag() == 0


def test_what_cognee_keeps_beside_a_graph_that_was_lost_is_scrubbed_too(stores: WithFakeGraph) -> None:
    """Its texts and its own database, where a rebuild was cut off before the graph was there again."""
    memory_id = remember(stores, "Known.")
    stores.graph.deliver_all()
    stores.store.outbox.forget_graph()
    forgotten(stores, memory_ids=[memory_id])
    assert stores.graph.scrubbed == ["findings", "graph"]


class NoCognee(Graph):
    def _open(self, store: Any) -> Any:
        raise AssertionError("there is no cognee that could open it")


def without_cognee(workspace: Workspace) -> Stores:
    """The child's stores where cognee was removed."""
    stores = Stores(workspace, Settings())
    stores._embedder = FakeEmbedder()
    stores.graph = NoCognee(stores)
    return stores


@pytest.mark.parametrize("cut_off", [False, True])
def test_without_cognee_its_graph_goes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, cut_off: bool) -> None:
    """It is made again later."""
    with WithFakeGraph(workspace) as stores:
        gone, other = remember(stores, f"The {SECRET} lives on an island."), remember(stores, "Lakes.")
        stores.graph.deliver_all()
    databases = graph_files.databases_of(workspace)
    (databases / "cognee.lancedb").mkdir(parents=True)
    for path in (databases / "cognee_graph_ladybug", databases / "cognee.lancedb" / "rows"):
        path.write_text(SECRET)
    workspace.cognee_data.mkdir()
    (workspace.cognee_data / "text_1.txt").write_text(SECRET)
    sql(databases / "cognee_db", "CREATE TABLE data (id, raw_data_location, name, created_at)")
    sql(databases / "cognee_db", "INSERT INTO data VALUES ('1', 'text_1.txt', ?, '')", SECRET)
    monkeypatch.setattr(installed, "is_installed", lambda: False)
    with without_cognee(workspace) as stores:
        if cut_off:
            with monkeypatch.context() as patched:
                patched.setattr(Outbox, "forget_graph", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
                with pytest.raises(KeyboardInterrupt):
                    do(stores, "forget", {"memory_ids": [gone]}, "forget", LATER)
        assert forgotten(stores, memory_ids=[gone])["forgotten"] == [gone]
        assert holds(workspace, SECRET) == []
        assert not databases.exists()
        assert stores.store.outbox.lag().changes == 1
    monkeypatch.undo()
    with WithFakeGraph(workspace) as stores:
        stores.graph.deliver_all()
        assert stores.fake.told.keys() == {other}


def test_without_a_graph_none_is_opened(workspace: Workspace) -> None:

    with without_cognee(workspace) as stores:
        memory = Memory("m", 0, "legacy", METADATA, AT, text=f"The {SECRET} is a marsupial of the west.")
        stores.store.add([(memory, None)], AT)
        node = {"id": "n", "type": "Entity", "index_fields": ["name"], "properties": {"name": SECRET}}
        found = {"job_id": "j", "nodes": [node], "edges": []}
        with stores.store.change(AT) as change:  # as an import leaves it where the graph cannot be opened
            change.imported_extractions.append({"memory_id": "m", "data_id": "d", "at": AT, "found": found})
        forgotten(stores, memory_ids=["m"])
        assert stores.graph.lag() == 0
    assert holds(workspace, SECRET) == []


def test_with_a_converted_memory_its_original_goes_and_the_other_way_round(stores: WithFakeGraph) -> None:
    with stores.store.change(AT) as change:
        change.additions += [
            Addition(Memory("old", 0, "legacy", METADATA, AT, text=f"Summary: {SECRET}"), hidden=True),
            Addition(Memory("new", 0, "legacy", METADATA, AT, text=f"The {SECRET}."), migrated_from="old"),
            Addition(Memory("twin", 0, "legacy", METADATA, AT, text=f"A {SECRET}."), migrated_from="old"),
        ]
    assert sorted(forgotten(stores, memory_ids=["twin"])["forgotten"]) == ["new", "old", "twin"]
    assert holds(stores.workspace, SECRET) == []


# --- records ---


def test_a_record_is_made_anew_from_what_remains(stores: WithFakeGraph) -> None:
    gone, a, b = three(stores)
    record = compacted(stores)
    assert holds(stores.workspace, SECRET)
    result = forgotten(stores, memory_ids=[gone])
    ((old, new),) = [(pair["old"], pair["new"]) for pair in result["records_rebuilt"]]
    assert (old, stores.store.get(old), stores.store.forgotten_at(old)) == (record, None, LATER)
    made = stores.store.get(new)
    assert made.sources == (a, b)
    assert made.content.decisions == ("Store rows in SQLite (2026-11-01, #2)", "Keep the log small (2026-11-02, #3)")
    assert statuses(stores) == {a: "Superseded", b: "Superseded", new: "DecisionRecord"}
    assert holds(stores.workspace, SECRET) == []
    restored = done(do(stores, "restore", {"decision_record_id": new}, "restore", "2026-11-20T14:00:00Z"))
    assert sorted(restored["restored"]) == sorted([a, b])
    assert statuses(stores) == {a: "Active", b: "Active"}


def test_a_rejected_conflict_stays_rejected_in_a_record_that_is_made_anew(stores: WithFakeGraph) -> None:
    remember(stores, "Lakes are deep.", "Retry five times.", at="2026-11-01T00:00:00Z")
    remember(stores, "Rivers are long.", "Retry three times.", at="2026-11-02T00:00:00Z")
    gone = remember(stores, f"The {SECRET} is small.", f"Name the fox {SECRET}.", at="2026-11-03T00:00:00Z")
    payload = {"topic_id": "storage", "keep_both": [conflict_id("Retry five times", "Retry three times")]}
    assert done(do(stores, "compact", payload, "compact", AT))["conflicts"] == []
    ((_, new),) = [tuple(pair.values()) for pair in forgotten(stores, memory_ids=[gone])["records_rebuilt"]]
    made = stores.store.get(new)
    assert made.content.decisions == ("Retry five times (2026-11-01, #1)", "Retry three times (2026-11-02, #2)")


def test_a_record_made_anew_is_by_the_template(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under another number, though a model is configured."""
    gone, *_ = three(stores)
    record = compacted(stores)
    before = stores.store.get(record)
    monkeypatch.setattr(stores, "settings", Settings(llm_provider="openai", llm_model="m", llm_api_key="k"))
    monkeypatch.setattr(stores, "asker", lambda job_id: pytest.fail("the model is asked"))
    (made,) = forgotten(stores, memory_ids=[gone])["records_rebuilt"]
    after, history = stores.store.get(made["new"]), stores.store.compactions.latest(made["new"])
    assert (after.number > before.number, history.narrative_source) == (True, "template")


def test_a_withdrawn_record_goes_with_a_memory_that_it_had_merged(stores: WithFakeGraph) -> None:
    gone, *rest = three(stores)
    record = compacted(stores)
    done(do(stores, "restore", {"decision_record_id": record}, "restore", LATER))
    result = forgotten(stores, "2026-11-20T14:00:00Z", memory_ids=[gone])
    assert (result["records_rebuilt"], result["records_removed"]) == ([], [record])
    assert statuses(stores) == dict.fromkeys(rest, "Active")
    assert holds(stores.workspace, SECRET) == []


def test_with_one_source_left_the_record_goes_and_it_counts_again(stores: WithFakeGraph) -> None:
    a = remember(stores, "Lakes are deep.", "Store rows in SQLite.")
    gone = remember(stores, f"The {SECRET} is small.")
    record = compacted(stores)
    result = forgotten(stores, memory_ids=[gone])
    assert (result["records_removed"], result["revived"]) == ([record], [a])
    assert statuses(stores) == {a: "Active"}
    assert holds(stores.workspace, SECRET) == []


def test_a_chain_of_records_is_made_anew_from_its_beginning(stores: WithFakeGraph) -> None:
    gone, a, b = three(stores)
    first = compacted(stores, at="2026-11-04T00:00:00Z")
    c = remember(stores, "Seas are salty.", "Ship on Friday.", at="2026-11-05T00:00:00Z")
    second = compacted(stores, at="2026-11-06T00:00:00Z")
    result = forgotten(stores, memory_ids=[gone])
    new = {pair["old"]: pair["new"] for pair in result["records_rebuilt"]}
    assert new.keys() == {first, second}
    assert statuses(stores) == {
        a: "Superseded", b: "Superseded", c: "Superseded", new[first]: "Superseded", new[second]: "DecisionRecord",
    }  # fmt: skip
    assert set(stores.store.get(new[second]).sources) == {new[first], c}
    assert holds(stores.workspace, SECRET) == []


def test_a_whole_topic_goes_with_its_records_and_its_name(stores: WithFakeGraph) -> None:
    for number in range(3):
        remember(stores, f"Number {number} of {SECRET}.", topic=f"Plan {SECRET}")
    compacted(stores, f"plan-{SECRET}")
    other = remember(stores, "Lakes.")
    assert len(forgotten(stores, topic_id=f"plan-{SECRET}")["forgotten"]) == 4
    assert statuses(stores) == {other: "Active"}
    assert holds(stores.workspace, SECRET) == []


def test_drafts_superseded_memories_and_withdrawn_records_go_with_their_topic(stores: WithFakeGraph) -> None:
    draft, *_ = ids = three(stores)
    withdrawn = compacted(stores)
    done(do(stores, "restore", {"decision_record_id": withdrawn}, "restore", LATER))
    done(do(stores, "set_status", {"memory_id": draft, "status": "Draft"}, "by-hand", LATER))
    record = compacted(stores, at="2026-11-20T14:00:00Z")
    assert set(statuses(stores).values()) == {"Draft", "Superseded", "DecisionRecord"}
    result = forgotten(stores, "2026-11-20T15:00:00Z", topic_id="storage")
    assert sorted(result["forgotten"]) == sorted([*ids, withdrawn, record])
    assert stores.store.all_ids() == []


def test_a_status_that_was_set_by_hand_stays(stores: WithFakeGraph) -> None:
    a = remember(stores, "Lakes are deep.")
    gone = remember(stores, f"The {SECRET} is small.")
    compacted(stores)
    do(stores, "set_status", {"memory_id": a, "status": "Draft"}, "by-hand", LATER)
    forgotten(stores, at="2026-11-20T14:00:00Z", memory_ids=[gone])
    assert statuses(stores) == {a: "Draft"}


def test_without_a_record_its_sources_count_again(stores: WithFakeGraph) -> None:
    a, b = remember(stores, "Lakes are deep."), remember(stores, "Rivers are long.")
    record = compacted(stores)
    result = forgotten(stores, memory_ids=[record])
    assert (result["forgotten"], sorted(result["revived"])) == ([record], sorted([a, b]))
    assert statuses(stores) == {a: "Active", b: "Active"}


def three(stores: Stores) -> tuple[str, str, str]:
    """Memories of one topic; the first is the one to forget."""
    return (
        remember(stores, f"The {SECRET} is small.", f"Name the fox {SECRET}.", at="2026-11-03T00:00:00Z"),
        remember(stores, "Lakes are deep.", "Store rows in SQLite.", at="2026-11-01T00:00:00Z"),
        remember(stores, "Rivers are long.", "Keep the log small.", at="2026-11-02T00:00:00Z"),
    )


def test_a_record_that_a_later_one_had_merged_is_forgotten_like_any_other(stores: WithFakeGraph) -> None:
    merged = three(stores)
    first = compacted(stores, at="2026-11-04T00:00:00Z")
    other = remember(stores, "Seas are salty.", "Ship on Friday.", at="2026-11-05T00:00:00Z")
    compacted(stores, at="2026-11-06T00:00:00Z")
    (made,) = forgotten(stores, memory_ids=[first])["records_rebuilt"]
    assert statuses(stores) == {made["new"]: "DecisionRecord", **dict.fromkeys((*merged, other), "Superseded")}
    assert stores.store.forgotten_at(made["new"]) is None
    done(do(stores, "restore", {"decision_record_id": made["new"]}, "restore", "2026-11-20T14:00:00Z"))
    assert statuses(stores) == dict.fromkeys((*merged, other), "Active")


def brought_back(stores: Stores, gone: str) -> str:
    """An older export is imported after a forgetting: returns the record that was made anew of what remained. What was
    forgotten and its record are there again beside that."""
    compacted(stores)
    lines: list[bytes] = []
    export.write(stores.workspace, "1.0", AT, lines.append)
    (made,) = forgotten(stores, job_id="before", memory_ids=[gone])["records_rebuilt"]
    file = stores.workspace.root / "older.jsonl"
    file.write_bytes(b"".join(lines))
    done(do(stores, "import", {"path": file.name}, "import", "2026-11-20T14:00:00Z"))
    file.unlink()
    assert statuses(stores)[made["old"]] == statuses(stores)[made["new"]] == "DecisionRecord"
    return str(made["new"])


def test_what_an_older_export_brought_back_is_forgotten_like_anything_else(stores: WithFakeGraph) -> None:
    gone, *rest = three(stores)
    record = brought_back(stores, gone)
    (made,) = forgotten(stores, "2026-11-20T15:00:00Z", memory_ids=[gone])["records_rebuilt"]
    assert made["new"] == record, "the rest makes the record that is there already"
    assert statuses(stores) == {record: "DecisionRecord", **dict.fromkeys(rest, "Superseded")}
    assert holds(stores.workspace, SECRET) == []


@pytest.mark.parametrize("way", ["forget", "restore"])
def test_what_another_record_in_force_has_merged_stays_superseded(stores: WithFakeGraph, way: str) -> None:
    back, *rest = three(stores)
    record = brought_back(stores, back)
    (older,) = (each for each, status in statuses(stores).items() if status == "DecisionRecord" and each != record)
    if way == "forget":
        assert forgotten(stores, "2026-11-20T15:00:00Z", memory_ids=[older])["revived"] == [back]
    else:
        result = done(do(stores, "restore", {"decision_record_id": older}, "restore", "2026-11-20T15:00:00Z"))
        assert result["restored"] == [back]
        assert {each["memory_id"]: each["reason"] for each in result["skipped"]} == dict.fromkeys(rest, "merged")
    assert statuses(stores) == {back: "Active", record: "DecisionRecord", **dict.fromkeys(rest, "Superseded")}


def test_an_imported_memory_comes_back_under_no_other_id(stores: WithFakeGraph) -> None:
    said = {"topic": "Storage", "context": f"The {SECRET} lives on an island of its own."}
    imported = Memory(
        "0a9f6f6e-7a0e-5c0b-9b1b-0f6f2b8f3c11", 0, "summary", Metadata("storage", status="Active"), AT,
        Content(said["topic"], said["context"]),
    )  # fmt: skip
    stores.store.add([(imported, "import")], AT)
    ended(stores.workspace, "waiting", "ingest", {"summary": said})
    result = forgotten(stores, memory_ids=[imported.id])
    assert result["forgotten"] == [imported.id]
    assert result[JOB_FILES]["doomed"] == ["waiting"]
    again = do(stores, "ingest", {"summary": said}, "again", "2026-11-20T14:00:00Z", accepted_at=AT)
    assert refused(again).code == "MEMORY_FORGOTTEN"


# --- files ---


def test_a_waiting_job_that_would_keep_the_text_raw_is_ended_whatever_its_looks(stores: WithFakeGraph) -> None:
    text = f"# Summary: Zoo\n\n**Metadata:**\n- Status: DecisionRecord\n\n## Context\nThe {SECRET} lives there."
    raw = Memory("", 0, "legacy", Metadata(), AT, text=text)
    raw = raw._replace(id=content_id(stores.store.workspace_id, raw))
    stores.store.add([(raw, "cognify")], AT)
    ended(stores.workspace, "waiting", "cognify", {"texts": ["Lakes are deep.", text]})
    assert forgotten(stores, memory_ids=[raw.id])[JOB_FILES]["doomed"] == ["waiting"]


def test_a_records_prose_is_looked_for_not_its_sources(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    class Poet(Rules):
        def narrative(self, sources: Sequence[Memory], found: Sequence[Conflict]) -> tuple[str | None, Sequence[str]]:
            return f"Once upon a time the {SECRET} went to the lakes.", ()

    for number, said in enumerate(("Lakes are deep in the north.", "Rivers are long in the south.")):
        summary = {"summary": {"topic": "Storage", "context": said}}
        brought = done(do(stores, "ingest", summary, f"brought-{number}"))
        ended(stores.workspace, f"brought-{number}", "ingest", summary, result=brought)
    monkeypatch.setattr("bridge.operations.compact.judge", lambda *_: Poet())
    shown = done(do(stores, "compact", {"topic_id": "storage", "preview": True}, "preview"))
    ended(stores.workspace, "preview", "compact", {"topic_id": "storage", "preview": True}, result=shown)
    assert forgotten(stores, memory_ids=[compacted(stores)])[JOB_FILES]["jobs"] == ["preview"]
    assert list(stores.workspace.previews.iterdir()) == []


def test_a_rejected_file_of_any_size_is_looked_through(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.forgetting.leftovers._PIECE_BYTES", 4096)
    monkeypatch.setattr("bridge.forgetting.leftovers._OVERLAP_BYTES", 256)
    monkeypatch.setattr(spool, "RECORD_LIMIT", 4096)
    gone = remember(stores, f"The {SECRET} lives on an island far away.")
    names = []
    for blanks in range(4050, 4096, 5):  # across the end of a piece, wherever that divides it
        name = f"large.{blanks}.json"
        (stores.workspace.spool.rejected / name).write_text(" " * blanks + f"The {SECRET} lives on an island far away.")
        names.append(name)
    (stores.workspace.spool.rejected / "other.1.json").write_text("Lakes. " * 2000)
    found = forgotten(stores, memory_ids=[gone])[JOB_FILES]["rejected"]
    assert sorted(found) == sorted(map(name_digest, names))


def test_a_graph_found_damaged_on_the_way_has_no_copy(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = remember(stores, f"The {SECRET} lives on an island.")
    stores.graph.deliver_all()

    def pay(_: Graph, memory_ids: Sequence[str]) -> dict[str, JobError]:
        folder = stores.workspace.quarantine / "graph-now"
        folder.mkdir(parents=True)
        (folder / "nodes").write_text(SECRET)
        return {}

    monkeypatch.setattr(RecordedGraph, "deliver", pay)
    forgotten(stores, memory_ids=[gone])
    assert holds(stores.workspace, SECRET) == []


def test_a_refusing_graph_is_no_reason_to_leave_words(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, *_ = three(stores)
    compacted(stores)
    stores.graph.deliver_all()
    stores.workspace.picture.write_text(SECRET)
    refused = JobError("GRAPH_WRITE_FAILED")

    def pay(_: Graph, memory_ids: Sequence[str]) -> dict[str, JobError]:
        return {each: refused for each in memory_ids if stores.store.known(each) is not None}

    monkeypatch.setattr(RecordedGraph, "deliver", pay)
    (made,) = forgotten(stores, memory_ids=[gone])["records_rebuilt"]
    assert statuses(stores)[made["new"]] == "DecisionRecord"
    assert holds(stores.workspace, SECRET) == []


def test_jobs_and_files_that_tell_of_it_are_found_by_id_and_by_words(stores: WithFakeGraph) -> None:
    workspace, place = stores.workspace, stores.workspace.spool
    said = f"We agreed that the {SECRET} is fed at six in the morning."
    summary = {"summary": {"topic": "Zoo", "context": said}}
    ended(workspace, "brought", "ingest", summary, result=done(do(stores, "ingest", summary, "brought")))
    gone = done(do(stores, "ingest", summary, "brought"))["memory_id"]
    ended(workspace, "near", "ingest", {"summary": {"topic": "Other", "context": f"Note: {said} Yes."}},
          error=JobError("POISON"))  # fmt: skip
    ended(workspace, "failed", "ingest", {"summary": {"topic": "Zoo", "context": said}}, error=JobError("POISON"))
    ended(workspace, "asked", "set_status", {"memory_id": gone, "status": "Draft"}, result={"memory_id": gone})
    ended(workspace, "waiting", "ingest", summary)
    ended(workspace, "innocent", "ingest", {"summary": {"topic": "Sea", "context": "Seas."}}, result={"topic": "Sea"})
    own = {"summary": {"topic": "Mine", "context": f"As was said: {said}"}}
    ended(workspace, "own", "ingest", own)
    (place.rejected / "bad.1.json").write_text(json.dumps(summary)[:-5].replace("fed", "\\u0066ed"))
    (place.rejected / "bad.1.reason.json").write_text("{}")
    (place.rejected / "wide.1.json").write_bytes(json.dumps(summary).encode("utf-16"))
    (place.rejected / "good.1.json").write_text("{")
    (place.root / ".half.tmp").write_text(json.dumps(summary))
    os.utime(place.root / ".half.tmp", (0, 0))
    workspace.previews.mkdir(mode=0o700)
    (workspace.previews / "one.json").write_text(json.dumps({"sources": [{"memory_id": gone}]}))
    (workspace.previews / "two.json").write_text(json.dumps({"sources": [{"memory_id": "other"}]}))
    workspace.picture.write_text(said)
    (workspace.memory / "memory.format-2.db").write_text(said)
    (workspace.memory / ".graph.html.0a.tmp").write_text(said)
    (workspace.quarantine / "graph-2026").mkdir(parents=True)
    (workspace.quarantine / "graph-2026" / "file").write_text(said)
    result = forgotten(stores, memory_ids=[gone])

    asked = result[JOB_FILES]
    assert set(asked["jobs"]) == {"brought", "near", "failed", "asked"}
    assert asked["doomed"] == ["waiting"]
    assert (len(asked["rejected"]), len(asked["parts"])) == (2, 1)
    assert any("1 waiting job says" in warning for warning in result["warnings"]), "own is of another memory"
    assert any("copies of everything" in warning for warning in result["warnings"])
    assert [path.name for path in workspace.previews.iterdir()] == ["two.json"]
    assert {path.split("/")[0] for path in holds(workspace, SECRET)} == {".cognee_jobs"}, "that is the worker's to do"


def test_a_file_copied_in_for_an_import_goes_and_the_import_that_waits_for_it_fails(stores: WithFakeGraph) -> None:
    gone = remember(stores, f"The {SECRET} lives on an island far away.")
    folder = stores.workspace.imports
    folder.mkdir(mode=0o700)
    (folder / "told.jsonl").write_text(json.dumps({"context": f"The {SECRET} lives on an island far away."}))
    (folder / "other.jsonl").write_text(json.dumps({"context": "Lakes are deep in the north."}))
    forgotten(stores, memory_ids=[gone])
    assert [path.name for path in folder.iterdir()] == ["other.jsonl"]
    path = folder.relative_to(stores.workspace.root) / "told.jsonl"
    assert refused(do(stores, "import", {"path": path.as_posix()}, "import", LATER)).code == "ARGUMENT_INVALID"


def test_a_later_drop_stays_and_so_does_a_job_that_only_names_a_file(stores: WithFakeGraph) -> None:
    said = json.dumps({"summary": {"topic": "Storage", "context": f"The {SECRET} lives on an island far away."}})
    gone = remember(stores, f"The {SECRET} lives on an island far away.")
    for name in (".fresh.tmp", "dropped.json"):
        path = stores.workspace.spool.inbox / name
        path.write_text(said)
        os.utime(path, (clock.parse(LATER).timestamp() - 30,) * 2)
    (stores.workspace.root / "notes.txt").write_text(said)
    ended(stores.workspace, "reads", "cognify", {"paths": ["notes.txt"]})
    asked = forgotten(stores, memory_ids=[gone])[JOB_FILES]
    assert asked == {"jobs": [], "doomed": [], "rejected": [], "parts": []}


def test_a_topic_that_goes_is_found_by_its_id_where_it_is_an_id(stores: WithFakeGraph) -> None:
    remember(stores, "Lakes are deep.", topic="Summary")
    jobs: dict[str, tuple[Any, dict[str, Any]]] = {
        "payload": ("compact", {"topic_id": "summary"}),
        "camel": ("compact", {"topicId": "summary"}),
        "said": ("noop", {}),
        "word": ("ingest", {"summary": {"topic": "Sea", "context": "Seas."}}),
    }
    errors = {"said": JobError("TEST_FAILURE", "There is no topic 'summary'.")}
    for job_id, (kind, payload) in jobs.items():
        ended(stores.workspace, job_id, kind, payload, error=errors.get(job_id, JobError("POISON")))
    assert set(forgotten(stores, topic_id="summary")[JOB_FILES]["jobs"]) == {"payload", "camel", "said"}


def test_what_another_memory_says_as_well_is_not_looked_for(stores: WithFakeGraph) -> None:
    shared = "We use SQLite for everything that has to be kept."
    gone = remember(stores, f"{shared} And the {SECRET}.", shared)
    remember(stores, shared)
    ended(stores.workspace, "other", "ingest", {"summary": {"topic": "T", "context": shared}}, error=JobError("POISON"))
    assert forgotten(stores, memory_ids=[gone])[JOB_FILES]["jobs"] == []


def test_a_raw_text_goes_though_the_database_that_named_it_was_lost(stores: WithFakeGraph) -> None:
    workspace = stores.workspace
    memory_id = remember(stores, f"The {SECRET} came.")
    lost, named, other = (f"text_{n:032x}.txt" for n in range(3))
    workspace.cognee_data.mkdir()
    for name, said in ((lost, SECRET), (named, "frog"), (other, "newt")):
        (workspace.cognee_data / name).write_text(f"Summary:\nTopic: Storage\nContext: The {said} came.\n")
    earlier = workspace.earlier_stores / "cognee-2026"
    earlier.mkdir(parents=True)
    sql(earlier / "cognee_db", "CREATE TABLE data (id TEXT, name TEXT, raw_data_location TEXT, created_at TEXT)")
    sql(earlier / "cognee_db", "INSERT INTO data VALUES (?, ?, ?, ?)", "0" * 32, named, f"/elsewhere/{named}", AT)
    forgotten(stores, memory_ids=[memory_id])
    assert sorted(path.name for path in workspace.cognee_data.iterdir()) == [named, other]


def test_of_an_earlier_version_s_store_only_what_may_become_other_memories_stays(stores: WithFakeGraph) -> None:
    workspace = stores.workspace
    said = [f"Summary:\nTopic: {topic}\nContext: The {topic} came.\n" for topic in (SECRET, "Frog")]
    said += [f"Ann: The {SECRET} came.", BROKEN.replace("seven", f"the {SECRET} came")]
    files = {f"text_{n:032x}.txt": text for n, text in enumerate(said)}
    ids = [f"0193c7a2-1111-5222-8333-44445555666{n}" for n in range(4)]
    earlier = workspace.earlier_stores / "cognee-2026"
    for folder in (workspace.cognee_data, earlier / "cognee.lancedb"):
        folder.mkdir(parents=True)
    with closing(sqlite3.connect(earlier / "cognee_db")) as connection, connection:
        connection.execute("CREATE TABLE data (id TEXT, name TEXT, raw_data_location TEXT, created_at TEXT)")
        connection.execute("CREATE TABLE nodes (label TEXT)")
        connection.execute("INSERT INTO nodes VALUES (?)", (f"The {SECRET}",))
        for data_id, (name, text) in zip(ids, files.items(), strict=True):
            (workspace.cognee_data / name).write_text(text)
            row = (data_id.replace("-", ""), name, f"/elsewhere/{name}", AT)
            connection.execute("INSERT INTO data VALUES (?, ?, ?, ?)", row)
    (earlier / "cognee.lancedb" / "rows").write_text(SECRET)
    (earlier / "cognee_graph_kuzu").write_text(SECRET)
    done(do(stores, "migrate", {}, "migrate"))
    ((gone,),) = stores.store._connection.execute("SELECT id FROM memories WHERE topic_id = ?", (SECRET,)).fetchall()

    result = forgotten(stores, memory_ids=[gone])

    kept = f".cognee_data/{list(files)[3]}"
    assert [kept in warning for warning in result["warnings"] if "earlier version" in warning] == [False, True]
    assert holds(workspace, SECRET) == [kept]
    assert [path.name for path in earlier.iterdir()] == ["cognee_db"]
    again = done(do(stores, "migrate", {}, "again", LATER))
    assert (again["found"], again["already_migrated"]) == (2, 1), "the frog is there still"


@pytest.mark.parametrize("point", ["commit", "graph", "files", "store", "done"])
def test_the_attempt_after_any_stop_ends_it(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    gone = remember(stores, f"The {SECRET} lives on an island.")
    stores.graph.deliver_all()
    stores.workspace.picture.write_text(SECRET)
    ended(
        stores.workspace, "brought", "ingest", {"summary": {"topic": "Z", "context": "c"}}, result={"memory_id": gone}
    )

    class Stop(BaseException):
        pass

    from bridge.forgetting import leftovers
    from bridge.store import forgettings
    from bridge.store.store import Store

    places = {
        "commit": (forgettings, "begin"), "graph": (RecordedGraph, "scrub"), "files": (leftovers, "remove"),
        "store": (Store, "scrub"), "done": (forgettings, "finish_all"),
    }  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(*places[point], raising(Stop))
        with pytest.raises(Stop):
            do(stores, "forget", {"memory_ids": [gone]}, "forget", LATER)
    assert (stores.store.get(gone) is None) == (point != "commit")
    result = forgotten(stores, memory_ids=[gone])
    assert (result["forgotten"], result[JOB_FILES]["jobs"]) == ([gone], ["brought"])
    assert holds(stores.workspace, SECRET) == []
    assert not stores.workspace.picture.exists()


def test_what_a_job_that_gave_up_left_the_next_ends(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, other = remember(stores, f"The {SECRET} lives."), remember(stores, "Lakes.")
    stores.graph.deliver_all()
    stores.workspace.picture.write_text(SECRET)
    with monkeypatch.context() as patched:
        patched.setattr(RecordedGraph, "scrub", lambda self: (_ for _ in ()).throw(JobError("GRAPH_UNAVAILABLE")))
        assert refused(do(stores, "forget", {"memory_ids": [gone]}, "first", LATER)).code == "GRAPH_UNAVAILABLE"
    assert holds(stores.workspace, SECRET)
    forgotten(stores, job_id="second", memory_ids=[other])
    assert holds(stores.workspace, SECRET) == []


def test_an_unfinished_job_names_files_of_one_given_up(stores: WithFakeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    gone, other = remember(stores, f"The {SECRET} lives."), remember(stores, "Lakes.")
    stores.graph.deliver_all()
    ended(stores.workspace, "told", "ingest", {"summary": {"topic": "Z", "context": "c"}}, result={"memory_id": gone})
    with monkeypatch.context() as patched:
        patched.setattr(RecordedGraph, "scrub", lambda self: (_ for _ in ()).throw(JobError("GRAPH_UNAVAILABLE")))
        refused(do(stores, "forget", {"memory_ids": [gone]}, "first", LATER))
    assert forgotten(stores, job_id="second", memory_ids=[other])[JOB_FILES]["jobs"] == ["told"]
    # The worker died before it removed the job's files, so it asks the child again.
    assert forgotten(stores, job_id="second", memory_ids=[other])[JOB_FILES]["jobs"] == ["told"]
    assert forgotten(stores, job_id="first", memory_ids=[gone])[JOB_FILES]["jobs"] == ["told"]
