"""The metadata block of an enriched text: its lines, how their values are written, and how they are read.

``N/A`` stands for what is not known. The block has no place for ``importance``; ``source_created_at`` is read
(version 1.1 of the template adds its line) and not written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from jobs.errors import JobError

from ..memory import STATUS_WORDS, Metadata, Status, is_topic_id, slug
from .sections import moment, one_line

BLOCK = "**Metadata:**"

_LINE = re.compile(r"\s*- (Topic ID|Session ID|Plan ID|Status|Created|Updated|Source Created):(.*)", re.DOTALL)
_UNKNOWN = frozenset(["", "n/a", "none", "null"])
_SHOWN = 120  # characters of an offending line that an error repeats

# How far the first readers of version 1.0 read a value, whatever followed it on the line.
_FIRST_ID = re.compile(r"[a-f0-9\-]+")
_FIRST_STATUS = re.compile(r"Active|Superseded|Draft")
_FIRST_TIME = re.compile(r"[\d\-T:Z]+")


def normalise_metadata(metadata: Metadata) -> Metadata:
    """Metadata as a text carries it: ids in one line, times in UTC, None for what only says ``N/A``."""
    return replace(
        metadata,
        topic_id=_known(metadata.topic_id),
        session_id=_known(metadata.session_id),
        plan_id=_known(metadata.plan_id),
        created_at=moment(metadata.created_at or ""),
        updated_at=moment(metadata.updated_at or ""),
        source_created_at=moment(metadata.source_created_at or ""),
    )


def write_metadata(metadata: Metadata) -> list[str]:
    """The six lines of version 1.0."""
    known = normalise_metadata(metadata)
    return [
        f"- Topic ID: {known.topic_id or 'N/A'}",
        f"- Session ID: {known.session_id or 'N/A'}",
        f"- Plan ID: {known.plan_id or 'N/A'}",
        f"- Status: {known.status or 'N/A'}",
        f"- Created: {known.created_at or 'N/A'}",
        f"- Updated: {known.updated_at or 'N/A'}",
    ]


def read_metadata(lines: Iterable[tuple[int, str]], start: tuple[int, str]) -> tuple[Metadata, list[str]]:
    """The metadata of a block's numbered lines, and the lines that are none.

    ``start`` is the numbered line that starts the block. Of two lines with one name the first counts. Raises
    METADATA_BROKEN for a value that cannot be read, and for a missing line: then it names the first line
    that is no metadata, which may be the misspelt one, or else the start.
    """
    found: dict[str, Any] = {}
    strange: list[tuple[int, str]] = []
    for number, line in lines:
        match = _LINE.fullmatch(line)
        field, read = _READERS[match[1]] if match else ("", one_line)
        if not match or field in found:
            if line.strip():
                strange.append((number, line))
            continue
        value = match[2].strip()
        try:
            found[field] = None if _known(value) is None else read(value)
        except ValueError as error:
            raise broken(number, line, str(error)) from None
    for name, (field, _) in _READERS.items():
        if field not in found and name != "Source Created":
            number, line = strange[0] if strange else start
            raise broken(number, line, f"the metadata block has no line '- {name}: …'")
    return Metadata(**found), [line for _, line in strange]


def broken(number: int, line: str, why: str) -> JobError:
    """METADATA_BROKEN for a line, with as much of it as an error may repeat."""
    shown = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    return JobError(
        "METADATA_BROKEN",
        f"Line {number} cannot be read, {why}: {shown}",
        details={"line": number, "text": shown},
    )


def _known(value: str | None) -> str | None:
    text = one_line(value or "")
    return None if text.lower() in _UNKNOWN else text


def _topic_id(value: str) -> str:
    if is_topic_id(value) or _FIRST_ID.fullmatch(value):
        return value
    if _FIRST_ID.match(value):
        return slug(value)  # cut at the first other character, as it was once, it could be another topic's id
    raise ValueError("a topic id is a UUID or a slug of a-z, 0-9, '.', '_' and '-'")


def _status(value: str) -> Status:
    first = _FIRST_STATUS.match(value)
    word = STATUS_WORDS.get(value) or (STATUS_WORDS[first[0]] if first else None)
    if word is None:
        raise ValueError(f"the status is none of {', '.join(STATUS_WORDS)}")
    return word


def _time(value: str) -> str | None:
    """A time as text; None for what looked like one to the first readers, and is none."""
    first = _FIRST_TIME.match(value)
    found = moment(value) or (moment(first[0]) if first else None)
    if found is None and not first:
        raise ValueError("the time is not of the form 2025-11-17T16:30:00Z")
    return found


_READERS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "Topic ID": ("topic_id", _topic_id),
    "Session ID": ("session_id", one_line),
    "Plan ID": ("plan_id", one_line),
    "Status": ("status", _status),
    "Created": ("created_at", _time),
    "Updated": ("updated_at", _time),
    "Source Created": ("source_created_at", _time),
}
