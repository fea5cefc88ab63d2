"""Documents: what a person reads of an answer, as blocks that Markdown and the terminal show alike.

Each document is a pure function from an answer to blocks: the preview of a compaction; what a migration or a capture
did, or would do. The editor and HTTP get them as Markdown; a command shows the blocks, or some of them, among its own
lines. The texts in a block are plain: they come from memories, and nothing in them becomes a heading, a link, an image,
a table or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bridge.text.template import sections
from bridge.text.visible import visible

from .wording import counted

if TYPE_CHECKING:
    from bridge.interface.result_shapes import Captured, CapturedSessionItem, Migration

_MARKS = re.compile(r"[\\`*_{}[\]()#+\-.!|~$:/@]")
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


class Heading(NamedTuple):
    """A heading; of level 1, the title of the document."""

    text: str
    level: int = 2


class Paragraph(NamedTuple):
    """A text of one or more lines."""

    text: str


class Note(NamedTuple):
    """A warning of the answer: a sentence, with or without its full stop."""

    text: str


class Items(NamedTuple):
    """A list."""

    lines: Sequence[str]


class Table(NamedTuple):
    """A table. ``options``: ``right``, ``wraps`` and ``optional_columns``, as ``terminal.output.table`` takes them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    options: Mapping[str, Any]


Block = Heading | Paragraph | Note | Items | Table


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]], **options: Sequence[str]) -> Table:
    """The table, without the columns that are empty in each row."""
    kept = [index for index in range(len(columns)) if not rows or any(row[index] for row in rows)]
    names = [columns[index] for index in kept]
    known = {option: [name for name in given if name in names] for option, given in options.items()}
    return Table(names, [[row[index] for index in kept] for row in rows], known)


def outcomes(result: Mapping[str, object], first: str, *others: str) -> str:
    """The counts of a result in words, ``3 migrated, 1 failed``: the first one, and the others that are not 0."""
    shown = [name for name in (first, *others) if result[name] or name == first]
    return ", ".join(f"{result[name]} {name.replace('_', ' ')}" for name in shown)


def day(moment: str | None) -> str:
    """The day of a timestamp; empty for None."""
    return (moment or "")[:10]


def markdown(blocks: Iterable[Block]) -> str:
    """The document, with a line feed at its end."""
    return "\n\n".join(map(_of, blocks)) + "\n"


def escaped(text: str) -> str:
    """The text on one line, with nothing that has a meaning in Markdown, not even a bare address."""
    line = _MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _of(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {escaped(text)}"
        case Paragraph(text):
            return "  \n".join(map(escaped, text.strip().split("\n")))
        case Note(text):
            return f"> **Check this:** {escaped(text)}"
        case Items(lines):
            return "\n".join(f"- {escaped(line)}" for line in lines)
        case _:
            sides = ["---:" if name in block.options.get("right", ()) else "---" for name in block.columns]
            rows = [map(escaped, block.columns), sides, *(map(escaped, row) for row in block.rows)]
            return "\n".join(map(_row, rows))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def capture_document(captured: Captured) -> Iterator[Block]:
    """The counts, the sessions with their memories, and in a dry run the texts."""
    yield Heading("Capture: what would be kept" if captured["dry_run"] else "Capture", 1)
    nothing = "Nothing has been stored. " if captured["dry_run"] else ""
    yield Paragraph(f"{nothing}Tool output, file contents and private parts are left out; secrets are replaced.")
    yield Paragraph(capture_counts(captured))
    for warning in captured["warnings"]:
        if "capture enable" not in warning:  # whoever reads this is asked which tools may be captured
            yield Note(warning)
    yield from captured_sessions(captured)
    for memory in (memory for item in captured["items"] for memory in item["memories"]):
        if memory["summary_text"]:
            yield from (Heading(memory["topic"]), Paragraph(sections(memory["summary_text"])))


def capture_counts(captured: Captured) -> str:
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


def captured_sessions(captured: Captured) -> Iterator[Block]:
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


def compaction_document(preview: Mapping[str, Any]) -> Iterator[Block]:
    """The conflicts come first: they are what a person has to judge."""
    yield Heading(f"Compaction of {preview['decision_record']['topic']}", 1)
    count = counted(len(preview["summaries"]), "memory")
    yield Paragraph(f"This is a preview: nothing has been changed. {count} would become one decision record.")
    yield from map(Note, preview["warnings"])
    if not preview["conflicts"]:
        yield Paragraph("No two decisions contradict each other.")
    yield from conflicts(preview)
    yield from merged_record(preview)


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


def merged_record(preview: Mapping[str, Any]) -> Iterator[Block]:
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


def migration_document(migration: Migration) -> Iterator[Block]:
    """The counts, then each text, the failures first."""
    yield Heading("Migration: what would happen" if migration["dry_run"] else "Migration", 1)
    nothing = "Nothing has been changed. " if migration["dry_run"] else ""
    yield Paragraph(f"{nothing}The texts of the earlier version stay where they are.")
    yield Paragraph(migration_counts(migration))
    yield from map(Note, migration["warnings"])
    yield from migrated_texts(migration)


def migration_counts(migration: Migration) -> str:
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


def migrated_texts(migration: Migration) -> Iterator[Block]:
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


_BY_KIND: dict[str | None, Any] = {
    "capture": capture_document, "compact": compaction_document, "migrate": migration_document,
}  # fmt: skip


def document(kind: str | None, result: Any) -> str | None:
    """In Markdown; None for a kind without one, and without such a result: it failed, or was an undo."""
    try:
        return markdown(_BY_KIND[kind](result))
    except (KeyError, TypeError):  # also where a forget job removed parts of it
        return None
