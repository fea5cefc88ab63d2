"""Prints the worker and its queue: lists of jobs, outcomes of requests, and the overview of ``status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs import clock

from ..wording import age, counted, local, shortened, size, span
from .causes_view import causes
from .life_view import progress
from .output import Envelope, Part, Value, columns, facts, say, state, table

_MOST_CAUSES = 5
_MOST_NAMED = 5
_ID = 36  # the length of a generated id
_TELLING = 18  # the millisecond, which jobs dropped together share, and twelve random bits
_ORDER = ("in the inbox", "queued", "running", "retrying", "succeeded", "failed", "rejected", "expired", "cancelled")


# --- several jobs ---


def job_list(found: Envelope) -> None:
    """Print a page of jobs, the inbox, the rejected files and the causes of failures."""
    now = clock.now()
    if found["jobs"]:
        jobs(found["jobs"], now)
    elif not found["in_inbox"]:
        say("No jobs." if not found["filtered"] else "No job fits.")
    if found["next"] is not None:
        say(f"{counted(found['total'], 'job')} in all; older ones: --after {found['next']}")
    _inbox(found["in_inbox"])
    _rejected(found["rejected"], now)
    if found["causes"]:
        say()
        causes(found["causes"], now, _MOST_CAUSES)


def jobs(briefs: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Print a table of jobs."""
    ids = shown_ids([brief["job_id"] for brief in briefs], columns())
    table(JOB_COLUMNS, rows_of(ids, briefs, now), right=("tries", "age"), spare=("tries", "age", "kind"))


JOB_COLUMNS = ("job", "kind", "state", "tries", "age", "error")


def rows_of(ids: Sequence[str], briefs: Sequence[Mapping[str, Any]], now: datetime) -> list[tuple[str, ...]]:
    """The cells of each job, in the order of ``JOB_COLUMNS``."""
    return [_row(job_id, brief, now) for job_id, brief in zip(ids, briefs, strict=True)]


def _row(job_id: str, brief: Mapping[str, Any], now: datetime) -> tuple[str, ...]:
    waits = brief["state"] == "retrying" and brief["next_attempt_at"]
    again = f", again {local(waits, now).partition('(')[2].rstrip(')')}" if waits else ""
    return (
        job_id,
        brief["kind"] or "-",
        brief["state"],
        str(brief["attempt"]),
        age(brief["finished_at"] or brief["accepted_at"], now),
        (brief["error"]["code"] if brief["error"] else "") + again,
    )


def shown_ids(ids: Sequence[str], width: int | None) -> list[str]:
    """The ids; on a narrow terminal, prefixes that a command accepts because they are unique."""
    if width is None or width >= _ID + 52 or max(map(len, ids), default=0) < 24:
        return list(ids)
    length = _TELLING
    while length < _ID and len({job_id[:length] for job_id in ids}) < len(set(ids)):
        length += 1
    return [job_id if len(job_id) <= length + 1 else job_id[:length] for job_id in ids]


def _inbox(files: Sequence[str]) -> None:
    if files:
        shown = ", ".join(files[:3]) + (f" and {len(files) - 3:,} more" if len(files) > 3 else "")
        say(f"{counted(len(files), 'file')} in the inbox: {shown}")


def _rejected(found: Mapping[str, Any], now: datetime) -> None:
    if not found["files"]:
        return
    say()
    say("Files that could not become jobs (cognee-memory jobs retry NAME drops one anew):")
    rows = [
        (
            item["kept_as"],
            age(item["rejected_at"], now),
            item["error"]["code"],
            shortened(item["error"]["message"], 200),
        )
        for item in found["files"]
    ]
    table(("rejected", "age", "error", "why"), rows, right=("age",), wraps=("why",), spare=("age", "error"))
    if found["total"] > len(rows):
        say(f"{found['total'] - len(rows):,} more: cognee-memory jobs list --state rejected --limit {found['total']}")


def all_causes(found: Envelope) -> None:
    """Print every cause of failures."""
    if found["causes"]:
        causes(found["causes"], clock.now(), len(found["causes"]))
    else:
        say("No job failed.")


# --- outcomes of requests ---


def cancelled(found: Envelope) -> None:
    """Print the outcome of ``jobs cancel``."""
    _each(found, "is cancelled")
    _skipped(found, "cancelled")


def retried(found: Envelope) -> None:
    """Print the outcome of ``jobs retry``."""
    _each(found, "runs again")
    _skipped(found, "run again")


def dismissed(found: Envelope) -> None:
    """Print the outcome of ``jobs dismiss``."""
    _each(found, "goes")
    _skipped(found, "taken off the list")


def _each(found: Envelope, then: str) -> None:
    """Print the state of each job, or for many jobs the number in each state."""
    jobs = [found] if "job_id" in found else list(found["jobs"])
    late = [job for job in jobs if not job["obeyed"]]
    if len(jobs) <= _MOST_NAMED:
        for job in jobs:
            say(state(job["state"]), f" {job['job_id']}")
    else:
        say(*by_state(Counter(job["state"] for job in jobs)))
    if late:
        say(f"The worker has not read {counted(len(late), 'request')} yet: each {then} as soon as one does.")


def _skipped(found: Envelope, done: str) -> None:
    if "jobs" not in found:
        return
    for refused in found["skipped"]:
        say(("left ", "bold red"), f"{refused['job_id']}: {refused['error_code']}: {refused['error']}")
    left = f", {len(found['skipped']):,} left" if found["skipped"] else ""
    say(f"{counted(len(found['jobs']), 'job')} {done}{left}." if found["jobs"] or left else "No job fits.")


def requested(found: Envelope) -> None:
    """Print whether the worker has carried out a control request."""
    if found["obeyed"]:
        heartbeat = found["worker"]["heartbeat"] or {}
        say(f"{found['request']}: done; the worker is ", state(heartbeat.get("state", "starting")))
    else:
        say(f"{found['request']}: asked for; it takes effect as soon as a worker reads the request")


def pruned(found: Envelope) -> None:
    """Print how much was removed."""
    if "pruned" in found:
        say(f"{counted(found['pruned'], 'thing')} removed whose time was over: records, rejected files, old copies.")
    else:
        requested(found)


def watched(found: Envelope) -> None:
    """Print how many jobs ended, by state."""
    many = counted(sum(found["ended"].values()), "job")
    states = by_state(found["ended"])
    say(f"{many} ended in {span(found['seconds'])}{': ' if states else '.'}", *states)


# --- the overview ---


def _remembered(memory: Envelope) -> str:
    lag = memory["graph_lag"]
    return counted(memory["memories"], "memory") + (f"; the graph lacks {lag:,}" if lag else "")


def overview(found: Envelope) -> None:
    """Print the overview of ``status``."""
    counts, memory, disk = found["jobs"]["counts"], found["memory"], found["disk"]
    waits = found["jobs"]["oldest_waiting_seconds"]
    beat = (found["worker"]["heartbeat"] if found["worker"]["alive"] else None) or {}
    facts(
        [
            ("workspace", found["workspace"]),
            *_worker_facts(found["worker"]),
            ("queue", by_state(counts) or "empty"),
            ("oldest", f"waiting job came {span(waits)} ago" if waits is not None else ""),
            *[("running", line) for line in _in_flight(beat)],
            ("inbox", counted(found["waiting_in_inbox"], "file") if found["waiting_in_inbox"] else ""),
            ("rejected", counted(found["rejected_files"], "file") if found["rejected_files"] else ""),
            ("memory", _remembered(memory) if memory else found["memory_error"]["message"]),
            ("disk", f"{size(disk['free_bytes'])} free"),
            *_http(beat),
        ]
    )
    if found["jobs"]["causes"]:
        say()
        causes(found["jobs"]["causes"], clock.now(), _MOST_CAUSES)
    say()
    for line in found["advice"]:
        say(("next: ", "bold"), line)
    if not found["advice"]:
        say("Nothing is to be done.")


def by_state(counts: Mapping[str, int]) -> list[Part]:
    """Counts such as ``3 queued, 1 running``, each state in its colour."""
    parts: list[Part] = []
    for name in _ORDER:
        if counts.get(name):
            parts += [", " if parts else "", f"{counts[name]:,} ", state(name)]
    return parts


def worker(found: Envelope) -> None:
    """Print the state of the worker."""
    worker = found["worker"]
    beat = (worker["heartbeat"] if worker["alive"] else None) or {}
    queue = ("queue", by_state(beat.get("counts", {})) or "empty") if beat else ("", "")
    facts([*_worker_facts(worker), queue, *[("running", line) for line in _in_flight(beat)], *_http(beat)])


def stopped(found: Envelope) -> None:
    """Print that the worker has exited."""
    say("The worker has gone; what waits stays queued.")


def drained(found: Envelope) -> None:
    """Print that the queue is drained."""
    say("drained: what was due is done, and the worker has left")


def _worker_facts(worker: Mapping[str, Any]) -> list[tuple[str, Value]]:
    if not worker["alive"]:
        return [("worker", "not running")]
    beat = worker["heartbeat"] or {}
    rows: list[tuple[str, Value]] = [
        (
            "worker",
            [
                state(beat.get("state", "starting")),
                f", pid {beat.get('pid')}, up {span(beat.get('uptime_seconds', 0))}",
            ],
        )
    ]
    if beat.get("watcher") in ("polling", "failed"):
        rows.append(("watching", "scans the inbox again and again: file events do not work here"))
    return rows


def _in_flight(beat: Mapping[str, Any]) -> list[str]:
    return [
        f"{running['kind']} {running['job_id']}"
        + (f" and {running['jobs'] - 1:,} more" if running["jobs"] > 1 else "")
        + f": {progress(running)}"
        for running in beat.get("in_flight", ())
    ]


def _http(beat: Mapping[str, Any]) -> list[tuple[str, str]]:
    http = beat.get("http")
    return [] if http is None else [("http", http["url"] or http["problem"])]


def logs(found: Envelope) -> None:
    """Print the lines of the log."""
    for line in found["lines"]:
        say(line)
