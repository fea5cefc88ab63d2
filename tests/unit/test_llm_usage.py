"""The budgets of the language model: by job and by day, calls and tokens, whatever happens in between."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bridge.graph.llm_budget import Meter
from bridge.settings import Settings
from bridge.store import database, migrations
from bridge.store.llm_usage import LlmUsage, today
from bridge.store.values import Call, Spent
from jobs.errors import JobError, Reaction
from jobs.layout import Workspace

NOW = datetime(2026, 11, 20, 22, 0, 0, tzinfo=UTC)
PLENTY: dict[str, Any] = {}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    workspace = Workspace(tmp_path)
    workspace.memory.mkdir(mode=0o700)
    with closing(database.open_for_writing(workspace)) as connection:
        yield connection


@pytest.fixture
def usage(connection: sqlite3.Connection) -> LlmUsage:
    return LlmUsage(connection)


def begun(usage: LlmUsage, job_id: str, estimate: int, budget: dict[str, Any], now: datetime) -> Call:
    return meter(usage, job_id, now, **budget).begin(estimate)


def meter(usage: LlmUsage, job_id: str = "job", now: datetime = NOW, **settings: Any) -> Meter:
    return Meter(usage, Settings(**settings), job_id, lambda: now)


def test_a_call_counts_from_before_it_is_sent_and_is_corrected_by_what_the_provider_says(usage: LlmUsage) -> None:
    call = begun(usage, "job", 50, PLENTY, NOW)
    assert usage.of_job("job") == Spent(1, 50, 0)
    usage.end(call, 70, 30)
    assert usage.of_job("job") == usage.of_day("2026-11-20") == Spent(1, 70, 30)
    assert usage.of_job("another") == usage.of_day("2026-11-21") == Spent()


def test_a_call_that_was_cut_off_stays_counted(tmp_path: Path, connection: sqlite3.Connection) -> None:
    begun(LlmUsage(connection), "job", 50, PLENTY, NOW)
    with closing(database.open_for_writing(Workspace(tmp_path))) as after:
        assert LlmUsage(after).of_job("job") == Spent(1, 50, 0)


OVER_BUDGET = [
    ({"llm_calls_per_job": 2}, "COGNEE_MEMORY_LLM_CALLS_PER_JOB", 3600),
    ({"llm_tokens_per_job": 200}, "COGNEE_MEMORY_LLM_TOKENS_PER_JOB", 3600),
    ({"llm_calls_per_day": 2}, "COGNEE_MEMORY_LLM_CALLS_PER_DAY", 7200),
    ({"llm_tokens_per_day": 200}, "COGNEE_MEMORY_LLM_TOKENS_PER_DAY", 7200),
]


@pytest.mark.parametrize(("budget", "setting", "pause"), OVER_BUDGET, ids=repr)
def test_over_budget_the_job_waits_and_says_why(
    usage: LlmUsage, budget: dict[str, Any], setting: str, pause: int
) -> None:
    """The message names the figure and the setting."""
    for _ in range(2):
        usage.end(begun(usage, "job", 10, budget, NOW), 80, 20)
    with pytest.raises(JobError) as caught:
        begun(usage, "job", 10, budget, NOW)
    error = caught.value
    assert (error.code, error.reaction) == ("LLM_BUDGET_SPENT", Reaction.WAIT)
    assert setting in error.message
    assert "of the 2" in error.message
    assert error.details["retry_after_seconds"] == pause
    assert usage.of_job("job").calls == 2, "what was refused is not counted"


def test_a_new_day_has_a_new_budget_for_the_day_and_not_for_the_job(usage: LlmUsage) -> None:
    budget = {"llm_calls_per_day": 1, "llm_calls_per_job": 2}
    begun(usage, "job", 10, budget, NOW)
    with pytest.raises(JobError, match="UTC day"):
        begun(usage, "job", 10, budget, NOW)
    tomorrow = NOW + timedelta(hours=2)
    begun(usage, "job", 10, budget, tomorrow)
    with pytest.raises(JobError, match="this job"):
        begun(usage, "job", 10, budget, tomorrow + timedelta(days=1))


def test_the_day_is_that_of_utc_wherever_one_is(usage: LlmUsage) -> None:
    begun(usage, "job", 10, PLENTY, NOW.astimezone(timezone(timedelta(hours=9))))
    assert usage.of_day("2026-11-20").calls == 1


def test_calls_at_the_same_time_see_each_others_tokens(usage: LlmUsage) -> None:
    """Ten at once, of 100 tokens each, with room for 250: the third is still sent, the fourth not."""
    budget = {"llm_tokens_per_job": 250}
    for _ in range(3):
        begun(usage, "job", 100, budget, NOW)
    with pytest.raises(JobError):
        begun(usage, "job", 100, budget, NOW)


def test_an_attempt_counts_its_own_share(usage: LlmUsage) -> None:
    first, second = meter(usage), meter(usage)
    first.end(first.begin(10), 12, 3)
    second.end(second.begin(10), None, 4)
    assert (first.spent, second.spent) == (Spent(1, 12, 3), Spent(1, 10, 4))
    assert usage.of_job("job") == Spent(2, 22, 7)


def test_after_a_failure_nothing_is_asked_any_more(usage: LlmUsage) -> None:
    asked = meter(usage)
    asked.failure = JobError("RATE_LIMITED", "Later.")
    with pytest.raises(JobError, match="Later"):
        asked.begin(10)
    assert usage.of_job("job") == Spent()


def test_a_budget_of_nothing_asks_nothing(usage: LlmUsage) -> None:
    with pytest.raises(JobError, match="LLM_CALLS_PER_DAY"):
        meter(usage, llm_calls_per_day=0).begin(10)


def test_waiting_for_a_provider_spends_no_budget(usage: LlmUsage) -> None:
    """A night without a network, or of 429: a job that asks every minute must not find its budget spent after it."""
    asked = meter(usage, llm_calls_per_job=2, llm_calls_per_day=2)
    for _ in range(500):
        asked.take_back(asked.begin(10))
    assert (asked.spent, usage.of_job("job"), usage.of_day("2026-11-20")) == (Spent(), Spent(), Spent())
    asked.begin(10)
    asked.begin(10)


def test_old_days_are_forgotten(usage: LlmUsage) -> None:
    for days in (0, 100):
        begun(usage, "job", 10, PLENTY, NOW - timedelta(days=days))
    assert usage.drop_before(NOW - timedelta(days=90)) == 1
    assert usage.of_job("job").calls == 1


def test_the_cost_is_of_the_calls_whose_price_is_known(connection: sqlite3.Connection, usage: LlmUsage) -> None:
    asked = meter(usage)
    asked.end(asked.begin(10), 100, 20)
    assert asked.spent.cost_usd is usage.of_job("job").cost_usd is None
    asked.end(asked.begin(10), 100, 20, 0.25)
    asked.end(asked.begin(10), 100, 20)
    asked.take_back(asked.begin(10))
    asked.end(asked.begin(10), 100, 20, 0.5)
    assert asked.spent == usage.of_job("job") == today(connection, NOW) == Spent(4, 400, 80, 0.75)
    assert today(connection, NOW + timedelta(days=1)) == Spent()


@pytest.mark.parametrize("older", range(5, migrations.FORMAT))
def test_of_an_older_store_what_it_has_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: int) -> None:
    workspace = Workspace(tmp_path)
    workspace.memory.mkdir(mode=0o700)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "FORMAT", older)
        database.open_for_writing(workspace).close()
    with database.read_connection(workspace) as connection:
        assert today(connection, NOW) == Spent()
