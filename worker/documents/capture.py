"""What a capture of other tools' sessions kept, or in a dry run would keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bridge.text.template import sections

from ..wording import counted
from .blocks import Block, Heading, Note, Paragraph, day, outcomes, table_of

if TYPE_CHECKING:
    from bridge.interface.result_shapes import Captured, CapturedSessionItem


def document(captured: Captured) -> Iterator[Block]:
    """The counts, the sessions with their memories, and in a dry run the texts."""
    yield Heading("Capture: what would be kept" if captured["dry_run"] else "Capture", 1)
    nothing = "Nothing has been stored. " if captured["dry_run"] else ""
    yield Paragraph(f"{nothing}Tool output, file contents and private parts are left out; secrets are replaced.")
    yield Paragraph(counts(captured))
    for warning in captured["warnings"]:
        if "capture enable" not in warning:  # whoever reads this is asked which tools may be captured
            yield Note(warning)
    yield from sessions(captured)
    for memory in (memory for item in captured["items"] for memory in item["memories"]):
        if memory["summary_text"]:
            yield from (Heading(memory["topic"]), Paragraph(sections(memory["summary_text"])))


def counts(captured: Captured) -> str:
    """How many sessions there are, and what became of them, in sentences on a line each."""
    if not captured["sessions"]:
        return "No sessions of this workspace were found."
    became = outcomes(captured, "captured", "unchanged", "empty", "withdrawn", "forgotten", "failed", "remaining")
    would_be = "would be " if captured["dry_run"] else ""
    added = f"{counted(captured['memories'], 'memory')} {'to add' if captured['dry_run'] else 'added'}"
    if captured["superseded"]:
        added += f", {captured['superseded']} replaced"
    lines = [f"{counted(captured['sessions'], 'session')} of this workspace: {would_be}{became}; {added}."]
    if (secrets := captured.get("redactions")) and secrets["total"]:
        lines.append(f"{counted(secrets['total'], 'likely secret')} {would_be}replaced.")
    return "\n".join(lines)


def sessions(captured: Captured) -> Iterator[Block]:
    """Each session with its memories, but for those that are captured already."""
    rows = [row for item in captured["items"] if item["outcome"] != "unchanged" for row in _rows(item)]
    if rows:
        columns = ("session", "of", "memory", "topic", "decisions", "note")
        yield table_of(columns, rows, right=("memory", "decisions"), wraps=("topic", "note"), optional_columns=("of",))
    if captured["items_omitted"]:
        yield Paragraph(f"… and {counted(captured['items_omitted'], 'more session')}")


def _rows(item: CapturedSessionItem) -> Iterator[tuple[str, ...]]:
    name = f"{item['tool']}/{item['session_id'][:8]}"
    if not item["memories"]:
        yield name, day(item["modified_at"]), "", item["title"] or "", "", item["reason"] or item["outcome"]
    for memory in item["memories"]:
        number = f"#{memory['memory_number']}" if memory["memory_number"] else ""
        what = "" if memory["is_new"] else "stored already"
        if memory["supersedes"]:
            what = f"replaces {counted(len(memory['supersedes']), 'memory')}"
        yield name, day(memory["created_at"]), number, memory["topic"], str(memory["decisions"] or ""), what
        name = ""
