"""The life of a job: the table, and what no walk through it can break."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import clock, lifecycle
from jobs.errors import ERRORS, JobError, Reaction
from jobs.lifecycle import (
    MAX_CRASHES,
    TRANSITIONS,
    Cancelled,
    Crashed,
    Event,
    Expired,
    Failed,
    IllegalTransition,
    Interrupted,
    Replayed,
    Started,
    Succeeded,
    is_due,
    is_expired,
    step,
)
from jobs.model import ENDS, Job, Record, State, encode
from jobs.parse import parse_job

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
    value = {"schema_version": 1, "job_id": "a", "kind": "check", "payload": {}, **fields}
    return parse_job("a", encode(value))


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
        return lifecycle.refuse("a", JobError("JSON_INVALID"), NOON)
    record = walked(*WAYS[state])
    assert record.state == state
    return record


# --- the table ---


def test_the_table_has_every_state_and_knows_every_event() -> None:
    assert set(TRANSITIONS) == set(STATES)
    events = {event for arrows in TRANSITIONS.values() for event in arrows}
    assert events == set(get_args(Event))
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("event", EVENTS, ids=repr)
@pytest.mark.parametrize("state", STATES)
def test_a_step_goes_where_the_table_says_or_nowhere(state: State, event: Event) -> None:
    record = in_state(state)
    targets = TRANSITIONS[state].get(type(event))
    if targets is None:
        with pytest.raises(IllegalTransition):
            step(record, event, at(9))
    else:
        assert step(record, event, at(9)).state in targets


def test_every_arrow_of_the_table_can_be_taken() -> None:
    taken: set[tuple[State, type[Event], State]] = set()
    last_try = {"retrying": [Started(), Crashed()] * 2}
    starts = [in_state(state) for state in STATES]
    starts += [step(walked(*last_try["retrying"]), Started(), at(9))]
    for record in starts:
        for event in EVENTS:
            if type(event) in TRANSITIONS[record.state]:
                taken.add((record.state, type(event), step(record, event, at(10)).state))
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
    record = lifecycle.accept(
        job(not_before="2026-11-20T12:00:05Z", priority=7, correlation_id="c"), NOON, generation=3
    )
    assert (record.state, record.generation, record.attempt, record.success) == ("queued", 3, 0, None)
    assert (record.priority, record.correlation_id, record.accepted_at) == (7, "c", "2026-11-20T12:00:00Z")
    assert not is_due(record, at(4.999))
    assert is_due(record, at(5))


def test_a_running_job_is_neither_due_nor_expired() -> None:
    record = walked(Started(), expires_at="2026-11-20T12:00:00Z")
    assert not is_due(record, at(9))
    assert not is_expired(record, at(9))


def test_a_waiting_job_expires_when_its_time_has_come() -> None:
    record = walked(expires_at="2026-11-20T12:00:05Z")
    assert not is_expired(record, at(4.999))
    assert is_expired(record, at(5))
    assert not is_expired(walked(), at(5))
    ended = step(record, Expired(), at(5))
    assert ended.error is not None
    assert (ended.state, ended.success, ended.error["code"]) == ("expired", False, "EXPIRED")


def test_a_success_carries_its_result_and_forgets_the_former_error() -> None:
    record = walked(Started(), Failed(JobError(RETRY)), Started(), Succeeded({"n": 1}))
    assert (record.state, record.success, record.result, record.error) == ("succeeded", True, {"n": 1}, None)
    assert (record.attempt, record.errors) == (2, 1)
    assert (record.started_at, record.finished_at) == ("2026-11-20T12:00:01Z", "2026-11-20T12:00:04Z")
    assert record.elapsed_ms == 3000
    assert [a.outcome for a in record.attempts] == ["failed", "succeeded"]


@pytest.mark.parametrize("code", ERRORS)
def test_what_follows_an_error_is_its_reaction(code: str) -> None:
    after = walked(Started(), Failed(JobError(code)))
    again = ERRORS[code].reaction in (Reaction.RETRY, Reaction.WAIT)
    assert after.state == ("retrying" if again else "failed")
    assert after.error is not None
    assert after.error["code"] == code
    assert after.errors == (0 if ERRORS[code].reaction is Reaction.WAIT else 1)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_a_job_gives_up_after_max_attempts_errors(most: int) -> None:
    tries: list[Event] = [Started(), Failed(JobError(RETRY))] * most
    assert walked(*tries[:-1], max_attempts=most).state == "running"
    assert walked(*tries, max_attempts=most).state == "failed"


def test_waiting_for_something_outside_is_never_counted() -> None:
    record = walked(*[Started(), Failed(JobError(WAIT))] * 50, max_attempts=1)
    assert (record.state, record.attempt, record.errors) == ("retrying", 50, 0)


def test_waits_in_a_row_for_one_reason_are_one_entry_with_its_first_start_and_last_end() -> None:
    record = walked(*[Started(), Failed(JobError(WAIT))] * 3)
    (entry,) = record.attempts
    assert (entry.number, entry.repeats, entry.outcome, entry.error_code) == (3, 3, "waiting", WAIT)
    assert (entry.started_at, entry.finished_at) == ("2026-11-20T12:00:01Z", "2026-11-20T12:00:06Z")


def test_waits_for_different_reasons_are_entries_of_their_own() -> None:
    other = Failed(JobError("GRAPH_UNAVAILABLE"))
    record = walked(Started(), Failed(JobError(WAIT)), Started(), other, Started(), other)
    assert [(a.error_code, a.repeats) for a in record.attempts] == [(WAIT, 1), ("GRAPH_UNAVAILABLE", 2)]


def test_three_crashes_alone_are_poison() -> None:
    twice: list[Event] = [Started(), Crashed()] * (MAX_CRASHES - 1)
    again = walked(*twice)
    assert again.error is not None
    assert (again.state, again.error["code"]) == ("retrying", "CHILD_DIED")
    ended = walked(*twice, Started(), Crashed())
    assert ended.error is not None
    assert (ended.state, ended.error["code"]) == ("failed", "POISON")


def test_crashes_and_errors_are_counted_apart() -> None:
    events: list[Event] = [Started(), Crashed(), Started(), Failed(JobError(RETRY))]
    record = walked(*events, Started(), Crashed(), max_attempts=2)
    assert (record.state, record.errors, record.crashes) == ("retrying", 1, 2)


def test_an_interruption_counts_for_nothing_and_the_job_waits_again_at_once() -> None:
    record = walked(Started(), Interrupted(), max_attempts=1)
    assert (record.state, record.errors, record.crashes, record.next_attempt_at) == ("queued", 0, 0, None)
    assert record.attempts[-1].outcome == "interrupted"


@pytest.mark.parametrize(
    "before", [[], [Started()], [Started(), Failed(JobError(RETRY))]], ids=["queued", "running", "retrying"]
)
def test_a_cancelled_job_ends_and_may_not_start(before: list[Event]) -> None:
    record = walked(*before, Cancelled())
    assert (record.state, record.success, record.next_attempt_at) == ("cancelled", False, None)
    assert all(attempt.finished_at for attempt in record.attempts)


def test_a_replay_begins_a_new_generation_with_nothing_of_the_old_one() -> None:
    old = walked(Started(), Failed(JobError(GIVE_UP)))
    new = step(old, Replayed(), at(9))
    assert new == lifecycle.accept(job(), NOON, generation=2)


def test_a_replayed_job_does_not_expire_again() -> None:
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


# --- random walks ---

events = st.one_of(
    st.builds(Started),
    st.builds(Started),  # so that a walk gets anywhere
    st.builds(Succeeded, st.just({"n": 1})),
    st.builds(Failed, st.builds(JobError, st.sampled_from([RETRY, WAIT, GIVE_UP, "GRAPH_UNAVAILABLE"]))),
    st.sampled_from([Crashed(), Interrupted(), Cancelled(), Expired(), Replayed()]),
)
walks = st.lists(st.tuples(events, st.floats(0, 100), st.floats(0, 1)), max_size=60)


@given(walks, st.integers(1, 5))
def test_no_walk_breaks_a_promise(walk: list[tuple[Event, float, float]], most: int) -> None:
    record = lifecycle.accept(job(max_attempts=most), NOON)
    now = NOON
    for event, seconds, jitter in walk:
        now += timedelta(seconds=seconds)
        before = record
        try:
            record = step(before, event, now, jitter)
        except IllegalTransition:
            assert type(event) not in TRANSITIONS[before.state]
            continue
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
    if after.state == "retrying":
        assert after.next_attempt_at is not None
        pause = (clock.parse(after.next_attempt_at) - now).total_seconds()
        assert 0.098 <= pause <= 60  # written to the millisecond


def _check_record(record: Record, most: int) -> None:
    assert record.ended == (record.state in ENDS)
    assert record.success == (None if not record.ended else record.state == "succeeded")
    assert (record.finished_at is not None) == record.ended
    assert (record.result is not None) == (record.state == "succeeded")
    assert record.next_attempt_at is None or record.state == "retrying"
    assert record.errors <= most
    assert record.crashes <= MAX_CRASHES
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


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-20T20:00:00Z", "2026-11-20T20:00:00Z"),
        (" 2026-11-20T20:00:00.123456+02:00\n", "2026-11-20T18:00:00.123Z"),
        ("2026-11-20 20:00", "2026-11-20T20:00:00Z"),
        ("2026-11-20", "2026-11-20T00:00:00Z"),
        ("0999-01-01", "0999-01-01T00:00:00Z"),
    ],
)
def test_times_are_in_utc_with_z(text: str, meant: str) -> None:
    assert clock.iso(clock.parse(text)) == meant


@pytest.mark.parametrize(
    "text", ["", "N/A", "yesterday", "2026-13-01", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        clock.parse(text)
