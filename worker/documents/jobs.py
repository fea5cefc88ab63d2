"""The document of a job's result."""

from __future__ import annotations

from typing import Any

from . import capture, compact, migrate
from .blocks import markdown

_BY_KIND: dict[str | None, Any] = {
    "capture": capture.document, "compact": compact.document, "migrate": migrate.document,
}  # fmt: skip


def document(kind: str | None, result: Any) -> str | None:
    """In Markdown; None for a kind without one, and without such a result: it failed, or was an undo."""
    try:
        return markdown(_BY_KIND[kind](result))
    except (KeyError, TypeError):  # also where a forget job removed parts of it
        return None
