"""Everything works with the worker down as far as it can, and says what needs it."""

import json
import shlex
from typing import Any

import pytest
from harness import Place
from spooled_jobs import spooled

from jobs import clock, lifecycle
from jobs.errors import JobError
from worker.cli import builder

NEEDS = builder().needs
# They are no command about a workspace, end with it, or fetch something.
NOT_HERE = {
    *(command for command in NEEDS if command.split()[0] in ("team", "serve", "pool")),  # they need a team's database
    "model compare",  # it embeds every memory
    "review",  # without a pair, it only lists
    "demo", "setup", "model use", "model add", "capture install", "capture uninstall", "mcp", "open", "doctor",
    "worker", "worker run", "worker start", "worker restart",
}  # fmt: skip

# What else is to be said, so that the command could do its work.
ARGUMENTS = {
    "about": "file.py", "ask": "question", "capture disable": "codex", "capture enable": "codex",
    "capture forget": "codex/session --yes", "capture undo": "receipt", "cognify": "text", "compact": "topic",
    "completion": "bash", "context": "question", "explain": "question", "export": "--out out.jsonl",
    "feedback": "m helpful", "forget": "--topic-id t --yes", "import": "in.jsonl", "ingest": "question answer",
    "jobs cancel": "waits", "jobs retry": "wrong", "jobs dismiss": "wrong", "jobs show": "wrong",
    "jobs wait": "waits --timeout 20", "jobs watch": "--state failed --until-idle --kind ask",
    "memories set-status": "m Active", "memories show": "1", "purge": "--dry-run", "restore": "m",
    "retrieve": "question", "settings set": "max_results 10", "submit": "job.json",
}  # fmt: skip
FINDS_NOTHING = {"memories show": "MEMORY_NOT_FOUND"}


@pytest.fixture
def place(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr("jobs.launch.subprocess.Popen", lambda *_, **__: pytest.fail("a worker was started"))
    monkeypatch.setattr("jobs.client.time.sleep", lambda _: None)
    (place.workspace.root / "in.jsonl").write_text("{}\n")
    (place.workspace.root / "job.json").write_text('{"kind": "check", "payload": {}}')
    spooled(place.spool, "waits", at=clock.now())
    failed = lifecycle.Failed(JobError("TOPIC_NOT_FOUND"))
    spooled(place.spool, "wrong", lifecycle.Started(), failed, at=clock.now())
    return place


def answered(command: str, place: Place, *options: str) -> tuple[int, dict[str, Any]]:
    done = place.cli(*command.split(), *shlex.split(ARGUMENTS.get(command, "")), *options, "--json")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return done.returncode, found


def those(needs: str) -> list[str]:
    return sorted(command for command, what in NEEDS.items() if what == needs and command not in NOT_HERE)


@pytest.mark.parametrize("command", those("none"))
def test_what_needs_no_worker_goes_without_one(command: str, place: Place) -> None:
    status, found = answered(command, place)
    assert found.get("error_code") == FINDS_NOTHING.get(command), found
    assert status == (1 if command in FINDS_NOTHING else 0)


@pytest.mark.parametrize("command", those("starts"))
def test_a_job_waits_safely_for_the_next_worker(command: str, place: Place) -> None:
    options = ["--no-start"] if command == "jobs retry" else ["--no-start", "--no-wait"]
    status, found = answered(command, place, *options)
    assert status == 0, found
    job_id = found["job_id"]
    assert place.spool.dropped(job_id).exists() or place.spool.retry(job_id).exists()


@pytest.mark.parametrize("command", those("asks"))
def test_a_request_waits_for_the_next_worker(command: str, place: Place) -> None:
    status, found = answered(command, place)
    assert (status, found["obeyed"]) == (0, False)
    assert len(list(place.spool.control.iterdir())) == 1


@pytest.mark.parametrize("command", those("worker"))
def test_what_needs_a_worker_says_so(command: str, place: Place) -> None:
    status, found = answered(command, place)
    assert (status, found["error_code"]) == (3, "WORKER_NOT_RUNNING")
    assert found["remediation"]


def test_every_command_says_what_it_does_without_a_worker() -> None:
    assert {command for needs in ("none", "starts", "asks", "worker") for command in those(needs)} == (
        set(NEEDS) - NOT_HERE
    )
