"""The published types and the TypeScript of the docs, checked by TypeScript's own compiler in its strictest form; and
what their functions do, without a worker and with one."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typescript
from harness import PATIENCE, PROJECT, Place

from jobs import clock
from jobs.heartbeat import STALE_SECONDS
from jobs.layout import Workspace
from worker.version import VERSION


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[typescript.ModuleKind, Path]:
    return typescript.compiled(tmp_path_factory.mktemp("typescript"))


@pytest.fixture(scope="module")
def made(compiled: dict[typescript.ModuleKind, Path]) -> Path:
    """The JavaScript of the docs, as ES modules."""
    return compiled["module"]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """One with the folders that a worker makes."""
    workspace = Workspace(tmp_path)
    workspace.spool.results.mkdir(parents=True)
    workspace.spool.heartbeat.parent.mkdir()
    return workspace


def result(made: Path, module: str, call: str, *values: object) -> Any:
    """What a call gives, with ``given`` as the values: its result, or ``{"thrown": "Name: message"}``."""
    done = subprocess.run(
        [
            typescript.node(), "--input-type=module", "--eval",
            f"import * as program from '{made.as_uri()}/{module}.js';"
            f"const given = {json.dumps(values)};"
            f"const answer = await (async () => program.{call})().catch((error) => ({{ thrown: String(error) }}));"
            "console.log(JSON.stringify(answer ?? null));",
        ],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["module", "commonjs"])
def test_the_types_and_every_sample_of_the_docs_compile_in_each_kind_of_module(
    compiled: dict[typescript.ModuleKind, Path], kind: typescript.ModuleKind
) -> None:
    """tests/data/typescript/promises.ts says what the types give."""
    names = {name for page in (PROJECT / "docs").glob("*.md") for name in typescript.samples(page)}
    there = {path.stem for path in compiled[kind].glob("*.js")}
    assert there >= {Path(name).stem for name in names} >= {"jobs", "find", "ask"}


# --- jobs.ts ---

RECORD = {"job_id": "a", "kind": "ingest", "state": "succeeded", "success": True, "result": {"memory_number": 7}}


def ended(made: Path, workspace: Workspace, signal: str) -> Any:
    return result(made, "jobs", f"ended(given[0], {{ job_id: 'a' }}, {signal})", str(workspace.root))


def test_the_sample_gives_the_record_of_a_job_that_has_ended(made: Path, workspace: Workspace) -> None:
    workspace.spool.record("a").write_text(json.dumps(RECORD), "utf-8")
    assert ended(made, workspace, "AbortSignal.timeout(60_000)") == RECORD


def test_the_sample_waits_until_the_job_has_ended(made: Path, workspace: Workspace) -> None:
    """The record comes while it waits, in the place of one that had not ended."""
    workspace.spool.record("a").write_text(json.dumps(RECORD | {"success": None}), "utf-8")
    part, whole = workspace.spool.results / ".a.part", workspace.spool.record("a")
    part.write_text(json.dumps(RECORD), "utf-8")
    found = result(
        made, "jobs",
        "ended(given[0], { job_id: 'a' }, (setTimeout(() => process.getBuiltinModule('node:fs')"
        ".renameSync(given[1], given[2]), 0), AbortSignal.timeout(60_000)))",
        str(workspace.root), str(part), str(whole),
    )  # fmt: skip
    assert found == RECORD


@pytest.mark.parametrize(("signal", "reason"), [("timeout(20)", "TimeoutError"), ("abort()", "AbortError")])
def test_the_sample_stops_waiting_at_its_signal(made: Path, workspace: Workspace, signal: str, reason: str) -> None:
    """As it does without a worker."""
    assert ended(made, workspace, f"AbortSignal.{signal}")["thrown"].startswith(reason)


def test_the_sample_reports_a_record_that_it_cannot_read(made: Path, workspace: Workspace) -> None:
    workspace.spool.record("a").write_text("no JSON", "utf-8")
    assert ended(made, workspace, "AbortSignal.timeout(60_000)")["thrown"].startswith("SyntaxError")


def test_the_sample_reports_the_error_of_a_command(made: Path, workspace: Workspace, program: Path) -> None:
    missing = str(workspace.root / "gone")
    found = result(made, "jobs", "startWorker(given[0], given[1], AbortSignal.timeout(60_000))", str(program), missing)
    assert re.match(r"Error: WORKSPACE_MISSING: There is no folder at .+ Check the path", found["thrown"])


def test_the_sample_reports_that_the_program_is_not_there(made: Path, workspace: Workspace) -> None:
    call = "startWorker('/nowhere/cognee-memory', given[0], AbortSignal.timeout(60_000))"
    assert "ENOENT" in result(made, "jobs", call, str(workspace.root))["thrown"]


# --- find.ts ---


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typescript.program(tmp_path_factory.mktemp("bin"))


def test_the_sample_finds_a_program(made: Path, program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On PATH, and by its setting."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert result(made, "find", "findProgram(given[0])", str(program)) == str(program)
    assert result(made, "find", "findProgram(given[0])", str(tmp_path / "none")) is None
    assert result(made, "find", "findProgram()") in (None, *(f"{each}/cognee-memory" for each in os.get_exec_path()))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert result(made, "find", "findProgram()") == str(program)


def test_the_sample_finds_it_where_the_readme_says(made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / ".cognee-env" / "bin"
    folder.mkdir(parents=True)
    made_there = typescript.program(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert result(made, "find", "findProgram()") == str(made_there)


def test_the_version_that_the_page_needs_is_this_one_or_an_earlier(made: Path, program: Path) -> None:
    page = (PROJECT / "docs" / "build-on-it.md").read_text("utf-8")
    [needed] = re.findall(r"need version (\d+\.\d+) or later", page)
    major, minor = map(int, needed.split("."))
    call = "isAtLeast(given[0], [given[1], given[2]], AbortSignal.timeout(60_000))"
    assert result(made, "find", call, str(program), major, minor) is True
    now_major, now_minor, _ = map(int, VERSION.split("."))
    assert result(made, "find", call, str(program), now_major, now_minor + 1) is False
    assert result(made, "find", call, str(program), now_major + 1, 0) is False


# --- ask.ts ---


@pytest.mark.parametrize(("age", "state", "lives"), [(5, "ready", True), (5, "stopped", False), (-1, "ready", False)])
def test_the_sample_tells_a_gone_worker(made: Path, workspace: Workspace, age: float, state: str, lives: bool) -> None:
    """As the program does. ``age``: how much younger than the oldest heartbeat that counts."""
    now = datetime(2026, 11, 20, 12, tzinfo=UTC)
    at = clock.iso(now - timedelta(seconds=STALE_SECONDS - age))
    workspace.spool.heartbeat.write_text(json.dumps({"state": state, "heartbeat_at": at}), "utf-8")
    found = result(made, "ask", "livingWorker(given[0], given[1])", str(workspace.root), now.timestamp() * 1000)
    assert (found is not None) == lives


def test_every_page_names_the_same_age_of_a_heartbeat() -> None:
    for page in ("build-on-it.md", "job-protocol.md"):
        said = re.findall(r"(?:older than|more than) (\d+) seconds", (PROJECT / "docs" / page).read_text("utf-8"))
        assert said == [f"{STALE_SECONDS:g}"], page


# --- all of it ---


def test_a_program_to_build_on_stores_and_finds(made: Path, program: Path, model_cache: Path, tmp_path: Path) -> None:
    """That of docs/build-on-it.md. It starts its own worker, and finds what it stored: over HTTP, and without one."""
    place = Place(tmp_path, adopted=False, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    assert place.heartbeat().get("state") != "ready"
    script = """
        import { remember } from "./jobs.js";
        import { address, ask, query } from "./ask.js";
        const [program, folder] = process.argv.slice(2);
        const signal = AbortSignal.timeout(240_000);
        const summary = { topic: "Fines", context: "Readers asked.", decisions: ["There are no fines."] };
        const stored = await remember(program, folder, summary, signal);
        const question = { query: "are there fines", max_results: 1 };
        const worker = await address(program, folder, signal);
        const direct = await query(worker, "POST /v1/retrieve", question, signal);
        const asked = await ask(program, folder, question, signal);
        const numbers = [direct, asked].map((answer) => answer.results[0]?.memory_number);
        const wrong = query(worker, "POST /v1/retrieve", { ...question, max: 1 }, signal);
        const refused = await wrong.catch((error) => error.message);
        console.log(JSON.stringify({ stored, numbers, refused }));
    """
    later = """
        import { ask, livingWorker } from "./ask.js";
        const [program, folder] = process.argv.slice(2);
        const answer = await ask(program, folder, { query: "are there fines" }, AbortSignal.timeout(240_000));
        console.log(JSON.stringify([livingWorker(folder, Date.now()), answer.results[0]?.memory_number]));
    """
    try:
        found = story(place, made / "story.js", script, program)
        assert found["numbers"] == [found["stored"]] * 2
        assert found["refused"].startswith("ARGUMENT_INVALID: ")
    finally:
        place.cli("worker", "stop")
    assert story(place, made / "later.js", later, program) == [None, found["stored"]]


def story(place: Place, path: Path, script: str, program: Path) -> Any:
    """What a script prints that is given the program and the workspace."""
    path.write_text(script, "utf-8")
    done = subprocess.run(
        [typescript.node(), str(path), str(program), str(place.workspace.root)],
        env=place.environment, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
