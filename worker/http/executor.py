"""Runs the requests of the HTTP server in threads, with one ``Reader``, the current settings and a bound on concurrent
requests.

The routes build the replies. This module does not know HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bridge import trust
from bridge.embedding.factory import create
from bridge.interface import envelope
from bridge.interface.question_arguments import with_settings
from bridge.privacy.log_lines import fields
from bridge.search.reader import Reader, Verb, failure
from bridge.settings import Settings
from bridge.trust_kept import KeptTrust
from jobs import clock, files, plain_files
from jobs.errors import JobError
from jobs.layout import Workspace

from ..monitoring import readiness
from ..monitoring.counters import COUNTS, Counters

if TYPE_CHECKING:
    from bridge.background import Background
    from bridge.embedding.config import EmbeddingConfig
    from bridge.embedding.embedder import Embedder
    from bridge.interface.answer_shapes import FittingNotes, Response
    from bridge.reranking.config import RerankConfig

log = logging.getLogger("server")

# Embedding and search release the interpreter's lock, so one thread for each processor.
_THREADS = max(2, min(8, os.cpu_count() or 2))
_WAITING_THREADS = 4  # for requests that wait for the worker, so that they never delay a query
_MOST_AT_ONCE = 64  # running or waiting for a thread; further requests get HTTP_BUSY and can be repeated

_EMBEDDER = partial(create, stays=True)

T = TypeVar("T")


class RequestExecutor:
    """The thread pools of the server, its ``Reader`` and its counters. Call ``ask``, ``work`` and ``run`` on the
    event loop."""

    def __init__(
        self,
        workspace: Workspace,
        ready: Callable[[], None],
        *,
        begun: tuple[EmbeddingConfig, Background[Embedder]] | None = None,
        most_at_once: int = _MOST_AT_ONCE,
    ) -> None:
        """``ready`` is called once, when the model is loaded. ``begun``: a model whose load has begun."""
        self.workspace = workspace
        self._job_folder = files.identity(workspace.spool.root)
        self._trust = KeptTrust(workspace)
        self._in_use: _InUse | None = None
        self._begun = begun
        self._ready = ready
        self.is_ready = False
        """Whether a query has succeeded in this process, so the model is loaded."""
        self._renewing = threading.Lock()
        self._looked_at = 0.0
        self._most = most_at_once
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="answer")
        self._waiting = ThreadPoolExecutor(_WAITING_THREADS, thread_name_prefix="waiting")
        self.counters = Counters()
        self._why_not_loaded: str | None = None
        self.in_flight = 0
        self.asked_at = time.monotonic()

    def warm(self) -> None:
        """Load the model and the index with a query of the server's own. A failure is logged once for each reason,
        not raised: each later query reports it. Does nothing once a query has succeeded."""
        if self.is_ready:
            return
        answer, _ = self._answer("retrieve", {"query": "warm"})
        why = None
        if not answer["success"]:
            why = f"The model is not loaded ({answer['error_code']}): {answer['error']}"
            if why != self._why_not_loaded:
                log.warning("model not loaded", extra=fields(code=answer["error_code"]))
        self._why_not_loaded = why

    def require_ready(self) -> None:
        """Raises JobError: NOT_READY with the reason when the model, the worker or the store is not ready;
        WORKSPACE_MOVED."""
        self._require_in_place()
        if self._why_not_loaded is not None and not self.is_ready:
            self.warm()  # the missing part may be present now
        if not self.is_ready:
            message = self._why_not_loaded or "The model is still being loaded."
            raise JobError("NOT_READY", message, details={"reason": "model"})
        readiness.require(self.workspace, clock.now())

    async def ask(self, verb: Verb, arguments: dict[str, Any], *, whole: bool = False) -> tuple[Response, bytes]:
        """The answer to a query, and its bytes exactly as the command line prints them.

        With ``whole``, the arguments are complete: no default comes from the settings. Raises JobError: HTTP_BUSY when
        too many requests run.
        """
        came = time.perf_counter()
        return await self.run(lambda: self._measured(verb, arguments, whole, came))

    async def moment(self, prompt: str, file: str, output: str, shown: Sequence[int]) -> FittingNotes:
        """The notes that fit a prompt, a file or an output. Raises JobError: HTTP_BUSY; as ``Reader.moment``."""
        return await self.run(lambda: self._now_in_use().reader.moment(prompt, file, shown, clock.now(), output))

    async def work(self, do: Callable[[Settings], T], *, waits: bool = False) -> T:
        """Run ``do`` in a thread with the current settings. It needs a trusted workspace.

        ``waits`` is for calls that take seconds, mostly waiting. Raises JobError: HTTP_BUSY when too many requests run,
        WORKSPACE_NOT_TRUSTED, SETTING_INVALID.
        """
        return await self.run(lambda: do(self._now_in_use().settings), waits=waits)

    async def run(self, do: Callable[[], T], *, waits: bool = False) -> T:
        """Run ``do`` in a thread; the workspace need not be trusted. Raises JobError: HTTP_BUSY when too many
        requests run."""
        if self.in_flight >= self._most:
            raise JobError("HTTP_BUSY")
        self.in_flight += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._waiting if waits else self._pool, do)
        finally:
            self.in_flight -= 1
            self.asked_at = time.monotonic()

    def _measured(self, verb: Verb, arguments: dict[str, Any], whole: bool, came: float) -> tuple[Response, bytes]:
        began = time.perf_counter()
        answer, data = self._answer(verb, arguments, whole, came)
        self.counters.observe("question_seconds", time.perf_counter() - began, verb)
        if not answer["success"]:
            self.counters.count("question_errors", verb, answer["error_code"])
        elif (considered := _considered(answer)) is not None:
            self.counters.observe("question_candidates", considered, verb, bounds=COUNTS)
        return answer, data

    def _answer(
        self, verb: Verb, arguments: dict[str, Any], whole: bool = False, came: float = math.inf
    ) -> tuple[Response, bytes]:
        answer: Response
        try:
            now = self._now_in_use(came)
            asked = with_settings(arguments, None if whole else now.settings)
        except JobError as error:
            answer = failure(verb, error, arguments, self.workspace)
        else:
            answer = now.reader.answer(verb, asked, clock.now())
        if answer["success"] and not self.is_ready:
            self.is_ready = True
            self._ready()
        return answer, envelope.encoded(answer)

    def _require_in_place(self) -> None:
        """Raises JobError: WORKSPACE_MOVED when the job folder is not the one of this process's start: the workspace
        was moved, removed or replaced, so that nothing or another one is at its path."""
        if self._job_folder is None or files.identity(self.workspace.spool.root) != self._job_folder:
            raise JobError("WORKSPACE_MOVED", f"The workspace of this worker is no longer at {self.workspace.root}.")

    def _now_in_use(self, came: float = math.inf) -> _InUse:
        """The settings as the files are now, or were after ``came``, the time of a question that waited, with a
        ``Reader``; a new ``Reader`` only if a model has changed.

        Raises JobError: WORKSPACE_MOVED, WORKSPACE_NOT_TRUSTED, SETTING_INVALID.
        """
        with self._renewing:
            in_use = self._in_use
            if in_use is not None and self._looked_at > came:  # for another question
                return in_use
            now = time.perf_counter()
            self._require_in_place()
            # The first call does not know the settings files yet, so the second call reads the settings again.
            stamp = None if in_use is None else _stamp(self._trust, self.workspace, in_use.settings)
            if in_use is None or in_use.stamp != stamp:
                settings = trust.settings_of(self.workspace)
                same = in_use is not None and _models(in_use.settings) == _models(settings)
                reader = in_use.reader if in_use is not None and same else self._reader(settings)
                in_use = self._in_use = _InUse(settings, stamp, reader)
            self._looked_at = now
            return in_use

    def _reader(self, settings: Settings) -> Reader:
        begun, self._begun = self._begun, None
        loading = begun[1] if begun is not None and begun[0] == settings.embedding else None
        return Reader(self.workspace, settings.embedding, _EMBEDDER, settings.reranking, loading=loading, stays=True)


def _models(settings: Settings) -> tuple[EmbeddingConfig, RerankConfig | None]:
    """What a ``Reader`` is made for."""
    return settings.embedding, settings.reranking


def _considered(answer: Mapping[str, Any]) -> int | None:
    """How many memories passed the relevance floor; None where an answer does not contain the number."""
    considered: int | None = answer.get("considered", answer.get("total_results"))
    return considered


_Stamp = tuple[bool, list[tuple[int, int] | None]]


@dataclass(frozen=True, slots=True)
class _InUse:
    settings: Settings
    stamp: _Stamp | None
    reader: Reader


def _stamp(kept: KeptTrust, workspace: Workspace, settings: Settings) -> _Stamp:
    """Changes when the settings or the trust may have changed. Raises JobError: WORKSPACE_NOT_TRUSTED."""
    folder = settings.config_folder
    files = (workspace.env_file, folder / "config.toml")
    return kept.require_trusted(folder).trusted, [plain_files.stamp(path) for path in files]
