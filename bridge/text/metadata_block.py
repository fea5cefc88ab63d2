"""The metadata block of an enriched text: writes and reads its lines. ``template`` finds the block in a text.

``N/A`` means unknown. The block has no line for ``importance``. It reads ``source_created_at``, whose line version 1.1
of the template adds, but does not write it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from jobs.errors import JobError

from ..memory import STATUS_WORDS, Metadata, Status, is_topic_id, slug
from ..pattern import pattern
from .sections import normalise_time, one_line

BLOCK = "**Metadata:**"

_LINE = pattern(r"\s*- (Topic ID|Session ID|Plan ID|Status|Created|Updated|Source Created):(.*)", re.DOTALL)
_UNKNOWN = frozenset(["", "n/a", "none", "null"])
_SHOWN = 120  # characters of an invalid line that an error quotes

# The first readers of version 1.0 read a value up to the first other character and ignored the rest of the line.
_EARLY_ID = pattern(r"[a-f0-9\-]+")
_EARLY_STATUS = pattern(r"Active|Superseded|Draft")
_EARLY_TIME = pattern(r"[\d\-T:Z]+")


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
        if field not in values and name != "Source Created":
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
