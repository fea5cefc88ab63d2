"""The enriched text of a memory: markdown with its metadata in a block, written and read line by line.

Version 1.0 is written: the comment with the version, the title, the metadata block, then each section that
has content, in a fixed order. A decision record has a template of its own, with the sections of a record and
its sources.

Versions 1.0 and 1.1 are read, with sections in any order. What a reader of 1.0 that searches with regular
expressions accepted is accepted still, as long as the block's lines stand below its start. Text that belongs
to no section is kept, at the end of the context. What a body line could be mistaken for is escaped (see
``sections``), so that no text can forge metadata.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ..memory import Content, MemoryKind, Metadata
from .conversation import Conversation, parse_conversation, render_conversation
from .metadata_block import BLOCK, broken, normalise_metadata, read_metadata, write_metadata
from .plain_summary import parse_plain, render_plain
from .sections import content_of, lines_of, newlines, normalise, read_items, tidy_items, write_items

__all__ = [
    "Conversation", "Enriched", "Legacy", "Parsed", "Plain", "normalise", "normalise_metadata", "parse",
    "parse_conversation", "render", "render_conversation", "render_plain", "render_record",
]  # fmt: skip

VERSION = "1.0"
_NEWEST = (1, 1)

_COMMENT = re.compile(r"<!--\s*(Decision Record )?Template: v([\d.]+)\s*-->")
_TITLE = re.compile(r"#\s+(?:(Conversation Summary|Decision Record):)?(.*)", re.DOTALL)
_HEADING = re.compile(r"##\s+(.*)", re.DOTALL)

# heading -> the field of Content (or "sources") whose lines stand below it
_SUMMARY_HEADINGS = {
    "Context": "context",
    "Key Decisions": "decisions",
    "Rationale": "rationale",
    "Open Questions": "open_questions",
    "Next Steps": "next_steps",
    "References": "references",
    "Time Scope": "time_scope",
}
_RECORD_HEADINGS = {
    "Summary": "context",
    "Consolidated Decisions": "decisions",
    "Consolidated Rationale": "rationale",
    "Key Open Questions": "open_questions",
    "Next Steps": "next_steps",
    "Key References": "references",
    "Time Scope": "time_scope",
    "Sources": "sources",
}
_LOOSE = ""  # where a line goes that belongs to no field


@dataclass(frozen=True, slots=True)
class Enriched:
    """A text with a metadata block. ``sources`` are the memories that a decision record merged."""

    content: Content
    metadata: Metadata
    version: str = VERSION
    kind: MemoryKind = "summary"
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plain:
    """A summary with labels and without metadata."""

    content: Content


@dataclass(frozen=True, slots=True)
class Legacy:
    """Any other text, as it came."""

    text: str


Parsed = Enriched | Plain | Legacy


def render(content: Content, metadata: Metadata) -> str:
    """The enriched text of a summary. ``parse`` gives the normalised content and metadata again."""
    return _render("summary", content, metadata, ())


def render_record(content: Content, metadata: Metadata, sources: Sequence[str] = ()) -> str:
    """The enriched text of a decision record.

    Its context is the narrative; ``sources`` are the ids of the memories that it merged.
    """
    return _render("decision_record", content, metadata, sources)


def parse(text: str) -> Parsed:
    """What a text is, and what it says.

    A conversation turn is Legacy whatever it quotes. A line ``**Metadata:**`` makes a text Enriched; without
    one it is Plain if it has the labels of a plain summary, else Legacy.

    Raises METADATA_BROKEN, with the line and its number, when a line of the block is missing or cannot be
    read, and for a template version newer than 1.1.
    """
    lines = newlines(text.removeprefix("\ufeff")).split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if comment := _COMMENT.fullmatch(lines[first].strip()):
        _refuse_newer(comment[2], first + 1, lines[first])
    if parse_conversation(text) is not None:
        return Legacy(text)
    block = next((at for at, line in enumerate(lines) if line.strip() == BLOCK), None)
    if block is not None:
        return _read(lines, block)
    plain = parse_plain(lines)
    return Legacy(text) if plain is None else Plain(plain)


def _render(kind: MemoryKind, content: Content, metadata: Metadata, sources: Sequence[str]) -> str:
    content = normalise(content)
    record = kind == "decision_record"
    lines = [
        f"<!-- {'Decision Record ' if record else ''}Template: v{VERSION} -->",
        f"# {'Decision Record' if record else 'Conversation Summary'}: {content.topic}".rstrip(),
        "",
        BLOCK,
        *write_metadata(metadata),
    ]
    bodies = lines_of(content) | {"sources": write_items(tidy_items(sources))}
    for heading, field in (_RECORD_HEADINGS if record else _SUMMARY_HEADINGS).items():
        if bodies[field]:
            lines += ["", f"## {heading}", *bodies[field]]
    return "\n".join(lines) + "\n"


def _read(lines: list[str], block: int) -> Enriched:
    """Read a text whose metadata block starts at the index ``block``."""
    start = next((at for at, line in enumerate(lines[:block]) if _HEADING.fullmatch(line)), block)
    bodies: defaultdict[str, list[str]] = defaultdict(list)
    version, kind, topic = _opening(lines[:start], bodies[_LOOSE])
    headings = _RECORD_HEADINGS if kind == "decision_record" else _SUMMARY_HEADINGS
    numbered: list[tuple[int, str]] = []  # the lines of the block
    where = BLOCK
    for number, line in enumerate(lines[start:], start + 1):
        heading = _HEADING.fullmatch(line)
        if number == block + 1:
            where = BLOCK
        elif heading:
            where = headings.get(heading[1].strip(), _LOOSE)
            _part(bodies[where])
            if where == _LOOSE:
                bodies[where].append(line)
        elif where == BLOCK:
            numbered.append((number, line))
        else:
            bodies[where].append(line)
    metadata, strange = read_metadata(numbered, (block + 1, lines[block]))
    _part(bodies["context"])
    bodies["context"] += [*strange, *bodies.pop(_LOOSE)]
    sources = read_items(bodies.pop("sources", []))
    return Enriched(content_of(topic, bodies), metadata, version, kind, sources)


def _opening(lines: list[str], loose: list[str]) -> tuple[str, MemoryKind, str]:
    """Version, kind and topic from the lines above block and sections; all other lines go to ``loose``."""
    version = topic = None
    record: bool | None = None  # as the comment says; as the title says if there is no comment
    for number, line in enumerate(lines, 1):
        comment, title = _COMMENT.fullmatch(line.strip()), _TITLE.fullmatch(line)
        if comment and version is None:
            _refuse_newer(comment[2], number, line)
            version, record = comment[2], comment[1] is not None
        elif title and topic is None:
            topic = title[2].strip()
            record = title[1] == "Decision Record" if record is None else record
        else:
            loose.append(line)
    return version or VERSION, "decision_record" if record else "summary", topic or ""


def _part(lines: list[str]) -> None:
    """End the lines with exactly one blank one."""
    while lines and not lines[-1].strip():
        lines.pop()
    lines.append("")


def _refuse_newer(version: str, number: int, line: str) -> None:
    parts = [int(part) for part in version[:100].split(".") if part]
    if tuple([*parts, 0, 0][:2]) > _NEWEST:
        raise broken(number, line, "the template is of a newer version than this program reads")
