"""The MCP server as agents meet it: the official client, the real process, a real workspace."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from agents import Agent, agent_of, command, text_of
from harness import PATIENCE, Place, at_once, until

from bridge import trust
from bridge.memory import Content, Memory, Metadata
from bridge.text.template import sections
from jobs import client as asker
from jobs.lock import is_held
from worker.mcp.inputs import LONGEST_WAIT_SECONDS
from worker.mcp.tools import TOOLS

NEWEST = "2026-07-28"  # version of the protocol
NOW = "2026-11-20T12:00:00Z"
SUMMARY = {
    "topic": "Retry pauses",
    "context": "Uploads failed in bursts when the gateway was restarted.",
    "decisions": ["Uploads pause for 2, 4 and 8 seconds"],
}
LONG = " ".join(f"harbour{number}" for number in range(4200))


class Raw:
    """A server process spoken to line by line, as no good client does."""

    def __init__(self, place: Place, **variables: str) -> None:
        self._log = place.workspace.root.parent / "raw.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command(place)],
                env=place.environment | variables,
                cwd=place.workspace.root,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()

    def stderr(self) -> str:
        return self._log.read_text("utf-8")

    def send(self, *lines: bytes) -> None:
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        assert line, self.stderr()
        found: dict[str, Any] = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, number: int, method: str, **parameters: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}).encode())

    def call(self, number: int, tool: str, arguments: Any) -> None:
        self.ask(number, "tools/call", name=tool, arguments=arguments)

    def shake_hands(self) -> dict[str, Any]:
        who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self.ask(0, "initialize", **who)
        found = self.receive()
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return found


def memories() -> list[Memory]:
    def summary(number: int, topic: str, context: str, *decisions: str, **fields: Any) -> Memory:
        written = f"2026-11-{number:02}T12:00:00Z"
        metadata = Metadata(
            topic.lower().replace(" ", "-"), None, fields.get("plan"), fields.get("status", "Active"), written, written
        )
        return Memory(f"memory-{number}", 0, "summary", metadata, NOW, Content(topic, context, decisions))

    return [
        summary(10, "Sign-in", "People were logged out overnight.", "Only the tray renews tokens", plan="014"),
        summary(12, "Sign-in", "Two windows renewed the same token.", "Tokens are renewed under a lock"),
        summary(14, "Invoices", "Totals differed by a cent.", "Amounts are whole cents"),
        summary(15, "Invoices", "Totals were floating point.", "Amounts are decimals", status="Superseded"),
        Memory(
            "legacy-1", 0, "legacy", Metadata(created_at="2026-11-01T12:00:00Z"), NOW,
            text="User asked: what renews a token?\n\nAssistant answered: each window, by itself."
            "\n\nMetadata: timestamp=N/A, importance=0.8",
        ),
        Memory("long", 0, "legacy", Metadata(created_at="2026-10-01T12:00:00Z"), NOW, text=LONG),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace with memories and no worker."""
    place = Place(tmp_path_factory.mktemp("mcp"))
    place.keep(memories(), NOW)
    return place


@pytest.fixture(scope="module")
def agent(place: Place) -> Iterator[Agent]:
    with agent_of(place) as agent:
        yield agent


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, Agent]]:
    place = Place(tmp_path_factory.mktemp("new"), adopted=False)
    with agent_of(place, NEWEST) as agent:
        yield place, agent


@pytest.fixture
def unused(newcomer: tuple[Place, Agent]) -> Iterator[Place]:
    """A workspace without anything. A worker that a tool started is ended with the test."""
    place, _ = newcomer
    yield place
    if is_held(place.spool.lock):
        os.kill(int(until(place.heartbeat, "a heartbeat")["pid"]), signal.SIGKILL)
        until(lambda: not is_held(place.spool.lock) and not is_held(place.workspace.store_lock), "both have gone")
    shutil.rmtree(place.config, ignore_errors=True)
    for path in place.workspace.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.fixture
def new_agent(newcomer: tuple[Place, Agent], unused: Place) -> Agent:
    """The agent of the workspace without anything."""
    return newcomer[1]


CHANGING = ("memory_ingest", "memory_feedback", "memory_mark_outdated", "memory_resolve", "memory_compact_preview")


# --- what a client finds out first ---


def test_the_handshake_says_who_answers_and_when_to_ask(agent: Agent) -> None:
    info = agent.client.server_info
    assert (info.name, bool(info.version), bool(info.title)) == ("cognee-memory", True, True)
    assert agent.client.server_capabilities.tools is not None
    assert "memory_context" in str(agent.client.instructions)


def test_the_tools_are_these_and_say_what_they_may_do(agent: Agent) -> None:
    found = agent.tools()
    assert set(found) == {tool.name for tool in TOOLS}
    for name, tool in found.items():
        assert tool.title == tool.annotations.title
        assert tool.annotations.read_only_hint is (name not in CHANGING)
        assert tool.annotations.destructive_hint is (name in ("memory_mark_outdated", "memory_resolve"))
        assert tool.annotations.idempotent_hint is True
        assert tool.annotations.open_world_hint is False


def test_a_client_of_the_newest_protocol_is_served_too(new_agent: Agent) -> None:
    """As in each test that starts from nothing."""
    assert new_agent.client.protocol_version == NEWEST
    assert set(new_agent.tools()) == {tool.name for tool in TOOLS}


# --- asking ---


def test_retrieve_finds_what_the_command_line_finds(agent: Agent, place: Place) -> None:
    found = agent.answer("memory_retrieve", query="who renews tokens?", as_of=NOW, limit=3)
    assert found == agent.answer("memory_retrieve", query="who renews tokens?", as_of=NOW, max_results=3)
    assert "notes" in found["notice"]
    for_programs = place.json("retrieve", "who renews tokens?", "--as-of", NOW, "--max-results", "3")
    assert found["total_results"] == for_programs["total_results"]
    far = agent.answer("memory_retrieve", query="tokens", half_life_days=1000, as_of=NOW)
    assert "half_life_days 1000 is outside" in " ".join(far["warnings"])
    for hit, whole in zip(found["results"], for_programs["results"], strict=True):
        expected = {**whole, "score": round(whole["score"], 3), "summary_text": sections(whole["summary_text"])}
        known = hit.pop("standing", None)  # shorter too, once a worker has compared the memories
        assert known is None or known["state"] == whole["standing"]["state"]
        assert {name: expected[name] for name in hit} == hit, "a part of the answer for programs"


def test_an_answer_says_each_thing_once_and_its_text_is_no_longer_than_its_value(agent: Agent) -> None:
    result = agent.call("memory_retrieve", query="who renews tokens?", as_of=NOW)
    shown = json.loads(text_of(result))
    assert shown == result.structured_content
    hits = json.dumps([{**hit, "standing": None} for hit in shown["results"]])  # which other tests may change
    assert hits.count("Only the tray renews tokens") == 1
    assert hits.count("2026-11-10") == 1
    assert next(iter(shown)) == "notice"


def test_no_text_has_the_templates_comment_or_metadata_that_is_not_known(agent: Agent) -> None:
    for name, arguments in (
        ("memory_retrieve", {"query": "who renews tokens?", "as_of": NOW}),
        ("memory_context", {"query": "who renews tokens?"}),
        ("memory_read", {"memory_number": 1}),
        ("memory_read", {"memory_number": 5}),
        ("memory_recent", {}),
    ):
        result = agent.call(name, **arguments)
        for text in (text_of(result), json.dumps(result.structured_content)):
            assert "Template:" not in text
            assert "N/A" not in text


def test_filters_and_ranking_reach_retrieval(agent: Agent) -> None:
    def ids(**arguments: Any) -> set[int]:
        found = agent.answer("memory_retrieve", query="sign-in, invoices: what was decided?", as_of=NOW, **arguments)
        return {hit["memory_number"] for hit in found["results"]}

    assert ids(topic_id="invoices") == {3}
    assert ids(topic_id="invoices", include_superseded=True) == {3, 4}
    assert ids(status="Superseded") == {4}
    assert ids(plan_id="plan-014") == {1}
    assert ids(topic_id="sign-in", since="2026-11-11") == {2}
    assert ids(topic_id="sign-in", until="2026-11-11") == {1}


def test_context_is_a_block_to_read_within_its_budget(agent: Agent) -> None:
    result = agent.call("memory_context", query="who renews tokens?", max_tokens=300)
    found = result.structured_content
    assert text_of(result) == found["context"]
    assert "Tokens are renewed under a lock" in found["context"]
    assert 0 < found["total_tokens"] <= found["budget"] == 300
    assert [set(memory) for memory in found["memories"]] == [{"memory_number"}] * len(found["memories"])
    assert found["memories"]


def test_what_nothing_fits_is_answered_without_memories_by_settings_of_the_moment(
    agent: Agent, unused: Place, new_agent: Agent
) -> None:
    question = "zxqv wkjh"
    assert agent.answer("memory_retrieve", query=question)["results"] == []
    result = agent.call("memory_context", query=question)
    assert result.structured_content["context"] == ""
    assert text_of(result) == "No memory of this workspace fits the question."
    assert new_agent.answer("memory_retrieve", query="anything")["results"] == []
    assert new_agent.answer("memory_explain", ids=[1])["missing_ids"] == [1]
    for tool, listed in (("memory_topics", "topics"), ("memory_open", "items"), ("memory_recent", "memories")):
        assert new_agent.answer(tool)[listed] == []
    assert new_agent.error("memory_read", memory_number=1)["error_code"] == "MEMORY_NOT_FOUND"
    assert not unused.spool.root.exists(), "asking leaves nothing behind"
    assert new_agent.answer("memory_context", query="tokens")["budget"] == 2000
    unused.workspace.env_file.write_text("COGNEE_MEMORY_MAX_TOKENS=300\n", "utf-8")
    assert new_agent.answer("memory_context", query="tokens")["budget"] == 300
    unused.workspace.env_file.write_text("COGNEE_MEMORY_RANKING_PRESET=odd\n", "utf-8")
    assert new_agent.error("memory_retrieve", query="tokens")["error_code"] == "SETTING_INVALID"


def test_explanations_have_the_contracts_shape_and_retrieves_scores(agent: Agent) -> None:
    hits = agent.answer("memory_retrieve", query="who renews tokens?", limit=10)["results"]
    numbers = [3, 999, *(hit["memory_number"] for hit in hits)]
    found = agent.answer("memory_explain", query="who renews tokens?", memory_numbers=numbers)
    assert set(found) == {"items", "missing_ids", "errors", "metadata"}
    assert found["missing_ids"] == [999]
    assert [error["code"] for error in found["errors"]] == ["NOT_FOUND"]
    by_number = {item["id"]: item for item in found["items"]}
    assert by_number[3]["retrieval"]["source"] in ("id_lookup", "query+id_lookup")
    for rank, hit in enumerate(hits, 1):
        item = by_number[hit["memory_number"]]
        assert item["retrieval"]["rank"] == rank
        # Each was asked at its own moment; a few seconds of age move the seventh digit.
        assert item["score"]["total"] == pytest.approx(hit["score"], abs=1e-3)
    assert all(item["pack_context"] is None for item in found["items"])
    packed = agent.answer("memory_explain", query="who renews tokens?", include_pack_context=True)["items"]
    assert {*packed[0]["pack_context"]} == {"included", "position", "tokens", "truncated", "budget"}
    assert found["metadata"]["requested_ids_count"] == len(set(numbers))
    for named in ({"query": "who renews tokens?", "memory_numbers": [3]}, {"ids": [3], "project": "workspace"}):
        alone = agent.answer("memory_explain", **named)
        assert ([item["id"] for item in alone["items"]], alone["metadata"]["returned_items_count"]) == ([3], 1)


NOT_SERVED = [
    ({}, "INVALID_ARGUMENT", []),
    ({"query": "tokens", "limit": 51}, "INVALID_ARGUMENT", []),
    ({"query": "tokens", "ids": [1], "project": "elsewhere"}, "PROJECT_MISMATCH", [1]),
]


@pytest.mark.parametrize(("arguments", "code", "missing"), NOT_SERVED)
def test_a_request_that_explain_cannot_serve_is_an_error_in_the_contracts_words(
    agent: Agent, arguments: dict[str, Any], code: str, missing: list[int]
) -> None:
    result = agent.call("memory_explain", **arguments)
    assert result.is_error
    found = result.structured_content
    jsonschema_rs.validate(agent.tools()["memory_explain"].output_schema, found)
    assert (found["items"], found["missing_ids"]) == ([], missing)
    assert code in [error["code"] for error in found["errors"]]
    assert json.loads(text_of(result)) == found


MISTAKES = [
    ("memory_retrieve", {"query": "  "}, "QUERY_EMPTY", ""),
    ("memory_retrieve", {}, "ARGUMENT_INVALID", "needs query"),
    ("memory_retrieve", {"query": 5}, "ARGUMENT_INVALID", "query must be a text"),
    ("memory_retrieve", {"query": "x", "max_result": 5}, "ARGUMENT_INVALID", "Did you mean 'limit'?"),
    ("memory_retrieve", {"query": "x", "as_of": "soon"}, "ARGUMENT_INVALID", "as_of"),
    ("memory_retrieve", {"query": "x", "status": "Odd"}, "ARGUMENT_INVALID", "status"),
    ("memory_context", {"query": "x", "max_tokens": "many"}, "ARGUMENT_INVALID", "max_tokens"),
    ("memory_ingest", {}, "ARGUMENT_INVALID", "needs summary"),
    ("memory_ingest", {"summary": SUMMARY, "conversation": {}}, "ARGUMENT_INVALID", "Exactly one"),
    ("memory_ingest", {"summary": "text"}, "ARGUMENT_INVALID", "summary must be an object"),
    ("memory_job_status", {"job_id": "unknown-1"}, "JOB_NOT_FOUND", "unknown-1"),
    ("memory_job_status", {"job_id": "../../etc/passwd"}, "JOB_NOT_FOUND", ""),
    ("memory_job_status", {"job_id": "a", "wait_seconds": 1e9}, "ARGUMENT_INVALID", "wait_seconds"),
    ("memory_compact_preview", {"topic_id": "sign-ins"}, "TOPIC_NOT_FOUND", "'sign-in'"),
    ("memory_compact_preview", {"topic_id": "invoices"}, "NOTHING_TO_COMPACT", "one memory"),
    ("memory_ingest", {"summary": {"topic": "x"}}, "JOB_INVALID", "The field summary.context"),
    ("memory_feedback", {"memory_number": 99, "verdict": "wrong"}, "MEMORY_NOT_FOUND", "99"),
    ("memory_mark_outdated", {"memory_number": 99}, "MEMORY_NOT_FOUND", "99"),
    ("memory_mark_outdated", {}, "ARGUMENT_INVALID", "needs memory_number"),
    ("memory_mark_outdated", {"memory_number": 1, "replaced_by": 1}, "ARGUMENT_INVALID", "cannot replace itself"),
    ("memory_mark_outdated", {"memory_number": 1, "number": 1}, "ARGUMENT_INVALID", "Did you mean 'memory_number'?"),
    ("memory_resolve", {"pair": "1/2"}, "ARGUMENT_INVALID", "belong together"),
    ("memory_resolve", {"pair": "1.1/99.1", "verdict": "newer"}, "MEMORY_NOT_FOUND", "#99"),
    ("memory_read", {"memory_number": 1, "memory_id": "memory-10"}, "ARGUMENT_INVALID", "Exactly one"),
    ("memory_read", {"memory_number": 10**30}, "ARGUMENT_INVALID", "whole number"),
    ("memory_read", {"memory_number": 1, "offset": -1}, "ARGUMENT_INVALID", "offset"),
    ("memory_recent", {"limit": 51}, "ARGUMENT_INVALID", "1 to 50"),
]


@pytest.mark.parametrize(("name", "arguments", "code", "words"), MISTAKES)
def test_a_mistake_is_answered_with_what_to_do(
    agent: Agent, place: Place, name: str, arguments: dict[str, Any], code: str, words: str
) -> None:
    before = sorted(place.spool.root.rglob("*"))
    found = agent.error(name, **arguments)
    assert found["error_code"] == code
    assert words in found["error"]
    assert sorted(place.spool.root.rglob("*")) == before, "nothing was dropped and nobody was started"
    for_people = ("cognee-memory ", "--help", "docs/", "payload.")
    assert not any(word in json.dumps(found) for word in for_people), "an agent has no shell and no files of ours"


# --- reading without a question ---


def test_a_memory_is_read_whole_by_its_number_or_its_id(agent: Agent) -> None:
    found = agent.answer("memory_read", memory_number=1)
    assert found == agent.answer("memory_read", memory_id="memory-10")
    memory = found["memory"]
    assert (memory["title"], memory["topic_id"], memory["status"], found["next_offset"]) == (
        "Sign-in", "sign-in", "Active", None,
    )  # fmt: skip
    assert "Only the tray renews tokens" in memory["summary_text"]
    assert "People were logged out overnight." in memory["summary_text"]
    assert agent.answer("memory_read", memory_number=4)["memory"]["status"] == "Superseded"
    assert json.loads(text_of(agent.call("memory_read", memory_number=1))) == found


def test_a_long_memory_is_read_in_parts(agent: Agent) -> None:
    parts, offset = [], 0
    while offset is not None:
        found = agent.answer("memory_read", memory_id="long", offset=offset)
        parts.append(found["memory"]["summary_text"])
        offset = found["next_offset"]
    assert len(parts) == 3
    assert "".join(parts) == LONG
    assert found["total_characters"] == len(LONG)


def test_the_newest_memories_come_first_without_a_question(agent: Agent) -> None:
    found = agent.answer("memory_recent", limit=2)
    assert [memory["memory_number"] for memory in found["memories"]] == [3, 2]
    assert found["memories"][1]["excerpt"] == "Tokens are renewed under a lock"
    assert found["total"] == 5
    since = agent.answer("memory_recent", since="2026-11-12", include_superseded=True)
    assert [memory["memory_number"] for memory in since["memories"]] == [4, 3, 2]
    of_topic = agent.answer("memory_recent", topic_id="sign-in", limit=1)
    assert ([memory["memory_number"] for memory in of_topic["memories"]], of_topic["total"]) == ([2], 2)


def test_the_topics_are_listed_with_their_titles_and_counts(agent: Agent) -> None:
    found = agent.answer("memory_topics")
    assert [(topic["topic_id"], topic["title"], topic["active"], topic["superseded"]) for topic in found["topics"]] == [
        ("sign-in", "Sign-in", 2, 0),
        ("invoices", "Invoices", 1, 1),
    ]
    one = agent.answer("memory_topics", limit=1)
    assert (len(one["topics"]), one["warnings"]) == (1, ["1 of 2 shown; limit shows more"])


# --- which workspace ---

FITTING: dict[str, dict[str, Any]] = {
    "memory_retrieve": {"query": "tokens"},
    "memory_context": {"query": "tokens"},
    "memory_explain": {"query": "tokens"},
    "memory_read": {"memory_number": 1},
    "memory_recent": {},
    "memory_open": {},
    "memory_topics": {},
    "memory_ingest": {"summary": SUMMARY},
    "memory_feedback": {"memory_number": 1, "verdict": "helpful"},
    "memory_mark_outdated": {"memory_number": 1},
    "memory_resolve": {},
    "memory_job_status": {"job_id": "some-job"},
    "memory_compact_preview": {"topic_id": "sign-in"},
}


def test_another_project_is_refused_and_nothing_happens(agent: Agent, place: Place) -> None:
    before = sorted(place.spool.root.rglob("*"))
    for name in FITTING.keys() - {"memory_explain"}:
        for project in ("elsewhere", "/", "workspace/"):
            assert agent.error(name, **FITTING[name], project=project)["error_code"] == "PROJECT_MISMATCH", name
    assert sorted(place.spool.root.rglob("*")) == before


def test_this_project_may_be_named_by_its_folder_or_its_path(agent: Agent, place: Place, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(place.workspace.root)
    root = str(place.workspace.root)
    for project in ("workspace", root, f"{root}/", f"{root}/../workspace", str(link)):
        assert agent.answer("memory_retrieve", query="tokens", project=project)["results"]
        assert agent.answer("memory_explain", query="tokens", project=project)["errors"] == []


def test_what_somebody_else_left_stays_closed_to_every_tool_and_no_question_is_logged(
    unused: Place, new_agent: Agent
) -> None:
    unused.workspace.memory.mkdir()
    unused.workspace.memory_db.write_bytes(b"from a clone")
    for name, arguments in FITTING.items():
        found = new_agent.error(name, **arguments)
        assert found["error_code"] == "WORKSPACE_NOT_TRUSTED", name
        assert "cognee-memory trust" in found["remediation"], name
        assert not unused.spool.root.exists(), name
    trust.adopt(unused.workspace, unused.config, trusted=True)
    assert new_agent.error("memory_retrieve", query="a secret question")["error_code"] == "STORE_UNREADABLE"
    assert "secret" not in new_agent.log()


def test_a_server_that_was_started_in_the_home_folder_makes_no_folders_there(tmp_path: Path) -> None:
    """It serves a project below it."""
    place = Place(tmp_path, adopted=False)
    home = place.workspace.root
    (home / "project" / ".git").mkdir(parents=True)
    place.environment |= {"HOME": str(home), "USERPROFILE": str(home)}
    run = ["-m", "worker.cli", "mcp"]
    before = sorted(home.rglob("*"))
    with agent_of(place, arguments=run, cwd=home) as agent:
        for name, arguments in FITTING.items():
            found = agent.error(name, **arguments)
            assert found["error_code"] == "WORKSPACE_NOT_CHOSEN"
            assert "--workspace" in found["remediation"]
    assert sorted(home.rglob("*")) == before
    with agent_of(place, arguments=run, cwd=home / "project") as agent:
        assert agent.answer("memory_recent")["memories"] == []


# --- jobs ---


def ended(agent: Agent, job_id: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found = agent.answer("memory_job_status", job_id=job_id, wait_seconds=5)
        return found["job"] if "success" in found["job"] else None

    return until(look, f"{job_id} has ended", 2 * PATIENCE)


@pytest.mark.cognee
def test_what_an_agent_remembers_it_finds_again_and_the_worker_outlives_its_server(unused: Place) -> None:
    with agent_of(unused) as agent:
        found = agent.answer("memory_ingest", summary=SUMMARY, job_id="retry-pauses")
        assert found == {"notice": found["notice"], "job_id": "retry-pauses", "duplicate": False, "similar": []}
        until(lambda: unused.heartbeat().get("state") == "ready", "the worker is there")
        status = ended(agent, "retry-pauses")
        assert (status["state"], status["success"]) == ("succeeded", True)
        assert status["result"]["topic_id"] == "retry-pauses"
        (hit,) = agent.answer("memory_retrieve", query="how long do uploads pause?")["results"]
        assert SUMMARY["decisions"][0] in hit["summary_text"]

        again = agent.answer("memory_ingest", summary=SUMMARY, job_id="retry-pauses")
        assert (again["job_id"], again["duplicate"]) == (found["job_id"], True)
        changed = {**SUMMARY, "context": "Something else."}
        assert agent.error("memory_ingest", summary=changed, job_id="retry-pauses")["error_code"] == "JOB_ID_CONFLICT"
        told = agent.answer("memory_job_status", job_id="retry-pauses")
        assert told["job"]["state"] == "succeeded"

        talk = agent.answer("memory_ingest", conversation={"user_message": "Hm?", "assistant_message": "Aye."})
        assert ended(agent, talk["job_id"])["result"]["memory_type"] == "legacy"
        anew = agent.answer("memory_ingest", summary=SUMMARY)
        assert ended(agent, anew["job_id"])["result"]["duplicate"] is True

        number = status["result"]["memory_number"]
        assert told["outcome"] == f"Stored as memory #{number} of topic retry-pauses."
        given = agent.call("memory_feedback", memory_number=number, verdict="helpful", note="It held.", wait_seconds=50)
        assert text_of(given) == f"The feedback on memory #{number} is recorded: 1 helpful, 0 wrong."
        assert agent.answer("memory_job_status", job_id=given.structured_content["job_id"])["outcome"] == (
            f"Memory #{number}: 1 helpful, 0 wrong."
        )
        first, *_ = agent.answer("memory_retrieve", query="how long do uploads pause?")["results"]
        assert first["feedback"] == {"helpful": 1, "wrong": 0}
        newer = {**SUMMARY, "context": "The gateway is faster.", "decisions": ["Uploads pause for 1, 2 and 4 seconds"]}
        told = agent.answer("memory_ingest", summary=newer)
        assert [(one["memory_number"], one["says"], one["says_otherwise"]) for one in told["similar"]] == [
            (number, SUMMARY["decisions"][0], True)
        ]
        other = ended(agent, told["job_id"])["result"]["memory_number"]
        marked = agent.call("memory_mark_outdated", memory_number=number, replaced_by=other, wait_seconds=50)
        assert text_of(marked) == f"Memory #{number} is Superseded now, replaced by #{other}."
        assert agent.answer("memory_job_status", job_id=marked.structured_content["job_id"])["outcome"] == (
            f"Memory #{number} is Superseded."
        )
        (hit,) = agent.answer("memory_retrieve", query="how long do uploads pause?")["results"]
        assert hit["memory_number"] == other
        history = agent.answer("memory_retrieve", query="how long do uploads pause?", include_superseded=True)
        said = {hit["memory_number"]: hit.get("replaced") for hit in history["results"]}
        assert said[number] == f"Memory #{other} replaced it."
        assert said[other] is None
        read = agent.answer("memory_read", memory_number=number)["memory"]
        assert read["feedback"]["given"][0]["note"] == said[number]
        again = agent.answer("memory_mark_outdated", memory_number=number)
        assert (again["result"], again["job_id"], again["state"]) == (None, None, "succeeded")
    assert is_held(unused.spool.lock), "the client has ended its server, and with it the server's group"
    if Path("/proc/self/fd").is_dir():
        fds = Path(f"/proc/{unused.heartbeat()['pid']}/fd")
        assert not any(str((fds / name).readlink()).startswith("pipe:") for name in ("0", "1", "2"))


def test_an_agent_settles_what_is_disputed_and_retires_one_decision(unused: Place, new_agent: Agent) -> None:
    plans = {"topic": "Plans", "context": "Prices were set."}
    earlier = {**plans, "decisions": ["We use PostgreSQL for the invoices", "Ann answers the phone"]}
    later = {**plans, "decisions": ["The reception takes all calls", "We use SQLite for the invoices"]}
    trust.adopt(unused.workspace, unused.config)
    with unused.worker():
        for summary, day in ((earlier, "2026-09-01"), (later, "2026-10-01")):
            stored = new_agent.answer("memory_ingest", summary={**summary, "source_created_at": day})
            assert ended(new_agent, stored["job_id"])["success"]
        (listed,) = until(lambda: new_agent.answer("memory_resolve")["pairs"], "the two were compared")
        assert listed["pair"] == "1/2"
        for side, number, day, statement in (
            ("older", 1, "2026-09-01", earlier["decisions"][0]),
            ("newer", 2, "2026-10-01", later["decisions"][1]),
        ):
            found = listed[side]
            assert (found["memory_number"], found["dated_at"][:10], found["statement"]) == (number, day, statement)
        settled = new_agent.answer("memory_resolve", pair="1/2", verdict="newer", reason="It moved.", wait_seconds=50)
        assert (settled["state"], settled["result"]["memory_numbers"]) == ("succeeded", [1, 2])
        assert new_agent.answer("memory_resolve")["pairs"] == []
        retired = new_agent.answer("memory_resolve", pair="1.2/2.1", verdict="newer", wait_seconds=50)
        assert retired["state"] == "succeeded"
        hits = new_agent.answer("memory_retrieve", query="who answers the phone?")["results"]
        assert hits[0]["memory_number"] == 2
        pairs = unused.json("review", "--all")["pairs"]
        expected = [(earlier["decisions"][0], "replaced", "agent"), (earlier["decisions"][1], "replaced", "agent")]
        assert [(pair["older"]["statement"], pair["state"], pair["by"]) for pair in pairs] == expected
        back = unused.json("review", "1.2", "2.1", "both", "--reason", "Two ways.")
        assert (back["pair"]["state"], back["pair"]["reason"]) == ("both", "Two ways.")


def test_a_job_is_followed_to_its_end_or_asked_for_later(place: Place, agent: Agent) -> None:
    """A failed job says why and what to do; a preview shows the merged record and changes nothing."""

    def told(verb: str) -> None:
        asker.request(place.spool, verb)
        assert not asker.unhandled(place.spool, [place.spool.request(verb)], PATIENCE)

    with place.worker():
        found = agent.answer("memory_job_status", job_id=place.submit("noop", {"outcome": "fail"}), wait_seconds=50)
        job = found["job"]
        assert (job["state"], job["success"], found["worker_alive"]) == ("failed", False, True)
        assert job["error"]["code"] == "TEST_FAILURE"
        assert job["error"]["remediation"]

        told("pause")
        found = agent.answer("memory_compact_preview", topic_id="sign-in", wait_seconds=0.5)
        assert (found["state"] in ("in the inbox", "queued"), found["result"]) == (True, None)
        place.in_state(found["job_id"], "queued")
        assert agent.answer("memory_job_status", job_id=found["job_id"])["outcome"] == "The job waits for its turn."
        marked = agent.call("memory_mark_outdated", memory_number=1, wait_seconds=0.5)
        mark = marked.structured_content["job_id"]
        assert marked.structured_content["state"] in ("in the inbox", "queued")
        assert mark in text_of(marked)
        assert marked.structured_content["result"] is None
        asker.cancel(place.spool, mark)
        assert place.ended(mark).state == "cancelled"
        told("resume")
        preview = ended(agent, found["job_id"])["result"]
        listed = place.json("memories", "list")  # now that the memories were compared with each other
        in_time = agent.answer("memory_compact_preview", topic_id="sign-in", wait_seconds=50)["result"]
        wrong = agent.error("memory_compact_preview", topic_id="sign-in", keep_both=["00000000"], wait_seconds=50)
    assert wrong["error_code"] == "CONFLICT_NOT_FOUND"
    assert {summary["memory_id"] for summary in preview["summaries"]} == {"memory-10", "memory-12"}
    assert len(preview["preview_digest"]) == 64
    assert in_time["preview_digest"] == preview["preview_digest"]
    assert place.json("memories", "list") == listed


def test_a_worker_that_cannot_start_leaves_the_job_and_says_so(unused: Place, new_agent: Agent) -> None:
    settings = unused.config / "config.toml"
    settings.parent.mkdir()
    settings.write_text('rescan_seconds = "never"\n', "utf-8")
    assert new_agent.error("memory_ingest", summary=SUMMARY)["error_code"] == "SETTING_INVALID"
    settings.unlink()
    trust.adopt(unused.workspace, unused.config)
    unused.spool.queue_db.mkdir()
    found = new_agent.error("memory_ingest", summary=SUMMARY, job_id="kept")
    assert found["error_code"] == "WORKER_START_FAILED"
    assert found["error_details"]["job_id"] == "kept"
    assert new_agent.error("memory_ingest", summary=SUMMARY, job_id="kept")["error_code"] == "WORKER_START_FAILED"
    changed = {**SUMMARY, "context": "Something else."}
    assert new_agent.error("memory_ingest", summary=changed, job_id="kept")["error_code"] == "JOB_ID_CONFLICT"
    assert json.loads(unused.spool.dropped("kept").read_bytes())["payload"] == {"summary": SUMMARY}


# --- the process ---


def test_calls_are_answered_beside_one_that_waits(agent: Agent, place: Place) -> None:
    waiting = asker.submit(place.spool, "noop", {}).job_id
    slow: list[dict[str, Any]] = []
    thread = threading.Thread(
        target=lambda: slow.append(agent.answer("memory_job_status", job_id=waiting, wait_seconds=8))
    )
    thread.start()
    try:
        found = at_once(lambda _: agent.answer("memory_retrieve", query="who renews tokens?", as_of=NOW), range(8))
        assert not slow, "the others were answered first"
        assert found == found[:1] * 8
    finally:
        thread.join()
        place.spool.dropped(waiting).unlink()
    assert slow[0]["job"]["state"] == "in the inbox"


_STRAYS = """
import os, threading

def print_astray():
    from mcp.server import stdio
    while 1 not in stdio._claims or stdio._claims[1].private_fd is None:
        pass
    for number in range(2000):
        print("stray", number, flush=True)
        os.write(1, b"stray, below Python\\n")
    print("stray, in a buffer", end="")

import sys
if "mcp" in sys.orig_argv:
    import mcp.server.stdio
    threading.Thread(target=print_astray, daemon=True).start()
"""


def test_what_libraries_print_does_not_reach_the_protocol(place: Place, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(_STRAYS, "utf-8")
    with Raw(place, PYTHONPATH=str(tmp_path)) as raw:
        assert raw.shake_hands()["id"] == 0
        for number in range(1, 20):
            raw.call(number, "memory_job_status", {"job_id": "none"})
            assert raw.receive()["id"] == number
        until(lambda: raw.stderr().count("stray, below Python") == 2000, "the strays landed on stderr")
        raw.process.stdin.close()
        assert raw.process.stdout.read() == b""


def test_nothing_heavy_is_imported_before_a_question_and_nonsense_is_survived_and_not_logged(place: Place) -> None:
    with Raw(place, PYTHONPROFILEIMPORTTIME="1") as raw:
        raw.shake_hands()
        raw.ask(1, "tools/list")
        assert len(raw.receive()["result"]["tools"]) == len(TOOLS)
        imported = {line.rpartition("|")[2].strip() for line in raw.stderr().splitlines()}
        assert "worker.mcp.server" in imported
        assert not imported & {"cognee", "numpy", "onnxruntime", "lancedb", "litellm", "huey", "watchdog"}
        raw.send(
            b"secret nonsense",
            b'{"jsonrpc":"2.0","id":2',
            b"\xff\xfe secret",
            b"[]",
            b"",
            b'{"jsonrpc":"2.0","method":"notifications/secret"}',
            b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_retrieve",'
            b'"arguments":{"query":"secret \\ud800"}}}',
        )
        answered = []
        raw.call(3, "memory_forget_it_all", {"secret": 1})
        raw.call(4, "memory_retrieve", "secret")
        raw.ask(5, "secret/method")
        raw.call(6, "memory_retrieve", {"query": "secret words", "odd": 1})
        raw.call(7, "memory_retrieve", {"query": "secret words", "max_tokens": "NaN"})
        raw.call(8, "memory_ingest", {"summary": {"topic": "secret", "context": 7}})
        while len(answered) < 7:
            found = raw.receive()
            if found.get("id") in range(2, 9):
                answered.append(found)
        assert {found["id"]: "error" in found for found in answered} == {
            2: False, 3: True, 4: True, 5: True, 6: False, 7: False, 8: False,
        }  # fmt: skip
        assert all(found["result"]["isError"] for found in answered if "result" in found and found["id"] != 2)
        raw.ask(9, "ping")
        assert raw.receive()["id"] == 9
    assert not [line for line in raw.stderr().splitlines() if "secret" in line and not line.startswith("import time:")]


@pytest.mark.parametrize("way", ["stdin closes", "stdout closes", "SIGTERM", "SIGINT"])
def test_the_process_ends_with_its_client_also_in_the_middle_of_a_call(place: Place, way: str) -> None:
    waiting = asker.submit(place.spool, "noop", {}).job_id
    try:
        with Raw(place) as raw:
            raw.shake_hands()
            long = {"job_id": waiting, "wait_seconds": LONGEST_WAIT_SECONDS}
            raw.call(1, "memory_job_status", long)
            raw.call(2, "memory_retrieve", {"query": "tokens"})
            assert raw.receive()["id"] == 2
            began = time.monotonic()
            if way == "stdin closes":
                raw.process.stdin.close()
            elif way == "stdout closes":
                raw.process.stdout.close()
                raw.ask(3, "ping")
            else:
                raw.process.send_signal(getattr(signal, way))
            status = raw.process.wait(PATIENCE)
            assert time.monotonic() - began < LONGEST_WAIT_SECONDS - 5, "it does not wait for its calls"
            assert status == {"SIGTERM": -signal.SIGTERM, "SIGINT": -signal.SIGINT}.get(way, 0)
            assert "Traceback" not in raw.stderr()
    finally:
        place.spool.dropped(waiting).unlink()


def test_a_workspace_that_is_not_there_ends_it_with_the_reason_on_stderr(place: Place) -> None:
    done = place.python("-m", "worker.cli", "mcp", "--workspace", "/no/such/folder", input="")
    assert (done.returncode, done.stdout) == (1, "")
    assert "WORKSPACE_MISSING" in done.stderr
