"""Checks the settings: values without effect, the providers, and risky or unusual choices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from bridge.embedding import local_models
from bridge.graph import llm, tool_model
from bridge.settings import Settings, inherited_environment, table
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..wording import counted
from . import setting_sources
from .setting_sources import IneffectiveSettings


@dataclass(frozen=True, slots=True)
class SettingsState:
    """The settings, the variables without effect, and why no language model can be used, if so."""

    settings: Settings
    ineffective: IneffectiveSettings
    llm_problem: JobError | None


def gather(workspace: Workspace, settings: Settings, trusted: bool) -> SettingsState:
    """Read the settings' sources. Raises OSError, or ValueError for an unreadable ``.env``."""
    ineffective = setting_sources.survey(settings, inherited_environment(), workspace.env_file, trusted)
    try:
        llm.require(settings)
        if settings.llm_tool:
            tool_model.require(settings.llm_tool)
    except JobError as error:
        return SettingsState(settings, ineffective, error)
    return SettingsState(settings, ineffective, None)


def misspelt(state: SettingsState) -> Iterator[Finding]:
    """A finding for each unknown variable."""
    for unknown in state.ineffective.unknown:
        near = f" {unknown.near} may be meant." if unknown.near else ""
        yield finding("VARIABLE_UNKNOWN", unknown.variable, f"Set in: {unknown.source}.{near}")


def without_effect(state: SettingsState) -> Iterator[Finding]:
    """Findings about variables that are ignored or dropped."""
    if state.ineffective.ignored:
        yield finding("ENV_FILE_IGNORED", ".env", f"It says {', '.join(state.ineffective.ignored)}.")
    for variable in state.ineffective.apart:
        yield finding("SOURCES_APART", variable, f"{variable} has no effect.")
    if state.ineffective.cognees:
        yield finding("COGNEE_VARIABLE_IGNORED", "environment", f"There is {', '.join(state.ineffective.cognees)}.")


def providers(state: SettingsState) -> Iterator[Finding]:
    """Findings about the embedding model and the language model."""
    embedding = state.settings.embedding
    with suppress(JobError):  # a model that is not here is a finding about the stores
        model = local_models.chosen(embedding)
        if model is not None and embedding.dimensions != model.dimensions:
            numbers = f"EMBEDDING_DIMENSIONS is {embedding.dimensions}; the model {embedding.model} makes"
            yield finding("EMBEDDING_MISFIT", "embedding", f"{numbers} {model.dimensions}.")
    if state.llm_problem is None:
        tool = state.settings.llm_tool
        named = f"It is the command line of {tool}" if tool else f"The provider is {llm.provider_of(state.settings)}"
        yield finding("LLM_SET", "language model", f"{named}.")
    elif state.llm_problem.code == "LLM_NOT_CONFIGURED" and not _names_one(state.settings):
        yield finding("LLM_ABSENT", "language model")
    else:
        yield finding("LLM_MISFIT", "language model", state.llm_problem.message)


def reranker(state: SettingsState) -> Iterator[Finding]:
    """A finding if the configured reranker does not judge a text of its own. One behind an endpoint is asked once."""
    config = state.settings.reranking
    if config is None:
        return
    from bridge.reranking.factory import create
    from bridge.reranking.reranker import RerankError

    try:
        create(config).relevance("Is it ready?", ["It is ready."])
    except RerankError as error:
        yield finding("RERANKER_BROKEN", "reranker", f"{error.message} {error.remedy}")


def _names_one(settings: Settings) -> bool:
    return any((settings.llm_provider, settings.llm_model, settings.llm_endpoint))


def in_force(state: SettingsState) -> Iterator[Finding]:
    """Findings about redaction, test jobs, and the settings that differ from their defaults."""
    if not state.settings.redact_secrets:
        source = state.settings.sources.get("redact_secrets", "default")
        yield finding("REDACTION_OFF", "redact_secrets", f"It comes from: {source}.")
    if state.settings.test_jobs:
        yield finding("TEST_JOBS_ON", "test_jobs")
    rows = [row for row in table(state.settings) if row.source != "default"]
    if rows:
        listed = ", ".join(f"{row.variable} from {row.source}" for row in rows)
        yield finding("SETTINGS_SET", counted(len(rows), "setting"), f"{listed}.", count=len(rows))


CHECKS = (misspelt, without_effect, providers, reranker, in_force)
