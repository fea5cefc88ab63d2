"""What a migration did to each text of an earlier version, or in a dry run would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..wording import counted
from .blocks import Block, Heading, Note, Paragraph, day, outcomes, table_of

if TYPE_CHECKING:
    from bridge.interface.result_shapes import Migration


def document(migration: Migration) -> Iterator[Block]:
    """The counts, then each text, the failures first."""
    yield Heading("Migration: what would happen" if migration["dry_run"] else "Migration", 1)
    nothing = "Nothing has been changed. " if migration["dry_run"] else ""
    yield Paragraph(f"{nothing}The texts of the earlier version stay where they are.")
    yield Paragraph(counts(migration))
    yield from map(Note, migration["warnings"])
    yield from texts(migration)


def counts(migration: Migration) -> str:
    """How many texts there are, and what became of them, in sentences on a line each."""
    became = outcomes(migration, "migrated", "already_migrated", "forgotten", "failed", "remaining")
    would_be = " would be" if migration["dry_run"] else ""
    lines = ["There are no memories of earlier versions."]
    if migration["found"]:
        lines = [f"{counted(migration['found'], 'memory')} of earlier versions:{would_be} {became}."]
    if migration["skipped"]:
        lines.append(f"{counted(migration['skipped'], 'other text')} of cognee's left alone.")
    if (secrets := migration.get("redactions")) and secrets["total"]:
        lines.append(f"{counted(secrets['total'], 'likely secret')}{would_be} replaced.")
    return "\n".join(lines)


def texts(migration: Migration) -> Iterator[Block]:
    """Each text of an earlier version, and what it becomes."""
    rows = [
        (item["outcome"].replace("_", " "), f"#{item['memory_number']}" if item["memory_number"] else "",
         item["memory_type"] or "", day(item["created_at"]), item["topic_id"] or "",
         item["title"] or item["source"]["file"], item["session_id"] or "", item["plan_id"] or "",
         item["status"] or "", item["reason"] or "")
        for item in migration["items"]
        if item["outcome"] != "skipped"
    ]  # fmt: skip
    if rows:
        columns = ("outcome", "memory", "kind", "of", "topic", "title", "session", "plan", "status", "why")
        optional = ("session", "plan", "status", "kind", "of")
        yield table_of(columns, rows, right=("memory",), wraps=("topic", "title", "why"), optional_columns=optional)
    if migration["items_omitted"]:
        yield Paragraph(f"… and {migration['items_omitted']} more")
