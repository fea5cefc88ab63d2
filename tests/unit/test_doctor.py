"""The quick look: what each check says of given facts, and that no state of a workspace makes the look itself fail."""

import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import cross_encoder
import pytest
from fake_graph import WithFakeGraph
from harness import git, held, raising, sql

from bridge import trust
from bridge.capture import consent
from bridge.memory import Content, Memory, Metadata
from bridge.settings import USER_HOME, Settings, load
from bridge.store import inspection, mounts
from bridge.store.migrations import FORMAT
from bridge.transfer.lost_memories import SetAside
from jobs import client, clock, spool
from jobs.diagnostics import DIAGNOSTICS, GROUPS, LEVELS
from jobs.errors import JobError
from jobs.finding import Finding
from jobs.kinds import CAPTURE_TOOLS
from jobs.layout import Workspace
from jobs.model import Attempt, Record
from worker.cli import main
from worker.doctor import (
    bundle as doctor_bundle,
    capture as doctor_capture,
    fixes as doctor_fixes,
    installation as doctor_installation,
    machine as doctor_machine,
    queue as doctor_queue,
    settings as doctor_settings,
    stores as doctor_stores,
    team as doctor_team,
    worker as doctor_worker,
    workspace as doctor_workspace,
)
from worker.doctor.examination import Report, examine
from worker.hooks import installers
from worker.processes import Process
from worker.terminal import doctor_command
from worker.version import VERSION

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = clock.iso(NOW)
LOCAL = mounts.Mount("/", "ext4", events=True, wal=True)
NFS = mounts.Mount("/mnt", "nfs4", events=False, wal=False)
MIB = 1024 * 1024


def codes(findings: Iterator[Finding] | tuple[Finding, ...] | list[Finding]) -> set[str]:
    """Of what is worth a person's time."""
    return {finding.code for finding in findings if finding.level != "ok"}


def judged(checks: Any, facts: Any) -> set[str]:
    return {finding.code for check in checks for finding in check(facts)}


# --- what each check says of given facts ---

SETTINGS = Settings(max_active_jobs=10, keep_ended_jobs=5)
EMBEDDER = SETTINGS.embedding.identity

MACHINE = partial(
    SimpleNamespace, settings=SETTINGS, free=10**12, free_inodes=10**6, read_only=False, mount=LOCAL, watches=65536,
    instances=128, open_files=1024, free_ram=4096 * MIB, now=NOW, latest=NOW, heartbeat_at=NOW, heartbeat_file_at=NOW,
)  # fmt: skip


MACHINES = [
    ({}, set()),
    ({"free": 50 * MIB}, {"DISK_LOW"}),
    ({"free": 150 * MIB}, {"DISK_TIGHT"}),
    ({"free_inodes": 10}, {"INODES_LOW"}),
    ({"free_inodes": None, "watches": None, "instances": None, "open_files": None}, set()),
    ({"read_only": True}, {"DISK_READ_ONLY"}),
    ({"mount": NFS}, {"MOUNT_UNSAFE", "MOUNT_WITHOUT_EVENTS"}),
    ({"mount": NFS, "settings": Settings(allow_unsafe_mount=True)}, {"MOUNT_UNSAFE_ALLOWED", "MOUNT_WITHOUT_EVENTS"}),
    ({"watches": 8}, {"WATCHES_FEW"}),
    ({"instances": 1}, {"WATCHES_FEW"}),
    ({"open_files": 64}, {"OPEN_FILES_FEW"}),
    ({"free_ram": 9 * MIB}, {"RAM_LOW"}),
    ({"now": NOW.replace(year=1970)}, {"CLOCK_WRONG"}),
    ({"latest": NOW + timedelta(hours=2)}, {"CLOCK_WAS_AHEAD"}),
    ({"heartbeat_file_at": NOW - timedelta(minutes=2)}, {"CLOCK_OF_DISK"}),
]


@pytest.mark.parametrize(("change", "wanted"), MACHINES)
def test_the_machine(change: dict[str, Any], wanted: set[str]) -> None:
    assert judged(doctor_machine.CHECKS, MACHINE(**change)) == wanted


INSTALLATION = partial(
    SimpleNamespace, python=(3, 11), wanted_python=">=3.11,<3.14", installed=True,
    packages={"huey": ("3.5.4", "3.5.4"), "rich": ("14", None)}, taken=(), sqlite=(3, 40, 1), sqlite_lacks=(),
    config_folder=Path("/c"), config_is_writable=True, config_mode=0o600, config_has_key=True,
)  # fmt: skip


INSTALLATIONS = [
    ({}, set()),
    ({"python": (3, 10)}, {"PYTHON_UNSUPPORTED"}),
    ({"python": (3, 14)}, {"PYTHON_UNSUPPORTED"}),
    ({"packages": {"huey": (None, "3.5.4")}}, {"PACKAGE_MISSING"}),
    ({"packages": {"huey": ("3.6.0", "3.5.4")}}, {"PACKAGE_OTHER_VERSION"}),
    ({"taken": ("/site/jobs.py",)}, {"NAME_TAKEN"}),
    ({"installed": False}, {"NOT_INSTALLED"}),
    ({"sqlite": (3, 31, 0)}, {"SQLITE_LACKING"}),
    ({"sqlite_lacks": ("FTS5",)}, {"SQLITE_LACKING"}),
    ({"config_is_writable": False}, {"CONFIG_CLOSED"}),
    ({"config_mode": 0o644}, {"CONFIG_OPEN"}),
    ({"config_mode": 0o644, "config_has_key": False}, set()),
]


@pytest.mark.parametrize(("change", "wanted"), INSTALLATIONS)
def test_the_installation(change: dict[str, Any], wanted: set[str]) -> None:
    assert judged(doctor_installation.CHECKS, INSTALLATION(**change)) == wanted


def test_a_package_that_brings_a_module_with_our_name_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "RECORD").write_text("worker/__init__.py,,\nstranger/x.py,,\n")
    (tmp_path / "jobs.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = doctor_installation.Facts(Workspace(tmp_path), Settings())
    assert set(found.taken) == {str(tmp_path / "jobs.py"), "the package stranger"}


def beat(**change: Any) -> dict[str, Any]:
    return {
        "pid": 4, "state": "ready", "heartbeat_at": AT, "boot_id": "b", "version": VERSION, "embedder": EMBEDDER,
        "llm_configured": False, "watcher": "events", "http": None, "child": None, "in_flight": [], **change,
    }  # fmt: skip


WORKER = partial(
    SimpleNamespace, settings=SETTINGS, now=NOW, heartbeat=beat(), heartbeat_is_damaged=False, lock_is_safe=True,
    is_alive=True, note="", boot_id="b", successor=False, heartbeat_process=True, processes=[], token_mode=0o600,
    paused_since=None, http=None, log_errors=0,
)  # fmt: skip
OLD = clock.iso(NOW - timedelta(minutes=5))
GONE: dict[str, Any] = {"is_alive": False, "heartbeat_process": False, "token_mode": None}


WORKERS = [
    ({}, set()),
    ({"heartbeat": None, **GONE}, set()),
    ({"heartbeat": None, **GONE, "token_mode": 0o600}, {"HEARTBEAT_LEFT"}),
    ({"heartbeat": beat(state="stopped"), **GONE}, set()),
    ({"heartbeat": beat(heartbeat_at=OLD), **GONE, "note": "b"}, {"HEARTBEAT_LEFT", "WORKER_DIED"}),
    ({"heartbeat": beat(heartbeat_at=OLD)}, {"WORKER_SILENT"}),
    ({"heartbeat": beat(boot_id="another")}, {"HEARTBEAT_FOREIGN"}),
    ({"heartbeat_process": False}, {"HEARTBEAT_FOREIGN"}),
    ({"is_alive": False}, {"LOCK_GONE"}),
    ({"heartbeat": None, "heartbeat_is_damaged": True}, {"HEARTBEAT_DAMAGED"}),
    ({"lock_is_safe": False}, {"LOCK_UNSAFE"}),
    ({"successor": True}, {"SUCCESSOR_WAITS"}),
    ({"processes": [Process(1, "worker", False), Process(2, "worker", False)]}, {"WORKERS_MANY"}),
    ({"processes": [Process(1, "worker", False), Process(2, "worker", False, True)]}, set()),
    ({"processes": [Process(1, "child", True)]}, {"ORPHANS"}),
    ({"processes": [Process(1, "child", False)]}, set()),
    ({"heartbeat": beat(version="0.1.0")}, {"WORKER_OF_OTHER_VERSION"}),
    ({"heartbeat": beat(embedder="another")}, {"WORKER_OF_OTHER_SETTINGS"}),
    ({"settings": Settings(llm_tool="claude-code")}, {"WORKER_OF_OTHER_SETTINGS"}),
    ({"heartbeat": beat(child={"pid": 5, "memory_bytes": 4000 * MIB})}, {"CHILD_LARGE"}),
    ({"heartbeat": beat(child={"pid": 5, "memory_bytes": None})}, set()),
    ({"paused_since": NOW - timedelta(hours=1)}, {"PAUSED"}),
    ({"paused_since": NOW - timedelta(days=3)}, {"PAUSED_FOR_LONG"}),
    ({"heartbeat": beat(state="draining")}, {"LEAVING"}),
    ({"heartbeat": beat(watcher="failed")}, {"EVENTS_FAILED"}),
    ({"heartbeat": beat(http={"url": None, "problem": "in use"})}, {"HTTP_PROBLEM"}),
    ({"http": "nobody answers"}, {"HTTP_SILENT"}),
    ({"token_mode": 0o644}, {"TOKEN_OPEN"}),
    ({"log_errors": 3}, {"LOG_HAS_ERRORS"}),
]


@pytest.mark.parametrize(("change", "wanted"), WORKERS)
def test_the_worker(change: dict[str, Any], wanted: set[str]) -> None:
    assert judged(doctor_worker.CHECKS, WORKER(**change)) == wanted


def row(state: str = "queued", minutes: float = 0, code: str | None = None, **change: Any) -> dict[str, Any]:
    error = code and {"code": code, "message": "It went wrong.", "remediation": "Mend it."}
    at = clock.iso(NOW - timedelta(minutes=minutes))
    return {"job_id": "a", "kind": "ingest", "state": state, "accepted_at": at, "finished_at": None,
            "next_attempt_at": None, "error": error, "generation": 1, "attempt": 0, **change}  # fmt: skip


queue = partial(
    SimpleNamespace, settings=SETTINGS, now=NOW, rows=[], worker=True, runs=False, paused=False, leaving=False,
    follows_team=False, from_elsewhere=frozenset(), inbox=[], requests=[], rejected=0, damaged=[], copies_alone=[],
    without_copy=[], queue_file=None,
)  # fmt: skip
MINUTES = timedelta(minutes=1)
LATER = clock.iso(NOW + timedelta(hours=1))


QUEUES = [
    (queue(), set()),
    (queue(worker=False), {"WORKER_ABSENT"}),
    (queue(worker=False, follows_team=True), set()),
    (queue(rows=[row()], worker=False), {"JOBS_WITHOUT_WORKER"}),
    (queue(worker=False, inbox=[MINUTES]), {"JOBS_WITHOUT_WORKER"}),
    (queue(rows=[row(minutes=9)]), {"QUEUE_STUCK"}),
    (queue(rows=[row(minutes=9)], runs=True), set()),
    (queue(rows=[row(minutes=9)], paused=True), set()),
    (queue(rows=[row(minutes=9, next_attempt_at=LATER)]), set()),
    (queue(inbox=[5 * MINUTES]), {"INBOX_NOT_TAKEN"}),
    (queue(inbox=[5 * MINUTES], leaving=True), set()),
    (queue(requests=[5 * MINUTES]), {"REQUESTS_NOT_OBEYED"}),
    (queue(rows=[row("failed", 5, "POISON")]), {"JOBS_FAILED"}),
    (queue(rows=[row("rejected", 5, "JSON_INVALID")], rejected=1), {"JOBS_REJECTED"}),
    (queue(rejected=2), {"JOBS_REJECTED"}),
    (queue(rows=[row("rejected", 5, "FILE_TRACKED")], rejected=1), {"JOBS_FROM_ELSEWHERE"}),
    (queue(worker=False, from_elsewhere=frozenset({"x.json"})), {"JOBS_FROM_ELSEWHERE", "WORKER_ABSENT"}),
    (queue(rows=[row("retrying", 90, "DISK_FULL")], runs=True), {"JOBS_RETRYING"}),
    (queue(rows=[row("retrying", 9, "DISK_FULL")], runs=True), set()),
    (queue(rows=[row("retrying", 1, "CHILD_START_FAILED")], runs=True), {"CHILD_NOT_STARTING"}),
    (queue(rows=[row()] * 9), {"BACKLOG_LARGE"}),
    (queue(rows=[row("succeeded")] * 6), {"RECORDS_MANY"}),
    (queue(damaged=["a"]), {"RECORDS_DAMAGED"}),
    (queue(copies_alone=["a"]), {"COPIES_ALONE"}),
    (queue(queue_file="malformed"), {"QUEUE_FILE_DAMAGED"}),
]


@pytest.mark.parametrize(("facts", "wanted"), QUEUES)
def test_the_queue(facts: Any, wanted: set[str]) -> None:
    assert judged(doctor_queue.CHECKS, facts) == wanted


def test_failures_are_one_finding_a_cause_with_the_cause_s_own_remedy() -> None:
    failed = [row("failed", 5, "POISON")] * 3 + [row("failed", 5, "LLM_CONFIG")]
    found = list(doctor_queue.failed_jobs(queue(rows=failed)))
    assert [(each.subject, each.count, each.remedy) for each in found] == [
        ("POISON", 3, "Mend it."), ("LLM_CONFIG", 1, "Mend it."),
    ]  # fmt: skip
    error = {"code": "POISON", "message": "It died.", "remediation": "cognee-memory jobs retry <job_id>."}
    (found_one,) = doctor_queue.failed_jobs(queue(rows=[row("failed", 5, error=error)]))
    assert found_one.remedy == "cognee-memory jobs retry --error POISON."


def store(**change: Any) -> inspection.StoreStatus:
    it = inspection.StoreStatus(is_there=True, size=9, format=FORMAT, whole=[], embedder=EMBEDDER, memories=2, words=2)
    return replace(it, **change)


LONG_AGO = clock.iso(NOW - timedelta(hours=1))
WITH_GRAPH = {"graph_embedder": EMBEDDER}
STORE = partial(
    SimpleNamespace, settings=SETTINGS, now=NOW, model=None, stale=0, cognee=False, has_our_memories=False,
    has_graph=False, cut_off=[], quarantined=[], earlier=0, backups=[],
)  # fmt: skip


STORES = [
    ({}, {}, set()),
    ({"is_there": False, "format": 0}, {}, set()),
    ({"problem": JobError("STORE_UNREADABLE")}, {}, {"STORE_CLOSED"}),
    ({"problem": JobError("STORE_UNREADABLE", "file is not a database")}, {}, {"STORE_DAMAGED"}),
    ({"problem": JobError("STORE_NEWER")}, {}, {"STORE_OF_NEWER_FORMAT"}),
    ({"whole": None}, {}, {"STORE_NOT_READ_WHOLE"}),
    ({"whole": ["row missing"]}, {}, {"STORE_DAMAGED"}),
    ({"format": FORMAT - 1}, {}, {"STORE_OF_OLDER_FORMAT"}),
    ({"log_size": 10**9}, {}, {"LOG_OF_STORE_LARGE"}),
    ({"embedder": "other"}, {}, {"MODEL_CHANGED"}),
    ({"vectors_lacking": ["1.f32"]}, {}, {"VECTORS_LACKING"}),
    ({"words": 1}, {}, {"WORDS_LACKING"}),
    ({"words": -1, "uncompared": 11}, {}, {"WORDS_LACKING", "MEMORIES_UNCOMPARED"}),
    ({"words_outdated": True, "words": 0}, {}, {"INDEX_OF_OLDER_FORMAT"}),
    ({"unfinished": 1, "unfinished_since": LONG_AGO}, {}, {"FORGETTING_UNFINISHED"}),
    ({"unfinished": 1, "unfinished_since": AT}, {}, set()),
    ({"pending": 900}, {}, set()),
    ({"pending": 1, "meta": {"graph_failure": "GRAPH_UNAVAILABLE"}}, {}, {"GRAPH_BEHIND"}),
    ({"pending": 0, "meta": {"graph_failure": "GRAPH_UNAVAILABLE"}}, {}, set()),
    ({"refused": {"GRAPH_WRITE_FAILED": 2}}, {}, {"GRAPH_REFUSED"}),
    ({"meta": WITH_GRAPH}, {}, {"GRAPH_GONE"}),
    ({"meta": WITH_GRAPH}, {"has_graph": True}, set()),
    ({"meta": {"graph_embedder": "o"}}, {"has_graph": True}, {"GRAPH_OF_OTHER_MODEL"}),
    ({"meta": {**WITH_GRAPH, "graph_openings": "2"}}, {"has_graph": True}, {"GRAPH_DEADLY"}),
    ({}, {"cut_off": ["g.shadow"]}, {"GRAPH_CUT_OFF"}),
    ({}, {"quarantined": [9]}, {"SET_ASIDE"}),
    ({}, {"earlier": 1}, {"OLD_STORES"}),
    ({}, {"cognee": True}, {"OLD_STORES"}),
    ({}, {"cognee": True, "has_our_memories": True}, {"GRAPH_ORPHANED"}),
    ({"meta": WITH_GRAPH}, {"cognee": True, "has_our_memories": True, "has_graph": True}, set()),
    ({}, {"backups": ["b"]}, {"BACKUPS_LEFT"}),
]


@pytest.mark.parametrize(("change", "files", "wanted"), STORES)
def test_the_stores(change: dict[str, Any], files: dict[str, Any], wanted: set[str]) -> None:
    assert judged(doctor_stores.CHECKS, STORE(store=store(**change), **files)) == wanted


@pytest.mark.parametrize(("code", "wanted"), [("MODEL_MISSING", "MODEL_ABSENT"), ("MODEL_CORRUPT", "MODEL_WRONG")])
def test_the_model(code: str, wanted: str) -> None:
    assert judged(doctor_stores.CHECKS, STORE(store=inspection.StoreStatus(), model=JobError(code))) == {wanted}


def test_what_of_the_settings_has_no_effect_is_named_without_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "config.toml").write_text('llm_endpoint = "https://elsewhere.example"\n')
    dotenv = tmp_path / ".env"
    dotenv.write_text("LLM_API_KEY=sk-in-the-file\nCOGNEE_MEMORY_MAX_RESULT=3\nCOGNEE_MEMORY_MAX_TOKENS=9\n")
    env = {"COGNEE_MEMORY_CONFIG_DIR": str(config), "LLM_API_KEY": "sk-in-the-environment",
           "COGNEE_MEMORY_HTP": "1", "SYSTEM_ROOT_DIRECTORY": "/elsewhere"}  # fmt: skip
    settings = load(environment=env, workspace_env=dotenv, trusted=False)
    monkeypatch.setattr(doctor_settings, "inherited_environment", lambda: env)
    it = doctor_settings.Facts(Workspace(tmp_path), settings, False)
    expected = [("COGNEE_MEMORY_HTP", "COGNEE_MEMORY_HTTP"), ("COGNEE_MEMORY_MAX_RESULT", "COGNEE_MEMORY_MAX_RESULTS")]
    assert [(each.variable, each.near) for each in it.unknown] == expected
    assert (it.ignored, settings.dropped, it.cognees) == (["LLM_API_KEY"], ["llm_endpoint"], ["SYSTEM_ROOT_DIRECTORY"])
    assert "sk-" not in repr((it.unknown, it.ignored, settings.dropped, it.cognees))


def test_a_reranker_that_does_not_work_is_a_finding_and_one_that_works_is_none(tmp_path: Path) -> None:
    def found(**other: Any) -> list[str]:
        facts = SimpleNamespace(settings=Settings(**other))
        return [f"{each.code} {each.message}" for each in doctor_settings.reranker(facts)]

    assert found() == []
    (missing,) = found(rerank_model=str(tmp_path))
    assert missing.startswith("RERANKER_BROKEN ")
    assert "There is no model.onnx" in missing
    (unreachable,) = found(rerank_model="m", rerank_endpoint="http://127.0.0.1:1/", rerank_api_key="sk-rerank")
    assert "cannot be reached" in unreachable
    assert "sk-rerank" not in unreachable
    assert found(rerank_model=str(cross_encoder.make(tmp_path / "model", ["ready"]))) == []


# --- the whole look ---


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    workspace = Workspace(tmp_path / "workspace")
    workspace.root.mkdir()
    monkeypatch.setenv("COGNEE_MEMORY_CACHE_DIR", str(tmp_path / "cache"))
    return workspace


VERSION_OF, OWNERS = cache(doctor_installation.version_of), cache(lambda of=doctor_installation._owners: (*of(),))


@pytest.fixture
def used(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """With a memory, and the job that brought it. The packages of this installation are read once."""
    monkeypatch.setattr(doctor_installation, "version_of", VERSION_OF)
    monkeypatch.setattr(doctor_installation, "_owners", OWNERS)
    trust.adopt(workspace, load().config_folder)
    with WithFakeGraph(workspace) as stores:
        content = Content("Geese", "They fly.", decisions=("Use geese",))
        metadata = Metadata(topic_id="geese", status="Active", created_at=AT)
        stores.store.add([(Memory("m" * 8, 0, "summary", metadata, AT, content), "job-a")], AT)
    spool.write_records(workspace.spool, [ended("job-a")])
    return workspace


def ended(job_id: str, **change: Any) -> Record:
    attempt = Attempt(1, AT, AT, "succeeded")
    found = Record(job_id, "ingest", "a" * 64, "succeeded", attempt=1, accepted_at=AT, started_at=AT, finished_at=AT,
                   elapsed_ms=3, result={"memory_id": "m" * 8}, attempts=(attempt,))  # fmt: skip
    return replace(found, **change)


KNOWN = {"LLM_ABSENT", "SETTINGS_SET", "MODEL_ABSENT", "MODEL_CHANGED", "WORKER_ABSENT", "WORKSPACE_UNUSED",
         "WATCHES_FEW", "RAM_LOW", "DISK_TIGHT", "MOUNT_WITHOUT_EVENTS", "MOUNT_UNSAFE"}  # fmt: skip


def look(workspace: Workspace, **options: Any) -> Report:
    report = examine(workspace, clock.now(), **options)
    assert json.loads(json.dumps(report.as_dict())) == report.as_dict()
    assert [LEVELS.index(each.level) for each in report.findings] == sorted(
        (LEVELS.index(each.level) for each in report.findings), reverse=True
    ), "the worst first"
    assert {each.group for each in report.findings} <= set(GROUPS)
    return report


def seen(workspace: Workspace) -> set[str]:
    return codes(look(workspace).findings) - KNOWN


def test_a_workspace_that_is_well_is_found_well_and_left_as_it_is(used: Workspace) -> None:
    before = {path: path.lstat().st_mtime_ns for path in used.root.rglob("*") if "-shm" not in path.name}
    assert seen(used) == set()
    after = {path: path.lstat().st_mtime_ns for path in used.root.rglob("*") if "-shm" not in path.name}
    assert {path.name for path in after if path not in before} <= {"memory.db-wal"}
    assert {path: at for path, at in after.items() if path in before and path.is_file()} == {
        path: at for path, at in before.items() if path.is_file()
    }


def test_capture_and_its_faults_are_findings(used: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That it is on; a damaged list; hooks that are lost or fail."""
    monkeypatch.setenv(USER_HOME, str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    config = load().config_folder
    consent.set_enabled(used, config, "claude-code", True)
    installers.write("claude-code", installers.install("claude-code", config), config)
    now = clock.now()
    (config / "hooks.log").write_text(
        f"{clock.iso(now - timedelta(days=3))} codex: Nothing was done: OSError: full. (1 ms)\n"
        f"{clock.iso(now)} codex: Capture from codex is not enabled for /x. (1 ms)\n"
    )
    assert codes(look(used).findings) >= {"CAPTURE_ON"}
    assert seen(used) - {"CAPTURE_ON"} == set()

    with (config / "hooks.log").open("a") as log:
        log.write(f"{clock.iso(now)} codex: Nothing was done: OSError: full. (1 ms)\n")
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.write_text(settings.read_text("utf-8").replace("/worker/hooks", "/gone/worker/hooks"), "utf-8")
    (listed,) = (config / "captures").glob("*.json")
    listed.write_text("{")
    assert seen(used) >= {"CAPTURE_LIST_DAMAGED", "HOOK_PROGRAM_MISSING", "HOOKS_FAIL"}


@pytest.mark.parametrize("tool", CAPTURE_TOOLS)
@pytest.mark.parametrize("folder", ["plain", "My Documents, old"])
def test_a_hook_whose_program_is_there_is_not_reported_and_one_whose_program_is_gone_is(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, folder: str
) -> None:
    monkeypatch.setenv(USER_HOME, str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / folder / "worker" / "hooks" / "hook.py"
    program.parent.mkdir(parents=True)
    program.touch()
    monkeypatch.setattr(installers, "__file__", str(program.with_name("installers.py")))
    config = load().config_folder
    installers.write(tool, installers.install(tool, config), config)

    def found() -> set[str]:
        return codes(doctor_capture.hooks(doctor_capture.Facts(workspace, load(), NOW)))

    assert "HOOK_PROGRAM_MISSING" not in found()
    program.unlink()
    assert "HOOK_PROGRAM_MISSING" in found()


@pytest.mark.parametrize("path", ["~nobody-of-that-name/x", "a" * 300])
def test_what_can_be_no_path_is_not_there(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--workspace", path]) == 1
    assert "WORKSPACE_ABSENT" in capsys.readouterr().out
    assert main(["status", "--workspace", path]) == 1
    assert "WORKSPACE_MISSING" in capsys.readouterr().err


def test_a_workspace_that_cannot_be_looked_at_is_closed(
    used: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trust, "inspect_trust", raising(PermissionError(13, "Permission denied")))
    assert main(["doctor", "--workspace", str(used.root), "--fix"]) == 1
    shown = capsys.readouterr().out
    assert "WORKSPACE_CLOSED" in shown
    assert "WORKSPACE_FOREIGN" not in shown
    for command in ("status", "trust"):
        assert main([command, "--workspace", str(used.root)]) == 1
        told = capsys.readouterr().err
        assert "WORKSPACE_NOT_TRUSTED" in told
        assert "Permission denied" in told


def test_what_stands_in_our_folders_place_has_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It helps."""
    (tmp_path / ".cognee_jobs").write_text("")
    assert main(["trust", "--workspace", str(tmp_path)]) == 4
    assert "Move it away" in capsys.readouterr().err


def test_a_workspace_that_refuses_our_folders_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "WORKSPACE_CLOSED" not in codes(look(Workspace(tmp_path)).findings)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "WORKSPACE_CLOSED" in codes(look(Workspace(tmp_path)).findings)


def test_jobs_that_came_with_a_clone_are_a_finding_and_not_a_reason_to_start_a_worker(workspace: Workspace) -> None:
    client.submit(workspace.spool, "noop", {})
    report = look(workspace)
    [found] = [each for each in report.findings if each.code == "JOBS_FROM_ELSEWHERE"]
    assert (found.subject, found.count) == ("inbox", 1)
    assert "jobs retry" in found.remedy
    assert "JOBS_WITHOUT_WORKER" not in codes(report.findings)


def test_a_job_that_git_tracks_is_a_finding(used: Workspace) -> None:
    client.submit(used.spool, "noop", {}, job_id="brought")
    git(used.root, "init", "-q", ".")
    assert "FILES_TRACKED" not in seen(used)
    git(used.root, "add", "-f", ".cognee_jobs/brought.json", ".cognee_jobs/.gitignore")
    report = look(used)
    assert {"FILES_TRACKED", "JOBS_FROM_ELSEWHERE"} <= codes(report.findings)
    [found] = [each for each in report.findings if each.code == "FILES_TRACKED"]
    assert (found.subject, found.count) == (".cognee_jobs", 1)
    assert "git rm -r --cached" in found.remedy


def test_a_store_that_git_tracks_is_a_finding_with_the_remedy_that_helps(used: Workspace) -> None:
    git(used.root, "init", "-q", ".")
    git(used.root, "add", "-f", ".cognee_memory/memory.db")
    [found] = [each for each in look(used).findings if each.code == "WORKSPACE_FOREIGN"]
    assert "git tracks" in found.message
    assert "git rm -r --cached" in found.remedy


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_a_folder_that_a_group_may_write_to_is_a_finding(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    used.root.chmod(0o775)
    assert "WORKSPACE_SHARED" not in seen(used), "a group of one's own is usual"
    monkeypatch.setattr(doctor_workspace, "_is_own_group", lambda gid: False)
    [found] = [each for each in look(used).findings if each.code == "WORKSPACE_SHARED"]
    assert found.subject == str(used.root)
    used.root.chmod(0o1775)
    assert "WORKSPACE_SHARED" not in seen(used)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no groups")
def test_a_group_is_ones_own_by_its_name_and_without_other_members(monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    entry = pwd.struct_passwd(("ana", "x", os.getuid(), 70, "", "/", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: entry)
    for name, members, own in (("ana", [], True), ("ana", ["ana"], True), ("ana", ["bo"], False), ("team", [], False)):
        group = grp.struct_group((name, "x", 70, members))
        monkeypatch.setattr(grp, "getgrgid", lambda gid, group=group: group)
        assert doctor_workspace._is_own_group(70) is own


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_errors_in_a_log_count_a_day_by_any_clock(used: Workspace, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        lines = []
        for hours in (30, 20, 0):
            then = NOW - timedelta(hours=hours)
            lines.append(f"{then.astimezone():%Y-%m-%d %H:%M:%S},123 ERROR   worker.scheduling.runner failed")
            lines.append(json.dumps({"at": clock.iso(then), "level": "ERROR", "logger": "worker.scheduling.runner"}))
        used.spool.log.write_text("\n".join(lines))
        facts = doctor_worker.Facts(used, load(), NOW, probe_http=False)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert facts.log_errors == 4


def test_a_workspace_that_is_not_there_is_a_finding(tmp_path: Path) -> None:
    report = look(Workspace(tmp_path / "none"))
    assert "WORKSPACE_ABSENT" in codes(report.findings)
    assert not report.ok
    assert not {each.group for each in report.findings} & {"queue", "memory", "graph"}, "these were not looked at"


def test_of_a_workspace_of_somebody_else_nothing_is_read(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(used.root.parent / "another"))
    used.memory_db.write_bytes(b"hostile")
    used.env_file.write_text("COGNEE_MEMORY_MAX_RESULTS=nonsense\n")
    report = look(used)
    assert "WORKSPACE_FOREIGN" in codes(report.findings)
    assert not {"STORE_DAMAGED", "SETTING_WRONG"} & codes(report.findings)


def spoil_heartbeat(workspace: Workspace) -> None:
    workspace.spool.heartbeat.write_bytes(b'{"pid": []}')


def spoil_database(workspace: Workspace) -> None:
    workspace.memory_db.write_bytes(b"no database" * 100)


def spoil_records(workspace: Workspace) -> None:
    workspace.spool.record("broken").write_bytes(b"{")
    workspace.spool.copy("alone").write_bytes(b"{}")
    (workspace.spool.results / "folder.json").mkdir()


def open_up(workspace: Workspace) -> None:
    workspace.memory.chmod(0o755)
    workspace.spool.token.write_text("secret")
    workspace.spool.token.chmod(0o644)


def no_gitignore(workspace: Workspace) -> None:
    (workspace.memory / ".gitignore").unlink()


def old_part(workspace: Workspace) -> None:
    part = workspace.spool.inbox / ".a.tmp"
    part.write_bytes(b"x")
    os.utime(part, (time.time() - 90_000,) * 2)


def test_what_the_worker_rejected_is_as_it_came_and_no_finding(used: Workspace) -> None:
    (used.spool.rejected / "link.1.json").symlink_to("/etc/hostname")
    (used.spool.rejected / "folder.1.json").mkdir()
    (used.spool.rejected / "folder.1.json").chmod(0o777)
    assert not seen(used) & {"LINKS_INSIDE", "OPEN_TO_OTHERS"}


STRANGE = beat(http={"url": 7, "serving": "x"}, child="x", in_flight=3, heartbeat_at="2999-01-01T00:00:00Z")
AWFUL: dict[str, tuple[Callable[[Workspace], object], set[str]]] = {
    "a .env that cannot be read": (
        lambda it: it.env_file.write_text("COGNEE_MEMORY_MAX_RESULTS=many\n"),
        {"SETTING_WRONG"},
    ),
    "a config.toml that is none": (
        lambda it: (load().config_folder / "config.toml").write_bytes(b"\xff\xfe nonsense"),
        {"SETTING_WRONG"},
    ),
    "a heartbeat that is none": (spoil_heartbeat, {"HEARTBEAT_DAMAGED"}),
    "a heartbeat without an end": (lambda it: it.spool.heartbeat.write_bytes(b"[" * 100_000), {"HEARTBEAT_DAMAGED"}),
    "a strange heartbeat": (
        lambda it: it.spool.heartbeat.write_text(json.dumps(STRANGE)),
        {"CLOCK_WAS_AHEAD", "CLOCK_OF_DISK"},
    ),
    "a memory.db that is none": (spoil_database, {"STORE_DAMAGED"}),
    "a table that is gone": (lambda it: sql(it.memory_db, "DROP TABLE meta"), {"STORE_CLOSED"}),
    "a folder in memory.db's place": (lambda it: (it.memory_db.unlink(), it.memory_db.mkdir()), {"STORE_CLOSED"}),
    "a newer format": (lambda it: sql(it.memory_db, "PRAGMA user_version = 99"), {"STORE_OF_NEWER_FORMAT"}),
    "records and copies": (spoil_records, {"RECORDS_DAMAGED", "COPIES_ALONE"}),
    "the queue's file": (lambda it: it.spool.queue_db.write_bytes(b"no database" * 100), {"QUEUE_FILE_DAMAGED"}),
    "open folders": (open_up, {"OPEN_TO_OTHERS", "HEARTBEAT_LEFT"}),
    "no .gitignore": (no_gitignore, {"NOT_IGNORED"}),
    "an old part": (old_part, {"PARTS_LEFT"}),
    "jobs without a worker": (lambda it: spool.drop(it.spool, "b", b"{}"), {"JOBS_WITHOUT_WORKER"}),
    "a folder in the lock's place": (lambda it: it.spool.lock.mkdir(), {"LOCK_UNSAFE"}),
    "a link": (lambda it: (it.spool.active / "link.1.json").symlink_to("/etc/hostname"), {"LINKS_INSIDE"}),
}


@pytest.mark.parametrize("name", AWFUL)
def test_the_look_survives_and_tells(used: Workspace, name: str) -> None:
    harm, wanted = AWFUL[name]
    harm(used)
    found = seen(used)
    assert wanted <= found, found


def test_a_failing_check_is_a_finding_and_the_others_are_made(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_queue, "Facts", raising(RuntimeError("never thought of")))
    no_gitignore(used)
    assert {"CHECK_NOT_MADE", "NOT_IGNORED"} <= seen(used)


def test_a_key_that_is_set_is_in_no_finding(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", "sk-never-to-be-shown")
    monkeypatch.setenv("LLM_PROVIDER", "sk-never-to-be-shown")
    assert "sk-never" not in json.dumps(look(used).as_dict())


_OPENED: list[list[str]] = []


def _note_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _OPENED:
        for opened in _OPENED:
            opened.append(Path(str(arguments[0])).name)


sys.addaudithook(_note_opened)  # it cannot be removed: without a list in _OPENED it does nothing


def test_the_doctor_reads_each_record_once(used: Workspace) -> None:
    """So its time grows with the number of jobs and no faster."""
    encoded = json.dumps(ended("job-x").as_dict())
    names = {f"job-{number}.json" for number in range(200)}
    for name in names:
        (used.spool.results / name).write_text(encoded.replace("job-x", name.removesuffix(".json")))
    opened: list[str] = []
    _OPENED.append(opened)
    look(used)
    _OPENED.remove(opened)
    assert sorted([name for name in opened if name in names]) == sorted(names)


# --- mending ---


def fixed(workspace: Workspace) -> dict[str, str]:
    report = look(workspace)
    done = doctor_fixes.apply_fixes(workspace, report.findings, load())
    assert all(each.done for each in done), done
    return {each.fix: each.message for each in done}


MENDED = [(open_up, "close to others"), (no_gitignore, "add .gitignore"), (old_part, "remove parts")]


@pytest.mark.parametrize(("harm", "fix"), MENDED)
def test_what_is_safe_to_mend_is_mended_once(used: Workspace, harm: Callable[[Workspace], None], fix: str) -> None:
    harm(used)
    assert fix in fixed(used)
    assert seen(used) == set()
    assert fixed(used) == {}


def test_a_worker_is_started_unless_that_was_ruled_out(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Workspace] = []
    monkeypatch.setattr(doctor_fixes.launch, "start", lambda of, **_: started.append(of) or True)
    client.submit(used.spool, "noop", {})
    monkeypatch.chdir(used.root)
    main(["doctor", "--fix", "--no-start"])
    assert started == []
    main(["doctor", "--fix"])
    assert started == [used]


def test_what_a_dead_worker_left_goes_and_that_of_a_living_one_stays(used: Workspace) -> None:
    place = used.spool
    place.heartbeat.write_text(json.dumps(beat(heartbeat_at=OLD, pid=2**22 + 1)))
    report = look(used)
    assert "HEARTBEAT_LEFT" in codes(report.findings)
    place.heartbeat.write_text(json.dumps(beat(heartbeat_at=OLD, workspace="/")))
    assert not codes(look(used).findings) & {"HEARTBEAT_LEFT", "CLOCK_OF_DISK"}, "the workspace is a copy"
    place.token.write_text("x")
    place.token.chmod(0o600)
    with held(place.lock):
        left = [each for each in report.findings if each.code == "HEARTBEAT_LEFT"]
        (done,) = doctor_fixes.apply_fixes(used, left, load())
        assert "nothing was changed" in done.message
        assert place.heartbeat.exists()
    fixed(used)
    assert not place.heartbeat.exists()
    assert not place.token.exists()


def test_nothing_is_mended_in_a_workspace_of_somebody_else(used: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    report = look(used)
    no_gitignore(used)
    open_up(used)
    report = look(used)
    monkeypatch.setenv("COGNEE_MEMORY_CONFIG_DIR", str(used.root.parent / "another"))
    doctor_fixes.apply_fixes(used, report.findings, load())
    assert used.memory.stat().st_mode & 0o777 == 0o755
    assert not (used.memory / ".gitignore").exists()


@pytest.fixture
def stray(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Processes that look like ours by what they were started with, and sleep."""
    package = tmp_path / "stray" / "worker"
    (package / "child").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "child" / "main.py").write_text("print('there', flush=True)\nimport time\ntime.sleep(600)\n")
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "worker.child.main", *arguments]
        process = subprocess.Popen(line, cwd=package.parent, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout.readline() == b"there\n"
        process.stdout.close()
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_an_orphan_of_this_workspace_is_ended_and_nobody_else(
    used: Workspace, monkeypatch: pytest.MonkeyPatch, stray: Callable[..., subprocess.Popen[bytes]]
) -> None:
    monkeypatch.setattr(doctor_fixes, "_PATIENCE_SECONDS", 0.2)
    gone = str(2**22 + 1)
    orphan = stray(str(used.root), gone)
    others = [stray(str(used.root), str(os.getpid())), stray(str(used.root) + "2", gone)]
    (finding,) = [each for each in look(used).findings if each.code == "ORPHANS"]
    assert f"{orphan.pid} (child)" in finding.message
    assert finding.count == 1
    assert "1 of them killed" in fixed(used)["end orphans"]
    assert orphan.poll() is not None
    assert [other.poll() for other in others] == [None, None]
    assert "ORPHANS" not in seen(used)


# --- the archive ---

TEXT = "quokkazebra numbatfox"
KEY = "sk-abcdefghijklmnop12345"


def fill_with_secrets(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    place = workspace.spool
    monkeypatch.setenv("LLM_API_KEY", KEY)
    monkeypatch.setenv("LLM_ENDPOINT", f"https://user:{KEY}@host.example/{TEXT.replace(' ', '-')}?key={KEY}")
    monkeypatch.setenv("LLM_MODEL", "openai/gpt-5-mini")
    with WithFakeGraph(workspace) as stores:
        content = Content(TEXT, TEXT, decisions=(TEXT, f"use {KEY}"))
        metadata = Metadata(topic_id="quokkazebra", session_id="numbatfox", status="Active", created_at=AT)
        stores.store.add([(Memory("n" * 8, 0, "summary", metadata, AT, content), "job-a")], AT)
    error = JobError("INTERNAL", f"{TEXT} {KEY}", remediation=TEXT, details={"near": [TEXT]}).as_dict()
    told = {"memory_id": "m" * 8, "topic": TEXT, "topic_id": "quokkazebra", "question": TEXT, "answer": f"{TEXT} {KEY}"}
    spool.write_records(
        place,
        [
            ended("job-b", result=told, correlation_id="quokkazebra"),
            ended("job-c", state="failed", result=None, error=error),
        ],
    )
    folders = (place.active, place.ended, place.rejected, workspace.previews, workspace.imports, workspace.cognee_data)
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / "quokkazebra-numbatfox.json").write_text(f"{TEXT} {KEY}")
    place.token.write_text(KEY)
    place.heartbeat.write_text(
        json.dumps(beat(in_flight=[{"progress": {"message": TEXT}}], http={"url": KEY, "x": TEXT}))
    )
    place.counters.write_text(json.dumps({"note": TEXT}))
    lines = [
        "2026-11-20 12:00:00,123 INFO    worker.scheduling.runner succeeded job_id=job-b correlation_id=quokkazebra",
        f"2026-11-20 12:00:00,123 WARNING worker.intake rejected file='{TEXT}' kept=quokkazebra.1.json job_id=job-d",
        f"2026-11-20 12:00:00,123 WARNING worker.control request quokkazebra refused: JOB_INVALID: it is '{TEXT}'",
        f"2026-11-20 12:00:00,123 INFO    child {TEXT} {KEY}",
        "2026-11-20 12:00:00,123 ERROR   child operation ingest failed: ValueError",
        f"  {workspace.root}/bridge/store.py:12 in add",
        TEXT,
        json.dumps({"at": AT, "level": "INFO", "logger": "child", "message": f"{TEXT} {KEY}", "pid": 3}),
        json.dumps({"at": AT, "level": "INFO", "logger": "worker.scheduling.runner", "message": "succeeded",
                    "job_id": "job-b", "correlation_id": "quokkazebra", "trace": TEXT}),
    ]  # fmt: skip
    place.log.write_text("\n".join([*lines, ""]))


def test_no_text_key_or_name_is_archived(used: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_bundle.getpass, "getuser", lambda: "wilhelmina")
    monkeypatch.setattr(doctor_bundle.Path, "home", lambda: tmp_path)
    fill_with_secrets(used, monkeypatch)
    old_part(used)
    (used.spool.inbox / ".quokkazebra.tmp").write_bytes(b"x")
    (used.spool.rejected / "a.quokkazebra").write_bytes(b"x")
    os.utime(used.spool.inbox / ".quokkazebra.tmp", (time.time() - 90_000,) * 2)
    out = tmp_path / "out.zip"
    report = examine(used, clock.now()).with_more([])
    made = doctor_bundle.write(used, out, report, clock.now())
    assert out.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == made["files"]
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    for name, content in parts.items():
        for secret in ("quokkazebra", "numbatfox", KEY, "wilhelmina", str(tmp_path)):
            assert secret not in content, name
        assert "could not be made" not in content, (name, content)
    assert set(parts) == {
        "MANIFEST.txt", "report.json", "report.txt", "settings.json", "versions.json", "platform.json",
        "worker.json",
        "figures.json", "records.jsonl", "log.txt", "store.json", "folders.txt",
    }  # fmt: skip
    assert "job-b" in parts["records.jsonl"]
    assert '"code": "INTERNAL"' in parts["records.jsonl"]
    assert "worker.scheduling.runner succeeded job_id=job-b" in parts["log.txt"]
    assert "operation ingest failed: ValueError" in parts["log.txt"]
    assert "bridge/store.py:12 in add" in parts["log.txt"]
    assert '"memories": 2' in parts["store.json"]
    assert "https://host.example/" in parts["settings.json"]
    assert "memory.db" in parts["folders.txt"]
    assert all(name in parts["MANIFEST.txt"] for name in parts if name != "MANIFEST.txt")


def test_a_place_is_not_told_where_json_escapes_it() -> None:
    known = doctor_bundle.places(Workspace(Path('/w/the "x"')))
    assert doctor_bundle.cleaned('/w/the "x"/jobs.py', known) == "<workspace>/jobs.py"
    assert doctor_bundle.cleaned(json.dumps('/w/the "x"/jobs.py'), known) == '"<workspace>/jobs.py"'


def test_the_archive_of_a_broken_workspace_is_made_all_the_same(used: Workspace, tmp_path: Path) -> None:
    spoil_database(used)
    spoil_heartbeat(used)
    made = doctor_bundle.write(used, tmp_path / "out.zip", examine(used, clock.now()), clock.now())
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert "could not be made" in archive.read("store.json").decode()
    assert "report.json" in made["files"]
    with pytest.raises(JobError, match="cannot be written"):
        doctor_bundle.write(used, tmp_path, examine(used, clock.now()), clock.now())


def test_stores_not_read_whole_are_not_said_to_be(used: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--workspace", str(used.root), "--deep", "--no-start"]) == 1
    shown = capsys.readouterr().out
    assert "CHECK_FAILED" in shown
    assert "→ Start one: cognee-memory worker start." in shown
    assert "the stores read whole" not in shown


@pytest.mark.parametrize("command", [["doctor", "--bundle"], ["graph", "--no-start", "--out"]])
def test_no_output_replaces_our_files(used: Workspace, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    before = used.memory_db.read_bytes()
    assert main([*command, str(used.memory_db), "--workspace", str(used.root)]) == 2
    assert "cognee-memory's own" in capsys.readouterr().err
    assert used.memory_db.read_bytes() == before


# --- the table, and what people see ---


def test_each_trouble_says_what_it_is_and_what_to_do() -> None:
    for code, trouble in DIAGNOSTICS.items():
        assert trouble.code == code
        assert re.fullmatch(r"[A-Z][A-Z_]*", code)
        assert trouble.cause.endswith("."), code
        assert trouble.remedy.endswith("."), code
        assert trouble.group in GROUPS


def test_the_troubles_come_first_and_each_says_what_to_do(used: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    no_gitignore(used)
    spoil_database(used)
    doctor_command.show(
        {**look(used).as_dict(), "fixed": [], "bundle": {"path": "x.zip", "bytes": 9, "files": [], "look_at": []}}
    )
    shown = capsys.readouterr().out
    assert shown.index("STORE_DAMAGED") < shown.index("NOT_IGNORED") < shown.index("All is well")
    assert "→ Add it: cognee-memory doctor --fix." in shown


# --- a team, of given facts: whether it is reached, whether its jobs run, and its copies ---


if TYPE_CHECKING:
    from worker.admin.shapes import TeamCopy, TeamStatus, TeamWorkspace


def team_workspace(idle_seconds: float | None = None) -> "TeamWorkspace":
    return {
        "workspace_id": "3f0c1f8e-0000-4000-8000-000000000000",
        "name": "backend",
        "changes": 12,
        "lease_owner": None,
        "lease_until": None,
        "jobs": {"waiting": 2, "running": 1, "ended": 5, "failed": 0},
        "idle_seconds": idle_seconds,
        "retrying": {},
    }


def copy(days: float, forgotten: int = 0) -> "TeamCopy":
    return {
        "node": "laptop/1",
        "behind": 3,
        "forgets": 3,
        "forgotten": forgotten,
        "version": "1",
        "seen_at": clock.iso(NOW - timedelta(days=days)),
        "is_silent": days > 7,
        "label": None,
        "has_access": True,
    }


def findings(*, is_followed: bool = True, **changed: Any) -> list[Finding]:
    status: TeamStatus = {
        "address": "https://memory.example.org",
        "node": "host/1",
        "error": None,
        "workspace": team_workspace(),
        "has_copy": True,
        "position": 12,
        "behind": 0,
        "current_at": clock.iso(NOW),
        "clock_ahead_seconds": 0.0,
        "token_ends_at": None,
        "copies": [],
        "failed_jobs": [],
        "set_aside": [],
    }
    return team_findings(status={**status, **changed}, is_followed=is_followed)


TEAM = partial(SimpleNamespace, status=None, problem=None, now=NOW, set_aside=[], settled=[], is_followed=True)


def team_findings(**facts: Any) -> list[Finding]:
    return [finding for check in doctor_team.CHECKS for finding in check(TEAM(**facts))]


def test_of_a_team_that_is_well_it_says_only_that_there_is_one() -> None:
    assert [each.code for each in findings(copies=[copy(0)])] == ["TEAM_OF"]


def test_a_copy_that_no_worker_makes_follow_is_told_with_what_it_lacks() -> None:
    [found] = findings(is_followed=False, behind=1)
    assert (found.code, found.level, found.fix) == ("TEAM_COPY_NOT_FOLLOWED", "error", "start a worker")
    assert found.message.endswith("It lacks 1 change.")


def test_a_team_that_is_not_reached_is_told_with_the_errors_code() -> None:
    error = JobError("TEAM_REFUSED", "The token is revoked.")
    [found] = findings(error=error.as_dict(), workspace=None, behind=None)
    assert (found.code, found.subject) == ("TEAM_NOT_REACHED", "TEAM_REFUSED")
    assert "The token is revoked." in found.message
    assert found.remedy == error.remediation


def test_what_was_set_aside_and_is_back_may_be_removed() -> None:
    kept = SetAside(Path("/w/.cognee_memory/set-aside/team-7-a b"), Path("memories.jsonl"), None)
    [found] = team_findings(settled=[kept])
    assert (found.code, found.level) == ("TEAM_LOST_IS_BACK", "note")
    assert "rm -r '/w/.cognee_memory/set-aside/team-7-a b'" in found.remedy


DIFFERENCES = [(0.0, None), (29.9, None), (30.0, "30 s behind"), (-7200.0, "2 h ahead of the team's")]


@pytest.mark.parametrize(("ahead", "says"), DIFFERENCES)
def test_a_clock_that_differs_from_the_teams_is_told_from_30_seconds_on(ahead: float, says: str | None) -> None:
    found = [each for each in findings(clock_ahead_seconds=ahead) if each.code == "TEAM_CLOCK_DIFFERS"]
    assert [says in each.message for each in found] == ([] if says is None else [True])


@pytest.mark.parametrize(("days", "is_told"), [(14.1, False), (13.9, True), (0.5, True)])
def test_a_token_that_ends_within_two_weeks_is_told(days: float, is_told: bool) -> None:
    found = findings(token_ends_at=clock.iso(NOW + timedelta(days=days)))
    assert ("TEAM_TOKEN_ENDS" in [each.code for each in found]) is is_told


@pytest.mark.parametrize(("seconds", "is_told"), [(None, False), (0.0, False), (600.0, False), (601.0, True)])
def test_jobs_that_nobody_takes_for_more_than_ten_minutes_are_told(seconds: float | None, is_told: bool) -> None:
    found = [each for each in findings(workspace=team_workspace(seconds)) if each.code == "TEAM_JOBS_WAIT"]
    assert bool(found) is is_told
    assert all("3 jobs" in each.message for each in found)


@pytest.mark.parametrize(
    ("days", "forgotten", "code"),
    [(6.9, 0, None), (6.9, 2, None), (8, 0, "TEAM_COPY_SILENT"), (8, 1, "TEAM_COPY_HOLDS_FORGOTTEN")],
)
def test_a_copy_unseen_for_a_week_is_told_and_what_it_may_hold(days: float, forgotten: int, code: str | None) -> None:
    found = [each for each in findings(copies=[copy(days, forgotten)]) if each.code.startswith("TEAM_COPY")]
    assert [each.code for each in found] == ([] if code is None else [code])
    assert all(each.subject == "laptop/1" and "8 d" in each.message for each in found)


def test_a_row_that_the_copy_here_leaves_out_is_named() -> None:
    rows = [{"table": "memories", "key": "[ 2 ]", "why": "its key has another form"}]
    [found] = [each for each in findings(set_aside=rows) if each.code == "TEAM_ROW_SET_ASIDE"]
    assert (found.subject, "its key has another form" in found.message) == ("memories [ 2 ]", True)
