"""Jobs in a spool as the worker leaves them there: with their copies and records."""

from datetime import datetime
from typing import Any

from jobs import lifecycle, spool
from jobs.layout import SpoolPaths
from jobs.model import Record, encode
from jobs.parse import parse_job


def spooled(place: SpoolPaths, job_id: str, *events: lifecycle.Event, at: datetime, **fields: Any) -> Record:
    """A job that came then and to which this has happened; ``fields``: what its file says besides."""
    file = {"schema_version": 1, "job_id": job_id, "kind": "check", "payload": {}, **fields}
    job = parse_job(job_id, encode(file), test_jobs=True)
    record = lifecycle.accept(job, at)
    for event in events:
        record = lifecycle.step(record, event, at)
    spool.prepare(place)
    spool.accept(place, [(job, record)])
    if record.ended:
        spool.retire_copy(place, job_id)
    return record
