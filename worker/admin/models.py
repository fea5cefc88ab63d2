"""The embedding models: those known, the one in force, and how far a store is embedded with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from bridge.embedding.local_model import LocalModel
from bridge.embedding.local_models import all_models
from bridge.search.listing import title
from bridge.settings import Settings
from bridge.store import opening
from bridge.text.passages import whole_text
from jobs.errors import JobError
from jobs.layout import Workspace
from jobs.states import LIVE

from .job_details import in_flight
from .selection import job_rows

if TYPE_CHECKING:
    from bridge.reranking.config import RerankConfig

    from .shapes import ModelComparison, ModelList, ModelQuality, ModelRow, ModelStatus

CALIBRATED_ON = 150  # memories
ENOUGH = 40  # memories; with fewer, sentences of the program are added
_CHARACTERS = 1_000  # of a memory's text


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


def calibration_pairs(workspace: Workspace) -> list[tuple[str, str]]:
    """Title and text of the newest memories, each text once. Raises JobError: STORE_NEWER, STORE_UNREADABLE,
    STORE_BUSY."""
    with opening.reader_of(workspace).lists() as lists:
        memories = [] if lists is None else lists.page(CALIBRATED_ON)
    texts = {whole_text(memory)[:_CHARACTERS]: title(memory) for memory in memories}
    return [(title, text) for text, title in texts.items() if title.strip() and text.strip()]


def comparison(
    workspace: Workspace,
    settings: Settings,
    models: Sequence[LocalModel],
    now: datetime,
    reranking: RerankConfig | None = None,
) -> ModelComparison:
    """How well each model, and then with the reranker, finds the memories that helped with a question.

    Raises JobError: ARGUMENT_INVALID if no question is marked; as ``model_comparison.ranks``.
    """
    from bridge.search import model_comparison

    questions = model_comparison.marked(workspace)
    if not questions:
        raise JobError(
            "ARGUMENT_INVALID",
            "No question is marked yet, so there is nothing to compare with.",
            remediation="Mark what helped: cognee-memory feedback NUMBER helpful --query QUESTION.",
        )
    rows: list[ModelQuality] = []
    for model in models:
        found = model_comparison.ranks(workspace, model.config(settings.cache_folder), questions, now, reranking)
        for ranks, reranker in zip(found, (None, reranking.identity if reranking else None), strict=False):
            rows.append(
                {
                    "model": model.name,
                    "reranker": reranker,
                    "first": ranks.count(1),
                    "first_five": sum(rank is not None for rank in ranks),
                    "ranks": ranks,
                }
            )
    return {"questions": [each.query for each in questions], "models": rows}
