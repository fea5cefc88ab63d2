"""The results of jobs for people: what was done, what would be, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .output import Envelope, counted, say, state, table

_WHY_LEFT = {
    "forgotten": "it was forgotten",
    "status_changed": "its status was changed since",
    "merged": "another record in force has merged it as well",
}


def _compacted(found: Envelope) -> None:
    """A preview to decide on, or what was done."""
    result = found["result"]
    if "decision_record" in result:
        _preview(result)
    else:
        count = len(result["superseded"])
        what = f"{counted(count, 'memory')} of {result['topic_id']}"
        say(f"Compacted {what} into the record #{result['memory_number']}.")
        say(f"  record      {result['decision_record_id']}")
        more = f" and {count - _MOST_IDS} more" if count > _MOST_IDS else ""
        say(f"  superseded  {', '.join(result['superseded'][:_MOST_IDS])}{more}")
        say(f"  conflicts   {len(result['conflicts'])}")
        _conflicts(result["conflicts"])
        notes(result["warnings"])
        say(f"Undo: cognee-memory restore {result['decision_record_id']}")


def _preview(result: dict[str, Any]) -> None:
    record = result["decision_record"]
    rows = [
        (f"#{m['memory_number']}", (m["source_created_at"] or m["created_at"] or "-")[:10],
         "record" if m["memory_type"] == "decision_record" else "summary", m["topic"][:60], str(len(m["decisions"])))
        for m in result["summaries"]
    ]  # fmt: skip
    columns = ("memory", "of", "kind", "topic", "decisions")
    table(columns, rows, right=("memory", "decisions"), wraps=("topic",), spare=("kind",))
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
    notes(result["warnings"])
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
    rows = [(conflict["kind"], f"{conflict['confidence']:.2f}", *map(_side, sides(conflict))) for conflict in found]
    table(("kind", "sure", "earlier", "later"), rows, right=("sure",), wraps=("earlier", "later"))


def _side(side: dict[str, Any]) -> str:
    return f"#{side['memory_number']} {side['date'][:10]} {side['text']}"


def _restored(found: Envelope) -> None:
    result = found["result"]
    number = f" #{result['memory_number']}" if result["memory_number"] else ""
    back = counted(len(result["restored"]), "memory")
    say(f"The record{number} of {result['topic_id']} is withdrawn; {back} {_are(len(result['restored']))} back.")
    for memory_id in result["restored"]:
        say(f"  back  {memory_id}")
    for skipped in result["skipped"]:
        say(f"  left  {skipped['memory_id']}: {_WHY_LEFT[skipped['reason']]}")


def _import(found: Envelope) -> None:
    result = found["result"]
    names = ("added", "unchanged", "duplicates", "conflicts", "forgotten", "failed")
    parts = [f"{result[name]} {name}" for name in names if result[name] or name == "added"]
    say(f"{counted(result['memories'], 'memory')} in the file: {', '.join(parts)}.")
    more = [f"{result[name]} {name}" for name in ("renumbered", "kept", "compactions", "findings") if result[name]]
    if more:
        say(f"Besides: {', '.join(more)}.")
    for detail in result["details"]:
        say(f"  line {detail['line']}: {detail['what']}: {detail['note']}")
    notes(result["warnings"])


def _migrated(found: Envelope) -> None:
    """What became of each text, what failed first; or what was taken back."""
    result = found["result"]
    if "undone" in result:
        say(f"{counted(result['undone'], 'memory')} taken back.")
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
        columns = ("", "memory", "kind", "of", "topic", "title", "why")
        table(columns, rows, right=("memory",), wraps=("topic", "title", "why"), spare=("kind", "of"))
    if result["items_omitted"]:
        say(f"… and {result['items_omitted']} more")
    names = ("migrated", "already_migrated", "forgotten", "failed", "remaining")
    parts = [f"{result[name]} {name.replace('_', ' ')}" for name in names if result[name] or name == "migrated"]
    would_be = " would be" if result["dry_run"] else ""
    if result["found"]:
        say(f"{counted(result['found'], 'memory')} of earlier versions:{would_be} {', '.join(parts)}.")
    else:
        say("There are no memories of earlier versions.")
    if result["skipped"]:
        say(f"{counted(result['skipped'], 'other text')} of cognee's left alone.")
    notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")


def _forgotten(found: Envelope) -> None:
    result = found["result"]
    say(f"{counted(len(result['forgotten']), 'memory')} forgotten")
    for name, noun, what in (
        ("records_rebuilt", "decision record", "made anew from what remains"),
        ("records_removed", "decision record", "removed, of which too little remained"),
        ("revived", "memory", "given the former status again"),
    ):
        if result[name]:
            say(f"{counted(len(result[name]), noun)} {what}")
    its = "its" if result["jobs_scrubbed"] == 1 else "their"
    say(f"{counted(result['jobs_scrubbed'], 'job')} lost {its} texts,"
        f" {counted(result['jobs_ended'], 'waiting job')} ended,"
        f" {counted(result['files_removed'], 'file')} removed")  # fmt: skip
    notes(result["warnings"])


def _cost(dollars: float | None) -> str:
    return "" if dollars is None else f" (${dollars:.4f})"


def _cognified(found: Envelope) -> None:
    result = found["result"]
    say(
        f"cognee has looked into {counted(result['looked_into'], 'text')}: {counted(result['nodes'], 'node')} and"
        f" {counted(result['edges'], 'edge')}, for {counted(result['calls'], 'call')} and"
        f" {counted(result['tokens'], 'token')} of the language model{_cost(result.get('cost_usd'))}"
    )
    if result["before"]:
        say(f"{result['before']} had been looked into before")
    for memory in result["memories"]:
        source = f"  {memory['source']}" if memory["source"] else ""
        nodes, edges = counted(memory["nodes"], "node"), counted(memory["edges"], "edge")
        say(f"  #{memory['memory_number']}  {nodes}, {edges}{source}")
    for failure in result["failures"]:
        say(f"  left out: {failure['source'] or failure['memory_id']}: {failure['message']}")


def _answered(found: Envelope) -> None:
    result = found["result"]
    say(result["answer"] or result["context"] or "The knowledge graph holds nothing that fits the question.")
    if result["memories"]:
        say()
        say("It rests on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows, wraps=("title",))
    notes(result["warnings"])


def _drawn(found: Envelope) -> None:
    result = found["result"]
    nodes, edges = counted(result["nodes"], "node"), counted(result["edges"], "edge")
    say(f"{found.get('out') or result['path']}: {nodes}, {edges}")
    if result["memories_left_out"]:
        newest = counted(result["memories"], "memory")
        say(f"It shows the newest {newest}; {result['memories_left_out']:,} older left out.")


def _stored(found: Envelope) -> None:
    """Of ingesting, and of a status that was changed."""
    result = found["result"]
    topic = f" of {result['topic_id']}" if result["topic_id"] else ""
    known = " It was known already." if result.get("duplicate") else ""
    say(f"Memory #{result['memory_number']}{topic} is {result['status'] or 'stored'}.{known}")
    say(f"  id  {result['memory_id']}")
    redacted = result.get("redactions")
    if redacted and redacted["total"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in redacted["kinds"].items())
        say(f"{counted(redacted['total'], 'likely secret')} left out of it: {kinds}.")


def _rebuilt(found: Envelope) -> None:
    result = found["result"]
    parts = (("memories", "memory", "in the index"), ("passages", "passage", "embedded"),
             ("graph_memories", "memory", "in the graph"))  # fmt: skip
    done = [f"{counted(result[name], noun)} {where}" for name, noun, where in parts if name in result]
    say(f"Made anew in {result['seconds']:,.1f} s: {', '.join(done)}.")


def _plain(found: Envelope) -> None:
    for name, value in found["result"].items():
        if value is not None:
            say(f"  {name:18} {value}")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def notes(warnings: Sequence[str]) -> None:
    for warning in warnings:
        say(f"Note: {warning.rstrip('.')}.")


def sides(conflict: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return conflict["earlier"], conflict["later"]


def show_result(found: Envelope, command: str) -> None:
    """The result of a job that has ended, by its kind, else by the command that waited for it."""
    kind = found.get("kind") or _KINDS.get(command, command)
    if kind not in VIEWS and "job_id" in found:
        say(state(str(found.get("state", "succeeded"))), f" {found['job_id']}")
    try:
        VIEWS.get(kind, _plain)(found)
    except (KeyError, TypeError):  # what a forgetting left of it, or the result of another version
        _plain(found)


# By kind. Each has the envelope of a job that has ended, with its result.
VIEWS: dict[str, Callable[[Envelope], None]] = {
    "compact": _compacted,
    "restore": _restored,
    "import": _import,
    "migrate": _migrated,
    "forget": _forgotten,
    "cognify": _cognified,
    "ask": _answered,
    "graph": _drawn,
    "ingest": _stored,
    "set_status": _stored,
    "rebuild": _rebuilt,
}
_KINDS = {"memories set-status": "set_status"}
