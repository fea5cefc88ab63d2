"""Each machine of a team answers as one machine would that ran all jobs: the same scores, digit for digit.

A script of jobs of all kinds runs twice through real workers: on a machine of its own, and on two machines of a team in
turns. Then both machines of the team, and a third one that joins at the end, are asked what the first was asked; and a
laptop that keeps no copy asks the gateway. The service has cognee, all others a graph in its place.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fake_graph import WITHOUT_COGNEE
from harness import Place, sql, until
from llm_server import LlmServer
from machines import Team
from old_workspace import OldWorkspace
from pools import PoolProcess

from bridge.embedding.factory import create
from bridge.memory import Content, Memory, Metadata
from bridge.search.reader import Reader
from bridge.settings import load
from bridge.store.store import Store
from bridge.team import people
from jobs import clock
from jobs.kinds import KIND_NAMES
from jobs.layout import Workspace

LATER = "2026-11-30T12:00:00Z"
DAY = "2026-11-08T09:00:00Z"
embedder = lru_cache(create)
Payload = dict[str, Any]
Results = dict[str, Any]  # of the earlier jobs, by their ids
TALK = {"user_message": "Is the queue a spool?", "assistant_message": "Yes.", "timestamp": "2026-11-05T10:00:00Z"}
TALK_FILE = "## User\n\nWe decided to keep the queue in SQLite.\n\n## Assistant\n\nNoted for later.\n"
QUESTIONS = (
    "how are invoices rounded?",
    "session cache of Redis",
    "which port does the worker use?",
    "queue",
    "what did we decide about webhooks?",
)


def summary(topic_id: str, topic: str, day: int, *decisions: str, **more: Any) -> Payload:
    at = f"2026-11-{day:02}T09:00:00Z"
    words = {"topic": topic, "topic_id": topic_id, "context": f"{topic}, as said on day {day}.", "created_at": at}
    return {"summary": {**words, "decisions": list(decisions), **more}}


def the_id(job: str) -> Callable[[Results], str]:
    return lambda results: str(results[job]["memory_id"])


# Which machine of the team drops it, its id, its kind, and its payload from the results so far. The machine matters for
# jobs about its own files: the first one has them.
SCRIPT: tuple[tuple[int, str, str, Callable[[Results], Payload]], ...] = (
    (1, "judged", "judge", lambda _: {}),  # at the beginning, where no pair depends on what was compared by then
    (0, "migrated", "migrate", lambda _: {}),
    (0, "cache-1", "ingest", lambda _: summary("cache", "Session cache", 1, "Use Redis for the session cache")),
    (1, "cache-2", "ingest", lambda _: summary("cache", "Session cache", 2, "Replace Redis with an in-process LRU")),
    (0, "cache-3", "ingest", lambda _: summary("cache", "Session cache", 3, "Name files by date", plan_id="014")),
    (1, "invoice", "ingest", lambda _: summary("bill", "Invoices", 4, "Invoices are rounded up", importance=0.9)),
    (0, "talk", "ingest", lambda _: {"conversation": TALK}),
    (1, "again", "ingest", lambda _: summary("bill", "Invoices", 4, "Invoices are rounded up", importance=0.9)),
    (1, "secret", "ingest", lambda _: summary("hook", "Webhooks", 6, "Webhooks are retried for the quokkazebra")),
    (0, "hook", "ingest", lambda _: summary("hook", "Webhooks", 7, "Webhooks are retried five times", status="Draft")),
    (1, "status", "set_status", lambda r: {"memory_id": the_id("hook")(r), "status": "Active"}),
    (0, "helped", "feedback", lambda r: {"memory_id": the_id("invoice")(r), "verdict": "helpful", "by": "ann"}),
    (1, "wrong", "feedback", lambda r: {"memory_id": the_id("talk")(r), "verdict": "wrong", "by": "bob"}),
    (1, "settled", "resolve", lambda r: {
        "older": {"memory_id": the_id("cache-1")(r), "statement": "Use Redis for the session cache"},
        "newer": {"memory_id": the_id("cache-2")(r), "statement": "Replace Redis with an in-process LRU"},
        "verdict": "newer", "by": "ann",
    }),
    (1, "raw", "cognify", lambda r: {"memory_ids": [the_id("talk")(r)]}),
    (1, "asked", "ask", lambda _: {"question": "Who maintains the worker?"}),
    (0, "drawn", "graph", lambda _: {}),
    (0, "preview", "compact", lambda _: {"topic_id": "cache", "preview": True}),
    (0, "merged", "compact", lambda r: {"topic_id": "cache", "preview_digest": r["preview"]["preview_digest"]}),
    (1, "undone", "restore", lambda r: {"decision_record_id": r["merged"]["decision_record_id"]}),
    (0, "merged-2", "compact", lambda _: {"topic_id": "hook"}),
    (1, "forgotten", "forget", lambda r: {"memory_ids": [the_id("secret")(r)]}),
    (0, "captured", "capture", lambda _: {"file": "talk.md"}),
    (1, "uncaptured", "capture", lambda _: {"undo": "captured"}),
    (0, "captured-2", "capture", lambda _: {"file": "talk.md", "again": True}),
    (0, "imported", "import", lambda _: {"path": "other.jsonl"}),
    (1, "indexed", "rebuild", lambda _: {"what": "index"}),
    (0, "checked", "check", lambda _: {}),
    (1, "noop", "noop", lambda _: {}),
)  # fmt: skip


def test_the_script_has_all_kinds() -> None:
    assert {kind for _, _, kind, _ in SCRIPT} == set(KIND_NAMES)


def give_files(place: Place, other: str) -> None:
    """What jobs about a machine's own files read."""
    OldWorkspace(place.workspace.root, "0.4.1")
    talk = place.workspace.root / "talk.md"
    talk.write_text(TALK_FILE)
    os.utime(talk, (1_795_000_000, 1_795_000_000))
    (place.workspace.root / "other.jsonl").write_text(other)


def run(places: list[Place]) -> Results:
    """Run the script, one job after another. Returns what the jobs answered."""
    results: Results = {}
    for number, (machine, job_id, kind, payload) in enumerate(SCRIPT):
        place = places[machine % len(places)]
        at = f"2026-11-20T10:{number:02}:00Z"
        place.submit(kind, payload(results), job_id=job_id, submitted_at=at)
        record = place.ended(job_id)
        assert record.state == "succeeded", record.error
        results[job_id] = record.result
    return results


def answers(place: Place) -> list[str]:
    """All answers as JSON, but for the names of this machine's folders."""
    reader = Reader(place.workspace, load(environment=place.environment).embedding, embedder)
    found = []
    for question in QUESTIONS:
        asked = {"query": question, "as_of": LATER}
        for verb, more in (("retrieve", {"include_superseded": True}), ("retrieve", {}), ("explain", {})):
            said = reader.answer(verb, asked | more, clock.now())
            assert said["success"], said
            said.pop("warnings", None)
            found.append(json.dumps(said, sort_keys=True, default=str).replace(str(place.workspace.root), "."))
    return found


def without_times(said: list[str], began: str) -> list[str]:
    """The answers without the times at which jobs of this test ran, and without the tokens that these take."""
    times, tokens = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), re.compile(r'"(total_)?tokens": \d+')
    return [tokens.sub("", times.sub(lambda at: "" if at[0] >= began else at[0], each)) for each in said]


@dataclass(frozen=True)
class Story:
    """What the script answered, and what was answered afterwards, alone and by each of the team. The ``laptop`` is
    at work; no job made a graph there."""

    began: str
    team: Team
    laptop: Place
    results: dict[str, Results]
    said: dict[str, list[str]]
    model: dict[str, str]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory, dsn: str) -> Iterator[Story]:
    began, folder = clock.iso(clock.now()), tmp_path_factory.mktemp("story")
    with LlmServer() as model:
        variables = {**model.environment(), **WITHOUT_COGNEE}
        with store_of(donor := Place(folder / "donor", **variables)) as store:
            words = Content("Ports", "Ports, as said on day 8.", ("The gateway uses port 8443",))
            store.add([(Memory(str(uuid4()), 0, "summary", Metadata("port", created_at=DAY), DAY, words), None)], DAY)
        other = donor.cli("export").stdout
        team = Team(folder / "team", dsn, **model.environment())
        alone = Place(folder / "alone", **variables)
        with store_of(alone) as store, store._connection as connection:  # the ids of memories are derived from its id
            connection.execute("UPDATE meta SET value = ? WHERE key = 'workspace_id'", (team.workspace_id,))
        give_files(alone, other)
        with alone.worker():
            expected = run([alone])
        first, second = (team.machine(name, **model.environment(), **WITHOUT_COGNEE) for name in ("first", "second"))
        give_files(first, other)
        with second.worker():
            with first.worker():
                results = {"alone": expected, "team": run([first, second])}
                third = team.machine("third", **model.environment())
                with third.worker():
                    team.until_equal()
                    machines = [first, second, third]  # each finds by itself, soon, which decisions contradict others
                    until(lambda: len({str(answers(place)) for place in machines}) == 1, "all answer alike")
                    said = {"alone": answers(alone), "team": answers(first)}
            yield Story(began, team, second, results, said, model.environment())


def test_every_machine_answers_as_one_machine_that_ran_all_jobs(story: Story) -> None:
    assert without_paths(story.results["team"]) == without_paths(story.results["alone"])
    assert without_times(story.said["team"], story.began) == without_times(story.said["alone"], story.began)


def test_where_a_workspace_is_too_large_for_a_copy_the_gateway_answers_like_one_until_access_ends(story: Story) -> None:
    """What is large is said by a setting."""
    team, host = story.team, story.laptop
    group, bob = f"group-{uuid4()}", f"bob-{uuid4()}"
    token = team.gateway.token(bob, group)
    with team.gateway.server.connection() as connection:
        assert people.give(connection, team.workspace_id, team.person, group)
    laptop = team.machine("laptop", COGNEE_MEMORY_TEAM_TOKEN=token, COGNEE_MEMORY_TEAM_COPY_MEMORIES="1")
    with laptop.worker():
        until(lambda: "no copy is made here" in laptop.log(), "it has decided")
        until(lambda: commands_say(laptop) == commands_say(host), "both answer alike")
        assert not laptop.workspace.memory_db.exists()
        record = laptop.ended(laptop.submit("ingest", summary("sun", "Invoices of Sundays", 5, "All are rounded down")))
        assert record.state == "succeeded"
        hits = laptop.json("retrieve", "invoices of Sundays", "--as-of", LATER)["results"]
        assert "rounded down" in hits[0]["summary_text"], "at once: the gateway asks what is new before it answers"
        memory_id = (record.result or {})["memory_id"]
        assert host.ended(host.submit("forget", {"memory_ids": [memory_id]})).state == "succeeded"
        hits = laptop.json("retrieve", "invoices of Sundays", "--as-of", LATER)["results"]
        assert "rounded down" not in json.dumps(hits)
        assert laptop.json("memories", "list")["error_code"] == "TEAM_NO_COPY", "it is not as if there were none"
        rebuilt = laptop.ended(laptop.submit("rebuild", {"what": "index"}))
        assert (rebuilt.state, rebuilt.error and rebuilt.error["code"]) == ("failed", "TEAM_NO_COPY")
        (laptop.workspace.root / "talk.md").write_text(TALK_FILE.replace("queue", "spool"))
        captured = laptop.ended(laptop.submit("capture", {"file": "talk.md"}))
        assert (captured.state, (captured.result or {}).get("captured")) == ("succeeded", 1), captured
        assert not laptop.workspace.memory_db.exists(), "what its files hold needs no copy here"
        assert laptop.json("retrieve", "invoices")["results"]
        with team.gateway.server.connection() as connection:
            assert people.remove_member(connection, group, bob)
        refused = laptop.json("retrieve", "invoices")
        assert (refused["success"], refused["error_code"], refused["results"]) == (False, "TEAM_NOT_SHARED", [])


def commands_say(place: Place) -> list[str]:
    """The answers of the commands, as ``answers``."""
    said = [
        place.json(verb, "how are invoices rounded?", "--as-of", LATER) for verb in ("retrieve", "explain", "context")
    ]
    for each in said:
        each.pop("warnings", None)
    return [json.dumps(each, sort_keys=True).replace(str(place.workspace.root), ".") for each in said]


def test_the_graph_answers_in_its_pool_and_no_laptop(story: Story, tmp_path: Path, dsn: str) -> None:
    team, place, service = story.team, story.laptop, story.team.gateway
    owner, folder = "SELECT graph_owner FROM workspaces WHERE id = %s", Path("copies", team.workspace_id)
    answer, before = answered(place), team.rows(owner)
    starts = service.log.count("child started")
    assert answered(place) == answer
    assert service.log.count("child started") == starts, "cognee stays loaded for the next question"
    assert has_graph(Workspace(service.folder / "copies" / "pool" / team.workspace_id))
    with PoolProcess(tmp_path, dsn, **story.model, **WITHOUT_COGNEE) as other:
        assert answered(place) == answer
        assert not has_graph(Workspace(tmp_path / folder)), "it is not its own"
        assert service.stop() == 0
        with service.without_pool():
            assert answered(place) >= answer, "its first graph has all memories"
        assert team.rows(owner) != before, "a pool that ends lets it go"
        assert has_graph(Workspace(tmp_path / folder))
        assert other.process.poll() is None
    assert not has_graph(place.workspace)
    waiting = sql(place.workspace.memory_db, "SELECT count(*) FROM outbox")
    assert waiting == [(0,)], "nothing waits for a graph that never was"


def answered(place: Place) -> set[str]:
    """The memories that the answer to a question of the graph rests on."""
    record = place.ended(place.submit("ask", {"question": "What is the queue?"}))
    assert record.state == "succeeded", record.error
    assert record.result["answer"]
    return {each["memory_id"] for each in record.result["memories"]}


def has_graph(workspace: Workspace) -> bool:
    return any((workspace.cognee_system / "databases").glob("*"))


def test_one_service_is_gateway_and_pool_and_its_end_leaves_no_job_running(story: Story) -> None:
    place, service = story.laptop, story.team.gateway
    assert place.ended(place.submit("noop", {})).state == "succeeded"
    metrics = service.client.get("/metrics").text
    assert 'cognee_memory_pool_jobs_ended_total{kind="noop",state="succeeded"}' in metrics
    assert 'cognee_memory_gateway_requests_total{operation="post",outcome="ok"}' in metrics
    running = place.submit("noop", {"sleep_ms": 600_000})
    place.in_state(running, "running")
    assert service.stop() == 0
    job = "SELECT record->>'state', lease_owner FROM jobs JOIN workspaces ON workspaces.id = workspace_id WHERE id = %s"
    left = story.team.rows(f"{job} AND job_id = %s", running)
    assert left == [("queued", None)], "it waits for another worker, who need not wait for the lease's end"
    service.start()
    until(lambda: place.cli("jobs", "cancel", running).returncode == 0, "the gateway is reached again")
    assert place.ended(running).state == "cancelled"


@contextmanager
def store_of(place: Place) -> Iterator[Store]:
    """The memory.db of a machine alone, while no worker runs."""
    store = Store(place.workspace, embedder(load(environment=place.environment).embedding))
    try:
        yield store
    finally:
        store.close()


def without_paths(results: Results) -> Results:
    """The results, but for what is each machine's own: the names of files, receipts and times."""
    kept = ("memory_id", "memory_number", "decision_record_id", "topic_id", "memory_ids", "preview_digest")
    return {job: {name: each[name] for name in kept if name in each} for job, each in results.items()}
