"""The life of a job: the table, and what no walk through it can break."""

import json
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st
from inbox_door import job_of

from jobs import clock, lifecycle
from jobs.errors import ERRORS, JobError, Reaction
from jobs.lifecycle import (
    CRASH_LIMITS,
    TRANSITIONS,
    Cancelled,
    Crashed,
    CrashLimits,
    Event,
    Expired,
    Failed,
    IllegalTransition,
    Interrupted,
    Replayed,
    Started,
    Succeeded,
    WorkerDied,
    is_due,
    is_expired,
    step,
)
from jobs.model import Job, Record, encode
from jobs.states import ENDS, State
from worker.pool.team_jobs import TeamJobs

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
STATES: tuple[State, ...] = get_args(State)
RETRY, WAIT, GIVE_UP = "EMBEDDING_FAILED", "STORE_BUSY", "MEMORY_NOT_FOUND"
EVENTS: list[Event] = [
    Started(),
    Succeeded({"n": 1}),
    Failed(JobError(RETRY)),
    Failed(JobError(WAIT)),
    Failed(JobError(GIVE_UP)),
    Crashed(),
    Interrupted(),
    WorkerDied(),
    Cancelled(),
    Expired(),
    Replayed(),
]
WAYS: dict[State, list[Event]] = {
    "queued": [],
    "running": [Started()],
    "retrying": [Started(), Failed(JobError(RETRY))],
    "succeeded": [Started(), Succeeded({})],
    "failed": [Started(), Failed(JobError(GIVE_UP))],
    "cancelled": [Cancelled()],
    "expired": [Expired()],
}


def job(**fields: Any) -> Job:
    return job_of("a", "check", **fields)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def walked(*events: Event, jitter: float = 1.0, **fields: Any) -> Record:
    """The record of a job after the events, a second apart."""
    record = lifecycle.accept(job(**fields), NOON)
    for second, event in enumerate(events, 1):
        record = step(record, event, at(second), jitter)
    return record


def in_state(state: State) -> Record:
    if state == "rejected":
        return lifecycle.reject("a", JobError("JSON_INVALID"), NOON)
    record = walked(*WAYS[state])
    assert record.state == state
    return record


# --- the table ---


def test_the_table_has_every_state_and_knows_every_event() -> None:
    assert set(TRANSITIONS) == set(STATES)
    assert {event for arrows in TRANSITIONS.values() for event in arrows} == set(get_args(Event))
    assert {type(event) for event in EVENTS} == set(get_args(Event))


def test_a_step_goes_where_the_table_says_or_nowhere() -> None:
    for state, event in product(STATES, EVENTS):
        record = in_state(state)
        targets = TRANSITIONS[state].get(type(event))
        if targets is None:
            with pytest.raises(IllegalTransition):
                step(record, event, at(9))
        else:
            assert step(record, event, at(9)).state in targets, (state, event)


def test_every_arrow_of_the_table_can_be_taken() -> None:
    taken: set[tuple[State, type[Event], State]] = set()
    starts = [in_state(state) for state in STATES]
    starts += [  # the last tries of what is then taken for poison
        step(walked(*[Started(), Crashed()] * (CRASH_LIMITS.crashes - 1)), Started(), at(99)),
        step(walked(*[Started(), WorkerDied()] * (CRASH_LIMITS.worker_deaths - 1)), Started(), at(99)),
    ]
    for record in starts:
        for event in EVENTS:
            if type(event) in TRANSITIONS[record.state]:
                taken.add((record.state, type(event), step(record, event, at(100)).state))
    wanted = {
        (state, event, target)
        for state, arrows in TRANSITIONS.items()
        for event, targets in arrows.items()
        for target in targets
    }
    assert taken == wanted


def test_only_an_end_has_no_way_on_but_a_replay() -> None:
    for state, arrows in TRANSITIONS.items():
        assert (set(arrows) <= {Replayed}) == (state in ENDS)


# --- single steps ---


def test_a_new_job_waits_until_it_may_start() -> None:
    given = job(not_before="2026-11-20T12:00:05Z", priority=7, correlation_id="c")
    record = lifecycle.accept(given, NOON, generation=3)
    assert (record.state, record.generation, record.attempt, record.success) == ("queued", 3, 0, None)
    assert (record.priority, record.correlation_id, record.accepted_at) == (7, "c", "2026-11-20T12:00:00Z")
    assert not is_due(record, at(4.999))
    assert is_due(record, at(5))


def test_a_job_without_a_correlation_id_is_followed_by_its_own() -> None:
    assert walked().correlation_id == walked().job_id
    assert lifecycle.reject("a-name", JobError("JSON_INVALID"), NOON).correlation_id == "a-name"


def test_a_waiting_job_expires_when_its_time_has_come() -> None:
    record = walked(expires_at="2026-11-20T12:00:05Z")
    assert not is_expired(record, at(4.999))
    assert is_expired(record, at(5))
    assert not is_expired(walked(), at(5))
    ended = step(record, Expired(), at(5))
    assert (ended.state, ended.success, ended.error["code"]) == ("expired", False, "EXPIRED")


def test_a_success_carries_its_result_and_forgets_the_former_error() -> None:
    record = walked(Started(), Failed(JobError(RETRY)), Started(), Succeeded({"n": 1}))
    assert (record.state, record.success, record.result, record.error) == ("succeeded", True, {"n": 1}, None)
    assert (record.attempt, record.errors) == (2, 1)
    assert (record.started_at, record.finished_at) == ("2026-11-20T12:00:01Z", "2026-11-20T12:00:04Z")
    assert record.elapsed_ms == 3000
    assert [a.outcome for a in record.attempts] == ["failed", "succeeded"]


def test_what_follows_an_error_is_its_reaction() -> None:
    for code, kind in ERRORS.items():
        after = walked(Started(), Failed(JobError(code)))
        state = "retrying" if kind.reaction in (Reaction.RETRY, Reaction.WAIT) else "failed"
        errors = 0 if kind.reaction is Reaction.WAIT else 1
        assert (after.error["code"], after.state, after.errors) == (code, state, errors)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_job_gives_up_after_max_attempts_errors(most: int) -> None:
    tries: list[Event] = [Started(), Failed(JobError(RETRY))] * most
    assert walked(*tries[:-1], max_attempts=most).state == "running"
    assert walked(*tries, max_attempts=most).state == "failed"


def test_waiting_for_something_outside_is_never_counted() -> None:
    record = walked(*[Started(), Failed(JobError(WAIT))] * 50, max_attempts=1)
    assert (record.state, record.attempt, record.errors) == ("retrying", 50, 0)


def test_waits_for_different_reasons_are_entries_of_their_own() -> None:
    other = Failed(JobError("GRAPH_UNAVAILABLE"))
    record = walked(Started(), Failed(JobError(WAIT)), Started(), other, Started(), other)
    assert [(a.error_code, a.repeats) for a in record.attempts] == [(WAIT, 1), ("GRAPH_UNAVAILABLE", 2)]


def test_three_crashes_alone_are_poison() -> None:
    twice: list[Event] = [Started(), Crashed()] * (CRASH_LIMITS.crashes - 1)
    again = walked(*twice)
    assert (again.state, again.error["code"]) == ("retrying", "CHILD_DIED")
    ended = walked(*twice, Started(), Crashed())
    assert (ended.state, ended.error["code"]) == ("failed", "POISON")
    assert "ended unexpectedly 3 times" in ended.error["message"]


def deaths(count: int, *, together: int = 1) -> list[Event]:
    return [Started(together), WorkerDied()] * count


def test_a_death_of_the_worker_lets_the_job_wait_again_at_once() -> None:
    record = walked(*deaths(1), max_attempts=1)
    assert (record.state, record.next_attempt_at, record.error) == ("queued", None, None)
    assert (record.attempts[-1].outcome, record.attempts[-1].error_code) == ("worker_died", "WORKER_DIED")


def test_ten_deaths_of_the_worker_with_the_job_alone_are_poison() -> None:
    nine = walked(*deaths(9))
    assert (nine.state, nine.worker_deaths) == ("queued", 9)
    ended = walked(*deaths(10))
    assert (ended.state, ended.worker_deaths, ended.error["code"]) == ("failed", 10, "POISON")
    assert "the worker ended unexpectedly 10 times" in ended.error["message"]
    assert (CRASH_LIMITS.crashes, CRASH_LIMITS.worker_deaths) == (3, 10)


def test_a_death_of_the_worker_during_a_batch_proves_nothing_about_its_members() -> None:
    record = walked(*deaths(50, together=2))
    assert (record.state, record.worker_deaths, record.attempt) == ("queued", 0, 50)
    ended = walked(*deaths(5, together=2), *deaths(9), *deaths(5, together=2), *deaths(1))
    assert (ended.state, ended.worker_deaths) == ("failed", 10)


def test_crashes_errors_and_deaths_of_the_worker_are_counted_apart() -> None:
    events: list[Event] = [Started(), Crashed(), *deaths(9), Started(), Failed(JobError(RETRY)), Started(), Crashed()]
    record = walked(*events, max_attempts=2)
    assert (record.state, record.errors, record.crashes, record.worker_deaths) == ("retrying", 1, 2, 9)
    assert walked(*events, Started(), Failed(JobError(RETRY)), max_attempts=2).state == "failed"
    assert walked(*events, Started(), Crashed(), max_attempts=2).state == "failed"
    assert walked(*events, *deaths(1), max_attempts=2).state == "failed"


@pytest.mark.parametrize("code", ["CHILD_DIED", "CHILD_TOO_LARGE"])
def test_a_crash_alone_is_said_with_what_ended_the_child(code: str) -> None:
    record = walked(Started(), Crashed(code))
    assert (record.error["code"], record.error["retryable"]) == (code, True)
    assert (record.attempts[-1].outcome, record.attempts[-1].error_code) == ("crashed", code)


@pytest.mark.parametrize("code", [None, "CHILD_DIED", "CHILD_TOO_LARGE", "JOB_TIMEOUT"])
def test_an_interruption_counts_for_nothing_and_the_job_waits_again_at_once(code: str | None) -> None:
    record = walked(Started(), Interrupted(code), max_attempts=1)
    assert (record.state, record.errors, record.crashes, record.next_attempt_at) == ("queued", 0, 0, None)
    assert (record.attempts[-1].outcome, record.attempts[-1].error_code) == ("interrupted", code)


@pytest.mark.parametrize("event", [Interrupted(), Interrupted("CHILD_DIED"), Failed(JobError(WAIT))])
def test_what_counts_for_nothing_is_one_entry_with_its_first_start_and_last_end_however_often_it_repeats(
    event: Event,
) -> None:
    """Else the record of a job that waits for days would grow without an end."""
    (entry,) = walked(*[Started(), event] * 1000).attempts
    assert (entry.number, entry.repeats) == (1000, 1000)
    assert (entry.started_at, entry.finished_at) == (clock.iso(at(1)), clock.iso(at(2000)))


@pytest.mark.parametrize("outcome", [Failed(JobError(WAIT)), Interrupted("CHILD_DIED"), Interrupted()], ids=repr)
def test_how_many_others_there_were_makes_no_entry_of_its_own(outcome: Event) -> None:
    """A batch is seldom as large as the one before: the record would grow, and the pauses would not."""
    events = [event for together in range(2, 34) for event in (Started(together), outcome)]
    record = walked(*events)
    (entry,) = record.attempts
    assert (entry.repeats, entry.together) == (32, 33)
    if record.state == "retrying":
        assert record.next_attempt_at == clock.iso(at(64 + 60)), "the pauses grow all the same"


@pytest.mark.parametrize("event", [Failed(JobError(RETRY)), Crashed()])
def test_what_counts_is_never_folded_together(event: Event) -> None:
    assert len(walked(*[Started(), event] * 2).attempts) == 2


# --- with how many others ---


def together_after(*events: Event, at_most: int = 64) -> int:
    return lifecycle.max_batch_size(walked(*events), at_most)


def test_a_new_job_and_one_that_met_an_error_of_its_own_run_with_as_many_as_may() -> None:
    assert together_after() == 64
    assert together_after(at_most=8) == 8
    assert together_after(Started(64), Failed(JobError(RETRY))) == 64
    assert together_after(Started(64), Failed(JobError(WAIT))) == 64


@pytest.mark.parametrize("event", [Interrupted("CHILD_DIED"), Interrupted("JOB_TIMEOUT"), WorkerDied()], ids=repr)
def test_after_what_ended_a_batch_its_members_run_in_halves(event: Event) -> None:
    record, sizes = walked(), []
    for _ in range(7):
        sizes.append(lifecycle.max_batch_size(record, 50))
        record = step(step(record, Started(sizes[-1]), NOON), event, NOON)
    assert sizes == [50, 25, 12, 6, 3, 1, 1]


def test_a_stop_a_reboot_or_a_siblings_cancellation_halves_nothing() -> None:
    assert together_after(Started(64), Interrupted()) == 64


@pytest.mark.parametrize("events", [
    [Started(), Crashed()],
    [Started(), Crashed(), Started(), Interrupted()],
    [Started(), WorkerDied()],
    [Started(), WorkerDied(), Started(), Failed(JobError(RETRY))],
    [Started(), Failed(JobError("JOB_TIMEOUT"))],
    [Started(), Failed(JobError("JOB_TIMEOUT")), Started(), Failed(JobError(WAIT))],
], ids=repr)  # fmt: skip
def test_what_ended_a_child_that_it_had_alone_never_runs_with_others_again(events: list[Event]) -> None:
    """Else each of its attempts would interrupt a whole batch, and halve it again."""
    assert together_after(*events) == 1


def test_a_replay_is_trusted_with_others_again() -> None:
    assert together_after(*[Started(), Crashed()] * 3, Replayed()) == 64


@given(st.integers(0, 99), st.integers(1, 99), st.integers(1, 99))
def test_at_least_one_shares_the_child_and_at_most_as_many_as_may(number: int, together: int, at_most: int) -> None:
    events: list[Event] = [Started(together), Interrupted("CHILD_DIED")] * min(number, 3)
    assert 1 <= together_after(*events, at_most=at_most) <= at_most


# --- ends ---


@pytest.mark.parametrize(
    "before", [[], [Started()], [Started(), Failed(JobError(RETRY))]], ids=["queued", "running", "retrying"]
)
def test_a_cancelled_job_ends_and_may_not_start(before: list[Event]) -> None:
    record = walked(*before, Cancelled())
    assert (record.state, record.success, record.next_attempt_at) == ("cancelled", False, None)
    assert all(attempt.finished_at for attempt in record.attempts)


def test_a_replay_begins_a_new_generation_with_nothing_of_the_old_one_and_does_not_expire_again() -> None:
    old = walked(Started(), Failed(JobError(GIVE_UP)))
    assert step(old, Replayed(), at(9)) == lifecycle.accept(job(), NOON, generation=2)
    record = walked(Expired(), Replayed(), expires_at="2026-11-20T12:00:00Z")
    assert not is_expired(record, at(1_000_000))


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    running = step(lifecycle.accept(job(), NOON), Started(), NOON)
    assert step(running, Succeeded({}), at(-60)).elapsed_ms == 0


# --- pauses ---


@given(st.integers(1, 100_000), st.floats(0, 1))
def test_a_pause_is_at_least_a_tenth_of_a_second_and_at_most_a_minute(tries: int, jitter: float) -> None:
    longest = min(60.0, 2.0 ** min(tries - 1, 10))
    assert 0.1 * longest <= lifecycle.pause_seconds(tries, jitter) <= longest


def test_pauses_double_up_to_a_minute() -> None:
    assert [lifecycle.pause_seconds(tries, 1.0) for tries in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_next_attempt_is_after_the_pause() -> None:
    record = walked(Started(), Failed(JobError(RETRY)), Started(), Failed(JobError(RETRY)), jitter=0.5)
    assert record.next_attempt_at == clock.iso(at(4) + timedelta(seconds=1))


def asked(seconds: Any) -> Record:
    error = JobError("RATE_LIMITED", details={"retry_after_seconds": seconds})
    return walked(Started(), Failed(error), jitter=0.5)


def pause_of(record: Record) -> float:
    return (clock.parse(record.next_attempt_at) - at(2)).total_seconds()


WAITS_TOLD = [(90, 90), (1.25, 1.25), (0.1, 0.5), (0, 0.5), (-5, 0.5), (3600, 3600), (86_400, 3600)]
NO_NUMBERS = ["60", None, [], {}, float("nan")]
WITHOUT_END = [float("inf"), 1e300, 10**400]


def test_a_provider_that_says_when_to_come_again_is_heard_up_to_an_hour_if_that_is_a_number() -> None:
    told: list[tuple[Any, float]] = [
        *WAITS_TOLD,
        *((no, 0.5) for no in NO_NUMBERS),
        *((end, 3600) for end in WITHOUT_END),
    ]
    assert [pause_of(asked(seconds)) for seconds, _ in told] == [pause for _, pause in told]


# --- a clock that is set ---


def test_a_clock_that_is_set_back_an_hour_keeps_no_retry_waiting() -> None:
    record = walked(Started(), Failed(JobError(RETRY)))
    assert not is_due(record, at(2.9))
    assert is_due(record, at(3))
    assert is_due(record, at(2) - timedelta(hours=1))


def test_a_clock_that_is_set_back_does_not_shorten_a_wish() -> None:
    """``not_before`` is a time of the wall clock: it is what the asker wants, whatever the clock was before."""
    wish = walked(not_before="2026-11-20T12:00:05Z")
    assert not is_due(wish, NOON - timedelta(hours=1))
    assert not is_due(wish, at(4.999))
    assert is_due(wish, at(5))


@given(st.floats(-7200, 7200), st.floats(0, 1))
def test_no_set_clock_makes_a_retry_wait_longer_than_its_pause(seconds: float, jitter: float) -> None:
    record = walked(Started(), Failed(JobError(RETRY)), jitter=jitter)
    now = at(2 + seconds)
    assert is_due(record, now) or is_due(record, now + timedelta(seconds=1.001))


# --- random walks ---

events = st.one_of(
    st.builds(Started, st.integers(1, 4)),
    st.builds(Started),  # so that a walk gets anywhere
    st.builds(Succeeded, st.just({"n": 1})),
    st.builds(Failed, st.builds(JobError, st.sampled_from([RETRY, WAIT, GIVE_UP, "GRAPH_UNAVAILABLE"]))),
    st.sampled_from([Crashed(), Interrupted(), Interrupted("CHILD_DIED"), WorkerDied()]),
    st.sampled_from([Cancelled(), Expired(), Replayed()]),
)
walks = st.lists(st.tuples(events, st.floats(-100, 100), st.floats(0, 1)), max_size=60)
CLOSE = CrashLimits(crashes=2, worker_deaths=3)


@given(walks, st.integers(1, 5))
def test_no_walk_breaks_a_promise(walk: list[tuple[Event, float, float]], most: int) -> None:
    record = lifecycle.accept(job(max_attempts=most), NOON)
    now, ends = NOON, 0
    for event, seconds, jitter in walk:
        now += timedelta(seconds=seconds)
        before = record
        try:
            record = step(before, event, now, jitter, CLOSE)
        except IllegalTransition:
            assert type(event) not in TRANSITIONS[before.state]
            continue
        ends = 0 if isinstance(event, Replayed) else ends + record.ended
        assert ends <= 1, "two ends in one generation"
        _check_step(before, event, record, now)
        _check_record(record, most)


def _check_step(before: Record, event: Event, after: Record, now: datetime) -> None:
    if isinstance(event, Replayed):
        assert (after.generation, after.attempt, after.attempts) == (before.generation + 1, 0, ())
    else:
        assert not before.ended  # an end stays an end
        assert after.generation == before.generation
        assert after.attempt == before.attempt + isinstance(event, Started)
        assert len(after.attempts) >= len(before.attempts) - 1
        assert before.started_at in (None, after.started_at)
        for count in ("errors", "crashes", "worker_deaths"):
            assert 0 <= getattr(after, count) - getattr(before, count) <= 1, count
    if after.state == "retrying":
        pause = (clock.parse(after.next_attempt_at) - now).total_seconds()
        assert 0.098 <= pause <= 60  # written to the millisecond


def _check_record(record: Record, most: int) -> None:
    assert record.ended == (record.state in ENDS)
    assert record.success == (None if not record.ended else record.state == "succeeded")
    assert (record.finished_at is not None) == record.ended
    assert (record.result is not None) == (record.state == "succeeded")
    assert record.next_attempt_at is None or record.state == "retrying"
    assert record.errors <= most
    assert record.crashes <= CLOSE.crashes
    assert record.worker_deaths <= CLOSE.worker_deaths
    assert record.elapsed_ms is None or record.elapsed_ms >= 0
    running = [attempt for attempt in record.attempts if attempt.outcome is None]
    assert len(running) == (record.state == "running")
    assert sum(attempt.repeats for attempt in record.attempts) == record.attempt
    for first, second in zip(record.attempts, record.attempts[1:], strict=False):
        assert not (first.outcome == second.outcome == "waiting" and first.error_code == second.error_code)
    assert Record.from_dict(json.loads(encode(record.as_dict()))) == record


# --- clock ---


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_time_that_is_written_can_be_read_to_the_millisecond(moment: datetime) -> None:
    text = clock.iso(moment)
    assert timedelta(0) <= moment - clock.parse(text) < timedelta(milliseconds=1)
    assert len(text) in (20, 24)


ZONES = [
    ("2026-11-20T20:00:00Z", "2026-11-20T20:00:00Z"),
    (" 2026-11-20T20:00:00.123456+02:00\n", "2026-11-20T18:00:00.123Z"),
    ("2026-11-20 20:00", "2026-11-20T20:00:00Z"),
    ("2026-11-20", "2026-11-20T00:00:00Z"),
    ("0999-01-01", "0999-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("text", "meant"), ZONES)
def test_times_are_in_utc_with_z(text: str, meant: str) -> None:
    assert clock.iso(clock.parse(text)) == meant


NO_TIMES = ["", "N/A", "yesterday", "2026-13-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"]


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        clock.parse(text)


def test_the_disk_of_a_teams_service_is_not_taken_for_ones_own() -> None:
    team: Any = None
    running = step(Record(job_id="a", kind="noop", job_sha256="0", state="queued"), Started(), NOON, 0, CRASH_LIMITS)
    waits = TeamJobs(team, "pool-1", CRASH_LIMITS)._step(running, Failed(JobError("DISK_FULL")))
    assert (waits.state, "disk of the team's service" in (waits.error or {})["message"]) == ("retrying", True)
