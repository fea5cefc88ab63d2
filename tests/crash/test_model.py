"""Anything that askers, children, clocks and kills can do, in any order, against what was promised.

The real spool, ledger, intake, control, runner and recovery, over a folder; only the child process, the queue's file
and the clock are stand-ins. At each durable step the worker may be killed: then everything in memory is dropped, and
another one recovers from the disk. A reader looks at every record at each of these steps.
"""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from harness import SOAK
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from bridge.settings import Settings
from jobs import client, files, spool, steps
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.lifecycle import Failed, Succeeded
from jobs.model import Record, encode, job_digest
from worker.child.process import Why
from worker.child.protocol import encode as outcome
from worker.child.supervisor import ChildEnded
from worker.inbox.control import Control
from worker.inbox.intake import Intake
from worker.scheduling import recovery, retention
from worker.scheduling.ledger import Ledger
from worker.scheduling.runnable_jobs import LocalJobs
from worker.scheduling.runner import Runner

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
IDS = [f"job-{number}" for number in range(4)]
REPLAYABLE = ("failed", "cancelled", "expired")
LIMITS = Settings(
    max_job_bytes=4096, max_active_jobs=3, min_free_bytes=0, max_attempts=3, partial_write_grace=0.0, test_jobs=True
)
EVERYTHING = Settings(
    keep_succeeded_days=1000, keep_failed_days=1000, keep_ended_jobs=0, keep_rejected_files=10_000
)  # but reasons

# What the child does with a job. The effect, where there is one, is committed before anything else happens.
ONE_BY_ONE: dict[str, tuple[bool, str | None]] = {
    "succeed": (True, None),
    "retry": (False, "EMBEDDING_FAILED"),
    "wait": (False, "STORE_BUSY"),
    "give up": (False, "TEST_FAILURE"),
    "commit and wait": (True, "GRAPH_UNAVAILABLE"),
    "commit and give up": (True, "TEST_FAILURE"),
}
ALL_TOGETHER: dict[str, tuple[bool, Why | None]] = {
    "crash": (False, "died"),
    "commit and crash": (True, "died"),
    "swell": (False, "memory"),
    "take too long": (False, "timeout"),
    "die with the worker": (False, None),
    "commit and die with the worker": (True, None),
}
MEANWHILE = (
    "nothing",
    "it is cancelled",
    "it is cancelled before its effect is committed",
    "the spool is tended",
    "others are let in",
)


class Killed(BaseException):
    """SIGKILL: nothing after it happens."""


@dataclass(frozen=True, slots=True)
class Play:
    """What the child does with what it is asked next."""

    act: str
    meanwhile: str = "nothing"


PLAYS = st.builds(
    Play, st.sampled_from([*ONE_BY_ONE, *ONE_BY_ONE, *ALL_TOGETHER]), st.sampled_from(["nothing", *MEANWHILE])
)


@dataclass(frozen=True, slots=True)
class Drop:
    """A file that an asker drops: a job, or ``content`` that is none."""

    job_id: str
    kind: str = "noop"
    is_slow: bool = False
    priority: int = 0
    not_before: int | None = None
    expires: int | None = None
    content: bytes | None = None


SECRET = b'["AKIAQ3EGXYZ7ABCDWXYZ"]'  # so it looks: what is kept of it is another file
BAD = st.sampled_from([b"{", b"[]", encode({"kind": "noop"}), b"", SECRET])
ID = st.sampled_from(IDS)
DELAYS = st.sampled_from([None, None, None, 30])
GOOD = st.builds(Drop, ID, st.just("noop"), st.booleans(), st.sampled_from([0, 5]), DELAYS, DELAYS)
OTHER = st.builds(Drop, ID, st.just("ask"), expires=DELAYS)
DROPS = st.one_of(GOOD, GOOD, GOOD, OTHER, OTHER, st.builds(Drop, ID, content=BAD))
POINTS = [
    f"{side}:{name}"
    for name, process in steps.STEPS.items()
    for side in ("before", "after")
    if process == "worker"
    and name not in ("queue.put", "child.send")  # of the stand-ins
    and not name.startswith("scrub.")  # of a forgetting, which none of these jobs is: test_kill_sweep.py
]
KILLS = st.one_of(
    st.tuples(st.sampled_from(POINTS), st.integers(0, 2)), st.tuples(st.just("anywhere"), st.integers(0, 30))
)
REQUESTS = ("cancel", "cancel", "retry", "retry", "retry", "pause", "resume", "resume")


class FakeChild:
    """A child process that plays what it is told, and commits effects once, as the real operations do."""

    should_recycle = False

    def __init__(self, world: "EngineMachine") -> None:
        self._world = world
        self._why: Why | None = None
        self._depth = 0
        self.pid: int | None = None

    def end(self, why: Why) -> None:
        if self._depth:
            self._why = self._why or why

    def ask(
        self,
        request: dict[str, Any],
        progress: object,
        *,
        timeout_seconds: float | None = None,
        on_pause: Callable[[], None] | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
        on_executing: Callable[[bool], None] = lambda runs: None,
    ) -> dict[str, Any]:
        self._depth += 1
        self.pid = 1
        try:
            if is_cancelled():
                self.end("cancelled")
            on_executing(True)
            return self._serve(request["jobs"], on_pause)
        except ChildEnded:
            self.pid = None
            raise
        finally:
            self._depth -= 1
            if not self._depth:
                self._why = None

    def _serve(self, tasks: list[dict[str, Any]], on_pause: Callable[[], None] | None) -> dict[str, Any]:
        play = self._world.next_play()
        for task in tasks:
            self._world.is_asked(task["job_id"])
        effect, ending = (ONE_BY_ONE | ALL_TOGETHER)[play.act]
        was_wanted = self._why is None
        if play.meanwhile.endswith("committed"):
            self._world.happens("it is cancelled", tasks)
        if was_wanted and effect:  # a cancellation may come while it is being committed
            for task in tasks:
                self._world.commit(task["job_id"], task["sha256"])
        self._world.happens(play.meanwhile, tasks)
        if play.meanwhile == "others are let in" and on_pause is not None and self._depth == 1 and self._why is None:
            on_pause()
            if self.pid is None:
                raise ChildEnded("died", in_pause=True)
        if self._why is not None:
            raise ChildEnded(self._why)
        if play.act in ALL_TOGETHER:
            if ending is None:
                raise Killed
            raise ChildEnded(ending)  # type: ignore[arg-type]
        said = Failed(JobError(ending)) if ending else Succeeded({})
        return {"outcomes": {task["job_id"]: outcome(said) for task in tasks}, "graph_lag": 0}


class Engine:
    """The worker's parts, in memory; made anew from the disk after each kill."""

    def __init__(self, world: "EngineMachine", *, worker_died: bool) -> None:
        place = world.place
        live = recovery.recover(place, world.now, worker_died=worker_died)
        once = world.tree()
        assert recovery.recover(place, world.now, worker_died=worker_died) == live, "mending twice equals mending once"
        assert world.tree() == once
        self.ledger = Ledger(place, live, now=lambda: world.now, jitter=lambda: 0.5, has_committed=world.stands)
        self.messages: list[str] = []
        self.child = FakeChild(world)
        self.runner = Runner(
            LocalJobs(place, self.ledger), self.child,  # type: ignore[arg-type]
            Settings(batch_size=3, slice_seconds=0.002), now=lambda: world.now,
        )  # fmt: skip
        self.intake = Intake(place, self.ledger, LIMITS, self.enqueue, now=lambda: world.now)
        verbs = {"pause": self.runner.paused.set, "resume": self.resume}
        self.control = Control(place, self.ledger, self.runner.cancel, verbs)
        self.enqueue()

    def enqueue(self) -> None:
        self.messages += [record.job_id for record in self.ledger.take_announced()]

    def resume(self) -> None:
        self.runner.paused.clear()
        self.refill()

    def refill(self) -> None:
        """As the worker does when its queue was lost, or after a pause."""
        for kind in self.ledger.kinds_due():
            self.messages += [record.job_id for record in self.ledger.due(kind, 1000)]


class EngineMachine(RuleBasedStateMachine):
    """The model knows what was promised to whom; see the class of the same name in the report of a failure."""

    def __init__(self) -> None:
        super().__init__()
        in_memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=in_memory if os.access(in_memory, os.W_OK) else None))
        self.workspace = Workspace(self.folder)
        self.place = self.workspace.spool
        self.now = NOON
        self.plays: list[Play] = []
        # --- what the stores have ---
        self.noted: set[tuple[str, str]] = set()
        # --- what a reader has seen ---
        self.seen: dict[str, Record] = {}
        self.read: dict[str, tuple[tuple[int, int], Record | None]] = {}  # the same file is not read again
        self.lives: Counter[str] = Counter()  # an id is free again when its record was pruned
        self.ends: dict[tuple[str, int, int], Record] = {}
        self.begun: set[tuple[str, int, int]] = set()
        self.committed: set[tuple[str, int, int]] = set()
        self.digests: dict[str, set[str | None]] = {job_id: set() for job_id in IDS}
        self.dropped: dict[str, tuple[str | None, int]] = {}
        self.asked_for: set[str] = set()  # dropped in this life
        self.may_be_pruned = False
        self.is_pruned_without_a_worker = False
        # --- when the worker is killed next ---
        self.kill_at: tuple[str, int] | None = None
        self.patches = [mock.patch.object(files, "sync"), mock.patch.object(steps, "_fault", self.at_step)]
        for patch in self.patches:
            patch.start()
        spool.prepare(self.place)

    @initialize()
    def the_worker_starts(self) -> None:
        self.engine = Engine(self, worker_died=False)

    # --- what the stand-ins ask ---

    def next_play(self) -> Play:
        return self.plays.pop(0) if self.plays else Play("succeed")

    def stands(self, record: Record) -> bool:
        return (record.job_id, record.job_sha256 or "") in self.noted

    def commit(self, job_id: str, sha256: str) -> None:
        self.noted.add((job_id, sha256))
        self.committed.add((job_id, self.lives[job_id], self.seen[job_id].generation))

    def is_asked(self, job_id: str) -> None:
        """The child gets a job: its record says so, durably, and it has not ended."""
        self.observe()
        assert self.seen[job_id].state == "running", f"{job_id} runs, and its record says {self.seen[job_id].state}"

    def happens(self, meanwhile: str, tasks: list[dict[str, Any]]) -> None:
        if meanwhile == "it is cancelled":
            client.cancel(self.place, tasks[0]["job_id"])
            self.engine.control.scan()
        elif meanwhile == "the spool is tended":
            recovery.reconcile(self.place, self.engine.ledger, self.now)

    def at_step(self, point: str) -> None:
        self.observe()
        if self.kill_at is not None:
            name, left = self.kill_at
            if name in (point, "anywhere"):
                self.kill_at = (name, left - 1) if left else None
                if not left:
                    raise Killed

    # --- a reader ---

    def observe(self) -> None:
        """Each record is whole, and no reader sees time run backwards within one generation."""
        found: dict[str, Record] = {}
        for job_id in spool.job_ids(self.place.results):
            status = self.place.record(job_id).stat()
            version = status.st_ino, status.st_mtime_ns  # each is a new file
            if job_id not in self.read or self.read[job_id][0] != version:
                self.read[job_id] = version, spool.read_record(self.place, job_id)  # raises for a part of one
            if (record := self.read[job_id][1]) is not None:
                found[job_id] = record
        for job_id in self.seen.keys() - found.keys():
            assert self.may_be_pruned, f"the record of {job_id} is gone"
            assert self.seen[job_id].ended
            del self.seen[job_id]
            self.lives[job_id] += 1
            if not self.place.dropped(job_id).exists():
                self.asked_for.discard(job_id)
        for job_id, record in found.items():
            self._compare(self.seen.get(job_id), record)
            self.seen[job_id] = record

    def _compare(self, before: Record | None, record: Record) -> None:
        key = (record.job_id, self.lives[record.job_id], record.generation)
        if before is None:
            assert record.generation == 1
            assert record.job_id in self.asked_for, "a job that was pruned begins again, and nobody dropped it"
        elif record.generation != before.generation:
            assert record.generation == before.generation + 1
            assert before.state in (*REPLAYABLE, "rejected"), f"a new generation after {before.state}"
        else:
            assert record.ticket >= before.ticket, "time ran backwards"
            assert record.job_sha256 == before.job_sha256
            assert not before.ended or record == before, "an end changed"
            for count in ("errors", "crashes", "worker_deaths"):
                assert getattr(record, count) >= getattr(before, count), count
        self.begun.add(key)
        self.digests[record.job_id].add(record.job_sha256)
        if record.ended:
            assert self.ends.setdefault(key, record) == record, "two ends in one generation"
            if record.state in ("cancelled", "expired"):
                assert key not in self.committed, f"{record.state}, and its effect stands"

    def tree(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}

    # --- the worker ---

    def guarded(self, action: Callable[[], object]) -> None:
        """Let the worker do something; where that kills it, another one begins."""
        try:
            action()
        except Killed:
            self.restart(worker_died=True)
        self.observe()

    def restart(self, *, worker_died: bool) -> None:
        armed, self.kill_at = self.kill_at, None
        if self.is_pruned_without_a_worker:
            self.is_pruned_without_a_worker = False
            self._prune(lambda job_id: False)
        self.engine = Engine(self, worker_died=worker_died)
        self.kill_at = armed

    def look(self) -> None:
        self.engine.intake.scan()
        self.engine.control.scan()
        self.engine.enqueue()

    @rule(
        drops=st.lists(DROPS, max_size=3),
        requests=st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(REQUESTS)), max_size=2),
        kill=st.none() | KILLS,
        turns=st.lists(st.tuples(st.integers(0, 5), st.lists(PLAYS, min_size=1, max_size=3)), max_size=4),
    )
    def askers_ask_and_the_worker_works(
        self,
        drops: list[Drop],
        requests: list[tuple[str, str]],
        kill: tuple[str, int] | None,
        turns: list[tuple[int, list[Play]]],
    ) -> None:
        """It looks around and runs some jobs, in any order: the queue may deliver twice, late and out of order."""
        for drop in drops:
            self.a_file_is_dropped(drop)
        for job_id, asked in requests:
            self.the_worker_is_asked(job_id, asked)
        self.kill_at = kill
        self.guarded(self.look)
        for number, plays in turns:
            if self.engine.messages:
                job_id = self.engine.messages.pop(number % len(self.engine.messages))
                self.plays = list(plays)
                self.guarded(lambda job_id=job_id: self.engine.runner.run_if_due(job_id))  # type: ignore[misc]
                self.guarded(self.engine.enqueue)

    @rule(
        trouble=st.sampled_from(
            ["the queue is lost", "doubled", "tended", "replaced", "killed", "removed", "pruned", "will be pruned"]
        )
    )
    def something_happens(self, trouble: str) -> None:
        match trouble:
            case "the queue is lost":
                self.engine.messages.clear()
                self.engine.refill()
            case "doubled":
                self.engine.messages += self.engine.messages
            case "tended":
                self.guarded(lambda: recovery.reconcile(self.place, self.engine.ledger, self.now))
            case "replaced" | "killed":
                self.restart(worker_died=trouble == "killed")
                self.observe()
            case "removed":
                self._a_live_record_is_removed_and_mended()
            case "pruned":
                ledger = self.engine.ledger
                self.guarded(lambda: self._prune(lambda job_id: ledger.get(job_id) is not None))
            case "will be pruned":
                self.is_pruned_without_a_worker = True

    def _prune(self, is_live: Callable[[str], bool]) -> None:
        youngest = max((path.stat().st_mtime for path in self.place.results.iterdir()), default=0.0)
        self.may_be_pruned = True
        try:
            retention.prune(self.workspace, EVERYTHING, is_live, youngest + 1)
            self.observe()
        finally:
            self.may_be_pruned = False

    def _a_live_record_is_removed_and_mended(self) -> None:
        for record in self.engine.ledger.live():
            path = self.place.record(record.job_id)
            before = path.read_bytes()
            with mock.patch.object(steps, "_fault", None):
                path.unlink()
                recovery.reconcile(self.place, self.engine.ledger, self.now)
            assert path.read_bytes() == before

    # --- the clock ---

    @rule(seconds=st.sampled_from([0.2, 1, 5, 70, 3600, -1, -10, -3600]))
    def the_clock_goes_on_or_is_set(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.guarded(self.engine.enqueue)

    # --- askers ---

    def a_file_is_dropped(self, drop: Drop) -> None:
        job_id = drop.job_id
        if self.place.dropped(job_id).exists():
            return  # nobody writes over his own file before he has an answer
        if drop.content is not None:
            self.place.dropped(job_id).write_bytes(drop.content)
            self._is_dropped(job_id, "nothing has this digest")
            return
        payload = {"question": "?"} if drop.kind == "ask" else {"sleep_ms": 1} if drop.is_slow else {}
        wishes = {"not_before": self._after(drop.not_before), "expires_at": self._after(drop.expires)}
        try:
            client.submit(self.place, drop.kind, payload, job_id=job_id, priority=drop.priority, **wishes)
        except Killed:
            pass  # the asker was: it has handed a whole file over, or none
        except JobError:  # of another job with this id, which another program does not look for
            job = {"schema_version": 1, "job_id": job_id, "kind": drop.kind, "payload": payload}
            self.place.dropped(job_id).write_bytes(encode(job))
        if self.place.dropped(job_id).exists():
            self._is_dropped(job_id, job_digest(drop.kind, payload))

    def _after(self, seconds: int | None) -> str | None:
        return None if seconds is None else (self.now + timedelta(seconds=seconds)).isoformat()

    def _is_dropped(self, job_id: str, digest: str | None) -> None:
        self.dropped[job_id] = (digest, self._rejections(job_id))
        self.asked_for.add(job_id)

    def _rejections(self, job_id: str) -> int:
        return len(list(self.place.rejected.glob(f"{job_id}.*.reason.json")))

    def the_worker_is_asked(self, job_id: str, asked: str) -> None:
        record = self.seen.get(job_id)
        match asked:
            case "pause" | "resume":
                client.request(self.place, asked)  # type: ignore[arg-type]
            case "cancel" if record is not None or self.place.dropped(job_id).exists():
                client.cancel(self.place, job_id)
            case "retry" if record is not None and record.state in REPLAYABLE:
                client.retry(self.place, record)

    # --- the end ---

    def teardown(self) -> None:
        try:
            if hasattr(self, "engine"):
                self._everything_comes_to_its_end()
        finally:
            for patch in self.patches:
                patch.stop()
            shutil.rmtree(self.folder)

    def _everything_comes_to_its_end(self) -> None:
        """With a child that does its work, and time: what was accepted ends, and what was dropped has its answer."""
        self.kill_at, self.plays = None, []
        if self.engine.runner.paused.is_set() or self.place.request("pause").exists():
            client.request(self.place, "resume")
        for _ in range(60):
            self.look()
            while self.engine.messages:
                self.engine.runner.run_if_due(self.engine.messages.pop(0))
                self.engine.enqueue()
            if not (self.engine.ledger.live() or spool.inbox(self.place)):
                break
            self.now += timedelta(hours=1)
        recovery.reconcile(self.place, self.engine.ledger, self.now)
        self.observe()
        assert spool.inbox(self.place) == []
        assert list(self.place.control.iterdir()) == []
        assert list(self.place.active.iterdir()) == []
        assert self.engine.ledger.live() == []
        assert self.begun == self.ends.keys(), "each generation of each job has ended, once"
        copies = {path.stem for path in self.place.ended.iterdir()}  # of a pruning that was cut off, the record is left
        assert copies <= {job_id for job_id, record in self.seen.items() if record.state != "rejected"}
        for job_id, (digest, rejections) in self.dropped.items():
            answered = digest in self.digests[job_id] or self._rejections(job_id) > rejections
            assert answered, f"nobody ever answered {job_id}"


EngineMachine.TestCase.settings = settings(
    max_examples=3000 if SOAK else 40,
    stateful_step_count=80 if SOAK else 50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestAnythingInAnyOrder = EngineMachine.TestCase


@pytest.mark.parametrize("pruned", [0b00000, 0b11111] if SOAK else [0b01010])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_each_durable_step_of_the_worker_is_mended(point: str, pruned: int) -> None:
    """The same walk, with the kill in each of its rounds; ``pruned``: for each of these, whether the command
    line prunes before the next worker comes."""
    rounds: list[tuple[list[Drop], list[tuple[str, str]], list[str]]] = [
        ([Drop("job-0"), Drop("job-1", "ask"), Drop("job-2", content=SECRET)], [], []),
        ([Drop("job-0")], [], ["succeed", "give up"]),
        ([Drop("job-2"), Drop("job-3", "ask", expires=-1)], [("job-1", "retry")], ["retry", "succeed", "succeed"]),
        ([], [("job-2", "cancel"), ("job-1", "cancel"), ("job-3", "retry")], ["commit and wait", "crash"]),
    ]
    hits = 0
    for armed in range(len(rounds) + 1):
        machine = EngineMachine()
        machine.the_worker_starts()
        for number, (drops, requests, acts) in enumerate(rounds):
            machine.is_pruned_without_a_worker = bool(pruned >> armed & 1)
            kill = (point, 0) if number == armed else None
            turns = [(0, [Play(act)]) for act in acts]
            machine.askers_ask_and_the_worker_works(drops, requests, kill, turns)
            hits += kill is not None and machine.kill_at is None
        machine.kill_at = (point, 0) if armed == len(rounds) else None
        machine.something_happens("pruned")
        hits += armed == len(rounds) and machine.kill_at is None
        machine.teardown()
    assert hits, "it was killed there at least once"
