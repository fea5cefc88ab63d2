"""Answers about one workspace's memories: the one code behind the command line, HTTP and MCP.

A reader keeps the model and what was read of the index between questions. Safe to share among threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, overload

from jobs.errors import JobError
from jobs.layout import Workspace

from ..background import Background
from ..embedding.embedder import Embedder, EmbeddingConfig
from ..embedding.factory import create
from ..interface import envelope
from ..privacy.masking import trace
from .index_cache import IndexCache
from .snapshot import Snapshot, open_snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import (
        ContextFailure,
        ContextSuccess,
        ExplainFailure,
        ExplainSuccess,
        Response,
        RetrievalFailure,
        RetrievalResponse,
        RetrievalSuccess,
    )

Verb = Literal["retrieve", "explain", "context"]


class Reader:
    """``embedder`` makes the model, at the first question that needs it."""

    def __init__(
        self,
        workspace: Workspace,
        embedding: EmbeddingConfig,
        embedder: Callable[[EmbeddingConfig], Embedder] = create,
    ) -> None:
        self._workspace = workspace
        self._embedding = embedding
        self._create = embedder
        self._lock = Lock()
        self._embedder: Embedder | None = None
        self._loading: Background[Embedder] | None = None
        self._cache = IndexCache()

    @overload
    def answer(self, verb: Literal["retrieve"], arguments: dict[str, Any], now: datetime) -> RetrievalResponse: ...

    @overload
    def answer(self, verb: Verb, arguments: dict[str, Any], now: datetime) -> Response: ...

    def answer(self, verb: Verb, arguments: dict[str, Any], now: datetime) -> Response:
        """The envelope of an answer or of an error. ``arguments`` have the settings in them already."""
        try:
            return _VERBS[verb](self, arguments, now)
        except JobError as error:
            return failure(verb, error, arguments, self._workspace)
        except Exception as error:
            print(trace(error), file=sys.stderr)  # noqa: T201 - for whoever reports it
            return failure(verb, envelope.unexpected(error), arguments, self._workspace)

    def warm(self) -> None:
        """Load the model and look at the index once, so that the next question is quick. Raises JobError."""
        with self.snapshot() as snapshot:
            if snapshot is not None:
                self.embedder(snapshot)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot | None]:
        """The store as it is now; None where nothing was ever stored.

        Raises STORE_NEWER, STORE_UNREADABLE, STORE_BUSY.
        """
        snapshot = open_snapshot(self._workspace, self._cache)
        try:
            yield snapshot
        finally:
            if snapshot is not None:
                snapshot.close()

    def embedder(self, snapshot: Snapshot) -> Embedder | None:
        """The model that the store was made with; None where the store is empty.

        Raises EMBEDDER_MISMATCH, MODEL_MISSING, MODEL_CORRUPT.
        """
        if snapshot.embedder_identity is None or snapshot.memory_count == 0:
            return None
        with self._lock:
            if self._embedder is None:
                loading, self._loading = self._loading, None
                self._embedder = loading.result() if loading else self._create(self._embedding)
            found = self._embedder
        if snapshot.embedder_identity != found.identity:
            raise JobError(
                "EMBEDDER_MISMATCH",
                f"The store was made with {snapshot.embedder_identity}; the settings name {found.identity}.",
            )
        return found

    def _begin_loading(self) -> None:
        """Let the model be read while we look at the index."""
        with self._lock:
            # One that failed while nobody needed it is no news: the model may have been installed since.
            if self._embedder is None and (self._loading is None or self._loading.has_failed):
                self._loading = Background(lambda: self._create(self._embedding))

    def _retrieve(self, arguments: dict[str, Any], now: datetime) -> RetrievalSuccess:
        from .question import parse_question
        from .retrieval import retrieve

        question = parse_question(arguments, now)
        self._begin_loading()
        with self.snapshot() as snapshot:
            return retrieve(snapshot, question, self.embedder(snapshot) if snapshot else None)

    def _explain(self, arguments: dict[str, Any], now: datetime) -> ExplainSuccess:
        from .explain_request import parse
        from .explanation import explain

        asked = parse(self._workspace, arguments, now)
        if asked.query:
            self._begin_loading()
        with self.snapshot() as snapshot:
            return explain(snapshot, asked, self.embedder(snapshot) if snapshot and asked.query else None)

    def _context(self, arguments: dict[str, Any], now: datetime) -> ContextSuccess:
        from .context import context
        from .question import parse_question

        question = parse_question(arguments, now)
        self._begin_loading()
        with self.snapshot() as snapshot:
            return context(snapshot, question, self.embedder(snapshot) if snapshot else None)


_VERBS: dict[Verb, Callable[[Reader, dict[str, Any], datetime], Response]] = {
    "retrieve": Reader._retrieve,
    "explain": Reader._explain,
    "context": Reader._context,
}


def failure(
    verb: Verb, error: JobError, arguments: dict[str, Any] | None = None, workspace: Workspace | None = None
) -> RetrievalFailure | ExplainFailure | ContextFailure:
    """The envelope of an error, with the verb's own fields empty. An explanation repeats what was asked."""
    if verb == "retrieve":
        return {**envelope.failure(error), "results": [], "total_results": 0, "total_tokens": 0}
    if verb == "context":
        return {**envelope.failure(error), "context": "", "memories": [], "considered": 0, "total_tokens": 0}
    from .explanation import failed

    return failed(error, arguments or {}, workspace)
