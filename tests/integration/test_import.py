"""From one workspace into another by the command line, a real worker and the real cognee, with a kill in the middle."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID, uuid5

import pytest
from harness import Place, until

from bridge import trust
from bridge.embedding.factory import create
from bridge.memory import Content, Memory, Metadata
from bridge.settings import load
from bridge.store.store import Store
from bridge.store.values import Addition

pytestmark = pytest.mark.cognee

AT = "2026-11-20T12:00:00Z"
SOMEWHERE = UUID("6f1c2b1e-0d7a-4c55-9a53-3f0f6f1a9b10")


def an_id(number: int) -> str:
    return str(uuid5(SOMEWHERE, str(number)))


def remember(place: Place) -> None:
    """A store as a worker leaves it, without a graph: thirty summaries, two of them merged, and a hidden text."""
    trust.adopt(place.workspace, place.config)
    store = Store(place.workspace, create(load(environment=place.environment).embedding))
    additions = []
    for number in range(1, 31):
        status = "Superseded" if number < 3 else "Active"
        content = Content(f"Cache of part {number}", f"Part {number} was slow.", (f"Keep {number} entries",))
        known = Metadata(topic_id=f"topic-{number % 7}", status=status, created_at=AT, updated_at=AT)  # type: ignore[arg-type]
        additions.append(Addition(Memory(an_id(number), 2 * number, "summary", known, AT, content)))
    known = Metadata(topic_id="topic-1", status="DecisionRecord", created_at=AT, updated_at=AT)
    record = Memory(
        an_id(31), 70, "decision_record", known, AT, Content("Caches", "Two became one."), sources=(an_id(1), an_id(2))
    )
    original = Memory(an_id(32), 71, "legacy", Metadata(), AT, text="User asked: why?")
    with store.change(AT) as change:
        change.add([*additions, Addition(record), Addition(original, hidden=True)])
    store.close()


def lines(place: Place) -> list[str]:
    """An export without its header and the checksum, which covers the header."""
    found = place.cli("export").stdout.splitlines()
    assert json.loads(found[0])["counts"]["memory"] == len(found) - 2
    return found[1:-1]


def are_compared(place: Place) -> bool:
    """Whether all memories were compared with those before them."""
    with closing(sqlite3.connect(place.workspace.memory_db)) as connection:
        query = "SELECT count(*) FROM memories WHERE NOT hidden AND number NOT IN (SELECT number FROM statements)"
        return connection.execute(query).fetchone() == (0,)


def test_an_import_that_was_killed_midway_ends_with_every_memory_as_it_was(tmp_path: Path, model_cache: Path) -> None:
    here, there = (Place(tmp_path / name, COGNEE_MEMORY_CACHE_DIR=str(model_cache)) for name in ("here", "there"))
    remember(here)
    export = tmp_path / "memories.jsonl"
    assert here.json("export", "--out", str(export))["counts"] == {
        "memory": 32,
        "compaction": 0,
        "cognified": 0,
        "feedback": 0,
        "verdict": 0,
    }

    there.environment["COGNEE_MEMORY_FAULT"] = "kill@after:memory.commit#2"
    job_id = there.json("import", str(export), "--no-start", "--no-wait")["job_id"]
    worker = there.worker()
    until(lambda: "the child ended" in there.log(), f"the child ran into its fault\n{there.log_end()}", seconds=120)
    worker.kill()
    del there.environment["COGNEE_MEMORY_FAULT"]
    assert 0 < there.json("status")["memory"]["memories"] < 31, "a part is there, whole"
    with there.worker():
        record = there.ended(job_id, seconds=120)
        again = there.json("import", str(export))
        until(lambda: are_compared(there), "it is known what holds")
    with here.worker():
        here.ended(here.submit("rebuild", {"what": "index"}))  # it opens the store
        until(lambda: are_compared(here), "it is known what holds")
    assert record.state == "succeeded", record.error
    result = record.result or {}
    assert (result["memories"], result["added"], result["details"], result["warnings"]) == (32, 32, [], [])
    assert (again["result"]["added"], again["result"]["unchanged"]) == (0, 32)
    assert lines(there) == lines(here)
    assert [path.stem for path in there.workspace.imports.iterdir()] == [job_id]  # nobody waited for that one
    found = [place.json("retrieve", "slow caches", "--as-of", AT)["results"] for place in (here, there)]
    assert found[0] == found[1]
    assert len(found[0]) == 5
