"""Which language model the settings name, what cognee is told of it, and its budgets."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx
import pytest

from bridge.graph import llm, llm_failures
from bridge.graph.cognee_env import cognee_environment
from bridge.graph.llm_budget import Meter
from bridge.settings import OF_TOOLS, Settings, load
from bridge.store import database, migrations
from bridge.store.llm_usage import LlmUsage, today
from bridge.store.values import Call, Spent
from jobs.errors import JobError, Reaction
from jobs.layout import Workspace


def settings(**given: Any) -> Settings:
    return Settings(**{f"llm_{name}": value for name, value in given.items()})


def told(given: Settings, **inherited: str) -> dict[str, str]:
    return cognee_environment(given, Workspace(Path("/nowhere")), inherited)


ENOUGH = [
    settings(api_key="k"),
    settings(api_key="k", model="gpt-4o-mini"),
    settings(api_key="k", provider="anthropic", model="claude-sonnet-4-5"),
    settings(model="ollama/llama3.1"),
    settings(provider="ollama", model="llama3.1", endpoint="http://10.0.0.7:11434"),
    settings(provider="custom", model="openai/local", endpoint="http://127.0.0.1:8000/v1"),
    settings(endpoint="http://localhost:1234/v1", model="local"),
    settings(endpoint="http://[::1]:1234/v1", model="local"),
    settings(provider="bedrock", model="anthropic.claude-sonnet-4-5-v1:0"),
]


@pytest.mark.parametrize("given", ENOUGH)
def test_a_key_or_a_provider_that_needs_none_is_enough(given: Settings) -> None:
    assert llm.is_configured(given)
    llm.require(given)


NOT_ENOUGH = [
    (settings(), "LLM_NOT_CONFIGURED"),
    (settings(provider="openai", model="gpt-4o"), "LLM_NOT_CONFIGURED"),
    (settings(endpoint="https://models.example/v1"), "LLM_NOT_CONFIGURED"),
    (settings(endpoint="https://localhost.example/v1"), "LLM_NOT_CONFIGURED"),
    (settings(endpoint="http://127.0.0.1@models.example/v1"), "LLM_NOT_CONFIGURED"),
    (settings(endpoint="http://[bad/v1"), "LLM_NOT_CONFIGURED"),
    (settings(provider="ollama"), "LLM_CONFIG"),
    (settings(provider="llama_cpp", api_key="k"), "LLM_CONFIG"),
    (settings(provider="azure", api_key="k", model="gpt-4o"), "LLM_CONFIG"),
    (settings(api_key="k", endpoint="models.example/v1"), "LLM_CONFIG"),
]


@pytest.mark.parametrize(("given", "code"), NOT_ENOUGH)
def test_what_is_not_enough_says_what_is_missing(given: Settings, code: str) -> None:
    assert not llm.is_configured(given)
    with pytest.raises(JobError, match=code):
        llm.require(given)


def test_a_tool_serves_all_but_cognee_itself_which_is_told_nothing_of_it() -> None:
    given = settings().changed(llm_tool="codex")
    llm.require(given)
    assert (llm.is_configured(given), llm.name_of(given)) == (True, "codex")
    with pytest.raises(JobError, match="codex serves compact, judge and capture; this needs a provider"):
        llm.require_provider(given)
    assert not [name for name in told(given) if name.startswith("LLM_")]


def test_without_a_language_model_cognee_is_kept_from_one_of_its_own() -> None:
    environment = told(settings(), OPENAI_API_KEY="another's", GRAPH_EXTRACTOR="gliner", GLINER_AUTO_INSTALL="true")
    assert (environment["GRAPH_EXTRACTOR"], environment["GLINER_AUTO_INSTALL"]) == ("llm", "false")
    assert not [name for name in environment if name.startswith("LLM_")]


def test_a_key_is_sent_nowhere_but_to_its_own_endpoint() -> None:
    environment = told(
        settings(api_key="k"),
        LLM_ENDPOINT="https://elsewhere.example",
        OPENAI_BASE_URL="https://elsewhere.example",
        ANTHROPIC_API_BASE="https://elsewhere.example",
        FALLBACK_ENDPOINT="https://elsewhere.example",
        LITELLM_PROXY="https://elsewhere.example",
    )
    for_tools = {name for name in environment if name.startswith(OF_TOOLS)}  # which cognee does not read
    assert for_tools == {f"{OF_TOOLS}OPENAI_BASE_URL", f"{OF_TOOLS}ANTHROPIC_API_BASE"}
    assert "elsewhere" not in repr([environment[name] for name in environment.keys() - for_tools])


def test_a_plain_name_of_a_model_is_that_of_a_server_of_openais_kind() -> None:
    for provider in ("openai", "custom"):
        given = settings(provider=provider, model="local", endpoint="http://localhost:1/v1")
        assert told(given)["LLM_MODEL"] == "openai/local"
    assert told(settings(provider="azure", model="gpt", api_key="k", endpoint="https://x"))["LLM_MODEL"] == "azure/gpt"
    assert told(settings(api_key="k", model="openrouter/some/model"))["LLM_PROVIDER"] == "custom"


def test_ollama_needs_neither_key_nor_endpoint() -> None:
    environment = told(settings(provider="ollama", model="llama3.1"))
    assert environment["LLM_ENDPOINT"] == "http://localhost:11434"
    assert environment["LLM_API_KEY"] == llm.NO_KEY
    assert told(settings(model="ollama/x", endpoint="http://o:1/v1/"))["LLM_ENDPOINT"] == "http://o:1"


def test_the_child_sees_the_same_language_model_as_its_parent() -> None:
    for given in (
        settings(), settings(provider="ollama", model="m"), settings(provider="ollama", endpoint="http://o"),
        settings(api_key="k", model="gpt"), settings(provider="bedrock", model="m"),
        settings(api_key="k", endpoint="models.example/v1"), settings(provider="nonsense", api_key="k"),
    ):  # fmt: skip
        child = load(environment=told(given, COGNEE_MEMORY_CONFIG_DIR="/nowhere"))
        assert code_of(child) == code_of(given)


class Refused(Exception):
    """As a client raises it."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message)
        self.status_code = status


def of(error: Exception) -> str:
    return llm_failures.as_job_error(error, datetime(2026, 11, 20, tzinfo=UTC), "openai/test", 5).code


def test_a_limit_a_minute_is_waited_for_though_it_is_told_in_the_words_of_a_spent_account() -> None:
    """Gemini says both of a limit that is over within the minute."""
    said = "You exceeded your current quota, please check your plan and billing details."
    assert of(Refused(429, said)) == "LLM_KEY_REFUSED"
    assert of(Refused(429, f"{said} Please retry in 34.074824224s.")) == "RATE_LIMITED"


def test_what_was_not_served_is_known_from_what_may_have_been() -> None:
    nobody = aiohttp.ClientConnectorError(SimpleNamespace(ssl=None, host="h", port=1), OSError())  # type: ignore[arg-type]
    cut = aiohttp.ClientOSError()  # LiteLLM makes a ConnectError of both
    for error, was_not in (
        (Refused(429), True), (nobody, True), (httpx.ConnectTimeout(""), True),
        (cut, False), (Refused(500), False), (Refused(408), False), (httpx.ReadTimeout(""), False),
    ):  # fmt: skip
        outer = httpx.ConnectError("")
        outer.__cause__ = error
        assert llm_failures.was_not_charged(outer) == was_not, error


def code_of(given: Settings) -> str | None:
    try:
        llm.require(given)
    except JobError as error:
        return error.code
    return None


# --- its budgets: by job and by day, calls and tokens ---


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
