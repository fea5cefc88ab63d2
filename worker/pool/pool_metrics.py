"""Counters of a pool for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from jobs.errors import SLIPS
from jobs.model import Record


class PoolMetrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._ended = Counter(
            "cognee_memory_pool_jobs_ended_total",
            "Jobs that ended in this pool, by kind and state.",
            ["kind", "state"],
            registry=self.registry,
        )
        self.leases = Counter(
            "cognee_memory_pool_leases_total", "Leases of workspaces that were taken.", registry=self.registry
        )
        self.lost = Counter(
            "cognee_memory_pool_leases_lost_total", "Leases that another worker took over.", registry=self.registry
        )
        self.busy = Gauge("cognee_memory_pool_busy_workers", "Workers that hold a lease.", registry=self.registry)
        self.copies = Gauge("cognee_memory_pool_copies", "Copies of workspaces on this host.", registry=self.registry)
        self.behind = Gauge(
            "cognee_memory_pool_copies_behind", "Copies that have still to follow the team.", registry=self.registry
        )
        self.is_reached = Gauge(
            "cognee_memory_pool_team_reached", "1 while the team's database is reached.", registry=self.registry
        )

    def stepped(self, record: Record) -> None:
        """Count the record, if the job has ended. One that failed by a person's slip is ``refused``, so that an alert
        of failures does not tell of it."""
        if record.ended:
            is_slip = record.state == "failed" and record.error is not None and record.error["code"] in SLIPS
            self._ended.labels(str(record.kind), "refused" if is_slip else record.state).inc()
