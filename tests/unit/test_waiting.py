"""The jobs that wait: in order, due when they are due whatever the clock does, announced once, none lost."""

import heapq
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from jobs import clock, lifecycle
from jobs.model import Attempt, Record
from worker.scheduling import waiting as waiting_module
from worker.scheduling.waiting import Waiting

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = 3600.0


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def queued(job_id: str, *, due: float | None = None, **fields: Any) -> Record:
    """A job that has not been tried; with ``due``, one that is wished for later."""
    known = {"kind": "noop", "accepted_at": clock.iso(NOON), **fields}
    wish = None if due is None else clock.iso(at(due))
    return Record(job_id=job_id, job_sha256="0", state="queued", next_attempt_at=wish, **known)  # type: ignore[arg-type]


def retrying(job_id: str, *, since: float, due: float, **fields: Any) -> Record:
    """A job in the pause between two attempts."""
    tried = Attempt(1, clock.iso(at(since)), clock.iso(at(since)), "failed", "TEST_RETRY")
    known = {"kind": "noop", "accepted_at": clock.iso(NOON), **fields}
    return Record(
        job_id=job_id, job_sha256="0", state="retrying", attempt=1, attempts=(tried,),
        next_attempt_at=clock.iso(at(due)), **known,
    )  # type: ignore[arg-type]  # fmt: skip


def of(*records: Record, now: float = 0) -> Waiting:
    waiting = Waiting()
    for record in records:
        waiting.put(record, at(now))
    return waiting


def due(waiting: Waiting, now: float, limit: int = 100, kind: str = "noop") -> list[str]:
    return [record.job_id for record in waiting.due(kind, limit, at(now))]


def announced(waiting: Waiting, now: float) -> list[str]:
    return [record.job_id for record in waiting.take_announced(at(now))]


# --- order ---


def test_higher_priority_goes_first_then_what_came_first() -> None:
    later = clock.iso(at(1))
    waiting = of(
        queued("young", accepted_at=later), queued("b"), queued("a"), queued("low", priority=-10),
        queued("urgent", priority=5, accepted_at=later),
    )  # fmt: skip
    assert due(waiting, 2) == ["urgent", "a", "b", "young", "low"]
    assert due(waiting, 2, limit=2) == ["urgent", "a"]
    assert due(waiting, 2, limit=0) == []


def test_kinds_come_in_the_order_of_their_first_jobs() -> None:
    waiting = of(
        queued("a", kind="rebuild", priority=-10), queued("b"), queued("c", kind="ask", priority=20),
        queued("d", kind="check", due=9),
    )  # fmt: skip
    assert waiting.kinds_due(at(1)) == ["ask", "noop", "rebuild"]
    assert due(waiting, 1, kind="rebuild") == ["a"]
    assert waiting.kinds_due(at(9)) == ["ask", "noop", "check", "rebuild"]
    waiting.discard("c")
    assert waiting.kinds_due(at(9)) == ["noop", "check", "rebuild"]


def test_the_oldest_is_what_was_accepted_first_whether_it_is_due_or_not() -> None:
    waiting = of(queued("a", accepted_at=clock.iso(at(1))), queued("b", due=99, accepted_at=clock.iso(at(-5))))
    assert waiting.oldest() == clock.iso(at(-5))
    waiting.discard("b")
    assert waiting.oldest() == clock.iso(at(1))
    waiting.discard("a")
    assert waiting.oldest() is None


# --- time ---


def test_a_job_is_announced_when_its_time_has_come() -> None:
    waiting = of(retrying("a", since=0, due=5, priority=3))
    assert announced(waiting, 0) == []
    assert announced(waiting, 4.9) == []
    (record,) = waiting.take_announced(at(5.1))
    assert (record.job_id, record.priority) == ("a", 3)


def test_a_due_job_is_announced_once_however_often_is_looked() -> None:
    waiting = of(retrying("a", since=0, due=5))
    assert announced(waiting, 10) == ["a"]
    assert announced(waiting, 10) == []
    assert announced(waiting, 110) == []


def test_the_next_attempt_of_the_same_job_is_announced_again() -> None:
    waiting = of(queued("a"))
    assert announced(waiting, 1) == ["a"]
    waiting.discard("a")  # it runs
    waiting.put(retrying("a", since=2, due=3), at(2))
    assert announced(waiting, 2.5) == []
    assert announced(waiting, 3) == ["a"]


def test_what_is_announced_comes_in_the_order_in_which_it_became_ready() -> None:
    waiting = of(retrying("a", since=0, due=5), retrying("b", since=0, due=3), queued("c"), now=1)
    assert announced(waiting, 9) == ["c", "b", "a"]


def test_the_next_time_is_that_of_the_first_delayed_job_that_still_waits() -> None:
    waiting = of(queued("a", due=5), queued("b", due=3), queued("c", due=9))
    assert waiting.next_due() == at(3)
    waiting.discard("b")
    assert waiting.next_due() == at(5)
    announced(waiting, 5)
    assert waiting.next_due() == at(9)


def test_there_is_no_time_to_wait_for_while_something_is_to_be_announced_or_with_nothing_delayed() -> None:
    waiting = of(queued("a"), queued("b", due=5))
    assert waiting.next_due() < NOON
    announced(waiting, 0)
    assert waiting.next_due() == at(5)
    waiting = of(queued("a"))
    announced(waiting, 0)
    assert waiting.next_due() is None


# --- a clock that is set ---


def test_a_clock_that_is_set_forward_ends_every_pause() -> None:
    assert announced(of(queued("a", due=60), retrying("b", since=0, due=30)), HOUR) == ["b", "a"]


def test_a_clock_that_is_set_back_ends_the_pause_of_a_retry_and_no_wish() -> None:
    waiting = of(queued("wish", due=60), retrying("pause", since=0, due=30))
    assert announced(waiting, 1) == []
    assert announced(waiting, -HOUR) == ["pause"]
    assert due(waiting, -HOUR) == ["pause"]
    waiting.discard("pause")
    assert announced(waiting, 60) == ["wish"]


def test_what_is_ready_is_not_announced_again_because_the_clock_was_set_back() -> None:
    """Else each step back of a clock would put everything that waits into the queue once more."""
    waiting = of(*(queued(str(number)) for number in range(100)))
    assert len(announced(waiting, 0)) == 100
    assert announced(waiting, -1) == []
    assert len(due(waiting, -1)) == 100


# --- what it costs ---


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], Counter[str]]:
    """How often a call moves an entry of a heap, or looks whether a job is due."""
    counted: Counter[str] = Counter()

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            counted[name] += 1
            return function(*arguments)

        return call

    class Heap:
        heappush = staticmethod(counting("push", heapq.heappush))
        heappop = staticmethod(counting("pop", heapq.heappop))

    class Life:
        is_due = staticmethod(counting("is_due", lifecycle.is_due))

    monkeypatch.setattr(waiting_module, "heapq", Heap)
    monkeypatch.setattr(waiting_module, "lifecycle", Life)

    def cost_of(action: Callable[[], object]) -> Counter[str]:
        counted.clear()
        action()
        return Counter(counted)

    return cost_of


def test_ten_thousand_waiting_jobs_cost_the_steps_of_ten(cost: Callable[[Callable[[], object]], Counter[str]]) -> None:
    def life_of_a_job(waiting: Waiting, now: float) -> None:
        waiting.put(queued("new", priority=1), at(now))
        waiting.take_announced(at(now))
        assert due(waiting, now, limit=1) == ["new"]
        assert waiting.kinds_due(at(now)) == ["noop"]
        waiting.discard("new")
        waiting.put(retrying("new", since=now, due=now + 1, priority=1), at(now))
        waiting.next_due()
        assert announced(waiting, now + 1) == ["new"]
        waiting.discard("new")

    costs = []
    for number in (10, 10_000):
        half = range(number // 2)
        waiting = of(*(queued(f"q{n}") for n in half), *(queued(f"d{n}", due=100 + n) for n in half))
        announced(waiting, 0)
        life_of_a_job(waiting, 1)
        costs.append(cost(lambda waiting=waiting: life_of_a_job(waiting, 3)))
    assert costs[0] == costs[1]
    assert sum(costs[0].values()) < 40


def test_working_off_everything_costs_a_few_steps_a_job(cost: Callable[[Callable[[], object]], Counter[str]]) -> None:
    waiting = of(*(queued(str(number)) for number in range(2000)))

    def work_off() -> None:
        while found := waiting.due("noop", 64, NOON):
            for record in found:
                waiting.discard(record.job_id)

    assert sum(cost(work_off).values()) < 2000 * 6


# --- against a naive model ---

IDS = st.sampled_from("abcdef")
MOMENTS = st.integers(-20, 20)


class WaitingMachine(RuleBasedStateMachine):
    """Any sequence of calls beside a clock that jumps, against the plain list of what waits."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.waiting = Waiting()
        self.there: dict[str, Record] = {}
        self.told: set[str] = set()  # announced since it became due last

    @rule(job_id=IDS, priority=st.integers(-1, 1), kind=st.sampled_from(["noop", "ask"]), later=st.none() | MOMENTS)
    def put(self, job_id: str, priority: int, kind: str, later: float | None) -> None:
        self._put(queued(job_id, due=None if later is None else self.now + later, priority=priority, kind=kind))

    @rule(job_id=IDS, pause=st.floats(0.1, 20), ago=st.floats(-20, 20))
    def put_retrying(self, job_id: str, pause: float, ago: float) -> None:
        """``ago`` below 0: the clock was set back since the attempt, perhaps while no worker ran."""
        self._put(retrying(job_id, since=self.now - ago, due=self.now - ago + pause))

    def _put(self, record: Record) -> None:
        self.waiting.put(record, at(self.now))
        self.there[record.job_id] = record
        self.told.discard(record.job_id)

    @rule(job_id=IDS)
    def discard(self, job_id: str) -> None:
        self.waiting.discard(job_id)
        self.there.pop(job_id, None)

    @rule(seconds=st.floats(0, 10))
    def time_goes_by(self, seconds: float) -> None:
        self.now += seconds

    @rule(seconds=st.integers(-30, 30))
    def the_clock_is_set(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def announce(self) -> None:
        due_now = {job_id for job_id, record in self.there.items() if lifecycle.is_due(record, at(self.now))}
        found = announced(self.waiting, self.now)
        assert len(found) == len(set(found)), "each once"
        assert set(found) <= due_now, "nothing is announced that is not due"
        self.told &= due_now  # what is not due now has to be announced again when it is
        self.told |= set(found)
        assert due_now <= self.told, "whatever is due was announced since it became so"

    @precondition(lambda self: self.there)
    @rule()
    def until_the_next_time_nothing_becomes_due(self) -> None:
        self.announce()
        next_due = self.waiting.next_due()
        asleep = {i for i, r in self.there.items() if not lifecycle.is_due(r, at(self.now))}
        if asleep:
            first = min(clock.parse(str(self.there[job_id].next_attempt_at)) for job_id in asleep)
            assert next_due <= first, "else it would be slept through"

    @invariant()
    def what_is_due_is_what_the_list_says(self) -> None:
        for kind in ("noop", "ask"):
            there = [r for r in self.there.values() if r.kind == kind and lifecycle.is_due(r, at(self.now))]
            there.sort(key=lambda r: (-r.priority, r.accepted_at, r.job_id))
            expected = [r.job_id for r in there]
            assert due(self.waiting, self.now, kind=kind) == expected
            assert due(self.waiting, self.now, limit=2, kind=kind) == expected[:2]
            assert (kind in self.waiting.kinds_due(at(self.now))) == bool(expected)
        assert len(self.waiting._records) == len(self.there)


WaitingMachine.TestCase.settings = settings(max_examples=80, stateful_step_count=40)
TestAnySequence = WaitingMachine.TestCase


def test_a_job_that_runs_again_waits_since_it_was_asked_for() -> None:
    again = queued("a", generation=2, accepted_at="2026-11-01T00:00:00Z")
    waiting = Waiting()
    waiting.put(again, NOON)
    assert waiting.oldest() == clock.iso(NOON)
    waiting.discard("a")
    assert waiting.oldest() is None
