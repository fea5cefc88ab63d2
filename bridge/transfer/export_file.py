"""Reading an export: what is wrong with a file, and in which line; the memory that a line gives.

A file that a person has edited is welcome, provided that its last line says so; what it says in its fields counts.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

from jobs.check import check
from jobs.errors import JobError
from jobs.parse import read_json

from ..memory import STATUS_WORDS, Content, Memory, Metadata, References, Status, TimeScope
from ..slices import Slices
from ..store import numbering
from ..store.rows import Addition
from ..text.memory_json import as_payload
from ..text.sections import normalise, scope_text
from .export import FORMAT, VERSION, Checksum
from .export_lines import (
    MEMORY_LINES,
    ORDER,
    OTHER_LINES,
    ExportedCompaction,
    ExportedFinding,
    ExportedMemory,
    ExportedRecord,
    ExportEnd,
    LegacyMetadata,
    Line,
    RecordMetadata,
    ScopeBounds,
    SummaryMetadata,
)

LONGEST_LINE = 64 * 1024 * 1024  # bytes
EDITED = '{"type": "end", "sha256": null}'  # the last line of a file that somebody has changed


@dataclass
class Checked:
    """What a whole look at an export has found."""

    memories: int = 0
    followers: int = 0  # records, compactions and findings, which name other memories
    highest_number: int = 0
    was_edited: bool = False  # its last line says so
    ids: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)  # memories that others name as what they come from
    strays: list[int] = field(default_factory=list)  # lines in which what is derived differs from the fields


def inspect(file: BinaryIO, slices: Slices) -> Checked:
    """Look at every line. Raises IMPORT_INVALID for the first that is wrong, with its number in ``details``."""
    found = Checked()
    for number, line in lines(file):
        slices.done(1)
        if isinstance(line, ExportEnd):
            found.was_edited = line.sha256 is None
        found.followers += isinstance(line, (ExportedRecord, ExportedCompaction, ExportedFinding))
        if not isinstance(line, ExportedMemory):
            continue
        memory = addition_of(line).memory
        if memory.id in found.ids:
            raise invalid(number, f"The memory {memory.id} was there in an earlier line.")
        found.ids.add(memory.id)
        found.named |= {*memory.sources, *([line.migrated_from] if line.migrated_from else [])}
        found.memories += 1
        if memory.number <= numbering.MOST_KEPT:
            found.highest_number = max(found.highest_number, memory.number)
        if _strays(line, memory):
            found.strays.append(number)
    return found


def lines(file: BinaryIO) -> Iterator[tuple[int, Line]]:
    """Every line from the first on, with its number, checked in itself and in its place. Raises IMPORT_INVALID."""
    file.seek(0)
    checksum, place, number = Checksum(), -1, 0
    end: ExportEnd | None = None
    while data := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(data) > LONGEST_LINE:
            raise invalid(number, f"It has more than {LONGEST_LINE:,} bytes.")
        data = data.removeprefix(codecs.BOM_UTF8) if number == 1 else data
        if not data.strip():
            continue
        line = _line(number, data, is_first=place < 0)
        before, place = place, ORDER.index(line.type)
        if place < before or (place == before and line.type in ("header", "end")):
            raise invalid(number, f"A line of the type {line.type} cannot stand behind one of {ORDER[before]}.")
        if isinstance(line, ExportEnd):
            end = line
            _check_end(number, end, checksum)
        else:
            checksum.add(data)
        yield number, line
    if end is None:
        what = "The file is cut off: its last line is missing." if number else "The file is empty."
        raise JobError(
            "IMPORT_INVALID",
            what,
            remediation=f"Nothing was stored. Get the whole file; or, to import what is there, end it with: {EDITED}",
            details={"line": number + 1},
        )


def _line(number: int, data: bytes, *, is_first: bool) -> Line:
    try:
        value = read_json(data)
    except JobError as error:
        raise invalid(number, error.message.replace("The file ", "It ", 1)) from None
    kind = value.get("type") if isinstance(value, dict) else None
    if is_first and (kind != "header" or value.get("format") != FORMAT):
        raise invalid(number, "It is not the header of an export.")
    if is_first and isinstance(value.get("version"), int) and value["version"] > VERSION:
        raise invalid(
            number,
            f"The export has version {value['version']}; this program reads version {VERSION}.",
            "Nothing was stored. Update cognee-memory.",
        )
    model = OTHER_LINES.get(kind) if isinstance(kind, str) else None
    if kind == "memory":
        metadata = value.get("metadata")
        what = metadata.get("type") if isinstance(metadata, dict) else None
        if not isinstance(what, str) or what not in MEMORY_LINES:
            raise invalid(number, f"The field metadata.type must be one of: {', '.join(MEMORY_LINES)}.")
        model = MEMORY_LINES[what][0]
    if model is None:
        raise invalid(number, f"The field type must be one of: {', '.join(ORDER)}.")
    try:
        return cast(Line, check(model, value))
    except JobError as error:
        raise invalid(number, error.message) from None


def _check_end(number: int, end: ExportEnd, checksum: Checksum) -> None:
    if end.sha256 in (None, checksum.hexdigest()):
        return
    raise invalid(
        number,
        "The checksum does not fit: the file was changed, or damaged on its way.",
        f"Nothing was stored. Get the file as it was exported; or, if you have edited it, end it with: {EDITED}",
    )


def invalid(number: int, what: str, remediation: str = "") -> JobError:
    """What is wrong with a line."""
    return JobError("IMPORT_INVALID", f"Line {number}: {what}", remediation=remediation, details={"line": number})


def addition_of(line: ExportedMemory) -> Addition:
    """The memory of a line, with normalised content; its number is 0 where the line has none."""
    m = line.metadata
    content = None if isinstance(m, LegacyMetadata) else _content(m)
    memory = Memory(
        id=m.memory_id,
        number=m.memory_number or 0,
        kind=MEMORY_LINES[m.type][1],
        metadata=Metadata(
            topic_id=m.topic_id,
            session_id=m.session_id,
            plan_id=m.plan_id,
            status=_status(m),
            created_at=m.created_at,
            updated_at=m.updated_at,
            source_created_at=m.source_created_at,
            importance=m.importance,
        ),
        stored_at=line.stored_at,
        content=content,
        text=line.text or "" if content is None else "",
        sources=tuple(m.compaction_source or ()) if isinstance(m, RecordMetadata) else (),
    )
    return Addition(
        memory, hidden=bool(line.hidden), migrated_from=line.migrated_from, status_set_at=line.status_set_at
    )


def _status(metadata: SummaryMetadata | RecordMetadata | LegacyMetadata) -> Status | None:
    if metadata.status is not None:
        return STATUS_WORDS[metadata.status]
    defaults: dict[str, Status] = {"conversation_summary": "Active", "decision_record": "DecisionRecord"}
    return defaults.get(metadata.type)


def _content(m: SummaryMetadata | RecordMetadata) -> Content:
    bounds = m.time_scope_bounds or ScopeBounds()
    scope = TimeScope(start=bounds.start, end=bounds.end, turn_count=bounds.turn_count)
    return normalise(
        Content(
            topic=m.topic,
            context=m.context,
            decisions=tuple(m.decisions or ()),
            rationale=tuple(m.rationale or ()),
            open_questions=tuple(m.open_questions or ()),
            next_steps=tuple(m.next_steps or ()),
            references=References(
                tuple(m.references_files or ()),
                tuple(m.references_plans or ()),
                tuple(m.references_branches or ()),
                tuple(m.references_issues or ()),
            ),
            time_scope=TimeScope(_free_text(m.time_scope or "", scope), scope.start, scope.end, scope.turn_count),
        )
    )


def _free_text(text: str, bounds: TimeScope) -> str:
    """What a time scope says behind its bounds."""
    known = scope_text(bounds)
    if known and (text == known or text.startswith(f"{known}\n")):
        return text[len(known) + 1 :]
    return text


def _strays(line: ExportedMemory, memory: Memory) -> bool:
    """Whether the line says something in a derived field that its other fields do not say."""
    said = line.model_dump(exclude_none=True)
    follows = as_payload(memory)
    pairs: Sequence[tuple[Any, Any]] = [
        (said.get("text"), follows["text"]),
        *((said["metadata"].get(name), follows["metadata"].get(name)) for name in ("references", "time_scope")),
    ]
    return any(given is not None and given != expected for given, expected in pairs)
