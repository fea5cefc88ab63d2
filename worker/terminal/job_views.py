"""Jobs as people name and read them: filters, the table of jobs, counts of their states, the causes of failures; the
answer of a command that submits a job, its result, its life.

The view of a kind's result is ``show_KIND`` in a module of ``kinds``: it gets the fields of the result, beside those of
the answer. Without one, the result's fields are printed as they are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from jobs import clock
from jobs.errors import advice
from jobs.kinds import BY_NAME
from jobs.layout import SpoolPaths
from jobs.states import IN_INBOX, REPLAYABLE
from jobs.subjects import MOST_MEMORIES

from ..admin import selection
from ..wording import age, counted, local, of_all, shortened, span
from .command_line import Given
from .kinds import MODULES
from .output import Envelope, Layout, Part, columns, facts, say, state, table

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


def show(answer: Envelope) -> None:
    """Print the job's id, or its result when it has one."""
    if answer.get("result") is None:
        say(f"submitted {answer['job_id']}")
    else:
        show_result(answer)


def show_result(answer: Envelope) -> None:
    """Print the result of an ended job: ``kind``, ``result``, and ``job_id`` and ``state`` where they are known."""
    view = view_of(str(answer["kind"]))
    if view is None and "job_id" in answer:
        say(state(str(answer.get("state", "succeeded"))), f" {answer['job_id']}")
    try:
        (view or _plain)({**answer, **answer["result"]} if view else answer)
    except (KeyError, TypeError):  # a forget job removed parts of it, or another version wrote it
        _plain(answer)


def view_of(kind: str) -> Callable[[Envelope], None] | None:
    """The view of a kind's results. None when the kind has none, or only another version knows the kind."""
    name = f"{__package__}.kinds.{MODULES.get(kind, kind)}"
    if kind not in BY_NAME or find_spec(name) is None:
        return None
    view: Callable[[Envelope], None] = getattr(import_module(name), f"show_{kind}")
    return view


def _plain(answer: Envelope) -> None:
    for name, value in answer["result"].items():
        if value is not None:
            say(f"  {name:18} {value}")


def show_life(answer: Envelope) -> None:
    """Print everything about one job."""
    job = answer["job"]
    now = clock.now()
    if job["state"] == IN_INBOX:
        facts([("job", job["job_id"]), ("state", f"{IN_INBOX}: it waits for a worker to accept it")])
        return
    error = job["error"]
    facts(
        [
            ("job", job["job_id"]),
            ("kind", job["kind"] or ""),
            ("state", [state(job["state"]), _since(job, now)]),
            *_asked(answer.get("asked")),
            *_times(job, now),
            ("attempts", _attempts_line(job)),
            *[("", line) for line in _attempts(job, now)],
            ("doing", _doing(answer.get("in_flight"))),
            ("why", [(error["code"], "bold red"), f": {error['message']}"] if error else ""),
            ("remedy", error["remediation"].replace("<job_id>", job["job_id"]) if error else ""),
            ("again", _again(job, answer.get("asked"))),
        ]
    )
    if job["result"]:
        say()
        show_result({"job_id": job["job_id"], "kind": job["kind"], "state": job["state"], "result": job["result"]})
    if "log" in answer:
        say()
        say("From the worker's log:" if answer["log"] else "The worker's log has no line about it.")
        for line in answer["log"]:
            say(f"  {line}")


def _since(job: Mapping[str, Any], now: datetime) -> str:
    if job["state"] == "retrying" and job["next_attempt_at"]:
        return f", the next attempt {local(job['next_attempt_at'], now)}"
    at = job["finished_at"] or job["started_at"] or job["accepted_at"]
    generation = f", run again {counted(job['generation'] - 1, 'time')}" if job["generation"] > 1 else ""
    return (f", {age(at, now)} ago" if at else "") + generation


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _asked(asked: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    if asked is None:
        return []
    payload = asked["payload"]
    lines = [f"{name}: {shortened(_written(value), 160)}" for name, value in payload.items() if value is not None]
    rows = [("" if index else "asked", line) for index, line in enumerate(lines)]
    return [*rows, ("by", asked.get("submitted_by") or "")]


def _times(job: Mapping[str, Any], now: datetime) -> list[tuple[str, str]]:
    took = f", after {job['elapsed_ms'] / 1000:,.1f} s" if job["elapsed_ms"] is not None else ""
    names = {"submitted": "submitted_at", "accepted": "accepted_at", "started": "started_at", "ended": "finished_at"}
    rows = [(name, local(job[field], now) if job[field] else "") for name, field in names.items()]
    return [
        *((name, value + took if name == "ended" and value else value) for name, value in rows),
        ("expires", local(job["expires_at"], now) if job["expires_at"] else ""),
        ("priority", str(job["priority"]) if job["priority"] else ""),
        ("correlation", job["correlation_id"] if job["correlation_id"] not in (None, job["job_id"]) else ""),
    ]


def _attempts_line(job: Mapping[str, Any]) -> str:
    if not job["attempts"]:
        return "" if job["finished_at"] else "none yet"
    return f"{job['attempt']} of up to {job['max_attempts']}"


def _attempts(job: Mapping[str, Any], now: datetime) -> list[list[Part]]:
    lines = []
    for attempt in job["attempts"]:
        outcome = attempt["outcome"] or "running"
        times = f", {counted(attempt['repeats'], 'time')}" if attempt["repeats"] > 1 else ""
        beside = f", beside {counted(attempt['together'] - 1, 'other job')}" if attempt["together"] > 1 else ""
        code = f" {attempt['error_code']}" if attempt["error_code"] else ""
        lines.append(
            [f"{attempt['number']}  ", state(outcome), f"{code}{times}, {local(attempt['started_at'], now)}{beside}"]
        )
    return lines


def _doing(in_flight: Mapping[str, Any] | None) -> str:
    return progress(in_flight) if in_flight else ""


def progress(running: Mapping[str, Any]) -> str:
    """The message and the counts that the heartbeat reports for a running job."""
    reported = running["progress"] or {}
    done = f", {reported['done']:,} of {reported['total']:,}" if reported.get("total") else ""
    return f"{reported.get('message') or 'started'}{done}, for {span(running['seconds'])}"


def _again(job: Mapping[str, Any], asked: Mapping[str, Any] | None) -> str:
    if job["state"] == "rejected":
        again = advice("rejected", job["error"]["code"]) == "retry"
        return f"cognee-memory jobs retry {job['job_id']}" if again else ""
    if job["state"] not in REPLAYABLE:
        return ""
    if asked is None:
        return "Its copy was removed: submit it again."
    return f"cognee-memory jobs retry {job['job_id']}"
