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
_WHY_LEFT = {
    "forgotten": "it was forgotten",
    "status_changed": "its status was changed since",
    "merged": "another record in force has merged it as well",
}

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
    _notes(found["warnings"])


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
    _notes(found["metadata"]["warnings"])


def _context(found: Envelope) -> None:
    """The block alone, to be pasted; what is to be said of it must not get into it."""
    if found["context"]:
        say(found["context"].rstrip("\n"))
    for warning in found["warnings"]:
        print(f"Note: {warning.rstrip('.')}.", file=sys.stderr)  # noqa: T201


def _notes(warnings: Sequence[str]) -> None:
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


def _compacted(found: Envelope) -> None:
    """A preview to decide on, or what was done."""
    result = found.get("result")
    if result is None:
        _submitted(found)
    elif "decision_record" in result:
        _preview(result)
    else:
        count = len(result["superseded"])
        say(f"Compacted {count} memories of {result['topic_id']} into the record #{result['memory_number']}.")
        say(f"  record      {result['decision_record_id']}")
        more = f" and {count - _MOST_IDS} more" if count > _MOST_IDS else ""
        say(f"  superseded  {', '.join(result['superseded'][:_MOST_IDS])}{more}")
        say(f"  conflicts   {len(result['conflicts'])}")
        _conflicts(result["conflicts"])
        _notes(result["warnings"])
        say(f"Undo: cognee-memory restore {result['decision_record_id']}")


def _preview(result: dict[str, Any]) -> None:
    record = result["decision_record"]
    rows = [
        (f"#{m['memory_number']}", (m["source_created_at"] or m["created_at"] or "-")[:10],
         "record" if m["memory_type"] == "decision_record" else "summary", m["topic"][:60], str(len(m["decisions"])))
        for m in result["summaries"]
    ]  # fmt: skip
    table(("memory", "of", "kind", "topic", "decisions"), rows, right=("memory", "decisions"))
    say()
    say(f"would become one record of {record['topic_id']}, {record['topic']}:")
    for name, title in _RECORD_LISTS.items():
        if record[name]:
            say(f"{title}:")
            for text in record[name]:
                say(f"  - {text}")
    say("Narrative:" if record["narrative_source"] == "template" else "Narrative, by the language model:")
    for line in record["summary_text"].splitlines():
        say(f"  {line}")
    _conflicts(result["conflicts"])
    _notes(result["warnings"])
    digest = result["preview_digest"]
    say(f"Nothing was changed. Apply it: cognee-memory compact {record['topic_id']} --preview-digest {digest}")


_MOST_IDS = 5  # in one line
_RECORD_LISTS = {
    "consolidated_decisions": "Decisions",
    "consolidated_rationale": "Rationale",
    "key_open_questions": "Open questions",
    "next_steps": "Next steps",
}


def _conflicts(found: Sequence[dict[str, Any]]) -> None:
    if not found:
        return
    say()
    say("These conflict; the later one holds:")
    rows = [(conflict["kind"], f"{conflict['confidence']:.2f}", *map(_side, _sides(conflict))) for conflict in found]
    table(("kind", "sure", "earlier", "later"), rows, right=("sure",))


def _sides(conflict: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return conflict["earlier"], conflict["later"]


def _side(side: dict[str, Any]) -> str:
    return f"#{side['memory_number']} {side['date'][:10]} {side['text']}"


def _restored(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    number = f" #{result['memory_number']}" if result["memory_number"] else ""
    say(f"The record{number} of {result['topic_id']} is withdrawn; {len(result['restored'])} memories are back.")
    for memory_id in result["restored"]:
        say(f"  back  {memory_id}")
    for skipped in result["skipped"]:
        say(f"  left  {skipped['memory_id']}: {_WHY_LEFT[skipped['reason']]}")


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
            earlier, later = (side["memory_id"] for side in _sides(conflict))
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


def _import(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    names = ("added", "unchanged", "duplicates", "conflicts", "forgotten", "failed")
    parts = [f"{result[name]} {name}" for name in names if result[name] or name == "added"]
    say(f"{result['memories']} memories in the file: {', '.join(parts)}.")
    more = [f"{result[name]} {name}" for name in ("renumbered", "kept", "compactions", "findings") if result[name]]
    if more:
        say(f"Besides: {', '.join(more)}.")
    for detail in result["details"]:
        say(f"  line {detail['line']}: {detail['what']}: {detail['note']}")
    _notes(result["warnings"])


def _migrated(found: Envelope) -> None:
    """What became of each text, what failed first; or what was taken back."""
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    if "undone" in result:
        say(f"{result['undone']} memories were taken back.")
        for kept in result["kept"]:
            say(f"  left  {kept['memory_id']}: {kept['reason']}")
        return
    rows = [
        (item["outcome"].replace("_", " "), f"#{item['memory_number']}" if item["memory_number"] else "",
         item["memory_type"] or "", (item["created_at"] or "")[:10], item["topic_id"] or "",
         (item["title"] or item["source"]["file"])[:48], item["reason"] or "")
        for item in result["items"]
        if item["outcome"] != "skipped"
    ]  # fmt: skip
    if rows:
        table(("", "memory", "kind", "of", "topic", "title", "why"), rows, right=("memory",))
    if result["items_omitted"]:
        say(f"… and {result['items_omitted']} more")
    names = ("migrated", "already_migrated", "forgotten", "failed", "remaining")
    parts = [f"{result[name]} {name.replace('_', ' ')}" for name in names if result[name] or name == "migrated"]
    would_be = " would be" if result["dry_run"] else ""
    if result["found"]:
        say(f"{result['found']} memories of earlier versions:{would_be} {', '.join(parts)}.")
    else:
        say("There are no memories of earlier versions.")
    if result["skipped"]:
        say(f"{result['skipped']} other texts of cognee's are left alone.")
    _notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")


def _forgotten(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    say(f"{len(result['forgotten'])} memories forgotten")
    if result["records_rebuilt"]:
        say(f"{len(result['records_rebuilt'])} decision records made anew from what remains")
    if result["records_removed"]:
        say(f"{len(result['records_removed'])} decision records removed, of which too little remained")
    if result["revived"]:
        say(f"{len(result['revived'])} memories have their former status again")
    say(f"{result['jobs_scrubbed']} jobs lost their texts, {result['jobs_ended']} waiting jobs were ended,"
        f" {result['files_removed']} files were removed")  # fmt: skip
    _notes(result["warnings"])


def _cognified(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    say(
        f"cognee has looked into {result['looked_into']} texts: {result['nodes']} nodes and {result['edges']} edges,"
        f" for {result['calls']} calls and {result['tokens']} tokens of the language model"
    )
    if result["before"]:
        say(f"{result['before']} had been looked into before")
    for memory in result["memories"]:
        source = f"  {memory['source']}" if memory["source"] else ""
        say(f"  #{memory['memory_number']}  {memory['nodes']} nodes, {memory['edges']} edges{source}")
    for failure in result["failures"]:
        say(f"  left out: {failure['source'] or failure['memory_id']}: {failure['message']}")


def _answered(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    say(result["answer"] or result["context"] or "The knowledge graph holds nothing that fits the question.")
    if result["memories"]:
        say()
        say("It rests on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows)
    _notes(result["warnings"])


def _drawn(found: Envelope) -> None:
    result = found.get("result")
    if result is None:
        _submitted(found)
        return
    say(f"{found.get('out') or result['path']}: {result['nodes']} nodes, {result['edges']} edges")
    if result["memories_left_out"]:
        say(
            f"It shows the newest {result['memories']} memories; {result['memories_left_out']} older ones are left out."
        )


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
    "import": _import,
    "migrate": _migrated,
    "compact": _compacted,
    "restore": _restored,
    "history": _history,
    "settings": _settings,
    "ingest": _submitted,
    "submit": _submitted,
    "rebuild": _submitted,
    "forget": _forgotten,
    "cognify": _cognified,
    "ask": _answered,
    "graph": _drawn,
}
