"""Times as exports write them: in labels, in the head of a file, in its name. What may mean two days is unknown."""

from __future__ import annotations

import re

from .turn_builder import moment

_ISO = re.compile(
    r"(?<!\d)(20\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?:[T _]+(\d{1,2})[:-](\d\d)(?:[:-](\d\d(?:\.\d{1,6})?))?)?(?!\d)"
)
_LOCAL = re.compile(
    r"(?<!\d)(\d{1,2})[/.](\d{1,2})[/.](20\d\d)(?:,?\s+(?:at\s+)?(\d{1,2}):(\d\d)(?::(\d\d))?(?:\s?([AP]M))?)?",
    re.IGNORECASE,
)


def moment_in(text: str) -> str | None:
    """The first time in a text, as ISO 8601 in UTC; None if there is none, or if day and month cannot be told apart.

    A time without a zone is taken as one in UTC.
    """
    if found := _ISO.search(text):
        year, month, day, hour, minute, second = found.groups()
    elif found := _LOCAL.search(text):
        first, other, year, hour, minute, second, half = found.groups()
        if int(first) <= 12 and int(other) <= 12 and first != other and not half:
            return None
        month, day = (other, first) if int(first) > 12 else (first, other)
        if half and hour:
            hour = str(int(hour) % 12 + 12 * (half.lower() == "pm"))
    else:
        return None
    clock = f"{int(hour or 0):02}:{minute or '00'}:{second or '00'}"
    return moment(f"{year}-{int(month):02}-{int(day):02}T{clock}Z")
