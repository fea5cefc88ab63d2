"""Prints answers for people: the common part of every answer, and the views of the memory and the settings.

The views of the queue are in ``queue_views``, those of ended jobs in ``job_views``.
"""

from __future__ import annotations

import argparse
from datetime import datetime

from jobs import clock

from ..wording import age, counted, shortened
from .command_table import view_of
from .output import Envelope, facts, notes, say, table, warn


def show(given: argparse.Namespace, found: Envelope) -> None:
    """Print an answer. An error goes to stderr with its remedy."""
    view = plain if given.command is None else view_of(given)
    if found["success"] or "findings" in found:  # the error below summarises the findings
        view(found)
    if not found["success"]:
        _failed(found)
    if not found["success"] and ("skipped" in found or "ended" in found):  # the command succeeded in part
        view(found)


def _failed(found: Envelope) -> None:
    warn(f"{found['error_code']}: {found['error']}")
    if found["remediation"]:
        job_id = found.get("error_details", {}).get("job_id", "<job_id>")
        warn(f"What to do: {found['remediation'].replace('<job_id>', job_id)}")


def hits(found: Envelope, now: datetime) -> None:
    """Print rank, score and its three factors, topic, status and age of each hit."""
    rows = [
        (
            str(rank),
            f"{hit['score']:.3f}",
            f"{hit['semantic_score']:.3f}",
            f"{hit['recency_multiplier']:.3f}",
            f"{hit['status_multiplier']:.1f}",
            shortened(hit["topic"] or hit["summary_text"], 48),
            hit["status"] or "[Legacy]",
            age(hit["source_created_at"] or hit["created_at"], now),
        )
        for rank, hit in enumerate(found["results"], 1)
    ]
    columns = ("#", "score", "relevance", "recency", "status ×", "topic", "status", "age")
    table(columns, rows, right=(*columns[:5], "age"), wraps=("topic",), spare=(*columns[2:5], "age"))


def retrieve(found: Envelope) -> None:
    """Print the hits and the warnings."""
    if not found["results"]:
        say("No memory fits the question.")
    else:
        hits(found, clock.parse(found["as_of"]))
    notes(found["warnings"])


def explain(found: Envelope) -> None:
    """Print the parts of each score. Relevance has a part for words (base) and a part for meaning (semantic boost)."""
    rows = []
    for item in found["items"]:
        parts = item["score"]["components"]
        numbers = (item["score"]["total"], parts["base"], parts["semantic_boost"], parts["recency"])
        rank = item["retrieval"]["rank"]
        rows.append(
            (
                f"#{item['id']}",
                "-" if rank is None else str(rank),
                *("-" if number is None else f"{number:.3f}" for number in numbers),
                f"{1 + parts['kind_bonus']:.1f}",
                item["kind"],
                shortened(item["title"], 48),
                " ".join(item["matches"]["query_terms"])[:40],
            )
        )
    columns = ("memory", "rank", "score", "words", "meaning", "recency", "status ×", "kind", "title", "terms")
    if rows:
        table(columns, rows, right=columns[1:7], wraps=("title", "terms"), spare=("terms", *columns[3:7], "kind"))
    elif not found["errors"]:
        say("No memory fits the question.")
    for error in found["errors"]:
        say(f"{error['code']}: {error['message']}.")
    notes(found["metadata"]["warnings"])


def context(found: Envelope) -> None:
    """Print only the block, to be pasted. Messages go to stderr."""
    if found["context"]:
        say(found["context"].rstrip("\n"))
    for warning in found["warnings"]:
        warn(f"Note: {warning.rstrip('.')}.")


def memories(found: Envelope) -> None:
    """Print a page of memories."""
    if not found["memories"]:
        say("No memories." if not found["total"] else "No more memories.")
        return
    now = clock.now()
    rows = [
        (str(m["memory_number"]), shortened(m["title"], 60), m["topic_id"] or "-", m["status"] or "[Legacy]",
         age(m["created_at"] or m["stored_at"], now), m["memory_id"])
        for m in found["memories"]
    ]  # fmt: skip
    columns = ("#", "title", "topic", "status", "age", "id")
    table(columns, rows, right=("#", "age"), wraps=("title", "topic"), spare=("id", "age"))
    if found["next"] is not None:
        say(f"{counted(found['total'], 'memory')} in all; older ones: --after {found['next']}")


def memory(found: Envelope) -> None:
    """Print one memory with its text."""
    memory = found["memory"]
    facts(
        [
            ("memory", f"#{memory['memory_number']} {memory['memory_id']}"),
            ("status", memory["status"] or "[Legacy]"),
            ("topic", memory["topic_id"] or ""),
            ("plan", memory["plan_id"] or ""),
            ("hidden", "It is kept, and not found." if memory["hidden"] else ""),
            ("made of", memory["migrated_from"] or ""),
            ("became", ", ".join(memory["migrated_to"])),
            ("merged", counted(len(memory["sources"]), "memory") if memory["sources"] else ""),
        ]
    )
    say()
    say(memory["summary_text"])


def topics(found: Envelope) -> None:
    """Print the topics, and which are worth compacting."""
    if not found["topics"]:
        say("No topics.")
        return
    now = clock.now()
    rows = [
        (t["topic_id"], str(t["active"]), str(t["decision_records"]), str(t["superseded"]), str(t["drafts"]),
         f"{t['characters']:,}", age(t["oldest"], now), age(t["newest"], now), "yes" if t["worth_compacting"] else "")
        for t in found["topics"]
    ]  # fmt: skip
    columns = ("topic", "active", "records", "superseded", "drafts", "characters", "oldest", "newest", "compact")
    spare = ("drafts", "characters", "superseded", "oldest", "records")
    table(columns, rows, right=columns[1:8], wraps=("topic",), spare=spare)
    full = [t["topic_id"] for t in found["topics"] if t["worth_compacting"]]
    if full:
        say(f"{counted(len(full), 'topic')} worth compacting: cognee-memory compact {full[0]} --preview")


def history(found: Envelope) -> None:
    """Print the compactions with their conflicts."""
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
    right = ("record", "age", "memories", "conflicts")
    table(columns, rows, right=right, wraps=("topic", ""), spare=("id", "narrative", "age"))
    for made in found["compactions"]:
        for conflict in made["conflicts"]:
            earlier, later = (conflict[side]["memory_id"] for side in ("earlier", "later"))
            say(f"{conflict['kind']} {conflict['confidence']:.2f} by {conflict['judged_by']}: {earlier} and {later}")


def settings(found: Envelope) -> None:
    """Print the settings with their sources."""
    rows = [(row["variable"], row["value"], row["source"], row["help"]) for row in found["settings"]]
    table(("variable", "value", "from", "meaning"), rows, wraps=("value", "meaning"), spare=("meaning",))


def export(found: Envelope) -> None:
    """Print what was exported."""
    counts = found["counts"]
    if counts is not None:
        where = f" in {found['out']}" if found["out"] else ""
        parts = (("memory", "memory"), ("compaction", "compaction"), ("cognified", "finding"))
        say(f"{', '.join(counted(counts[name], noun) for name, noun in parts)}{where}")


def plain(found: Envelope) -> None:
    """Print every field as it is."""
    for name, value in found.items():
        if name != "success":
            say(f"{name}: {value}")


def setup(found: Envelope) -> None:
    """Print the folder of the embedding model."""
    say(f"The embedding model lies in {found['model_folder']}.")


def script(found: Envelope) -> None:
    """Print the completion script."""
    say(found["script"].rstrip("\n"))


def nothing(found: Envelope) -> None:
    """Print nothing, for commands that print their output themselves."""
