"""``python -m benchmarks [NAME ...]``: all of them, or those named."""

from __future__ import annotations

import sys
from collections.abc import Callable

from . import (
    capture_reading,
    compaction,
    conflicts,
    doctor,
    fairness,
    forget,
    growth,
    ingest_rate,
    memory,
    migration,
    observing,
    page,
    queue_latency,
    queue_rate,
    rebuild,
    redaction,
    retrieve_cold,
    retrieve_http,
    weight,
)

BENCHMARKS: dict[str, Callable[[], None]] = {
    "retrieve_cold": retrieve_cold.main,
    "retrieve_http": retrieve_http.main,
    "ingest_rate": ingest_rate.main,
    "memory": memory.main,
    "migration": migration.main,
    "fairness": fairness.main,
    "queue_rate": queue_rate.main,
    "queue_latency": queue_latency.main,
    "forget": forget.main,
    "growth": growth.main,
    "conflicts": conflicts.main,
    "compaction": compaction.main,
    "rebuild": rebuild.main,
    "page": page.main,
    "redaction": redaction.main,
    "observing": observing.main,
    "doctor": doctor.main,
    "capture_reading": capture_reading.main,
    "weight": weight.main,
}


def main() -> None:
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
