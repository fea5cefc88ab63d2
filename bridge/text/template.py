"""The enriched text of a memory: markdown with a metadata block, written and read line by line.

It writes version 1.0: a comment with the version, the title, the metadata block, then each section that has content, in
a fixed order. A decision record has its own template, with the sections of a record and its sources. In the block,
``N/A`` means unknown; it has no line for ``importance``.

It reads versions 1.0 and 1.1, with sections in any order, and of 1.1 the block's line ``source_created_at``, which it
does not write. It still accepts what the early readers of 1.0 accepted, which searched with regular expressions, if the
block's lines follow its start. Text outside any section is kept, at the end of the context. Lines that look like
structure are escaped (see ``sections``), so no text can forge metadata.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from jobs.errors import JobError

from ..memory import STATUS_WORDS, Content, Memory, MemoryKind, Metadata, Status, is_topic_id, slug
from ..pattern import pattern
from .conversation import parse_conversation, without_metadata_line
from .passages import parse_plain
from .sections import (
    content_of,
    lines_of,
    newlines,
    normalise,
    normalise_time,
    one_line,
    read_items,
    tidy_items,
    write_items,
)

BLOCK = "**Metadata:**"

_LINE = pattern(r"\s*- (Topic ID|Session ID|Plan ID|Status|Created|Updated|Source Created):(.*)", re.DOTALL)
_UNKNOWN = frozenset(["", "n/a", "none", "null"])
_SHOWN = 120  # characters of an invalid line that an error quotes

# The first readers of version 1.0 read a value up to the first other character and ignored the rest of the line.
_EARLY_ID = pattern(r"[a-f0-9\-]+")
_EARLY_STATUS = pattern(r"Active|Superseded|Draft")
_EARLY_TIME = pattern(r"[\d\-T:Z]+")

VERSION = "1.0"
_NEWEST = (1, 1)
_COMMENT = pattern(r"<!--\s*(Decision Record )?Template: v([\d.]+)\s*-->")
_TITLE = pattern(r"#\s+(?:(Conversation Summary|Decision Record):)?(.*)", re.DOTALL)
_HEADING = pattern(r"##\s+(.*)", re.DOTALL)
# heading -> the field of Content (or "sources") that the section holds
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
_UNASSIGNED = ""  # the key of lines that belong to no field


def normalise_metadata(metadata: Metadata) -> Metadata:
    """Metadata in the form that a text can carry: ids on one line, times in UTC, None instead of ``N/A``."""
    return metadata._replace(
        topic_id=_none_if_unknown(metadata.topic_id),
        session_id=_none_if_unknown(metadata.session_id),
        plan_id=_none_if_unknown(metadata.plan_id),
        created_at=normalise_time(metadata.created_at or ""),
        updated_at=normalise_time(metadata.updated_at or ""),
        source_created_at=normalise_time(metadata.source_created_at or ""),
    )


def write_metadata(metadata: Metadata) -> list[str]:
    """The six lines of the block in version 1.0."""
    known = normalise_metadata(metadata)._asdict()
    return [f"- {name}: {known[field] or 'N/A'}" for name, (field, _) in _READERS.items() if name != _ONLY_READ]


def read_metadata(lines: Iterable[tuple[int, str]], start: tuple[int, str]) -> tuple[Metadata, list[str]]:
    """The metadata in a block's numbered lines, and the lines that are not metadata.

    ``start`` is the numbered line that starts the block. If a name occurs twice, the first line counts. Raises
    JobError: METADATA_BROKEN for an invalid value and for a missing line. For a missing line the error names the first
    line that is not metadata, since it may be misspelt, or else the start.
    """
    values: dict[str, Any] = {}
    others: list[tuple[int, str]] = []
    for number, line in lines:
        match = _LINE.fullmatch(line)
        field, read = _READERS[match[1]] if match else ("", one_line)
        if not match or field in values:
            if line.strip():
                others.append((number, line))
            continue
        value = match[2].strip()
        try:
            values[field] = None if _none_if_unknown(value) is None else read(value)
        except ValueError as error:
            raise metadata_error(number, line, str(error)) from None
    for name, (field, _) in _READERS.items():
        if field not in values and name != _ONLY_READ:
            number, line = others[0] if others else start
            raise metadata_error(number, line, f"the metadata block has no line '- {name}: …'")
    return Metadata(**values), [line for _, line in others]


def metadata_error(number: int, line: str, why: str) -> JobError:
    """The error METADATA_BROKEN for a line; it quotes at most ``_SHOWN`` characters of it."""
    shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    return JobError(
        "METADATA_BROKEN",
        f"Line {number} cannot be read, {why}: {shown}",
        details={"line": number, "text": shown},
    )


def _none_if_unknown(value: str | None) -> str | None:
    text = one_line(value or "")
    return None if text.lower() in _UNKNOWN else text


def _topic_id(value: str) -> str:
    if is_topic_id(value) or _EARLY_ID.fullmatch(value):
        return value
    if _EARLY_ID.match(value):
        return slug(value)  # not cut at the first other character, as early readers did: it could be another topic's id
    raise ValueError("a topic id is a UUID or a slug of a-z, 0-9, '.', '_' and '-'")


def _status(value: str) -> Status:
    early = _EARLY_STATUS.match(value)
    status = STATUS_WORDS.get(value) or (STATUS_WORDS[early[0]] if early else None)
    if status is None:
        raise ValueError(f"the status is none of {', '.join(STATUS_WORDS)}")
    return status


def _time(value: str) -> str | None:
    """A time as text; None for an invalid value that begins like a time, which early readers accepted."""
    early = _EARLY_TIME.match(value)
    time = normalise_time(value) or (normalise_time(early[0]) if early else None)
    if time is None and not early:
        raise ValueError("the time is not of the form 2025-11-17T16:30:00Z")
    return time


_READERS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "Topic ID": ("topic_id", _topic_id),
    "Session ID": ("session_id", one_line),
    "Plan ID": ("plan_id", one_line),
    "Status": ("status", _status),
    "Created": ("created_at", _time),
    "Updated": ("updated_at", _time),
    "Source Created": ("source_created_at", _time),
}
_ONLY_READ = "Source Created"  # a line of version 1.1


class Enriched(NamedTuple):
    """A text with a metadata block. ``sources`` are the memories that a decision record merged."""

    content: Content
    metadata: Metadata
    version: str = VERSION
    kind: MemoryKind = "summary"
    sources: tuple[str, ...] = ()


class Plain(NamedTuple):
    """A labelled summary without metadata."""

    content: Content


class Legacy(NamedTuple):
    """Any other text, unchanged."""

    text: str


Parsed = Enriched | Plain | Legacy


def summary_text(memory: Memory) -> str:
    """The text to show. It is rendered from the present fields, since a stored text would show an old status."""
    if memory.content is None:
        return memory.text
    return render(memory.content, memory.metadata, memory.kind, memory.sources)


def readable(text: str) -> str:
    """A memory's text as ``render`` and ``render_conversation`` write it, or the beginning of it,
    without the lines that say nothing to a reader: the template's comment, unknown metadata, a turn's last line."""
    first, *lines = text.split("\n")
    if not _COMMENT.fullmatch(first):
        return without_metadata_line(text)
    block, end = _block(lines)
    known = [line for line in lines[block + 1 : end] if not line.endswith(": N/A")]
    return "\n".join([*lines[: block + 1], *known, *lines[end:]])


def sections(text: str) -> str:
    """As ``readable``, without the title and the metadata: for an answer that has them as fields."""
    first, *lines = text.split("\n")
    if not _COMMENT.fullmatch(first):
        return without_metadata_line(text)
    return "\n".join(lines[_block(lines)[1] :]).strip("\n")


def _block(lines: Sequence[str]) -> tuple[int, int]:
    """The first line of the metadata block, and the line after its last one."""
    block = lines.index(BLOCK) if BLOCK in lines else len(lines)
    return block, next((index for index in range(block, len(lines)) if not lines[index].strip()), len(lines))


def parse(text: str) -> Parsed:
    """The form of a text, with its content.

    A conversation turn is Legacy, whatever it quotes. A text with a line ``**Metadata:**`` is Enriched. Any other text
    is Plain if it has the labels of a plain summary, else Legacy.

    Raises JobError: METADATA_BROKEN, with the line and its number, when a line of the block is missing or invalid, and
    for a template version newer than 1.1.
    """
    lines = newlines(text.removeprefix("\ufeff")).split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    if comment := _COMMENT.fullmatch(lines[first].strip()):
        _reject_newer(comment[2], first + 1, lines[first])
    if parse_conversation(text) is not None:
        return Legacy(text)
    block = next((index for index, line in enumerate(lines) if line.strip() == BLOCK), None)
    if block is not None:
        return _read(lines, block)
    plain = parse_plain(lines)
    return Legacy(text) if plain is None else Plain(plain)


def render(content: Content, metadata: Metadata, kind: MemoryKind = "summary", sources: Sequence[str] = ()) -> str:
    """The enriched text. ``parse`` returns the normalised content and metadata.

    Of a decision record, the content's ``context`` is the narrative; ``sources`` are the ids of the merged memories.
    """
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
    """An enriched text whose metadata block starts at the line index ``block``."""
    start = next((index for index, line in enumerate(lines[:block]) if _HEADING.fullmatch(line)), block)
    bodies: defaultdict[str, list[str]] = defaultdict(list)
    version, kind, topic = _opening(lines[:start], bodies[_UNASSIGNED])
    headings = _RECORD_HEADINGS if kind == "decision_record" else _SUMMARY_HEADINGS
    numbered: list[tuple[int, str]] = []  # the lines of the block
    section = BLOCK
    for number, line in enumerate(lines[start:], start + 1):
        heading = _HEADING.fullmatch(line)
        if number == block + 1:
            section = BLOCK
        elif heading:
            section = headings.get(heading[1].strip(), _UNASSIGNED)
            _end_with_blank_line(bodies[section])
            if section == _UNASSIGNED:
                bodies[section].append(line)
        elif section == BLOCK:
            numbered.append((number, line))
        else:
            bodies[section].append(line)
    metadata, others = read_metadata(numbered, (block + 1, lines[block]))
    _end_with_blank_line(bodies["context"])
    bodies["context"] += [*others, *bodies.pop(_UNASSIGNED)]
    sources = read_items(bodies.pop("sources", []))
    return Enriched(content_of(topic, bodies), metadata, version, kind, sources)


def _opening(lines: list[str], unassigned: list[str]) -> tuple[str, MemoryKind, str]:
    """Version, kind and topic from the lines above block and sections; adds all other lines to ``unassigned``."""
    version = topic = None
    record: bool | None = None  # from the comment, or from the title if there is no comment
    for number, line in enumerate(lines, 1):
        comment, title = _COMMENT.fullmatch(line.strip()), _TITLE.fullmatch(line)
        if comment and version is None:
            _reject_newer(comment[2], number, line)
            version, record = comment[2], comment[1] is not None
        elif title and topic is None:
            topic = title[2].strip()
            record = title[1] == "Decision Record" if record is None else record
        else:
            unassigned.append(line)
    return version or VERSION, "decision_record" if record else "summary", topic or ""


def _end_with_blank_line(lines: list[str]) -> None:
    """Make the lines end with exactly one blank line."""
    while lines and not lines[-1].strip():
        lines.pop()
    lines.append("")


def _reject_newer(version: str, number: int, line: str) -> None:
    parts = [int(part) for part in version[:100].split(".") if part]
    if tuple([*parts, 0, 0][:2]) > _NEWEST:
        raise metadata_error(number, line, "the template is of a newer version than this program reads")
