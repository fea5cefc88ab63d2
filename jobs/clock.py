"""Time as text: ISO 8601 in UTC with ``Z``, to the millisecond. Decisions take the time as an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """``2026-11-20T20:00:00.123Z``; whole seconds are written without a fraction."""
    moment = moment.astimezone(UTC).replace(tzinfo=None)
    # Not strftime: its %Y writes the year 999 without a leading zero, which nobody can read back.
    return moment.isoformat(timespec="milliseconds" if moment.microsecond >= 1000 else "seconds") + "Z"


def parse(text: str) -> datetime:
    """An ISO 8601 timestamp as an aware UTC time; without an offset it is taken as UTC.

    Raises ValueError for anything else, dates out of range included.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"timestamp out of range: {text!r}") from error
