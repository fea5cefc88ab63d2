"""The table of jobs, and the counts of their states, as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs.states import IN_INBOX
from jobs.subjects import MOST_MEMORIES

from ..wording import age, local, shortened
from .output import Part, columns, state, table

_ABOUT = 60  # characters

_ID = 36  # the length of a generated id

_MIN_PREFIX = 18  # the millisecond, which jobs dropped together share, and twelve random bits

_ORDER = (IN_INBOX, "queued", "running", "retrying", "succeeded", "failed", "rejected", "expired", "cancelled")

JOB_COLUMNS = ("job", "kind", "state", "tries", "age", "about", "outcome")

JOB_LAYOUT: dict[str, Any] = {
    "right": ("tries", "age"), "wraps": ("about", "outcome"), "optional_columns": ("tries", "age"), "comfort": 18,
}  # fmt: skip


def print_jobs(briefs: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Print a table of jobs."""
    ids = shown_ids([brief["job_id"] for brief in briefs], columns())
    table(JOB_COLUMNS, rows_of(ids, briefs, now), **JOB_LAYOUT)


def rows_of(ids: Sequence[str], briefs: Sequence[Mapping[str, Any]], now: datetime) -> list[tuple[str, ...]]:
    """The cells of each job, in the order of ``JOB_COLUMNS``."""
    return [_row(job_id, brief, now) for job_id, brief in zip(ids, briefs, strict=True)]


def _row(job_id: str, brief: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    return (
        job_id,
        brief["kind"] or "-",
        brief["state"],
        str(brief["attempt"]),
        age(brief["finished_at"] or brief["accepted_at"], now),
        shortened(brief["subject"] or "", _ABOUT),
        _outcome(brief, now),
    )


def _outcome(brief: Mapping[str, Any], now: datetime) -> str:
    """The error, and when the job runs again; or the memories that it made or changed."""
    waits = brief["state"] == "retrying" and brief["next_attempt_at"]
    again = f", again {local(waits, now).partition('(')[2].rstrip(')')}" if waits else ""
    numbers = brief["memory_numbers"]
    made = [f"#{number}" for number in numbers]
    made[MOST_MEMORIES - 1 :] = ["…"] if len(made) == MOST_MEMORIES else []
    return (brief["error"]["code"] if brief["error"] else ", ".join(made)) + again


def shown_ids(ids: Sequence[str], width: int | None) -> list[str]:
    """The ids; on a narrow terminal, prefixes that a command accepts because they are unique."""
    if width is None or width >= _ID + 52 or max(map(len, ids), default=0) < 24:
        return list(ids)
    length = _MIN_PREFIX
    while length < _ID and len({job_id[:length] for job_id in ids}) < len(set(ids)):
        length += 1
    return [job_id if len(job_id) <= length + 1 else job_id[:length] for job_id in ids]


def by_state(counts: Mapping[str, int]) -> list[Part]:
    """Counts such as ``3 queued, 1 running``, each state in its colour."""
    parts: list[Part] = []
    for name in _ORDER:
        if counts.get(name):
            parts += [", " if parts else "", f"{counts[name]:,} ", state(name)]
    return parts
