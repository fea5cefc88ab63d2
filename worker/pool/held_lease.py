"""The lease that a worker holds while it runs jobs: renewed from another thread, and given up when nothing is due."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bridge.team.leases import Lease
from bridge.team.postgres_team import PostgresTeam

from .team_jobs import TeamJobs

log = logging.getLogger(__name__)

_LONGEST_RENEWAL_SECONDS = 5.0


class HeldLease:
    """At most one lease at a time. One thread holds it; another one renews it."""

    def __init__(
        self,
        team: PostgresTeam,
        jobs: TeamJobs,
        seconds: float,
        on_lost: Callable[[], None],
        count_loss: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_lost`` is called when a renewal finds that another worker has taken over, and ``count_loss`` once for
        each lease that was lost, whatever found it."""
        self._team = team
        self._jobs = jobs
        self._seconds = seconds
        self._on_lost = on_lost
        self._count_loss = count_loss
        self._held: Lease | None = None
        self._renewed_at = 0.0
        self.left_jobs = False  # whether jobs waited when the last lease was given up
        self.renew_seconds = min(_LONGEST_RENEWAL_SECONDS, seconds / 3)

    @property
    def is_held(self) -> bool:
        """Whether there is a lease now."""
        return self._held is not None

    @contextmanager
    def holding(self, lease: Lease) -> Iterator[None]:
        """Run the lease's jobs in the block. Then the lease is given up, so that another worker need not wait.

        Raises JobError: TEAM_LEASE_LOST and as ``Team``.
        """
        self._renewed_at = time.monotonic()
        self.left_jobs = False
        self._held = lease
        has_begun = False
        try:
            self._jobs.hold(lease)
            has_begun = True
            yield
        finally:
            self._held = None
            if self._jobs.let_go() is not None:
                self.left_jobs = self._team.release(lease)
            elif has_begun:
                self._count_loss()

    def run_due(self, run: Callable[[str], object], goes_on: Callable[[], bool]) -> bool:
        """Run the jobs that are due, one after the other, while ``goes_on``. Returns whether there was one."""
        has_run = False
        while goes_on() and (job_id := self._jobs.next()) is not None:
            run(job_id)
            has_run = True
        return has_run

    def renew_if_due(self) -> None:
        """Renew the lease, if there is one, every third of its time. Raises JobError as ``Team``."""
        lease = self._held
        if lease is None or time.monotonic() - self._renewed_at < self.renew_seconds:
            return
        if self._team.renew(lease, self._seconds):
            self._renewed_at = time.monotonic()
        elif self._held == lease:
            log.warning("another worker has taken over the workspace: the running job is ended here")
            self._jobs.let_go()
            self._on_lost()
