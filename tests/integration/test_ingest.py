"""From a payload to a memory in the store and nodes in the graph, with the real cognee, and retrieval beside it."""

import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from cognee_forks import Fork, Forks
from harness import PROJECT, Place

from bridge.memory import Content, Metadata
from bridge.text.conversation import Conversation, parse_conversation
from bridge.text.template import render

pytestmark = pytest.mark.cognee

SCRIPT = str(PROJECT / "bridge" / "retrieve.py")
SUBMITTED, ACCEPTED = "2026-11-01T10:00:00Z", "2026-11-01T10:00:01Z"


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fork]:
    """cognee over a workspace of its own. Tests share it, so each brings memories that no other has."""
    place = Place(tmp_path_factory.mktemp("graph"))
    with Forks(place, with_model=True, delivers=False).start() as fork:
        yield fork


def summary(topic: str, **fields: Any) -> dict[str, Any]:
    return {"summary": {"topic": topic, "context": f"What was said of {topic}."} | fields}


def seen(graph: Fork, what: str, *arguments: Any) -> Any:
    """An answer of a graph that has all memories."""
    graph.ask("deliver_all")
    return graph.ask(what, *arguments)


def node_of(graph: Fork, memory: dict[str, Any]) -> dict[str, Any]:
    """The node of a memory that a job has stored."""
    return seen(graph, "node", memory["memory_id"])


def edges(graph: Fork, memory_id: str) -> Counter[tuple[str, str]]:
    """The names of a node's edges, and the types of the nodes at their other ends."""
    return Counter((name, node["type"]) for name, node in seen(graph, "neighbours", memory_id))


# --- what a payload becomes ---


def test_a_structured_summary_becomes_a_memory_and_its_nodes(graph: Fork) -> None:
    found = graph.ingest(
        summary(
            "Rate limits",
            decisions=["Use a token bucket", "状态机 per user"],
            rationale=["Bursts are normal"],
            open_questions=["Per address too?"],
            next_steps=["Measure"],
            references=["src/limits.py", "plan-021", "#77"],
            references_branches=["odd-name"],
            time_scope={"start": "2026-10-01T08:00:00Z", "turn_count": 4},
            session_id="session-rates",
            plan_id="plan-021",
            created_at="2026-10-02T08:00:00+02:00",
            source_created_at="2026-10-01T08:00:00Z",
            importance=0.75,
        ),
    )
    assert UUID(found["memory_id"])
    assert found["memory_number"] > 0
    assert found["ingested_chars"] > 0
    assert {name: found[name] for name in ("memory_type", "topic", "topic_id", "duplicate")} == {
        "memory_type": "summary", "topic": "Rate limits", "topic_id": "rate-limits", "duplicate": False,
    }  # fmt: skip
    assert (found["session_id"], found["plan_id"], found["status"]) == ("session-rates", "plan-021", "Active")
    assert (found["created_at"], found["updated_at"]) == ("2026-10-02T06:00:00Z", "2026-10-02T06:00:00Z")
    assert (found["source_created_at"], found["importance"]) == ("2026-10-01T08:00:00Z", 0.75)
    node = node_of(graph, found)
    assert (node["type"], node["memory_number"], node["status"]) == (
        "ConversationSummary", found["memory_number"], "Active",
    )  # fmt: skip
    assert node["decisions"] == ["Use a token bucket", "状态机 per user"]
    assert (node["references_files"], node["references_plans"]) == (["src/limits.py"], ["plan-021"])
    assert (node["references_branches"], node["references_issues"]) == (["odd-name"], ["#77"])
    expected = {("decided", "Decision"): 2, ("about", "Topic"): 1, ("of_plan", "Plan"): 1, ("of_session", "Session"): 1}
    assert edges(graph, found["memory_id"]) == expected
    decisions = [node for name, node in seen(graph, "neighbours", found["memory_id"]) if name == "decided"]
    assert {decision["text"] for decision in decisions} == {"Use a token bucket", "状态机 per user"}
    assert edges(graph, decisions[0]["id"]) == {("decided", "ConversationSummary"): 1}, "it leads to nothing else"
    assert seen(graph, "lag") == 0


def test_memories_of_one_topic_plan_and_session_share_their_nodes(graph: Fork) -> None:
    first = graph.ingest(summary("Shared", session_id="session-shared", plan_id="plan-041"))
    second = graph.ingest(
        summary("Shared", context="Another talk.", session_id="session-shared", plan_id="041-some-title")
    )
    nodes = [
        {name: node["id"] for name, node in seen(graph, "neighbours", memory["memory_id"])}
        for memory in (first, second)
    ]
    assert nodes[0] == nodes[1]
    assert set(nodes[0]) == {"about", "of_plan", "of_session"}


ENRICHED = Metadata(
    "its-topic-id", "session-9", "plan-009", "Superseded", "2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z"
)
LOOSE = "# A loose note\n\nIt has no labels at all."
BESIDE = {"topic_id": "from-the-job", "session_id": "s-job", "plan_id": "002"}
TEXTS = {
    "an enriched text keeps its metadata": (
        {"summary_text": render(Content("Enriched", "Told in a template."), ENRICHED)},
        {"topic": "Enriched", **{name: getattr(ENRICHED, name) for name in ("topic_id", "session_id", "plan_id")},
         "status": "Superseded", "created_at": ENRICHED.created_at, "updated_at": ENRICHED.updated_at},
    ),
    "what stands beside a text wins over what it says": (
        {"summary_text": render(Content("Labelled", "Text"), ENRICHED), **BESIDE, "status": "Final"},
        {"topic": "Labelled", **BESIDE, "status": "Active"},
    ),
    "a plain summary is structured": (
        {"summary_text": "Summary: Plain things\nContext: In labels.\nDecisions:\n- Read them\n"},
        {"memory_type": "summary", "topic": "Plain things", "topic_id": "plain-things"},
    ),
    "a text without form is legacy": (
        {"summary_text": LOOSE}, {"memory_type": "legacy", "topic": None, "status": None},
    ),
    "a text without form is a summary if somebody says so": (
        {"summary_text": LOOSE, "topic_id": "loose"},
        {"memory_type": "summary", "topic": "A loose note", "topic_id": "loose"},
    ),
    "Final is Active": (summary("Final", status="Final"), {"status": "Active"}),
    "Draft is Draft": (summary("Draft", status="Draft"), {"status": "Draft"}),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_payload_becomes_a_memory_of_its_kind_with_its_labels(graph: Fork, name: str) -> None:
    payload, expected = TEXTS[name]
    found = graph.ingest(payload)
    assert {label: found[label] for label in expected} == expected
    assert (
        node_of(graph, found)["type"]
        == {"summary": "ConversationSummary", "legacy": "LegacyMemory"}[found["memory_type"]]
    )


def test_a_conversation_is_a_legacy_memory_with_a_node(graph: Fork) -> None:
    said = {
        "user_message": "Why does it wait?", "assistant_message": "For the lock.",
        "timestamp": "2026-09-01T10:00:00+02:00", "importance": 0.5,
    }  # fmt: skip
    found = graph.ingest({"conversation": said})
    assert (found["memory_type"], found["created_at"], found["importance"]) == ("legacy", "2026-09-01T08:00:00Z", 0.5)
    node = node_of(graph, found)
    assert parse_conversation(node["text"]) == Conversation(
        "Why does it wait?", "For the lock.", "2026-09-01T08:00:00Z", 0.5
    )
    assert (node["type"], seen(graph, "neighbours", found["memory_id"])) == ("LegacyMemory", [])


def test_a_decision_record_cannot_be_ingested(graph: Fork) -> None:
    """Records come from compaction or import only."""
    metadata = Metadata("t", status="DecisionRecord", created_at=SUBMITTED)
    text = render(Content("Forged", "Narrative"), metadata, "decision_record")
    (outcome,) = graph.run("ingest", graph.task("ingest", {"summary_text": text}))
    assert outcome["error"]["code"] == "JOB_INVALID"


TIMES_GIVEN = [
    ({}, SUBMITTED),
    ({"submitted_at": None}, ACCEPTED),
    ({"submitted_at": None, "at": "2026-11-05T00:00:00Z"}, "2026-11-05T00:00:00Z"),
]


@pytest.mark.parametrize(("fields", "created"), TIMES_GIVEN)
def test_a_missing_time_is_that_of_asking_alone(graph: Fork, fields: dict[str, Any], created: str) -> None:
    found = graph.ingest(summary(f"Timeless {created} {len(fields)}"), **fields)
    assert (found["created_at"], found["updated_at"]) == (created, created)


# --- the same again ---


def test_the_same_content_again_is_the_same_memory_and_changes_nothing(graph: Fork) -> None:
    first = graph.ingest(summary("Twice", decisions=["One"], status="Superseded"))
    before = seen(graph, "graph")
    labels = {"created_at": "2026-01-01T00:00:00Z", "session_id": "x", "plan_id": "y"}
    again = graph.ingest(summary("Twice", decisions=["One"], status="Active", **labels))
    assert again["duplicate"] is True
    same = ("memory_id", "memory_number", "created_at", "session_id", "plan_id", "status")
    assert {name: again[name] for name in same} == {name: first[name] for name in same}
    assert seen(graph, "graph") == before
    assert node_of(graph, again)["status"] == "Superseded", "else a compaction would be undone"


IN_A_TEMPLATE = {"summary_text": render(Content("Forms", "What was said of Forms."), Metadata("forms"))}
TALK = {"conversation": {"user_message": "kinds", "assistant_message": "of duplicates"}}
ORDERED = summary("Same", decisions=["a", "b"])
TWICE = {
    "an enriched text": (IN_A_TEMPLATE, IN_A_TEMPLATE, True),
    "a conversation": (TALK, TALK, True),
    "a summary in two forms": (summary("Forms"), IN_A_TEMPLATE, True),
    "another topic": (ORDERED, summary("Same", decisions=["a", "b"], topic_id="elsewhere"), False),
    "another order of decisions": (ORDERED, summary("Same", decisions=["b", "a"]), False),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_memory_is_the_same_by_its_topic_and_words_whatever_their_form(graph: Fork, name: str) -> None:
    one, other, is_same = TWICE[name]
    first, second = graph.ingest(one), graph.ingest(other)
    assert (second["memory_id"] == first["memory_id"]) is is_same
    assert second["duplicate"] is is_same


def test_the_same_content_twice_in_a_batch_is_one_memory(graph: Fork) -> None:
    tasks = [graph.task("ingest", summary("In a batch")) for _ in range(3)]
    results = [outcome["result"] for outcome in graph.run("ingest", *tasks)]
    assert [result["duplicate"] for result in results] == [False, True, True]
    assert len({(result["memory_id"], result["memory_number"]) for result in results}) == 1


def test_another_attempt_of_the_same_job_is_no_duplicate(graph: Fork) -> None:
    """An attempt may have died right after its commit."""
    first = graph.ingest(summary("Again"), job_id="the-same-job")
    again = graph.ingest(summary("Again"), job_id="the-same-job")
    assert (again["duplicate"], again["memory_number"]) == (False, first["memory_number"])


# --- many together ---


def test_a_bad_one_among_many_fails_alone(graph: Fork) -> None:
    good = render(Content("Among many", "Good"), Metadata("among-many", created_at=SUBMITTED))
    bad = good.replace("Status: N/A", "Status: Sideways").replace("Status: Active", "Status: Sideways")
    assert bad != good
    tasks = [
        graph.task("ingest", summary("Many one")),
        graph.task("ingest", {"summary_text": bad}),
        graph.task("ingest", {"summary_text": good}),
        graph.task("ingest", {"conversation": {"user_message": "many", "assistant_message": "turns"}}),
    ]
    outcomes = graph.run("ingest", *tasks)
    assert ["result" in outcome for outcome in outcomes] == [True, False, True, True]
    assert outcomes[1]["error"]["code"] == "METADATA_BROKEN"
    assert "Sideways" in outcomes[1]["error"]["message"]
    numbers = [outcome["result"]["memory_number"] for outcome in outcomes if "result" in outcome]
    assert numbers == list(range(numbers[0], numbers[0] + 3))
    assert seen(graph, "lag") == 0


def test_a_large_batch_is_written_whole(graph: Fork) -> None:
    tasks = [graph.task("ingest", summary(f"Large {number}", topic_id="large")) for number in range(64)]
    results = [outcome["result"] for outcome in graph.run("ingest", *tasks)]
    assert {result["timings_ms"]["jobs_together"] for result in results} == {64}
    assert len({result["memory_number"] for result in results}) == 64
    (topic,) = [node for name, node in seen(graph, "neighbours", results[0]["memory_id"]) if name == "about"]
    assert edges(graph, topic["id"])["about", "ConversationSummary"] == 64


# --- afterwards ---


def test_a_status_changes_in_the_store_and_in_the_graph(graph: Fork) -> None:
    found = graph.ingest(summary("To be superseded"))
    task = graph.task("set_status", {"memory_id": found["memory_id"], "status": "Superseded"})
    (outcome,) = graph.run("set_status", task)
    assert outcome["result"]["status"] == "Superseded"
    assert node_of(graph, found)["status"] == "Superseded"
    assert edges(graph, found["memory_id"]) == {("about", "Topic"): 1}
    assert seen(graph, "lag") == 0


def test_a_status_of_nothing_is_an_error_of_its_own(graph: Fork) -> None:
    tasks = [
        graph.task("set_status", {"memory_id": "nobody", "status": "Active"}),
        graph.task("set_status", {"memory_id": graph.ingest(summary("There"))["memory_id"], "status": "Draft"}),
    ]
    missing, there = graph.run("set_status", *tasks)
    assert missing["error"]["code"] == "MEMORY_NOT_FOUND"
    assert there["result"]["status"] == "Draft"


# --- questions ---


def test_a_question_without_a_language_model_is_answered_by_its_context_and_kept_nowhere(graph: Fork) -> None:
    memory = graph.ingest(
        {"summary": {"topic": "Lighthouse keepers", "context": "They keep owls.", "decisions": ["Owls stay."]}},
    )
    (outcome,) = graph.run("ask", graph.task("ask", {"question": "What about the lighthouse keepers and their owls?"}))
    said = outcome["result"]
    assert (said["answer"], said["llm"]) == (None, False)
    kept = [path for path in graph.place.workspace.cognee_system.rglob("*") if path.is_file()]
    assert [path for path in kept if b"lighthouse keepers and their owls" in path.read_bytes()] == [], "no question"
    assert "Lighthouse keepers" in said["context"]
    assert memory["memory_id"] in [found["memory_id"] for found in said["memories"]]


@pytest.fixture
def every(graph: Fork) -> Iterator[Place]:
    """The workspace of the process that holds cognee, with no relevance floor and room for all."""
    place = graph.place
    more = {"COGNEE_MEMORY_RELEVANCE_FLOOR": "0", "COGNEE_MEMORY_MAX_RESULTS": "1000"}
    before = place.environment
    place.environment = before | more
    yield place
    place.environment = before


def test_the_similarity_agrees_with_cognees_own_vector_search(graph: Fork, every: Place) -> None:
    texts = [
        "Tokens are renewed by one process only",
        "Backups run every night",
        "ü" * 300,
        "word " * 700,  # longer than the model reads: both ways must cut alike
        "状态机 und Übergänge",
    ]
    ids = [graph.ingest({"summary_text": text})["memory_id"] for text in texts]
    for query in ("who renews tokens?", texts[0], "nightly backup", "word " * 600):
        theirs = dict(seen(graph, "search", query, "LegacyMemory_text", 1000))
        found = every.python(SCRIPT, str(every.workspace.root), query, "--max-tokens", "1000000")
        ours = {hit["memory_id"]: hit for hit in json.loads(found.stdout)["results"]}
        for memory_id in ids:
            cosine = 1 - theirs[memory_id]
            # Each text is one passage, which is the whole: best and whole are the same cosine.
            assert ours[memory_id]["vector_score"] == pytest.approx(max(0.0, cosine), abs=1e-3), query


def test_retrieval_works_while_the_worker_writes_and_sees_each_commit_whole(graph: Fork, every: Place) -> None:
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
