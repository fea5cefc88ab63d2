"""Jobs in a spool as the worker leaves them there: with their copies and records."""

from datetime import datetime
from typing import Any

from inbox_door import job_of

from jobs import lifecycle, spool
from jobs.layout import SpoolPaths
from jobs.model import Record


def spooled(place: SpoolPaths, job_id: str, *events: lifecycle.Event, at: datetime, **fields: Any) -> Record:
    """A job that came then and to which this has happened; ``fields``: what its file says besides."""
    job = job_of(job_id, **{"kind": "check", **fields})
    record = lifecycle.accept(job, at)
    for event in events:
        record = lifecycle.step(record, event, at)
    spool.prepare(place)
    spool.accept(place, [(job, record)])
    if record.ended:
        spool.retire_copy(place, job_id)
    return record
