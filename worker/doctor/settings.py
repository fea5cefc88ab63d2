"""Checks the settings: values without effect, the providers, and risky or unusual choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bridge.embedding import local_models
from bridge.graph import llm, tool_model
from bridge.settings import PREFIX, SETTINGS, Settings, inherited_environment, is_allowed_in_workspace, table, variable
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace
from jobs.spelling import nearest

from ..wording import counted

# Variables of the cognee SDK about its stores; this program does not use them.
_COGNEES = ("SYSTEM_ROOT_DIRECTORY", "DATA_ROOT_DIRECTORY", "CACHE_ROOT_DIRECTORY", "GRAPH_DATABASE_PROVIDER",
            "VECTOR_DB_PROVIDER", "DB_PROVIDER")  # fmt: skip


class Unknown(NamedTuple):
    """An unknown variable with this program's prefix. ``near`` is the known variable that is probably meant."""

    variable: str
    source: str
    near: str | None


def _unknown(ineffective: Mapping[str, str | None], source: str) -> list[Unknown]:
    known = [variable(name) for name in SETTINGS]
    strange = sorted(name for name in ineffective if name.startswith(PREFIX) and name not in known)
    return [Unknown(name, source, next(iter(nearest(name, known)), None)) for name in strange]


def _dotenv(path: Path) -> Mapping[str, str | None]:
    if not path.is_file():
        return {}
    from dotenv import dotenv_values

    return dotenv_values(path, interpolate=False)


class Facts:
    """The settings; names of variables without effect, and no values of them; why no language model can be used.
    ``ignored`` are in the workspace's ``.env``, where they are not allowed."""

    def __init__(self, workspace: Workspace, settings: Settings, trusted: bool) -> None:
        """Read the settings' sources. Raises OSError, or ValueError for an unreadable ``.env``."""
        environment, in_file = inherited_environment(), _dotenv(workspace.env_file)
        self.settings = settings
        self.unknown = [*_unknown(environment, "environment"), *_unknown(in_file, ".env of the workspace")]
        set_in_file = {name for name in SETTINGS if in_file.get(variable(name))}
        self.ignored = [variable(name) for name in set_in_file if not is_allowed_in_workspace(name, trusted)]
        self.cognees = [name for name in _COGNEES if environment.get(name)]
        self.llm_problem: JobError | None = None
        try:
            llm.require(settings)
            if settings.llm_tool:
                tool_model.require(settings.llm_tool)
        except JobError as error:
            self.llm_problem = error


def misspelt(facts: Facts) -> Iterator[Finding]:
    """A finding for each unknown variable."""
    for unknown in facts.unknown:
        near = f" {unknown.near} may be meant." if unknown.near else ""
        yield finding("VARIABLE_UNKNOWN", unknown.variable, f"Set in: {unknown.source}.{near}")


def without_effect(facts: Facts) -> Iterator[Finding]:
    """Findings about variables that are ignored or dropped."""
    if facts.ignored:
        yield finding("ENV_FILE_IGNORED", ".env", f"It says {', '.join(sorted(facts.ignored))}.")
    for each in map(variable, facts.settings.dropped):
        yield finding("SOURCES_APART", each, f"{each} has no effect.")
    if facts.cognees:
        yield finding("COGNEE_VARIABLE_IGNORED", "environment", f"There is {', '.join(facts.cognees)}.")


def providers(facts: Facts) -> Iterator[Finding]:
    """Findings about the embedding model and the language model."""
    embedding = facts.settings.embedding
    with suppress(JobError):  # a model that is not here is a finding about the stores
        model = local_models.chosen(embedding)
        if model is not None and embedding.dimensions != model.dimensions:
            numbers = f"EMBEDDING_DIMENSIONS is {embedding.dimensions}; the model {embedding.model} makes"
            yield finding("EMBEDDING_MISFIT", "embedding", f"{numbers} {model.dimensions}.")
    if facts.llm_problem is None:
        tool = facts.settings.llm_tool
        named = f"It is the command line of {tool}" if tool else f"The provider is {llm.provider_of(facts.settings)}"
        yield finding("LLM_SET", "language model", f"{named}.")
    elif facts.llm_problem.code == "LLM_NOT_CONFIGURED" and not _names_one(facts.settings):
        yield finding("LLM_ABSENT", "language model")
    else:
        yield finding("LLM_MISFIT", "language model", facts.llm_problem.message)


def reranker(facts: Facts) -> Iterator[Finding]:
    """A finding if the configured reranker does not judge a text of its own. One behind an endpoint is asked once."""
    config = facts.settings.reranking
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


def in_force(facts: Facts) -> Iterator[Finding]:
    """Findings about redaction, test jobs, and the settings that differ from their defaults."""
    if not facts.settings.redact_secrets:
        source = facts.settings.sources.get("redact_secrets", "default")
        yield finding("REDACTION_OFF", "redact_secrets", f"It comes from: {source}.")
    if facts.settings.test_jobs:
        yield finding("TEST_JOBS_ON", "test_jobs")
    rows = [row for row in table(facts.settings) if row.source != "default"]
    if rows:
        listed = ", ".join(f"{row.variable} from {row.source}" for row in rows)
        yield finding("SETTINGS_SET", counted(len(rows), "setting"), f"{listed}.", count=len(rows))


CHECKS = (misspelt, without_effect, providers, reranker, in_force)
