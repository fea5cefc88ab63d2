"""The preview of a compaction: which decisions contradict each other, the record, and the memories it would merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..wording import counted
from .blocks import Block, Heading, Items, Note, Paragraph, day, table_of

_WHY = {
    "negation": "one denies the other",
    "choice": "another choice",
    "value": "another amount",
    "toggle": "the opposite",
    "reversal": "taken back",
    "replacement": "replaced",
}
LISTS = {
    "consolidated_decisions": "Decisions",
    "consolidated_rationale": "Rationale",
    "key_open_questions": "Open questions",
    "next_steps": "Next steps",
    "key_references_files": "Files",
    "key_references_plans": "Plans",
    "key_references_branches": "Branches",
    "key_references_issues": "Issues",
}


def document(preview: Mapping[str, Any]) -> Iterator[Block]:
    """The conflicts come first: they are what a person has to judge."""
    yield Heading(f"Compaction of {preview['decision_record']['topic']}", 1)
    count = counted(len(preview["summaries"]), "memory")
    yield Paragraph(f"This is a preview: nothing has been changed. {count} would become one decision record.")
    yield from map(Note, preview["warnings"])
    if not preview["conflicts"]:
        yield Paragraph("No two decisions contradict each other.")
    yield from conflicts(preview)
    yield from record(preview)


def conflicts(result: Mapping[str, Any], *, ids: bool = False) -> Iterator[Block]:
    """The two sides of each conflict beside each other; with ``ids``, also what ``--keep-both`` takes."""
    is_later = all(each["earlier"]["date"] <= each["later"]["date"] for each in result["conflicts"])
    holds = "later" if is_later else "second"  # as somebody said
    titles = {"conflicts": f"Conflicts: the {holds} one holds", "kept_both": "Conflicts that you rejected: both hold"}
    for name, title in titles.items():
        rows = [
            (each["conflict_id"] if ids else "", _side(each["earlier"]), _side(each["later"]), _why(each))
            for each in result[name]
        ]
        if rows:
            yield Heading(title)
            yield table_of(("id", "earlier", "later", "why"), rows, wraps=("earlier", "later", "why"))


def _side(side: Mapping[str, Any]) -> str:
    return f"#{side['memory_number']} {day(side['date'])} {side['text']}"


def _why(conflict: Mapping[str, Any]) -> str:
    how = "as somebody said" if conflict.get("judged_by") == "said" else f"{100 * conflict['confidence']:.0f} % sure"
    return f"{_WHY[conflict['kind']]}, {how}"


def record(preview: Mapping[str, Any]) -> Iterator[Block]:
    """The record, section by section, and the memories that it would be made of."""
    made = preview["decision_record"]
    yield Heading(f"The record it would become: {made['topic']}")
    for name, title in LISTS.items():
        if made[name]:
            yield from (Heading(title, 3), Items(made[name]))
    yield Heading("Narrative" if made["narrative_source"] == "template" else "Narrative, by the language model", 3)
    yield Paragraph(made["summary_text"])
    yield Heading("The memories it would merge")
    rows = [
        (f"#{m['memory_number']}", day(m["source_created_at"] or m["created_at"]) or "-",
         "record" if m["memory_type"] == "decision_record" else "summary", m["topic"], str(len(m["decisions"])))
        for m in preview["summaries"]
    ]  # fmt: skip
    columns = ("memory", "of", "kind", "topic", "decisions")
    yield table_of(columns, rows, right=("memory", "decisions"), wraps=("topic",), optional_columns=("kind",))
