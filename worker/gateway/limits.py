"""How much a person may ask: requests and bytes in a minute, as token buckets. The time is an argument."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from jobs.errors import JobError


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limits:
    """The limits of all persons, in this process. Thread-safe."""

    def __init__(self, requests_per_minute: float, bytes_per_minute: float) -> None:
        self._rates = (requests_per_minute / 60, bytes_per_minute / 60)
        self._most = (requests_per_minute, bytes_per_minute)
        self._buckets: dict[tuple[str, int], _Bucket] = {}
        self._lock = threading.Lock()

    def spend(self, person: str, size: int, now: float) -> None:
        """Count a request of so many bytes. ``now`` is in seconds. Raises JobError: TEAM_LIMITED, with the seconds to
        wait in its details; then nothing is counted.
        """
        with self._lock:
            buckets = [self._filled(person, kind, now) for kind in (0, 1)]
            wants = (1.0, float(min(size, int(self._most[1]))))
            waits = [
                max(0.0, (want - bucket.left) / self._rates[kind])
                for kind, (bucket, want) in enumerate(zip(buckets, wants, strict=True))
            ]
            if max(waits) > 0:
                raise JobError(
                    "TEAM_LIMITED",
                    f"{person} asks too much: try again in {max(waits):.0f} s.",
                    details={"retry_after_seconds": round(max(waits), 1)},
                )
            for bucket, want in zip(buckets, wants, strict=True):
                bucket.left -= want

    def _filled(self, person: str, kind: int, now: float) -> _Bucket:
        bucket = self._buckets.setdefault((person, kind), _Bucket(self._most[kind], now))
        bucket.left = min(self._most[kind], bucket.left + max(0.0, now - bucket.at) * self._rates[kind])
        bucket.at = now
        return bucket
