"""The commands ``worker``, of the worker's process, and ``status``, the overview of worker, queue and memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bridge.interface import envelope
from jobs import clock, launch
from jobs.errors import JobError

from ..admin.requests import worker_of
from ..wording import counted, size, span
from .command_line import Given, command, option, verb
from .job_table import by_state, print_causes
from .job_views import progress
from .output import Envelope, Value, facts, say, state
from .process_commands import stop_worker, workspace_of

_MOST_CAUSES = 5

_LEAVES = option("--leave-when-idle", "let it end after a time without work")


@command(
    "worker",
    ["worker start", "worker logs --follow", "worker"],
    more="Without a subcommand, it runs in the foreground until Ctrl-C.",
    needs="is",
)
@verb("worker run", "run a worker in the foreground, until Ctrl-C", needs="is")
def run(args: Given) -> Envelope:
    """Run a worker in the foreground. ``cognee-memory worker`` without a subcommand does the same."""
    from ..daemon import serve

    serve(args.place, args.settings, foreground=True)
    return envelope.success(stopped=True)


def show(answer: Envelope) -> None:
    """Print the state of the worker."""
    worker = answer["worker"]
    beat = (worker["heartbeat"] if worker["alive"] else None) or {}
    queue = ("queue", by_state(beat.get("counts", {})) or "empty") if beat else ("", "")
    facts([*_worker_facts(worker), queue, *[("running", line) for line in _in_flight(beat)], *_http(beat)])


@verb("worker start", "start a worker in the background, unless one is running", needs="is", show=show)
@_LEAVES
def start(args: Given) -> Envelope:
    """Start a worker in the background, unless one is running; with ``leave_when_idle`` one that ends by itself."""
    started = launch.start(args.place, leave_when_idle=args.leave_when_idle)
    return envelope.success(started=started, worker=worker_of(args.place))


def show_stopped(answer: Envelope) -> None:
    """Print that the worker has exited."""
    say("The worker has stopped; waiting jobs stay queued.")


@verb(
    "worker stop",
    "let the worker finish its running jobs, and wait until it has exited",
    more="Waiting jobs stay queued.",
    needs="worker",
    show=show_stopped,
)
def stop(args: Given) -> Envelope:
    """Send SIGTERM to the worker and wait until it has finished its running jobs and exited.

    Raises JobError: WORKER_NOT_RUNNING.
    """
    if not stop_worker(args.place):
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {args.place.root}.")
    return envelope.success(stopped=True)


@verb(
    "worker restart",
    "stop the worker if it is running, and start it; needed after a change of settings",
    needs="is",
    show=show,
)
@_LEAVES
def restart(args: Given) -> Envelope:
    """Stop the worker, if one is running, and start a new one."""
    stop_worker(workspace_of(args))
    return start(args)


@verb("worker status", "show what the worker is doing", needs="worker", show=show)
def status(args: Given) -> Envelope:
    """The state of the worker. Raises JobError: WORKER_NOT_RUNNING."""
    worker = worker_of(args.place)
    if not worker["alive"]:
        raise JobError("WORKER_NOT_RUNNING", f"No worker works on {args.place.root}.")
    return envelope.success(worker=worker)


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


def show_logs(answer: Envelope) -> None:
    """Print the lines of the log."""
    for line in answer["lines"]:
        say(line)


@verb("worker logs", "show the end of the worker's log", ["logs --lines 100", "logs --follow"], show=show_logs)
@option("--lines N", "how many lines (default 40)", type=int, default=40)
@option("-f --follow", "keep printing new lines, until Ctrl-C")
def logs(args: Given) -> Envelope:
    """The last lines of the log; with ``--follow``, print new lines until Ctrl-C.

    Raises JobError: ARGUMENT_INVALID when the number of lines is negative.
    """
    path = args.place.spool.log
    if args.lines < 0:
        raise JobError("ARGUMENT_INVALID", "--lines must be at least 0.")
    if args.follow:
        return _follow(path, args)
    return envelope.success(log=str(path), lines=last_lines(path, args.lines))


def last_lines(path: Path, count: int) -> list[str]:
    """The last ``count`` lines of a log; none when it does not exist."""
    if not path.exists() or not count:
        return []
    text = path.read_text("utf-8", "replace")
    return text.removesuffix("\n").split("\n")[-count:] if text else []


def _follow(path: Path, args: Given) -> Envelope:
    """Print new lines until Ctrl-C; with ``--json`` one object for each."""
    from .watch import Tail, emit

    tail = Tail(path)
    try:
        for line in last_lines(path, args.lines):
            emit({"line": line}, line, as_json=args.json)
        while True:
            for line in tail.new_lines():
                emit({"line": line}, line, as_json=args.json)
            time.sleep(0.2)
    except KeyboardInterrupt:
        return envelope.success(log=str(path), lines=[])


# --- the overview ---


def show_overview(answer: Envelope) -> None:
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
            ("memories", _memories(memory) if memory else answer["memory_error"]["message"]),
            ("graph", _graph(memory, answer) if memory else ""),
            ("team", f"copy as of {answer['team_copy_at']}" if answer["team_copy_at"] else ""),
            ("disk", f"{size(disk['free_bytes'])} free"),
            *_http(beat),
        ]
    )
    if answer["jobs"]["causes"]:
        say()
        print_causes(answer["jobs"]["causes"], clock.now(), _MOST_CAUSES)
    say()
    for line in answer["advice"]:
        say(("next: ", "bold"), line)
    if not answer["advice"]:
        say("Nothing to do.")


@command("status", ["status", "status --json"], show=show_overview)
def overview(args: Given) -> Envelope:
    """The overview of worker, queue and memory."""
    from ..admin.overview import overview as overview_of

    return envelope.success(**overview_of(*args.opened))


def _memories(memory: Envelope) -> str:
    behind = f", {memory['uncompared']:,} not compared yet" if memory["uncompared"] else ""
    return f"{memory['memories']:,}{behind}"


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
