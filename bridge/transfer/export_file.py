"""The reader of exports: checks a file line by line, and converts a line to a memory.

A file that a person edited is accepted if its last line says so. Then the fields count, not the texts that derive from
them.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, BinaryIO, cast

from jobs.check import check
from jobs.errors import JobError
from jobs.parse import read_json

from ..memory import LABELS, LISTS, MAX_KEPT, STATUS_WORDS, Content, Memory, Metadata, References, Status, TimeScope
from ..slices import Slices
from ..store.values import Addition
from ..text.memory_json import as_payload
from ..text.sections import normalise, scope_text
from .export import FORMAT, VERSION, Checksum
from .export_lines import (
    FOLLOWERS,
    MEMORY_LINES,
    ORDER,
    OTHER_LINES,
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
EDITED = '{"type": "end", "sha256": null}'  # the last line of a file that a person has edited


@dataclass
class Checked:
    """What ``inspect`` found out about an export."""

    memories: int = 0
    followers: int = 0  # lines that refer to memories: records, compactions, findings, feedback and verdicts
    highest_number: int = 0
    was_edited: bool = False  # according to its last line
    ids: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)  # ids that other memories name as source or original
    strays: list[int] = field(default_factory=list)  # numbers of lines whose derived texts differ from their fields


def inspect(file: BinaryIO, slices: Slices) -> Checked:
    """Check every line.

    Raises JobError: IMPORT_INVALID for the first wrong line, with its number in ``details``.
    """
    checked = Checked()
    records: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, line in lines(file):
        slices.advance(1)
        if isinstance(line, ExportEnd):
            checked.was_edited = line.sha256 is None
        checked.followers += isinstance(line, (ExportedRecord, *FOLLOWERS))
        if not isinstance(line, ExportedMemory):
            continue
        memory = addition_of(line).memory
        if memory.id in checked.ids:
            raise invalid(number, f"The memory {memory.id} was there in an earlier line.")
        checked.ids.add(memory.id)
        if memory.sources:
            records[memory.id] = number, memory.sources
        checked.named |= {*memory.sources, *([line.migrated_from] if line.migrated_from else [])}
        checked.memories += 1
        if memory.number <= MAX_KEPT:
            checked.highest_number = max(checked.highest_number, memory.number)
        if _strays(line, memory):
            checked.strays.append(number)
    try:
        TopologicalSorter({record_id: sources for record_id, (_, sources) in records.items()}).prepare()
    except CycleError as error:
        number, record_id = min((records[each][0], each) for each in error.args[1])
        raise invalid(number, f"The record {record_id} merged itself, or a record that merged it.") from None
    return checked


def lines(file: BinaryIO) -> Iterator[tuple[int, Line]]:
    """Every line with its number, from the start of the file, checked for itself and for its position.

    Raises JobError: IMPORT_INVALID for a wrong line, a wrong checksum, or a file without a last line.
    """
    file.seek(0)
    checksum, rank, number = Checksum(), -1, 0
    end: ExportEnd | None = None
    while data := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(data) > LONGEST_LINE:
            raise invalid(number, f"It has more than {LONGEST_LINE:,} bytes.")
        data = data.removeprefix(codecs.BOM_UTF8) if number == 1 else data
        if not data.strip():
            continue
        line = _line(number, data, is_first=rank < 0)
        before, rank = rank, ORDER.index(line.type)
        if rank < before or (rank == before and line.type in ("header", "end")):
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
    """One line as a model. Raises JobError: IMPORT_INVALID."""
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
    """Raises JobError: IMPORT_INVALID when the checksum differs, unless the last line says that the file was edited."""
    if end.sha256 in (None, checksum.hexdigest()):
        return
    raise invalid(
        number,
        "The checksum does not fit: the file was changed, or damaged on its way.",
        f"Nothing was stored. Get the file as it was exported; or, if you have edited it, end it with: {EDITED}",
    )


def invalid(number: int, what: str, remediation: str = "") -> JobError:
    """The error IMPORT_INVALID for a line."""
    return JobError("IMPORT_INVALID", f"Line {number}: {what}", remediation=remediation, details={"line": number})


def addition_of(line: ExportedMemory) -> Addition:
    """The memory of a line, with normalised content; its number is 0 if the line has none."""
    m = line.metadata
    content = None if isinstance(m, LegacyMetadata) else _content(m)
    memory = Memory(
        id=m.memory_id,
        number=m.memory_number or 0,
        kind=MEMORY_LINES[m.type][1],
        metadata=Metadata(
            **{name: getattr(m, name) for name in LABELS}
            | {name: tuple(getattr(m, name) or ()) for name in LISTS}
            | {"status": _status(m)}
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
    """The line's status, or the default of its type."""
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
    """The text of a time scope after its bounds."""
    known = scope_text(bounds)
    if known and (text == known or text.startswith(f"{known}\n")):
        return text[len(known) + 1 :]
    return text


def _strays(line: ExportedMemory, memory: Memory) -> bool:
    """Whether a derived field of the line differs from what the other fields give."""
    dumped = line.model_dump(exclude_none=True)
    expected = as_payload(memory)
    pairs: Sequence[tuple[Any, Any]] = [
        (dumped.get("text"), expected["text"]),
        *((dumped["metadata"].get(name), expected["metadata"].get(name)) for name in ("references", "time_scope")),
    ]
    return any(value is not None and value != derived for value, derived in pairs)
