"""What a real worker shows of itself to whoever watches: figures, readiness, a log that names each job, and no key."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import loopback
import pytest
from harness import Place, RealWorker, until
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from jobs import files, spool
from worker.monitoring.metrics import METRICS, PREFIX

KEY = "sk-quoted-by-the-provider-0123456789"


class Quoting(loopback.Handler):
    """A provider whose errors quote a key that it was not even sent."""

    def do_POST(self) -> None:
        self.body()
        data = json.dumps({"error": {"message": f"no such model for {KEY}"}}).encode()
        self.answer(data, 400, {"Content-Type": "application/json"})


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    with loopback.serving(Quoting) as port:
        yield f"http://127.0.0.1:{port}/v1"


class Watched(Place):
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log().splitlines()]

    def families(self) -> list[Metric]:
        answer = self.asked("GET", "/metrics")
        assert answer.status_code == 200, answer.text
        return list(text_string_to_metric_families(answer.text))

    def figure(self, name: str, **labels: str) -> float | None:
        samples = (sample for family in self.families() for sample in family.samples)
        return next((each.value for each in samples if (each.name, each.labels) == (PREFIX + name, labels)), None)


@pytest.fixture(scope="module")
def running(provider: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Watched, RealWorker]]:
    place = Watched(
        tmp_path_factory.mktemp("watched"),
        COGNEE_MEMORY_LOG_FORMAT="json",
        COGNEE_MEMORY_MAX_CRASHES="1",
        EMBEDDING_PROVIDER="openai_compatible",
        EMBEDDING_MODEL="made-up",
        EMBEDDING_DIMENSIONS="8",
        EMBEDDING_ENDPOINT=provider,
        EMBEDDING_API_KEY="sk-another-that-is-sent",
        LLM_API_KEY=KEY,
    )
    with place.worker() as worker:
        yield place, worker


@pytest.fixture
def place(running: tuple[Watched, RealWorker]) -> Watched:
    return running[0]


def test_a_dropped_jobs_correlation_id_is_in_every_line_about_it_and_in_its_record(place: Watched) -> None:
    job_id = place.submit("noop", {"outcome": "crash"}, correlation_id="ticket-7")
    record = place.ended(job_id)
    assert (record.state, record.correlation_id) == ("failed", "ticket-7")

    def told() -> list[dict[str, Any]] | None:
        about = [line for line in place.lines() if line.get("job_id") == job_id]
        return about if any(line["message"] == "failed" for line in about) else None

    about = until(told, "the log tells of the end")
    assert {line["correlation_id"] for line in about} == {"ticket-7"}
    assert [line["logger"] for line in about if line["message"].startswith("the child ended")] == [
        "worker.child.supervisor"
    ]
    assert about[-1]["code"] == "POISON"
    own = place.ended(place.submit("noop", {}))
    assert own.correlation_id == own.job_id
    place.spool.dropped("half").write_text('{"job_id": "half"')
    assert place.ended("half").correlation_id == "half"


def test_the_command_line_gives_a_job_a_correlation_id(place: Watched) -> None:
    found = place.json("ingest", "Which store?", "Sqlite.", "--correlation-id", "chat-12", "--no-wait", "--no-start")
    assert found["correlation_id"] == "chat-12"
    assert place.ended(found["job_id"]).correlation_id == "chat-12"
    long = place.json("ingest", "a", "b", "--correlation-id", "x" * 257, "--no-start")
    assert long["error_code"] == "ARGUMENT_INVALID"


def test_figures_tell_what_happened_in_names_that_are_published(place: Watched) -> None:
    def value(name: str, **labels: str) -> float:
        return place.figure(name, **labels) or 0

    def succeeded() -> int:
        return len(place.json("jobs", "list", "--kind", "noop", "--state", "succeeded")["jobs"])

    before = succeeded()
    crashes = value("child_ends_total", reason="died")
    rejected = value("jobs_rejected_total", code="JSON_INVALID")
    for _ in range(3):
        place.ended(place.submit("noop", {}))
    place.ended(place.submit("noop", {"outcome": "crash"}))
    place.spool.dropped("broken").write_text("{")
    place.ended("broken")
    until(lambda: value("jobs_rejected_total", code="JSON_INVALID") == rejected + 1, "the file is counted")
    until(lambda: value("child_ends_total", reason="died") == crashes + 1, "the crash is counted")
    assert succeeded() == before + 3
    until(lambda: value("jobs_ended_total", kind="noop", state="succeeded") == before + 3, "each is counted once")
    assert value("job_wait_seconds_count", kind="noop") >= 4
    assert value("worker_up") == 1
    assert value("http_requests_total", route="/metrics", method="GET", status="200") > 0
    assert value("process_resident_memory_bytes", process="worker") > 2**20
    assert {family.name for family in place.families()} >= {f"{PREFIX}{metric.name}" for metric in METRICS}


def test_it_is_ready_and_else_says_why(running: tuple[Watched, RealWorker]) -> None:
    place, worker = running
    until(lambda: place.asked("GET", "/readyz").status_code == 200, "it is ready")
    beat = place.spool.heartbeat
    os.kill(worker.process.pid, signal.SIGSTOP)
    try:
        said = json.loads(beat.read_bytes()) | {"heartbeat_at": "2020-01-01T00:00:00Z"}
        files.replace(beat, json.dumps(said).encode())
        answer = place.asked("GET", "/readyz")
        found = answer.json()
        assert (answer.status_code, found["error_code"], found["error_details"]) == (
            503,
            "NOT_READY",
            {"reason": "heartbeat"},
        )
        assert place.figure("worker_up") == 0
    finally:
        os.kill(worker.process.pid, signal.SIGCONT)
    until(lambda: place.asked("GET", "/readyz").status_code == 200, "it is ready again")


def test_a_key_that_a_provider_quotes_is_in_no_record_log_or_answer(place: Watched) -> None:
    job_id = place.submit("ingest", {"summary": {"topic": "Keys", "context": "Kept apart."}}, max_attempts=1)
    assert place.ended(job_id).error["message"].endswith("no such model for [hidden]")
    shown = place.cli("jobs", "show", job_id)
    assert "[hidden]" in shown.stdout
    place.asked("GET", "/metrics")
    assert KEY not in shown.stdout + shown.stderr + place.log()
    for path in (*place.spool.root.rglob("*"), place.spool.worker / "start.log"):
        assert path == place.spool.queue_db or not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_who_is_done_leaves_figures_of_its_own_run_alone(tmp_path: Path) -> None:
    place = Watched(tmp_path)
    with place.worker():
        place.ended(place.submit("noop", {}))
    assert json.loads(place.spool.counters.read_bytes())["counters"]["jobs_ended"] == [["noop", "succeeded", 1]]
    with place.worker():
        assert json.loads(place.spool.counters.read_bytes())["counters"] == {}
    assert list(spool.job_ids(place.spool.results))
