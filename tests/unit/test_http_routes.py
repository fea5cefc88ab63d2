"""What an operator's program and the page ask over HTTP: the real server and real files, and no worker."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from harness import Place
from http_server import TOKEN, Reply, Running, undescribed
from shelf import Shelf, legacy, summary

from bridge.settings import load, user_file
from jobs import clock, spool
from jobs.errors import JobError
from jobs.kinds import KIND_NAMES
from jobs.model import Attempt, Record, encode
from jobs.record_cache import RecordCache
from worker.calls.table import CALLS
from worker.http import page as http_page, tickets
from worker.http.executor import RequestExecutor
from worker.mcp.answer import Answer
from worker.mcp.tools import TOOLS, call


def ended(number: int, state: str, code: str | None = None, kind: str = "ingest", **more: Any) -> Record:
    """A job that came so many minutes ago."""
    now = datetime.now(UTC)
    at = [clock.iso(now - timedelta(minutes=number) + timedelta(seconds=second)) for second in range(-3, 0)]
    error = None if code is None else JobError(code, f"What happened to {number}.").as_dict()
    result = {} if state == "succeeded" else None
    return Record(
        job_id=f"job-{number:03}", kind=kind, job_sha256="a" * 64, state=state, attempt=1, submitted_at=at[0],
        accepted_at=at[0], started_at=at[1], finished_at=at[2], elapsed_ms=1000, result=result, error=error,
        attempts=(Attempt(1, at[1], at[2], "succeeded" if state == "succeeded" else "failed", code),), **more,
    )  # type: ignore[arg-type] # fmt: skip


class Operated:
    """A workspace with jobs and memories, served."""

    def __init__(self, base: Path) -> None:
        self.workspace = Place(base).workspace
        self.running = Running(RequestExecutor(self.workspace, lambda: None))

    def get(self, path: str, **headers: str | None) -> Reply:
        return self._checked("GET", path, self.running.ask(path, method="GET", **headers))

    def post(self, path: str, body: Any, **headers: str | None) -> Reply:
        return self._checked("POST", path, self.running.ask(path, body, **headers))

    def found(self, path: str) -> dict[str, Any]:
        reply = self.get(path)
        assert reply.status == 200, reply.data
        return dict(json.loads(reply.data))

    def code(self, path: str) -> tuple[int, str | None]:
        reply = self.get(path)
        return reply.status, reply.code

    def done(self, path: str, body: Any) -> dict[str, Any]:
        reply = self.post(path, body)
        assert reply.status in (200, 202), reply.data
        return dict(json.loads(reply.data))

    @staticmethod
    def _checked(method: str, path: str, reply: Reply) -> Reply:
        assert undescribed(method, path, reply) == []
        return reply

    def write(self, *records: Record) -> None:
        spool.write_records(self.workspace.spool, records)

    def keep(self, record: Record, payload: dict[str, Any]) -> None:
        """The worker's copy of an ended job."""
        copy = {"schema_version": 1, "job_id": record.job_id, "kind": record.kind, "payload": payload}
        self.workspace.spool.ended_copy(record.job_id).write_bytes(encode(copy))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    """Tests look at it, and change nothing."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        base = tmp_path_factory.mktemp("operated")
        monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(base / "config"))
        made = Operated(base)
        made.write(
            *(ended(number, "succeeded", correlation_id=f"chat-{number % 3}") for number in range(20)),
            *(ended(number, "failed", "TOPIC_NOT_FOUND", "compact") for number in range(20, 27)),
            ended(30, "failed", "LLM_NOT_CONFIGURED", "cognify"),
            ended(31, "cancelled", "CANCELLED"),
        )
        made.keep(ended(20, "failed"), {"topic_id": "<b>gone</b>"})
        Shelf(made.workspace.root).add(
            *(summary(f"m-{number}", "Words.", topic_id="even" if number % 2 == 0 else "odd") for number in range(10)),
            summary("old", "Words.", "Superseded", topic_id="odd", importance=0.5),
            legacy("raw", "<script>alert(1)</script>"),
        )
        yield made
        made.running.close()


@pytest.fixture(autouse=True)
def _same_settings(place: Operated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's, which lives as long as this module."""
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(place.workspace.root.parent / "config"))


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Operated]:
    """One that a test may change."""
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(tmp_path / "config"))
    made = Operated(tmp_path)
    yield made
    made.running.close()


# --- jobs ---


def test_jobs_are_listed_the_newest_first_page_by_page(place: Operated) -> None:
    whole = place.found("/v1/jobs?limit=500")
    ids = [job["job_id"] for job in whole["jobs"]]
    assert (len(ids), whole["total"], whole["next"]) == (29, 29, None)
    assert ids == sorted(ids), "in this workspace a lower number is a newer job"
    first = place.found("/v1/jobs?limit=16")
    second = place.found(f"/v1/jobs?limit=16&after={first['next']}")
    assert [job["job_id"] for page in (first, second) for job in page["jobs"]] == ids
    assert (first["total"], second["total"], second["next"]) == (29, 29, None)


JOB_FILTERS = [
    ("state=failed", 8), ("state=failed,cancelled", 9), ("kind=cognify", 1), ("error=TOPIC_NOT_FOUND", 7),
    ("state=failed&kind=compact&error=TOPIC_NOT_FOUND", 7), ("contains=job-00", 10), ("contains=chat-1", 7),
    ("contains=%3Cb%3E", 0), (f"contains={'x' * 256}", 0), ("state=rejected", 0),
]  # fmt: skip


@pytest.mark.parametrize(("query", "count"), JOB_FILTERS)
def test_a_list_of_jobs_is_filtered(place: Operated, query: str, count: int) -> None:
    found = place.found(f"/v1/jobs?limit=3&{query}")
    assert (found["total"], len(found["jobs"])) == (count, min(3, count))


NOT_MEANT = [
    ("limt=3", "limit"), ("limit=0", "1 to 500"), ("limit=501", "1 to 500"), ("limit=1_0", "whole number"),
    ("limit=%EF%BC%95", "whole number"), ("limit=", "whole number"), ("limit=3&limit=4", "twice"),
    ("state=fialed", "failed"), ("state=", "one of"), ("kind=ingset", "ingest"), ("error=TOPIC_NOT", "error"),
    ("contains=", "1 to 256"), (f"contains={'x' * 257}", "1 to 256"), (f"after={'x' * 5000}", "4096"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "said"), NOT_MEANT)
def test_what_cannot_be_meant_is_refused_with_what_is_near(place: Operated, query: str, said: str) -> None:
    reply = place.get(f"/v1/jobs?{query}")
    assert (reply.status, reply.code) == (400, "ARGUMENT_INVALID")
    assert said in json.loads(reply.data)["error"]


@pytest.mark.parametrize(
    "path", [call.path for call in CALLS if call.method == "GET" and call.name not in ("page", "asset")]
)
def test_no_route_takes_a_parameter_that_it_does_not_know(place: Operated, path: str) -> None:
    path = path.format(job_id="job-001", memory=1)
    assert place.code(f"{path}?callback=x") == (400, "ARGUMENT_INVALID")


def test_who_has_the_list_already_is_told_that_nothing_has_changed(own: Operated) -> None:
    own.write(ended(1, "succeeded"))
    for path in ("/v1/jobs", "/v1/status"):
        first = own.get(path)
        tag = first.headers["etag"]
        for known in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
            again = own.get(path, If_None_Match=known)
            assert (again.status, again.data, again.headers["etag"]) == (304, b"", tag)
        assert own.get(path, If_None_Match='"other"').status == 200
    assert own.get("/v1/jobs?limit=7").headers["etag"] != own.get("/v1/jobs").headers["etag"]
    tags = {path: own.get(path).headers["etag"] for path in ("/v1/jobs", "/v1/status")}
    own.write(ended(2, "failed", "INTERNAL"))
    for path, tag in tags.items():
        assert own.get(path, If_None_Match=tag).status == 200


def test_the_version_of_a_list_is_never_newer_than_its_rows(own: Operated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a client would believe that it has a change that it has not."""
    own.write(ended(1, "succeeded"))
    rows = RecordCache.rows

    def changed_after_the_rows(cache: RecordCache) -> Any:
        found = rows(cache)
        own.write(ended(2 + len(found), "succeeded"))
        return found

    before = own.found("/v1/jobs")["version"]
    monkeypatch.setattr(RecordCache, "rows", changed_after_the_rows)
    assert own.found("/v1/jobs")["version"] == before


def test_a_silent_worker_is_a_change_though_no_file_has_changed(own: Operated, monkeypatch: pytest.MonkeyPatch) -> None:
    own.workspace.spool.heartbeat.parent.mkdir(parents=True, exist_ok=True)
    own.workspace.spool.heartbeat.write_text("half of one")
    tag = own.get("/v1/status").headers["etag"]
    assert own.get("/v1/status", If_None_Match=tag).status == 304
    monkeypatch.setattr("worker.calls.queue.STALE_SECONDS", -1.0)
    assert own.get("/v1/status", If_None_Match=tag).status == 200


def test_another_process_gives_other_tags(own: Operated, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts versions from the start again."""
    tag = own.get("/v1/jobs").headers["etag"]
    monkeypatch.setattr("worker.http.replies._HERE", "another")
    assert own.get("/v1/jobs", If_None_Match=tag).status == 200


def test_a_job_is_shown_whole_with_what_was_asked(place: Operated) -> None:
    found = place.found("/v1/jobs/job-020")
    assert found["job"] == spool.read_record(place.workspace.spool, "job-020").as_dict()  # type: ignore[union-attr]
    assert found["asked"]["payload"] == {"topic_id": "<b>gone</b>"}, "data, as it is"
    assert found["in_flight"] is None
    assert place.found("/v1/jobs/job-021")["asked"] is None


def test_a_job_is_shown_with_its_document_if_that_is_asked_for(own: Operated) -> None:
    counts = ("found", "migrated", "already_migrated", "forgotten", "failed", "skipped", "remaining", "items_omitted")
    result = {**dict.fromkeys(counts, 0), "dry_run": True, "items": [], "warnings": []}
    own.write(replace(ended(1, "succeeded", kind="migrate"), result=result), ended(2, "succeeded"))
    assert own.found("/v1/jobs/job-001?markdown=true")["markdown"].startswith("# Migration\\: what would happen\n")
    assert "markdown" not in own.found("/v1/jobs/job-001")
    assert own.found("/v1/jobs/job-002?markdown=true")["markdown"] is None


def test_a_job_that_waits_in_the_inbox_is_shown_as_that(own: Operated) -> None:
    spool.drop(own.workspace.spool, "new", encode({"job_id": "new"}))
    assert own.found("/v1/jobs/new")["job"] == {"job_id": "new", "state": "in the inbox"}
    assert own.found("/v1/status")["waiting_in_inbox"] == 1


def test_a_record_that_cannot_be_read_is_said(own: Operated) -> None:
    own.workspace.spool.record("torn").write_bytes(b'{"job_id": "torn"')
    reply = own.get("/v1/jobs/torn")
    assert (reply.status, reply.code, b"damaged" in reply.data) == (404, "JOB_NOT_FOUND", True)
    assert own.found("/v1/jobs")["total"] == 0


@pytest.mark.parametrize(
    "job_id",
    ["none", "..", "%2e%2e", "..%2f..%2fworker%2ftoken", "..%5c..%5cworker%5ctoken", "JOB-001", "job-001.json", "con",
     "%00", "job-001%00", "x" * 65, "%ff", "job-001%0a"],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["", "/cancel", "/retry"])
def test_what_is_no_job_is_not_found_wherever_it_leads(place: Operated, job_id: str, verb: str) -> None:
    path = f"/v1/jobs/{job_id}{verb}"
    reply = place.running.ask(path, {}) if verb else place.running.ask(path, method="GET")
    assert reply.status == 404
    assert reply.code in ("JOB_NOT_FOUND", "HTTP_NO_ROUTE")
    assert TOKEN.encode() not in reply.data


# --- asking for something ---


@pytest.fixture(autouse=True)
def _no_worker_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("worker.calls.queue", "worker.admin.requests"):
        monkeypatch.setattr(f"{module}.launch.start", lambda workspace, **more: False)


def test_a_job_is_dropped_as_it_was_sent(own: Operated) -> None:
    sent = {"kind": "ingest", "payload": {"summaryText": "Topic: A\nContext: B"}, "maxAttempts": 2}
    reply = own.post("/v1/jobs", sent, X_Correlation_Id="chat-7")
    found = json.loads(reply.data)
    assert (reply.status, found["kind"]) == (202, "ingest")
    dropped = json.loads(own.workspace.spool.dropped(found["job_id"]).read_bytes())
    assert dropped["payload"] == sent["payload"]
    assert (dropped["correlation_id"], dropped["submitted_by"], dropped["max_attempts"]) == ("chat-7", "http", 2)
    named = own.done("/v1/jobs", {**sent, "job_id": "mine", "correlation_id": "own", "submitted_by": "me"})
    assert named["job_id"] == "mine"
    dropped = json.loads(own.workspace.spool.dropped("mine").read_bytes())
    assert (dropped["correlation_id"], dropped["submitted_by"]) == ("own", "me")
    assert own.done("/v1/jobs", {**sent, "job_id": "mine"})["job_id"] == "mine", "the same again is no other"


def test_a_job_for_what_is_not_in_the_store_is_not_dropped(own: Operated) -> None:
    job = {"kind": "compact", "payload": {"topicId": "typo", "preview": True}}
    assert own.post("/v1/jobs", job).outcome == (404, "TOPIC_NOT_FOUND")
    assert not spool.inbox(own.workspace.spool)
    own.done("/v1/jobs", {"kind": "rebuild", "payload": {}})
    assert own.post("/v1/jobs", job).status == 202, "a job that waits may bring it"


REJECTED: list[tuple[Any, int, str]] = [
    (b"{", 422, "JSON_INVALID"),
    (b"[]", 422, "JOB_INVALID"),
    (b'{"kind": "ingest", "kind": "forget", "payload": {}}', 422, "JSON_INVALID"),
    ({"kind": "ingset", "payload": {}}, 422, "KIND_UNKNOWN"),
    ({"kind": "noop", "payload": {}}, 422, "KIND_UNKNOWN"),
    ({"kind": "ingest", "payload": {}}, 422, "JOB_INVALID"),
    ({"kind": "rebuild", "payload": {}, "job_id": "../token"}, 422, "JOB_INVALID"),
    ({"kind": "rebuild", "payload": {}, "job_id": None}, 422, "JOB_INVALID"),
    ({"kind": "rebuild", "payload": {}, "schema_version": 2}, 422, "SCHEMA_VERSION_UNSUPPORTED"),
    ({"kind": "rebuild", "payload": {}, "job_id": "job-001"}, 409, "JOB_ID_CONFLICT"),
    ({"kind": "ingest", "payload": {"summary_text": "**Metadata:**\n- Status: Nope"}}, 422, "METADATA_BROKEN"),
]


def test_what_the_worker_would_reject_is_refused_at_once(own: Operated) -> None:
    own.write(ended(1, "succeeded"))
    for body, status, code in REJECTED:
        assert own.post("/v1/jobs", body).outcome == (status, code), body
    assert [path.name for path in own.workspace.spool.inbox.glob("*.json")] == []


def test_the_limits_of_the_settings_hold(own: Operated) -> None:
    job = {"kind": "rebuild", "payload": {}}

    def limited(**limits: str) -> tuple[int, str | None]:
        text = "".join(f"{name.lower()} = {value}\n" for name, value in limits.items())
        user_file(load()).write_text(text)
        reply = own.post("/v1/jobs", job)
        return reply.status, reply.code

    assert limited(MAX_JOB_BYTES="20") == (422, "FILE_TOO_LARGE")
    assert limited(MAX_ACTIVE_JOBS="0") == (422, "BACKLOG_FULL")
    assert limited(MIN_FREE_BYTES=str(10**14)) == (503, "DISK_FULL")
    assert limited() == (202, None)


@pytest.mark.parametrize("value", ["", "ü", "two words", "x" * 257])
def test_a_correlation_id_that_is_none_is_refused(place: Operated, value: str) -> None:
    reply = place.post(
        "/v1/jobs", {"kind": "rebuild", "payload": {}}, X_Correlation_Id=value.encode().decode("latin-1")
    )
    assert (reply.status, reply.code) == (400, "ARGUMENT_INVALID")


def test_a_job_is_asked_to_end_or_to_run_again(own: Operated) -> None:
    """Nobody works, so the request stays."""
    failed = ended(2, "failed", "INTERNAL")
    own.write(ended(1, "succeeded"), failed)
    own.keep(failed, {})
    assert own.done("/v1/jobs/job-002/retry", {}) == {
        "success": True, "job_id": "job-002", "requested": True, "obeyed": False, "state": "failed",
    }  # fmt: skip
    assert own.workspace.spool.retry("job-002").exists()
    assert own.done("/v1/jobs/job-001/cancel", {})["requested"] is False
    assert own.post("/v1/jobs/job-001/retry", {}).outcome == (409, "ARGUMENT_INVALID")
    assert own.post("/v1/jobs/job-001/retry", {"force": True}).status == 400
    assert own.post("/v1/jobs/none/retry", {}).status == 404


def test_many_jobs_are_asked_at_once(own: Operated) -> None:
    records = [*(ended(n, "failed", "INTERNAL") for n in range(3)), ended(3, "failed", "TOPIC_NOT_FOUND", "compact")]
    own.write(*records, ended(9, "succeeded"))
    for record in records:
        own.keep(record, {})
    found = own.done("/v1/jobs/retry", {"state": "failed", "error": "INTERNAL"})
    expected = (["job-000", "job-001", "job-002"], 3, [])
    assert (sorted(found["job_ids"]), found["requested"], found["skipped"]) == expected
    assert own.done("/v1/jobs/retry", {"kind": "compact"})["job_ids"] == ["job-003"]
    found = own.done("/v1/jobs/retry", {"job_ids": ["job-003", "job-009", "none", "../token"]})
    assert found["job_ids"] == ["job-003"]
    assert [each["job_id"] for each in found["skipped"]] == ["job-009", "none", "../token"]
    assert own.done("/v1/jobs/cancel", {"state": "queued"})["job_ids"] == []


NO_JOBS: list[dict[str, Any]] = [
    {}, {"job_ids": None}, {"job_ids": []}, {"job_ids": "job-001"}, {"job_ids": [1]}, {"job_ids": [""]},
    {"job_ids": ["x"] * 1001}, {"job_ids": ["job-001"], "state": "failed"}, {"state": None}, {"state": "succeeded"},
    {"state": ["failed"]}, {"stat": "failed"}, {"error": "NONE"}, {"kind": "all"},
]  # fmt: skip


@pytest.mark.parametrize("verb", ["cancel", "retry"])
def test_whoever_names_no_jobs_is_not_taken_to_mean_all(own: Operated, verb: str) -> None:
    own.write(ended(1, "failed", "INTERNAL"), ended(2, "succeeded"))
    for body in NO_JOBS:
        assert own.post(f"/v1/jobs/{verb}", body).outcome == (400, "ARGUMENT_INVALID"), body
    assert list(own.workspace.spool.control.iterdir()) == []


def test_the_worker_is_asked_for_what_is_about_no_single_job(own: Operated) -> None:
    for verb in ("pause", "resume", "drain", "prune"):
        found = own.done("/v1/control", {"request": verb})
        assert (found["request"], found["obeyed"], found["worker"]["alive"]) == (verb, False, False)
        assert own.workspace.spool.request(verb).exists()
    for body in ({}, {"request": "stop"}, {"request": ["pause"]}, {"request": "../pause"}, {"verb": "pause"}):
        assert own.post("/v1/control", body).status == 400


# --- how it stands ---


def test_the_status_says_what_there_is_and_why_jobs_failed(place: Operated) -> None:
    found = place.found("/v1/status")
    assert found["workspace"] == str(place.workspace.root)
    assert found["worker"] == {"alive": False, "heartbeat": None}
    assert found["jobs"]["counts"] == {"succeeded": 20, "failed": 8, "cancelled": 1}
    assert [(cause["code"], cause["count"]) for cause in found["jobs"]["causes"]] == [
        ("TOPIC_NOT_FOUND", 7), ("LLM_NOT_CONFIGURED", 1),
    ]  # fmt: skip
    assert (found["memory"]["memories"], found["memory_error"]) == (12, None)
    assert found["kinds"] == list(KIND_NAMES)


def test_a_store_that_cannot_be_read_hides_no_job(own: Operated) -> None:
    own.write(ended(1, "failed", "INTERNAL"))
    own.workspace.memory_db.write_bytes(b"no database" * 1000)
    found = own.found("/v1/status")
    assert (found["jobs"]["counts"], found["memory"]) == ({"failed": 1}, None)
    assert found["memory_error"]["code"] == "STORE_UNREADABLE"
    assert own.code("/v1/memories") == (503, "STORE_UNREADABLE")
    assert own.found("/v1/jobs")["total"] == 1


def test_activity_is_counted_in_equal_spans(place: Operated) -> None:
    found = place.found("/v1/activity?hours=1&buckets=4")
    assert (len(found["buckets"]), found["bucket_seconds"]) == (4, 900.0)
    assert sum(sum(bucket["ended"].values()) for bucket in found["buckets"]) == 29
    assert place.found("/v1/activity?hours=1e-1&buckets=1")["bucket_seconds"] == 360.0
    for query in ("hours=0", "hours=nan", "hours=inf", "hours=1e9", "hours=-1", "buckets=0", "buckets=501"):
        assert place.code(f"/v1/activity?{query}") == (400, "ARGUMENT_INVALID")


def test_rejected_files_are_listed_with_why(own: Operated) -> None:
    entry = own.workspace.spool.dropped("bad")
    entry.write_bytes(b"{<script>")
    spool.reject(own.workspace.spool, entry, JobError("JSON_INVALID"), None, clock.iso(clock.now()))
    found = own.found("/v1/rejected?limit=5")
    assert found["total"] == 1
    assert [(each["file"], each["kept_as"], each["error"]["code"], each["size"]) for each in found["files"]] == [
        ("bad.json", "bad.1.json", "JSON_INVALID", 9)
    ]


def test_a_workspace_of_somebody_else_is_closed_but_for_the_findings(own: Operated) -> None:
    own.write(ended(1, "succeeded"))
    own.workspace.owner_marker(own.workspace.spool.root).write_text("f" * 32)
    for path in ("/v1/status", "/v1/jobs", "/v1/jobs/job-001", "/v1/memories", "/v1/topics", "/v1/rejected",
                 "/v1/activity", "/v1/history", "/v1/review", "/v1/settings", "/v1/team"):  # fmt: skip
        assert own.code(path) == (500, "WORKSPACE_NOT_TRUSTED")
    for path, body in (("/v1/jobs", {"kind": "rebuild", "payload": {}}), ("/v1/control", {"request": "pause"}),
                       ("/v1/jobs/retry", {"state": "failed"}), ("/v1/jobs/job-001/cancel", {})):  # fmt: skip
        assert own.post(path, body).code == "WORKSPACE_NOT_TRUSTED"
    assert list(own.workspace.spool.control.iterdir()) == []
    assert own.found("/v1/doctor")["ok"] is False


def test_a_workspace_of_this_machine_alone_has_no_team(own: Operated) -> None:
    assert own.found("/v1/team")["team"] is None


# --- memories ---


def test_each_list_says_over_http_and_mcp_that_a_job_waits(own: Operated) -> None:
    own.done("/v1/jobs", {"kind": "ingest", "payload": {"summaryText": "Topic: A\nContext: B"}})
    said = ["1 job waits: what it stores is not found yet"]
    assert [own.found(path)["warnings"] for path in ("/v1/memories", "/v1/open", "/v1/topics")] == [said] * 3
    for tool in TOOLS:
        if tool.name in ("memory_recent", "memory_open", "memory_topics"):
            answer = call(tool, own.workspace, {})
            assert isinstance(answer, Answer)
            assert answer.structured["warnings"] == said


def test_memories_are_listed_the_newest_first_page_by_page(place: Operated) -> None:
    whole = place.found("/v1/memories")
    numbers = [memory["memory_number"] for memory in whole["memories"]]
    assert (numbers, whole["total"], whole["next"]) == (list(range(12, 0, -1)), 12, None)
    assert place.found("/v1/memories?limit=5")["next"] == "8"
    second = place.found("/v1/memories?limit=7&after=8")
    assert [memory["memory_number"] for memory in second["memories"]] == [7, 6, 5, 4, 3, 2, 1]
    assert (second["total"], second["next"]) == (12, None)


@pytest.mark.parametrize(
    ("query", "count"),
    [("topic_id=odd", 6), ("topic_id=odd&status=Superseded", 1), ("type=legacy", 1), ("type=decision_record", 0),
     ("status=Active&topic_id=even", 5)],
)  # fmt: skip
def test_a_list_of_memories_is_filtered(place: Operated, query: str, count: int) -> None:
    found = place.found(f"/v1/memories?{query}")
    assert (found["total"], len(found["memories"])) == (count, count)


@pytest.mark.parametrize("topic", ["ood", "%27%20OR%201=1--"])
@pytest.mark.parametrize("path", ["memories", "history"])
def test_a_filter_by_a_topic_that_no_memory_has_is_refused(place: Operated, path: str, topic: str) -> None:
    assert place.code(f"/v1/{path}?topic_id={topic}") == (404, "TOPIC_NOT_FOUND")


@pytest.mark.parametrize("query", ["status=active", "type=raw", "after=x", "after=0", "after=1e3", "topic_id="])
def test_a_filter_that_means_nothing_is_refused(place: Operated, query: str) -> None:
    assert place.code(f"/v1/memories?{query}") == (400, "ARGUMENT_INVALID")


def test_a_memory_is_shown_by_its_id_and_its_number_and_its_words_are_data(place: Operated) -> None:
    raw = place.get("/v1/memories/raw")
    assert raw.headers["content-type"] == "application/json"
    found = json.loads(raw.data)["memory"]
    assert found["summary_text"] == "<script>alert(1)</script>"
    assert place.found(f"/v1/memories/{found['memory_number']}")["memory"] == found
    for wanted in ("99", "none", "..", "%2e%2e%2f", "%27", "9" * 200):
        assert place.get(f"/v1/memories/{wanted}").status == 404


def test_topics_and_what_was_compacted_are_listed(place: Operated) -> None:
    assert place.found("/v1/review")["pairs"] == place.found("/v1/review?all=true")["pairs"] == []
    found = {topic["topic_id"]: topic for topic in place.found("/v1/topics")["topics"]}
    assert (found["even"]["memories"], found["odd"]["superseded"]) == (5, 1)
    assert place.found("/v1/history?limit=3&topic_id=odd")["compactions"] == []


# --- the page and signing in ---


def test_the_page_is_there_without_a_token_and_holds_no_data(place: Operated) -> None:
    page = place.get("/", Authorization=None)
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert str(place.workspace.root).encode() not in page.data
    assert TOKEN.encode() not in page.data
    assert page.headers["content-security-policy"] == http_page.POLICY
    assert "unsafe" not in http_page.POLICY
    named = re.findall(r'"/assets/([\w-]+\.js)"', page.data.decode())
    assert sorted(named) == sorted(path.name for path in http_page._FOLDER.glob("*.js"))  # before it is needed
    again = place.get("/", If_None_Match=page.headers["etag"])
    assert (again.status, again.headers["cache-control"]) == (304, "no-cache")
    assert again.headers["content-security-policy"] == http_page.POLICY


def test_every_file_of_the_page_is_served_by_its_name_with_its_type(place: Operated) -> None:
    folder = Path(http_page.__file__).parent.with_name("page")
    for path in folder.iterdir():
        if path.name == "index.html" or not path.is_file():
            continue
        reply = place.running.ask(f"/assets/{path.name}", method="GET", token=None)
        assert (reply.status, reply.data) == (200, path.read_bytes()), path.name
        assert not reply.headers["content-type"].startswith("text/html")
        assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "name",
    ["../http_page.py", "..%2fhttp_page.py", "%2e%2e%2fhttp_page.py", "..%5chttp_page.py", "%2fetc%2fpasswd",
     "/etc/passwd", "index.html", "", ".", "..", "%00", "app.js%00", "x/../app.js", "none.js", "__init__.py"],
)  # fmt: skip
def test_no_other_file_is_served_wherever_a_name_leads(place: Operated, name: str) -> None:
    assert place.running.ask(f"/assets/{name}", method="GET", token=None).outcome == (404, "HTTP_NO_ROUTE")


def test_a_ticket_signs_in_once(place: Operated) -> None:
    ticket = {"ticket": tickets.issue(TOKEN)}
    first = place.post("/v1/session", ticket, Authorization=None)
    assert json.loads(first.data) == {"success": True, "token": TOKEN, "workspace": str(place.workspace.root)}
    assert place.post("/v1/session", ticket, Authorization=None).outcome == (401, "HTTP_TICKET_INVALID")


@pytest.mark.parametrize(
    "body", [{}, {"ticket": None}, {"ticket": ""}, {"ticket": TOKEN}, {"ticket": ["x"]}, {"ticket": "1.x.y"}], ids=str
)
def test_what_is_no_ticket_signs_nobody_in(place: Operated, body: Any) -> None:
    assert place.post("/v1/session", body, Authorization=None).outcome == (401, "HTTP_TICKET_INVALID")


def test_without_a_token_nobody_can_send_much(place: Operated) -> None:
    assert place.post("/v1/session", {"ticket": "x" * 5000}, Authorization=None).status == 413
    assert place.post("/v1/session", {"ticket": "x", "y": 1}).status == 400


# --- every route ---


def test_looking_by_head_is_as_by_get_without_the_body(place: Operated) -> None:
    for path in ("/v1/status", "/v1/jobs", "/v1/memories", "/", "/healthz", "/openapi.json"):
        reply = place.running.ask(path, method="HEAD")
        assert (reply.status, reply.data) == (200, b"")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"])
def test_another_method_changes_nothing_and_is_told_which_there_are(place: Operated, method: str) -> None:
    look = {"GET", "HEAD"}
    for path, allowed in (
        ("/v1/jobs", {*look, "POST"}), ("/v1/control", {"POST"}), ("/v1/retrieve", {"POST"}), ("/", look),
        ("/healthz", look),
    ):  # fmt: skip
        reply = place.running.ask(path, method=method)
        assert (reply.status, reply.code) == (405, "HTTP_NO_ROUTE")
        assert set(reply.headers["allow"].split(", ")) == allowed
        assert not any(name.startswith("access-control") for name in reply.headers)


def test_every_answer_keeps_browsers_from_doing_more_with_it(place: Operated) -> None:
    for path, token in (("/v1/jobs", TOKEN), ("/v1/jobs", None), ("/none", TOKEN), ("/", None), ("/assets/x", None)):
        headers = place.running.ask(path, method="GET", token=token).headers
        said = {
            "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY",
            "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
        }  # fmt: skip
        assert {name: headers[name] for name in said} == said
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert not any(name.startswith("access-control") or name == "set-cookie" for name in headers)


@pytest.mark.parametrize(
    "path", [*(f"/v1/jobs{job}{verb}" for job in ("", "/job-020") for verb in ("/cancel", "/retry")),
             "/v1/jobs", "/v1/control"]
)  # fmt: skip
def test_nothing_is_changed_for_who_is_not_let_in(place: Operated, path: str) -> None:
    host = f"127.0.0.1:{place.running.port}"
    body = {"request": "pause", "kind": "rebuild", "payload": {}, "state": "failed"}
    refused: list[tuple[int, dict[str, Any]]] = [
        (401, {"token": None}),
        (401, {"token": TOKEN[:-1]}),
        (403, {"Host": f"evil.example:{place.running.port}"}),
        (403, {"Origin": "http://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": f"https://{host}"}),
        (403, {"Sec_Fetch_Site": "cross-site"}),
        (403, {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate"}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": "application/x-www-form-urlencoded"}),
        (415, {"Content_Type": None}),
    ]
    for status, how in refused:
        assert place.running.ask(path, body, **how).status == status, how
    assert list(place.workspace.spool.control.iterdir()) == []
    assert list(place.workspace.spool.inbox.glob("*.json")) == []


def test_a_link_leads_to_the_page_and_to_nothing_else(place: Operated) -> None:
    """That of ``cognee-memory open`` stands in a file, so for the browser it is another site's."""
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}
    assert place.running.ask("/", method="GET", token=None, **link).status == 200
    for path in ("/v1/jobs", "/healthz", "/assets/app.js", "/metrics"):
        assert place.running.ask(path, method="GET", **link).status == 403
    assert place.running.ask("/", method="GET", token=None, Sec_Fetch_Site="cross-site").status == 403, "framed, say"
    own = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors"}
    origin = f"http://127.0.0.1:{place.running.port}"
    assert place.running.ask("/v1/jobs", method="GET", Origin=origin, **own).status == 200


def test_a_request_in_a_body_is_no_request(place: Operated) -> None:
    host = f"Host: 127.0.0.1:{place.running.port}\r\n"
    inner = f"POST /v1/control HTTP/1.1\r\n{host}Authorization: Bearer {TOKEN}\r\n"
    head = f"POST /v1/session HTTP/1.1\r\n{host}Content-Type: application/json\r\nConnection: close\r\n"
    whole = f"{inner}Content-Type: application/json\r\nContent-Length: 20\r\n\r\n" + '{"request": "pause"}'
    for framing in (
        f"Content-Length: {len(whole)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{whole}",
        f"Content-Length: {len(whole)}\r\n\r\n{whole}",
        f"Content-Length: 0\r\nContent-Length: {len(whole)}\r\n\r\n{whole}",
        f"Transfer-Encoding: chunked, identity\r\n\r\n{whole}",
        f"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n{whole}",
    ):
        assert b" 200 " not in place.running.raw(f"{head}{framing}".encode()).partition(b"\r\n")[0]
    assert list(place.workspace.spool.control.iterdir()) == []


def test_the_token_given_twice_is_none(place: Operated) -> None:
    head = f"GET /v1/jobs HTTP/1.1\r\nHost: 127.0.0.1:{place.running.port}\r\nConnection: close\r\n"
    given = f"Authorization: Bearer {TOKEN}\r\n"
    assert place.running.raw(f"{head}{given}\r\n".encode()).startswith(b"HTTP/1.1 200 ")
    assert place.running.raw(f"{head}{given}{given}\r\n".encode()).startswith(b"HTTP/1.1 401 ")
