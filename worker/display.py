"""Answers for people: tables and lines on a terminal, plain text in a pipe."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from jobs import clock

Envelope = dict[str, Any]


def show(given: argparse.Namespace, found: Envelope) -> None:
    """Print an answer; an error goes to stderr with what to do next."""
    if not found["success"]:
        print(f"{found['error_code']}: {found['error']}", file=sys.stderr)  # noqa: T201
        if found["remediation"]:
            print(f"What to do: {found['remediation']}", file=sys.stderr)  # noqa: T201
        return
    verb = getattr(given, "verb", None)
    name = str(given.command) if verb is None else f"{given.command} {verb}"
    if found.get("result") is not None:
        from .job_views import VIEWS

        if name in VIEWS:
            VIEWS[name](found)
            return
    _VIEWS.get(name, _plain)(found)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """A table as wide as it needs; in a pipe, plain columns two spaces apart."""
    rows = [[cell.translate(_CONTROLS).replace("\n", " ") for cell in row] for row in rows]
    if not sys.stdout.isatty():
        widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
        for row in (columns, *rows):
            cells = zip(columns, row, widths, strict=True)
            line = (cell.rjust(width) if column in right else cell.ljust(width) for column, cell, width in cells)
            print("  ".join(line).rstrip())  # noqa: T201
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if column in right else "left"
        made.add_column(column, justify=side, overflow="fold", no_wrap=place == 0)
    for row in rows:
        made.add_row(*(cell.replace("[", r"\[") for cell in row))
    Console().print(made)


_MOST_SHOWN = 20  # lines

# Control characters in a memory must not reach the terminal, which would obey them.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "�")


def say(text: str = "") -> None:
    print(text.translate(_CONTROLS))  # noqa: T201


def agrees(lines: Sequence[str], question: str) -> bool:
    """Ask a person, who sees what it is about; beside the answer, which goes to stdout."""
    shown = [*lines[:_MOST_SHOWN], *([f"… and {len(lines) - _MOST_SHOWN} more"] if len(lines) > _MOST_SHOWN else [])]
    for line in shown:
        print(f"  {line.translate(_CONTROLS)}", file=sys.stderr)  # noqa: T201
    print(f"{len(lines)} memories. {question} [yes/no] ", end="", file=sys.stderr, flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def age(text: str | None, now: datetime) -> str:
    """How long ago a time was, in the largest unit that gives at least one."""
    if text is None:
        return "-"
    seconds = max(0.0, (now - clock.parse(text)).total_seconds())
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def hits(found: Envelope, now: datetime) -> None:
    """Rank, score and its three factors, topic, status and age of each hit."""
    rows = [
        (
            str(rank),
            f"{hit['score']:.3f}",
            f"{hit['semantic_score']:.3f}",
            f"{hit['recency_multiplier']:.3f}",
            f"{hit['status_multiplier']:.1f}",
            (hit["topic"] or hit["summary_text"].replace("\n", " "))[:48],
            hit["status"] or "[Legacy]",
            age(hit["source_created_at"] or hit["created_at"], now),
        )
        for rank, hit in enumerate(found["results"], 1)
    ]
    columns = ("#", "score", "relevance", "recency", "status ×", "topic", "status", "age")
    table(columns, rows, right=(*columns[:5], "age"))


def _retrieve(found: Envelope) -> None:
    if not found["results"]:
        say("No memory fits the question.")
    else:
        hits(found, clock.parse(found["as_of"]))
    notes(found["warnings"])


def _explain(found: Envelope) -> None:
    """The parts of each score: relevance is of words (base) and of meaning (semantic boost)."""
    rows = []
    for item in found["items"]:
        parts = item["score"]["components"]
        numbers = (item["score"]["total"], parts["base"], parts["semantic_boost"], parts["recency"])
        place = item["retrieval"]["rank"]
        rows.append(
            (
                f"#{item['id']}",
                "-" if place is None else str(place),
                *("-" if number is None else f"{number:.3f}" for number in numbers),
                f"{1 + parts['kind_bonus']:.1f}",
                item["kind"],
                item["title"][:48],
                " ".join(item["matches"]["query_terms"])[:40],
            )
        )
    columns = ("memory", "rank", "score", "words", "meaning", "recency", "status ×", "kind", "title", "terms")
    if rows:
        table(columns, rows, right=columns[1:7])
    elif not found["errors"]:
        say("No memory fits the question.")
    for error in found["errors"]:
        say(f"{error['code']}: {error['message']}.")
    notes(found["metadata"]["warnings"])


def _context(found: Envelope) -> None:
    """The block alone, to be pasted; what is to be said of it must not get into it."""
    if found["context"]:
        say(found["context"].rstrip("\n"))
    for warning in found["warnings"]:
        print(f"Note: {warning.rstrip('.')}.", file=sys.stderr)  # noqa: T201


def notes(warnings: Sequence[str]) -> None:
    for warning in warnings:
        say(f"Note: {warning.rstrip('.')}.")


def _jobs(found: Envelope) -> None:
    now = clock.now()
    rows = [
        (
            job["job_id"],
            job["kind"] or "-",
            job["state"],
            str(job["attempt"]),
            age(job["accepted_at"] or job["finished_at"], now),
            job["error"]["code"] if job["error"] else "",
        )
        for job in found["jobs"]
    ]
    table(("job", "kind", "state", "attempt", "age", "error"), rows, right=("attempt", "age"))
    if found["total"] > len(rows):
        say(f"{found['total'] - len(rows)} more: --limit {found['total']}")


def _job(found: Envelope) -> None:
    job = found["job"]
    for name, value in job.items():
        if value not in (None, [], {}) and name not in ("attempts", "error", "result", "schema_version"):
            say(f"{name:16} {value}")
    for name, value in (job.get("result") or {}).items():
        say(f"result.{name:9} {value}")
    for attempt in job.get("attempts", ()):
        times = f" x{attempt['repeats']}" if attempt["repeats"] > 1 else ""
        say(f"attempt {attempt['number']:<8} {attempt['outcome'] or 'running'} {attempt['error_code'] or ''}{times}")
    if job.get("error"):
        say(f"{job['error']['code']}: {job['error']['message']}")
        say(f"What to do: {job['error']['remediation']}")


def _status(found: Envelope) -> None:
    say(f"workspace  {found['workspace']}")
    _worker(found)
    memory = found["memory"]
    say(f"memory     {memory['memories']} memories; the graph is {memory['graph_lag']} behind")
    if found["waiting_in_inbox"]:
        say(f"inbox      {found['waiting_in_inbox']} files wait for a worker")


def _worker(found: Envelope) -> None:
    worker = found["worker"]
    beat = worker["heartbeat"] or {}
    if not worker["alive"]:
        say("worker     not running")
        return
    say(f"worker     {beat.get('state', 'starting')}, pid {beat.get('pid')}, up {beat.get('uptime_seconds', 0):.0f} s")
    counts = ", ".join(f"{count} {state}" for state, count in beat.get("counts", {}).items() if count)
    say(f"queue      {counts or 'empty'}")
    for running in beat.get("in_flight", ()):
        progress = running["progress"] or {}
        others = f" and {running['jobs'] - 1} more" if running["jobs"] > 1 else ""
        done = f" {progress['done']:,} of {progress['total']:,}" if progress.get("total") else ""
        say(f"running    {running['kind']} {running['job_id']}{others}, {progress.get('message', 'started')}{done}")
    http = beat.get("http")
    if http is not None:
        say(f"http       {http['url'] or http['problem']}")
    if beat.get("watcher") in ("polling", "failed"):
        say("inbox      looked at twice a second: file events do not work here")


def _memories(found: Envelope) -> None:
    if not found["memories"]:
        say("No memories.")
        return
    now = clock.now()
    rows = [
        (str(m["memory_number"]), m["title"][:60], m["topic_id"] or "-", m["status"] or "[Legacy]",
         age(m["created_at"] or m["stored_at"], now), m["memory_id"])
        for m in found["memories"]
    ]  # fmt: skip
    table(("#", "title", "topic", "status", "age", "id"), rows, right=("#", "age"))


def _memory(found: Envelope) -> None:
    memory = found["memory"]
    say(f"memory {memory['memory_number']} {memory['memory_id']}")
    if memory["hidden"]:
        say("It is kept, and not found.")
    if memory["migrated_from"]:
        say(f"It was made of {memory['migrated_from']}")
    if memory["migrated_to"]:
        say(f"It became {', '.join(memory['migrated_to'])}")
    say()
    say(found["memory"]["summary_text"])


def _topics(found: Envelope) -> None:
    if not found["topics"]:
        say("No topics.")
        return
    now = clock.now()
    rows = [
        (t["topic_id"], str(t["active"]), str(t["decision_records"]), str(t["superseded"]), str(t["drafts"]),
         str(t["characters"]), age(t["oldest"], now), age(t["newest"], now), "compact" if t["worth_compacting"] else "")
        for t in found["topics"]
    ]  # fmt: skip
    columns = ("topic", "active", "records", "superseded", "drafts", "characters", "oldest", "newest", "")
    table(columns, rows, right=columns[1:8])


def sides(conflict: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return conflict["earlier"], conflict["later"]


def _history(found: Envelope) -> None:
    if not found["compactions"]:
        say("Nothing was compacted yet.")
        return
    now = clock.now()
    rows = [
        (
            "-" if made["memory_number"] is None else f"#{made['memory_number']}",
            made["topic_id"],
            age(made["applied_at"], now),
            str(len(made["superseded"])),
            str(len(made["conflicts"])),
            made["narrative_source"],
            f"taken back {age(made['restored_at'], now)} ago" if made["restored_at"] else "",
            made["decision_record_id"],
        )
        for made in found["compactions"]
    ]
    columns = ("record", "topic", "age", "memories", "conflicts", "narrative", "", "id")
    table(columns, rows, right=("record", "age", "memories", "conflicts"))
    for made in found["compactions"]:
        for conflict in made["conflicts"]:
            earlier, later = (side["memory_id"] for side in sides(conflict))
            say(f"{conflict['kind']} {conflict['confidence']:.2f} by {conflict['judged_by']}: {earlier} and {later}")


def _settings(found: Envelope) -> None:
    rows = [(row["variable"], row["value"], row["source"], row["help"]) for row in found["settings"]]
    table(("variable", "value", "from", "meaning"), rows)


def _submitted(found: Envelope) -> None:
    say(f"{found.get('state', 'submitted')} {found['job_id']}")
    for name, value in (found.get("result") or {}).items():
        if value is not None:
            say(f"  {name:18} {value}")


def _export(found: Envelope) -> None:
    counts = found["counts"]
    if counts is not None:
        where = f" in {found['out']}" if found["out"] else ""
        say(f"{counts['memory']} memories, {counts['compaction']} compactions, {counts['cognified']} findings{where}")


def _cancelled(found: Envelope) -> None:
    if found["obeyed"]:
        say(f"{found['state']} {found['job_id']}")
    else:
        say(f"{found['job_id']} is {found['state']}: it is cancelled as soon as a worker reads the request")


def _requested(found: Envelope) -> None:
    if found["obeyed"]:
        say(f"{found['request']}: done; the worker is {found['worker']['heartbeat']['state']}")
    else:
        say(f"{found['request']}: asked for; it takes effect as soon as a worker reads the request")


def _pruned(found: Envelope) -> None:
    if "pruned" in found:
        say(f"{found['pruned']} removed")
    else:
        _requested(found)


def _logs(found: Envelope) -> None:
    for line in found["lines"]:
        say(line)


def _plain(found: Envelope) -> None:
    for name, value in found.items():
        if name != "success":
            say(f"{name}: {value}")


_VIEWS: dict[str, Callable[[Envelope], None]] = {
    "demo": lambda found: None,
    "setup": lambda found: say(f"The embedding model lies in {found['model_folder']}."),
    "retrieve": _retrieve,
    "explain": _explain,
    "context": _context,
    "jobs list": _jobs,
    "jobs show": _job,
    "jobs wait": _job,
    "jobs cancel": _cancelled,
    "jobs retry": lambda found: say(f"{found['job_id']} runs again as soon as the worker reads the request"),
    "jobs pause": _requested,
    "jobs resume": _requested,
    "jobs drain": lambda found: say("drained: what was due is done, and the worker has left"),
    "jobs prune": _pruned,
    "status": _status,
    "worker start": _worker,
    "worker restart": _worker,
    "worker status": _worker,
    "worker logs": _logs,
    "worker run": lambda found: None,
    "memories list": _memories,
    "memories show": _memory,
    "memories set-status": _submitted,
    "topics": _topics,
    "export": _export,
    "import": _submitted,
    "migrate": _submitted,
    "compact": _submitted,
    "restore": _submitted,
    "history": _history,
    "settings": _settings,
    "ingest": _submitted,
    "submit": _submitted,
    "rebuild": _submitted,
    "forget": _submitted,
    "cognify": _submitted,
    "ask": _submitted,
    "graph": _submitted,
}
