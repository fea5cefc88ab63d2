"""cognee's real client and a scripted server: what each answer of a provider means, and what is sent for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cognee_process import CogneeProcess
from harness import Place
from llm_server import (
    Drip,
    Garbage,
    Good,
    Hang,
    LlmServer,
    Malformed,
    Reset,
    Status,
    Step,
    WrongShape,
)

pytestmark = pytest.mark.cognee

KEY = "sk-a-key-that-nobody-may-see"
TEXT = "Alice chose SQLite in Paris."
SUMMARY = "SummarizedContent"


@pytest.fixture(scope="module")
def running() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture(scope="module")
def process(running: LlmServer, model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CogneeProcess]:
    place = Place(
        tmp_path_factory.mktemp("llm"),
        COGNEE_MEMORY_CACHE_DIR=str(model_cache),
        # Addresses and keys for other programs, which must not be taken for ours:
        OPENAI_BASE_URL="http://127.0.0.1:9/elsewhere",
        OPENAI_API_BASE="http://127.0.0.1:9/elsewhere",
        OPENAI_API_KEY="sk-of-another-program",
        **running.environment(key=KEY),
    )
    found = CogneeProcess(place)
    assert "error" not in found.ask_llm(SUMMARY, "The first question of a process takes seconds of imports.")
    yield found
    found.close()


@pytest.fixture
def server(running: LlmServer) -> Iterator[LlmServer]:
    running.reset()
    yield running
    running.release()


def test_an_answer_of_the_wanted_form_is_given_and_paid_for(server: LlmServer, process: CogneeProcess) -> None:
    server.then(Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = process.ask_llm(SUMMARY, TEXT, job_id="good")
    assert found["answers"] == [{"summary": "SQLite", "description": "Alice chose it."}]
    (request,) = server.requests
    assert (request.path, request.wants, request.user) == ("/v1/chat/completions", SUMMARY, TEXT)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    answered = found["spent"]
    assert answered["calls"] == 1
    assert answered["prompt_tokens"] == len(f"{request.system} {request.user}".split()), "as the provider reports it"
    assert answered["completion_tokens"] > 0
    assert found["of_job"] == answered


@pytest.mark.parametrize(
    ("step", "code", "details"),
    [
        (Status(429, retry_after=77), "RATE_LIMITED", {"status": 429, "retry_after_seconds": 77}),
        (Status(429), "RATE_LIMITED", {"status": 429}),
        (Status(429, code="insufficient_quota", message="plan and billing"), "LLM_KEY_REFUSED", None),
        (Status(401, message=f"bad key {KEY}"), "LLM_KEY_REFUSED", None),
        (Status(403), "LLM_KEY_REFUSED", None),
        (Status(402), "LLM_KEY_REFUSED", None),
        (Status(404), "LLM_CONFIG", None),
        (Status(400, message=f"what is {TEXT}", code="unsupported_value"), "LLM_CONFIG", {"status": 400}),
        (Status(400, message="maximum context length", code="context_length_exceeded"), "LLM_TEXT_REFUSED", None),
        (Status(500, message=TEXT), "LLM_FAILED", {"status": 500}),
        (Status(503, retry_after=9), "LLM_FAILED", {"status": 503, "retry_after_seconds": 9}),
        (Status(529), "LLM_FAILED", {"status": 529}),
        (Status(408), "LLM_TIMEOUT", None),
        (Reset(), "LLM_UNREACHABLE", None),
        (Garbage(), "LLM_FAILED", None),
    ],
    ids=repr,
)
def test_a_refusal_ends_the_call_at_once_with_one_request(
    server: LlmServer, process: CogneeProcess, step: Step, code: str, details: dict[str, int] | None
) -> None:
    server.then(step)
    found = process.ask_llm(SUMMARY, TEXT, times=3, job_id=repr(step))
    assert found["error"]["code"] == code, found
    assert len(server.requests) == 1
    was_put_off = isinstance(step, Status) and step.status == 429
    assert found["of_job"]["calls"] == (0 if was_put_off else 1)
    assert found["error"].get("details") == details
    said = repr(found["error"])
    assert KEY not in said
    assert TEXT not in said


@pytest.mark.parametrize("step", [Hang(), Drip(0.05)], ids=repr)
def test_an_answer_that_does_not_come_or_not_whole_is_given_up_in_time(
    server: LlmServer, process: CogneeProcess, step: Step
) -> None:
    server.then(step)
    found = process.ask_llm(SUMMARY, TEXT, llm_timeout_seconds=0.5, job_id=repr(step))
    assert found["error"]["code"] == "LLM_TIMEOUT"
    assert "0.5 seconds" in found["error"]["message"]
    assert len(server.requests) == 1
    assert found["of_job"]["prompt_tokens"] > 0, "the estimate stands: the provider may have worked for it"


@pytest.mark.parametrize("step", [Malformed(), WrongShape()], ids=repr)
def test_an_answer_of_another_form_is_asked_for_once_more(
    server: LlmServer, process: CogneeProcess, step: Step
) -> None:
    server.then(step, Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = process.ask_llm(SUMMARY, TEXT, job_id=f"again {step!r}")
    assert found["answers"] == [{"summary": "SQLite", "description": "Alice chose it."}]
    assert (found["of_job"]["calls"], len(server.requests)) == (2, 2)
    server.reset()
    server.then(step, step)
    found = process.ask_llm(SUMMARY, TEXT, job_id=f"twice {step!r}")
    assert found["error"]["code"] == "LLM_FAILED"
    assert (found["of_job"]["calls"], len(server.requests)) == (2, 2)


def test_nothing_is_asked_beyond_the_budget(server: LlmServer, process: CogneeProcess) -> None:
    found = process.ask_llm(SUMMARY, TEXT, times=5, job_id="poor", llm_calls_per_job=2)
    assert (len(found["answers"]), len(server.requests)) == (2, 2)
    assert found["error"]["code"] == "LLM_BUDGET_SPENT"
    assert "COGNEE_MEMORY_LLM_CALLS_PER_JOB" in found["error"]["message"]
    assert found["error"]["details"]["retry_after_seconds"] == 3600
    assert process.ask_llm(SUMMARY, TEXT, job_id="poor", llm_calls_per_job=2)["answers"] == [], "nor by another attempt"
    found = process.ask_llm("KnowledgeGraph", TEXT, times=5, job_id="wordy", llm_tokens_per_job=10)
    assert len(found["answers"]) == 1, "over by one call at most"


def test_calls_at_the_same_time_share_one_budget(server: LlmServer, process: CogneeProcess) -> None:
    found = process.ask_llm(SUMMARY, TEXT, at_once=8, job_id="many", llm_calls_per_job=3)
    assert sorted(found["answers"]) == ["LLM_BUDGET_SPENT"] * 5 + [SUMMARY] * 3
    assert (len(server.requests), found["of_job"]["calls"]) == (3, 3)


def test_while_the_model_thinks_others_may_have_the_process(server: LlmServer, process: CogneeProcess) -> None:
    server.then(Drip(0.004))
    found = process.ask_llm(SUMMARY, TEXT, job_id="slow")
    assert len(found["answers"]) == 1
    assert found["pauses"] >= 1


def test_the_model_is_given_the_whole_answer_to_build_a_graph(server: LlmServer, process: CogneeProcess) -> None:
    (found,) = process.ask_llm("KnowledgeGraph", TEXT, job_id="graph")["answers"]
    assert [node["name"] for node in found["nodes"]] == ["Alice", "SQLite", "Paris"]
    assert [(edge["source_node_id"], edge["target_node_id"]) for edge in found["edges"]] == [
        ("alice", "sqlite"),
        ("sqlite", "paris"),
    ]


def test_a_model_that_knows_schemas_is_given_the_schema(server: LlmServer, process: CogneeProcess) -> None:
    server.then(Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = process.ask_llm(SUMMARY, TEXT, job_id="schema", llm_model="openai/gpt-4o-mini")
    assert found["answers"][0]["summary"] == "SQLite"
    (request,) = server.requests
    assert request.body["response_format"]["type"] == "json_schema"
    assert request.body["response_format"]["json_schema"]["strict"] is True
    server.reset()
    server.then(Malformed(), Malformed(), Malformed())
    found = process.ask_llm(SUMMARY, TEXT, job_id="schema twice", llm_model="openai/gpt-4o-mini")
    assert (found["error"]["code"], len(server.requests)) == ("LLM_FAILED", 2)


def test_ollama_is_asked_without_a_key(server: LlmServer, process: CogneeProcess) -> None:
    ollama = {"llm_provider": "ollama", "llm_model": "made-up", "llm_endpoint": server.url, "llm_api_key": None}
    found = process.ask_llm(SUMMARY, TEXT, job_id="ollama", **ollama)
    assert found["answers"], found
    (request,) = server.requests
    assert request.path == "/api/generate", "not below /v1, which is where the other protocol lies"
    assert KEY not in repr(request.headers)
    assert found["of_job"]["completion_tokens"] > 0
    server.reset()
    server.then(Reset())
    found = process.ask_llm(SUMMARY, TEXT, job_id="cut", **ollama)
    assert (len(found["answers"]), len(server.requests), found["of_job"]["calls"]) == (1, 2, 2), "each that is sent"


def test_a_server_that_is_not_there_is_unreachable(process: CogneeProcess) -> None:
    found = process.ask_llm(SUMMARY, TEXT, job_id="nobody", llm_endpoint="http://127.0.0.1:9/v1")
    assert found["error"]["code"] == "LLM_UNREACHABLE"
    assert (found["of_job"]["calls"], found["of_job"]["prompt_tokens"]) == (0, 0)


def test_a_model_that_nobody_serves_is_a_matter_of_settings(server: LlmServer, process: CogneeProcess) -> None:
    found = process.ask_llm(SUMMARY, TEXT, job_id="unknown", llm_model="nobodys/model")
    assert found["error"]["code"] == "LLM_CONFIG"
    assert "openai/<model>" in found["error"]["remediation"]
    assert server.requests == []


def test_a_preview_has_the_models_word_and_without_it_the_rules_and_says_so(
    server: LlmServer, process: CogneeProcess
) -> None:
    for day, retention in ((1, "Logs are kept for a week."), (2, "Nobody reads logs older than a day or two.")):
        summary = {
            "topic": "Log retention",
            "context": "We spoke of how long logs are of use.",
            "decisions": [retention],
            "source_created_at": f"2026-10-0{day}T10:00:00Z",
        }
        process.ingest({"summary": summary})
    prose = "The team first kept logs for a week, and found that nobody reads the old ones."
    server.answers["Narrative"] = {"paragraphs": [prose]}
    server.answers["Verdicts"] = {"verdicts": [{"pair": 1, "stands": "both", "confidence": 0.9}]}
    task = process.task("compact", {"topic_id": "log-retention", "preview": True})
    (outcome,) = process.run("compact", task)
    record = outcome["result"]["decision_record"]
    assert record["narrative_source"] == "llm"
    assert prose in record["summary_text"]
    assert record["summary_text"].startswith("Merged from 2 memories, 2026-10-01 to 2026-10-02.")
    server.reset()
    server.otherwise = Status(401)
    (outcome,) = process.run("compact", process.task("compact", {"topic_id": "log-retention", "preview": True}))
    assert outcome["result"]["decision_record"]["narrative_source"] == "template"
    assert [w for w in outcome["result"]["warnings"] if "LLM_KEY_REFUSED" in w]
    assert len(server.requests) == 1, "after the first refusal nobody asks again"
