"""The worker's composition root: creates and connects all parts, scans in a loop, and stops them in order."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from bridge import git_index, trust
from bridge.graph import llm
from bridge.privacy.masking import trace
from bridge.settings import Settings
from bridge.store import mounts
from bridge.store.opening import reader_of
from bridge.store.values import AppliedJob
from bridge.team import membership
from jobs import clock, files, spool
from jobs.layout import Workspace
from jobs.lifecycle import CrashLimits
from jobs.model import Record

from .child.supervisor import Child
from .heartbeat import Heartbeat, describe
from .inbox.control import Control
from .inbox.intake import Intake
from .inbox.own_job import Judging, Reembedding
from .inbox.watcher import Watcher, choose
from .scheduling import recovery, retention
from .scheduling.ledger import Ledger
from .scheduling.scheduling import LocalScheduling, Scheduling
from .server.endpoint import Endpoint
from .version import VERSION

if TYPE_CHECKING:
    from jobs import schema

log = logging.getLogger(__name__)

_REQUEST_PAUSE_SECONDS = 0.05  # while a request waits for the running job
_GROWING_PAUSE_SECONDS = 0.25
_RECONCILE_SECONDS = 30.0
_PRUNE_SECONDS = 1.0  # of a scan at most; then files and requests are handled before the rest
_MAINTENANCE_PAUSE_SECONDS = 30.0


class Worker:
    """The worker of one workspace. The caller holds the lock. ``run`` returns after ``stop``, or when it is idle."""

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        holds_lock: Callable[[], bool] = lambda: True,
        *,
        child: Child | None = None,
        worker_died: bool = False,
        leaves_when_idle: bool = False,
    ) -> None:
        """``child``: its child process, which may have been started already. ``worker_died``: the former worker died
        since the current boot. ``leaves_when_idle``: stop after
        ``worker_idle_seconds`` without work; not in a team, whose copy here would stop to follow. Recovers the job
        folder."""
        self._workspace = workspace
        self._settings = settings
        self._holds_lock = holds_lock
        paths = self._spool_paths = workspace.spool
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._draining = False
        crash_limits = CrashLimits(settings.max_crashes, settings.max_worker_deaths)
        live = recovery.recover(paths, clock.now(), worker_died=worker_died, crash_limits=crash_limits)
        self._child = child or Child(workspace, settings)
        counters = self._child.counters
        changed = threading.Event()  # the heartbeat's content has changed
        self._ledger = Ledger(
            paths,
            live,
            changed=changed.set,
            stepped=counters.stepped,
            has_committed=self._is_committed,
            crash_limits=crash_limits,
            holds_lock=self._still_holds_lock,
        )
        self._scheduling = self._chosen_scheduling(changed.set)
        self._runner = self._scheduling.runner
        self._leaves_when_idle = leaves_when_idle and settings.worker_idle_seconds > 0 and self._scheduling.may_leave
        self._rejections = 0
        self._pruning = retention.Timetable()
        self._intake = Intake(paths, self._ledger, settings, self._scheduling.announce, rejected=self._rejected)
        kinds = (Reembedding, Judging) if self._scheduling.may_leave else (Reembedding,)  # a team's service judges
        self._own_jobs = [kind(workspace, settings, self._ledger) for kind in kinds]
        self._git = git_index.GitIndex(workspace)
        self._tracked = git_index.NOTHING
        self._control = Control(
            paths,
            self._ledger,
            self._scheduling.cancel,
            {"pause": self._pause, "resume": self._resume, "drain": self._drain, "prune": self._pruning.ask},
        )
        self._watcher = Watcher(
            [paths.inbox, paths.control], self._wake, choose(settings.watcher, mounts.describe(workspace.root))
        )
        self._endpoint = Endpoint(workspace, settings, changed.set, counters=counters)
        now = time.monotonic()
        self._active_at = self._next_maintenance = now
        self._next_reconcile = now + _RECONCILE_SECONDS
        facts: schema.WorkerFacts = {
            "version": VERSION,
            "workspace": str(workspace.root),
            "embedder": settings.embedding.identity,
            "llm_configured": llm.is_configured(settings),
        }
        self._heartbeat = Heartbeat(
            paths,
            facts,
            settings.heartbeat_seconds,
            self._activity,
            counters,
            changed,
            holds_lock,
        )

    # --- callbacks of the parts ---

    def _activity(self) -> schema.WorkerActivity:
        team, endpoint = self._scheduling.describe(), self._endpoint.describe()
        return describe(self._ledger, self._runner, self._child, self._watcher.state, endpoint, team)

    def _chosen_scheduling(self, changed: Callable[[], None]) -> Scheduling:
        """The team's, or this machine's alone. Raises JobError: SETTING_INVALID."""
        workspace, settings = self._workspace, self._settings
        found = membership.membership_of(workspace, settings.config_folder)
        if found is None:
            return LocalScheduling(workspace, settings, self._ledger, self._child, changed, self._wake.set)
        from .team.team_scheduling import TeamScheduling  # not at the top: only a team needs its client

        return TeamScheduling(workspace, settings, found, self._ledger, self._child, changed, self._wake.set)

    def _rejected(self, code: str) -> None:
        self._rejections += 1
        self._child.counters.count("jobs_rejected", code)

    def _is_committed(self, record: Record) -> bool:
        """Whether a job's change is committed."""
        return reader_of(self._workspace).is_applied(AppliedJob(record.job_id, record.job_sha256 or ""))

    def _still_holds_lock(self) -> bool:
        """Whether the lock file is in place. If not, wake the main thread, which stops the worker."""
        if self._holds_lock():
            return True
        self._wake.set()
        return False

    # --- requests ---

    def _pause(self) -> None:
        files.replace(self._spool_paths.paused, b"")
        self._runner.paused.set()
        self._announce()

    def _resume(self) -> None:
        files.remove(self._spool_paths.paused)
        self._scheduling.resume()
        self._announce()

    def _drain(self) -> None:
        self._draining = True
        self._announce()

    def _announce(self) -> None:
        state: schema.WorkerState = (
            "draining" if self._draining else "paused" if self._runner.paused.is_set() else "ready"
        )
        log.info("%s", state)
        self._heartbeat.state(state)

    # --- the work ---

    def stop(self) -> None:
        """Let the running job finish and start no more. A second call interrupts the running job."""
        if self._stop.is_set():
            self._child.end_for_good()
        self._stop.set()
        self._runner.stopping.set()
        self._wake.set()

    def run(self) -> None:
        """Work until ``stop``, until drained, or until idle for long enough."""
        if self._spool_paths.paused.exists():
            self._runner.paused.set()
        self._try(lambda: files.remove(self._spool_paths.request("drain")))  # it was a request to the former worker
        self._heartbeat.start()
        self._watcher.start()
        self._try(self._control.scan)  # earlier requests, before any job starts
        self._scheduling.announce()
        self._scheduling.start()
        self._endpoint.start()
        log.info("%d jobs recovered", self._ledger.count())
        self._announce()
        try:
            while not self._stop.is_set():
                self._wake.clear()
                self._scan()
                self._wake.wait(self._pause_seconds())
        finally:
            self._heartbeat.state("exiting")
            self._runner.stopping.set()
            self._endpoint.stop()
            self._watcher.stop()
            self._scheduling.stop()
            self._child.close()
            self._heartbeat.stop()
            log.info("stopped")

    def _scan(self) -> None:
        if not self._holds_lock():
            log.error(
                "the lock file was removed, or the workspace was moved: stopping at once, since another worker may"
                " start. The running jobs are interrupted; the next worker runs them again"
            )
            self.stop()
            self._child.end_for_good()
            return
        self._try(self._require_trusted)
        if self._stop.is_set():
            return
        steps = (
            self._scan_inbox,
            self._control.scan,
            self._drop_own_jobs,
            self._scheduling.announce,
            self._watcher.ensure_watching,
            self._reconcile,
            self._maintain,
            self._prune,
            self._stop_if_done,
        )
        for step in steps:
            self._try(step)

    def _require_trusted(self) -> None:
        """Stop at once if the workspace is no longer trusted. Looked at whenever git's index has changed: a pull may
        have replaced a store or a record."""
        tracked = self._git.tracked()
        if tracked is self._tracked:
            return
        self._tracked = tracked
        foreign = trust.inspect_trust(self._workspace, self._settings.config_folder).foreign
        if foreign is not None:
            log.error(
                "%s Stopping at once; the running jobs are interrupted and wait. See cognee-memory doctor", foreign
            )
            self.stop()
            self._child.end_for_good()

    @staticmethod
    def _try(step: Callable[[], object]) -> None:
        """Run one step of a scan and log its exception, such as a full disk or an unreadable folder.

        The worker keeps running, and the next scan tries again.
        """
        try:
            step()
        except Exception as error:
            log.error("a step of the scan failed: %s", trace(error))

    def _scan_inbox(self) -> None:
        if not self._draining:
            self._intake.scan()

    def _drop_own_jobs(self) -> None:
        if not self._draining:
            for job in self._own_jobs:
                job.scan(time.monotonic())

    def _reconcile(self) -> None:
        """Every 30 s, repair the job folder and the queue while the worker runs."""
        if time.monotonic() >= self._next_reconcile:
            self._next_reconcile = time.monotonic() + _RECONCILE_SECONDS
            spool.prepare(self._spool_paths)  # creates removed folders, without which nothing could be written
            recovery.reconcile(self._spool_paths, self._ledger, clock.now())
            self._scheduling.reconcile()

    def _maintain(self) -> None:
        """Enqueue maintenance for the runner's thread if it is due, at most every 30 s."""
        idle = not self._runner.running and not self._runner.paused.is_set()
        if idle and self._runner.wants_maintenance and time.monotonic() >= self._next_maintenance:
            self._next_maintenance = time.monotonic() + _MAINTENANCE_PAUSE_SECONDS
            self._scheduling.maintain()

    def _prune(self) -> None:
        added = self._rejections + self._ledger.ended_jobs()
        if not self._pruning.is_due(time.monotonic(), added):
            return
        self._pruning.begun(time.monotonic(), added)
        is_live = lambda job_id: self._ledger.get(job_id) is not None  # noqa: E731
        room = retention.prune_all(self._workspace, self._settings, is_live, time.time(), _PRUNE_SECONDS)
        if room is None:
            self._pruning.ask()
            self._wake.set()
        else:
            self._pruning.ended(room)

    def _stop_if_done(self) -> None:
        """Stop when drained; or when idle for long enough, unless a person started the worker."""
        if self._draining and self._scheduling.is_drained():
            self.stop()  # only once: a second call would interrupt a job that has just started
            return
        asked = self._endpoint.has_server
        if asked or self._ledger.count() or self._runner.is_delivering or self._runner.paused.is_set():
            self._active_at = time.monotonic()
        if not self._leaves_when_idle or time.monotonic() - self._active_at < self._settings.worker_idle_seconds:
            return
        # A client that drops a job from now on sees "exiting" and starts a successor. Earlier drops are checked below.
        seen = self._heartbeat.state("exiting")
        if not seen or spool.inbox(self._spool_paths) or any(self._spool_paths.control.glob("*.json")):
            self._active_at = time.monotonic()
            self._wake.set()
            self._announce()
            return
        log.info("nothing to do for %g s: stopping", self._settings.worker_idle_seconds)
        self.stop()

    def _pause_seconds(self) -> float:
        longest = self._watcher.pause(self._settings.rescan_seconds, self._settings.polling_seconds)
        if self._control.waits:
            longest = min(longest, _REQUEST_PAUSE_SECONDS)
        if self._intake.has_more and not self._draining:
            return 0.0
        if self._intake.waits_for_growing_files:
            longest = min(longest, _GROWING_PAUSE_SECONDS)
        return self._ledger.seconds_to_next(longest)
