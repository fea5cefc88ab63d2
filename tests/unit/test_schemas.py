"""docs/schemas: current, true to what the program reads and writes, and usable as its page says."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import job_copies
import pytest
from contract import fields_of
from fake_embedder import FakeEmbedder
from fake_graph import FakeGraph, WithFakeGraph
from jsonschema_rs import Draft202012Validator, meta
from payload_cases import BAD, GOOD, STATEMENT, conversation, summary
from questions import answer_to

from bridge.graph.open_stores import Stores
from bridge.interface import answer_shapes, envelope, result_shapes
from bridge.interface.json_schema import Shape
from bridge.memory import Memory
from bridge.operations import Task, feedback, ingest, noop, rebuild, set_status
from bridge.search import hits, ranking
from bridge.search.question import parse_question
from bridge.settings import Settings
from bridge.slices import ignore_progress
from jobs import client, clock, lifecycle, schema as shapes, spool
from jobs.check import check
from jobs.errors import JobError
from jobs.kinds import BY_NAME, KIND_NAMES, Kind
from jobs.layout import Workspace
from jobs.lifecycle import Started, Succeeded
from jobs.model import Record, canonical_json, encode, job_digest
from jobs.parse import parse_job
from jobs.payloads import PAYLOADS
from jobs.states import State
from tools import examples_answers, examples_jobs, job_states, openapi, schemas as tool
from worker.app import Worker
from worker.calls import shapes as http_shapes

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SCHEMAS = {path.name: json.loads(path.read_text("utf-8")) for path in tool.FOLDER.glob("*.schema.json")}
EXAMPLES = {path.name: path.read_text("utf-8") for path in (tool.FOLDER / "examples").iterdir()}


def problems(file: str, value: Any) -> list[str]:
    """What the schema says against a value, after a way through JSON."""
    errors = validator(file).iter_errors(json.loads(json.dumps(value)))
    return [f"{error.instance_path}: {error.message}" for error in errors]


@cache
def validator(file: str) -> Draft202012Validator:
    return Draft202012Validator(SCHEMAS[f"{file}.schema.json"], validate_formats=True)


def known(shape: Shape) -> set[str]:
    return set(fields_of(shape))


def required(shape: Shape) -> set[str]:
    return {name for name, is_required in fields_of(shape).items() if is_required}


# --- the files ---


def test_every_generated_file_is_current() -> None:
    assert list(tool.stale(tool.FOLDER, tool.documents())) == [], "run: make schemas"
    for path, text in job_states.files().items():
        assert path.read_text("utf-8") == text, "run: make schemas"


def test_the_tool_writes_what_is_stale_and_checks_without_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "docs" / "schemas"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tool, "FOLDER", folder)
    monkeypatch.setattr(tool, "documents", cache(tool.documents))  # the same each time
    monkeypatch.setattr(openapi, "text", cache(openapi.text))
    (folder / "gone.schema.json").write_text("{}")
    monkeypatch.setattr("sys.argv", ["schemas", "--check"])
    assert tool.main() == 1
    assert [path.name for path in folder.iterdir()] == ["gone.schema.json"]
    monkeypatch.setattr("sys.argv", ["schemas"])
    assert tool.main() == 0
    assert "removed: docs/schemas/gone.schema.json" in capsys.readouterr().out
    assert list(tool.stale(folder, tool.documents())) == []
    monkeypatch.setattr("sys.argv", ["schemas", "--check"])
    assert tool.main() == 0


def test_every_schema_is_one_and_is_complete_in_itself() -> None:
    for name, schema in SCHEMAS.items():
        meta.validate(schema)
        references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema))
        assert {reference.removeprefix("#/$defs/") for reference in references} <= set(schema.get("$defs", {})), name


# --- the examples ---


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.endswith(".json") and name != "digest.json"])
def test_every_example_is_as_its_schema_says(name: str) -> None:
    kind = name.removesuffix(".json").split("-")[0]
    file = f"{kind}-response" if kind in tool.RESPONSES else kind
    assert problems(file, json.loads(EXAMPLES[name])) == []


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith("job-")])
def test_every_job_among_the_examples_is_accepted(name: str) -> None:
    job = json.loads(EXAMPLES[name])
    assert parse_job(job["job_id"], EXAMPLES[name].encode()).kind == job["kind"]
    assert problems(f"payload.{job['kind']}", job["payload"]) == []


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name.startswith("record-")])
def test_every_record_among_the_examples_is_read_back(name: str) -> None:
    record = Record.from_dict(json.loads(EXAMPLES[name]))
    assert record.state == name.removeprefix("record-").removesuffix(".json")
    assert record.as_dict() == json.loads(EXAMPLES[name])


def test_the_digests_are_those_of_the_program() -> None:
    found = json.loads(EXAMPLES["digest.json"])
    for entry in found:
        assert entry["job_sha256"] == job_digest(entry["kind"], entry["payload"])
        assert entry["canonical"] == canonical_json({"kind": entry["kind"], "payload": entry["payload"]})
        sent = {"schema_version": 1, "job_id": "a", "kind": entry["kind"], "payload": entry["payload"]}
        assert parse_job("a", encode(sent)).sha256 == entry["job_sha256"]
    assert len({entry["job_sha256"] for entry in found}) == len(found)


# --- schemas against models: what an asker writes ---

# The rules that no schema says, by the end of what the program says; and camel case, which it takes besides.
NOT_SAID = ("created_at", "goes without preview_digest", "needs the status Superseded", "cannot replace itself")
PAYLOAD_VALUES: list[tuple[Kind, Any]] = [
    *((kind, payload) for kind, payload, _ in GOOD if all(name.islower() for name in payload)),
    *((kind, payload) for kind, payload, says in BAD if not says.endswith(NOT_SAID)),
    ("ingest", {"summary": None}),
    ("ingest", summary(session_id="")),
    ("ingest", summary(topic_id="0193C7A2-7F3A-7000-8000-00000000000A", status="Final")),
    ("ingest", conversation() | {"session_id": "1"}),
    ("migrate", {"dry_run": None, "limit": None, "undo": None}),
    ("capture", {"tools": ["claude-code"], "session": "s", "reason": "session_end", "dry_run": None}),
    ("capture", {"tools": ["no-such-tool"]}),
    ("capture", {"tools": []}),
    ("capture", {"file": "a.md", "since": "2026-11-20", "limit": 1, "again": True}),
    ("capture", {"file": "a.md", "session": "s"}),
    ("capture", {"undo": "receipt"}),
    ("capture", {"undo": "receipt", "since": "2026-11-20"}),
    ("capture", {"include": ["a*"], "exclude": [""]}),
    ("forget", {"session": "claude-code/s"}),
    ("forget", {"session": "claude-code/s", "topic_id": "t"}),
    ("resolve", {"older": STATEMENT, "newer": STATEMENT, "verdict": "undecided", "reason": "r", "by": None}),
    ("resolve", {"older": STATEMENT, "newer": {"memory_id": "x", "statement": " "}, "verdict": "both"}),
    ("judge", {}),
    ("rebuild", {"what": None}),
    ("noop", {"sleep_ms": None, "outcome": "crash"}),
]


def refused(read: Callable[..., object], *arguments: Any) -> bool:
    try:
        read(*arguments)
    except JobError:
        return True
    return False


@pytest.mark.parametrize(("kind", "payload"), PAYLOAD_VALUES)
def test_schema_and_program_take_and_refuse_the_same_payloads(kind: Kind, payload: Any) -> None:
    accepted = not refused(check, PAYLOADS[kind], payload)
    job = {"schema_version": 1, "job_id": "a", "kind": kind, "payload": payload}
    assert (problems(f"payload.{kind}", payload) == []) == accepted
    assert (problems("job", job) == []) == accepted


def test_both_are_tried_for_every_kind_that_has_fields() -> None:
    assert set(PAYLOADS) - {kind for kind, _ in PAYLOAD_VALUES} == set(), "kinds without an example in PAYLOAD_VALUES"


JOB_CHANGES = [
    {"schema_version": 2},
    {"job_id": "A"},
    {"job_id": None},
    {"kind": "unheard-of"},
    {"payload": None},
    {"priority": 101},
    {"max_attempts": 0},
    {"timeout_seconds": 0},
    {"timeout_seconds": 86_401},
    {"submitted_by": "x" * 257},
    {"unknown": 1},
    {"payload": {"x": 1}},
    {"priority": None, "max_attempts": 100, "timeout_seconds": 0.5, "submitted_at": None},
]


@pytest.mark.parametrize("change", JOB_CHANGES)
def test_schema_and_program_take_and_refuse_the_same_jobs(change: dict[str, Any]) -> None:
    job = {"schema_version": 1, "job_id": "a", "kind": "check", "payload": {}} | change
    assert (problems("job", job) != []) == refused(parse_job, "a", encode(job))


# --- schemas against values: records, reasons, requests, the heartbeat ---


def every_record() -> Iterator[Record]:
    """The records of all short walks through the table, of one job that succeeds with a real result."""
    result = json.loads(EXAMPLES["record-succeeded.json"])["result"]
    errors = JobError("EMBEDDING_FAILED"), JobError("STORE_BUSY"), JobError("METADATA_BROKEN", details={"line": 1})
    events: list[lifecycle.Event] = [
        Started(), Succeeded(result), *map(lifecycle.Failed, errors), lifecycle.Crashed(),
        lifecycle.Interrupted("CHILD_DIED"), lifecycle.WorkerDied(), lifecycle.Cancelled(), lifecycle.Expired(),
        lifecycle.Replayed(),
    ]  # fmt: skip
    walk = [lifecycle.accept(parse_job(examples_answers.job_id(1), EXAMPLES["job-ingest-summary.json"].encode()), NOON)]
    for steps in range(5):
        yield from walk
        now = NOON + timedelta(seconds=steps)
        walk = [
            lifecycle.step(record, event, now)
            for record in walk
            for event in events
            if type(event) in lifecycle.TRANSITIONS[record.state]
        ]
    yield lifecycle.reject("a", JobError("JSON_INVALID"), NOON)


def test_every_record_of_the_lifecycle_is_as_the_schema_says() -> None:
    seen = set()
    for record in every_record():
        value = record.as_dict()
        assert problems("record", value) == []
        assert known(shapes.JobRecord) == required(shapes.JobRecord) == set(value)
        for attempt in value["attempts"]:
            assert known(shapes.Attempt) == required(shapes.Attempt) == set(attempt)
        if value["error"]:
            assert required(shapes.JobError) <= set(value["error"]) <= known(shapes.JobError)
        seen.add(record.state)
    assert seen == set(lifecycle.TRANSITIONS)


UNWRITTEN_RECORDS = [
    {"state": "queued"},
    {"success": None},
    {"success": False},
    {"result": None},
    {"result": {}},
    {"finished_at": None},
    {"finished_at": "2026-11-20T12:00:00+00:00"},
    {"error": JobError("POISON").as_dict()},
    {"attempt": -1},
    {"job_sha256": "x"},
]


@pytest.mark.parametrize("change", UNWRITTEN_RECORDS)
def test_a_record_that_the_program_would_not_write_is_not_as_the_schema_says(change: dict[str, Any]) -> None:
    record = json.loads(EXAMPLES["record-succeeded.json"])
    assert problems("record", record) == []
    assert problems("record", record | change) != []


def test_the_error_with_details_has_every_known_field() -> None:
    assert set(JobError("POISON", details={"n": 1}).as_dict()) == known(shapes.JobError)
    assert set(JobError("POISON").as_dict()) == required(shapes.JobError)
    assert problems("reason", json.loads(EXAMPLES["reason.json"]) | {"error": {"code": "lower case"}}) != []


def test_a_code_of_a_later_version_is_as_the_schema_says() -> None:
    record = json.loads(EXAMPLES["record-failed.json"])
    record["error"]["code"] = "CODE_OF_LATER_TIMES"
    assert problems("record", record) == []


def test_the_reason_and_the_requests_hold_the_known_fields(tmp_path: Path) -> None:
    place = Workspace(tmp_path).spool
    spool.prepare(place)
    kept = spool.reject(place, spool.drop(place, "a", b"{}"), JobError("JSON_INVALID"), None, "x")
    assert known(shapes.RejectionReason) == required(shapes.RejectionReason)
    assert set(json.loads(kept.with_suffix(".reason.json").read_bytes())) == known(shapes.RejectionReason)
    told = client.submit(place, "check", {})
    client.cancel(place, told.job_id)
    request = json.loads(place.cancel(told.job_id).read_bytes())
    assert set(request) == known(shapes.ControlRequest)
    assert problems("control", request) == []
    assert problems("control", request | {"generation": 0}) != []
    for verb in get_args(client.ControlVerb):
        client.request(place, verb)
        asked = json.loads(place.request(verb).read_bytes())
        assert set(asked) <= known(shapes.ControlRequest)
        assert problems("control", asked) == []


def test_the_heartbeat_of_a_real_worker_is_as_the_schema_says(tmp_path: Path) -> None:
    place = Workspace(tmp_path).spool
    spool.prepare(place)
    told = client.submit(place, "check", {})
    worker = Worker(Workspace(tmp_path), Settings(config_dir=tmp_path / "config"))
    try:
        worker._intake.scan()
        worker._heartbeat.state("ready")
        beat = json.loads(place.heartbeat.read_bytes())
    finally:
        worker._child.close()
        worker._scheduling.stop()
    assert problems("heartbeat", beat) == []
    assert known(shapes.Heartbeat) == required(shapes.Heartbeat) == set(beat)
    assert beat["counts"]["queued"] == 1
    assert told.job_id


def test_the_heartbeat_s_example_has_the_fields_of_a_running_job() -> None:
    beat = json.loads(EXAMPLES["heartbeat.json"])
    (running,) = beat["in_flight"]
    assert set(beat) == known(shapes.Heartbeat)
    assert set(running) == known(shapes.InFlight) == required(shapes.InFlight)
    assert set(running["progress"]) == known(shapes.Progress)
    assert set(beat["child"]) == known(shapes.ChildProcess) == required(shapes.ChildProcess)
    assert problems("heartbeat", beat | {"child": None, "in_flight": [running, running]}) == []
    assert problems("heartbeat", beat | {"in_flight": [running] * 3}) != [], "one between another, and no more"
    assert set(beat["counts"]) == required(shapes.Counts)
    ends = {"succeeded", "failed", "cancelled", "expired"}
    assert known(shapes.Counts) == required(shapes.Counts) | ends


# --- schemas against values: answers and results ---


class NotRebuilt(FakeGraph):
    is_editable = True

    def rebuild(self, now: str, progress: Any = None) -> int:
        return 0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def stores(workspace: Workspace) -> Iterator[Stores]:
    workspace.memory.mkdir(parents=True)
    with WithFakeGraph(workspace, embedder=FakeEmbedder()) as found:
        found.graph = NotRebuilt(found, found.fake)
        yield found


def task(job_id: str, kind: Kind, payload: dict[str, Any]) -> Task[Any]:
    return job_copies.task(kind, payload, job_id, at=clock.iso(NOON))


def result(outcomes: Any, job_id: str) -> dict[str, Any]:
    found = outcomes[job_id]
    assert isinstance(found, Succeeded), found
    return found.result


def test_results_are_as_the_schemas_say(stores: Stores) -> None:
    payloads = {
        "summary": {"summary": examples_jobs.SUMMARY},
        "again": {"summary": examples_jobs.SUMMARY},
        "talk": {"conversation": examples_jobs.CONVERSATION},
        "text": {"summary_text": EXAMPLES["template-v1.0.md"]},
    }
    outcomes = ingest.run_all(
        [task(name, "ingest", value) for name, value in payloads.items()], stores, NOON, ignore_progress
    )
    for name in payloads:
        found = result(outcomes, name)
        assert problems("result.ingest", found) == []
        assert set(found) == known(result_shapes.IngestResult) == required(result_shapes.IngestResult) | {"graph"}
        assert set(found["timings_ms"]) == known(result_shapes.IngestTimings)
    memory_id = result(outcomes, "summary")["memory_id"]
    change = task("a", "set_status", {"memory_id": memory_id, "status": "Superseded"})
    said = task("a", "feedback", {"memory_id": memory_id, "verdict": "wrong", "by": "agent"})
    for kind, operation, asked, shape, optional in (
        ("set_status", set_status, change, result_shapes.SetStatusResult, {"graph"}),
        ("feedback", feedback, said, result_shapes.FeedbackResult, set()),
        ("noop", noop, task("a", "noop", {}), result_shapes.NoopResult, set()),
    ):
        found = operation.run(asked, stores, NOON, ignore_progress)
        assert problems(f"result.{kind}", found) == []
        assert set(found) == known(shape) == required(shape) | optional


REBUILDS = [
    ("index", {"passages", "memories"}),
    ("graph", {"graph_memories"}),
    ("both", {"passages", "memories", "graph_memories"}),
]


@pytest.mark.parametrize(("what", "counted"), REBUILDS)
def test_a_rebuild_counts_what_it_made_anew(stores: Stores, what: str, counted: set[str]) -> None:
    found = rebuild.run(task("a", "rebuild", {"what": what}), stores, NOON, ignore_progress)
    assert problems("result.rebuild", found) == []
    assert set(found) == required(result_shapes.RebuildResult) | counted
    optional = {"passages", "memories", "graph_memories"}
    assert known(result_shapes.RebuildResult) == required(result_shapes.RebuildResult) | optional


def test_every_kind_that_runs_has_its_result_described() -> None:
    assert set(result_shapes.RESULTS) == set(KIND_NAMES)
    for kind in KIND_NAMES:
        operation = import_module(f"bridge.operations.{BY_NAME[kind].module}")
        for name, first in (("run_all", "tasks"), ("run", "task")):
            if run := getattr(operation, name, None):
                assert list(signature(run).parameters) == [first, "stores", "now", "progress"], kind
        assert hasattr(operation, "run") != hasattr(operation, "run_all")


def test_a_real_answer_is_as_the_schema_says(workspace: Workspace, stores: Stores) -> None:
    stores.store.add([(memory, None) for memory in examples_answers.memories()], clock.iso(NOON))
    settings = Settings(relevance_floor=0.0)
    found = answer_to(workspace, FakeEmbedder(), NOON, settings, query="uploader retry", max_results=9)
    assert problems("retrieval-response", found) == []
    assert known(answer_shapes.RetrievalSuccess) == required(answer_shapes.RetrievalSuccess) == set(found)
    optional = {"order", "time", "reranker", "searched_for", "feedback_weight"}
    assert known(answer_shapes.RankingUsed) - optional == required(answer_shapes.RankingUsed) == set(found["ranking"])
    timed = answer_to(workspace, FakeEmbedder(), NOON, settings, query="uploader retry in March")
    assert problems("retrieval-response", timed) == []
    assert known(answer_shapes.RankingUsed) - (optional - {"time"}) == set(timed["ranking"])
    assert known(answer_shapes.TimeUsed) == required(answer_shapes.TimeUsed) == set(timed["ranking"]["time"])
    assert {hit["memory_type"] for hit in found["results"]} == {"summary", "decision_record", "legacy"}


def test_an_answer_without_hits_is_as_the_schema_says(workspace: Workspace) -> None:
    found = answer_to(workspace, FakeEmbedder(), NOON, Settings(), query="history of it")
    assert found["results"] == []
    assert problems("retrieval-response", found) == []


STRUCTURED = {"decisions", "rationale", "open_questions", "next_steps", "references"}


@pytest.mark.parametrize("memory", examples_answers.memories(), ids=lambda memory: memory.kind)
def test_a_hit_of_each_kind_has_its_fields(memory: Memory) -> None:
    asked = parse_question({"query": "x"}, NOON)
    found = hits.hit(memory, ranking.factors(memory, ranking.relevance(1, 1, 1), asked.ranking), "text", 1)
    more = {"legacy": set(), "summary": STRUCTURED, "decision_record": STRUCTURED | {"compaction_source"}}
    assert set(found) == required(answer_shapes.RetrievalHit) | more[memory.kind]
    every = required(answer_shapes.RetrievalHit) | STRUCTURED | {"compaction_source", "best_passages", "rerank_score"}
    optional = {"feedback", "feedback_multiplier", "fit", "in_code", "standing"}
    assert known(answer_shapes.RetrievalHit) == every | optional


@pytest.mark.parametrize("details", [{}, {"n": 1}])
def test_a_failure_has_its_fields(details: dict[str, Any]) -> None:
    error = JobError("MODEL_MISSING", details=details)
    failed = {**envelope.failure(error), "results": [], "total_results": 0, "total_tokens": 0}
    assert problems("retrieval-response", failed) == []
    assert set(failed) == required(answer_shapes.RetrievalFailure) | ({"error_details"} if details else set())
    assert known(answer_shapes.RetrievalFailure) == required(answer_shapes.RetrievalFailure) | {"error_details"}


def test_an_answer_is_either_a_success_or_a_failure() -> None:
    mixed = json.loads(EXAMPLES["retrieval-mixed.json"])
    assert problems("retrieval-response", mixed | {"success": False}) != []
    assert problems("retrieval-response", {name: value for name, value in mixed.items() if name != "as_of"}) != []


# --- TypeScript ---

TYPES = (tool.FOLDER / tool.TYPES).read_text("utf-8")
DECLARED = set(re.findall(r"^export (?:interface|type) (\w+)", TYPES, re.MULTILINE))


def test_the_types_declare_everything_that_the_schemas_define() -> None:
    titles = {schema["title"] for schema in SCHEMAS.values()}
    definitions = {name for schema in SCHEMAS.values() for name in schema.get("$defs", {})}
    assert titles | definitions <= DECLARED
    wanted = "JobFile JobRecord JobError Heartbeat RetrievalResponse RetrievalHit IngestPayload Camel"
    assert set(wanted.split()) <= DECLARED


def test_every_name_that_the_types_use_is_declared_in_them() -> None:
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"[^"]*"|`[^`]*`', "", TYPES, flags=re.DOTALL)
    parameters = {"K", "S", "T", "Head", "Tail", "Item", "Name", "Each"}
    own = {"Capitalize", "Omit", "Partial", "Pick"}  # TypeScript's
    assert set(re.findall(r"\b[A-Z]\w*", code)) <= DECLARED | parameters | own


def test_the_types_are_balanced_and_each_is_declared_once() -> None:
    code = re.sub(r'/\*.*?\*/|"[^"]*"', "", TYPES, flags=re.DOTALL)
    for opening, closing_ in ("{}", "()", "[]"):
        assert code.count(opening) == code.count(closing_)
    names = re.findall(r"^export (?:interface|type) (\w+)", TYPES, re.MULTILINE)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ["Heartbeat", "QueueStatus", "RetrievalHit", "RetrievalSuccess", "IngestResult"])
def test_an_interface_has_the_fields_of_its_schema(name: str) -> None:
    modules = (shapes, answer_shapes, result_shapes, http_shapes)
    (shape,) = (getattr(module, name) for module in modules if hasattr(module, name))
    assert set(declared_fields(name)) == known(shape)
    assert set(declared_fields(name, optional="")) == required(shape)


STATES = {
    "ActiveRecord": {"queued", "running"},
    "RetryingRecord": {"retrying"},
    "SucceededRecord": {"succeeded"},
    "FailedRecord": {"failed", "expired"},
    "CancelledRecord": {"cancelled"},
    "RejectedRecord": {"rejected"},
}


def test_the_record_of_each_state_has_all_fields_of_a_record() -> None:
    declared = {name: declared_fields(name) for name in ("RecordFields", *STATES)}
    for name in STATES:
        assert set(declared["RecordFields"]) | set(declared[name]) == known(shapes.JobRecord)
        assert set(re.findall(r'"(\w+)"', declared[name]["state"])) == STATES[name]
    assert set().union(*STATES.values()) == set(get_args(State))
    assert declared["SucceededRecord"]["result"] == "Results[K]"
    assert declared["RejectedRecord"]["kind"] == "null"


def declared_fields(name: str, optional: str = r"\??") -> dict[str, str]:
    """The fields of an interface, with their types."""
    found = re.search(rf"export interface {name}\b.*? \{{\n(.*?)\n\}}", TYPES, re.DOTALL)
    return dict(re.findall(rf"^  (\w+){optional}: (.*);$", found[1], re.MULTILINE))


def test_each_route_has_its_types() -> None:
    """Those with a JSON answer; the others are text and pages."""
    described = json.loads(openapi.FILE.read_text("utf-8"))["paths"]
    wanted = {f"{method.upper()} {path}" for path in described for method in described[path]}
    wanted -= {"GET /metrics", "GET /", "GET /assets/{name}"}
    assert set(re.findall(r'^  "((?:GET|POST) \S+)": \{$', TYPES, re.MULTILINE)) == wanted


# --- the page ---

PAGE = (tool.FOLDER / "README.md").read_text("utf-8")
PROTOCOL = (tool.FOLDER.parent / "job-protocol.md").read_text("utf-8")


def test_the_page_names_every_file() -> None:
    for name in tool.documents():
        kind = re.fullmatch(r"(payload|result)\.(\w+)\.schema\.json", name)
        if kind:
            assert f"\n| `{kind[1]}.<kind>.schema.json` |" in PAGE
            assert f"`{kind[2]}`" in PROTOCOL.partition("\n## Kinds\n")[2], "the list that the page links to"
        else:
            assert f"`{name}`" in PAGE or name.startswith("examples/")


def test_the_page_s_worked_example_is_right() -> None:
    entry = next(e for e in json.loads(EXAMPLES["digest.json"]) if e["about"].startswith("names are sorted"))
    assert f"\n    {entry['canonical']}\n" in PAGE
    assert f"\n    {entry['job_sha256']}\n" in PAGE
    assert f"these {len(entry['canonical'].encode())} bytes" in PAGE


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_s_code_gives_the_digests_of_the_program(tmp_path: Path) -> None:
    code = re.search(r"```js\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "digest.mjs").write_text(
        code[1]
        + 'import { readFileSync } from "node:fs";\n'
        + 'for (const e of JSON.parse(readFileSync(0, "utf8"))) console.log(jobSha256(e.kind, e.payload));\n',
        "utf-8",
    )
    digests = EXAMPLES["digest.json"]
    ran = subprocess.run(
        ["node", str(tmp_path / "digest.mjs")], input=digests.encode(), capture_output=True, check=True
    )
    assert ran.stdout.decode().split() == [entry["job_sha256"] for entry in json.loads(digests)]
