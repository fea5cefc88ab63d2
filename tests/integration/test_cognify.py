"""cognify and ask through the real cognee and its real client, with a language model that follows a script: what each
answer of a provider means, and what is sent for it."""

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cognee_forks import EndedByItself, Fork, Forks, task
from harness import PATIENCE, PROJECT, Place, until
from llm_server import Drip, Garbage, Good, Hang, LlmServer, Malformed, Reset, Status, Step, WrongShape

from bridge.store import values
from jobs import clock
from jobs.model import Record

pytestmark = pytest.mark.cognee

KEY = "sk-a-key-that-nobody-may-see"
TEXT = "Alice chose SQLite in Paris."
SUMMARY = "SummarizedContent"
ATLAS = "Alice said that Postgres replaces Mysql in Atlas."
BOREAS = "Bob said that Redis helps Boreas, and Postgres too."


@pytest.fixture(autouse=True)
def _as_new(model: LlmServer) -> Iterator[None]:
    model.reset()
    yield
    model.release()


@pytest.fixture(scope="module")
def process(model: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fork]:
    place = Place(
        tmp_path_factory.mktemp("cognify"),
        # Addresses and keys for other programs, which must not be taken for ours:
        OPENAI_BASE_URL="http://127.0.0.1:9/elsewhere",
        OPENAI_API_BASE="http://127.0.0.1:9/elsewhere",
        OPENAI_API_KEY="sk-of-another-program",
        **model.environment(key=KEY),
    )
    with Forks(place, with_model=True, asks=True).start() as found:
        yield found


@pytest.fixture(scope="module")
def looked_into(process: Fork, model: LlmServer) -> list[str]:
    """Two texts that cognee has looked into: ids of their memories."""
    model.reset()  # a test's script would hold until the next test, which is made ready after this
    result = process.result("cognify", {"texts": [ATLAS, BOREAS]})
    assert result["looked_into"] == 2
    return [memory["memory_id"] for memory in result["memories"]]


def one(process: Fork, kind: str, payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    (outcome,) = process.run(kind, process.task(kind, payload, **fields))
    return outcome


def rows(process: Fork) -> dict[str, str]:
    """Every row of cognee's own database, by table."""
    path = process.place.workspace.cognee_system / "databases" / "cognee_db"
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: repr(connection.execute(f'SELECT * FROM "{name}"').fetchall()) for name in tables}


def search(process: Fork, text: str, collection: str, limit: int) -> dict[str, float]:
    return dict(process.ask("search", text, collection, limit))


def ask_llm(process: Fork, shape: str, text: str, **options: Any) -> dict[str, Any]:
    """As ``cognee_program.ask_llm``."""
    return process.ask("ask_llm", shape, text, options)


def entities(process: Fork) -> set[str]:
    """The names of the things that cognee's own search finds."""
    found = [process.ask("node", node_id) for node_id in search(process, "anything", "Entity_name", 100)]
    return {node["name"] for node in found if node is not None}


def test_a_text_becomes_nodes_and_edges(process: Fork, model: LlmServer, looked_into: list[str]) -> None:
    assert {"alice", "postgres", "mysql", "atlas", "bob", "redis", "boreas"} <= entities(process)
    ((name, document),) = process.ask("neighbours", looked_into[0])
    assert (name, document["id"]) == ("read_as", values.data_id_of(looked_into[0]))
    assert document["type"] == "TextDocument"
    (chunk,) = [node for name, node in process.ask("neighbours", document["id"]) if name == "is_part_of"]
    assert chunk["text"] == ATLAS
    contained = {
        node["name"]: node["id"] for name, node in process.ask("neighbours", chunk["id"]) if name == "contains"
    }
    assert contained.keys() == {"alice", "postgres", "mysql", "atlas"}
    beside = {node["name"] for name, node in process.ask("neighbours", contained["postgres"]) if name == "named_with"}
    assert {"alice", "mysql"} <= beside


def test_the_model_gets_the_memorys_text_and_nothing_else(process: Fork, model: LlmServer) -> None:
    process.ingest({"summary": {"topic": "Elsewhere", "context": "Nobody asked about Zephyr."}})
    text = "Carol likes Kafka."
    (memory,) = one(process, "cognify", {"texts": [text]})["result"]["memories"]
    assert [request.user.strip() for request in model.requests] == [text] * 2
    assert {request.wants for request in model.requests} == {"KnowledgeGraph", "SummarizedContent"}
    assert {request.headers["authorization"] for request in model.requests} == {f"Bearer {KEY}"}
    assert all("Zephyr" not in json.dumps(request.body) for request in model.requests)
    assert one(process, "cognify", {"texts": [text]})["result"]["before"] == 1
    assert rows(process)["acls"] == "[]"  # else all datasets would be loaded for each further text and question
    assert len(model.requests) == 2
    assert memory["nodes"] > 3


def test_findings_are_back_without_the_model(process: Fork, model: LlmServer, looked_into: list[str]) -> None:
    """After a rebuild."""

    def graph() -> Any:
        document = values.data_id_of(looked_into[0])
        (chunk,) = [node for name, node in process.ask("neighbours", document) if name == "is_part_of"]
        around = sorted(
            (name, node["id"], node.get("name", "")) for name, node in process.ask("neighbours", chunk["id"])
        )
        texts = search(process, "Postgres replaces Mysql", "EdgeType_relationship_name", 5)
        everything = process.ask("graph")
        parts = sorted(everything["nodes"]), sorted(everything["edges"])
        return parts, entities(process), chunk["text"], around, sorted(texts.items())

    before = graph()
    model.otherwise = Status(500)
    assert "result" in one(process, "rebuild", {"what": "graph"})
    assert graph() == before
    assert model.requests == []


def test_an_answer_rests_on_memories(process: Fork, model: LlmServer, looked_into: list[str]) -> None:
    model.then(Good("Postgres."))
    said = one(process, "ask", {"question": "What replaces Mysql in Atlas?"})["result"]
    assert (said["answer"], said["llm"]) == ("Postgres.", True)
    assert said["memories"][0] == {
        "memory_id": looked_into[0], "memory_type": "legacy", "title": ATLAS, "status": None,
        "memory_number": said["memories"][0]["memory_number"],
    }  # fmt: skip
    (request,) = model.requests
    assert said["context"] in request.user


def test_what_is_forgotten_leaves_the_graph_and_cognees_files_and_rows_and_the_shared_stays(
    process: Fork, model: LlmServer, looked_into: list[str]
) -> None:
    text = "Gudrun said that Postgres beats Haskell in Ithaca."
    (memory,) = one(process, "cognify", {"texts": [text]})["result"]["memories"]
    raw = {path.name for path in process.place.workspace.cognee_data.iterdir()}
    assert {"gudrun", "haskell", "ithaca", "postgres"} <= entities(process)
    assert "Gudrun" in str(rows(process))
    for _ in range(2):
        process.ask("forget_extractions", [memory["memory_id"]])
        assert entities(process) & {"gudrun", "haskell", "ithaca", "postgres"} == {"postgres"}
        assert process.ask("neighbours", memory["memory_id"]) == []
        assert [table for table, content in rows(process).items() if "udrun" in content] == []
        for collection in ("DocumentChunk_text", "TextSummary_text", "EdgeType_relationship_name"):
            assert min(search(process, "Gudrun said that Postgres beats Haskell.", collection, 1).values()) > 0.2
        (gone,) = raw - {path.name for path in process.place.workspace.cognee_data.iterdir()}
        assert gone.endswith(".txt")
    assert (
        one(process, "ask", {"question": "Who replaces Mysql?"})["result"]["memories"][0]["memory_id"] == looked_into[0]
    )


@pytest.mark.timeout(600)
def test_a_kill_loses_and_repays_nothing(model: LlmServer, tmp_path: Path) -> None:
    forks = Forks(Place(tmp_path, **model.environment()), asks=True)
    given = task("a", "cognify", {"texts": [ATLAS, BOREAS]})

    def asked(text: str) -> int:
        return sum(text in request.user for request in model.requests)

    model.otherwise = lambda request: Hang() if BOREAS in request.user and asked(BOREAS) <= 2 else Good()

    def kill() -> None:
        until(lambda: asked(BOREAS) >= 2, "the second text is looked into")
        os.kill(fork.pid, signal.SIGKILL)

    fork = forks.start()
    threading.Thread(target=kill).start()
    with pytest.raises(EndedByItself):
        fork.run("cognify", given)
    fork.kill()
    model.release()
    with forks.start() as fork:
        (outcome,) = fork.run("cognify", given)
    assert (outcome["result"]["looked_into"], outcome["result"]["calls"]) == (2, 6), "with the two that were cut off"
    assert (asked(ATLAS), asked(BOREAS)) == (2, 4)


# --- with a worker ---


@pytest.fixture(scope="module")
def place(model: LlmServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(
        tmp_path_factory.mktemp("worker"),
        COGNEE_MEMORY_LLM_CALLS_PER_JOB="3", **model.environment(),
    )  # fmt: skip
    with made.worker():
        yield made


def succeeded(place: Place, job_id: str) -> Record:
    record = place.ended(job_id)
    assert record.state == "succeeded", (record, place.log_end())
    return record


def test_without_the_graph_a_memory_is_stored_and_its_askers_wait_uncounted(place: Place, tmp_path: Path) -> None:
    """They wait with a clear error, and all is made good by itself."""

    def lag() -> int:
        return place.json("status")["memory"]["graph_lag"]

    folder = place.workspace.cognee_system / "databases"
    if folder.exists():
        folder.rename(tmp_path / "before")
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("in the way of the folder")
    succeeded(place, place.submit("ingest", {"summary": {"topic": "Broken folders", "context": "All about them."}}))
    job_id = place.submit("ask", {"question": "What is it all about?"})
    record = place.in_state(job_id, "retrying")
    assert (record.error["code"], record.error["retryable"]) == ("GRAPH_UNAVAILABLE", True)
    assert "stored and retrievable" in record.error["remediation"]
    assert (record.attempts[-1].outcome, record.errors, record.crashes) == ("waiting", 0, 0)
    done = place.python(str(PROJECT / "bridge" / "retrieve.py"), str(place.workspace.root), "broken folders")
    assert "Broken folders" in [hit["topic"] for hit in json.loads(done.stdout)["results"]]
    assert lag() >= 1
    folder.unlink()
    record = succeeded(place, job_id)
    assert (record.error, "Broken folders" in str(record.result), lag()) == (None, True, 0)


@pytest.mark.timeout(600)
def test_others_are_let_in_and_a_pause_or_a_spent_budget_is_waited_for(place: Place, model: LlmServer) -> None:
    model.otherwise = Hang()
    job = place.submit("cognify", {"texts": [ATLAS]})
    model.wait_for(1, PATIENCE)
    succeeded(place, place.submit("ingest", {"summary": {"topic": "Between", "context": "Short work."}}))
    record = place.record(job)
    assert record.state == "running"
    model.release()
    succeeded(place, job)

    model.reset()
    model.then(Status(429, retry_after=3), Status(429, retry_after=3))
    job = place.submit("cognify", {"texts": ["Carol likes Kafka."]}, max_attempts=1)
    record = place.in_state(job, "retrying")
    assert (record.error["code"], record.errors) == ("RATE_LIMITED", 0)
    assert record.next_attempt_at is not None
    ended_at = record.attempts[-1].finished_at
    assert ended_at is not None
    assert (clock.parse(record.next_attempt_at) - clock.parse(ended_at)).total_seconds() >= 2.9
    succeeded(place, job)

    model.reset()
    job = place.submit("cognify", {"texts": ["Dora wants Elixir.", "Emil wants Fortran."]})
    record = place.in_state(job, "retrying")
    assert record.error["code"] == "LLM_BUDGET_SPENT"
    assert "COGNEE_MEMORY_LLM_CALLS_PER_JOB" in record.error["message"]
    assert "looked into 1 of them, and that stays" in record.error["message"]
    assert not any("Fortran" in request.user for request in model.requests)
    assert ATLAS not in place.log()
    assert "Fortran" not in place.log()
    place.cli("jobs", "cancel", job)


# --- the client ---


def test_an_answer_of_the_wanted_form_is_given_and_paid_for(process: Fork, model: LlmServer) -> None:
    model.then(Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = ask_llm(process, SUMMARY, TEXT, job_id="good")
    assert found["answers"] == [{"summary": "SQLite", "description": "Alice chose it."}]
    (request,) = model.requests
    assert (request.path, request.wants, request.user) == ("/v1/chat/completions", SUMMARY, TEXT)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    answered = found["spent"]
    assert answered["calls"] == 1
    assert answered["prompt_tokens"] == len(f"{request.system} {request.user}".split()), "as the provider reports it"
    assert answered["completion_tokens"] > 0
    assert found["of_job"] == answered


REFUSALS = [
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
]


@pytest.mark.parametrize(("step", "code", "details"), REFUSALS, ids=repr)
def test_a_refusal_ends_the_call_at_once_with_one_request(
    process: Fork, model: LlmServer, step: Step, code: str, details: dict[str, int] | None
) -> None:
    model.then(step)
    found = ask_llm(process, SUMMARY, TEXT, times=3, job_id=repr(step))
    assert found["error"]["code"] == code, found
    assert len(model.requests) == 1
    was_put_off = isinstance(step, Status) and step.status == 429
    assert found["of_job"]["calls"] == (0 if was_put_off else 1)
    assert found["error"].get("details") == details
    said = repr(found["error"])
    assert KEY not in said
    assert TEXT not in said


@pytest.mark.parametrize("step", [Hang(), Drip(0.05)], ids=repr)
def test_a_missing_or_cut_off_answer_is_given_up_in_time(process: Fork, model: LlmServer, step: Step) -> None:
    model.then(step)
    found = ask_llm(process, SUMMARY, TEXT, llm_timeout_seconds=0.5, job_id=repr(step))
    assert found["error"]["code"] == "LLM_TIMEOUT"
    assert "0.5 seconds" in found["error"]["message"]
    assert len(model.requests) == 1
    assert found["of_job"]["prompt_tokens"] > 0, "the estimate stands: the provider may have worked for it"


@pytest.mark.parametrize("step", [Malformed(), WrongShape()], ids=repr)
def test_an_answer_of_another_form_is_asked_for_once_more(process: Fork, model: LlmServer, step: Step) -> None:
    model.then(step, Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = ask_llm(process, SUMMARY, TEXT, job_id=f"again {step!r}")
    assert found["answers"] == [{"summary": "SQLite", "description": "Alice chose it."}]
    assert (found["of_job"]["calls"], len(model.requests)) == (2, 2)
    model.reset()
    model.then(step, step)
    found = ask_llm(process, SUMMARY, TEXT, job_id=f"twice {step!r}")
    assert found["error"]["code"] == "LLM_FAILED"
    assert (found["of_job"]["calls"], len(model.requests)) == (2, 2)


def test_nothing_is_asked_beyond_the_budget(process: Fork, model: LlmServer) -> None:
    found = ask_llm(process, SUMMARY, TEXT, times=5, job_id="poor", llm_calls_per_job=2)
    assert (len(found["answers"]), len(model.requests)) == (2, 2)
    assert found["error"]["code"] == "LLM_BUDGET_SPENT"
    found = ask_llm(process, "KnowledgeGraph", TEXT, times=5, job_id="wordy", llm_tokens_per_job=10)
    assert len(found["answers"]) == 1, "over by one call at most"


def test_a_model_that_knows_schemas_is_given_the_schema(process: Fork, model: LlmServer) -> None:
    model.then(Good({"summary": "SQLite", "description": "Alice chose it."}))
    found = ask_llm(process, SUMMARY, TEXT, job_id="schema", llm_model="openai/gpt-4o-mini")
    assert found["answers"][0]["summary"] == "SQLite"
    (request,) = model.requests
    assert request.body["response_format"]["type"] == "json_schema"
    assert request.body["response_format"]["json_schema"]["strict"] is True
    model.reset()
    model.then(Malformed(), Malformed(), Malformed())
    found = ask_llm(process, SUMMARY, TEXT, job_id="schema twice", llm_model="openai/gpt-4o-mini")
    assert (found["error"]["code"], len(model.requests)) == ("LLM_FAILED", 2)


def test_ollama_is_asked_without_a_key(process: Fork, model: LlmServer) -> None:
    ollama = {"llm_provider": "ollama", "llm_model": "made-up", "llm_endpoint": model.url, "llm_api_key": None}
    found = ask_llm(process, SUMMARY, TEXT, job_id="ollama", **ollama)
    assert found["answers"], found
    (request,) = model.requests
    assert request.path == "/api/generate", "not below /v1, which is where the other protocol lies"
    assert KEY not in repr(request.headers)
    assert found["of_job"]["completion_tokens"] > 0
    model.reset()
    model.then(Reset())
    found = ask_llm(process, SUMMARY, TEXT, job_id="cut", **ollama)
    assert (len(found["answers"]), len(model.requests), found["of_job"]["calls"]) == (1, 2, 2), "each that is sent"


def test_a_server_that_is_not_there_is_unreachable(process: Fork) -> None:
    found = ask_llm(process, SUMMARY, TEXT, job_id="nobody", llm_endpoint="http://127.0.0.1:9/v1")
    assert found["error"]["code"] == "LLM_UNREACHABLE"
    assert (found["of_job"]["calls"], found["of_job"]["prompt_tokens"]) == (0, 0)


def test_a_model_that_nobody_serves_is_a_matter_of_settings(process: Fork, model: LlmServer) -> None:
    found = ask_llm(process, SUMMARY, TEXT, job_id="unknown", llm_model="nobodys/model")
    assert found["error"]["code"] == "LLM_CONFIG"
    assert "openai/<model>" in found["error"]["remediation"]
    assert model.requests == []


def test_a_preview_has_the_models_word(process: Fork, model: LlmServer) -> None:
    for day, retention in ((1, "Logs are kept for a week."), (2, "Nobody reads logs older than a day or two.")):
        summary = {
            "topic": "Log retention",
            "context": "We spoke of how long logs are of use.",
            "decisions": [retention],
            "source_created_at": f"2026-10-0{day}T10:00:00Z",
        }
        process.ingest({"summary": summary})
    prose = "The team first kept logs for a week, and found that nobody reads the old ones."
    model.answers["Narrative"] = {"paragraphs": [prose]}
    model.answers["Verdicts"] = {"verdicts": [{"pair": 1, "stands": "both", "confidence": 0.9}]}
    (outcome,) = process.run("compact", process.task("compact", {"topic_id": "log-retention", "preview": True}))
    record = outcome["result"]["decision_record"]
    assert record["narrative_source"] == "llm"
    assert prose in record["summary_text"]
    assert record["summary_text"].startswith("Merged from 2 memories, 2026-10-01 to 2026-10-02.")
