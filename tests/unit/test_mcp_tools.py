"""What the MCP tools say of themselves, which is true and taken by every client, and what an agent reads of a job."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, meta

from bridge.argument_table import ARGUMENTS, EXPLAIN_ARGUMENTS, MAX_IDS
from jobs.errors import ERRORS, JobError
from jobs.model import Record
from jobs.payloads import PAYLOADS, Ingest, Summary
from worker.cli import parser
from worker.mcp import changes, inputs, tools
from worker.mcp.answer import FOR_THE_USER, REMEDIES, remedy, short
from worker.mcp.reading import status_of as job_status
from worker.mcp.tools import INSTRUCTIONS, TOOLS, Tool

BY_NAME = {tool.name: tool for tool in TOOLS}

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def properties(name: str) -> dict[str, Any]:
    return BY_NAME[name].input()["properties"]


@every_tool
def test_schemas_are_valid_and_about_objects(tool: Tool) -> None:
    for schema in (tool.input(), tool.output()):
        meta.validate(schema)
        assert schema["type"] == "object"


@every_tool
def test_no_input_has_at_its_root_what_providers_of_models_refuse(tool: Tool) -> None:
    assert not tool.input().keys() & {"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$defs"}


@every_tool
def test_every_argument_is_described_and_no_other_is_taken(tool: Tool) -> None:
    def check(schema: dict[str, Any]) -> None:
        assert schema["additionalProperties"] is False
        for name, value in schema["properties"].items():
            assert value["description"].endswith("."), name
            if "properties" in value:
                check(value)

    check(tool.input())


@every_tool
def test_what_an_argument_requires_and_defaults_to_is_in_the_schema_and_in_words(tool: Tool) -> None:
    schema = tool.input()
    assert set(schema["required"]) <= set(schema["properties"])
    for name, value in schema["properties"].items():
        assert "anyOf" not in value, name
        if "default" in value:
            assert name not in schema["required"]
            assert f"Default: {json.dumps(value['default'])}." in value["description"]


def test_the_list_of_tools_is_short_because_every_conversation_carries_it() -> None:
    def tokens(*parts: Any) -> float:
        return len(json.dumps(parts, ensure_ascii=False, separators=(",", ":"))) / 4

    assert sum(tokens(tool.name, tool.description, tool.input()) for tool in TOOLS) < 2500
    assert sum(tokens(tool.output()) for tool in TOOLS) < 3100


def test_one_meaning_has_one_name_in_all_tools() -> None:
    names = {name for tool in TOOLS for name in tool.input()["properties"]}
    assert {"limit", "memory_number", "memory_numbers", "topic_id", "query"} <= names
    assert not names & {"max_results", "ids", "id", "number", "memory_id", "count", "question", "topic"}
    for tool in TOOLS:
        assert not tool.unlisted.keys() & tool.input()["properties"].keys()


@every_tool
def test_a_tool_says_when_to_use_it_and_what_comes_back(tool: Tool) -> None:
    assert tool.title
    assert "Use it" in tool.description
    assert 100 < len(tool.description) <= 200
    assert not set(tool.description) & set("`*#\n"), "a client may show it as it is"


def test_instructions_and_descriptions_name_tools_that_exist() -> None:
    said = " ".join([INSTRUCTIONS, *(tool.description for tool in TOOLS)])
    named = {word.strip(".,:;()") for word in said.split() if word.startswith("memory_")} - {"memory_number"}
    said_in_errors = {word for text in REMEDIES.values() for word in re.findall(r"memory_\w+", text)}
    assert said_in_errors <= set(BY_NAME)
    assert named <= set(BY_NAME)


def test_explain_takes_what_its_contract_says_by_the_names_of_all_tools() -> None:
    tool = BY_NAME["memory_explain"]
    taken = tool.input()["properties"]
    assert list(taken) == ["query", "memory_numbers", "limit", "include_pack_context"]
    assert tool.unlisted == {"ids": "memory_numbers"}
    assert taken["memory_numbers"]["maxItems"] == MAX_IDS
    assert (taken["limit"]["minimum"], taken["limit"]["maximum"]) == EXPLAIN_ARGUMENTS["limit"].range


def test_explain_gives_what_its_contract_says() -> None:
    schema = BY_NAME["memory_explain"].output()
    assert set(schema["required"]) == {"items", "missing_ids", "errors", "metadata"}
    assert "success" not in schema["properties"]


@every_tool
def test_an_empty_text_is_an_optional_argument_that_was_not_given(tool: Tool) -> None:
    optional = {name for name, argument in tool.arguments.items() if not argument.is_required} | {*tool.unlisted}
    assert tools.named(tool, dict.fromkeys([*optional, "project"], "")) == {}
    required = dict.fromkeys(set(tool.arguments) - optional, "")
    assert tools.named(tool, required) == required, "an error says what is missing"


def test_an_empty_text_in_a_summary_or_a_list_is_left_out() -> None:
    summary = {"topic": "", "context": "Said.", "plan_id": " ", "topic_id": "", "tags": [""], "decisions": ["One", ""]}
    given = tools.named(BY_NAME["memory_ingest"], {"summary": summary})["summary"]
    assert given == {"topic": "", "context": "Said.", "tags": [], "decisions": ["One"]}
    assert tools.named(BY_NAME["memory_retrieve"], {"query": "x", "tags": ["", "a"]}) == {"query": "x", "tags": ["a"]}


def test_the_ranges_that_are_shown_are_those_in_force() -> None:
    def shown(name: str, argument: str) -> tuple[float, float]:
        found = properties(name)[argument]
        return found["minimum"], found["maximum"]

    for name in ("memory_retrieve", "memory_context"):
        assert shown(name, "limit") == ARGUMENTS["max_results"].range
        assert shown(name, "max_tokens") == ARGUMENTS["max_tokens"].range
        assert {*properties(name), *BY_NAME[name].unlisted} - {"limit"} <= set(ARGUMENTS)


def test_what_ingest_takes_is_what_a_job_takes() -> None:
    taken = properties("memory_ingest")
    fields = Summary.model_fields
    assert set(taken["summary"]["properties"]) <= set(fields)
    assert set(taken["summary"]["required"]) == {f for f, info in fields.items() if info.is_required()}
    whole = {
        field: {"string": schema.get("enum", ["x"])[0], "array": ["x"], "number": 0.5}[schema["type"]]
        for field, schema in taken["summary"]["properties"].items()
    } | {"source_created_at": "2026-11-01"}
    assert isinstance(PAYLOADS["ingest"].model_validate({"summary": whole}), Ingest)
    Draft202012Validator(BY_NAME["memory_ingest"].input()).validate({"summary": whole})


def test_an_agent_is_told_what_a_tool_can_do_and_the_rest_is_for_the_user() -> None:
    assert set(REMEDIES) <= set(ERRORS)
    for code, kind in ERRORS.items():
        shown = remedy(code, kind.remediation)
        if any(word in shown for word in ("cognee-memory ", "COGNEE_MEMORY_", "docs/", "--")):
            assert FOR_THE_USER in shown, code
    assert remedy("TOPIC_NOT_FOUND", ERRORS["TOPIC_NOT_FOUND"].remediation) == "List the topics with memory_topics."
    assert remedy("ARGUMENT_INVALID", "Its arguments are query.") == "Its arguments are query."
    assert remedy("ARGUMENT_INVALID", "See cognee-memory jobs --help.") == REMEDIES["ARGUMENT_INVALID"]
    assert remedy("MODEL_MISSING", ERRORS["MODEL_MISSING"].remediation) == "For the user: Run: cognee-memory setup."


def test_a_wait_ends_before_a_client_gives_the_call_up() -> None:
    assert changes._PREVIEW_WAIT_SECONDS <= inputs.LONGEST_WAIT_SECONDS < 60


def test_the_configurations_in_the_docs_start_the_server() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text("utf-8")
    blocks = [json.loads(block) for block in re.findall(r"^```jsonc\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    assert [list(block) for block in blocks] == [["servers"], ["mcpServers"], ["mcpServers"], ["mcpServers"]]
    for block in blocks:
        for servers in block.values():
            (server,) = servers.values()
            assert server.get("type", "stdio") == "stdio"
            assert server["command"].endswith("/bin/cognee-memory")
            assert parser().parse_args(server["args"]).command == "mcp"


def test_the_docs_name_every_tool_and_no_other() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "mcp.md").read_text("utf-8")
    named = set(re.findall(r"`(memory_\w+)`", page))
    assert named - {"memory_number", "memory_numbers", "memory_id"} == set(BY_NAME)
    for tool in TOOLS:
        assert all(f"`{name}`" in page for name in tool.unlisted), tool.name


# --- what an agent reads of a job ---


(KEPT,) = [tool.kept for tool in TOOLS if tool.name == "memory_job_status"]

STORED = {
    "memory_id": "m", "memory_number": 6, "memory_type": "summary", "topic": "Retry", "topic_id": "retry",
    "session_id": None, "plan_id": None, "status": "Active", "created_at": None, "updated_at": None,
    "source_created_at": None, "importance": None, "duplicate": False, "redactions": None, "ingested_chars": 9,
    "timings_ms": {"store": 1, "graph": 1, "jobs_together": 1},
}  # fmt: skip


def record(state: str, kind: str = "ingest", **fields: Any) -> Record:
    return Record("job-1", kind, "0" * 64, state, **fields)  # type: ignore[arg-type]


OUTCOMES = [
    (None, "The job waits in the inbox."),
    (record("queued"), "The job waits for its turn."),
    (record("running"), "The job runs."),
    (record("cancelled"), "The job was cancelled."),
    (record("expired"), "The job expired before it could run."),
    (record("succeeded", result=STORED), "Stored as memory #6 of topic retry."),
    (record("succeeded", result=STORED | {"duplicate": True}), "It was stored before, as memory #6 of topic retry."),
    (record("succeeded", result=STORED | {"topic_id": None}), "Stored as memory #6."),
    (
        record("succeeded", result=STORED | {"redactions": {"total": 2, "kinds": {"aws": 2}}}),
        "Stored as memory #6 of topic retry. 2 likely secrets had been replaced.",
    ),
    (record("succeeded", "set_status", result=STORED | {"status": "Superseded"}), "Memory #6 is Superseded."),
    (record("succeeded", "noop", result={}), "The job succeeded."),
    (
        record("failed", error=JobError("TOPIC_NOT_FOUND", "There is no topic 'x'.").as_dict()),
        "The job failed: There is no topic 'x'.",
    ),
]


@pytest.mark.parametrize(("found", "outcome"), OUTCOMES)
def test_a_job_is_told_in_one_sentence(found: Record | None, outcome: str) -> None:
    assert job_status("job-1", found, worker_alive=True)["outcome"] == outcome


def test_a_job_that_waits_without_a_worker_says_so() -> None:
    assert job_status("job-1", None, worker_alive=False)["outcome"] == "The job waits in the inbox; no worker runs now."
    assert job_status("job-1", record("expired"), worker_alive=False)["outcome"].endswith("could run.")


def test_the_answer_about_a_stored_memory_is_small() -> None:
    found = job_status("job-1", record("succeeded", result=STORED, elapsed_ms=5), worker_alive=True)
    assert len(str(short(found, KEPT))) < 500
    assert short(found, KEPT)["job"]["result"] == {
        "memory_number": 6, "memory_id": "m", "memory_type": "summary", "topic_id": "retry", "status": "Active",
        "duplicate": False,
    }  # fmt: skip


def test_the_remedy_of_a_failed_job_is_one_for_an_agent() -> None:
    error = JobError("INTERNAL").as_dict()
    found = job_status("job-1", record("failed", error=error), worker_alive=True)
    error = short(found, KEPT)["job"]["error"]
    assert error["remediation"].startswith("For the user: Run: cognee-memory jobs retry job-1.")
