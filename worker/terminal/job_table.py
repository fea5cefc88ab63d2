"""Jobs as people name and read them: filters, the table of jobs, counts of their states, the causes of failures."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jobs import clock
from jobs.layout import SpoolPaths
from jobs.states import IN_INBOX
from jobs.subjects import MOST_MEMORIES

from ..admin import selection
from ..wording import age, counted, local, of_all, shortened
from .command_line import Given
from .output import Layout, Part, columns, facts, say, state, table

if TYPE_CHECKING:
    from jobs.schema import JobRow

_ABOUT = 60  # characters

_ID = 36  # the length of a generated id

_MIN_PREFIX = 18  # the millisecond, which jobs dropped together share, and twelve random bits

_ORDER = (IN_INBOX, "queued", "running", "retrying", "succeeded", "failed", "rejected", "expired", "cancelled")

JOB_COLUMNS = ("job", "kind", "state", "tries", "age", "about", "outcome")

JOB_LAYOUT: Layout = {
    "right": ("tries", "age"), "wraps": ("about", "outcome"), "optional_columns": ("tries", "age"), "comfort": 18,
}  # fmt: skip


def print_jobs(jobs: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Print a table of jobs."""
    ids = shown_ids([job["job_id"] for job in jobs], columns())
    table(JOB_COLUMNS, rows_of(ids, jobs, now), **JOB_LAYOUT)


def rows_of(ids: Sequence[str], jobs: Sequence[Mapping[str, Any]], now: datetime) -> list[tuple[str, ...]]:
    """The cells of each job, in the order of ``JOB_COLUMNS``."""
    return [_row(job_id, job, now) for job_id, job in zip(ids, jobs, strict=True)]


def _row(job_id: str, job: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    return (
        job_id,
        job["kind"] or "-",
        job["state"],
        str(job["attempt"]),
        age(job["finished_at"] or job["accepted_at"], now),
        shortened(job["subject"] or "", _ABOUT),
        _outcome(job, now),
    )


def _outcome(job: Mapping[str, Any], now: datetime) -> str:
    """The error, and when the job runs again; or the memories that it made or changed."""
    waits = job["state"] == "retrying" and job["next_attempt_at"]
    again = f", again {local(waits, now).partition('(')[2].rstrip(')')}" if waits else ""
    numbers = job["memory_numbers"]
    made = [f"#{number}" for number in numbers]
    made[MOST_MEMORIES - 1 :] = ["…"] if len(made) == MOST_MEMORIES else []
    return (job["error"]["code"] if job["error"] else ", ".join(made)) + again


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


def which_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the filters of jobs. Their values are checked where they are used."""
    group = parser.add_argument_group("which jobs")
    for flag, metavar, text in (
        ("--state", "STATE[,STATE]", "in one of these states: queued, running, retrying, succeeded, failed, ..."),
        ("--kind", "KIND", "of this kind: ingest, compact, cognify, ..."),
        ("--error", "CODE", "with this error"),
        ("--contains", "TEXT", "whose id or correlation id contains this"),
        ("--since", "TIME", "accepted or ended since then: 90min, 2h, 3d, or a date"),
    ):
        group.add_argument(flag, metavar=metavar, help=text)


def filters_of(args: Given) -> dict[str, Any]:
    """The filters in the form of ``selection.filtered``. Raises JobError: ARGUMENT_INVALID when a value is wrong."""
    return {
        "states": selection.states_of(args.state),
        "kind": selection.kind_of(args.kind),
        "error": selection.error_of(args.error),
        "contains": args.contains,
        "since": selection.moment(args.since, clock.now()),
    }


def matching(spool_paths: SpoolPaths, filters: dict[str, Any]) -> list[JobRow]:
    """The job rows that match the filters."""
    return selection.filtered(selection.job_rows(spool_paths), **filters)


def print_causes(answer: Sequence[Mapping[str, Any]], now: datetime, at_most: int) -> None:
    """Print the first ``at_most`` causes with their counts, messages and remedies."""
    for index, cause in enumerate(answer[:at_most]):
        if index:
            say()
        kinds = "".join(f"{count:,} {kind}, " for kind, count in cause["kinds"].items() if kind != "?")
        say(*_heading(cause), f"  ({kinds}the last {_ago(cause, now)})")
        command = again(cause)
        why = [("" if index else "why", line) for index, line in enumerate(_messages(cause))]
        remedy = of_all(cause["remediation"], cause)
        facts([*why, ("remedy", remedy), ("then", [(command, "bold")] if command else "")], indent=2)
    if len(answer) > at_most:
        say()
        say(f"{counted(len(answer) - at_most, 'more cause')}: cognee-memory jobs causes")


def _messages(cause: Mapping[str, Any]) -> list[str]:
    """The messages of a cause, with the number of jobs for each when they differ."""
    counts: Mapping[str, int] = cause["messages"]
    if len(counts) == 1:
        return list(counts)
    left = cause["count"] - sum(counts.values())
    more = [f"{left:,} × something else"] if left else []
    return [f"{count:,} × {message}" for message, count in counts.items()] + more


def _heading(cause: Mapping[str, Any]) -> list[Part]:
    colour = "yellow" if cause["state"] == "retrying" else "bold red"
    return [(f"{counted(cause['count'], 'job')} {cause['state']}: ", "bold"), (cause["code"], colour)]


def summary(cause: Mapping[str, Any]) -> list[list[Part]]:
    """A cause in two lines: what failed, and the remedy."""
    return [_heading(cause), [f"  {of_all(cause['remediation'], cause)}"]]


def _ago(cause: Mapping[str, Any], now: datetime) -> str:
    return f"{age(cause['newest'], now)} ago" if cause["newest"] else "-"


def again(cause: Mapping[str, Any]) -> str | None:
    """The command that does what the cause's advice says; None where nothing is to be done, or the remedy has it."""
    if cause["advice"] not in ("retry", "dismiss") or "jobs retry" in cause["remediation"]:
        return None
    where = " --state rejected" if cause["state"] == "rejected" else ""
    return f"cognee-memory jobs {cause['advice']}{where} --error {cause['code']}"
