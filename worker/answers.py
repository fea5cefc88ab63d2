"""What the server answers with: one Reader for all requests, the settings as they are now, threads, and a bound."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bridge import answer, trust
from bridge.defaults import with_settings
from bridge.reader import Reader, Verb, failure
from bridge.settings import Settings
from jobs import clock
from jobs.errors import JobError
from jobs.layout import Workspace

log = logging.getLogger("server")

# Embedding and search leave the interpreter's lock: as many at once as there are processors.
_THREADS = max(2, min(8, os.cpu_count() or 2))
_MOST_AT_ONCE = 64  # answered or waiting for a thread; more are sent away, and come again


class Answers:
    """``answer`` is for any thread, ``ask`` for the event loop."""

    def __init__(
        self, workspace: Workspace, settings: Settings, ready: Callable[[], None], *, most_at_once: int = _MOST_AT_ONCE
    ) -> None:
        """``ready`` is called once, when the model is loaded."""
        self._workspace = workspace
        self._settings = settings
        self._stamps = _stamps(workspace, settings)
        self._reader = Reader(workspace, settings.embedding)
        self._ready = ready
        self._is_ready = threading.Event()
        self._renewing = threading.Lock()
        self._most = most_at_once
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="answer")
        self.in_flight = 0
        self.asked_at = time.monotonic()

    @property
    def is_ready(self) -> bool:
        return self._is_ready.is_set()

    def warm(self) -> None:
        """Load what answering needs, by a question of our own. What is missing is each question's error, not ours."""
        found, _ = self._answer("retrieve", {"query": "warm"})
        if not found["success"]:
            log.warning("not warm: %s", found["error_code"])

    def _set_ready(self) -> None:
        if not self._is_ready.is_set():
            self._is_ready.set()
            self._ready()

    async def ask(self, verb: Verb, arguments: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The answer, and the bytes that the command line would print. Raises HTTP_BUSY."""
        if self.in_flight >= self._most:
            raise JobError("HTTP_BUSY")
        self.in_flight += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, verb, arguments)
        finally:
            self.in_flight -= 1
            self.asked_at = time.monotonic()

    def _answer(self, verb: Verb, arguments: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        try:
            reader, settings = self._in_force()
            asked = with_settings(arguments, settings)
        except JobError as error:
            found = failure(verb, error, arguments, self._workspace)
        else:
            found = reader.answer(verb, asked, clock.now())
        if found["success"]:
            self._set_ready()
        return found, answer.encoded(found)

    def _in_force(self) -> tuple[Reader, Settings]:
        """The settings as the files say now; another embedder needs another Reader. Raises SETTING_INVALID."""
        with self._renewing:
            stamps = _stamps(self._workspace, self._settings)
            if stamps != self._stamps:
                settings = trust.settings_of(self._workspace)
                if settings.embedding != self._settings.embedding:
                    self._reader = Reader(self._workspace, settings.embedding)
                self._settings, self._stamps = settings, stamps
            return self._reader, self._settings


def _stamps(workspace: Workspace, settings: Settings) -> list[tuple[int, int] | None]:
    """What tells whether a file of settings was written since."""
    return [_stamp(path) for path in (workspace.env_file, settings.config_folder / "config.toml")]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
