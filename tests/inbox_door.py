"""An inbox, and who reads it."""

import json
from pathlib import Path
from typing import Any

from bridge.settings import Settings
from jobs import spool
from jobs.layout import SpoolPaths
from jobs.model import Job, encode
from jobs.parse import parse_job
from worker.inbox.intake import Intake
from worker.scheduling.ledger import Ledger

LIMITS = Settings(
    max_job_bytes=4096, max_active_jobs=100, min_free_bytes=0, max_attempts=4, partial_write_grace=0.0, test_jobs=True
)


def file_of(job_id: str, kind: str = "noop", payload: object = None, **fields: Any) -> bytes:
    payload = {} if payload is None else payload
    return encode({"schema_version": 1, "job_id": job_id, "kind": kind, "payload": payload, **fields})


def job_of(job_id: str, kind: str = "noop", payload: object = None, **fields: Any) -> Job:
    return parse_job(job_id, file_of(job_id, kind, payload, **fields), test_jobs=True)


class Door:
    """``settings``: what is another than in LIMITS, where the grace for unfinished writes is over at once."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.place = SpoolPaths(folder)
        spool.prepare(self.place)
        self.ledger = Ledger(self.place, [])
        self.taken: list[str] = []
        self.intake = Intake(self.place, self.ledger, LIMITS.changed(**settings), self._accepted)

    def _accepted(self) -> None:
        """As the worker does: what has become due goes into the queue."""
        self.taken.extend(record.job_id for record in self.ledger.take_announced())

    def drop(self, name: str, content: bytes | None = None, **fields: Any) -> Path:
        path = self.place.inbox / name
        path.write_bytes(file_of(name.removesuffix(".json"), **fields) if content is None else content)
        return path

    def look(self) -> None:
        self.intake.scan()
        self.intake.scan()  # an unparsable file is looked at twice before its grace is over

    def has(self, job_id: str) -> bool:
        return self.ledger.get(job_id) is not None

    def reason(self, stem: str) -> dict[str, Any]:
        return json.loads((self.place.rejected / f"{stem}.1.reason.json").read_bytes())
