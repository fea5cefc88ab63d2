"""cognify and ask over the real store, with a graph that finds a text's capitalised words."""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import jsonschema_rs
import pytest
from contract import published
from fake_graph import FakeCognee, WithFakeGraph
from harness import raising
from job_copies import done, outcome, refused

from bridge.graph import graph_files
from bridge.graph.llm_budget import Meter
from bridge.operations.cognify import least_calls
from bridge.settings import Settings
from bridge.standing import comparison, judge
from bridge.store import database
from bridge.store.values import AppliedJob, ExtractedEdge, ExtractedNode, Extraction, data_id_of
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded

NOW = clock.parse("2026-11-20T12:00:00Z")
EARLIER, LATER = "2026-11-20T11:00:00Z", "2026-11-20T13:00:00Z"
WITH_MODEL = Settings(llm_api_key="key", llm_model="openai/test")


def node_id(word: str) -> str:
    return str(uuid5(NAMESPACE_OID, word))


def found_in(memory_id: str, text: str) -> Extraction:
    """A node for each name, an edge between neighbours, and one from the document to each."""
    names = list(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b", text)))
    document = data_id_of(memory_id)
    nodes = [
        ExtractedNode(document, "TextDocument", (), {}),
        *(ExtractedNode(node_id(n), "Entity", ("name",), {}) for n in names),
    ]
    edges = [ExtractedEdge(document, node_id(name), "contains", {}) for name in names]
    edges += [ExtractedEdge(node_id(a), node_id(b), "beside", {}) for a, b in itertools.pairwise(names)]
    return Extraction(tuple(nodes), tuple(edges))


class Cognee(FakeCognee):
    """Finds names; ``errors`` are raised for a text, once each. ``during`` happens while it looks."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: list[str] = []
        self.errors: dict[str, list[JobError]] = {}
        self.during: Callable[[], None] = lambda: None
        self.nodes: set[str] = set()
        self.edges: set[tuple[str, str, str]] = set()
        self.links: tuple[tuple[str, str], ...] = ()
        self.context = "Nodes: …"
        self.asked: list[str] = []
        self.read: list[str] = []

    def extract(self, memory_id: str, text: str, meter: Meter, pause: Callable[[], None]) -> Extraction:
        self.looked.append(text)
        for _ in range(2):
            meter.end(meter.begin(100), 90, 10)
        if self.errors.get(text):
            raise self.errors[text].pop(0)
        pause()
        self.during()
        found = found_in(memory_id, text)
        self.write_findings(found)
        return found

    def ask(self, question: str, top_k: int) -> Any:
        from types import SimpleNamespace

        self.asked.append(question)
        return SimpleNamespace(context=self.context, links=self.links, decisions={"d": "absent"})

    def in_prose(self, question: str, context: str, meter: Meter) -> str:
        meter.end(meter.begin(100), 90, 10)
        if self.errors.get(question):
            raise self.errors[question].pop(0)
        self.read.append(context)
        return "Postgres, it seems."

    def write_findings(self, found: Extraction) -> None:
        self.nodes |= {node.id for node in found.nodes}
        self.edges |= {edge.key for edge in found.edges}

    def remove_findings(self, found: Extraction) -> None:
        self.nodes -= {node.id for node in found.nodes}
        self.edges -= {edge.key for edge in found.edges}


class Place(WithFakeGraph):
    def __init__(self, workspace: Workspace, settings: Settings = WITH_MODEL) -> None:
        super().__init__(workspace, settings, cognee=Cognee())

    def run(self, kind: str, payload: dict[str, Any], job_id: str = "job", **fields: Any) -> Succeeded | Failed:
        how = {"at": EARLIER, "submitted_at": None, "job_sha256": "0" * 64, "redactions": {}, **fields}
        return outcome(self, kind, payload, job_id, now=NOW, **how)

    def cognify(self, **fields: Any) -> dict[str, Any]:
        """The result of a job that succeeds, as its schema has it."""
        found = done(self.run("cognify", fields, fields.pop("job_id", "job")))
        jsonschema_rs.validate(published("result.cognify"), found)
        return found

    def failed(self, **fields: Any) -> JobError:
        return refused(self.run("cognify", fields, fields.pop("job_id", "job")))

    def ask(self, question: str = "Which database?") -> dict[str, Any]:
        found = done(self.run("ask", {"question": question}))
        jsonschema_rs.validate(published("result.ask"), found)
        return found

    def forget(self, memory_id: str) -> None:
        with self.store.change(clock.iso(NOW)) as change:
            change.dropped.append(memory_id)
            change.tombstones.append(memory_id)


def open_place(folder: Path, settings: Settings = WITH_MODEL) -> Place:
    workspace = Workspace(folder)
    workspace.memory.mkdir(mode=0o700, parents=True)
    return Place(workspace, settings)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with open_place(tmp_path / "place") as found:
        yield found


def test_without_a_language_model_the_texts_are_kept_and_the_job_ends_at_once(tmp_path: Path) -> None:
    with open_place(tmp_path / "place", Settings()) as place:
        error = place.failed(texts=["Atlas uses Postgres.", "Redis too."])
        assert error.code == "LLM_NOT_CONFIGURED"
        assert not error.retryable
        assert "LLM_API_KEY" in error.remediation
        assert "The 2 texts are kept" in error.message
        kept = [place.store.get(memory_id) for memory_id in error.details["memory_ids"]]
        assert [memory.text for memory in kept if memory] == ["Atlas uses Postgres.", "Redis too."]
        assert place.fake.looked == []
        assert place.failed().code == "LLM_NOT_CONFIGURED"


def test_each_text_becomes_a_memory_and_is_looked_into_once(place: Place) -> None:
    result = place.cognify(texts=["Atlas uses Postgres.", "Redis too.", "Redis too."])
    assert place.fake.looked == ["Atlas uses Postgres.", "Redis too."]
    assert [memory["memory_number"] for memory in result["memories"]] == [1, 2]
    assert (result["looked_into"], result["nodes"], result["edges"]) == (2, 5, 4)
    assert (result["calls"], result["tokens"], result["failures"]) == (4, 400, [])
    assert place.fake.told.keys() == {memory["memory_id"] for memory in result["memories"]}

    again = place.cognify(texts=["Redis too."], job_id="other")
    assert (again["looked_into"], again["before"], again["calls"]) == (0, 1, 0)
    assert place.cognify(texts=["Atlas uses Postgres.", "Redis too."]) == result  # the same job once more


def test_what_is_done_stays_done_when_the_provider_asks_for_a_pause(place: Place) -> None:
    pause = JobError("RATE_LIMITED", "429.", details={"retry_after_seconds": 7})
    place.fake.errors["Redis too."] = [pause]
    error = place.failed(texts=["Atlas.", "Redis too.", "Kafka."])
    assert (error.code, error.details["retry_after_seconds"]) == ("RATE_LIMITED", 7)
    assert (error.details["done"], error.details["total"]) == (1, 3)
    assert "looked into 1 of them, and that stays" in error.message
    result = place.cognify(texts=["Atlas.", "Redis too.", "Kafka."])
    assert place.fake.looked == ["Atlas.", "Redis too.", "Redis too.", "Kafka."]
    assert (result["looked_into"], result["calls"]) == (3, 8)


def test_a_bad_text_does_not_stop_the_rest(place: Place) -> None:
    place.fake.errors["Redis too."] = [JobError("LLM_FAILED"), JobError("LLM_FAILED")]
    for _ in range(2):
        error = place.failed(texts=["Redis too.", "Atlas.", "Kafka."])
        assert error.code == "LLM_FAILED"
        assert error.details["done"] == 2
        assert list(error.details["failed"].values()) == ["LLM_FAILED"]
    assert place.fake.looked == ["Redis too.", "Atlas.", "Kafka.", "Redis too."]


def test_three_bad_texts_in_a_row_are_not_the_texts_fault(place: Place) -> None:
    texts = [f"Text {n}." for n in range(5)]
    place.fake.errors = {text: [JobError("LLM_TIMEOUT")] for text in texts}
    assert place.failed(texts=texts).code == "LLM_TIMEOUT"
    assert place.fake.looked == texts[:3]


def test_a_text_that_the_provider_refuses_is_told_of_and_the_rest_is_done(place: Place) -> None:
    place.fake.errors["Redis too."] = [JobError("LLM_TEXT_REFUSED", "Too long."), JobError("LLM_TEXT_REFUSED")]
    result = place.cognify(texts=["Redis too.", "Atlas.", "Kafka."])
    assert place.fake.looked == ["Redis too.", "Atlas.", "Kafka."]
    assert result["looked_into"] == 2
    ((code, message),) = [(failure["code"], failure["message"]) for failure in result["failures"]]
    assert (code, message) == ("LLM_TEXT_REFUSED", "Too long.")
    error = place.failed(texts=["Redis too."], job_id="alone")
    assert (error.code, error.retryable) == ("LLM_TEXT_REFUSED", False)
    assert "The text is kept and found as a memory." in error.message


def test_no_text_is_lost_while_the_provider_rejects_one_and_then_has_no_time(place: Place) -> None:
    busy = JobError("RATE_LIMITED", details={"retry_after_seconds": 7})
    place.embedder.refused = {"rejected": JobError("EMBEDDING_FAILED", details={"status": 400}), "Kafka": busy}
    texts = ["A rejected one.", "Atlas.", "Kafka.", "Redis too."]
    error = place.failed(texts=texts)
    assert (error.code, error.details["retry_after_seconds"]) == ("RATE_LIMITED", 7)
    del place.embedder.refused["Kafka"]
    result = place.cognify(texts=texts)
    assert result["looked_into"] == 3
    assert [failure["code"] for failure in result["failures"]] == ["EMBEDDING_FAILED"]


def is_applied(place: Place, job_id: str) -> bool:
    return place.store.is_applied(AppliedJob(job_id, "0" * 64))


def test_a_job_is_applied_once_it_succeeds_whichever_text_fails(place: Place) -> None:
    place.fake.errors["Redis too."] = [JobError("LLM_TEXT_REFUSED")]
    assert place.cognify(texts=["Atlas.", "Redis too."])["looked_into"] == 1
    assert is_applied(place, "job")
    place.fake.errors["Kafka."] = [JobError("LLM_UNREACHABLE")]
    place.failed(texts=["Atlas.", "Kafka."], job_id="fails")
    assert not is_applied(place, "fails")
    place.cognify(texts=["Atlas."], job_id="nothing-left-to-do")
    assert is_applied(place, "nothing-left-to-do")


def test_a_bad_key_gives_up_at_the_first_text(place: Place) -> None:
    place.fake.errors["Atlas."] = [JobError("LLM_KEY_REFUSED")]
    assert not place.failed(texts=["Atlas.", "Kafka."]).retryable
    assert place.fake.looked == ["Atlas."]


def test_a_text_that_does_not_fit_what_is_left_of_the_budget_is_not_begun(tmp_path: Path) -> None:
    long = "word " * 600
    assert (least_calls(1), least_calls(510), least_calls(600)) == (2, 2, 4)
    with open_place(tmp_path / "place", Settings(llm_api_key="key", llm_calls_per_job=5)) as place:
        error = place.failed(texts=["Atlas.", long, "Kafka."])
        assert (error.code, error.retryable) == ("LLM_BUDGET_SPENT", True)
        assert "takes 4 calls or more, and of 5 there are 3 left (COGNEE_MEMORY_LLM_CALLS_PER_JOB)" in error.message
        assert error.details["retry_after_seconds"] == 3600
        assert place.fake.looked == ["Atlas."]


def test_files_are_read_inside_the_workspace_alone_and_a_bad_one_fails_alone(place: Place, tmp_path: Path) -> None:
    root = place.workspace.root
    (root / "notes.md").write_text("Atlas uses Postgres.")
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x00\xff")
    (root / "empty.txt").write_text(" \n")
    (root / "large.txt").write_text("x" * (place.settings.max_job_bytes + 1))
    (tmp_path / "outside.txt").write_text("Secret.")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    bad = ["picture.png", "empty.txt", "large.txt", "../outside.txt", "link.txt", "absent.txt", ".cognee_jobs/x.json"]
    result = place.cognify(paths=["notes.md", *bad])
    assert place.fake.looked == ["Atlas uses Postgres."]
    assert [memory["source"] for memory in result["memories"]] == ["notes.md"]
    assert {failure["source"] for failure in result["failures"]} == set(bad)
    assert all(failure["message"] for failure in result["failures"])

    error = place.failed(paths=["picture.png"], job_id="other")
    assert error.code == "ARGUMENT_INVALID"
    assert "picture.png" in error.message


def test_memories_of_any_type_may_be_named(place: Place) -> None:
    ingested = place.run("ingest", {"summary": {"topic": "Storage", "context": "Atlas uses Postgres."}}, "ingest")
    memory_id = done(ingested)["memory_id"]
    assert place.cognify(memory_ids=[memory_id])["looked_into"] == 1
    (text,) = place.fake.looked
    assert "Atlas uses Postgres." in text
    assert "Storage" in text
    error = place.failed(memory_ids=[memory_id, memory_id[:-1] + "x"])
    assert error.code == "MEMORY_NOT_FOUND"
    assert error.details["nearest"][0] == memory_id


def test_without_anything_named_all_raw_memories_are_looked_into(place: Place) -> None:
    for job_id, text in (("a", "Atlas."), ("b", "Kafka.")):
        place.run("ingest", {"summary_text": text}, job_id)
    place.run("ingest", {"summary": {"topic": "Storage", "context": "Structured."}}, "c")
    place.fake.errors["Kafka."] = [JobError("LLM_UNREACHABLE")]
    assert place.failed().code == "LLM_UNREACHABLE"
    result = place.cognify()
    assert place.fake.looked == ["Atlas.", "Kafka.", "Kafka."]
    assert result["looked_into"] == 2
    assert place.cognify(job_id="later")["memories"] == []


def test_a_text_that_was_forgotten_stays_forgotten(place: Place) -> None:
    place.forget(place.cognify(texts=["Atlas."])["memories"][0]["memory_id"])
    assert place.failed(texts=["Atlas."]).code == "MEMORY_FORGOTTEN"
    assert place.store.count() == 0
    done(place.run("cognify", {"texts": ["Atlas."]}, "later", at=LATER))


def test_nothing_is_kept_of_a_text_that_is_forgotten_while_it_is_looked_into(place: Place) -> None:
    graph_files.databases_of(place.workspace).mkdir(parents=True)
    (graph_files.databases_of(place.workspace) / "cognee_db").touch()

    def forget() -> None:
        for memory_id in place.store.all_ids():
            place.forget(memory_id)

    place.fake.during = forget
    assert place.failed(texts=["Atlas uses Postgres."]).code == "MEMORY_FORGOTTEN"
    assert place.store.extractions.data_ids() == []


def test_what_a_look_cut_off_has_written_is_gone_before_the_next(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    graph_files.databases_of(place.workspace).mkdir(parents=True)
    (graph_files.databases_of(place.workspace) / "cognee_db").touch()
    (memory,) = place.cognify(texts=["Atlas beside Postgres."], job_id="other")["memories"]

    place.fake.during = raising(KeyboardInterrupt)
    found = found_in(memory["memory_id"], "Postgres beside Ghost.")
    monkeypatch.setattr(place.fake, "written_of", lambda _: found)
    with pytest.raises(KeyboardInterrupt):
        place.cognify(texts=["Postgres beside Mysql."])
    place.fake.write_findings(found)  # another answer of the model than the next
    place.fake.during = lambda: None
    assert place.cognify(texts=["Postgres beside Mysql."])["looked_into"] == 1
    assert node_id("Ghost") not in place.fake.nodes
    assert {node_id("Atlas"), node_id("Postgres"), node_id("Mysql")} <= place.fake.nodes


def test_kills_while_the_model_thinks_are_not_put_down_to_the_graph(place: Place) -> None:
    """Else, after two of them, the whole graph would be taken for damaged and written anew."""
    graph_files.databases_of(place.workspace).mkdir(parents=True)
    (graph_files.databases_of(place.workspace) / "cognee_db").touch()
    place.run("ingest", {"summary_text": "Atlas beside Postgres."}, "ingest")
    place.store.outbox.note_opening()
    seen: list[str | None] = []
    place.fake.during = lambda: seen.append(database.meta(place.store._connection, "graph_openings"))
    place.cognify()
    assert seen == ["0"]


def test_findings_come_back_with_a_lost_graph_and_no_model_is_asked(place: Place) -> None:
    place.cognify(texts=["Atlas uses Postgres.", "Postgres beats Mysql."])
    nodes, edges, looked = set(place.fake.nodes), set(place.fake.edges), list(place.fake.looked)
    place.fake.nodes, place.fake.edges = set(), set()
    place.graph.rebuild(clock.iso(NOW))
    assert (place.fake.nodes, place.fake.edges, place.fake.looked) == (nodes, edges, looked)


def test_what_several_texts_have_goes_with_the_last_of_them(place: Place) -> None:
    graph_files.databases_of(place.workspace).mkdir(parents=True)
    (graph_files.databases_of(place.workspace) / "cognee_db").touch()
    result = place.cognify(texts=["Atlas beside Postgres.", "Postgres beside Mysql.", "Atlas beside Postgres, too."])
    first, second, third = [memory["memory_id"] for memory in result["memories"]]
    beside = (node_id("Atlas"), node_id("Postgres"), "beside")
    for _ in range(2):
        place.graph.forget_extractions([first])
        assert {node_id("Atlas"), node_id("Postgres"), node_id("Mysql")} < place.fake.nodes
        assert beside in place.fake.edges
        assert data_id_of(first) not in place.fake.nodes
    place.graph.forget_extractions([third])
    assert node_id("Atlas") not in place.fake.nodes
    assert beside not in place.fake.edges
    assert place.fake.nodes == {node_id("Postgres"), node_id("Mysql"), data_id_of(second)}
    place.graph.forget_extractions([second, first])
    assert (place.fake.nodes, place.fake.edges) == (set(), set())
    assert place.store.extractions.unread() == [first, second, third]


def test_a_hidden_memorys_findings_leave_the_graph_and_are_kept(place: Place) -> None:
    (memory,) = place.cognify(texts=["Atlas beside Postgres."])["memories"]
    with place.store.change(clock.iso(NOW)) as change:
        change.hidden.append(memory["memory_id"])
    place.graph.deliver([memory["memory_id"]])
    assert (place.fake.nodes, place.fake.edges, place.fake.told) == (set(), set(), {})
    assert place.store.extractions.known([memory["memory_id"]])


def test_a_setting_has_ingested_summaries_looked_into_by_a_job_of_their_own(tmp_path: Path) -> None:
    summary = {"summary": {"topic": "Storage", "context": "Atlas uses Postgres."}}
    for name, settings in (("off", WITH_MODEL), ("on", Settings(llm_api_key="key", cognify_on_ingest=True))):
        with open_place(tmp_path / name, settings) as place:
            for _ in range(2):
                ingested = place.run("ingest", summary, "ingest")
            place.run("ingest", {"summary_text": "A raw text."}, "raw")
            dropped = sorted(place.workspace.spool.root.glob("*.json"))
            memory_id = done(ingested)["memory_id"]
            if name == "off":
                assert dropped == []
                continue
            (job,) = dropped
            assert job.stem == f"cognify-1-{memory_id}"
            assert json.loads(job.read_text())["payload"] == {"memory_ids": [memory_id]}
            place.forget(memory_id)
            place.run("ingest", summary, "again", at=LATER)
            assert len(list(place.workspace.spool.root.glob(f"cognify-*-{memory_id}.json"))) == 2, "it is stored anew"


# --- ask ---


def test_an_answer_names_the_memories_that_it_rests_on_and_no_hidden_one(place: Place) -> None:
    result = place.cognify(texts=["Atlas beside Postgres.", "Postgres beside Mysql.", "Atlas beside Postgres, too."])
    first, second, third = [memory["memory_id"] for memory in result["memories"]]
    ingested = place.run("ingest", {"summary": {"topic": "Old", "context": "x", "status": "Superseded"}}, "ingest")
    summary = done(ingested)["memory_id"]
    with place.store.change(clock.iso(NOW)) as change:
        change.hidden.append(third)
    place.fake.links = (
        (node_id("Atlas"), node_id("Postgres")), (summary, "topic"), (third, data_id_of(third)),
        (data_id_of(second), node_id("Mysql")), ("d", "topic"),
    )  # fmt: skip
    answer = place.ask()
    assert [memory["memory_id"] for memory in answer["memories"]] == [first, summary, second]
    assert answer["memories"][0]["title"] == "Atlas beside Postgres."
    assert answer["memories"][1]["status"] == "Superseded"
    assert (answer["answer"], answer["llm"]) == ("Postgres, it seems.", True)
    assert answer["warnings"] == ["Some of the memories are superseded: see the status of each."]
    assert third not in place.fake.told  # the graph was told before it was asked


@pytest.mark.parametrize("question", ["How long do loans last?", "How long did loans last before?"])
def test_answers_put_what_holds_before_the_rest(place: Place, monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    old, new = "Loans last two weeks", "Loans last four weeks"
    for day, decision in (("2026-09-01", old), ("2026-10-01", new)):
        summary = {"topic": "Loans", "context": "Asked.", "decisions": [decision], "created_at": f"{day}T12:00:00Z"}
        place.run("ingest", {"summary": summary}, day)
    monkeypatch.setattr(judge, "replaces", lambda pairs, _: [0.95 for _ in pairs])
    comparison.compare_some(place.store)
    older, newer = (memory.id for memory in place.store.after(0, 2))
    place.fake.links, place.fake.context = ((older, "topic"),), f"Node: Loans\n{old}\n{old} of rest\n"
    answer = place.ask(question)
    (read,) = place.fake.read
    assert read == answer["context"] == f"Node: Loans\n{old} [replaced by #2, 2026-10-01: {new}]\n{old} of rest\n"
    found = {memory["memory_id"]: memory.get("standing", {}).get("state") for memory in answer["memories"]}
    asks_past = "before" in question
    assert list(found.items()) == ([] if asks_past else [(newer, "holds")]) + [(older, "replaced")]


def test_without_a_language_model_the_context_is_the_answer(tmp_path: Path) -> None:
    with open_place(tmp_path / "place", Settings()) as place:
        place.run("ingest", {"summary_text": "A raw text."}, "raw")
        answer = place.ask()
        assert (answer["answer"], answer["llm"], answer["context"]) == (None, False, "Nodes: …")
        assert "No language model is configured" in answer["warnings"][0]
        assert "rests on: 1." in answer["warnings"][1]


def test_an_answer_of_a_graph_that_refused_a_memory_says_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.run("ingest", {"summary": {"topic": "Storage", "context": "Atlas uses Postgres."}}, "ingest")
    with monkeypatch.context() as patched:
        patched.setattr(place.fake, "write", lambda *_: (_ for _ in ()).throw(JobError("GRAPH_WRITE_FAILED")))
        assert "refused 1 change" in place.ask()["warnings"][-1]
    place.graph.close()
    assert place.ask()["warnings"] == []


def test_before_an_answer_the_graph_has_all_that_waited(place: Place) -> None:
    ids = set()
    for number in range(30):
        ingested = place.run("ingest", {"summary": {"topic": f"Storage {number}", "context": "Atlas."}}, f"a{number}")
        ids.add(done(ingested)["memory_id"])
    assert place.fake.told.keys() == set()
    said: list[dict[str, Any]] = []
    place.run("ask", {"question": "Which database?"}, progress=said.append)
    assert place.fake.told.keys() == ids
    assert said[0]["message"] == "opening the knowledge graph; what is stored can be found"


def test_no_answer_comes_while_the_graph_keeps_a_forgotten_one(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (memory,) = place.cognify(texts=["Atlas beside Postgres."])["memories"]
    place.forget(memory["memory_id"])
    monkeypatch.setattr(place.fake, "delete", lambda _: (_ for _ in ()).throw(JobError("GRAPH_WRITE_FAILED")))
    error = refused(place.run("ask", {"question": "Which database?"}))
    assert (error.code, place.fake.asked) == ("GRAPH_WRITE_FAILED", [])


@pytest.mark.parametrize("code", ["LLM_KEY_REFUSED", "LLM_TIMEOUT", "RATE_LIMITED", "LLM_UNREACHABLE"])
def test_where_the_model_fails_the_context_is_the_answer_at_once(place: Place, code: str) -> None:
    place.fake.errors["Which database?"] = [JobError(code)]
    answer = place.ask()
    assert (answer["answer"], answer["context"], place.fake.asked) == (None, "Nodes: …", ["Which database?"])
    assert code in answer["warnings"][0]


def test_over_budget_no_model_is_asked(tmp_path: Path) -> None:
    with open_place(tmp_path / "place", Settings(llm_api_key="key", llm_calls_per_day=0)) as place:
        assert "LLM_BUDGET_SPENT" in place.ask()["warnings"][0]


def test_trouble_with_the_graph_is_the_jobs(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.fake, "ask", lambda *_: (_ for _ in ()).throw(JobError("GRAPH_UNAVAILABLE")))
    assert refused(place.run("ask", {"question": "Which database?"})).code == "GRAPH_UNAVAILABLE"
