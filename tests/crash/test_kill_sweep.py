"""A SIGKILL right before and right after each durable step: every accepted job ends once, with its effect once.

The points are those of the table in ``jobs/steps.py``, which docs/delivery.md shows. Of the worker's, the everyday form
takes those after a step: what a kill before a step leaves is what the step above has left, and ``test_model`` goes
through all of them in one process.
"""

import signal
from pathlib import Path
from typing import Any

import pytest
from harness import SOAK, Place, RealWorker, until
from inbox_door import job_of
from job_copies import task
from scenario import assert_all_is_well, drop_everything
from side_by_side import SideBySide

from bridge.compaction import previews
from bridge.embedding.factory import create
from bridge.memory import Content, Memory, Metadata
from bridge.operations.ingest import prepare
from bridge.settings import load
from bridge.store.store import Store
from jobs import client, clock, lifecycle, spool, steps
from jobs.errors import JobError
from jobs.model import Record

# Reached by jobs that write memories; noop jobs, which are enough for the rest, do not.
OF_MEMORIES = {"vectors.append", "memory.commit", "graph.open", "graph.write", "graph.sync", "outbox.deliver"}
OF_PREVIEWS = {"preview.write"}
OF_RECEIPTS = {"receipt.write"}  # what a kill beside it leaves: tests/unit/test_migrate_operation.py
OF_FORGETTING = {"forget.files", "forget.store", "scrub.record", "scrub.copy"}
OF_COGNEES_FILES = {"graph.scrub"}  # tests/integration/test_graph.py kills it there


def points_of(process: str, *but: str) -> list[str]:
    """The points of a process's steps."""
    names = [name for name, of in steps.STEPS.items() if of == process and name not in but]
    return [point for point in steps.POINTS if point.split(":")[1] in names]


SPECIAL = OF_MEMORIES | OF_PREVIEWS | OF_RECEIPTS | OF_FORGETTING | OF_COGNEES_FILES
ASKER, WORKER, CHILD = points_of("client"), points_of("worker", *OF_FORGETTING), points_of("child", *SPECIAL)
MEMORIES, PREVIEWS, FORGETTING = (
    [point for point in steps.POINTS if point.split(":")[1] in names]
    for names in (OF_MEMORIES, OF_PREVIEWS, OF_FORGETTING)
)


def test_the_sweep_covers_the_whole_table() -> None:
    swept = {*ASKER, *WORKER, *CHILD, *MEMORIES, *PREVIEWS, *FORGETTING}
    elsewhere = {f"{side}:{name}" for side in ("before", "after") for name in OF_RECEIPTS | OF_COGNEES_FILES}
    assert swept | elsewhere == set(steps.POINTS)
    assert len(swept) >= 25


def let_child_die(place: Place, point: str) -> None:
    """The end of a child that runs into its fault, and of its worker: else each next child would do so as well."""
    with place.faulty(f"kill@{point}"):
        worker = place.worker()
    until(lambda: "child ended" in place.log(), f"the child ran into its fault\n{place.log_end()}")
    worker.kill()


def let_die(worker: RealWorker) -> None:
    """The end of a worker that runs into its fault."""
    try:
        assert worker.process.wait(60) == -signal.SIGKILL, worker.place.log_end()
    finally:
        worker.kill()


@pytest.mark.parametrize("point", ASKER)
def test_a_killed_asker_may_drop_again(side_by_side: SideBySide, request: pytest.FixtureRequest, point: str) -> None:
    side_by_side(request, kill_the_asker, point)


def kill_the_asker(place: Place, point: str) -> None:
    drop = (
        "import sys; from pathlib import Path; from jobs import client, steps; from jobs.layout import SpoolPaths;"
        "steps.arm(sys.argv[2] or None);"
        "client.submit(SpoolPaths(Path(sys.argv[1])), 'noop', {}, job_id='dropped')"
    )
    assert place.python("-c", drop, str(place.spool.root), f"kill@{point}").returncode == -signal.SIGKILL
    was_handed_over = point == "after:drop.rename"
    assert place.spool.dropped("dropped").exists() == was_handed_over
    with place.worker():
        if was_handed_over:
            assert place.ended("dropped").state == "succeeded"
        else:
            with pytest.raises(JobError):
                client.status(place.spool, "dropped")
        assert place.python("-c", drop, str(place.spool.root), "").returncode == 0
        record = place.ended("dropped")
        assert (record.state, record.generation) == ("succeeded", 1)
        until(lambda: spool.inbox(place.spool) == [], "the second drop is taken for the same job")


@pytest.mark.parametrize("point", [point for point in WORKER if SOAK or point.startswith("after:")])
def test_after_a_kill_of_the_worker_every_job_ends_once(
    side_by_side: SideBySide, request: pytest.FixtureRequest, point: str
) -> None:
    side_by_side(request, kill_the_worker, point)


def kill_the_worker(place: Place, point: str) -> None:
    drop_everything(place)
    with place.faulty(f"kill@{point}"):
        let_die(place.worker())
    with place.worker():
        assert_all_is_well(place)


@pytest.mark.parametrize("point", CHILD)
def test_after_a_kill_of_the_child_every_job_ends_once(
    side_by_side: SideBySide, request: pytest.FixtureRequest, point: str
) -> None:
    side_by_side(request, kill_the_child, point)


def kill_the_child(place: Place, point: str) -> None:
    drop_everything(place)
    let_child_die(place, point)
    with place.worker():
        assert_all_is_well(place)


SUMMARIES = {
    f"memory-{number}": {"summary": {"topic": f"Topic {number}", "context": f"We chose number {number}."}}
    for number in range(3)
}


@pytest.mark.parametrize("point", MEMORIES if SOAK else ["after:memory.commit"])
def test_after_a_kill_between_a_memorys_steps_it_is_there_once(tmp_path: Path, point: str) -> None:
    """And the graph has it after the next question. The last memory is stored while the question's job is cut off.
    Every day, ``test_kill_inside_cognee`` does that."""
    asks = point.split(":")[1] not in ("vectors.append", "memory.commit")
    place = Place(tmp_path)
    *first, last = SUMMARIES
    for job_id in first:
        place.submit("ingest", SUMMARIES[job_id], job_id=job_id)
    with place.faulty(f"kill@{point}"):
        worker = place.worker().ready()

    def was_killed() -> bool:
        return "the child ended" in place.log()

    def all_ended() -> bool:
        return all((record := place.record(job_id)) is not None and record.ended for job_id in first)

    until(lambda: was_killed() or all_ended(), "the memories are stored, or the child ran into its fault")
    if asks:
        place.submit("ask", {"question": "Which number?"}, job_id="question")
    until(was_killed, f"the child ran into its fault\n{place.log_end()}")
    place.submit("ingest", SUMMARIES[last], job_id=last)
    worker.kill()
    with place.worker():
        records = [place.ended(job_id) for job_id in SUMMARIES]
        if asks:
            place.ended("question", seconds=120)
            asked = place.ended(place.submit("ask", {"question": "Which number?"}), seconds=120)
            assert asked.state == "succeeded", asked.error
            assert all(f"Topic {number}" in str(asked.result) for number in range(3)), asked.result
    if asks:
        memory = place.json("status")["memory"]
        assert (memory["has_graph"], memory["graph_lag"]) == (True, 0)
    assert [record.state for record in records] == ["succeeded"] * 3
    results = [record.result or {} for record in records]
    assert {result["memory_number"] for result in results} == {1, 2, 3}
    assert not any(result["duplicate"] for result in results)
    assert place.json("status")["memory"]["memories"] == 3
    for number in range(3):
        assert place.json("retrieve", f"number {number}")["results"][0]["topic"] == f"Topic {number}"


@pytest.mark.parametrize("point", PREVIEWS)
def test_after_a_kill_a_preview_is_shown_and_kept_once(tmp_path: Path, point: str) -> None:
    place = Place(tmp_path)
    at = "2026-11-20T12:00:00Z"
    known = Metadata(topic_id="t", status="Active", created_at=at)
    place.keep([Memory(c, 0, "summary", known, at, Content("T", f"{c}.", (c,))) for c in "ab"], at)
    place.submit("compact", {"topic_id": "t", "preview": True}, job_id="preview")
    let_child_die(place, point)
    assert len(list(place.workspace.previews.glob("*.json"))) == (1 if point.startswith("after") else 0)
    with place.worker():
        record = place.ended("preview")
    assert record.state == "succeeded", record.error
    digest = (record.result or {})["preview_digest"]
    assert previews.load(place.workspace, digest) is not None
    assert [path.stem for path in place.workspace.previews.iterdir()] == [digest]


SECRET = "The quokkazebra is as small as a cat."
FAR = "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    "point", [*FORGETTING, "after:memory.commit"] if SOAK else ["before:forget.store", "after:scrub.record"]
)
def test_after_a_kill_beside_a_forgettings_step_no_byte_stays_and_it_ends_once(
    side_by_side: SideBySide, request: pytest.FixtureRequest, point: str
) -> None:
    def case(place: Place, point: str) -> None:
        kill_while_forgetting(place, point)

    side_by_side(request, case, point)


def remember_without_a_graph(place: Place, payloads: list[dict[str, Any]]) -> list[str]:
    """Store what jobs would, as the worker's child does. Returns the ids."""
    store = Store(place.workspace, create(load(environment=place.environment).embedding))
    tasks = [task("ingest", payload, "before", at="2026-11-20T12:00:00Z") for payload in payloads]
    memories = [prepare(each, store.workspace_id, each.accepted_at).memory for each in tasks]
    store.add([(memory, None) for memory in memories], "2026-11-20T12:00:00Z")
    store.close()
    return [memory.id for memory in memories]


def accept(place: Place, job_id: str, kind: str, payload: dict[str, Any], **fields: Any) -> Record:
    """Make a job one that a worker had accepted."""
    job = job_of(job_id, kind, payload, **fields)
    record = lifecycle.accept(job, clock.now())
    spool.accept(place.spool, [(job, record)])
    return record


def kill_while_forgetting(place: Place, point: str) -> None:
    summaries = [{"summary": {"topic": "T", "context": context}} for context in (SECRET, "Lakes are deep.")]
    gone, kept = remember_without_a_graph(place, summaries)
    accept(place, "late", "ingest", summaries[0], not_before=FAR)
    done = accept(place, "done", "ingest", summaries[1])
    started = lifecycle.step(done, lifecycle.Started(), clock.now())
    told = lifecycle.Succeeded({"memory_id": gone, "topic": SECRET})
    spool.write_records(place.spool, [lifecycle.step(started, told, clock.now())])
    (place.spool.rejected / "bad.1.json").write_text(SECRET)
    place.submit("forget", {"memory_ids": [gone]}, job_id="forget")
    if steps.STEPS[point.split(":")[1]] == "worker":
        with place.faulty(f"kill@{point}"):
            let_die(place.worker())
    else:
        let_child_die(place, point)
    with place.worker():
        forgotten = place.ended("forget")
        late = place.ended("late")
    assert (forgotten.state, (forgotten.result or {}).get("forgotten")) == ("succeeded", [gone]), forgotten.error
    assert (late.error or {})["code"] == "MEMORY_FORGOTTEN"
    found = [
        path for path in place.workspace.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert found == []
    assert [memory["memory_id"] for memory in place.json("memories", "list")["memories"]] == [kept]
