"""Putting a question to a workspace as every door does: through a reader, with the settings filled in."""

from datetime import datetime
from typing import Any

from bridge.embedding.embedder import Embedder
from bridge.interface.question_arguments import with_settings
from bridge.search.reader import Reader, Verb
from bridge.settings import Settings
from jobs.layout import Workspace


def answer_to(
    workspace: Workspace,
    embedder: Embedder,
    now: datetime,
    settings: Settings,
    verb: Verb = "retrieve",
    **arguments: Any,
) -> dict[str, Any]:
    """The envelope: of an error as well."""
    reader = Reader(workspace, settings.embedding, lambda _: embedder, settings.reranking)
    return reader.answer(verb, with_settings(arguments, settings), now)
