"""The results of jobs for people: what was done, what would be, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .display import Envelope, notes, say, sides, table

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
        say(f"Compacted {count} memories of {result['topic_id']} into the record #{result['memory_number']}.")
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
    table(("kind", "sure", "earlier", "later"), rows, right=("sure",))


def _side(side: dict[str, Any]) -> str:
    return f"#{side['memory_number']} {side['date'][:10]} {side['text']}"


def _restored(found: Envelope) -> None:
    result = found["result"]
    number = f" #{result['memory_number']}" if result["memory_number"] else ""
    say(f"The record{number} of {result['topic_id']} is withdrawn; {len(result['restored'])} memories are back.")
    for memory_id in result["restored"]:
        say(f"  back  {memory_id}")
    for skipped in result["skipped"]:
        say(f"  left  {skipped['memory_id']}: {_WHY_LEFT[skipped['reason']]}")


def _import(found: Envelope) -> None:
    result = found["result"]
    names = ("added", "unchanged", "duplicates", "conflicts", "forgotten", "failed")
    parts = [f"{result[name]} {name}" for name in names if result[name] or name == "added"]
    say(f"{result['memories']} memories in the file: {', '.join(parts)}.")
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
    notes(result["warnings"])
    if result["dry_run"]:
        more = " Take them over: cognee-memory migrate" if result["migrated"] else ""
        say(f"Nothing was changed.{more}")
    elif result["migrated"]:
        say(f"Undo: cognee-memory migrate --undo {result['receipt']}")


def _forgotten(found: Envelope) -> None:
    result = found["result"]
    say(f"{len(result['forgotten'])} memories forgotten")
    if result["records_rebuilt"]:
        say(f"{len(result['records_rebuilt'])} decision records made anew from what remains")
    if result["records_removed"]:
        say(f"{len(result['records_removed'])} decision records removed, of which too little remained")
    if result["revived"]:
        say(f"{len(result['revived'])} memories have their former status again")
    say(f"{result['jobs_scrubbed']} jobs lost their texts, {result['jobs_ended']} waiting jobs were ended,"
        f" {result['files_removed']} files were removed")  # fmt: skip
    notes(result["warnings"])


def _cognified(found: Envelope) -> None:
    result = found["result"]
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
    result = found["result"]
    say(result["answer"] or result["context"] or "The knowledge graph holds nothing that fits the question.")
    if result["memories"]:
        say()
        say("It rests on:")
        rows = [
            (f"#{memory['memory_number']}", memory["title"][:60], memory["status"] or "[Legacy]")
            for memory in result["memories"]
        ]
        table(("memory", "title", "status"), rows)
    notes(result["warnings"])


def _drawn(found: Envelope) -> None:
    result = found["result"]
    say(f"{found.get('out') or result['path']}: {result['nodes']} nodes, {result['edges']} edges")
    if result["memories_left_out"]:
        say(
            f"It shows the newest {result['memories']} memories; {result['memories_left_out']} older ones are left out."
        )


# By command. Each has the envelope of a job that has ended, with its result.
VIEWS: dict[str, Callable[[Envelope], None]] = {
    "compact": _compacted,
    "restore": _restored,
    "import": _import,
    "migrate": _migrated,
    "forget": _forgotten,
    "cognify": _cognified,
    "ask": _answered,
    "graph": _drawn,
}
