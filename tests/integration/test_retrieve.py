"""Retrieval with the real model: the contract's shape, in a fresh process, beside a writer, without cognee."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contract
import pytest
from cognee_process import CogneeProcess
from fake_embedder import FakeEmbedder
from harness import PROJECT, Place

from bridge import trust
from bridge.embedding.local_models import ENGLISH, ENGLISH_FULL
from bridge.graph.open_stores import Stores
from bridge.memory import Content, Memory, Metadata, References
from bridge.settings import load
from bridge.store.store import Store

NOW = "2026-11-20T12:00:00Z"
SCRIPT = str(PROJECT / "bridge" / "retrieve.py")

METADATA_FIELDS = {
    "memory_id", "memory_number", "memory_type", "topic", "topic_id", "plan_id", "session_id", "status",
    "source_created_at", "created_at", "updated_at", "importance", "tags", "anchors",
}  # fmt: skip
SCORE_FIELDS = {
    "score", "final_score", "relevance_score", "semantic_score", "vector_score", "lexical_score",
    "recency_multiplier", "recency_score", "status_multiplier",
}  # fmt: skip
TEXT_FIELDS = {"summary_text", "text", "tokens"}
CONTENT_FIELDS = {"decisions", "rationale", "open_questions", "next_steps", "references"}
LEGACY = METADATA_FIELDS | SCORE_FIELDS | TEXT_FIELDS
SUMMARY = LEGACY | CONTENT_FIELDS
RECORD = SUMMARY | {"compaction_source"}


def memories() -> list[Memory]:
    return [
        Memory(
            "summary-1", 0, "summary",
            Metadata("login", "session-1", "plan-014", "Active", "2026-11-18T12:00:00Z", "2026-11-18T12:00:00Z",
                     "2026-11-17T12:00:00Z", 0.5),
            NOW,
            Content("Login and sessions", "Users lost their session overnight.", ("Only the tray renews tokens",),
                    ("It removes the race",), ("Does the tool need it?",), ("Replay the traces",),
                    References(("src/renew.rs",), (), ("fix/race",), ("#7",))),
        ),
        Memory(
            "record-1", 0, "decision_record",
            Metadata("login", None, "014", "DecisionRecord", "2026-11-19T12:00:00Z", "2026-11-19T12:00:00Z"),
            NOW, Content("Login and sessions", "What holds of the session of a user.", ("Tokens are renewed once",)),
            sources=("old-1", "old-2"),
        ),
        Memory(
            "superseded-1", 0, "summary",
            Metadata("login", None, None, "Superseded", "2026-11-19T12:00:00Z", "2026-11-19T12:00:00Z"),
            NOW, Content("Login and sessions", "Each window renews the session of a user by itself."),
        ),
        Memory(
            "legacy-1", 0, "legacy", Metadata(created_at="2026-11-10T12:00:00Z", importance=0.25), NOW,
            text="User asked: why do users lose their session?\n\nAssistant answered: the token expires.",
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def place(model_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace with one memory of each kind. Only the store was written: retrieval needs no graph."""
    place = Place(tmp_path_factory.mktemp("retrieve"), COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    trust.adopt(place.workspace, place.config)
    stores = Stores(place.workspace, load(environment=place.environment))
    store: Store = stores.store
    store.add([(memory, None) for memory in memories()], NOW)
    store.close()
    return place


@pytest.fixture
def unused(tmp_path: Path) -> Place:
    return Place(tmp_path, adopted=False)


def script(place: Place, *arguments: str) -> dict[str, Any]:
    """What ``python bridge/retrieve.py`` prints: one object, and nothing on stderr."""
    done = place.python(SCRIPT, *arguments)
    assert done.stderr == ""
    found = contract.checked(done.stdout)
    assert done.returncode == {True: 0}.get(found["success"], done.returncode)
    return {**found, "exit_status": done.returncode}


def asked(place: Place, query: str, *arguments: str) -> dict[str, Any]:
    return script(place, "--workspace", str(place.workspace.root), "--query", query, *arguments)


# --- the answer ---


def test_a_mixed_answer_has_exactly_the_contracts_shape(place: Place) -> None:
    found = asked(place, "history of the session of a user", "--as-of", NOW, "--max-tokens", "100000")
    assert found["success"] is True
    assert found["result_count"] == found["total_results"] == len(found["results"]) == 4
    assert found["total_tokens"] == sum(hit["tokens"] for hit in found["results"])
    assert (found["half_life_days"], found["include_superseded"]) == (7.0, True)
    assert (found["include_superseded_reason"], found["as_of"], found["warnings"]) == ("query", NOW, [])
    by_type = {hit["memory_id"]: hit for hit in found["results"]}
    assert set(by_type["summary-1"]) == set(by_type["superseded-1"]) == SUMMARY
    assert set(by_type["record-1"]) == RECORD
    assert set(by_type["legacy-1"]) == LEGACY


def test_a_summary_is_shown_with_its_fields_as_they_are_now(place: Place) -> None:
    hits = {hit["memory_id"]: hit for hit in asked(place, "session of a user", "--as-of", NOW)["results"]}
    hit = hits["summary-1"]
    assert (hit["memory_type"], hit["topic"], hit["topic_id"]) == ("summary", "Login and sessions", "login")
    assert (hit["plan_id"], hit["session_id"], hit["status"]) == ("plan-014", "session-1", "Active")
    assert (hit["source_created_at"], hit["created_at"], hit["importance"]) == (
        "2026-11-17T12:00:00Z", "2026-11-18T12:00:00Z", 0.5,
    )  # fmt: skip
    assert hit["decisions"] == ["Only the tray renews tokens"]
    assert hit["references"] == ["src/renew.rs", "fix/race", "#7"]
    assert hit["text"] == hit["summary_text"]
    assert "- Status: Active" in hit["summary_text"]
    assert hits["record-1"]["compaction_source"] == ["old-1", "old-2"]
    assert hits["record-1"]["summary_text"].startswith("<!-- Decision Record Template")


def test_a_legacy_hit_has_its_text_and_null_metadata(place: Place) -> None:
    hits = {hit["memory_id"]: hit for hit in asked(place, "why do users lose their session")["results"]}
    hit = hits["legacy-1"]
    assert (hit["memory_type"], hit["importance"]) == ("legacy", 0.25)
    assert hit["text"].startswith("User asked: ")
    for name in METADATA_FIELDS - {"memory_id", "memory_number", "memory_type", "importance", "tags", "anchors"}:
        assert hit[name] is None, name


def test_the_score_is_the_product_of_its_factors_as_shown(place: Place) -> None:
    for hit in asked(place, "session of a user", "--include-superseded", "--as-of", NOW)["results"]:
        product = hit["semantic_score"] * hit["recency_multiplier"] * hit["status_multiplier"]
        assert hit["score"] == hit["final_score"] == hit["relevance_score"] == pytest.approx(product, rel=1e-9)
        assert hit["recency_score"] == hit["recency_multiplier"]


def test_hits_come_best_first(place: Place) -> None:
    scores = [hit["score"] for hit in asked(place, "session of a user", "--include-superseded")["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_paraphrase_without_a_common_word_is_found(place: Place) -> None:
    found = asked(place, "people were logged out at night")
    assert "summary-1" in [hit["memory_id"] for hit in found["results"]]


def test_the_positional_arguments_are_those_of_the_contract(place: Place) -> None:
    root = str(place.workspace.root)
    by_position = script(place, root, "session of a user", "2", "500", "14", "true")
    by_name = asked(
        place, "session of a user", "--max-results", "2", "--max-tokens", "500", "--half-life-days", "14",
        "--include-superseded", "true",
    )  # fmt: skip
    for name in ("half_life_days", "include_superseded", "include_superseded_reason", "total_results"):
        assert by_position[name] == by_name[name]
    assert (by_position["half_life_days"], by_position["include_superseded"]) == (14.0, True)
    assert [hit["memory_id"] for hit in by_position["results"]] == [hit["memory_id"] for hit in by_name["results"]]
    assert len(by_position["results"]) <= 2


def test_named_and_positional_arguments_mix_in_either_order(place: Place) -> None:
    root = str(place.workspace.root)
    for arguments in (
        ("--status", "Active", root, "session of a user"),
        (root, "session of a user", "--status", "Active"),
        (root, "--status", "Active", "session of a user"),
    ):
        assert [hit["memory_id"] for hit in script(place, *arguments)["results"]] == ["summary-1"], arguments


def test_the_same_question_gives_the_same_bytes_in_every_process(place: Place) -> None:
    arguments = (SCRIPT, str(place.workspace.root), "session of a user", "--as-of", NOW)
    assert place.python(*arguments).stdout == place.python(*arguments).stdout


def test_the_command_and_the_script_give_the_same_answer(place: Place) -> None:
    by_script = asked(place, "session of a user", "--as-of", NOW)
    by_command = place.json("retrieve", "session of a user", "--as-of", NOW, "--preset", "contract")
    assert by_command == {name: value for name, value in by_script.items() if name != "exit_status"}


def test_the_command_and_the_script_have_their_own_default_preset(place: Place) -> None:
    by_script = asked(place, "session of a user", "--as-of", NOW)
    by_command = place.json("retrieve", "session of a user", "--as-of", NOW)
    assert [found["ranking"]["preset"] for found in (by_script, by_command)] == ["contract", "long-lived"]


# --- the process ---

FORBIDDEN = (
    "cognee", "lancedb", "litellm", "huey", "watchdog", "pydantic_settings", "torch", "ladybug", "fastembed",
    "bridge.reranking", "bridge.search.second_stage",
)  # fmt: skip
LOADED = f"print([name for name in {FORBIDDEN!r} if name in sys.modules])"


def test_importing_retrieval_loads_none_of_the_heavy_packages(place: Place) -> None:
    done = place.python("-c", f"import sys, bridge.retrieve; {LOADED}")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_whole_retrieval_loads_none_of_the_heavy_packages(place: Place) -> None:
    code = f"""
import sys
from bridge.retrieve import respond
found = respond({str(place.workspace.root)!r}, {{"query": "session of a user"}})
assert found["results"], found
{LOADED}
"""
    done = place.python("-c", code)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_retrieving_changes_nothing_that_was_stored(place: Place) -> None:
    def contents() -> dict[str, bytes]:
        kept = [path for path in place.workspace.root.rglob("*") if path.is_file() and "-" not in path.suffix]
        return {str(path): path.read_bytes() for path in kept}

    before = contents()
    asked(place, "session of a user")
    assert contents() == before


# --- what can be wrong ---


def test_a_workspace_that_was_never_used_gives_no_results_and_stays_untouched(unused: Place) -> None:
    found = asked(unused, "anything")
    assert (found["success"], found["results"], found["total_results"], found["total_tokens"]) == (True, [], 0, 0)
    assert list(unused.workspace.root.iterdir()) == []


def test_an_adopted_workspace_without_memories_gives_no_results(unused: Place) -> None:
    trust.adopt(unused.workspace, unused.config)
    assert asked(unused, "anything")["results"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["nowhere", "query"], "WORKSPACE_MISSING", 1),
        ([".", ""], "QUERY_EMPTY", 2),
        ([".", "query", "many"], "ARGUMENT_INVALID", 2),
        ([".", "query", "1", "1", "1", "true", "more"], "ARGUMENT_INVALID", 2),
        ([".", "query", "--loud"], "ARGUMENT_INVALID", 2),
        ([".", "query", "--as-of", "yesterday"], "ARGUMENT_INVALID", 2),
    ],
)
def test_an_error_is_an_answer_in_the_contracts_shape(
    unused: Place, arguments: list[str], code: str, status: int
) -> None:
    found = script(unused, *arguments)
    assert (found["success"], found["error_code"], found["exit_status"]) == (False, code, status)
    assert isinstance(found["error"], str)
    assert found["remediation"]
    assert (found["results"], found["total_results"]) == ([], 0)


def test_a_workspace_of_somebody_else_is_not_read(place: Place, tmp_path: Path) -> None:
    place_of_another = Place(tmp_path)
    place_of_another.environment["COGNEE_MEMORY_CACHE_DIR"] = place.environment["COGNEE_MEMORY_CACHE_DIR"]
    found = script(place_of_another, str(place.workspace.root), "session of a user")
    assert (found["success"], found["error_code"]) == (False, "WORKSPACE_NOT_TRUSTED")
    assert "cognee-memory trust" in found["remediation"]


@pytest.fixture
def of_full_weights(tmp_path: Path) -> Place:
    """A store of the full weights, as version 0.4.0 made it, on a machine that does not have them."""
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(tmp_path / "empty"))
    trust.adopt(place.workspace, place.config)
    embedder = FakeEmbedder(ENGLISH_FULL.dimensions)
    embedder.identity = ENGLISH_FULL.identity
    store = Store(place.workspace, embedder)
    store.add([(memory, None) for memory in memories()], NOW)
    store.close()
    return place


def test_a_store_whose_model_is_not_on_this_machine_is_refused_with_the_remedy(of_full_weights: Place) -> None:
    found = script(of_full_weights, str(of_full_weights.workspace.root), "session")
    assert (found["success"], found["error_code"]) == (False, "EMBEDDER_CHANGING")
    assert ENGLISH_FULL.identity in found["error"]
    assert ENGLISH.identity in found["error"]
    assert "cognee-memory worker start" in found["remediation"]


def test_a_chosen_model_that_is_missing_is_a_clear_error_with_the_remedy(of_full_weights: Place) -> None:
    of_full_weights.environment["EMBEDDING_MODEL"] = ENGLISH_FULL.model
    found = script(of_full_weights, str(of_full_weights.workspace.root), "session")
    assert (found["error_code"], found["remediation"]) == (
        "MODEL_MISSING",
        "Fetch it: cognee-memory model use english-full.",
    )


def test_a_damaged_store_is_an_answer_and_no_traceback(tmp_path: Path, model_cache: Path) -> None:
    place = Place(tmp_path, COGNEE_MEMORY_CACHE_DIR=str(model_cache))
    trust.adopt(place.workspace, place.config)
    place.workspace.memory_db.write_bytes(b"SQLite format 3\0" + b"\xa5" * 20_000)
    found = asked(place, "session")
    assert (found["success"], found["error_code"], found["exit_status"]) == (False, "STORE_UNREADABLE", 1)


# --- beside cognee ---


@pytest.fixture
def every(graph: CogneeProcess) -> Iterator[Place]:
    """The workspace of the process that holds cognee, with no relevance floor and room for all."""
    place = graph.place
    more = {"COGNEE_MEMORY_RELEVANCE_FLOOR": "0", "COGNEE_MEMORY_MAX_RESULTS": "1000"}
    before = place.environment
    place.environment = before | more
    yield place
    place.environment = before


@pytest.mark.cognee
def test_the_similarity_agrees_with_cognees_own_vector_search(graph: CogneeProcess, every: Place) -> None:
    texts = [
        "Tokens are renewed by one process only",
        "Backups run every night",
        "ü" * 300,
        "word " * 700,  # longer than the model reads: both ways must cut alike
        "状态机 und Übergänge",
    ]
    ids = [graph.ingest({"summary_text": text})["memory_id"] for text in texts]
    for query in ("who renews tokens?", texts[0], "nightly backup", "word " * 600):
        theirs = graph.search(query, "LegacyMemory_text", 1000)
        ours = {hit["memory_id"]: hit for hit in asked(every, query, "--max-tokens", "1000000")["results"]}
        for memory_id in ids:
            cosine = 1 - theirs[memory_id]
            # Each text is one passage, which is the whole: best and whole are the same cosine.
            assert ours[memory_id]["vector_score"] == pytest.approx(max(0.0, cosine), abs=1e-3), query


@pytest.mark.cognee
def test_retrieval_works_while_the_worker_writes_and_sees_each_commit_whole(graph: CogneeProcess, every: Place) -> None:
    """A reader is never refused, and what it has seen once it sees ever after."""
    batches = [
        [graph.task("ingest", {"summary": {"topic": "Beside", "topic_id": "beside", "context": f"Text {n} {m}"}})
         for m in range(8)]
        for n in range(6)
    ]  # fmt: skip
    errors: list[BaseException] = []
    graph.run("ingest", *batches.pop(0))  # before that, the topic is an unknown one

    def write() -> None:
        try:
            for batch in batches:
                assert all("result" in outcome for outcome in graph.run("ingest", *batch))
        except BaseException as error:
            errors.append(error)

    code = f"""
import json, sys
from bridge.retrieve import respond
for _ in sys.stdin:
    found = respond({str(every.workspace.root)!r}, {{"query": "Text", "topic_id": "beside", "max_tokens": 1000000}})
    print(json.dumps([found["success"], found["total_results"]]), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], env=every.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        seen = []
        writer = threading.Thread(target=write)
        writer.start()
        writing = True
        while writing:
            writing = writer.is_alive()  # one more look after the end
            reader.stdin.write("\n")
            reader.stdin.flush()
            success, count = json.loads(reader.stdout.readline())
            assert success
            seen.append(count)
        writer.join()
        reader.stdin.close()
    assert errors == []
    assert seen == sorted(seen)
    assert {count % 8 for count in seen} == {0}, "a batch is visible whole or not at all"
    assert seen[-1] == 48
