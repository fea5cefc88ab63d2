"""Timestamps as text: ISO 8601 in UTC with ``Z``, to the millisecond.

Two of them are compared as times, or as texts without their ``Z``: with it, ``20:00:00Z`` sorts after ``20:00:00.1Z``.

Only edges call ``now``; functions that decide take the time as an argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """``2026-11-20T20:00:00.123Z``; whole seconds are written without a fraction."""
    moment = moment.astimezone(UTC).replace(tzinfo=None)
    # Not strftime: its %Y writes the year 999 without a leading zero, which ISO 8601 parsers reject.
    return moment.isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds") + "Z"


def with_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with each time as ``iso`` writes it."""
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in values.items()}


def parse(text: str) -> datetime:
    """An ISO 8601 timestamp as an aware UTC time; one without an offset counts as UTC.

    Raises ValueError for other text and for dates out of range.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"timestamp out of range: {text!r}") from error
