"""The table of metrics, with their names and meanings, and the text of a Prometheus scrape.

``measurements`` reads the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

PREFIX = "cognee_memory_"
Type = Literal["gauge", "counter", "histogram"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. ``name`` has neither the prefix nor, for a counter, ``_total``."""

    name: str
    type: Type
    labels: tuple[str, ...]
    help: str

    @property
    def shown(self) -> str:
        """The name in a Prometheus query; for a histogram, without ``_bucket``, ``_sum`` or ``_count``."""
        return PREFIX + self.name + ("_total" if self.type == "counter" else "")


METRICS = (
    # the worker
    Metric("build_info", "gauge", ("version", "python"), "Always 1; the version is in the labels."),
    Metric("worker_up", "gauge", (), "1 while the worker holds its lock and its heartbeat is fresh."),
    Metric("worker_paused", "gauge", (), "1 while the worker is paused: it begins no job."),
    Metric("worker_start_time_seconds", "gauge", (), "When the worker started, in seconds since 1970."),
    Metric("worker_heartbeat_age_seconds", "gauge", (), "Age of the worker's heartbeat."),
    # the queue
    Metric("jobs", "gauge", ("state",), "Jobs that have not ended: queued, running, retrying."),
    Metric("jobs_oldest_waiting_seconds", "gauge", (), "Age of the job that has waited longest; 0 where none waits."),
    Metric("jobs_retrying", "gauge", ("code",), "Jobs that wait for another attempt, by their error."),
    Metric("inbox_files", "gauge", (), "Dropped files that the worker has not taken in yet."),
    Metric("jobs_ended", "counter", ("kind", "state"), "Jobs that have ended since the worker's start."),
    Metric("jobs_rejected", "counter", ("code",), "Dropped files that were refused, by the error."),
    Metric("job_attempts", "counter", ("kind", "outcome"), "Attempts that have ended, by how they did."),
    Metric("job_wait_seconds", "histogram", ("kind",), "From when a job was accepted, or was to start, to its start."),
    Metric("job_attempt_seconds", "histogram", ("kind",), "How long an attempt took."),
    # the team; only of a workspace that belongs to one
    Metric("team_reached", "gauge", (), "1 while the worker reaches the team: its database, or the gateway."),
    Metric("team_copy_age_seconds", "gauge", (), "Since when the copy here may lack changes; small while it follows."),
    # processes
    Metric("child_starts", "counter", (), "Starts of the child process, which runs the jobs."),
    Metric("child_ends", "counter", ("reason",), "Its ends: died and memory are crashes; worn and idle are meant."),
    Metric("server_starts", "counter", (), "Starts of the process that answers over HTTP."),
    Metric("server_deaths", "counter", (), "Times that it died, or could not be started."),
    Metric("process_resident_memory_bytes", "gauge", ("process",), "Resident memory of worker, child and server."),
    Metric("process_cpu_seconds", "counter", ("process",), "Processor time of worker, child and server."),
    # questions; since the start of the HTTP server
    Metric("question_seconds", "histogram", ("verb",), "How long answering a question took, without waiting."),
    Metric("question_candidates", "histogram", ("verb",), "Memories that were considered for an answer."),
    Metric("question_errors", "counter", ("verb", "code"), "Questions that were answered with an error."),
    Metric("http_requests", "counter", ("route", "method", "status"), "Requests, by the route's template."),
    Metric("http_request_seconds", "histogram", ("route",), "How long a request took, its body included."),
    # the memory
    Metric("store_readable", "gauge", (), "1 while memory.db can be read; 0: the metrics below are left out."),
    Metric("memories", "gauge", ("kind", "status"), "Memories, hidden ones left out."),
    Metric("topics", "gauge", (), "Topics that have a memory."),
    Metric("passages", "gauge", (), "Passages in the vector index, those of changed texts included."),
    Metric("vector_bytes", "gauge", (), "Size of the vector files."),
    Metric("database_bytes", "gauge", (), "Size of memory.db with its log."),
    Metric("graph_outbox_entries", "gauge", (), "Changes that wait for the knowledge graph; 0 without one."),
    # the language model, on this UTC day: gauges, since they return to zero at midnight and calls can be taken back
    Metric("llm_day_calls", "gauge", (), "Calls of the language model on this UTC day."),
    Metric("llm_day_tokens", "gauge", ("direction",), "Tokens of questions (prompt) and answers (completion)."),
    Metric("llm_day_cost_usd", "gauge", (), "Cost of the calls by LiteLLM's prices; absent where no price is known."),
    Metric("llm_day_calls_limit", "gauge", (), "The setting LLM_CALLS_PER_DAY."),
    Metric("llm_day_tokens_limit", "gauge", (), "The setting LLM_TOKENS_PER_DAY."),
    # the disk
    Metric("disk_free_bytes", "gauge", (), "Free space on the workspace's disk."),
    Metric("disk_kept_free_bytes", "gauge", (), "The setting MIN_FREE_BYTES: below it drops are rejected."),
)  # fmt: skip

BY_NAME = {metric.name: metric for metric in METRICS}

# A metric's samples: the label values, and a number or, for a histogram, its bounds, counts and sum.
Samples = Iterable[tuple[tuple[str, ...], Any]]


def render(found: Mapping[str, Samples], accept: str = "") -> tuple[bytes, str]:
    """The text of a scrape, in the format that the Accept header names, and its content type."""
    # Not at the top: only a scrape needs it.
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(found))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Collector:
    """The samples as metric families of ``prometheus_client``, in the order of the table."""

    def __init__(self, found: Mapping[str, Samples]) -> None:
        assert found.keys() <= BY_NAME.keys(), found.keys() - BY_NAME.keys()
        self._found = found

    def collect(self) -> Iterable[Any]:
        """The metric families, also those without samples."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        kinds = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily, "histogram": HistogramMetricFamily}
        for metric in METRICS:
            family: Any = kinds[metric.type](PREFIX + metric.name, metric.help, labels=metric.labels)
            for labels, value in self._found.get(metric.name, ()):
                if metric.type == "histogram":
                    family.add_metric(labels, _buckets(value), value["sum"])
                else:
                    family.add_metric(labels, value)
            yield family


def _buckets(value: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The buckets in Prometheus' form: (upper bound, cumulative count)."""
    total = 0.0
    buckets = []
    for bound, count in zip([*map(str, value["bounds"]), "+Inf"], value["counts"], strict=True):
        total += count
        buckets.append((bound, total))
    return buckets
