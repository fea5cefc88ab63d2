"""Prints the worker and its queue: lists of jobs, outcomes of requests, and the overview of ``status``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from jobs import clock
from jobs.states import IN_INBOX
from jobs.subjects import MOST_MEMORIES

from ..wording import age, counted, local, shortened, size, span
from .causes_view import causes
from .life_view import progress
from .output import Envelope, Part, Value, columns, facts, say, state, table

_MOST_CAUSES = 5
_MOST_NAMED = 5
_ABOUT = 60  # characters
_ID = 36  # the length of a generated id
_MIN_PREFIX = 18  # the millisecond, which jobs dropped together share, and twelve random bits
_ORDER = (IN_INBOX, "queued", "running", "retrying", "succeeded", "failed", "rejected", "expired", "cancelled")


# --- several jobs ---


def job_list(answer: Envelope) -> None:
    """Print a page of jobs, the inbox, the rejected files and the causes of failures."""
    now = clock.now()
    if answer["jobs"]:
        jobs(answer["jobs"], now)
    elif not answer["in_inbox"]:
        say("No jobs." if not answer["filtered"] else "No job matches.")
    if answer["next"] is not None:
        say(f"{counted(answer['total'], 'job')} in all; older ones: --after {answer['next']}")
    _inbox(answer["in_inbox"])
    _rejected(answer["rejected"], now)
    if answer["causes"]:
        say()
        causes(answer["causes"], now, _MOST_CAUSES)


def jobs(briefs: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Print a table of jobs."""
    ids = shown_ids([brief["job_id"] for brief in briefs], columns())
    table(JOB_COLUMNS, rows_of(ids, briefs, now), **JOB_LAYOUT)


JOB_COLUMNS = ("job", "kind", "state", "tries", "age", "about", "outcome")
JOB_LAYOUT: dict[str, Any] = {
    "right": ("tries", "age"), "wraps": ("about", "outcome"), "optional_columns": ("tries", "age"), "comfort": 18,
}  # fmt: skip


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


def _inbox(files: Sequence[str]) -> None:
    if files:
        shown = ", ".join(files[:3]) + (f" and {len(files) - 3:,} more" if len(files) > 3 else "")
        say(f"{counted(len(files), 'file')} in the inbox: {shown}")


def _rejected(answer: Mapping[str, Any], now: datetime) -> None:
    if not answer["files"]:
        return
    say()
    say("Files that could not become jobs (cognee-memory jobs retry NAME drops it again):")
    rows = [
        (
            item["kept_as"],
            age(item["rejected_at"], now),
            item["error"]["code"],
            shortened(item["error"]["message"], 200),
        )
        for item in answer["files"]
    ]
    table(("rejected", "age", "error", "why"), rows, right=("age",), wraps=("why",), optional_columns=("age", "error"))
    if answer["total"] > len(rows):
        say(f"{answer['total'] - len(rows):,} more: cognee-memory jobs list --state rejected --limit {answer['total']}")


def all_causes(answer: Envelope) -> None:
    """Print every cause of failures."""
    if answer["causes"]:
        causes(answer["causes"], clock.now(), len(answer["causes"]))
    else:
        say("No job failed.")


# --- outcomes of requests ---


def cancelled(answer: Envelope) -> None:
    """Print the outcome of ``jobs cancel``."""
    _each(answer, "is cancelled")
    _skipped(answer, "cancelled")


def retried(answer: Envelope) -> None:
    """Print the outcome of ``jobs retry``."""
    _each(answer, "runs again")
    _skipped(answer, "run again")


def dismissed(answer: Envelope) -> None:
    """Print the outcome of ``jobs dismiss``."""
    _each(answer, "is removed")
    _skipped(answer, "removed from the list")


def _each(answer: Envelope, then: str) -> None:
    """Print the state of each job, or for many jobs the number in each state."""
    jobs = [answer] if "job_id" in answer else list(answer["jobs"])
    late = [job for job in jobs if not job["obeyed"]]
    if len(jobs) <= _MOST_NAMED:
        for job in jobs:
            say(state(job["state"]), f" {job['job_id']}")
    else:
        say(*by_state(Counter(job["state"] for job in jobs)))
    if late:
        say(f"The worker has not handled {counted(len(late), 'request')} yet: each {then} as soon as one does.")


def _skipped(answer: Envelope, done: str) -> None:
    if "jobs" not in answer:
        return
    for refused in answer["skipped"]:
        say(("left ", "bold red"), f"{refused['job_id']}: {refused['error_code']}: {refused['error']}")
    left = f", {len(answer['skipped']):,} left" if answer["skipped"] else ""
    say(f"{counted(len(answer['jobs']), 'job')} {done}{left}." if answer["jobs"] or left else "No job matches.")


def requested(answer: Envelope) -> None:
    """Print whether the worker has carried out a control request."""
    if answer["obeyed"]:
        heartbeat = answer["worker"]["heartbeat"] or {}
        say(f"{answer['request']}: done; the worker is ", state(heartbeat.get("state", "starting")))
    else:
        say(f"{answer['request']}: requested; it takes effect as soon as a worker handles the request")


def pruned(answer: Envelope) -> None:
    """Print how much was removed."""
    if "pruned" in answer:
        say(f"{counted(answer['pruned'], 'file')} past their retention removed: records, rejected files, old copies.")
    else:
        requested(answer)


def watched(answer: Envelope) -> None:
    """Print how many jobs ended, by state."""
    many = counted(sum(answer["ended"].values()), "job")
    states = by_state(answer["ended"])
    say(f"{many} ended in {span(answer['seconds'])}{': ' if states else '.'}", *states)


# --- the overview ---


def _graph(memory: Envelope, answer: Envelope) -> str:
    """How far the knowledge graph is; empty in a team, where one machine makes it when it is needed."""
    if answer["team_copy_at"] is not None or not memory["memories"]:
        return ""
    if not memory["has_graph"]:
        if not answer["graph_installed"]:
            return "not installed; cognee-memory setup --graph adds it"
        return "none yet; made when the machine is idle, or by cognee-memory graph"
    if lag := memory["graph_lag"]:
        return f"{counted(lag, 'change')} wait; brought up to date when idle, or by cognee-memory graph"
    return "up to date"


def _other_rejected(jobs: int, files: int) -> str:
    """The rejected files, if some of them are no jobs; empty otherwise, since the queue counts the jobs."""
    if files <= jobs:
        return ""
    return f"{counted(jobs, 'job')} and {counted(files - jobs, 'other file')}" if jobs else counted(files, "file")


def overview(answer: Envelope) -> None:
    """Print the overview of ``status``."""
    counts, memory, disk = answer["jobs"]["counts"], answer["memory"], answer["disk"]
    waits = answer["jobs"]["oldest_waiting_seconds"]
    beat = (answer["worker"]["heartbeat"] if answer["worker"]["alive"] else None) or {}
    cut_off = 0 if answer["worker"]["alive"] else counts.get("running", 0)
    facts(
        [
            ("workspace", answer["workspace"]),
            *_worker_facts(answer["worker"]),
            ("queue", by_state(counts if not cut_off else {**counts, "running": 0}) or "empty"),
            ("cut off", f"{counted(cut_off, 'job')}, which the next worker runs again" if cut_off else ""),
            ("oldest", f"waiting job came {span(waits)} ago" if waits is not None else ""),
            *[("running", line) for line in _in_flight(beat)],
            ("inbox", counted(answer["waiting_in_inbox"], "file") if answer["waiting_in_inbox"] else ""),
            ("rejected", _other_rejected(counts.get("rejected", 0), answer["rejected_files"])),
            ("memories", f"{memory['memories']:,}" if memory else answer["memory_error"]["message"]),
            ("graph", _graph(memory, answer) if memory else ""),
            ("team", f"copy as of {answer['team_copy_at']}" if answer["team_copy_at"] else ""),
            ("disk", f"{size(disk['free_bytes'])} free"),
            *_http(beat),
        ]
    )
    if answer["jobs"]["causes"]:
        say()
        causes(answer["jobs"]["causes"], clock.now(), _MOST_CAUSES)
    say()
    for line in answer["advice"]:
        say(("next: ", "bold"), line)
    if not answer["advice"]:
        say("Nothing to do.")


def by_state(counts: Mapping[str, int]) -> list[Part]:
    """Counts such as ``3 queued, 1 running``, each state in its colour."""
    parts: list[Part] = []
    for name in _ORDER:
        if counts.get(name):
            parts += [", " if parts else "", f"{counts[name]:,} ", state(name)]
    return parts


def worker(answer: Envelope) -> None:
    """Print the state of the worker."""
    worker = answer["worker"]
    beat = (worker["heartbeat"] if worker["alive"] else None) or {}
    queue = ("queue", by_state(beat.get("counts", {})) or "empty") if beat else ("", "")
    facts([*_worker_facts(worker), queue, *[("running", line) for line in _in_flight(beat)], *_http(beat)])


def stopped(answer: Envelope) -> None:
    """Print that the worker has exited."""
    say("The worker has stopped; waiting jobs stay queued.")


def drained(answer: Envelope) -> None:
    """Print that the queue is drained."""
    say("drained: the due jobs are finished, and the worker has stopped")


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


def logs(answer: Envelope) -> None:
    """Print the lines of the log."""
    for line in answer["lines"]:
        say(line)
