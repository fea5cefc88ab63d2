"""Counters of the gateway for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest


class GatewayMetrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "cognee_memory_gateway_requests_total",
            "Requests, by operation and outcome: ok, or the code of the error.",
            ["operation", "outcome"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "cognee_memory_gateway_request_seconds",
            "How long requests took, by operation; without those that wait for a change.",
            ["operation"],
            registry=self.registry,
        )
        self.waiting = Gauge(
            "cognee_memory_gateway_waiting", "Machines that wait for a change.", registry=self.registry
        )

    def text(self) -> bytes:
        """What ``/metrics`` answers."""
        return generate_latest(self.registry)
