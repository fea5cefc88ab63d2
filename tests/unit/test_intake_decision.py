"""What becomes of a well-formed job, given the record under its id and the room that is left."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from inbox_door import job_of

from jobs import lifecycle
from jobs.errors import JobError
from jobs.model import Job, Record
from jobs.states import ENDS, State
from worker.inbox.intake import Accept, Duplicate, Reject, decide

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
MIB = 1024 * 1024
ACCEPTED: list[State] = [state for state in get_args(State) if state != "rejected"]


def job(**fields: Any) -> Job:
    return job_of("job-1", "rebuild", **{"payload": {"what": "index"}, **fields})


def record(state: State, of: Job, generation: int = 1) -> Record:
    return Record(job_id=of.job_id, kind=of.kind, job_sha256=of.sha256, state=state, generation=generation)


def decided(new: Job, earlier: Record | None = None, room: int = 1, free: int = 200 * MIB) -> object:
    return decide(new, earlier, room, free, 100 * MIB)


def rejected(found: object) -> JobError:
    assert isinstance(found, Reject)
    return found.error


def test_a_new_job_is_accepted_as_the_first_generation() -> None:
    assert decided(job()) == Accept(job(), 1)


@pytest.mark.parametrize("state", ACCEPTED)
def test_the_same_job_again_is_a_duplicate_whatever_became_of_it(state: State) -> None:
    assert decided(job(), record(state, job())) == Duplicate()


@pytest.mark.parametrize("state", ACCEPTED)
def test_another_job_under_the_same_id_is_a_conflict_that_names_the_state(state: State) -> None:
    error = rejected(decided(job(payload={"what": "graph"}), record(state, job())))
    assert error.code == "JOB_ID_CONFLICT"
    assert state in error.message


def test_a_good_drop_follows_a_rejected_one_as_the_next_generation() -> None:
    refused = lifecycle.reject("job-1", JobError("JOB_INVALID"), NOW, generation=3)
    assert decided(job(), refused) == Accept(job(), 4)


def test_what_the_digest_leaves_out_does_not_make_another_job() -> None:
    """Priority and times are about when; kind and payload say what is asked."""
    earlier = record("succeeded", job())
    assert decided(job(priority=5, correlation_id="again", submitted_at="2026-01-01T00:00:00Z"), earlier) == Duplicate()


@pytest.mark.parametrize("room", [0, -5])
def test_without_room_a_new_job_is_rejected(room: int) -> None:
    assert rejected(decided(job(), room=room)).code == "BACKLOG_FULL"


def test_without_free_space_a_new_job_is_rejected_with_the_numbers() -> None:
    error = rejected(decided(job(), free=99 * MIB))
    assert error.code == "DISK_FULL"
    assert "99 MiB" in error.message
    assert "100" in error.message


def test_exactly_the_space_that_is_kept_free_is_enough() -> None:
    assert isinstance(decided(job(), free=100 * MIB), Accept)


@pytest.mark.parametrize("state", sorted(ENDS - {"rejected"}))
def test_a_duplicate_needs_neither_room_nor_space(state: State) -> None:
    assert decided(job(), record(state, job()), room=0, free=0) == Duplicate()
