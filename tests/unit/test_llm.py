"""Which language model the settings name, and what cognee is told of it."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx
import pytest

from bridge.graph import llm, llm_failures
from bridge.graph.cognee_env import cognee_environment
from bridge.settings import OF_TOOLS, Settings, load
from jobs.errors import JobError
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
