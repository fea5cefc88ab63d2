"""The embedding models: those known, the one in force, and how far a store is embedded with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import all_models
from bridge.settings import Settings
from bridge.store import opening
from jobs.layout import Workspace
from jobs.states import LIVE

from .job_details import in_flight
from .selection import job_rows

if TYPE_CHECKING:
    from .shapes import ModelList, ModelRow, ModelStatus


def model_list(settings: Settings) -> ModelList:
    """The models that can be chosen by name, and the identity of the configured one."""
    return {
        "models": [_row(model, settings) for model in all_models(settings.cache_folder)],
        "configured": settings.embedding.identity,
    }


def _row(model: LocalModel, settings: Settings) -> ModelRow:
    return {
        "name": model.name,
        "identity": model.identity,
        "languages": model.languages,
        "licence": model.licence,
        "size_mb": model.size_mb,
        "download_mb": model.download_mb,
        "query_ms": model.query_ms,
        "installed": model.is_installed(settings.cache_folder),
        "configured": model.identity == settings.embedding.identity,
    }


def model_status(workspace: Workspace, settings: Settings) -> ModelStatus:
    """The configured model, the store's, and the rebuild that waits or runs. Raises JobError: STORE_NEWER,
    STORE_UNREADABLE, STORE_BUSY."""
    recorded = opening.embedder_of(workspace)
    rebuilds = [row for row in job_rows(workspace.spool) if row["kind"] == "rebuild" and row["state"] in LIVE]
    running = next((row for row in rebuilds if row["state"] == "running"), None)
    job = running or next(iter(rebuilds), None)
    flight = in_flight(workspace.spool, job["job_id"]) if job else None
    return {
        "configured": settings.embedding.identity,
        "store": recorded,
        "state": "ready" if recorded in (None, settings.embedding.identity) else "earlier",
        "job_id": job["job_id"] if job else None,
        "progress": flight["progress"] if flight else None,
    }


def outdated_model(workspace: Workspace, settings: Settings) -> str | None:
    """The model of a store that is still to be embedded with the configured one; None for any other store."""
    recorded = opening.embedder_of(workspace)
    return None if recorded in (None, settings.embedding.identity) else recorded
