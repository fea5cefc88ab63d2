"""Prints jobs: the answer of a command that submits one, a job's result, the life of one job.

The view of a kind's result is ``show_KIND`` in a module of ``kinds``: it gets the fields of the result, beside those of
the answer. Without one, the result's fields are printed as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from jobs import clock
from jobs.errors import advice
from jobs.kinds import BY_NAME
from jobs.states import IN_INBOX, REPLAYABLE

from ..wording import age, counted, local, shortened, span
from .kinds import MODULES
from .output import Envelope, Part, facts, say, state


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
            ("doing", progress(answer["in_flight"]) if answer.get("in_flight") else ""),
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
