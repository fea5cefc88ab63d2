"""Each machine of a team answers as one machine would that ran all jobs: the same scores, digit for digit.

A script of jobs of all kinds runs twice through real workers: on a machine of its own, and on two machines of a team in
turns. Then both machines of the team, and a third one that joins at the end, are asked what the first was asked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Place, until
from llm_server import LlmServer
from machines import Team
from old_workspace import OldWorkspace

from bridge import trust
from bridge.embedding.factory import create
from bridge.settings import load
from bridge.store.store import Store
from jobs import clock
from jobs.kinds import KIND_NAMES

NOW = "2026-11-30T12:00:00Z"
Payload = dict[str, Any]
Results = dict[str, Any]  # of the earlier jobs, by their ids
TALK = {"user_message": "Is the queue a spool?", "assistant_message": "Yes.", "timestamp": "2026-11-05T10:00:00Z"}
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
    (0, "preview", "compact", lambda _: {"topic_id": "cache", "preview": True}),
    (0, "merged", "compact", lambda r: {"topic_id": "cache", "preview_digest": r["preview"]["preview_digest"]}),
    (1, "undone", "restore", lambda r: {"decision_record_id": r["merged"]["decision_record_id"]}),
    (0, "merged-2", "compact", lambda _: {"topic_id": "hook"}),
    (1, "forgotten", "forget", lambda r: {"memory_ids": [the_id("secret")(r)]}),
    (0, "captured", "capture", lambda _: {"file": "talk.md"}),
    (1, "uncaptured", "capture", lambda _: {"undo": "captured"}),
    (0, "captured-2", "capture", lambda _: {"file": "talk.md", "again": True}),
    (0, "imported", "import", lambda _: {"path": "other.jsonl"}),
    (1, "raw", "cognify", lambda r: {"memory_ids": [the_id("talk")(r)]}),
    (1, "asked", "ask", lambda _: {"question": "Who maintains the worker?"}),
    (0, "drawn", "graph", lambda _: {}),
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
    talk.write_text("## User\n\nWe decided to keep the queue in SQLite.\n\n## Assistant\n\nNoted for later.\n")
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
    found = []
    for question in QUESTIONS:
        for command in (("retrieve", question, "--include-superseded"), ("retrieve", question), ("explain", question)):
            said = place.json(*command, "--as-of", NOW)
            said.pop("warnings", None)
            found.append(json.dumps(said, sort_keys=True).replace(str(place.workspace.root), "."))
    return found


def without_times(said: list[str], began: str) -> list[str]:
    """The answers without the times at which jobs of this test ran, and without the tokens that these take."""
    times, tokens = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), re.compile(r'"(total_)?tokens": \d+')
    return [tokens.sub("", times.sub(lambda at: "" if at[0] >= began else at[0], each)) for each in said]


def test_every_machine_answers_as_one_machine_that_ran_all_jobs(tmp_path: Path, dsn: str, model_cache: Path) -> None:
    began = clock.iso(clock.now())
    with LlmServer() as model:
        variables = {**model.environment(), "COGNEE_MEMORY_CACHE_DIR": str(model_cache)}
        donor = Place(tmp_path / "donor", **variables)
        with donor.worker():
            told = donor.submit("ingest", summary("port", "Ports", 8, "The gateway uses port 8443"))
            assert donor.ended(told).state == "succeeded"
        other = donor.cli("export").stdout
        team = Team(tmp_path / "team", dsn, model_cache, **model.environment())
        alone = Place(tmp_path / "alone", **variables)
        trust.adopt(alone.workspace, alone.config)
        with_id(alone, team.workspace_id)
        give_files(alone, other)
        with alone.worker():
            expected = run([alone])
        first, second = team.machine("first", **model.environment()), team.machine("second", **model.environment())
        give_files(first, other)
        with first.worker(), second.worker():
            assert without_paths(run([first, second])) == without_paths(expected)
            third = team.machine("third", **model.environment())
            with third.worker():
                for place in (first, second, third):
                    until(lambda place=place: not is_behind(place), "all is here")
                said = answers(first)
                assert answers(second) == answers(third) == said
                assert without_times(said, began) == without_times(answers(alone), began)


def is_behind(place: Place) -> bool:
    return place.json("team", "status")["team"]["behind"] != 0


def with_id(place: Place, workspace_id: str) -> None:
    """An empty memory.db with this id, from which its memories' ids are derived."""
    store = Store(place.workspace, create(load(environment=place.environment).embedding))
    with store._connection as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = 'workspace_id'", (workspace_id,))
    store.close()


def without_paths(results: Results) -> Results:
    """The results, but for what is each machine's own: the names of files, receipts and times."""
    kept = ("memory_id", "memory_number", "decision_record_id", "topic_id", "memory_ids", "preview_digest")
    return {job: {name: each[name] for name in kept if name in each} for job, each in results.items()}
