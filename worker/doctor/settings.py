"""The settings: what was said where, and what of it has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bridge.embedding.model_files import DIMENSIONS
from bridge.graph import llm
from bridge.settings import Settings, inherited_environment, table
from jobs.errors import JobError
from jobs.finding import Finding, finding
from jobs.layout import Workspace

from ..wording import counted
from . import setting_sources
from .setting_sources import Said


@dataclass(frozen=True, slots=True)
class Found:
    settings: Settings
    said: Said
    llm_problem: JobError | None


def gather(workspace: Workspace, settings: Settings, trusted: bool) -> Found:
    """Raises OSError, ValueError for a ``.env`` that cannot be read."""
    said = setting_sources.survey(settings, inherited_environment(), workspace.env_file, trusted)
    try:
        llm.require(settings)
    except JobError as error:
        return Found(settings, said, error)
    return Found(settings, said, None)


def misspelt(it: Found) -> Iterator[Finding]:
    for unknown in it.said.unknown:
        near = f" {unknown.near} may be meant." if unknown.near else ""
        yield finding("VARIABLE_UNKNOWN", unknown.variable, f"It stands in: {unknown.source}.{near}")


def without_effect(it: Found) -> Iterator[Finding]:
    if it.said.ignored:
        yield finding("ENV_FILE_IGNORED", ".env", f"It says {', '.join(it.said.ignored)}.")
    for variable in it.said.apart:
        yield finding("SOURCES_APART", variable, f"{variable} has no effect.")
    if it.said.cognees:
        yield finding("COGNEE_VARIABLE_IGNORED", "environment", f"There is {', '.join(it.said.cognees)}.")


def providers(it: Found) -> Iterator[Finding]:
    embedding = it.settings.embedding
    if embedding.is_local and embedding.dimensions != DIMENSIONS:
        said = f"EMBEDDING_DIMENSIONS is {embedding.dimensions}; the model {embedding.model} makes {DIMENSIONS}."
        yield finding("EMBEDDING_MISFIT", "embedding", said)
    if it.llm_problem is None:
        yield finding("LLM_SET", "language model", f"The provider is {llm.provider_of(it.settings)}.")
    elif it.llm_problem.code == "LLM_NOT_CONFIGURED" and not _names_one(it.settings):
        yield finding("LLM_ABSENT", "language model")
    else:
        yield finding("LLM_MISFIT", "language model", it.llm_problem.message)


def _names_one(settings: Settings) -> bool:
    return any((settings.llm_provider, settings.llm_model, settings.llm_endpoint))


def in_force(it: Found) -> Iterator[Finding]:
    if not it.settings.redact_secrets:
        source = it.settings.sources.get("redact_secrets", "default")
        yield finding("REDACTION_OFF", "redact_secrets", f"It comes from: {source}.")
    if it.settings.test_jobs:
        yield finding("TEST_JOBS_ON", "test_jobs")
    rows = [row for row in table(it.settings) if row.source != "default"]
    if rows:
        said = ", ".join(f"{row.variable} from {row.source}" for row in rows)
        yield finding("SETTINGS_SET", counted(len(rows), "setting"), f"{said}.", count=len(rows))


CHECKS = (misspelt, without_effect, providers, in_force)
