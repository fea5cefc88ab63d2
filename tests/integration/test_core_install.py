"""The core: the wheel of a release in an environment of its own, with what its lock names and nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import agent_of
from harness import PROJECT, Place, RealWorker
from test_capture import TALK
from transcript_shelf import claude_session

from tools import dist

OF_THE_GRAPH = ("cognee", "litellm", "lancedb", "ladybug", "openai", "sqlalchemy", "sympy", "psycopg")
UPLOADS = "Uploads fail in bursts when the gateway is restarted."


def uv(*arguments: str, **variables: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", *arguments, "--quiet"], check=True, env={**os.environ, **variables})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution and the wheel."""
    return dist.build(PROJECT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def core(release: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the core."""
    folder = tmp_path_factory.mktemp("core") / "environment"
    uv("venv", "--python", sys.executable, str(folder))
    interpreter = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    into = ("pip", "install", "--python", str(interpreter))
    uv(*into, "--require-hashes", "-r", str(PROJECT / "requirements-core.lock"))
    uv(*into, "--no-deps", str(release[1]))
    return interpreter


@pytest.fixture(scope="module")
def place(core: Path, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A workspace with a worker of the core, and a home with one session of another tool."""
    base = tmp_path_factory.mktemp("place")
    place = Place(base, HOME=str(base / "home"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    place.environment.pop("CLAUDE_CONFIG_DIR", None)
    place.interpreter = str(core)
    claude_session(place, TALK)
    with RealWorker(place):
        for decision in ("Retries wait 2, 4 and 8 seconds.", "Retries wait 5 seconds, and not 2, 4 and 8 seconds."):
            options = ("--topic", "Uploads", "--context", UPLOADS, "--decision", decision)
            assert place.json("ingest", "--wait", *options)["success"]
        yield place


def test_a_release_has_all_files_and_the_same_wheel_from_both_sources(release: tuple[Path, Path]) -> None:
    assert dist.problems(PROJECT, *release) == []


def test_the_core_is_what_its_lock_names_and_nothing_of_the_graph(place: Place) -> None:
    names = "import importlib.metadata as m, json; print(json.dumps([d.metadata['Name'] for d in m.distributions()]))"
    installed = {name.lower().replace("_", "-") for name in json.loads(place.python("-c", names).stdout)}
    locked = set(re.findall(r"^([a-z0-9.-]+)==", (PROJECT / "requirements-core.lock").read_text(), re.MULTILINE))
    assert installed - {"cognee-memory"} <= locked
    assert installed.isdisjoint(OF_THE_GRAPH)


def test_a_memory_is_found_and_packed_for_a_prompt(place: Place) -> None:
    hits = place.json("retrieve", "how long do we wait before another try?")["results"]
    assert hits[0]["topic"] == "Uploads"
    assert "Retries wait" in place.json("context", "retries")["context"]
    assert place.json("explain", "retries")["success"]


def test_a_topic_is_compacted_as_previewed_and_taken_back(place: Place) -> None:
    seen = place.json("compact", "uploads", "--preview")["result"]
    assert len(seen["conflicts"]) == 1
    done = place.json("compact", "uploads", "--preview-digest", seen["preview_digest"])["result"]
    assert len(done["superseded"]) == 2
    assert place.json("restore", str(done["memory_number"]))["success"]


def test_a_session_of_another_tool_is_captured(place: Place) -> None:
    place.json("capture", "enable", "claude-code")
    assert place.json("capture", "run")["result"]["memories"] == 1
    hits = place.json("retrieve", "five attempts with full jitter")["results"]
    assert "five attempts" in hits[0]["summary_text"]


def test_memories_travel_in_an_export_and_are_forgotten(place: Place, tmp_path: Path) -> None:
    ingested = place.json("ingest", "--wait", "--topic", "Colours", "--context", "The primary colour is teal.")
    memory_id = ingested["result"]["memory_id"]
    file = tmp_path / "colours.jsonl"
    assert place.json("export", "--topic-id", "colours", "--out", str(file))["success"]
    assert place.json("forget", memory_id, "--yes")["result"]["forgotten"] == [memory_id]
    assert place.json("retrieve", "teal primary colour", "--topic-id", "uploads")["success"]
    assert "teal" not in place.cli("memories", "list", "--json").stdout
    elsewhere = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=place.environment["COGNEE_MEMORY_CACHE_DIR"])
    elsewhere.interpreter = place.interpreter
    with RealWorker(elsewhere):
        assert elsewhere.json("import", str(file))["result"]["memories"] == 1
        assert [hit["topic"] for hit in elsewhere.json("retrieve", "teal")["results"]] == ["Colours"]


def test_status_and_doctor_say_that_there_is_no_graph_and_find_nothing_wrong(place: Place) -> None:
    assert place.json("status")["graph_installed"] is False
    assert "cognee-memory setup --graph" in place.cli("status").stdout
    found = {each["code"]: each for each in place.json("doctor", "--deep")["findings"]}
    assert "GRAPH_ABSENT" in found
    wrong = {code for code, each in found.items() if each["level"] in ("error", "warning")}
    assert wrong <= {"JOBS_FAILED"}, "those of other tests alone, which need the graph"


def test_an_agent_lists_the_tools_and_recalls(place: Place) -> None:
    with agent_of(place) as agent:
        assert {"memory_retrieve", "memory_ingest"} <= agent.tools().keys()
        assert "Uploads" in json.dumps(agent.answer("memory_retrieve", query="retries"))


def test_the_worker_answers_over_http_and_has_its_page(place: Place) -> None:
    answer = place.asked("POST", "/v1/retrieve", {"query": "retries"})
    assert (answer.status_code, answer.json()["success"]) == (200, True)
    page = place.asked("GET", "/")
    assert page.status_code == 200
    assert "<html" in page.text


@pytest.mark.parametrize("command", [("ask", "What is about uploads?"), ("rebuild", "--what", "graph")])
def test_what_needs_the_graph_names_the_command_that_adds_it(place: Place, command: tuple[str, ...]) -> None:
    answer = place.json(*command)
    assert (answer["success"], answer["error_code"]) == (False, "GRAPH_NOT_INSTALLED")
    assert "cognee-memory setup --graph" in answer["remediation"]


def test_the_index_is_rebuilt_without_the_graph(place: Place) -> None:
    result = place.json("rebuild")["result"]
    assert result["memories"] > 0
    assert "graph_memories" not in result


def test_a_teams_database_needs_its_driver(place: Place) -> None:
    place.environment["COGNEE_MEMORY_STORE"] = "postgresql://localhost/team"
    try:
        answer = place.json("team", "list")
    finally:
        del place.environment["COGNEE_MEMORY_STORE"]
    assert answer["error_code"] == "TEAM_NOT_INSTALLED"
    assert "cognee-memory setup --team" in answer["remediation"]


def test_without_an_installer_or_an_index_the_graph_is_refused_with_what_to_do(place: Place, tmp_path: Path) -> None:
    path = place.environment["PATH"]
    try:
        place.environment["PATH"] = str(tmp_path)
        alone = place.json("setup", "--graph")
        uv_itself = shutil.copy(Path(sys.executable).parent / "uv", tmp_path)
        assert Path(uv_itself).is_file()
        place.environment |= {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path / "cache")}
        offline = place.json("setup", "--graph")
    finally:
        place.environment["PATH"] = path
    assert [alone["error_code"], offline["error_code"]] == ["EXTRA_NOT_ADDED", "EXTRA_NOT_ADDED"]
    assert "Install uv" in alone["remediation"]
    assert "package index" in offline["remediation"]
    assert place.json("retrieve", "retries")["success"]
