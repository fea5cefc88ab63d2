"""The reader of one workspace: answers ``retrieve``, ``explain`` and ``context`` for command line, HTTP and MCP.

It keeps the embedding model and the index cache between questions. Thread-safe.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, cast

from jobs.errors import JobError
from jobs.layout import Workspace

from ..background import Background
from ..embedding import local_models
from ..embedding.config import EmbeddingConfig
from ..embedding.embedder import Embedder
from ..embedding.factory import create, earlier
from ..interface import envelope
from ..store.opening import reader_of
from ..team import copy_age
from . import following, waiting_jobs
from .index_cache import IndexCache
from .snapshot import Snapshot, open_snapshot

if TYPE_CHECKING:
    from ..interface.answer_shapes import (
        ContextFailure,
        ContextSuccess,
        ExplainFailure,
        ExplainSuccess,
        FittingNotes,
        Response,
        RetrievalFailure,
        RetrievalSuccess,
    )
    from ..reranking.config import RerankConfig
    from ..reranking.reranker import Reranker
    from .second_stage import SecondStage

Verb = Literal["retrieve", "explain", "context"]


class Reader:
    """Answers questions about one workspace. ``embedder`` loads the model for the first question that needs it.
    ``reranking``: the reranker of the second stage, if there is one. ``loading``: the model, if its load has begun.
    ``stays``: keep the store open between questions, for a process that ends with the worker: on Windows nobody could
    replace the files meanwhile."""

    def __init__(
        self,
        workspace: Workspace,
        embedding: EmbeddingConfig,
        embedder: Callable[[EmbeddingConfig], Embedder] = create,
        reranking: RerankConfig | None = None,
        *,
        loading: Background[Embedder] | None = None,
        stays: bool = False,
    ) -> None:
        self._workspace = workspace
        self._store = reader_of(workspace, stays=stays)
        self._embedding = embedding
        self._create = embedder
        self._reranking = reranking
        self._reranker: Reranker | None = None
        self._lock = Lock()
        self._embedder: Embedder | None = None
        self._earlier: Embedder | None = None  # of a store that is still to be embedded with the configured model
        self._loading = loading
        self._cache = IndexCache()

    def answer(self, verb: Verb, arguments: dict[str, Any], now: datetime, shown: Workspace | None = None) -> Response:
        """The envelope of an answer or of an error. ``arguments`` already contain what the settings supply.

        ``shown``: the workspace that it names, if that is not where the store is.
        """
        shown = shown or self._workspace
        waiting = waiting_jobs.warnings(self._workspace)
        try:
            return _with_warnings(self._answer(verb, arguments, now, shown), waiting)
        except JobError as error:
            return failure(verb, _with_remark(error, waiting), arguments, shown)
        except Exception as error:
            return failure(verb, envelope.unexpected(error), arguments, shown)

    def _answer(self, verb: Verb, arguments: dict[str, Any], now: datetime, shown: Workspace) -> Response:
        if copy_age.has_no_copy(self._workspace):
            from ..team import remote_answers  # only where there is no copy of a team's large workspace

            return cast("Response", remote_answers.ask(self._workspace, verb, arguments))
        return _VERBS[verb](self, arguments, now, shown)

    def moment(self, prompt: str, file: str, shown: Collection[int], now: datetime, output: str = "") -> FittingNotes:
        """The notes for a prompt, or else about a file, or about the errors in the output of a command; none about a
        path that names no file.

        Raises JobError: as ``snapshot`` and ``embedder``.
        """
        from . import about_file, moment

        block = moment.NOTHING
        with self.snapshot(now) as snapshot, self._store.lists() as lists:
            embedder = None if snapshot is None else self.embedder(snapshot)
            if snapshot is not None and embedder is not None and prompt:
                block = moment.for_prompt(snapshot, embedder, prompt, now, shown)
            elif lists is not None and embedder is not None and about_file.names_file(file):
                block = moment.about(lists, self._workspace, file, embedder.count_tokens, shown)
            elif lists is not None and embedder is not None and output:
                block = moment.after_failure(lists, output, now, embedder.count_tokens, shown)
        return {
            **envelope.SUCCESS, "context": block.text, "memory_numbers": block.numbers, "total_tokens": block.tokens,
        }  # fmt: skip

    def warm(self) -> None:
        """Load the model and the index, so that the next question is fast. Raises as ``snapshot`` and ``embedder``."""
        with self.snapshot() as snapshot:
            if snapshot is not None:
                self.embedder(snapshot)

    @contextmanager
    def snapshot(self, now: datetime | None = None) -> Iterator[Snapshot | None]:
        """A snapshot of the store; None if nothing was ever stored. ``now``: it warns of a team's copy that is behind.

        Raises JobError: STORE_NEWER, STORE_UNREADABLE, STORE_BUSY, TEAM_REFUSED, and as ``following.note``.
        """
        note = None if now is None else following.note(self._workspace, now)
        snapshot = open_snapshot(self._workspace, self._cache, self._store)
        if snapshot is not None and note is not None:
            snapshot.warnings.append(note)
        try:
            yield snapshot
        finally:
            if snapshot is not None:
                snapshot.close()

    def embedder(self, snapshot: Snapshot | None) -> Embedder | None:
        """The embedder of the store's vectors; None if there is no store or it is empty. That is no answer if nothing
        could be stored because the chosen model is missing.

        If it is not the one that the settings name, but on this machine, it is used, with a warning. Raises JobError:
        EMBEDDER_MISMATCH or EMBEDDER_CHANGING when it is not on this machine; MODEL_MISSING, MODEL_CORRUPT.
        """
        if snapshot is None or snapshot.embedder_identity is None or snapshot.memory_count == 0:
            local_models.require(self._embedding)
            return None
        former = self._earlier_embedder(snapshot.embedder_identity)
        if former is not None:
            snapshot.warnings.append(earlier_model_answers(former.identity, self._embedding.identity))
            return former
        embedder = self.configured_embedder()
        if snapshot.embedder_identity != embedder.identity:
            changes = local_models.changes_by_itself(snapshot.embedder_identity, self._embedding)
            raise JobError(
                "EMBEDDER_CHANGING" if changes else "EMBEDDER_MISMATCH",
                f"The store was made with {snapshot.embedder_identity}; the settings name {embedder.identity}.",
            )
        return embedder

    def configured_embedder(self) -> Embedder:
        """The embedder that the settings name, loaded once. Raises JobError: MODEL_MISSING, MODEL_CORRUPT."""
        with self._lock:
            if self._embedder is None:
                loading, self._loading = self._loading, None
                self._embedder = loading.result() if loading else self._create(self._embedding)
            return self._embedder

    def _earlier_embedder(self, identity: str) -> Embedder | None:
        """The embedder of a store that is still to be embedded with the configured model; None if this is not so, or if
        that model is not on this machine."""
        with self._lock:
            if self._earlier is None or self._earlier.identity != identity:
                self._earlier = earlier(identity, self._embedding, self._create)
            return self._earlier

    def _begin_loading(self) -> SecondStage | None:
        """Load the models in threads while the index is read. Returns the second stage of one question; None if no
        reranker is configured."""
        with self._lock:
            # After an unused failure it is loaded again: the model may have been installed since.
            if self._embedder is None and (self._loading is None or self._loading.has_failed):
                self._loading = Background(lambda: self._create(self._embedding))
        if self._reranking is None:
            return None
        from ..reranking.factory import create as create_reranker
        from .second_stage import SecondStage

        with self._lock:
            if self._reranker is None:
                self._reranker = create_reranker(self._reranking)
        return SecondStage(self._reranker, self._reranking.hits)

    def _retrieve(self, arguments: dict[str, Any], now: datetime, _: Workspace) -> RetrievalSuccess:
        from .question import parse_question
        from .retrieval import retrieve

        question = parse_question(arguments, now)
        second = self._begin_loading()
        with self.snapshot(now) as snapshot:
            return retrieve(snapshot, question, self.embedder(snapshot), second)

    def _explain(self, arguments: dict[str, Any], now: datetime, shown: Workspace) -> ExplainSuccess:
        from .explain_request import parse
        from .explanation import explain

        asked = parse(shown, arguments, now)
        second = self._begin_loading() if asked.query else None
        with self.snapshot(now) as snapshot:
            return explain(snapshot, asked, self.embedder(snapshot) if asked.query else None, second)

    def _context(self, arguments: dict[str, Any], now: datetime, _: Workspace) -> ContextSuccess:
        from .context import context
        from .question import parse_question

        question = parse_question(arguments, now)
        second = self._begin_loading()
        with self.snapshot(now) as snapshot:
            return context(snapshot, question, self.embedder(snapshot), second)


def _with_warnings(answer: Response, warnings: list[str]) -> Response:
    if answer["success"]:
        said: Any = answer.get("metadata", answer)
        said["warnings"] += warnings
    return answer


def _with_remark(error: JobError, warnings: list[str]) -> JobError:
    """The error; one of a name that no memory has says what is not found yet."""
    if not warnings or error.code not in ("TOPIC_NOT_FOUND", "PLAN_NOT_FOUND"):
        return error
    said = f"{error.remediation} Note: {warnings[0]}."
    return JobError(error.code, error.message, remediation=said, details=error.details)


def earlier_model_answers(former: str, configured: str) -> str:
    """The warning in an answer that was made with a store's earlier model."""
    return (
        f"answers come from the earlier embedding model ({former}) until the memories are embedded with {configured};"
        " cognee-memory model status shows how far"
    )


_VERBS: dict[Verb, Callable[[Reader, dict[str, Any], datetime, Workspace], Response]] = {
    "retrieve": Reader._retrieve,
    "explain": Reader._explain,
    "context": Reader._context,
}


def failure(
    verb: Verb, error: JobError, arguments: dict[str, Any] | None = None, workspace: Workspace | None = None
) -> RetrievalFailure | ExplainFailure | ContextFailure:
    """The envelope of an error, with the verb's own fields empty. That of ``explain`` repeats the request."""
    if verb == "retrieve":
        return {**envelope.failure(error), "results": [], "total_results": 0, "total_tokens": 0}
    if verb == "context":
        return {**envelope.failure(error), "context": "", "memories": [], "considered": 0, "total_tokens": 0}
    from .explanation import failed

    return failed(error, arguments or {}, workspace)
