"""The status of a workspace: its worker, its queue and its memory. What has not changed is not computed again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bridge.graph import installed
from bridge.interface.envelope import SUCCESS
from bridge.search import listing
from jobs import clock, record_cache, spool
from jobs.heartbeat import STALE_SECONDS
from jobs.kinds import KIND_NAMES
from jobs.layout import Workspace
from jobs.plain_files import stamp
from jobs.record_cache import RecordCache

from ..admin import requests

if TYPE_CHECKING:
    from bridge.memory_shapes import CountsOrError

    from .shapes import JobsState, QueueStatus

_Stamp = tuple[int, int] | None


class QueueState:
    """The status of the workspace. Its parts are cached and computed again when their files have changed."""

    def __init__(self, workspace: Workspace, known: RecordCache) -> None:
        self._workspace = workspace
        self._known = known
        self._jobs: tuple[int, JobsState] | None = None
        self._memory: tuple[tuple[_Stamp, ...], CountsOrError] | None = None

    def version(self) -> str:
        """A text that changes when any part of the status may have changed."""
        paths = self._workspace.spool
        beat = stamp(paths.heartbeat)
        # A worker that hangs changes no file, so its age counts too.
        silent = beat is not None and time.time() - beat[0] / 1e9 > STALE_SECONDS
        parts = (beat, silent, stamp(paths.inbox), *self._stores())
        return f"{self._known.refresh()}-{hash(parts) & 0xFFFFFFFFFFFFFFFF:x}"

    def now(self) -> QueueStatus:
        """The current status."""
        from ..version import VERSION  # not at the top: the first question would wait for the metadata of packages

        spool_paths = self._workspace.spool
        return {
            **SUCCESS,
            "workspace": str(self._workspace.root),
            "version": VERSION,
            "now": clock.iso(clock.now()),
            "worker": requests.worker_of(self._workspace),
            "jobs": self._of_jobs(),
            "waiting_in_inbox": len(spool.inbox(spool_paths)) if spool_paths.root.is_dir() else 0,
            "kinds": [*KIND_NAMES],
            **self._of_memory(),
            "graph_installed": installed.is_installed(),
        }

    def _of_jobs(self) -> JobsState:
        version = self._known.refresh()
        if self._jobs is None or self._jobs[0] != version:
            rows = self._known.rows()
            jobs: JobsState = {
                "counts": record_cache.counts(rows),
                "causes": record_cache.causes(rows),
                "version": version,
            }
            self._jobs = version, jobs
        return self._jobs[1]

    def _of_memory(self) -> CountsOrError:
        stores = self._stores()
        if self._memory is None or self._memory[0] != stores:
            self._memory = stores, listing.counts_or_error(self._workspace)
        return self._memory[1]

    def _stores(self) -> tuple[_Stamp, ...]:
        path = self._workspace.memory_db
        return stamp(path), stamp(path.with_name(path.name + "-wal"))
